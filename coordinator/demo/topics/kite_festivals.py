"""Kites over an invented meadow. In each run one reply about them cannot be parsed."""

from authoring import Dice, Metadata, Query, Run, Table, Topic, Verdict, act, coder, react, single


def height_rows():
    dice = Dice("kite-festivals_0_0")
    for kite in range(1, 76):
        tail = dice.between(0.5, 9)
        shape = dice.pick(["box", "delta", "diamond"])
        wind = dice.between(3, 11)
        height = 24 + (8.5 if shape == "box" else 3.5) * tail + dice.normal(0, 4)
        yield [kite, shape, f"{tail:.1f}", f"{wind:.1f}", f"{height:.1f}"]


def prize_rows():
    dice = Dice("kite-festivals_0_1")
    for entry in range(1, 66):
        colours = 1 + entry % 9
        hours = 2 + entry * 23 % 65 * 0.6
        score = 38 + 6.2 * colours - 0.02 * hours + dice.normal(0, 4)
        yield [entry, colours, f"{hours:.1f}", f"{score:.1f}"]


HEIGHTS = Table(
    "data.csv",
    "Flights measured at the spring kite festival of Oxbow Meadow.",
    [
        ("kite", "Number of the kite"),
        ("shape", "box, delta or diamond"),
        ("tail_m", "Length of the tail, in metres"),
        ("wind_ms", "Wind during the flight, in metres per second"),
        ("height_m", "Greatest height reached, in metres"),
    ],
    list(height_rows()),
)

PRIZES = Table(
    "data.csv",
    "Scores of the beauty contest at the autumn kite festival of Oxbow Meadow.",
    [
        ("entry", "Number of the entry"),
        ("colours", "Number of colours on the kite"),
        ("hours_of_work", "Hours its maker spent on it"),
        ("score", "Score given by the jury, 0 to 100"),
    ],
    list(prize_rows()),
)

LOAD = """
import csv
import statistics

with open("data.csv", newline="") as file:
    rows = list(csv.DictReader(file))
rows[0]
"""

TAILS = """
import csv
import statistics

short, long = [], []
with open("data.csv", newline="") as file:
    for row in csv.DictReader(file):
        (long if float(row["tail_m"]) > 5 else short).append((float(row["height_m"]), float(row["wind_ms"])))
heights = [[pair[0] for pair in group] for group in (short, long)]
winds = [[pair[1] for pair in group] for group in (short, long)]
print(
    f"tail up to 5 m: height {statistics.mean(heights[0]):.1f} m at wind {statistics.mean(winds[0]):.1f} m/s; "
    f"longer: {statistics.mean(heights[1]):.1f} m at {statistics.mean(winds[1]):.1f} m/s"
)
"""

TAILS_BY_SHAPE = """
lines = []
for shape in ("box", "delta", "diamond"):
    tails, heights = [], []
    for row in rows:
        if row["shape"] == shape:
            tails.append(float(row["tail_m"]))
            heights.append(float(row["height_m"]))
    mean_tail, mean_height = statistics.mean(tails), statistics.mean(heights)
    sxy = sxx = 0.0
    for tail, height in zip(tails, heights):
        sxy += (tail - mean_tail) * (height - mean_height)
        sxx += (tail - mean_tail) ** 2
    lines.append(f"{shape}: {sxy / sxx:.1f} m of height per metre of tail")
print("\\n".join(lines))
"""

COLOURS = """
import csv
import statistics

scores = {}
with open("data.csv", newline="") as file:
    for row in csv.DictReader(file):
        scores.setdefault(int(row["colours"]), []).append(float(row["score"]))
means = {}
for colours in sorted(scores):
    means[colours] = round(statistics.mean(scores[colours]), 1)
means
"""

COLOURS_AND_HOURS = """
lines = []
for name in ("colours", "hours_of_work"):
    values, scores = [], []
    for row in rows:
        values.append(float(row[name]))
        scores.append(float(row["score"]))
    mean_value, mean_score = statistics.mean(values), statistics.mean(scores)
    sxy = sxx = 0.0
    for value, score in zip(values, scores):
        sxy += (value - mean_value) * (score - mean_score)
        sxx += (value - mean_value) ** 2
    lines.append(f"{name}: {sxy / sxx:.2f} points each")
print("\\n".join(lines))
"""

HEIGHT_FINDING_CODER = (
    "At the spring festival kites with a tail above 5 m flew higher, 57.0 m on average, than kites with a shorter one "
    "(38.9 m), in nearly the same wind of 7.2 and 7.0 m/s."
)
PRIZE_FINDING_REACT = (
    "In the beauty contest each further colour on a kite is worth 6.08 points of the jury; the maker's hours of work are "
    "worth nothing (-0.04 points an hour)."
)

SPRING = "flights at the spring festival of Oxbow Meadow"
CONTEST = "entries of the autumn beauty contest"

HEIGHT_TOPIC = Topic(
    "synth_test",
    "kite-festivals_0_0",
    "kite festivals",
    [
        Metadata(
            0,
            [HEIGHTS],
            [
                Query(
                    204,
                    "How do the tail and the shape of a kite bear on the height it reaches?",
                    "general",
                    "The height a kite reaches increases linearly with the length of its tail, and more than twice as steeply for box kites as for delta and diamond kites.",
                    single(
                        "Height increases linearly with tail length, more than twice as steeply for box kites.",
                        SPRING,
                        ["tail_m", "shape", "height_m"],
                        "positive and linear, steeper for box kites",
                    ),
                    coder(
                        TAILS,
                        HEIGHT_FINDING_CODER,
                        ["Read data.csv.", "Compared height and wind of kites with tails up to and above 5 m."],
                        Verdict(
                            single(
                                "Kites with long tails flew higher in the same wind.",
                                SPRING,
                                ["tail_m", "wind_ms", "height_m"],
                                "longer tails fly higher",
                            ),
                            (3, 3, 2),
                            "B",
                            "Tail and height are common, shape is missing and wind is new; the gold is linear, the answer only says higher.",
                        ),
                    ),
                    Run(
                        [
                            act(LOAD, "Thought: A look at the first row."),
                            act(TAILS_BY_SHAPE, "Slopes by shape:"),
                            "The slope of box kites is clearly steeper than the slope of the two other shapes, and all "
                            "three are positive, so tail and shape both matter. I am confident of this.",
                        ]
                    ),
                    {"difficulty": 3},
                ),
            ],
        ),
    ],
)

PRIZE_TOPIC = Topic(
    "synth_test",
    "kite-festivals_0_1",
    "kite festivals",
    [
        Metadata(
            2,
            [PRIZES],
            [
                Query(
                    219,
                    "What does the jury of the beauty contest reward?",
                    "general",
                    "The jury's score increases by about six points with every colour on the kite and does not depend on the hours of work.",
                    single(
                        "The score increases by about six points per colour and not with the hours of work.",
                        CONTEST,
                        ["colours", "hours_of_work", "score"],
                        "positive and linear in colours, none in hours",
                    ),
                    Run(
                        [
                            act(COLOURS),
                            "The table shows it at a glance: the score climbs with the number of colours, step by step.\n"
                            "**Final answer**: colourful kites win.",
                        ]
                    ),
                    react(
                        [
                            ("A look at the first entry.", LOAD),
                            ("One line through the scores for each column:", COLOURS_AND_HOURS),
                        ],
                        PRIZE_FINDING_REACT,
                        ["Read data.csv.", "Fitted the score on colours and on hours of work."],
                        Verdict(
                            single(
                                "Each colour is worth about six points, hours of work nothing.",
                                CONTEST,
                                ["colours", "hours_of_work", "score"],
                                "positive and linear in colours, none in hours",
                            ),
                            (3, 3, 3),
                            "A",
                            "The same three quantities, the same slope, the same absence of one.",
                        ),
                    ),
                    {"difficulty": 1},
                ),
            ],
        ),
    ],
)

TOPICS = [HEIGHT_TOPIC, PRIZE_TOPIC]
