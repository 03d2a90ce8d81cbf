"""Loaves from an invented bakery: the best temperature, and what makes bread sour."""

from authoring import Dice, Metadata, Query, Table, Topic, Verdict, coder, react, single


def rise_rows():
    dice = Dice("bread-fermentation_0_0")
    for loaf in range(1, 91):
        temperature = dice.between(17, 37)
        hydration = dice.between(60, 82)
        rise = 96 - 0.55 * (temperature - 27) ** 2 + dice.normal(0, 3)
        yield [loaf, f"{temperature:.1f}", f"{hydration:.0f}", f"{max(rise, 5):.1f}"]


def sourness_rows():
    dice = Dice("bread-fermentation_1_0")
    for loaf in range(1, 81):
        hours = dice.between(4, 30)
        rye = dice.pick([0, 10, 20, 30, 40])
        hydration = dice.between(60, 82)
        sourness = 1.0 + 0.18 * hours + 0.06 * rye + dice.normal(0, 0.35)
        yield [loaf, f"{hours:.1f}", rye, f"{hydration:.0f}", f"{sourness:.2f}"]


RISE = Table(
    "data.csv",
    "Proofing trials of one dough at different room temperatures.",
    [
        ("loaf", "Number of the loaf"),
        ("proof_temperature_c", "Room temperature during the final proof, in degrees Celsius"),
        ("hydration_percent", "Water as a share of the flour, in percent"),
        ("rise_percent", "Growth of the loaf during the proof, in percent of its volume before"),
    ],
    list(rise_rows()),
)

SOURNESS = Table(
    "data.csv",
    "Tasting scores of sourdough loaves with different shares of rye and lengths of fermentation.",
    [
        ("loaf", "Number of the loaf"),
        ("fermentation_hours", "Length of the bulk fermentation, in hours"),
        ("rye_percent", "Share of rye in the flour, in percent"),
        ("hydration_percent", "Water as a share of the flour, in percent"),
        ("sourness_score", "Mean score of five tasters; higher is more sour"),
    ],
    list(sourness_rows()),
)

LOAD = """
import csv
import statistics

with open("data.csv", newline="") as file:
    rows = list(csv.DictReader(file))
rows[:2]
"""

# A parabola by normal equations, in temperatures measured from their mean to keep the numbers small.
PARABOLA = """
import csv
import statistics

x, y = [], []
with open("data.csv", newline="") as file:
    for row in csv.DictReader(file):
        x.append(float(row["proof_temperature_c"]))
        y.append(float(row["rise_percent"]))
middle = statistics.mean(x)
power = [0.0] * 5
moment = [0.0] * 3
for a, b in zip(x, y):
    for k in range(5):
        power[k] += (a - middle) ** k
    for k in range(3):
        moment[k] += b * (a - middle) ** k
table = []
for i in range(3):
    line = []
    for j in range(3):
        line.append(power[i + j])
    table.append(line + [moment[i]])
for i in range(3):
    for j in range(i + 1, 3):
        factor = table[j][i] / table[i][i]
        for k in range(4):
            table[j][k] -= factor * table[i][k]
c2 = table[2][3] / table[2][2]
c1 = (table[1][3] - table[1][2] * c2) / table[1][1]
print(f"curvature {c2:.2f}, peak at {middle - c1 / (2 * c2):.1f} degrees")
"""

RISE_BY_TEMPERATURE = """
bins = {}
for row in rows:
    low = int(float(row["proof_temperature_c"]) // 2 * 2)
    bins.setdefault(low, []).append(float(row["rise_percent"]))
lines = []
for low in sorted(bins):
    lines.append(f"{low} to {low + 2}: {statistics.mean(bins[low]):.1f} %")
print("\\n".join(lines))
"""

RISE_BY_DISTANCE = """
squares = [(float(row["proof_temperature_c"]) - 27) ** 2 for row in rows]
rises = [float(row["rise_percent"]) for row in rows]
mean_square, mean_rise = statistics.mean(squares), statistics.mean(rises)
sxy = sxx = syy = 0.0
for square, rise in zip(squares, rises):
    sxy += (square - mean_square) * (rise - mean_rise)
    sxx += (square - mean_square) ** 2
    syy += (rise - mean_rise) ** 2
print(f"rise = {mean_rise - sxy / sxx * mean_square:.1f} {sxy / sxx:+.2f} * (t - 27)^2, r = {sxy / (sxx * syy) ** 0.5:.2f}")
"""

SLOPES_ONE_BY_ONE = """
import csv
import statistics

with open("data.csv", newline="") as file:
    rows = list(csv.DictReader(file))
lines = []
for name in ("fermentation_hours", "rye_percent", "hydration_percent"):
    xs, ys = [], []
    for row in rows:
        xs.append(float(row[name]))
        ys.append(float(row["sourness_score"]))
    mean_x, mean_y = statistics.mean(xs), statistics.mean(ys)
    sxy = sxx = syy = 0.0
    for x, y in zip(xs, ys):
        sxy += (x - mean_x) * (y - mean_y)
        sxx += (x - mean_x) ** 2
        syy += (y - mean_y) ** 2
    lines.append(f"{name}: slope {sxy / sxx:.3f}, r = {sxy / (sxx * syy) ** 0.5:.2f}")
print("\\n".join(lines))
"""

PLANE = """
h = [float(row["fermentation_hours"]) for row in rows]
q = [float(row["rye_percent"]) for row in rows]
s = [float(row["sourness_score"]) for row in rows]
mh, mq, ms = statistics.mean(h), statistics.mean(q), statistics.mean(s)
hh = qq = hq = hs = qs = 0.0
for a, b, c in zip(h, q, s):
    hh += (a - mh) ** 2
    qq += (b - mq) ** 2
    hq += (a - mh) * (b - mq)
    hs += (a - mh) * (c - ms)
    qs += (b - mq) * (c - ms)
determinant = hh * qq - hq * hq
print(f"per hour {(hs * qq - qs * hq) / determinant:.2f}, per percent of rye {(qs * hh - hs * hq) / determinant:.3f}")
"""

RISE_FINDING_CODER = (
    "The loaf rises most when it proofs near 27.0 degrees; away from this temperature the rise falls off as a parabola "
    "with a curvature of -0.55."
)
RISE_FINDING_REACT = (
    "Rise depends on the square of the distance from 27 degrees: it is 95.6 % at 27 and loses 0.55 % for each squared degree "
    "(r = -0.99), warmer or colder alike."
)
SOUR_FINDING_CODER = (
    "Bread is more sour the longer it ferments (0.188 points an hour, r = 0.85) and the more rye it holds (0.072 points a percent, "
    "r = 0.55); hydration hardly matters (r = -0.10)."
)
SOUR_FINDING_REACT = (
    "Sourness grows with both fermentation and rye, each on its own: 0.18 points for an hour, 0.064 points for a percent of "
    "rye."
)

ALL_LOAVES = "all proofing trials"
ALL_TASTINGS = "all tasted loaves"

RISE_TOPIC = Topic(
    "synth_test",
    "bread-fermentation_0_0",
    "bread fermentation",
    [
        Metadata(
            0,
            [RISE],
            [
                Query(
                    41,
                    "How does the rise of a loaf depend on the temperature at which it proofs?",
                    "general",
                    "The rise of a loaf is greatest at a proofing temperature of about 27 degrees Celsius and falls off with the square of the distance from it on both sides.",
                    single(
                        "The rise is greatest near 27 degrees and falls off quadratically on both sides.",
                        ALL_LOAVES,
                        ["proof_temperature_c", "rise_percent"],
                        "quadratic with a maximum near 27 degrees",
                    ),
                    coder(
                        PARABOLA,
                        RISE_FINDING_CODER,
                        ["Read data.csv.", "Fitted a parabola by least squares.", "Computed where it peaks."],
                        Verdict(
                            single(
                                "The rise is a parabola of temperature that peaks near 27 degrees.",
                                ALL_LOAVES,
                                ["proof_temperature_c", "rise_percent"],
                                "quadratic with a maximum near 27 degrees",
                            ),
                            (2, 2, 2),
                            "A",
                            "Temperature and rise in both, with the same curve and peak.",
                        ),
                    ),
                    react(
                        [
                            ("I look at two rows.", LOAD),
                            ("Mean rise in bins of two degrees:", RISE_BY_TEMPERATURE),
                            ("That looks like a parabola around 27. I regress on the squared distance.", RISE_BY_DISTANCE),
                        ],
                        RISE_FINDING_REACT,
                        [
                            "Read data.csv.",
                            "Averaged the rise by temperature and saw a maximum near 27 degrees.",
                            "Regressed the rise on the squared distance from 27 degrees.",
                        ],
                        Verdict(
                            single(
                                "The rise falls with the squared distance from 27 degrees.",
                                ALL_LOAVES,
                                ["proof_temperature_c", "rise_percent"],
                                "quadratic with a maximum at 27 degrees",
                            ),
                            (2, 2, 2),
                            "A",
                            "Temperature and rise in both, quadratic in both.",
                        ),
                    ),
                    {"difficulty": 2},
                ),
            ],
        ),
    ],
)

SOURNESS_TOPIC = Topic(
    "synth_test",
    "bread-fermentation_1_0",
    "bread fermentation",
    [
        Metadata(
            2,
            [SOURNESS],
            [
                Query(
                    87,
                    "What decides how sour a sourdough loaf tastes?",
                    "general",
                    "The sourness score increases linearly with the hours of fermentation and, independently, with the share of rye in the flour.",
                    single(
                        "Sourness increases linearly with fermentation hours and with the share of rye.",
                        ALL_TASTINGS,
                        ["fermentation_hours", "rye_percent", "sourness_score"],
                        "positive and linear in both",
                    ),
                    coder(
                        SLOPES_ONE_BY_ONE,
                        SOUR_FINDING_CODER,
                        ["Read data.csv.", "Fitted a line of the score on each other column and compared r."],
                        Verdict(
                            single(
                                "Sourness increases with fermentation hours and rye; hydration hardly matters.",
                                ALL_TASTINGS,
                                ["fermentation_hours", "rye_percent", "hydration_percent", "sourness_score"],
                                "positive and linear in hours and rye",
                            ),
                            (3, 4, 3),
                            "A",
                            "Hours, rye and score are common; the answer adds hydration.",
                        ),
                    ),
                    react(
                        [
                            ("I look at two rows.", LOAD),
                            ("Hours and rye both suggest themselves. One regression on both at once:", PLANE),
                        ],
                        SOUR_FINDING_REACT,
                        ["Read data.csv.", "Solved the normal equations of the score on hours and rye."],
                        Verdict(
                            single(
                                "Sourness grows with fermentation hours and with rye, each on its own.",
                                ALL_TASTINGS,
                                ["fermentation_hours", "rye_percent", "sourness_score"],
                                "positive and linear in both",
                            ),
                            (3, 3, 3),
                            "A",
                            "The same three quantities and the same directions.",
                        ),
                    ),
                    {"difficulty": 3},
                ),
            ],
        ),
    ],
)

TOPICS = [RISE_TOPIC, SOURNESS_TOPIC]
