"""Beehives on two slopes of an invented hill: honey, mites, and who comes through the winter."""

from authoring import Dice, Metadata, Query, Sub, Table, Topic, Verdict, coder, react, single


def rows():
    dice = Dice("hillside_hives")
    for year in range(2015, 2020):
        for hive in range(1, 25):
            slope = "south" if hive % 2 else "north"
            mites = max(0.0, dice.normal(6.5, 2.8))
            honey = dice.normal(21.5 if slope == "south" else 15.5, 2.1)
            if mites > 9:
                honey -= dice.between(6.0, 9.0)
            weight = dice.normal(29.5, 4.0)
            survived = dice.chance(0.96 if weight >= 28 else 0.45)
            yield [
                year,
                f"H{hive:02}",
                slope,
                f"{mites:.1f}",
                f"{max(honey, 2.0):.1f}",
                f"{weight:.1f}",
                "yes" if survived else "no",
            ]


HIVES = Table(
    "hives.csv",
    "Yearly records of the 24 hives of the hillside apiary at Marlow Edge, 2015 to 2019. One row per hive and year; a colony that died was replaced in spring.",
    [
        ("year", "Year of the season"),
        ("hive", "Name of the hive"),
        ("slope", "Side of the hill on which the hive stands, south or north"),
        ("mites_per_100", "Mites per hundred bees, counted in August"),
        ("honey_kg", "Honey taken in the season, in kilograms"),
        ("october_weight_kg", "Weight of the hive with its stores in mid October, in kilograms"),
        ("survived_winter", "Whether the colony was alive in the following March, yes or no"),
    ],
    list(rows()),
)

LOAD = """
import csv
import statistics

with open("hives.csv", newline="") as file:
    rows = list(csv.DictReader(file))
rows[0]
"""

HONEY_BY_SLOPE = """
import csv
import statistics

honey = {"south": [], "north": []}
with open("hives.csv", newline="") as file:
    for row in csv.DictReader(file):
        honey[row["slope"]].append(float(row["honey_kg"]))
south, north = statistics.mean(honey["south"]), statistics.mean(honey["north"])
print(f"south {south:.1f} kg, north {north:.1f} kg, difference {south - north:.1f} kg")
"""

HONEY_BY_MITES = """
bins = {}
for row in rows:
    low = int(float(row["mites_per_100"]) // 3 * 3)
    bins.setdefault(low, []).append(float(row["honey_kg"]))
lines = []
for low in sorted(bins):
    lines.append(f"mites {low} to {low + 3}: {statistics.mean(bins[low]):.1f} kg in {len(bins[low])} rows")
print("\\n".join(lines))
"""

HONEY_BY_BOTH = """
groups = {}
for row in rows:
    key = (row["slope"], "above 9" if float(row["mites_per_100"]) > 9 else "up to 9")
    groups.setdefault(key, []).append(float(row["honey_kg"]))
lines = []
for slope, mites in sorted(groups):
    lines.append(f"{slope}, mites {mites}: {statistics.mean(groups[slope, mites]):.1f} kg")
print("\\n".join(lines))
"""

WEIGHT_BY_FATE = """
import csv
import statistics

weights = {"yes": [], "no": []}
with open("hives.csv", newline="") as file:
    for row in csv.DictReader(file):
        weights[row["survived_winter"]].append(float(row["october_weight_kg"]))
for fate in weights:
    weights[fate] = f"{statistics.mean(weights[fate]):.1f} kg over {len(weights[fate])} colonies"
weights
"""

WEIGHT_RANKS = """
ordered = sorted(rows, key=lambda row: float(row["october_weight_kg"]))
third = len(ordered) // 3
shares = []
for start in (0, third, 2 * third):
    alive = [row for row in ordered[start : start + third] if row["survived_winter"] == "yes"]
    shares.append(round(100 * len(alive) / third))
print(f"alive of the lightest third {shares[0]} %, of the middle third {shares[1]} %, of the heaviest third {shares[2]} %")
"""

HONEY_FINDING_CODER = (
    "Over all seasons, hives on the south slope gave more honey than hives on the north slope: a mean of "
    "20.5 kg against 14.3 kg in a season, a difference of 6.2 kg."
)
HONEY_FINDING_REACT = (
    "Slope and mites both go with the honey of a hive. With up to 9 mites per hundred bees a south hive gave 21.4 kg and "
    "a north hive 15.6 kg a season; above 9 mites the means fall to 15.0 kg and 8.2 kg."
)
WINTER_FINDING_CODER = (
    "Colonies that live through the winter were heavier in October than those that die: 31.1 kg on average against "
    "27.3 kg."
)
WINTER_FINDING_REACT = (
    "The heavier a hive is in October, the likelier its colony is alive in March: 60 % of the lightest third, 92 % of "
    "the middle third and 95 % of the heaviest third survived."
)

ALL_SEASONS = "all hives of the apiary, seasons 2015 to 2019"
MANY_MITES = "colonies with more than 9 mites per hundred bees in August"

TOPIC = Topic(
    "real_test",
    "hillside_hives",
    "apiculture",
    [
        Metadata(
            0,
            [HIVES],
            [
                Query(
                    0,
                    "Which conditions go with a larger or smaller honey harvest at Marlow Edge?",
                    "variables",
                    "Hives on the south slope gave about 6 kg more honey per season than hives on the north slope, and on either slope colonies with more than 9 mites per hundred bees gave about 7 kg less than the others.",
                    [
                        Sub(
                            "Hives on the south slope gave about 6 kg more honey than hives on the north slope.",
                            ALL_SEASONS,
                            ["slope", "honey_kg"],
                            "south gives about 6 kg more",
                        ),
                        Sub(
                            "Colonies with more than 9 mites per hundred bees gave about 7 kg less honey.",
                            MANY_MITES,
                            ["mites_per_100", "honey_kg"],
                            "about 7 kg less above the threshold",
                        ),
                    ],
                    coder(
                        HONEY_BY_SLOPE,
                        HONEY_FINDING_CODER,
                        ["Read hives.csv.", "Compared the mean honey of the two slopes over all years."],
                        Verdict(
                            single(
                                "South hives gave about 6 kg more honey than north hives.",
                                ALL_SEASONS,
                                ["slope", "honey_kg"],
                                "south gives about 6 kg more",
                            ),
                            (3, 2, 2),
                            "A",
                            "Slope and honey are common to both; the answer leaves the mites out.",
                        ),
                    ),
                    react(
                        [
                            ("One row tells me the columns.", LOAD),
                            ("Mites may matter. I average the honey in bins of three mites.", HONEY_BY_MITES),
                            ("It drops above nine mites. Does that hold on both slopes?", HONEY_BY_BOTH),
                        ],
                        HONEY_FINDING_REACT,
                        [
                            "Read hives.csv.",
                            "Binned the honey by mite count and saw a drop above 9.",
                            "Averaged the honey by slope on both sides of that count.",
                        ],
                        Verdict(
                            [
                                Sub(
                                    "South hives gave more honey than north hives.",
                                    ALL_SEASONS,
                                    ["slope", "honey_kg"],
                                    "south gives about 6 kg more",
                                ),
                                Sub(
                                    "Above 9 mites per hundred bees the honey falls on both slopes.",
                                    "hives whose August count lies above 9 mites",
                                    ["mites_per_100", "honey_kg"],
                                    "about 7 kg less above 9 mites",
                                ),
                            ],
                            (3, 3, 3),
                            "A",
                            "Slope, mites and honey in both, with the same directions and sizes.",
                            same_context=((1, 1),),
                        ),
                    ),
                ),
            ],
            domain_knowledge="A strong parasite load weakens the foragers of late summer; warm slopes flower longer",
            workflow_tags="group means, threshold search",
        ),
        Metadata(
            1,
            [HIVES],
            [
                Query(
                    0,
                    "What does the October weight of a hive say about its colony's winter at Marlow Edge?",
                    "relationship",
                    "Colonies whose hive weighs 28 kg or more in October nearly always live through the winter, while of the lighter ones only about half do: survival jumps at a threshold.",
                    single(
                        "Survival jumps from about half to nearly all at an October weight of 28 kg.",
                        ALL_SEASONS,
                        ["october_weight_kg", "survived_winter"],
                        "threshold at 28 kg",
                    ),
                    coder(
                        WEIGHT_BY_FATE,
                        WINTER_FINDING_CODER,
                        ["Read hives.csv.", "Compared the mean October weight of survivors and of the dead."],
                        Verdict(
                            single(
                                "Survivors were heavier in October.",
                                ALL_SEASONS,
                                ["october_weight_kg", "survived_winter"],
                                "survivors are heavier",
                            ),
                            (2, 2, 2),
                            "B",
                            "The direction agrees; the gold is more specific and names a threshold.",
                        ),
                    ),
                    react(
                        [
                            ("I look at the columns.", LOAD),
                            ("I order the hives by weight and compare thirds.", WEIGHT_RANKS),
                        ],
                        WINTER_FINDING_REACT,
                        [
                            "Read hives.csv.",
                            "Ordered the rows by October weight and cut them into three equal parts.",
                            "Compared the share of survivors.",
                        ],
                        Verdict(
                            single(
                                "Survival rises with October weight.",
                                ALL_SEASONS,
                                ["october_weight_kg", "survived_winter"],
                                "positive",
                            ),
                            (2, 2, 2),
                            "B",
                            "A positive relation, but without the threshold of the gold.",
                        ),
                    ),
                ),
            ],
            # The hint is blank in the metadata, as it is in some published files: prompts stay unchanged.
            domain_knowledge="",
            workflow_tags="threshold search",
        ),
    ],
)
