"""Pendulum clocks in an invented workshop: they run slow in the warmth."""

from authoring import Dice, Metadata, Query, Table, Topic, Verdict, coder, react, single


def rows():
    dice = Dice("clock-making_0_0")
    for clock in range(1, 71):
        temperature = dice.between(8, 32)
        rod = dice.pick(["steel", "steel", "invar"])
        drift = (-0.52 if rod == "steel" else -0.04) * (temperature - 20) + dice.normal(0, 0.4)
        yield [clock, rod, f"{temperature:.1f}", f"{dice.between(0.2, 1.8):.2f}", f"{drift:.2f}"]


CLOCKS = Table(
    "data.csv",
    "A day's drift of pendulum clocks in the regulating room of a workshop.",
    [
        ("clock", "Number of the clock"),
        ("rod", "Metal of the pendulum rod, steel or invar"),
        ("room_temperature_c", "Mean room temperature of the day, in degrees Celsius"),
        ("arc_deg", "Half the swing of the pendulum, in degrees"),
        ("drift_s_per_day", "Seconds gained (positive) or lost (negative) in the day"),
    ],
    list(rows()),
)

DRIFT = """
import csv
import statistics

clocks = {"steel": [], "invar": []}
with open("data.csv", newline="") as file:
    for row in csv.DictReader(file):
        clocks[row["rod"]].append((float(row["room_temperature_c"]), float(row["drift_s_per_day"])))
lines = []
for rod, points in clocks.items():
    mean_t = statistics.mean([point[0] for point in points])
    mean_d = statistics.mean([point[1] for point in points])
    sxy = sxx = 0.0
    for t, d in points:
        sxy += (t - mean_t) * (d - mean_d)
        sxx += (t - mean_t) ** 2
    lines.append(f"{rod}: {sxy / sxx:.2f} s per day and degree ({len(points)} clocks)")
print("\\n".join(lines))
"""

LOAD = """
import csv
import statistics

with open("data.csv", newline="") as file:
    rows = list(csv.DictReader(file))
rods = {}
for row in rows:
    rods[row["rod"]] = rods.get(row["rod"], 0) + 1
rods
"""

WARM_AND_COLD = """
cells = {}
for row in rows:
    warmth = "warm" if float(row["room_temperature_c"]) > 20 else "cold"
    cells.setdefault((row["rod"], warmth), []).append(float(row["drift_s_per_day"]))
for rod, warmth in sorted(cells):
    print(rod, warmth, f"{statistics.mean(cells[rod, warmth]):+.2f} s a day")
"""

DRIFT_FINDING_CODER = (
    "Clocks with a steel rod lose time in warm rooms, linearly: -0.53 seconds a day for each degree. With an invar rod the "
    "slope is only -0.03."
)
DRIFT_FINDING_REACT = (
    "Warmth slows clocks with a steel rod and leaves invar alone: above 20 degrees steel drifts -3.10 s a day and below "
    "+3.31 s, invar -0.20 and +0.22 s."
)

ROOM = "clocks in the regulating room"

TOPIC = Topic(
    "synth_test",
    "clock-making_0_0",
    "clockmaking",
    [
        Metadata(
            10,
            [CLOCKS],
            [
                Query(
                    310,
                    "How does the drift of a pendulum clock follow the room temperature, and for which rods?",
                    "general",
                    "Clocks with a steel rod lose about half a second a day for every degree of warmth, while the drift of clocks with an invar rod hardly depends on temperature.",
                    single(
                        "Steel rods lose about half a second a day per degree, invar rods hardly any.",
                        ROOM,
                        ["rod", "room_temperature_c", "drift_s_per_day"],
                        "negative and linear for steel, none for invar",
                    ),
                    coder(
                        DRIFT,
                        DRIFT_FINDING_CODER,
                        ["Read data.csv.", "Fitted drift on temperature for each kind of rod."],
                        Verdict(
                            single(
                                "Steel clocks lose time linearly with warmth, invar clocks hardly.",
                                ROOM,
                                ["rod", "room_temperature_c", "drift_s_per_day"],
                                "negative and linear for steel",
                            ),
                            (3, 3, 3),
                            "A",
                            "Rod, temperature and drift in both, with the same slope for steel.",
                        ),
                    ),
                    react(
                        [
                            ("Which rods are there, and how many?", LOAD),
                            ("Mean drift of warm and cold days by rod:", WARM_AND_COLD),
                        ],
                        DRIFT_FINDING_REACT,
                        ["Read data.csv.", "Averaged the drift above and below 20 degrees for each kind of rod."],
                        Verdict(
                            single(
                                "Warmth slows clocks with steel rods and not those with invar rods.",
                                ROOM,
                                ["rod", "room_temperature_c", "drift_s_per_day"],
                                "negative for steel, none for invar",
                            ),
                            (3, 3, 3),
                            "B",
                            "The same direction; the gold gives a linear law where the answer compares two groups.",
                        ),
                    ),
                    {"difficulty": 2},
                ),
            ],
        ),
    ],
)
