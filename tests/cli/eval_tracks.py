# SPDX-License-Identifier: LGPL-2.1-or-later
"""sightline eval --tracks: both formats of files, MOTChallenge's marks, and what goes wrong. tests/evaluate has the measures themselves."""
import json
import math

import harness
from harness import run, work, write

BOX = (10, 20, 30.5, 40)


def text(name, lines):
    return write(name, ("\n".join(",".join(map(str, line)) for line in lines) + "\n").encode())


def json_lines(name, frames):
    """A file as `predict --json` writes it: {frame: [(id, box in pixels)]} of frames of 200 x 100."""
    rows = []
    for frame, objects in frames.items():
        rows.append({"frame": frame, "resolution": {"width": 200, "height": 100}, "labels": [], "objects": [
            {"x": round(x), "y": round(y), "w": round(w), "h": round(h), "roi_type": "person", **({} if number is None else {"id": number}),
             "detection": {"bounding_box": {"x_min": x / 200, "y_min": y / 100, "x_max": (x + w) / 200, "y_max": (y + h) / 100},
                           "confidence": 0.75, "label": "person", "label_id": 0}, "objects": [{"x": 1, "id": 7}]}
            for number, (x, y, w, h) in objects]})
    return write(name, "".join(json.dumps(row) + "\n" for row in rows).encode())


def evaluated(truth, *files):
    return json.loads(run("eval", "--json", "--tracks", truth, *files).expect(0).out)


def truth_file(name="truth.txt"):
    return text(name, [(frame, 3, *BOX, 1, 1, 0.5) for frame in range(1, 11)])


def test_formats():
    """One switch in ten frames: each half has A = 1/2. Frame 1 of the text is frame 0 of JSON."""
    halves = [(frame, 1 + frame // 6, *BOX, 0.9, -1, -1, -1) for frame in range(1, 11)]
    lines = {frame - 1: [(number, box), (None, (100, 0, 20, 20))] for frame, number, *box, _, _, _, _ in halves}
    got = evaluated(truth_file(), text("a.txt", halves), json_lines("b.jsonl", lines))
    assert (got["boxes"], got["objects"], len(got["tracks"])) == (10, 1, 2), got
    for one in got["tracks"]:
        assert abs(one["hota"] - math.sqrt(0.5)) < 1e-5 and one["det_a"] == 1 and one["ass_a"] == 0.5 and one["idf1"] == 0.5, one
        assert one["mota"] == 0.9 and one["switches"] == 1 and one["fragments"] == 0 and one["ids"] == 2 and one["boxes"] == 10, one
        assert abs(one["loc_a"] - 1) < 1e-5, one
    out = run("eval", "--tracks", truth_file(), work("a.txt")).expect(0).out.splitlines()
    assert out[0].endswith("truth.txt: 10 boxes, objects: 1") and out[1].split() == "tracks HOTA DetA AssA IDF1 MOTA switches fragments".split(), out
    assert out[2].split()[1:] == ["0.7071", "1.0000", "0.5000", "0.5000", "0.9000", "1", "0"], out


def test_truth_as_json():
    """Boxes without edges in 0..1 are those in pixels."""
    lines = [{"frame": frame, "objects": [{"id": 1, "x": 5, "y": 5, "w": 10, "h": 20}]} for frame in range(3)]
    path = write("pixels.jsonl", "\n".join(map(json.dumps, lines)).encode())
    got = evaluated(path, text("pixels.txt", [(frame + 1, 4, 5, 5, 10, 20) for frame in range(3)]))["tracks"][0]
    assert got["hota"] == got["mota"] == got["idf1"] == 1, got


def test_marks():
    """Flag 0: does not count. What is found on a reflection (12) is forgotten, on a car (3) it is wrong."""
    there = [(frame, 3, *BOX, 1, 1, 1) for frame in range(1, 5)]
    found = text("marks.txt", [(frame, 1, *BOX, 0.9) for frame in range(1, 5)] + [(1, 2, 100, 20, 30, 40, 0.9)])
    for label, mota in (12, 1), (3, 0.75):
        got = evaluated(text("marked.txt", there + [(1, 9, 100, 20, 30, 40, 0, label, 1)]), found)
        assert got["tracks"][0]["mota"] == mota and got["boxes"] == 4, (label, got)


def test_threshold():
    found = text("unsure.txt", [(frame, 1, *BOX, 0.9) for frame in range(1, 11)] + [(1, 2, 100, 20, 30, 40, 0.2)])
    for more, boxes in ((), 11), (("--threshold", "0.5"), 10):
        got = json.loads(run("eval", "--json", "--tracks", truth_file(), found, *more).expect(0).out)
        assert got["tracks"][0]["boxes"] == boxes, got


def test_wrong_files():
    for line in "1,1,0,0,10", "0,1,0,0,10,10", "1,-1,0,0,10,10", "1.5,1,0,0,10,10", "1,1,0,0,-1,10", "1,1,0,0,10,nan", "1,1;0,0,10,10", "a":
        run("eval", "--tracks", truth_file(), write("bad.txt", ("1,1,0,0,10,10\n\n" + line).encode())).expect(
            1, "bad.txt: line 3: expected frame,id,x,y,width,height with frames from 1 on, ids from 0 on and sizes from 0 on, got '%s'" % line)
    cases = [('{"frame":0,"objects":[{"id":1}]}', "bad.jsonl: line 1: an object has no box; expected x, y, w and h"),
             ('{"objects":[]}', "bad.jsonl: line 1: no frame; expected the number of the frame, from 0 on"),
             ('{"frame":0,"objects":[{"id":1,"detection":{"bounding_box":{"x_min":0,"y_min":0,"x_max":1,"y_max":1}}}]}',
              "bad.jsonl: line 1: no resolution; expected width and height of the frame"),
             ('{"frame":0,"objects":[', "bad.jsonl: line 1: "), ('{"frame":-1}', "bad.jsonl: line 1: ")]
    for line, message in cases:
        run("eval", "--tracks", truth_file(), write("bad.jsonl", line.encode())).expect(1, message)
    run("eval", "--tracks", truth_file(), text("twice.txt", [(5, 1, 0, 0, 5, 5)] * 2)).expect(
        1, "twice.txt: frame 4 has two boxes of id 1; expected each id once in a frame")
    run("eval", "--tracks", truth_file(), text("full.txt", [(1, n, 0, 0, 5, 5) for n in range(1001)])).expect(
        1, "full.txt: frame 0 has more than 1000 boxes")
    run("eval", "--tracks", text("none.txt", [(1, 1, *BOX, 0)]), truth_file("other.txt")).expect(
        1, "none.txt: no box in it counts; expected boxes with ids, the true ones")
    run("eval", "--tracks", truth_file(), work("not-there.txt")).expect(1, "not-there.txt: no such file, check the path; expected a text file")
    many = [text("%s.txt" % name, [(frame + 1, frame * 100 + n, 10 * n, 0, 5, 5) for frame in range(21) for n in range(100)]) for name in "pq"]
    run("eval", "--tracks", *many).expect(1, "q.txt: 2100 objects in the file and 2100 in ", "state a higher --threshold")


def test_usage():
    run("eval", "--tracks", truth_file()).expect(2, "expected at least one file of predictions")
    for option in "--dataset", "--csv", "--html", "--images", "--worst":
        run("eval", "--tracks", truth_file(), "a.txt", option, "3").expect(2, option + " is about pictures; expected --tracks without it")


harness.main(globals())
