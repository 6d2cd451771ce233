# SPDX-License-Identifier: LGPL-2.1-or-later
"""scripts/zoo_figures.py and scripts/zoo_plot.py on answers that are known. TAP."""
import os
import sys
import tempfile
import xml.etree.ElementTree as tree

sys.path.insert(0, os.path.join(os.environ["SIGHTLINE_SOURCE_ROOT"], "scripts"))
import zoo_figures
import zoo_plot

POINTS = [("one", 10, 5, 0.5), ("two & <more>", 20, 30, 40), ("near", 10, 5.1, 0.5)]


def line(objects=(), labels=(), vector=None, mask=None):
    return {"objects": [{"detection": {"label": name, "bounding_box": dict(zip(("x_min", "y_min", "x_max", "y_max"), box))}} for name, *box in objects],
            "labels": [{"label": name} for name in labels], "vector": vector and {"values": vector}, "mask": mask and {"runs": mask}}


def test_objects():
    dog, moved = ("dog", 0, 0, 0.5, 0.5), ("dog", 0.1, 0, 0.6, 0.5)
    assert zoo_figures.agreement(line([dog]), line([dog])) == 1
    assert zoo_figures.agreement(line([dog]), line([moved])) == 1  # two thirds in common
    assert zoo_figures.agreement(line([dog]), line([("cat", 0, 0, 0.5, 0.5)])) == 0
    assert zoo_figures.agreement(line([dog]), line([dog, ("dog", 0.6, 0.6, 0.9, 0.9)])) == 2 / 3
    assert zoo_figures.agreement(line(), line()) == 1 and zoo_figures.agreement(line(), line([dog])) == 0
    assert zoo_figures.agreement(line([("dot", 0.5, 0.5, 0.5, 0.5)]), line([("dot", 0.5, 0.5, 0.5, 0.5)])) == 1


def test_others():
    assert zoo_figures.agreement(line(labels=["a", "b"]), line(labels=["a", "c"])) == 1
    assert zoo_figures.agreement(line(labels=["b"]), line(labels=["a"])) == 0 == zoo_figures.agreement(line(), line(labels=["a"]))
    assert zoo_figures.agreement(line(vector=[1, 2, 100]), line(vector=[1.9, 2, 100])) == 1
    assert zoo_figures.agreement(line(vector=[1, 2, 100]), line(vector=[2.1, 2, 100])) == 0
    assert zoo_figures.agreement(line(mask=[0, 6, 1, 2]), line(mask=[0, 7, 1, 1])) == 7 / 8
    assert zoo_figures.agreement(line(mask=[0, 6]), line(mask=[0, 7])) == 0


def test_write():
    """A key is written once, in front of gives=."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x.ini")
        with open(path, "w", encoding="utf-8") as file:
            file.write("[zoo]\nms=9\ntask=x\ngives=it\n\n[sightline]\nmean=0\n")
        zoo_figures.write(path, ms="1.5", int8="\\1")
        zoo_figures.write(path, ms="2")
        with open(path, encoding="utf-8") as file:
            assert file.read() == "[zoo]\ntask=x\nint8=\\1\nms=2\ngives=it\n\n[sightline]\nmean=0\n"


def test_plot():
    """A line and a dot for each point, where the axes say, and names that do not cover each other."""
    root = tree.fromstring("\n".join(zoo_plot.svg(POINTS)))
    name = "{http://www.w3.org/2000/svg}"
    dots = [float(dot.get("cx")) for dot in root.iter(name + "circle")]
    across = zoo_plot.Axis([5, 30], zoo_plot.LEFT, zoo_plot.WIDTH - zoo_plot.RIGHT)
    assert len(dots) == 3 and all(abs(dot - across.at(point[2])) < 0.1 for dot, point in zip(dots, POINTS))
    assert [group.get("class") for group in root.iter(name + "g")] == ["good", "bad", "good"]
    places = [(float(text.get("x")), float(text.get("y"))) for group in root.iter(name + "g") for text in group.iter(name + "text")]
    assert len(set(places)) == 3 and "two & <more>" in [text.text for text in root.iter(name + "text")]
    assert not any(child.tag == name + "script" for child in root.iter())


def main():
    tests = [(name, test) for name, test in globals().items() if name.startswith("test_")]
    print("1..%d" % len(tests), flush=True)
    for number, (name, test) in enumerate(tests, 1):
        test()
        print("ok %d %s" % (number, name), flush=True)


main()
