# SPDX-License-Identifier: LGPL-2.1-or-later
"""sightline eval on COCO's annotations and on maps of classes: figures worked out by hand, predictions that are found again, hostile files.
tests/evaluate has the formulas."""
import csv
import json
import math
import os
import resource
import shutil
import struct
import zlib

import harness
from harness import data, model, png, run, work, write

RED, GREEN, BLUE = (200, 20, 10), (10, 200, 20), (20, 10, 200)
# As in eval.py: colour of the picture, class, and the box in pixels of 8 x 8.
WORKED = {"a": ((0, 240, 0), "green", (0, 2, 4, 4)), "b": ((0, 180, 0), "green", (5, 0, 2, 2)), "c": ((0, 120, 0), "green", (0, 2, 4, 2.5)),
          "d": ((0, 0, 200), "blue", (0, 2, 4, 4))}


def picture(path, rgb, side=8):
    os.makedirs(os.path.dirname(work(path)), exist_ok=True)
    return png(path, side, side, rgb)


def put(path, content):
    os.makedirs(os.path.dirname(work(path)), exist_ok=True)
    return write(path, content if isinstance(content, bytes) else (content if isinstance(content, str) else json.dumps(content)).encode())


def evaluated(network, dataset, *more):
    return json.loads(run("eval", network, "-d", dataset, "--json", *more).expect(0).out)["models"][0]


def worked(folder):
    """A data set of WORKED: annotations before what they refer to, ids of all kinds, members that nobody knows."""
    images, annotations, ids = [], [], {"green": 90, "blue": -3}
    for number, (name, (rgb, label, box)) in enumerate(WORKED.items()):
        picture("%s/%s.png" % (folder, name), rgb)
        images.append({"license": 4, "file_name": name + ".png", "height": 8, "width": 8, "id": 9007199254740000 + number, "x": [[{}],
                       None, True]})
        annotations.append({"id": number, "image_id": 9007199254740000 + number, "category_id": ids[label], "bbox": box, "iscrowd": 0,
                            "area": box[2] * box[3]})
    categories = [{"id": number, "name": name, "supercategory": "\u00e9\ud83d\ude00\\"} for name, number in ids.items()]
    return {"info": {"year": 2017}, "annotations": annotations, "categories": categories + [{"id": 7, "name": "nothing is one"}],
            "images": images}


def check_worked(got):
    green, blue = got["classes"]
    assert (green["label"], green["boxes"], green["found"], blue["label"], blue["boxes"]) == ("green", 3, 3, "blue", 1), got
    for key, value in ("ap", 406 / 1010), ("ap50", 56 / 101), ("ap75", 34 / 101):
        assert abs(green[key] - value) < 1e-5 and blue[key] == 1 and abs(got[key] - (value + 1) / 2) < 1e-5, (key, value, got)


def test_boxes():
    coco = worked("coco/val2017")
    check_worked(evaluated(model("one_box.tflite"), put("coco/annotations/instances_val2017.json", coco)))
    check_worked(evaluated(model("one_box.tflite"), put("coco/val2017/here.json", coco)))
    check_worked(evaluated(model("one_box.tflite"), put("elsewhere/a.json", coco), "--images", work("coco/val2017")))
    # By areas that the file states, not by those of the boxes; and each limit belongs to both sides.
    for one, area in zip(coco["annotations"], (32 * 32, 5000, 5000, 20000)):
        one["area"] = area
    got = evaluated(model("one_box.tflite"), put("coco/val2017/areas.json", coco))
    assert got["ap_small"] == 1 and got["ap_large"] == 1 and got["ap_medium"] < 1, got


def test_equal_confidences():
    """Found objects of one confidence count in the order of their pictures' ids, as in pycocotools, not of the file: first the miss of
    picture 1, then the hit of picture 2, which makes a precision of 1/2 up to a recall of 1/2, 51 of 101."""
    network, images, annotations = model("one_box.tflite"), [], []
    for number, name, box in ((2, "hit", (0, 2, 4, 4)), (1, "miss", (5, 0, 2, 2))):
        picture("equal/%s.png" % name, (0, 240, 0))
        images.append({"id": number, "file_name": name + ".png", "width": 8, "height": 8})
        annotations.append({"image_id": number, "category_id": 1, "bbox": box, "area": 4, "iscrowd": 0})
    coco = {"images": images, "annotations": annotations, "categories": [{"id": 1, "name": "green"}]}
    assert abs(evaluated(network, put("equal/a.json", coco))["ap50"] - 51 / 101 / 2) < 1e-5
    images[0]["id"], images[1]["id"] = annotations[0]["image_id"], annotations[1]["image_id"] = 1, 2
    assert abs(evaluated(network, put("equal/a.json", coco))["ap50"] - 51 / 101) < 1e-5


def test_crowds():
    """A crowd around the found box: who is in it is not wrong, whatever overlap is asked for."""
    coco = worked("crowd")
    crowd = dict(coco["annotations"][1], bbox=[0, 0, 8, 8], area=64, iscrowd=1)
    coco["annotations"].append(crowd)
    got = evaluated(model("one_box.tflite"), put("crowd/a.json", coco))
    green = got["classes"][0]
    # Found: a, then (b, ignored), then c, which overlaps by 10 of 16: precision stays 1 up to recall 2/3, 67 of 101 recalls.
    assert green["boxes"] == 3 and abs(green["ap50"] - 67 / 101) < 1e-5 and abs(green["ap75"] - 34 / 101) < 1e-5, green


def test_keypoints():
    """A person's points, taken for true, are found again; a second person that has none labelled need not be."""
    network = data("models", "movenet_single_pose_lightning_ptq.tflite")
    shutil.copy(data("images", "person.jpg"), work("person.jpg"))
    line = json.loads(run("predict", "--json", "--model", network, work("person.jpg")).expect(0).out)
    one, (width, height) = line["objects"][0], line["resolution"].values()
    points = []
    for point in one["keypoints"]:
        points += [point["x"] * width, point["y"] * height, 2]
    box = [one["x"], one["y"], one["w"], one["h"]]
    person = {"image_id": 1, "category_id": 1, "bbox": box, "area": box[2] * box[3] / 2, "keypoints": points, "num_keypoints": 17}
    nobody = dict(person, bbox=[0, 0, 9, 9], keypoints=[0] * 51, num_keypoints=0)
    coco = {"images": [{"id": 1, "file_name": "person.jpg", "width": width, "height": height}], "annotations": [person, nobody],
            "categories": [{"id": 1, "name": "person"}]}
    got = evaluated(network, put("person.json", coco))
    assert got["keypoints"]["ap"] == 1 and got["keypoints"]["boxes"] == 1 and got["keypoints"]["ap_small"] is None, got
    # So many pixels off that the similarity is 0.62 by the formula: enough at 0.5, 0.55 and 0.6.
    spreads = [2 * value / 10 for value in (.26, .25, .25, .35, .35, .79, .79, .72, .72, .62, .62, 1.07, 1.07, .87, .87, .89, .89)]
    low, high = 0.0, float(width)
    while high - low > 1e-6:
        off = (low + high) / 2
        similarity = sum(math.exp(-off ** 2 / spread ** 2 / person["area"] / 2) for spread in spreads) / 17
        low, high = (off, high) if similarity > 0.62 else (low, off)
    person["keypoints"] = [value + low * (i % 3 == 0) for i, value in enumerate(points)]
    moved = evaluated(network, put("person.json", coco))["keypoints"]
    assert [round(moved[key], 4) for key in ("ap", "ap50", "ap75", "ar", "ar50", "ar75")] == [0.3, 1, 0, 0.3, 1, 0], moved
    lines = run("eval", network, "-d", work("person.json")).expect(0).out.splitlines()
    assert [text.split()[1] for text in lines[2:4]] == [text.split()[1] for text in lines[6:]] == ["boxes", "keypoints"], lines
    assert lines[7].split()[2:7] == ["-", "-", "0.3000", "1.0000", "0.0000"] and got["keypoints"]["ar75"] == 1 and got["keypoints"]["ar10"] is None, lines
    run("eval", network, "-d", work("person.json"), "--csv", work("person.csv"), "--html", work("person.html")).expect(0)
    with open(work("person.csv"), encoding="utf-8", newline="") as file:
        rows = [(row["by"], row["tp"], row["fp"], row["fn"], row["right"]) for row in csv.DictReader(file)]
    assert rows == [("boxes", "1", "0", "1", "0"), ("keypoints", "1", "0", "0", "1")], rows
    with open(work("person.html"), encoding="utf-8") as file:
        page = file.read()
    assert page.count("Precision over recall</title>") == 2 and "<h3>By boxes</h3>" in page and "<h3>By keypoints</h3>" in page, page[:2000]


def test_other_members():
    """Points of hands and faces are no keypoints of persons, and `[]` and null no masks: boxes are measured alone."""
    coco = worked("members")
    for members in ({"keypoints": [1, 2, 2] * 21, "num_keypoints": 21}, {"keypoints": []}, {"keypoints": [0] * 100000},
                    {"segmentation": []}, {"segmentation": None}):
        for one in coco["annotations"]:
            one.update(members)
        got = evaluated(model("one_box.tflite"), put("members/a.json", coco))
        check_worked(got)
        assert "keypoints" not in got and "masks" not in got, got
    # A person's points, and a hand that nothing need be found of.
    network = data("models", "movenet_single_pose_lightning_ptq.tflite")
    shutil.copy(data("images", "person.jpg"), work("members/person.jpg"))
    line = json.loads(run("predict", "--json", "--model", network, work("members/person.jpg")).expect(0).out)
    width, height = line["resolution"].values()
    person = {"image_id": 1, "category_id": 1, "bbox": [0, 0, width, height], "area": 1000, "keypoints": [5, 5, 2] * 17}
    hand = dict(person, keypoints=[5, 5, 2] * 21, num_keypoints=21)
    coco = {"images": [{"id": 1, "file_name": "person.jpg", "width": width, "height": height}], "annotations": [person, hand],
            "categories": [{"id": 1, "name": "person"}]}
    assert evaluated(network, put("members/b.json", coco))["keypoints"]["boxes"] == 1


def test_many_ids():
    """Ids that agree in their lower halves; one after the other, they would take minutes."""
    images = [{"id": i << 32, "file_name": "none.png", "width": 8, "height": 8} for i in range(200000)]
    annotations = [{"image_id": i << 32, "category_id": 1, "bbox": [0, 0, 1, 1]} for i in range(200000)]
    text = put("ids.json", {"images": images, "annotations": annotations, "categories": [{"id": 1, "name": "green"}]})
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime  # which no busy machine stretches
    run("eval", model("one_box.tflite"), "-d", text).expect(1, "picture 'none.png' is not there")
    took = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    assert took < 30, took


def refuse(text, *messages):
    done = run("eval", model("one_box.tflite"), "-d", put("hostile/a.json", text)).expect(1, "a.json: ", *messages)
    assert done.out == "" and len(done.err.splitlines()) == 1, done


def test_hostile_files():
    coco = worked("hostile")
    for text, message in (("", "expected an object, but the file ends"), ("[]", "line 1: expected an object, got a list"),
                          ("{}", "has no images"),
                          ('{"images":[]}', "has no images"), ('{"images":', "expected a list, but the file ends"),
                          ("{" * 1000, "expected a string"),
                          ('{"a":' * 100000, "within each other"), ('{"x":' + "[" * 100000, "within each other"),
                          ('{"a" 1}', "expected ':' behind"),
                          ('{"a":1 "b":2}', "expected ',' or '}'"), ('{"a":[1,]}', "expected a value"), ('{"a":1x}', "expected ',' or"),
                          ('{"a":1e999}', "expected a number"), ('{"a":0x10}', "expected a number"), ('{"a":"\\q"}', "unknown escape"),
                          ('{"a":"\\u12"}', "four hexadecimal digits"), ('{"a":"\\u0000"}', "zero character"), ('{"a":"b', "without end"),
                          (b'{"a":"\xff"}', "no UTF-8"), (b'{"a":"b\0"}', "zero character"), ("{}x", "more behind the end"),
                          ("\n\n{nul", "line 3: expected a")):
        refuse(text, message)

    def changed(where, index, **members):
        copy = json.loads(json.dumps(coco))
        copy[where][index].update(members)
        return copy

    polygon = [1, 1, 5, 1, 5, 5]
    for text, *messages in (
            (changed("images", 1, width=-5), "images: line 1: expected a whole number from 1 to 16384, got -5"),
            (changed("images", 1, width=1e9), "expected a whole number from 1"),
            (changed("images", 1, file_name=7), "expected a string, got a number"),
            (changed("images", 1, id=coco["images"][0]["id"]), "a second picture of id"),
            (changed("images", 1, id="7"), "expected a number"),
            (changed("images", 1, file_name="../b.png"), "'../b.png' has a name of its own place"),
            (changed("images", 1, file_name="/etc/passwd"), "has a name of its own place"),
            (changed("images", 1, file_name="none.png"), "'none.png' is not there"),
            (dict(coco, categories=[{"id": 1}]), "a category without id or name"),
            (changed("categories", 0, name="gren"), "did you mean 'green'?"),
            (changed("annotations", 2, image_id=5), "annotation 3: ", "image_id 5 is not in the file"),
            (changed("annotations", 2, category_id=5), "category_id 5 is not in the file"),
            (changed("annotations", 2, category_id=0.5), "a whole number"),
            (changed("annotations", 0, bbox=[0, 0, -1, 4]),
             "annotation 1: bbox: line 1: expected x, y, width and height in pixels, no size negative"),
            (changed("annotations", 0, bbox=[0, 0, 1]), "bbox: line 1: expected x, y, width and height, got 3 numbers"),
            (changed("annotations", 0, bbox=None), "expected a list, got null"),
            (changed("annotations", 0, area=-1), "area: line 1: expected no negative number"),
            (changed("annotations", 0, iscrowd=2), "iscrowd: "),
            (changed("annotations", 0, segmentation=[polygon, [1, 2]]), "polygon of three points or more, got 2 numbers"),
            (changed("annotations", 0, segmentation=[polygon[:-1] + [1e9]]), "segmentation: y of point 3 is 1e+09; expected -8..16"),
            (changed("annotations", 0, segmentation={"counts": [64]}), "runs without the size"),
            (changed("annotations", 0, segmentation={"size": [8, 9], "counts": [72]}), "runs for 9x8 pixels; expected 8x8"),
            (changed("annotations", 0, segmentation={"size": [8, 8], "counts": [60]}), "runs of 60 pixels; expected 64"),
            (changed("annotations", 0, segmentation={"size": [8, 8], "counts": "~~~"}), "run 1 is none"),
            (changed("annotations", 0, segmentation={"size": [8, 8], "counts": [0, 60, -4, 8]}),
             "run 3 has -4 pixels; expected a whole number"),
            (changed("annotations", 0, segmentation={"size": [8, 8], "counts": [0.5, 63.5]}), "run 1 has 0.5 pixels"),
            (changed("annotations", 0, segmentation={"size": [8, 8], "counts": [0, 1e10]}), "run 2 has 1e+10 pixels"),
            (changed("annotations", 0, segmentation={"size": [8], "counts": [64]}), "size: line 1: expected height and width, got 1 numbers"),
            (changed("annotations", 0, segmentation={"size": [8, 8, 1], "counts": [64]}), "size: line 1: expected at most 2 numbers"),
            (changed("annotations", 0, segmentation=[polygon] * 10001), "segmentation: 10001 polygons; expected at most 10000"),
            (changed("annotations", 0, bbox=[0] * 100000), "bbox: line 1: expected at most 4 numbers"),
            (changed("annotations", 0, keypoints=[0] * 100000 + ["1"]), "keypoints: line 1: expected a number, got a string"),
            (changed("annotations", 0, num_keypoints=-1), "num_keypoints: line 1: expected a whole number from 0"),
            (changed("annotations", 0, segmentation=3), "segmentation: line 1: expected a list, got a number")):
        refuse(text, *messages)
    wrong = changed("images", 1, width=16)
    run("eval", model("one_box.tflite"), "-d", put("hostile/a.json", wrong)).expect(
        1, "b.png: has 8x8 pixels; expected 16x8, as the data set says")


def class_map(path, rows, depth=8, colour=0, filters=None, more=b"", side=None):
    """A map as PNG, with a filter for each row."""
    os.makedirs(os.path.dirname(work(path)), exist_ok=True)

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    raw, above = b"", bytes(len(rows[0]) * depth // 8 or 1)
    for number, row in enumerate(rows):
        bits = "".join(format(value, "0%db" % depth) for value in row)
        line = int(bits.ljust(-len(bits) // 8 * -8, "0"), 2).to_bytes(-(-len(bits) // 8), "big")
        kind = (filters or [0])[number % len(filters or [0])]
        coded = bytearray()
        for i, value in enumerate(line):
            left, up, corner = line[i - 1] if i else 0, above[i], above[i - 1] if i else 0
            guess = left + up - corner
            paeth = min((left, up, corner), key=lambda one: abs(guess - one))
            coded.append((value - (0, left, up, (left + up) // 2, paeth)[kind]) % 256)
        raw, above = raw + bytes([kind]) + coded, line
    width, height = side or (len(rows[0]), len(rows))
    packed = zlib.compress(raw)
    return write(path, b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)) + more +
                 chunk(b"PLTE", bytes(768)) + chunk(b"IDAT", packed[:9]) + chunk(b"IDAT", packed[9:]) + chunk(b"IEND", b""))


SEGMENT = ["--decoder", "segmentation"]


def test_maps():
    """Three pictures of one colour, whose class is that colour; truths that say otherwise in places."""
    network = model("brightest_quarter.tflite")
    for name, rgb in ("red", RED), ("green", GREEN), ("blue", BLUE):
        picture("maps/images/%s.png" % name, rgb)
    class_map("maps/masks/red.png", [[0] * 8] * 4 + [[1] * 8] * 4, 8, 3, [0, 1, 2, 3, 4])
    class_map("maps/masks/green.png", [[1] * 4 + [2] * 4] * 8, 2, 3, [4, 2])
    class_map("maps/masks/blue.png", [[2] * 6 + [255] * 2] * 8, 8, 0, [1, 3, 4])
    got = evaluated(network, work("maps"), *SEGMENT)
    # Pixels: red 32 of 64; green 32 true and found, 32 of red's and 32 taken from blue; blue 48 found, 80 true.
    for one, iou in zip(got["classes"], (0.5, 32 / 96, 0.6)):
        assert abs(one["iou"] - iou) < 1e-5, got
    assert abs(got["miou"] - (0.5 + 1 / 3 + 0.6) / 3) < 1e-5, got
    assert abs(got["right"] - 112 / 176) < 1e-5, got
    lines = run("eval", network, "-d", work("maps"), *SEGMENT).expect(0).out.splitlines()
    assert lines[0].endswith("maps: 3 pictures, 3 classes, 1 thread"), lines
    assert lines[1].split() == ["model", "mIoU", "right", "ms"] and lines[2].split()[1:3] == ["0.4778", "0.6364"], lines


def test_maps_elsewhere():
    """Beside the picture, with names that the model has in another order, and pictures without a map."""
    network = model("brightest_quarter.tflite")
    labels = put("names/rgb.txt", "red\ngreen\nblue\n")
    os.makedirs(work("beside"))
    shutil.copy(data("images", "person.bmp"), work("beside/person.bmp"))
    run("eval", network, "-d", work("beside"), *SEGMENT).expect(1, "no picture has a map of classes", "NAME.png beside NAME.jpg")
    class_map("beside/person.png", [[255] * 96] * 96)
    lone = run("eval", network, "-d", work("beside"), "--json", *SEGMENT).expect(0)
    assert json.loads(lone.out)["pictures"] == 1, lone.out
    for name in "ab":
        picture("voc/JPEGImages/%s.png" % name, GREEN)
    class_map("voc/SegmentationClass/a.png", [[2] * 8] * 8, 4)
    put("voc/classes.txt", "background\nbackground\ngreen\n" + "no class of the model\n" * 300)
    done = run("eval", network, "-d", work("voc"), "--labels", labels, *SEGMENT).expect(0)
    assert "1 more have no map of classes" in done.out and done.out.splitlines()[-1].split()[1] == "1.0000", done.out


def test_numbers_of_maps():
    """All maps are looked at before the first picture, whose own map is right; a class that no pixel can have is no class of a map."""
    network = model("brightest_quarter.tflite")
    for name in "ab":
        put("numbers/images/%s.png" % name, b"no picture")
    class_map("numbers/labels/a.png", [[1] * 8] * 8)
    class_map("numbers/labels/b.png", [[1] * 7 + [200]] * 8)
    done = run("eval", network, "-d", work("numbers"), *SEGMENT).expect(1, "labels/b.png: class 200 is none of", "expected 0..2, or 255")
    assert len(done.err.splitlines()) == 1, done
    many = put("numbers/many.txt", "".join("class %d\n" % i for i in range(3)))
    class_map("numbers/labels/b.png", [[1] * 8] * 8)
    put("numbers/classes.txt", "class 0\nclass 3\n")
    done = run("eval", network, "-d", work("numbers"), "--labels", many, *SEGMENT).expect(1, "class 3")
    assert len(done.err.splitlines()) == 1, done


def test_hostile_maps():
    network = model("brightest_quarter.tflite")
    picture("bad/images/a.png", GREEN)
    path = "bad/labels/a.png"

    def refused(*messages):
        run("eval", network, "-d", work("bad"), *SEGMENT).expect(1, "bad/labels/a.png: ", *messages)

    good = class_map(path, [[1] * 8] * 8)
    with open(good, "rb") as file:
        content = file.read()
    for bad, message in ((b"", "is no PNG; expected a map of classes"), (content[:40], "damaged"), (content[:-40], "damaged"),
                         (content.replace(b"IDAT", b"IDOT"), "damaged"),
                         (content[:60] + b"\xff" * 800 + content[860:], "damaged")):
        put(path, bad)
        refused(message)
    interlaced = content[12:28] + b"\1"
    put(path, content[:12] + interlaced + struct.pack(">I", zlib.crc32(interlaced)) + content[33:])
    refused("is interlaced; expected rows in their order")
    for arguments, message in (({"side": (16, 16)}, "damaged"), ({"side": (0, 8)}, "0x8 pixels"), ({"side": (60000, 8)}, "60000x8 pixels; expected 1..16384 each way and at most 67108864"),
                               ({"side": (16000, 16000)}, "at most"), ({"colour": 2}, "colours of type 2 with 8 bits; expected a number of at most 8 bits a pixel, gray or with a palette")):
        class_map(path, [[1] * 8] * 8, **arguments)
        refused(message)
    class_map(path, [[1] * 4] * 8)
    refused("has 4x8 pixels; expected 8x8, as its picture has")
    class_map(path, [[1] * 7 + [7]] * 8)
    refused("class 7 is none of", "expected 0..2")
    shutil.rmtree(work("bad/labels"))
    os.makedirs(work(path))
    refused("is no regular file")


harness.main(globals())
