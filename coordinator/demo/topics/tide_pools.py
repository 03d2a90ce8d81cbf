"""Rock pools on an invented shore. One question is never answered, the other is answered wrongly."""

from authoring import Dice, Metadata, Query, Run, Table, Topic, Verdict, act, coder, react, single

POOLS = 60


def rows():
    dice = Dice("tide_pools")
    for pool in range(1, POOLS + 1):
        height = dice.between(0.3, 3.2)
        shade = "shaded" if dice.chance(0.45) else "sunny"
        for season in ("spring", "autumn"):
            species = max(1, round(dice.normal(23 - 5.6 * height, 1.6)))
            anemones = max(0, round(dice.normal(15 if shade == "shaded" else 5, 2)))
            limpets = max(0, round(dice.normal(31, 6)))
            temperature = dice.normal(11 if season == "spring" else 14, 0.8) + (1.5 if shade == "sunny" else 0)
            yield [f"P{pool:02}", season, f"{height:.2f}", shade, f"{temperature:.1f}", species, anemones, limpets]


SURVEY = Table(
    "pool_survey.csv",
    "Two surveys, spring and autumn, of the same sixty rock pools below Tarn Head.",
    [
        ("pool", "Name of the pool"),
        ("season", "Survey, spring or autumn"),
        ("height_m", "Height of the pool above low water, in metres"),
        ("shade", "Whether the pool lies under an overhang (shaded) or in the open (sunny)"),
        ("temperature_c", "Water temperature at noon, in degrees Celsius"),
        ("species", "Number of animal and plant species found"),
        ("anemones", "Number of anemones"),
        ("limpets", "Number of limpets within half a metre of the pool"),
    ],
    list(rows()),
)

HALF_A_PROGRAM = """
import csv

with open("pool_survey.csv", newline="") as file:
    rows = list(csv.DictReader(file))
print(len(rows), "rows with", ", ".join(rows[0]))
"""

THE_OTHER_HALF = """
heights = [float(row["height_m"]) for row in rows]
species = [int(row["species"]) for row in rows]
print(min(heights), max(heights), min(species), max(species))
"""

LOAD = """
import csv
import statistics

with open("pool_survey.csv", newline="") as file:
    rows = list(csv.DictReader(file))
rows[0]
"""

LIMPETS_BY_SHADE = """
import csv
import statistics

limpets = {"shaded": [], "sunny": []}
with open("pool_survey.csv", newline="") as file:
    for row in csv.DictReader(file):
        limpets[row["shade"]].append(int(row["limpets"]))
print(f"shaded {statistics.mean(limpets['shaded']):.1f}, sunny {statistics.mean(limpets['sunny']):.1f} limpets")
"""

ANEMONES_BY_SHADE = """
counts = {}
for row in rows:
    zone = "above 1.5 m" if float(row["height_m"]) > 1.5 else "below 1.5 m"
    counts.setdefault((row["shade"], zone), []).append(int(row["anemones"]))
lines = []
for shade, zone in sorted(counts):
    lines.append(f"{shade}, {zone}: {statistics.mean(counts[shade, zone]):.1f} anemones")
print("\\n".join(lines))
"""


def pool_by_pool(turns):
    """An agent that loses itself in details: it looks at one pool after another until its turns are used up."""
    thoughts = ("The next pool: {}.", "Before I conclude anything I want to see {}.", "{} may be different. I look.")
    replies = [act(LOAD, "Thought: I want to know the pools one by one before I judge.")]
    for pool in range(1, turns):
        name = f"P{pool:02}"
        code = f'pool = [row for row in rows if row["pool"] == "{name}"]\n[(row["height_m"], row["species"]) for row in pool]'
        replies.append(act(code, thoughts[pool % 3].format(name)))
    return [{"content": reply, "latency_ms": 90 + 35 * (turn % 4)} for turn, reply in enumerate(replies)]


SHADE_FINDING_CODER = (
    "In the sixty pools of the two surveys shade makes no difference to the animals: there are 29.8 limpets at shaded "
    "pools and 32.2 at sunny ones."
)
SHADE_FINDING_REACT = (
    "At every height above low water, shaded pools hold about three times as many anemones as sunny pools: 14.7 against "
    "5.3 above 1.5 m, and 15.1 against 5.9 below."
)

BOTH_SURVEYS = "all sixty pools, both surveys"

TOPIC = Topic(
    "real_test",
    "tide_pools",
    "marine ecology",
    [
        Metadata(
            0,
            [SURVEY],
            [
                Query(
                    0,
                    "How does the number of species in a rock pool below Tarn Head depend on the pool's height above low water?",
                    "relationship",
                    "The higher a pool lies above low water, the fewer species it holds: the number falls linearly by between five and six species per metre.",
                    single(
                        "The number of species falls linearly with the height of the pool.",
                        BOTH_SURVEYS,
                        ["height_m", "species"],
                        "negative and linear, five to six species per metre",
                    ),
                    # CodeGen may run code once and cannot leave it at that.
                    Run(
                        [
                            act(HALF_A_PROGRAM),
                            act(THE_OTHER_HALF, "The file is read. Now the two columns that matter."),
                            act(THE_OTHER_HALF, "I still need the ranges of height and species."),
                            act(THE_OTHER_HALF, "Once more, as nothing was printed."),
                            act(THE_OTHER_HALF, "Without these figures I cannot say anything."),
                        ]
                    ),
                    Run(pool_by_pool(25)),
                ),
            ],
            domain_knowledge="Pools high on the shore are cut off from the sea for longer between tides",
            workflow_tags="linear fit",
        ),
        Metadata(
            1,
            [SURVEY],
            [
                Query(
                    0,
                    "What does shade change in the rock pools below Tarn Head?",
                    "variables",
                    "Shaded pools hold about three times as many anemones as sunny pools.",
                    single(
                        "Shaded pools hold about three times as many anemones as sunny pools.",
                        BOTH_SURVEYS,
                        ["shade", "anemones"],
                        "about three times as many",
                    ),
                    coder(
                        LIMPETS_BY_SHADE,
                        SHADE_FINDING_CODER,
                        ["Read pool_survey.csv.", "Compared the mean number of limpets by shade."],
                        Verdict(
                            single(
                                "Shade makes no difference to limpets.",
                                BOTH_SURVEYS,
                                ["shade", "limpets"],
                                "no relationship",
                            ),
                            (2, 2, 1),
                            "C",
                            "Only shade is common; the gold has a strong relation where the answer sees none.",
                        ),
                    ),
                    react(
                        [
                            ("I start with the columns.", LOAD),
                            ("Anemones dry out easily. I count them by shade, high and low pools apart.", ANEMONES_BY_SHADE),
                        ],
                        SHADE_FINDING_REACT,
                        [
                            "Read pool_survey.csv.",
                            "Averaged the anemones by shade for pools above and below 1.5 m.",
                        ],
                        Verdict(
                            single(
                                "At every height shaded pools hold about three times as many anemones.",
                                BOTH_SURVEYS,
                                ["shade", "anemones", "height_m"],
                                "about three times as many",
                            ),
                            (2, 3, 2),
                            "A",
                            "Shade and anemones are common; the answer adds the height.",
                        ),
                    ),
                ),
            ],
            domain_knowledge="Soft animals dry out in the sun",
            workflow_tags="group means",
        ),
    ],
)
