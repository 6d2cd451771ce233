# SPDX-License-Identifier: LGPL-2.1-or-later
"""sightline eval: figures against predict's own answers and against numbers worked out by hand; every way a data set can be laid out; what
goes wrong. tests/evaluate has average precision itself."""
import json
import os
import shutil
import signal
import subprocess

import harness
from harness import data, model, png, run, some_of, work, write
from running import PATIENCE, takes_signal

IMAGENET = ["--mean", "123.675,116.28,103.53", "--std", "58.395,57.12,57.375"]
RED, GREEN, BLUE = (200, 20, 10), (10, 200, 20), (20, 10, 200)


def folder(name):
    os.makedirs(work(name), exist_ok=True)
    return work(name)


def put(path, text):
    folder(os.path.dirname(path))
    return write(path, text.encode())


def picture(path, rgb):
    folder(os.path.dirname(path))
    return png(path, 8, 8, rgb)


def evaluate(models, dataset, *more, status=0, messages=()):
    done = run("eval", *models, "--dataset", dataset, "--json", *more).expect(status, *messages)
    return json.loads(done.out)


def evaluated(models, dataset, *more):
    report = evaluate(models, dataset, *more)
    return report["models"][0]


def colours(name):
    """Three red pictures of which one is green, and a blue one, by folders named as the labels."""
    for path, rgb in ("Red/a", RED), ("Red/b", GREEN), ("Red/c", RED), ("BLUE/a", BLUE):
        picture("%s/%s.png" % (name, path), rgb)
    return work(name)


def check_colours(got):
    assert got["top1"] == 0.75 and got["top5"] == 1 and got["ms"] > 0, got
    red = {"label_id": 0, "label": "red", "pictures": 3, "right": 2, "among_five": 3}
    assert got["classes"] == [red, {"label_id": 2, "label": "blue", "pictures": 1, "right": 1, "among_five": 1}], got
    assert got["confusions"] == [{"label_id": 0, "label": "red", "taken_for_id": 1, "taken_for": "green", "pictures": 1}], got


def test_class_folders():
    check_colours(evaluated([model("brightest_channel.tflite")], colours("colours")))
    lines = run("eval", model("brightest_channel.tflite"), "-d", work("colours")).expect(0).out.splitlines()
    assert lines[0].endswith("colours: 4 pictures, 2 classes, 1 thread"), lines
    assert lines[1].split() == ["model", "top-1", "top-5", "ms"] and lines[2].split()[1:3] == ["0.7500", "1.0000"], lines
    assert [line.split() for line in lines[5:7]] == [["2", "of", "3", "red"], ["1", "of", "1", "blue"]], lines
    assert lines[8].split() == ["1", "times", "red", "for", "green"], lines


def test_numbers_and_lists():
    colours("by-number")
    os.rename(work("by-number/Red"), work("by-number/0"))
    os.rename(work("by-number/BLUE"), work("by-number/class2"))
    check_colours(evaluated([model("brightest_channel.tflite")], work("by-number")))
    for name, rgb in ("class0000 a", RED), ("class0_b", GREEN), ("class0000", RED), ("class2", BLUE):
        picture("flat/%s.png" % name, rgb)
    check_colours(evaluated([model("brightest_channel.tflite")], work("flat")))
    colours("listed")
    put("listed/commas.csv", "Red/a.png,red\r\nRed/b.png, 0\n\nRed/c.png,RED\n%s,blue\n" % work("listed/BLUE/a.png"))
    put("listed/blanks.txt", "Red/a.png red\nRed/b.png\t0\nRed/c.png  red\nBLUE/a.png 2")
    for name in "commas.csv", "blanks.txt":
        check_colours(evaluated([model("brightest_channel.tflite")], work("listed/" + name)))


def test_two_models():
    """One table; and a model that is told that its colours are exchanged takes red for blue."""
    report = evaluate([model("brightest_channel.tflite"), model("float_range.tflite")], colours("two"), "--mean", "0", "--std", "255",
                      "--labels", put("names/colours.txt", "red\ngreen\nblue\n"))
    assert [one["top1"] for one in report["models"]] == [0.75, 0.75] and report["pictures"] == 4, report
    swapped = evaluated([model("brightest_channel.tflite")], work("two"), "--colour", "BGR")
    assert swapped["top1"] == 0 and swapped["confusions"][0]["pictures"] == 2, swapped


def test_without_labels():
    """Numbers that nothing names are scores of the data set's classes."""
    for number, level in ("3", 60), ("5", 200):
        picture("digits/%s/a.png" % number, (level, level, level))
    network = data("formats", "models", "cntk_mnist.onnx")
    told, stated = evaluated([network], work("digits")), evaluated([network], work("digits"), "--decoder", "labels")
    assert told["top5"] >= told["top1"] and len(told["classes"]) == 2, told
    assert (told["classes"], told["confusions"]) == (stated["classes"], stated["confusions"]), (told, stated)
    run("eval", network, "-d", work("digits"), "--decoder", "vector").expect(
        1, "cntk_mnist.onnx: its decoder is 'vector'; expected a model that names pictures", "(--decoder labels for scores of classes)")


def test_top_of_many_classes():
    """1,000 classes: the counts that `predict` gives."""
    network, pictures = data("quantize", "models", "mobilenetv2_float.onnx"), some_of(data("quantize", "pictures", "evaluate"), 6)
    lines = run("predict", "--json", "--top", "5", "--threshold", "0", "--model", network, *IMAGENET, pictures).expect(0).out.splitlines()
    right = near = 0
    for line in map(json.loads, lines):
        number = int(os.path.basename(line["source"])[5:9])
        labels = [label["label_id"] for label in line["labels"]]
        right += labels[0] == number
        near += number in labels
    got = evaluated([network], pictures, *IMAGENET)
    assert abs(got["top1"] - right / len(lines)) < 1e-6 and abs(got["top5"] - near / len(lines)) < 1e-6, (got["top1"], right, near)
    assert len(lines) == len(got["classes"]) == 42 and got["top1"] >= 0.8, got["top1"]
    assert sum(one["pictures"] for one in got["confusions"]) == 42 - right


WORKED = {  # name: (colour of the picture, class of the true box, its centre and size, the same as pixels from 1 on)
    "a": ((0, 240, 0), "green", "0.25 0.5 0.5 0.5", (1, 3, 4, 6)),
    "b": ((0, 180, 0), "green", "0.75 0.125 0.25 0.25", (6, 1, 7, 2)),
    "c": ((0, 120, 0), "green", "0.25 0.40625 0.5 0.3125", (1, 3, 4, 4.5)),
    "d": ((0, 0, 200), "blue", "0.25 0.5 0.5 0.5", (1, 3, 4, 6)),
}


def check_worked(got):
    """The model's box overlaps the true one wholly, not at all, and in 10 of 16 pixels, with falling confidence. Up to an overlap of 0.6
    the precision is 1 at the 34 recalls to 1/3 and 2/3 at the 33 recalls to 2/3; beyond, it is 1 at 34 recalls and then 0."""
    green, blue = got["classes"]
    assert (green["label"], green["boxes"], green["found"], blue["label"], blue["boxes"]) == ("green", 3, 3, "blue", 1), got
    # Two of three are found up to an overlap of 0.6, one beyond.
    for key, value in (("ap", 406 / 1010), ("ap50", 56 / 101), ("ap75", 34 / 101), ("ar1", 13 / 30), ("ar", 13 / 30), ("ar50", 2 / 3),
                       ("ar75", 1 / 3), ("ar_small", 13 / 30)):
        assert abs(green[key] - value) < 1e-5 and blue[key] == 1 and abs(got[key] - (value + 1) / 2) < 1e-5, (key, value, got)


def test_yolo_labels():
    numbers = {"green": 0, "blue": 1}
    for name, (rgb, label, box, _) in WORKED.items():
        picture("yolo/images/%s.png" % name, rgb)
        put("yolo/labels/%s.txt" % name, "%d %s\n" % (numbers[label], box))
        picture("beside/%s.png" % name, rgb)
        put("beside/%s.txt" % name, "\n%d  %s\r\n\n" % (1 - numbers[label], box))
    picture("yolo/images/empty.png", (0, 0, 0))
    put("yolo/pictures.txt", "".join("images/%s.png\n" % name for name in WORKED))
    # Numbers that stand for names, which the model has in another order.
    put("beside/classes.txt", "blue\ngreen\n")
    report = evaluate([model("one_box.tflite")], work("yolo"))
    check_worked(report["models"][0])
    assert (report["pictures"], report["unlabelled"]) == (5, 1), report
    for place in "yolo/images", "yolo/pictures.txt", "beside":
        check_worked(evaluated([model("one_box.tflite")], work(place)))
    lines = run("eval", model("one_box.tflite"), "-d", work("yolo")).expect(0).out.splitlines()
    assert lines[2].split() == ["model", "by", "AP", "AP50", "AP75", "small", "medium", "large", "ms"], lines
    assert lines[4] == "" and lines[5].split() == ["model", "by", "AR1", "AR10", "AR", "AR50", "AR75", "small", "medium", "large"], lines
    assert lines[6].split()[1:] == ["boxes", "0.7167", "0.7167", "0.7167", "0.8333", "0.6667", "0.7167", "-", "-"] and len(lines) == 7, lines
    assert lines[3].split()[1:8] == ["boxes", "0.7010", "0.7772", "0.6683", "0.7010", "-", "-"], lines
    # A found box that is less sure than the threshold does not count.
    green = evaluated([model("one_box.tflite")], work("yolo"), "--threshold", "0.6")["classes"][0]
    assert green["found"] == 2 and abs(green["ap50"] - 34 / 101) < 1e-5, green


def voc(objects):
    text = "<?xml version='1.0'?><annotation><filename>x</filename><size><width>8</width></size>"
    for name, box, difficult in objects:
        text += "<object><name>%s</name><difficult>%d</difficult><part><name>head</name></part><bndbox>" % (name, difficult)
        text += "".join("<%s> %s </%s>" % (corner, value, corner) for corner, value in zip(("xmin", "ymin", "xmax", "ymax"), box))
        text += "</bndbox></object>"
    return text + "</annotation>"


def test_voc_labels():
    for name, (rgb, label, _, box) in WORKED.items():
        picture("voc/JPEGImages/%s.png" % name, rgb)
        # What is difficult need not be found.
        put("voc/Annotations/%s.xml" % name, voc([(label.title(), box, 0), ("blue", (7, 7, 8, 8), 1)]))
    check_worked(evaluated([model("one_box.tflite")], work("voc")))


def test_boxes_in_pictures():
    """Boxes that `predict` finds, taken for true, are found again: pictures that are fitted with borders, and of other sizes."""
    network = data("models", "yolov8n_full_integer_quant_416.tflite")
    for name in "bus.jpg", "dog.jpg", "person.jpg":
        folder("found/images")
        shutil.copy(data("images", name), work("found/images"))
    lines = run("predict", "--json", "--threshold", "0.5", "--model", network, work("found/images")).expect(0).out.splitlines()
    for line in map(json.loads, lines):
        text = ""
        for one in line["objects"]:
            box = one["detection"]["bounding_box"]
            x, y, right, bottom = (box[key] for key in ("x_min", "y_min", "x_max", "y_max"))
            text += "%d %.6f %.6f %.6f %.6f\n" % (one["detection"]["label_id"], (x + right) / 2, (y + bottom) / 2, right - x, bottom - y)
        put("found/labels/%s.txt" % os.path.basename(line["source"])[:-4], text)
    got = evaluated([network], work("found"))
    assert got["boxes"] >= 5 and got["found"] > got["boxes"] and got["ap"] == 1, got


def test_unreadable_pictures():
    colours("broken")
    names = ["broken%d.jpg" % i for i in range(20)]
    for i, name in enumerate(names):
        write("broken/Red/" + name, b"\xff\xd8\xff\xe0" + bytes(range(i, i + 100)) if i % 2 else b"")
    report = evaluate([model("brightest_channel.tflite")] * 2, work("broken"), status=1, messages=names)
    assert [os.path.basename(name) for name in report["unreadable"]] == names and report["pictures"] == 4, report
    for one in report["models"]:
        check_colours(one)
    shutil.rmtree(work("broken/BLUE"))
    for name in "abc":
        os.remove(work("broken/Red/%s.png" % name))
    run("eval", model("brightest_channel.tflite"), "-d", work("broken")).expect(1, "none of its pictures could be read")


def refuse(network, dataset, *messages):
    done = run("eval", model(network), "-d", dataset).expect(1, *messages)
    assert done.out == "" and len(done.err.splitlines()) == 1, done


def test_refused_classes():
    network = "brightest_channel.tflite"
    picture("wrong/gren/a.png", GREEN)
    refuse(network, work("wrong"), "'gren' is no class of", "did you mean 'green'?", "wrong/gren")
    picture("beyond/3/a.png", GREEN)
    refuse(network, work("beyond"), "class 3 is none of", "expected 0..2")
    picture("unnamed/a.png", GREEN)
    refuse(network, work("unnamed"), "unnamed/a.png: nothing says of which class it is", "class0017.jpg")
    refuse(network, folder("hollow"), "hollow: has no pictures")
    refuse(network, work("nowhere"), "nowhere: no such file or folder, check the path; expected a folder of pictures, or a file that lists them")
    refuse(network, put("lists/empty.txt", "\n"), "names no picture")
    refuse(network, put("lists/half.txt", "picture.png\n"), "half.txt: line 1: expected 'picture,class'", "got 'picture.png'")
    refuse(network, put("lists/lost.txt", "\nlost.png,red\n"), "lost.txt: line 2: '", "lost.png' is not there")
    refuse(network, put("lists/folder.txt", "../wrong,red\n"), "is no regular file")
    done = run("eval", model("float_range.tflite"), "-d", work("wrong"), "--mean", "0", "--std", "1", "--decoder", "labels").expect(1, "it has no labels")
    assert "gren" in done.err
    twice = put("names/twice.txt", "crane\nship\nCrane\n")
    picture("cranes/crane/a.png", GREEN)
    parts = put("names/parts.txt", "ruby\nemerald, Leaf_Green, fern\nsapphire, fern\n")
    for name, right in ("leaf green", 1), ("Emerald", 1), ("emerald, leaf green, FERN", 1), ("sapphire", 0):
        picture("parts/%s/a.png" % name, GREEN)
        assert evaluated([model(network)], work("parts"), "--labels", parts)["top1"] == right, name
        shutil.rmtree(work("parts"))
    picture("parts/fern/a.png", GREEN)
    run("eval", model(network), "-d", work("parts"), "--labels", parts).expect(1, "'fern' is the name of classes 1 and 2")
    run("eval", model(network), "-d", work("cranes"), "--labels", twice).expect(1, "'crane' is the name of classes 0 and 2")


def test_refused_boxes():
    network = "one_box.tflite"
    picture("bad/a.png", GREEN)
    refuse(network, work("bad"), "no picture has a file of boxes", "NAME.txt (YOLO)")
    for line in ("0 0.5 0.5 0.5", "0 0.5 0.5 0.5 0.5 0.5", "0 0.5 0.5 0.5 1.5", "-1 0.5 0.5 0.5 0.5", "0 nan 0.5 0.5 0.5",
                 "cat 0.5 0.5 0.5 0.5", "\x1b[2J"):
        put("bad/a.txt", "0 0.5 0.5 0.5 0.5\n" + line)
        refuse(network, work("bad"), "a.txt: line 2: expected a class number and four numbers in 0..1")
    put("bad/a.txt", "2 0.5 0.5 0.5 0.5")
    refuse(network, work("bad"), "a.txt: class 2 is none of", "expected 0..1")
    put("bad/classes.txt", "green\nblue\n")
    refuse(network, work("bad"), "class 2 has no name in", "expected 0..1")
    os.remove(work("bad/a.txt"))
    box = (1, 1, 2, 2)
    for text, message in ((voc([("grean", box, 0)]), "did you mean 'green'?"), (voc([("", box, 0)]), "object 1 has no name"),
                          (voc([("green", box[:3], 0)]), "object 1 has no whole bndbox"),
                          (voc([("green", ("one", 1, 2, 2), 0)]), "xmin: expected a number of pixels, got 'one'"),
                          (voc([("green", ("1e999", 1, 2, 2), 0)]), "xmin: expected a number of pixels, got '1e999'"), (voc([("green", box, 0)])[:-20], "Pascal VOC's XML"),
                          ("<a>" * 100000, "Pascal VOC's XML"), ("", "Pascal VOC's XML")):
        put("bad/a.xml", text)
        refuse(network, work("bad"), "bad/a.xml", message)


def test_refused_models():
    dataset = colours("kinds")
    run("eval").expect(2, "expected at least one MODEL")
    run("eval", model("brightest_channel.tflite")).expect(2, "--dataset PATH is required")
    run("eval", model("brightest_channel.tflite"), "-d", dataset, "--threshold", "2").expect(2, "--threshold: expected a number in 0..1")
    run("eval", model("brightest_channel.tflite"), "-d", dataset, "--threads", "x").expect(2, "--threads")
    run("eval", work("missing.tflite"), "-d", dataset).expect(1, "missing.tflite", "no such file")
    run("eval", model("add.tflite"), "-d", dataset).expect(1, "add.tflite: its input is no picture; expected one of 1 or 3 channels")
    run("eval", model("float_range.tflite"), "-d", dataset).expect(1, "give mean and std")
    run("eval", model("brightest_channel.tflite"), model("one_box.tflite"), "-d", dataset).expect(
        1, "brightest_channel.tflite names pictures and", "one_box.tflite finds boxes; expected models of one kind")
    run("eval", model("brightest_quarter.tflite"), "-d", dataset, "--decoder", "image").expect(1, "its decoder is 'image'")


def test_interrupt():
    network = data("quantize", "models", "mobilenetv2_float.onnx")
    process = subprocess.Popen([harness.PROGRAM, "eval", network, "-d", data("quantize", "pictures", "evaluate"), *IMAGENET],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while not takes_signal(process.pid, signal.SIGINT):
        assert process.poll() is None, process.communicate()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err) == (130, b"", b""), (process.returncode, out, err)


harness.main(globals())
