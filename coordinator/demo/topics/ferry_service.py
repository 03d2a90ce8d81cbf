"""Two ferry routes of an invented archipelago, and the weather at its harbour: a question over two data files."""

import datetime

from authoring import Dice, Metadata, Query, Sub, Table, Topic, Verdict, coder, react, single


def days():
    """Every fifth day of a year and a bit, so that all weekdays and seasons occur."""
    day = datetime.date(2021, 1, 3)
    while day < datetime.date(2022, 4, 1):
        yield day
        day += datetime.timedelta(days=5)


def weather_rows():
    dice = Dice("harbour_weather")
    for day in days():
        wind = max(1.0, dice.normal(9.5, 3.6))
        yield [day.isoformat(), f"{wind:.1f}", f"{max(0.1, 0.14 * wind + dice.normal(0, 0.2)):.1f}"]


def crossing_rows():
    dice = Dice("ferry_service")
    for day, (_, wind, _) in zip(days(), weather_rows()):
        for route in ("Holm", "Inner Sound"):
            rough = route == "Holm" and float(wind) > 12
            delay = max(0.0, dice.normal(24 if rough else 5, 5 if rough else 2))
            crowd = 2.1 if day.month in (7, 8) and day.weekday() == 5 else 1.0
            passengers = round(dice.normal(64 if route == "Holm" else 88, 7) * crowd)
            yield [day.isoformat(), route, f"{delay:.1f}", passengers]


WEATHER = Table(
    "harbour_weather.csv",
    "Weather at Brannet harbour at eight in the morning of the sampled days.",
    [
        ("date", "Day of the reading, YYYY-MM-DD"),
        ("wind_ms", "Mean wind speed over ten minutes, in metres per second"),
        ("wave_m", "Wave height outside the mole, in metres"),
    ],
    list(weather_rows()),
)

CROSSINGS = Table(
    "crossings.csv",
    "The eight o'clock departures of the two ferry routes from Brannet on sampled days from January 2021 to March 2022.",
    [
        ("date", "Day of the departure, YYYY-MM-DD"),
        ("route", "Holm crosses open water; Inner Sound stays behind the islands"),
        ("delay_min", "Delay on arrival, in minutes"),
        ("passengers", "Passengers on board"),
    ],
    list(crossing_rows()),
)

DELAYS = """
import csv
import statistics

wind = {}
with open("harbour_weather.csv", newline="") as file:
    for row in csv.DictReader(file):
        wind[row["date"]] = float(row["wind_ms"])
delays = {}
with open("crossings.csv", newline="") as file:
    for row in csv.DictReader(file):
        force = "above 12 m/s" if wind[row["date"]] > 12 else "up to 12 m/s"
        delays.setdefault((row["route"], force), []).append(float(row["delay_min"]))
lines = []
for route, force in sorted(delays):
    group = delays[route, force]
    lines.append(f"{route}, wind {force}: mean delay {statistics.mean(group):.1f} min ({len(group)} crossings)")
print("\\n".join(lines))
"""

LOAD_BOTH = """
import csv
import statistics

with open("crossings.csv", newline="") as file:
    crossings = list(csv.DictReader(file))
with open("harbour_weather.csv", newline="") as file:
    weather = list(csv.DictReader(file))
print(len(crossings), "crossings on", len(weather), "days; first:", crossings[0], weather[0])
"""

JOIN = """
wind = {}
for row in weather:
    wind[row["date"]] = float(row["wind_ms"])
bins = {}
for row in crossings:
    low = int(wind[row["date"]] // 3 * 3)
    bins.setdefault((row["route"], low), []).append(float(row["delay_min"]))
lines = []
for route, low in sorted(bins):
    lines.append(f"{route}, {low} to {low + 3} m/s: {statistics.mean(bins[route, low]):.1f} min")
print("\\n".join(lines))
"""

SPLIT_AT_TWELVE = """
sides = {"Holm": ([], []), "Inner Sound": ([], [])}
for row in crossings:
    sides[row["route"]][wind[row["date"]] > 12].append(float(row["delay_min"]))
for route, (calm, rough) in sides.items():
    print(route, "calm", round(statistics.mean(calm), 1), "rough", round(statistics.mean(rough), 1))
"""

CROWDS = """
import csv
import datetime
import statistics

summer, spring = {}, {}
with open("crossings.csv", newline="") as file:
    for row in csv.DictReader(file):
        day = datetime.date.fromisoformat(row["date"])
        kind = "Saturday" if day.weekday() == 5 else "other"
        if day.month in (7, 8):
            summer.setdefault(kind, []).append(int(row["passengers"]))
        elif day.month in (3, 4, 5):
            spring.setdefault(kind, []).append(int(row["passengers"]))
lines = []
for name, season in (("summer", summer), ("spring", spring)):
    for kind in sorted(season):
        lines.append(f"{name} {kind}: {statistics.mean(season[kind]):.0f} passengers")
print("\\n".join(lines))
"""

LOAD_CROSSINGS = """
import csv
import datetime
import statistics

with open("crossings.csv", newline="") as file:
    crossings = list(csv.DictReader(file))
crossings[0]
"""

CROWDS_BY_MONTH = """
cells = {}
for row in crossings:
    day = datetime.date.fromisoformat(row["date"])
    cells.setdefault((day.month, "Sat" if day.weekday() == 5 else "rest"), []).append(int(row["passengers"]))
lines = []
for month, kind in sorted(cells):
    lines.append(f"{month:2} {kind:4} {statistics.mean(cells[month, kind]):6.1f}")
print("\\n".join(lines))
"""

CROWDS_IN_SUMMER = """
saturdays, others = [], []
for row in crossings:
    day = datetime.date.fromisoformat(row["date"])
    if day.month in (7, 8):
        (saturdays if day.weekday() == 5 else others).append(int(row["passengers"]))
print(f"July and August: Saturdays {statistics.mean(saturdays):.1f}, other days {statistics.mean(others):.1f} passengers")
"""

DELAY_FINDING_CODER = (
    "On the open Holm route the mean delay is 4.9 min while the morning wind is at most 12 m/s and 23.8 min above 12 m/s; "
    "on the Inner Sound route wind makes no difference (4.9 min and 5.1 min)."
)
DELAY_FINDING_REACT = (
    "Wind delays only the Holm crossings, and only above about 12 m/s: there the mean delay rises from 4.9 to 23.8 minutes, "
    "while behind the islands, on Inner Sound, it is 4.9 and 5.1 minutes."
)
CROWD_FINDING_CODER = (
    "In July and August the Saturday ferries carry 162 passengers on average against 74 on other days, about twice as "
    "many; in spring Saturdays are no fuller than the rest (76 against 75)."
)
CROWD_FINDING_REACT = (
    "Crossings are fullest on Saturdays in July and August: 162.0 passengers on average, against 73.7 on the other days of "
    "these two months."
)

TOPIC = Topic(
    "real_test",
    "ferry_service",
    "transport",
    [
        Metadata(
            0,
            [CROSSINGS, WEATHER],
            [
                Query(
                    0,
                    "How does the morning wind bear on the delays of the two ferry routes from Brannet?",
                    "relationship",
                    "On the Holm route over open water, delays stay near 5 minutes up to a wind of 12 m/s and rise to more than 20 minutes above it; on the sheltered Inner Sound route delays do not depend on the wind.",
                    [
                        Sub(
                            "On the Holm route delays rise to more than 20 minutes above a wind of 12 m/s.",
                            "Holm route, open water",
                            ["wind_ms", "delay_min", "route"],
                            "step from about 5 to more than 20 minutes at 12 m/s",
                        ),
                        Sub(
                            "On the Inner Sound route delays do not depend on the wind.",
                            "Inner Sound route, sheltered",
                            ["wind_ms", "delay_min", "route"],
                            "no relationship",
                        ),
                    ],
                    coder(
                        DELAYS,
                        DELAY_FINDING_CODER,
                        [
                            "Read both files and joined them by date.",
                            "Split the crossings of each route at a wind of 12 m/s.",
                            "Compared mean delays.",
                        ],
                        Verdict(
                            [
                                Sub(
                                    "On the Holm route the delay rises above 12 m/s.",
                                    "Holm route, open water",
                                    ["wind_ms", "delay_min", "route"],
                                    "step at 12 m/s",
                                ),
                                Sub(
                                    "On the Inner Sound route wind makes no difference.",
                                    "crossings of the Inner Sound route",
                                    ["wind_ms", "delay_min", "route"],
                                    "no relationship",
                                ),
                            ],
                            (3, 3, 3),
                            "A",
                            "Route, wind and delay in both; the same step on one route and none on the other.",
                            same_context=((1, 1),),
                            stumbles="The contexts describe the same route, so I would say they match.",
                        ),
                    ),
                    react(
                        [
                            ("Two files this time; I read both.", LOAD_BOTH),
                            ("They share the date. Joined by it, delays by route and wind:", JOIN),
                            ("Holm jumps between 12 and 15 m/s. I split at 12.", SPLIT_AT_TWELVE),
                        ],
                        DELAY_FINDING_REACT,
                        [
                            "Read crossings.csv and harbour_weather.csv.",
                            "Joined them by date and averaged delays in bins of wind speed, by route.",
                            "Compared both sides of 12 m/s.",
                        ],
                        Verdict(
                            [
                                Sub(
                                    "Above about 12 m/s Holm crossings are late.",
                                    "Holm route, open water",
                                    ["wind_ms", "delay_min", "route"],
                                    "step at 12 m/s",
                                ),
                                Sub(
                                    "On Inner Sound the delay stays the same.",
                                    "Inner Sound route, sheltered",
                                    ["wind_ms", "delay_min", "route"],
                                    "no relationship",
                                ),
                            ],
                            (3, 3, 3),
                            "A",
                            "The same quantities, the same step, the same exception.",
                        ),
                    ),
                ),
            ],
            domain_knowledge="Open water builds up waves that slow a small ferry; islands break them",
            workflow_tags="join by date, group means, threshold search",
        ),
        Metadata(
            1,
            [CROSSINGS],
            [
                Query(
                    0,
                    "When are the ferries from Brannet most crowded?",
                    "context",
                    "In July and August, Saturday crossings carry about twice as many passengers as crossings on other days of the week.",
                    single(
                        "Saturday crossings carry about twice as many passengers as others.",
                        "July and August",
                        ["date", "passengers"],
                        "about twice as many",
                    ),
                    coder(
                        CROWDS,
                        CROWD_FINDING_CODER,
                        [
                            "Read crossings.csv.",
                            "Split the days of summer and of spring into Saturdays and others.",
                            "Compared mean passengers.",
                        ],
                        Verdict(
                            [
                                Sub(
                                    "In spring Saturdays are no fuller than other days.",
                                    "March to May",
                                    ["date", "passengers"],
                                    "no relationship",
                                ),
                                Sub(
                                    "In summer Saturday ferries carry about twice as many passengers.",
                                    "July and August",
                                    ["date", "passengers"],
                                    "about twice as many",
                                ),
                            ],
                            (2, 2, 2),
                            "A",
                            "Day and passengers in both; about twice as many in summer.",
                        ),
                    ),
                    react(
                        [
                            ("I read the crossings.", LOAD_CROSSINGS),
                            ("Month and weekday together:", CROWDS_BY_MONTH),
                            ("Saturdays stand out in months 7 and 8 only. Taken together:", CROWDS_IN_SUMMER),
                        ],
                        CROWD_FINDING_REACT,
                        [
                            "Read crossings.csv.",
                            "Averaged passengers by month, Saturdays apart.",
                            "Compared Saturdays with other days in July and August.",
                        ],
                        Verdict(
                            single(
                                "Saturdays are the fullest days.",
                                "July and August",
                                ["date", "passengers"],
                                "about twice as many",
                            ),
                            (2, 2, 2),
                            "A",
                            "The same days, the same months, the same factor.",
                        ),
                    ),
                ),
            ],
            domain_knowledge="Holiday houses on the islands are let from Saturday to Saturday",
            workflow_tags="grouping by weekday and season",
        ),
    ],
)
