# SPDX-License-Identifier: LGPL-2.1-or-later
"""sightline fit: real models whose pixels are known, labelled pictures, what is written and when, and what goes wrong."""
import json
import os
import re

import harness
from harness import SANITIZED, Skip, data, model, png, run, work, write

COLOURS = {"red": (200, 20, 10), "green": (10, 200, 20), "blue": (20, 10, 200)}
LABELS = b"red\ngreen\nblue\n"


def colours(name):
    """A data set: folders named by classes, a picture in each."""
    paths = []
    for colour, rgb in COLOURS.items():
        os.makedirs(work(name + "/" + colour), exist_ok=True)
        paths.append(png("%s/%s/p.png" % (name, colour), 16, 16, rgb))
    return work(name), paths


def fit(*args):
    return json.loads(run("fit", *args, "--json").expect(0).out)


def test_known_models():
    """What their makers say of their pixels: YOLOX takes bytes in BGR, NanoDet and torchvision ImageNet's values, FastestDet 0..1 in BGR."""
    if SANITIZED:
        raise Skip("models of megabytes, many times, with code that other tests run")
    pictures = [data("images", name) for name in ("bus.jpg", "dog.jpg", "cat_720p.jpg")]
    # A detector has many answers for one picture, a classifier has one.
    for folder, name, n, values, colour in (("formats/models", "yolox_nano.onnx", 1, "0..255", "BGR"), ("models", "nanodet_m.onnx", 1, "ImageNet", "BGR"),
                                            ("formats/models", "mobilenetv2_dynq_s8.onnx", 3, "ImageNet", "RGB"),
                                            ("formats/models", "FastestDet.onnx", 1, "0..1", "BGR")):
        best = fit(data(*folder.split("/"), name), *pictures[:n], "--fit", "stretch")["readings"][0]
        assert (best["values"], best["colour"]) == (values, colour), (name, best)


def photographs():
    return [data("images", name) for name in ("bus.jpg", "dog.jpg", "cat_720p.jpg", "person.jpg", "face.jpg")]


def test_first_layer():
    """What the bias of batch normalisation tells of the pixels; what the networks of chance say of pictures is as good with others."""
    for name, values in ("unit", "0..1"), ("signed", "-1..1"), ("bytes", "0..255"):
        report = fit(model("trained_%s.tflite" % name), *photographs())
        best = report["readings"][0]
        others = [r["score"] for r in report["readings"] if r["values"] != values]
        assert best["values"] == values and best["score"] > 1.1 * max(others), (name, best, others)


def test_fixed_channel():
    """The first layer is found behind a channel that is stated, and behind what the model itself computes of its pixels."""
    best = fit(model("trained_inside.tflite"), *photographs(), "--fixed-inputs", "0[3]=1")["readings"][0]
    assert best["values"] == "0..255", best


def test_later_layers():
    """Where the first layer tells nothing, the biases of the next one do."""
    readings = fit(model("trained_behind.tflite"), *photographs())["readings"]
    others = [r["score"] for r in readings if r["values"] != "-1..1"]
    assert readings[0]["values"] == "-1..1" and readings[0]["score"] > 1.2 * max(others), readings[:4]


def test_normalisation():
    """What a file keeps of batch normalisation tells the values by itself."""
    readings = fit(model("normalised.onnx"), *photographs())["readings"]
    others = [r["score"] for r in readings if r["values"] != "-1..1"]
    assert readings[0]["values"] == "-1..1" and readings[0]["score"] > 4 * max(others), readings[:4]


def test_text_without_labels():
    """Text needs no characters to be compared; what else is wrong with the decoder is said."""
    network, pictures = data("wild", "models", "zhaozhentao_ocr.tflite"), photographs()[:3]
    stated = (network, *pictures, "--mean", "0", "--std", "255", "--fit", "stretch")
    assert fit(*stated, "--decoder", "text,blank=86")["decoder"] == "text"
    run("fit", *stated, "--decoder", "text,blank=87").expect(1, "blank: expected an integer 0..86, got '87'")
    run("fit", *stated, "--decoder", "text").expect(1, "which of the 87 classes is no character: state blank=0")
    target = work("text.modelinfo")
    run("fit", *stated, "--colour", "RGB", "--decoder", "text,blank=86", "--output", target)
    assert not os.path.exists(target) or "alphabet" not in open(target, encoding="utf-8").read()


def test_family():
    """UltraFace's makers give it -1..1; its layers on few pictures say ImageNet's values as well."""
    best = fit(data("models", "version-RFB-320.onnx"), *photographs(), "--fit", "stretch", "--colour", "RGB")["readings"][0]
    assert best["values"] == "-1..1", best


def test_lean():
    """Filters look at red more than at blue; a model that looks at its last channel most takes BGR. TensorFlow's models hardly ever do,
    so that it is not chosen."""
    for name, colour in ("red", "RGB"), ("blue", "BGR"):
        report = fit(model("trained_%s.tflite" % name), *photographs(), "--mean", "0", "--std", "255", "--fit", "stretch")
        shares = {r["colour"]: r["score"] for r in report["readings"]}
        assert (shares["RGB"] > 0.97) == (colour == "RGB"), (name, shares)
        assert report["chosen"] == (colour == "RGB"), (name, report)


def test_boxes_off_the_picture():
    """Boxes that are as sure and as steady as others, but off the picture, say nothing."""
    pictures = [png("box%d.png" % n, 16, 16, (grey, grey, grey)) for n, grey in enumerate((105, 110, 115, 120, 125))]
    report = fit(model("moving_box.tflite"), *pictures, "--colour", "RGB", "--fit", "stretch")
    assert report["chosen"] and report["readings"][0]["values"] == "0..1", report


def test_order_of_chance():
    """A network of chance has no order of channels, so RGB and BGR are named and neither is chosen."""
    pictures = [data("images", name) for name in ("bus.jpg", "dog.jpg", "asl_A1.jpg")]
    first, second = fit(model("trained_bytes.tflite"), *pictures, "--fit", "stretch")["readings"][:2]
    assert first["values"] == second["values"] == "0..255" and {first["colour"], second["colour"]} == {"RGB", "BGR"}, (first, second)
    done = run("fit", model("trained_bytes.tflite"), *pictures, "--fit", "stretch").expect(0)
    assert "not chosen: the best two are too close to choose, %s and %s: give more pictures, or --truth" % (first["options"], second["options"]) in done.out, done


def test_few_pictures():
    """One picture may make a wrong reading look best; nothing is chosen then, and nothing written."""
    target = work("few.modelinfo")
    done = run("fit", data("models", "version-RFB-320.onnx"), data("images", "bus.jpg"), "--output", target).expect(1, "not written")
    assert "not chosen: 1 picture is too few to compare what the model says of different ones: give 3 or more, or --truth" in done.out, done
    assert not os.path.exists(target)


def test_truth():
    """Labelled pictures tell RGB from BGR where a model is as sure of both; the file that is written is read."""
    dataset, pictures = colours("truth")
    network, labels = model("float_range.tflite"), write("colours.txt", LABELS)
    arguments = [network, *pictures, "--labels", labels, "--decoder", "labels", "--colour", "BGR", "--mean", "0", "--std", "1"]
    assert fit(*arguments, "--truth", dataset)["readings"][0]["truth"] == round(1 / 3, 4)
    arguments = [network, *pictures, "--labels", labels, "--decoder", "labels", "--mean", "0", "--std", "1"]
    report = fit(*arguments)
    assert not report["chosen"] and {r["colour"] for r in report["readings"]} == {"RGB", "BGR"}, report
    target = work("found.modelinfo")
    done = run("fit", *arguments, "--truth", dataset, "--output", target).expect(0, "written: " + target)
    assert done.out.splitlines()[-1].startswith("sure: --mean 0 --std 1"), done
    text = open(target, encoding="utf-8").read()
    assert "mean=0\nstd=1\ncolour=RGB\nfit=stretch\n" in text and "labels=" + labels in text and "decoder=labels\n" in text, text
    # Nothing beside the model was written without being asked; now it is, and predict needs no options.
    beside = network + ".modelinfo"
    assert not os.path.exists(beside)
    run("fit", *arguments, "--truth", dataset, "--write").expect(0, "written: " + beside)
    try:
        found = json.loads(run("predict", "--model", network, "--json", pictures[2]).expect(0).out)
        assert found["labels"][0]["label"] == "blue", found
        run("fit", *arguments, "--truth", dataset, "--write").expect(1, beside + ": is there already, and may state more; remove it first")
    finally:
        os.remove(beside)


def test_written():
    """What the user states goes into the file, but for limits; paths hold in any folder."""
    dataset, pictures = colours("written")
    network, target = model("offset.tflite"), work("stated.modelinfo")
    name, first = os.path.relpath(write("sum.bin", bytes(12))), os.path.abspath(work("sum.bin"))
    labels = write("written.txt", LABELS)
    run("fit", network, *pictures, "--truth", dataset, "--output", target, "--labels", labels, "--decoder", "labels,background-offset=0", "--mean", "0", "--std", "1", "--layout", "NHWC",
        "--pad-value", "9", "--state", "none", "--fixed-inputs", "1=" + name, "--tensor-limit", "99").expect(0, "written: " + target)
    text = open(target, encoding="utf-8").read().split("[sightline]\n")[1]
    assert text == ("labels=" + labels + "\nmean=0\nstd=1\ncolour=RGB\nlayout=NHWC\nfit=stretch\npad-value=9\ndecoder=labels\ndecoder-background-offset=0\n"
                    "fixed-inputs=1=" + first + "\nstate=none\n"), text


def test_nothing_is_lost():
    """--html and --output take the place of no file of another kind."""
    dataset, pictures = colours("lost")
    network, labels = model("offset.tflite"), write("lost.txt", LABELS)
    for option in "--html", "--output":
        for other in network, pictures[0], labels:
            before = os.path.getsize(other)
            run("fit", network, *pictures, "--truth", dataset, "--labels", labels, option, other).expect(
                2, "%s: '%s' is a file of another kind, which would be lost; expected a new name, or a file that %s wrote before" % (option, other, option))
            assert os.path.getsize(other) == before, other
    both = work("both")
    run("fit", network, *pictures, "--html", both, "--output", both).expect(2, "--html and --output are one file")


def test_crop_share():
    """The share of the model's own crop is in what is written, and so in what is judged."""
    dataset, pictures = colours("share")
    for _ in range(2):  # over its own file
        target = work("share.modelinfo")
        run("fit", model("offset.tflite"), *pictures, "--truth", dataset, "--output", target, "--labels", write("share.txt", LABELS),
            "--decoder", "labels,background-offset=0", "--mean", "0", "--std", "1", "--layout", "NHWC", "--fit", "crop", "--crop-share", "0.875",
            "--state", "none", "--fixed-inputs", "1=0").expect(0, "written: " + target)
        text = open(target, encoding="utf-8").read()
        assert "fit=crop\ncrop-share=0.875\n" in text, text


def test_not_chosen():
    """A model that is as sure of one reading as of another: nothing is chosen, and nothing written."""
    _, pictures = colours("open")
    network, target = model("float_range.tflite"), work("open.modelinfo")
    done = run("fit", network, *pictures, "--decoder", "labels").expect(0)
    assert "not chosen: the best two are too close to choose, --mean 0 --std 1 and --mean 0 --std 1 --colour BGR: give more pictures, or --truth" in done.out, done
    run("fit", network, *pictures, "--decoder", "labels", "-o", target).expect(1, target + ": not written, since no reading was chosen")
    assert not os.path.exists(target)


def test_stated():
    """What is stated is in every reading."""
    _, pictures = colours("stated")
    report = fit(model("float_range.tflite"), *pictures, "--decoder", "labels", "--mean", "10,20,30", "--std", "2", "--fit", "crop")
    assert [(r["mean"], r["std"], r["fit"]) for r in report["readings"] if r["colour"] == "RGB"] == [([10, 20, 30], [2], "crop")], report
    report = fit(model("brightest_channel.tflite"), *pictures)
    assert {r["values"] for r in report["readings"]} == {"bytes"}, report


def test_page():
    _, pictures = colours("page")
    target = work("sheet.html")
    run("fit", model("float_range.tflite"), *pictures, "--decoder", "labels", "--html", target).expect(0)
    page = open(target, encoding="utf-8").read()
    assert page.count("<h2>") == 3 and len(re.findall(r'src="data:image/jpeg;base64,[A-Za-z0-9+/=]{200,}"', page)) == 9, page[:3000]
    assert "default-src 'none'" in page and "http" not in page.replace("http-equiv", ""), page[:3000]


def test_wrong():
    _, pictures = colours("wrong")
    network = model("float_range.tflite")
    run("fit", network).expect(2, "expected MODEL and at least one PICTURE")
    run("fit", network, pictures[0], "--pictures", "0").expect(2, "--pictures")
    run("fit", network, pictures[0], "--html", work("no/where.html")).expect(2, "--html")
    run("fit", work("missing.tflite"), pictures[0]).expect(1, "missing.tflite", "no such file")
    run("fit", network, work("missing.png")).expect(1, "missing.png", "none of the pictures could be read")
    run("fit", model("add.tflite"), pictures[0]).expect(1, "add.tflite: its input is no picture; expected one of 1 or 3 channels")
    run("fit", network, pictures[0], "--labels", write("two.txt", b"a\nb\n"), "--decoder", "labels").expect(1, "2 names for the 3 classes")
    assert not os.path.exists(network + ".modelinfo")


harness.main(globals())
