"""The log of a lighthouse that never stood: oil, fog, ships and strandings by month."""

import math

from authoring import Dice, Metadata, Query, Table, Topic, Verdict, coder, react, single


def rows():
    dice = Dice("lighthouse_log")
    for year in range(1890, 1902):
        for month in range(1, 13):
            fuel = "rape oil" if year < 1896 else "paraffin"
            winter = math.cos(2 * math.pi * (month - 0.8) / 12)
            oil = dice.normal(300 + 108 * winter, 16)
            fog = max(0.0, dice.normal(46 if month in (4, 5, 6) else 20, 9))
            ships = max(4, round(dice.normal(150 - 14 * winter - 1.5 * fog, 10)))
            strandings = dice.count(1.7 if fuel == "rape oil" else 0.6)
            yield [f"{year}-{month:02}", fuel, f"{oil:.1f}", f"{fog:.1f}", ships, strandings]


LOG = Table(
    "lamp_log.csv",
    "Monthly summary of the keeper's log of Skerry Point light, January 1890 to December 1901.",
    [
        ("month", "Year and month of the entry, YYYY-MM"),
        ("fuel", "What the lamp burned that month: rape oil until the conversion of January 1896, paraffin after it"),
        ("oil_litres", "Oil burned in the month, in litres"),
        ("fog_hours", "Hours in the month during which the fog bell was rung"),
        ("ships_sighted", "Ships the keeper saw pass in the month"),
        ("strandings", "Ships that ran aground within sight of the light in the month"),
    ],
    list(rows()),
)

SEASONS = """
import csv
import statistics

season_of = {12: "winter", 1: "winter", 2: "winter", 6: "summer", 7: "summer", 8: "summer"}
litres = {"winter": [], "summer": []}
with open("lamp_log.csv", newline="") as file:
    for row in csv.DictReader(file):
        season = season_of.get(int(row["month"][5:]))
        if season:
            litres[season].append(float(row["oil_litres"]))
winter = statistics.mean(litres["winter"])
summer = statistics.mean(litres["summer"])
print(f"winter {winter:.1f} l, summer {summer:.1f} l, ratio {winter / summer:.2f}")
"""

LOAD = """
import csv
import statistics

with open("lamp_log.csv", newline="") as file:
    rows = list(csv.DictReader(file))
(len(rows), rows[0])
"""

BY_MONTH = """
litres = {}
for row in rows:
    litres.setdefault(row["month"][5:], []).append(float(row["oil_litres"]))
means = {}
for month in sorted(litres):
    means[month] = round(statistics.mean(litres[month]), 1)
means
"""

WINTER_AND_SUMMER = """
winter, summer = [], []
for row in rows:
    if row["month"][5:] in ("12", "01", "02"):
        winter.append(float(row["oil_litres"]))
    elif row["month"][5:] in ("06", "07", "08"):
        summer.append(float(row["oil_litres"]))
print(f"winter {statistics.mean(winter):.1f} l, summer {statistics.mean(summer):.1f} l")
"""

STRANDINGS = """
import csv

months, strandings = {}, {}
with open("lamp_log.csv", newline="") as file:
    for row in csv.DictReader(file):
        fuel = row["fuel"]
        months[fuel] = months.get(fuel, 0) + 1
        strandings[fuel] = strandings.get(fuel, 0) + int(row["strandings"])
lines = []
for fuel in months:
    lines.append(f"{fuel}: {strandings[fuel]} strandings in {months[fuel]} months, {strandings[fuel] / months[fuel]:.2f} a month")
print("\\n".join(lines))
"""

BY_YEAR = """
by_year = {}
for row in rows:
    year = row["month"][:4]
    by_year[year] = by_year.get(year, 0) + int(row["strandings"])
by_year
"""

BEFORE_AND_AFTER = """
before, after = [], []
for row in rows:
    (before if row["fuel"] == "rape oil" else after).append(int(row["strandings"]))
print(f"before {statistics.mean(before):.2f}, after {statistics.mean(after):.2f} strandings a month")
"""

SLOPES_BY_YEAR = """
import csv
import math
import statistics

years = {"all years": ([], [])}
with open("lamp_log.csv", newline="") as file:
    for row in csv.DictReader(file):
        for year in ("all years", row["month"][:4]):
            fog, ships = years.setdefault(year, ([], []))
            fog.append(float(row["fog_hours"]))
            ships.append(float(row["ships_sighted"]))
falling = 0
for year, (fog, ships) in years.items():
    mean_fog, mean_ships = statistics.mean(fog), statistics.mean(ships)
    sxy = sxx = syy = 0.0
    for x, y in zip(fog, ships):
        sxy += (x - mean_fog) * (y - mean_ships)
        sxx += (x - mean_fog) ** 2
        syy += (y - mean_ships) ** 2
    if year == "all years":
        overall = f"slope {sxy / sxx:.2f} ships per hour of fog, r = {sxy / math.sqrt(sxx * syy):.2f}"
    elif sxy < 0:
        falling += 1
print(f"{overall}; falling in {falling} of {len(years) - 1} years")
"""

# ReAct runs into the Python tool's two scopes: a generator expression does not see the names of the session.
CORRELATION_IN_TWO_SCOPES = """
fog = [float(row["fog_hours"]) for row in rows]
ships = [float(row["ships_sighted"]) for row in rows]
mean_fog, mean_ships = statistics.mean(fog), statistics.mean(ships)
sum((x - mean_fog) * (y - mean_ships) for x, y in zip(fog, ships))
"""

CORRELATION_IN_A_LOOP = """
sxy = sxx = syy = 0.0
for x, y in zip(fog, ships):
    sxy += (x - mean_fog) * (y - mean_ships)
    sxx += (x - mean_fog) ** 2
    syy += (y - mean_ships) ** 2
print(f"slope {sxy / sxx:.2f}, r = {sxy / (sxx * syy) ** 0.5:.2f}")
"""

OIL_FINDING_CODER = (
    "Over the whole log the lamp burned most in winter: from December to February it took a mean of 396.4 litres a "
    "month, from June to August 202.3 litres, so winter needed 1.96 times the oil of summer."
)
OIL_FINDING_REACT = (
    "Winter is the season of the lamp: over the whole log the mean of December, January and February is 396.4 litres "
    "a month against 202.3 litres in June, July and August, about twice as much."
)
STRANDINGS_FINDING_CODER = (
    "Converting the lamp to paraffin in January 1896 went with fewer strandings: 2.07 a month while it burned rape "
    "oil, 0.82 a month with paraffin."
)
STRANDINGS_FINDING_REACT = (
    "From January 1896, with paraffin in the lamp, ships ran aground less than half as often: 0.82 strandings a month "
    "after the conversion, 2.07 before it."
)
FOG_FINDING_CODER = (
    "Each further hour of fog in a month goes with 1.25 fewer ships sighted (r = -0.77), a straight decline that shows in "
    "12 of the 12 years of the log."
)
FOG_FINDING_REACT = (
    "The more hours of fog in a month, the fewer ships the keeper saw: the slope is -1.25 ships per hour and r = -0.77 "
    "over all months of the log."
)

WHOLE_LOG = "whole log of Skerry Point light, 1890 to 1901"

TOPIC = Topic(
    "real_test",
    "lighthouse_log",
    "maritime history",
    [
        Metadata(
            0,
            [LOG],
            [
                Query(
                    0,
                    "In which season did the lamp of Skerry Point burn the most oil, and how many times what it burned in summer?",
                    "context",
                    "Throughout the log, the lamp burned about twice as much oil per month in winter (December to February) as in summer (June to August).",
                    single(
                        "The lamp burned about twice as much oil per month in winter as in summer.",
                        WHOLE_LOG,
                        ["month", "oil_litres"],
                        "winter is about twice summer",
                    ),
                    coder(
                        SEASONS,
                        OIL_FINDING_CODER,
                        [
                            "Read lamp_log.csv row by row.",
                            "Kept December to February as winter and June to August as summer.",
                            "Compared the mean oil per month of the two seasons.",
                        ],
                        Verdict(
                            single(
                                "Winter months took 1.96 times the oil of summer months.",
                                WHOLE_LOG,
                                ["month", "oil_litres"],
                                "winter is 1.96 times summer",
                            ),
                            (2, 2, 2),
                            "A",
                            "Season and oil burned in both; both say that winter takes about twice as much.",
                        ),
                    ),
                    react(
                        [
                            ("I begin with the first row and the number of rows.", LOAD),
                            ("A mean per calendar month shows the course of the year.", BY_MONTH),
                            ("The top lies from December to February. I compare it with summer.", WINTER_AND_SUMMER),
                        ],
                        OIL_FINDING_REACT,
                        [
                            "Read lamp_log.csv.",
                            "Averaged the oil by calendar month to see the course of the year.",
                            "Compared the means of winter and summer.",
                        ],
                        Verdict(
                            single(
                                "Over the whole log winter months burned about twice the oil of summer months.",
                                WHOLE_LOG,
                                ["month", "oil_litres"],
                                "winter is about twice summer",
                            ),
                            (2, 2, 2),
                            "A",
                            "Both compare the oil of winter and summer and find a factor of about two.",
                        ),
                    ),
                ),
                Query(
                    1,
                    "How did the number of strandings change once the lamp of Skerry Point burned paraffin?",
                    "relationship",
                    "After the conversion to paraffin in January 1896, the mean number of strandings per month fell to less than half of what it was before.",
                    single(
                        "With paraffin the number of strandings per month fell to less than half.",
                        "before and after the conversion of January 1896",
                        ["fuel", "strandings"],
                        "paraffin months have less than half the strandings",
                    ),
                    coder(
                        STRANDINGS,
                        STRANDINGS_FINDING_CODER,
                        [
                            "Read lamp_log.csv and grouped the months by fuel.",
                            "Divided the strandings of each group by its months.",
                        ],
                        Verdict(
                            single(
                                "Strandings fell from 2.07 to 0.82 a month with paraffin.",
                                "rape oil years against paraffin years",
                                ["fuel", "strandings"],
                                "fell from 2.07 to 0.82 a month",
                            ),
                            (2, 2, 2),
                            "A",
                            "Fuel and strandings in both; 0.82 is less than half of 2.07.",
                            same_context=((0, 0),),
                        ),
                    ),
                    react(
                        [
                            ("First I load the log.", LOAD),
                            ("A count per year may show a step.", BY_YEAR),
                            ("There is a step at 1896. I put it into monthly means by fuel.", BEFORE_AND_AFTER),
                        ],
                        STRANDINGS_FINDING_REACT,
                        [
                            "Read lamp_log.csv.",
                            "Counted strandings by year and saw a step at 1896.",
                            "Compared the monthly means before and after the conversion.",
                        ],
                        Verdict(
                            single(
                                "After the conversion ships ran aground less than half as often.",
                                "from January 1896 on, against the time before",
                                ["fuel", "strandings"],
                                "less than half as often",
                            ),
                            (2, 2, 2),
                            "A",
                            "The same two quantities, and the same fall to less than half.",
                            same_context=((0, 0),),
                        ),
                    ),
                ),
            ],
            domain_knowledge="A keeper lights the lamp at dusk and puts it out at dawn, so the length of the night sets the work of the lamp",
            workflow_tags="grouping by season, before and after comparison",
        ),
        Metadata(
            1,
            [LOG],
            [
                Query(
                    0,
                    "What does fog do to the number of ships sighted from Skerry Point, and what else has to be kept in view?",
                    "relationship",
                    "Within a season, months with more hours of fog have fewer ships sighted; the relation is negative and linear, and ships are more numerous in summer than in winter.",
                    single(
                        "Within a season, ships sighted fall linearly with the hours of fog.",
                        WHOLE_LOG,
                        ["fog_hours", "ships_sighted", "month"],
                        "negative and linear",
                    ),
                    coder(
                        SLOPES_BY_YEAR,
                        FOG_FINDING_CODER,
                        [
                            "Read fog hours and ships sighted of all months.",
                            "Fitted a straight line by least squares, over all and for each year, and computed the correlation.",
                        ],
                        Verdict(
                            single(
                                "Ships sighted fall linearly with fog hours in every year.",
                                WHOLE_LOG,
                                ["fog_hours", "ships_sighted", "year"],
                                "negative and linear",
                            ),
                            (3, 3, 2),
                            "A",
                            "Fog hours and ships are common; the gold has the season, the answer has the year.",
                        ),
                    ),
                    react(
                        [
                            ("I load the log and look at a row.", LOAD),
                            ("Now the covariance of fog and ships.", CORRELATION_IN_TWO_SCOPES),
                            (
                                "The tool keeps my names out of the inner scope; the lists are there, so a plain loop will do.",
                                CORRELATION_IN_A_LOOP,
                            ),
                        ],
                        FOG_FINDING_REACT,
                        [
                            "Read lamp_log.csv.",
                            "Computed slope and correlation of ships on fog with a loop.",
                        ],
                        Verdict(
                            single(
                                "More fog means fewer ships sighted.",
                                WHOLE_LOG,
                                ["fog_hours", "ships_sighted"],
                                "negative and linear",
                            ),
                            (3, 2, 2),
                            "A",
                            "Fog and ships agree; the season of the gold is missing.",
                        ),
                    ),
                ),
            ],
            domain_knowledge="Sailing traffic follows the season, and so does fog",
            workflow_tags="correlation, linear fit",
        ),
    ],
)
