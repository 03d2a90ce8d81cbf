"""One small topic for each split whose gold lies in the metadata: cider, puppets, night markets, all invented."""

from authoring import Dice, Metadata, Query, Table, Topic, Verdict, coder, react, single


def cider_rows():
    dice = Dice("cider_press")
    for batch in range(1, 61):
        days = dice.whole(0, 28)
        sugar = 9.5 + 0.16 * days + dice.normal(0, 0.4)
        yield [batch, dice.pick(["Foxwhelp", "Redstreak"]), days, f"{sugar:.1f}"]


def puppet_rows():
    dice = Dice("puppet-theatre_0_0")
    for show in range(1, 51):
        strings = dice.whole(3, 12)
        children = dice.whole(10, 90)
        minutes = 12 + 2.1 * strings + dice.normal(0, 3)
        yield [show, strings, children, f"{minutes:.0f}"]


def market_rows():
    dice = Dice("night-markets_0_0")
    for stall in range(1, 61):
        lanterns = stall * 4 % 15
        raining = int(stall * 7 % 10 < 3)
        visitors = 40 + 11 * lanterns - 35 * raining + dice.normal(0, 12)
        yield [stall, lanterns, raining, max(0, round(visitors))]


CIDER = Table(
    "pressings.csv",
    "Pressings of one autumn at a cider mill.",
    [
        ("batch", "Number of the pressing"),
        ("variety", "Apple variety"),
        ("days_stored", "Days the apples lay between picking and pressing"),
        ("sugar_percent", "Sugar in the juice, in percent by weight"),
    ],
    list(cider_rows()),
)

PUPPETS = Table(
    "data.csv",
    "Shows of a travelling puppet theatre.",
    [
        ("show", "Number of the show"),
        ("strings", "Strings on the leading puppet"),
        ("children", "Children in the audience"),
        ("setup_minutes", "Minutes it took to set up"),
    ],
    list(puppet_rows()),
)

MARKET = Table(
    "data.csv",
    "Evenings at the stalls of a night market.",
    [
        ("stall", "Number of the stall"),
        ("lanterns", "Lanterns lit at the stall"),
        ("raining", "1 if it rained, else 0"),
        ("visitors", "People who stopped at the stall"),
    ],
    list(market_rows()),
)


def slope(file, cause, effect):
    """A program that fits a line and prints its slope and correlation."""
    return f"""
import csv
import statistics

x, y = [], []
with open("{file}", newline="") as file:
    for row in csv.DictReader(file):
        x.append(float(row["{cause}"]))
        y.append(float(row["{effect}"]))
mean_x, mean_y = statistics.mean(x), statistics.mean(y)
sxy = sxx = syy = 0.0
for a, b in zip(x, y):
    sxy += (a - mean_x) * (b - mean_y)
    sxx += (a - mean_x) ** 2
    syy += (b - mean_y) ** 2
print(f"slope {{sxy / sxx:.2f}}, r = {{sxy / (sxx * syy) ** 0.5:.2f}}")
"""


def first_row(file):
    """A program that shows the first row of a file."""
    return f"""
import csv

with open("{file}", newline="") as file:
    rows = list(csv.DictReader(file))
rows[0]
"""


LANTERNS_AND_RAIN = """
cells = {}
for row in rows:
    many = "many lanterns" if int(row["lanterns"]) > 6 else "few lanterns"
    cells.setdefault((many, row["raining"]), []).append(int(row["visitors"]))
for many, rain in sorted(cells):
    print(many, "rain" if rain == "1" else "dry", round(sum(cells[many, rain]) / len(cells[many, rain]), 1))
"""

CIDER_FINDING = (
    "Juice is sweeter the longer the apples lie before pressing: each day of storage adds 0.16 percent of sugar (r = 0.96)."
)
PUPPET_FINDING = "Setting up takes 2.15 minutes more for every string on the leading puppet (r = 0.93)."
MARKET_FINDING_CODER = "Stalls with more lanterns draw more people, 11.12 for each lantern (r = 0.94)."
MARKET_FINDING_REACT = (
    "With more than 6 lanterns a stall stops 157.5 people on a dry evening and 122.2 in the rain, with fewer 72.7 and 42.8: "
    "lanterns draw visitors and rain keeps them away."
)

AUTUMN = "pressings of the autumn"
SHOWS = "all shows of the theatre"
EVENINGS = "all evenings at the market"
CIDER_GOLD = "The longer apples are stored before pressing, up to four weeks, the sweeter the juice: sugar rises linearly with the days of storage."


def cider_verdict():
    return Verdict(
        single("Sugar rises with the days of storage.", AUTUMN, ["days_stored", "sugar_percent"], "positive and linear"),
        (2, 2, 2),
        "A",
        "Storage and sugar in both, rising in both.",
    )


def puppet_verdict():
    return Verdict(
        single(
            "Set-up takes longer with more strings.",
            "shows of the travelling theatre",
            ["strings", "setup_minutes"],
            "positive and linear",
        ),
        (3, 2, 2),
        "A",
        "Strings and minutes are common; the gold names the audience as well.",
        same_context=((0, 0),),
    )


CIDER_TOPIC = Topic(
    "real_train",
    "cider_press",
    "food history",
    [
        Metadata(
            0,
            [CIDER],
            [
                Query(
                    0,
                    "Does it pay to let cider apples lie before they are pressed?",
                    "relationship",
                    CIDER_GOLD,
                    single(
                        "Sugar rises linearly with the days of storage.",
                        AUTUMN,
                        ["days_stored", "sugar_percent"],
                        "positive and linear",
                    ),
                    coder(
                        slope("pressings.csv", "days_stored", "sugar_percent"),
                        CIDER_FINDING,
                        ["Read pressings.csv.", "Fitted a line of sugar on days of storage."],
                        cider_verdict(),
                    ),
                    react(
                        [
                            ("What is in the file?", first_row("pressings.csv")),
                            ("Sugar against days:", slope("pressings.csv", "days_stored", "sugar_percent")),
                        ],
                        CIDER_FINDING,
                        ["Looked at pressings.csv.", "Fitted a line of sugar on days of storage."],
                        cider_verdict(),
                    ),
                    {"true_hypothesis": CIDER_GOLD},
                ),
            ],
            domain_knowledge="Starch turns to sugar while an apple ripens off the tree",
            workflow_tags="linear fit",
            workflow="1. Read the pressings.\n2. Fit sugar on days of storage by least squares.",
        ),
    ],
)

PUPPET_TOPIC = Topic(
    "synth_dev",
    "puppet-theatre_0_0",
    "puppet theatre",
    [
        Metadata(
            0,
            [PUPPETS],
            [
                Query(
                    12,
                    "What makes setting up a show of the puppet theatre take longer?",
                    "general",
                    "Setting up takes about two minutes longer for every string on the leading puppet, whatever the number of children in the audience.",
                    single(
                        "Set-up takes about two minutes longer per string, whatever the audience.",
                        SHOWS,
                        ["strings", "children", "setup_minutes"],
                        "positive and linear in strings, none in children",
                    ),
                    coder(
                        slope("data.csv", "strings", "setup_minutes"),
                        PUPPET_FINDING,
                        ["Read data.csv.", "Fitted a line of minutes on strings."],
                        puppet_verdict(),
                    ),
                    react(
                        [
                            ("What is in the file?", first_row("data.csv")),
                            ("Minutes against strings:", slope("data.csv", "strings", "setup_minutes")),
                        ],
                        PUPPET_FINDING,
                        ["Looked at data.csv.", "Fitted a line of minutes on strings."],
                        puppet_verdict(),
                    ),
                    {
                        "difficulty": 1,
                        "true_hypothesis": "Setting up takes about two minutes longer for every string on the leading puppet, whatever the number of children in the audience.",
                        "relevant_cols": ["strings", "setup_minutes"],
                        "target_col": "setup_minutes",
                    },
                ),
            ],
        ),
    ],
)

MARKET_TOPIC = Topic(
    "synth_train",
    "night-markets_0_0",
    "night markets",
    [
        Metadata(
            3,
            [MARKET],
            [
                Query(
                    57,
                    "How many people stop at a stall of the night market, and why?",
                    "general",
                    "A stall stops about eleven more people for every lantern, and about thirty-five fewer when it rains.",
                    single(
                        "About eleven more people stop per lantern, about thirty-five fewer in rain.",
                        EVENINGS,
                        ["lanterns", "raining", "visitors"],
                        "positive and linear in lanterns, negative in rain",
                    ),
                    coder(
                        slope("data.csv", "lanterns", "visitors"),
                        MARKET_FINDING_CODER,
                        ["Read data.csv.", "Fitted a line of visitors on lanterns."],
                        Verdict(
                            single(
                                "More lanterns draw more people.",
                                EVENINGS,
                                ["lanterns", "visitors"],
                                "positive and linear",
                            ),
                            (3, 2, 2),
                            "A",
                            "Lanterns and visitors are common; the rain is missing.",
                        ),
                    ),
                    react(
                        [
                            ("What is in the file?", first_row("data.csv")),
                            ("Lanterns and rain together:", LANTERNS_AND_RAIN),
                        ],
                        MARKET_FINDING_REACT,
                        ["Looked at data.csv.", "Averaged visitors by lanterns and rain."],
                        Verdict(
                            single(
                                "Lanterns draw visitors and rain keeps them away.",
                                EVENINGS,
                                ["lanterns", "raining", "visitors"],
                                "positive in lanterns, negative in rain",
                            ),
                            (3, 3, 3),
                            "B",
                            "The same quantities and directions, without the gold's linear law.",
                        ),
                    ),
                    {
                        "difficulty": 2,
                        "true_hypothesis": "A stall stops about eleven more people for every lantern, and about thirty-five fewer when it rains.",
                        "relevant_cols": ["lanterns", "raining", "visitors"],
                        "target_col": "visitors",
                    },
                ),
            ],
        ),
    ],
)

TOPICS = [CIDER_TOPIC, PUPPET_TOPIC, MARKET_TOPIC]
