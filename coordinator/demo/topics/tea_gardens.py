"""An invented tea garden on two terraces."""

from authoring import Dice, Metadata, Query, Sub, Table, Topic, Verdict, coder, react


def rows():
    dice = Dice("tea-gardens_1_0")
    for plot in range(1, 97):
        terrace = "upper" if plot % 2 else "lower"
        shade = dice.between(0, 60)
        rain = dice.between(90, 260)
        aroma = 52 + (0.42 * shade if terrace == "upper" else 0.0) + dice.normal(0, 3)
        leaf = 480 + (1.6 * rain if terrace == "lower" else 0.3 * rain) + dice.normal(0, 25)
        yield [plot, terrace, f"{shade:.0f}", f"{rain:.0f}", f"{aroma:.1f}", f"{leaf:.0f}"]


PLOTS = Table(
    "data.csv",
    "One harvest of the plots of a tea garden on two terraces.",
    [
        ("plot", "Number of the plot"),
        ("terrace", "upper or lower"),
        ("shade_percent", "Share of the plot under trees at noon, in percent"),
        ("rain_mm", "Rain in the four weeks before the harvest, in millimetres"),
        ("aroma_score", "Score of the tasters, 0 to 100"),
        ("leaf_g_per_m2", "Fresh leaf plucked, in grams per square metre"),
    ],
    list(rows()),
)

FOUR_SLOPES = """
import csv
import statistics

plots = {"upper": [], "lower": []}
with open("data.csv", newline="") as file:
    for row in csv.DictReader(file):
        plots[row["terrace"]].append(row)
lines = []
for terrace, group in plots.items():
    for cause, effect in (("shade_percent", "aroma_score"), ("rain_mm", "leaf_g_per_m2")):
        xs, ys = [], []
        for row in group:
            xs.append(float(row[cause]))
            ys.append(float(row[effect]))
        mean_x, mean_y = statistics.mean(xs), statistics.mean(ys)
        sxy = sxx = 0.0
        for x, y in zip(xs, ys):
            sxy += (x - mean_x) * (y - mean_y)
            sxx += (x - mean_x) ** 2
        lines.append(f"{terrace}: {effect} {sxy / sxx:+.2f} per unit of {cause}")
print("\\n".join(lines))
"""

LOAD = """
import csv
import statistics

with open("data.csv", newline="") as file:
    rows = list(csv.DictReader(file))
upper = [row for row in rows if row["terrace"] == "upper"]
lower = [row for row in rows if row["terrace"] == "lower"]
len(upper), len(lower)
"""

AROMA = """
lines = []
for name, group in (("upper", upper), ("lower", lower)):
    shaded, open_ = [], []
    for row in group:
        (shaded if float(row["shade_percent"]) > 30 else open_).append(float(row["aroma_score"]))
    lines.append(f"{name}: aroma {statistics.mean(shaded):.1f} in shade, {statistics.mean(open_):.1f} in the open")
print("\\n".join(lines))
"""

LEAF = """
lines = []
for name, group in (("upper", upper), ("lower", lower)):
    wet, dry = [], []
    for row in group:
        (wet if float(row["rain_mm"]) > 175 else dry).append(float(row["leaf_g_per_m2"]))
    lines.append(f"{name}: leaf {statistics.mean(wet):.0f} g after wet weeks, {statistics.mean(dry):.0f} g after dry ones")
print("\\n".join(lines))
"""

TEA_FINDING_CODER = (
    "On the upper terrace aroma rises with shade (+0.44 points a percent), on the lower terrace the harvest rises with rain "
    "(+1.69 g a millimetre); on the upper terrace rain adds only +0.36 g a millimetre."
)
TEA_FINDING_REACT = (
    "Shade improves aroma on the upper terrace (73.7 against 58.9 points) and rain raises the harvest on the lower terrace "
    "(840 g after wet weeks, 689 g after dry ones); the lower terrace's aroma does not care for shade (51.8 and 52.5)."
)

GOLD_SUBS = [
    Sub(
        "On the upper terrace the aroma score increases with shade.",
        "upper terrace",
        ["terrace", "shade_percent", "aroma_score"],
        "positive and linear",
    ),
    Sub(
        "On the lower terrace the harvest increases with rain.",
        "lower terrace",
        ["terrace", "rain_mm", "leaf_g_per_m2"],
        "positive and linear",
    ),
]

TOPIC = Topic(
    "synth_test",
    "tea-gardens_1_0",
    "tea gardens",
    [
        Metadata(
            1,
            [PLOTS],
            [
                Query(
                    377,
                    "What do shade and rain do on the two terraces of the tea garden?",
                    "general",
                    "On the upper terrace the aroma score increases linearly with shade, and on the lower terrace the harvest of leaf increases linearly with rain.",
                    GOLD_SUBS,
                    coder(
                        FOUR_SLOPES,
                        TEA_FINDING_CODER,
                        ["Read data.csv.", "Fitted aroma on shade and harvest on rain for each terrace."],
                        Verdict(
                            [
                                Sub(
                                    "On the upper terrace aroma rises with shade.",
                                    "upper terrace",
                                    ["terrace", "shade_percent", "aroma_score"],
                                    "positive and linear",
                                ),
                                Sub(
                                    "On the lower terrace the harvest rises with rain.",
                                    "plots of the lower terrace",
                                    ["terrace", "rain_mm", "leaf_g_per_m2"],
                                    "positive and linear",
                                ),
                                Sub(
                                    "On the upper terrace rain adds only little leaf.",
                                    "rain on the upper terrace",
                                    ["terrace", "rain_mm", "leaf_g_per_m2"],
                                    "weakly positive",
                                ),
                            ],
                            (5, 5, 5),
                            "A",
                            "Terrace, shade, aroma, rain and leaf in both, with the same directions.",
                            same_context=((1, 1),),
                        ),
                    ),
                    react(
                        [
                            ("I divide the plots by terrace.", LOAD),
                            ("Aroma in shade and in the open:", AROMA),
                            ("Only the upper terrace. Now leaf and rain:", LEAF),
                        ],
                        TEA_FINDING_REACT,
                        [
                            "Read data.csv and divided it by terrace.",
                            "Compared aroma of shaded and open plots.",
                            "Compared the harvest after wet and dry weeks.",
                        ],
                        Verdict(
                            [
                                Sub(
                                    "On the upper terrace shade improves aroma.",
                                    "upper terrace",
                                    ["terrace", "shade_percent", "aroma_score"],
                                    "positive",
                                ),
                                Sub(
                                    "On the lower terrace rain raises the harvest.",
                                    "lower terrace",
                                    ["terrace", "rain_mm", "leaf_g_per_m2"],
                                    "positive",
                                ),
                                Sub(
                                    "On the lower terrace shade leaves the aroma as it is.",
                                    "shade on the lower terrace",
                                    ["terrace", "shade_percent", "aroma_score"],
                                    "no relationship",
                                ),
                            ],
                            (5, 5, 5),
                            "A",
                            "The same five quantities and directions on both terraces.",
                        ),
                    ),
                    {"difficulty": 4},
                ),
            ],
        ),
    ],
)
