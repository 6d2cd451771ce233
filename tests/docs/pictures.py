# SPDX-License-Identifier: LGPL-2.1-or-later
"""Charts of docs/pictures and the tables that they are made of, and what scripts/docs/pictures.py draws. TAP."""
import os
import sys
import xml.etree.ElementTree as tree

ROOT = os.environ["SIGHTLINE_SOURCE_ROOT"]
sys.path.insert(0, os.path.join(ROOT, "scripts", "docs"))
import pictures

SVG = "{http://www.w3.org/2000/svg}"


def test_budget():
    """The picture is that of the table now: bars in the proportion of the frames that came."""
    pictures.check()
    with open(os.path.join(ROOT, "docs", "budget.md"), encoding="utf-8") as file:
        came = [float(line.split("|")[4]) for line in file if line.startswith(("| `gate` | 10", "| `yard` | 5", "| `hall` | 5"))]
    bars = [float(bar.get("width")) for bar in tree.fromstring(pictures.bars()).iter(SVG + "rect") if bar.get("class") == "bar"][:3]
    assert len(came) == 3 and all(abs(width / bars[0] - frames / came[0]) < 0.01 for width, frames in zip(bars, came)), (bars, came)


def test_appearance():
    """Two bars for each sequence of the table, in the proportion of its ids."""
    with open(os.path.join(ROOT, "docs", "appearance.md"), encoding="utf-8") as file:
        rows = [row for row in (line.split("|") for line in file) if len(row) == 10 and row[8].strip()[:1].isdigit()]
    ids = [(float(row[6]), float(row[7])) for row in rows]
    drawn = [rect for rect in tree.fromstring(pictures.changes()).iter(SVG + "rect") if rect.get("height") == "15"]
    assert len(ids) == 8 and len(drawn) == 16, (ids, drawn)
    for n, (without, with_it) in enumerate(ids):
        assert [float(rect.get("width")) for rect in drawn[2 * n:2 * n + 2]] == [20 * without, 20 * with_it], n


def test_scenes():
    """Drawings are XML, with one </svg>, which rsvgdec takes for the end. Codes of one seed are alike."""
    drawings = [pictures.hall(3), pictures.svg(320, 520, pictures.gate(), pictures.person(0, 0, "#123456", "#654321")), pictures.svg(9, 9, pictures.passage(), pictures.yard())]
    for drawing in drawings:
        assert tree.fromstring(drawing).tag == SVG + "svg" and drawing.count("</svg>") == 1
    assert pictures.code(0, 0, 1, 5) == pictures.code(0, 0, 1, 5) != pictures.code(0, 0, 1, 6)


def main():
    tests = (test_budget, test_appearance, test_scenes)
    print("1..%d" % len(tests))
    for n, test in enumerate(tests, 1):
        test()
        print("ok %d %s" % (n, test.__name__))


if __name__ == "__main__":
    main()
