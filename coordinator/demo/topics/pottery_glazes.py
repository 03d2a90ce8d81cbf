"""Glaze tests of an invented pottery. The metadata is not UTF-8, as in some published files: it has the micro sign
and the typographic apostrophe in Windows code page 1252."""

from authoring import Dice, Metadata, Query, Table, Topic, Verdict, coder, react, single


def rows():
    dice = Dice("pottery-glazes_0_1")
    for tile in range(1, 121):
        thickness = dice.between(120, 680)
        cooling = dice.between(40, 160)
        crazed = dice.chance(0.66 if thickness > 400 else 0.2)
        yield [tile, f"{thickness:.0f}", f"{cooling:.0f}", dice.pick(["celadon", "tenmoku", "ash"]), int(crazed)]


TILES = Table(
    "data.csv",
    "Test tiles from the potter\u2019s second kiln, each glazed once and looked at after a month.",
    [
        ("tile", "Number of the tile"),
        ("glaze_thickness", "Thickness of the fired glaze, in \u00b5m"),
        ("cooling_rate", "Fall of the kiln\u2019s temperature below 600 degrees, in degrees per hour"),
        ("glaze", "Name of the glaze in the potter\u2019s book"),
        ("crazed", "1 if fine cracks were visible after a month, else 0"),
    ],
    list(rows()),
)

CRAZING = """
import csv

tiles, crazed = {}, {}
with open("data.csv", newline="") as file:
    for row in csv.DictReader(file):
        kind = "thick" if float(row["glaze_thickness"]) > 400 else "thin"
        tiles[kind] = tiles.get(kind, 0) + 1
        crazed[kind] = crazed.get(kind, 0) + int(row["crazed"])
thick, thin = crazed["thick"] / tiles["thick"], crazed["thin"] / tiles["thin"]
print(f"above 400: {100 * thick:.0f} % of {tiles['thick']}, up to 400: {100 * thin:.0f} % of {tiles['thin']}, ratio {thick / thin:.1f}")
"""

LOAD = """
import csv

with open("data.csv", newline="") as file:
    rows = list(csv.DictReader(file))
print(f"{len(rows)} tiles, the first of them {rows[0]}")
"""

BY_THICKNESS = """
bins = {}
for row in rows:
    low = int(float(row["glaze_thickness"]) // 100 * 100)
    bins.setdefault(low, []).append(int(row["crazed"]))
lines = []
for low in sorted(bins):
    lines.append(f"{low} to {low + 100}: {100 * sum(bins[low]) / len(bins[low]):.0f} % of {len(bins[low])} tiles")
print("\\n".join(lines))
"""

BY_GLAZE = """
names = {}
for row in rows:
    side = "above" if float(row["glaze_thickness"]) > 400 else "below"
    names.setdefault((side, row["glaze"]), []).append(int(row["crazed"]))
for key in sorted(names):
    print(*key, f"{100 * sum(names[key]) / len(names[key]):.0f} %")
"""

CRAZING_FINDING_CODER = (
    "Glaze thicker than 400 \u00b5m crazes far more often than thinner glaze: 64 % of the tiles against 10 %, which is 6.4 "
    "times as often."
)
CRAZING_FINDING_REACT = (
    "There is a threshold of about 400 \u00b5m: every glaze of the potter\u2019s book crazes more often above it, celadon for "
    "example on 73 % of the tiles against 11 % below."
)

ALL_TILES = "all test tiles of the second kiln"

TOPIC = Topic(
    "synth_test",
    "pottery-glazes_0_1",
    "ceramics",
    [
        Metadata(
            0,
            [TILES],
            [
                Query(
                    133,
                    "Does the thickness of the glaze tell whether a tile from the potter\u2019s second kiln will craze?",
                    "general",
                    "Tiles whose glaze is thicker than 400 \u00b5m craze about six times as often as tiles with thinner glaze.",
                    single(
                        "Tiles with glaze thicker than 400 \u00b5m craze about six times as often as others.",
                        ALL_TILES,
                        ["glaze_thickness", "crazed"],
                        "about six times as often above the threshold",
                    ),
                    coder(
                        CRAZING,
                        CRAZING_FINDING_CODER,
                        ["Read data.csv.", "Compared the share of crazed tiles on both sides of 400 \u00b5m."],
                        Verdict(
                            single(
                                "Thick glaze crazes several times as often as thin glaze.",
                                ALL_TILES,
                                ["glaze_thickness", "crazed"],
                                "several times as often above 400 \u00b5m",
                            ),
                            (2, 2, 2),
                            "A",
                            "Thickness and crazing in both, the same threshold and a like factor.",
                        ),
                    ),
                    react(
                        [
                            ("How many tiles are there?", LOAD),
                            ("The share of crazed tiles by thickness:", BY_THICKNESS),
                            ("A jump at 400. Is it the same for all glazes?", BY_GLAZE),
                        ],
                        CRAZING_FINDING_REACT,
                        [
                            "Read data.csv.",
                            "Computed the share of crazed tiles by thickness and saw a jump at 400 \u00b5m.",
                            "Checked the jump for each glaze.",
                        ],
                        Verdict(
                            single(
                                "Above a thickness of about 400 \u00b5m glaze crazes more often.",
                                "tiles of the potter\u2019s second kiln",
                                ["glaze_thickness", "crazed"],
                                "more often above 400 \u00b5m",
                            ),
                            (2, 2, 2),
                            "A",
                            "Thickness and crazing in both, and the same threshold.",
                            same_context=((0, 0),),
                        ),
                    ),
                    {"difficulty": 1},
                ),
            ],
            encoding="cp1252",
        ),
    ],
)
