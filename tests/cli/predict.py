# SPDX-License-Identifier: LGPL-2.1-or-later
"""sightline predict: pictures and videos, good and bad, and the reference answers of real models."""
import http.server
import json
import os
import random
import signal
import struct
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.environ.get("SIGHTLINE_SOURCE_ROOT", "."), "tests", "support"))
import harness
import media
import schema
from harness import Skip, data, model, png, png_of, run, work, write

RED, GREEN, BLUE = (255, 0, 0), (0, 255, 0), (0, 0, 255)


def lines(result):
    return [json.loads(line) for line in result.out.splitlines()]


with open(os.path.join(harness.ROOT, "docs", "predictions.schema.json"), encoding="utf-8") as file:
    SCHEMA = json.load(file)


def check_shape(frame):
    """The documented shape: its schema, the order of keys, and what a schema cannot say."""
    assert not schema.problems(frame, SCHEMA, SCHEMA), frame
    assert list(frame)[:6] == ["source", "frame", "timestamp", "resolution", "objects", "labels"], frame
    width, height = frame["resolution"]["width"], frame["resolution"]["height"]
    assert frame["timestamp"] is None or isinstance(frame["timestamp"], int)
    for found in frame["objects"]:
        assert list(found)[:6] == ["x", "y", "w", "h", "roi_type", "detection"], found
        detection, box = found["detection"], found["detection"]["bounding_box"]
        assert list(detection) == ["bounding_box", "confidence", "label", "label_id"], detection
        assert list(box) == ["x_min", "x_max", "y_min", "y_max"], box
        assert all(isinstance(found[key], int) for key in "xywh"), found
        assert 0 <= found["x"] and found["x"] + found["w"] <= width and 0 <= found["y"] and found["y"] + found["h"] <= height, found
        assert 0 <= box["x_min"] <= box["x_max"] <= 1 and 0 <= box["y_min"] <= box["y_max"] <= 1, box
        assert found["roi_type"] == detection["label"]
    for label in frame["labels"]:
        assert list(label) == ["label", "label_id", "confidence"], label


def greedy(rows, letters):
    """The text of shares step by step: equal neighbours once, without the last class, the blank; and its characters' best shares."""
    text, shares, before = "", [], None
    for row in rows:
        best = max(range(len(row)), key=row.__getitem__)
        if best == before and shares and best < len(letters):
            shares[-1] = max(shares[-1], row[best])
        elif best < len(letters):
            text += letters[best]
            shares.append(row[best])
        before = best
    return text, sum(shares) / max(len(shares), 1)


def predict(*args, status=0):
    result = run("predict", "--json", *args)
    assert result.status == status, result
    frames = lines(result)
    for frame in frames:
        check_shape(frame)
    return frames


def test_text_is_read():
    """A plate reader: the text is that of its numbers, decoded here; unnamed, the message says which line states it."""
    reader = data("wild", "models", "zhaozhentao_ocr.tflite")
    range01 = ("--model", reader, "--mean", "0", "--std", "255")
    letters = [chr(0x4e00 + i) for i in range(86)]
    labels = write("letters.txt", "\n".join(letters).encode())
    run("predict", *range01, data("images", "bus.jpg")).expect(1, "they may be the characters of a text", "decoder=text,blank=0")
    run("predict", *range01, "--decoder", "text,blank=86", data("images", "bus.jpg")).expect(1, "give labels with one character a line")
    noise, texts = random.Random(22), set()
    for i in range(4):
        pixels = bytes(noise.randrange(256) if x // 9 % 4 < i else 255 for y in range(50) for x in range(144) for c in range(3))
        picture = png_of("noise.png", 144, 50, [pixels[y * 432:y * 432 + 432] for y in range(50)])
        tensor = write("noise.raw", struct.pack("<21600f", *(p / 255 for p in pixels)))
        run("infer", "--model", reader, "--input", tensor, "--output", work("steps")).expect(0)
        with open(work("steps.0.bin"), "rb") as out:
            numbers = struct.unpack("<1218f", out.read())
        text, confidence = greedy([numbers[t * 87:t * 87 + 87] for t in range(14)], letters)
        found = predict(*range01, "--labels", labels, "--decoder", "text,blank=86", picture)[0]["labels"]
        assert [label["label"] for label in found] == ([text] if text else []), (found, text)
        assert not text or (found[0]["label_id"] == -1 and abs(found[0]["confidence"] - confidence) < 1e-3), (found, confidence)
        texts.add(text)
    assert len(texts) > 1, texts


def test_second_input():
    """Style transfer: without its style the message says how to state it; a file, a raw file and a description beside the model are the same."""
    source = data("wild", "models", "style_transfer_quantized_384.tflite")
    with open(source, "rb") as file:
        transfer = write("transfer.tflite", file.read())
    picture = png("style.png", 384, 384, (200, 30, 90))
    how = ("--mean", "0", "--std", "255", "--decoder", "image,range=0,1")
    run("predict", "--model", transfer, *how, picture).expect(1, "'mobilenet_conv/Conv/BiasAdd': float32[1,1,1,100]", "fixed-inputs=1=FILE.npy")
    numbers = struct.pack("<100f", *(k % 7 / 7 - 0.5 for k in range(100)))
    head = b"{'descr': '<f4', 'fortran_order': False, 'shape': (100,), }" + b" " * 20
    npy = write("style.npy", b"\x93NUMPY\x01\0" + struct.pack("<H", len(head)) + head + numbers)
    raw, tensor = write("style.raw", numbers), write("content.raw", struct.pack("<f", 0.5) * (384 * 384 * 3))
    run("infer", "-m", transfer, "-i", tensor, "-i", raw, "-o", work("both")).expect(0)
    run("infer", "-m", transfer, "-i", tensor, "--fixed-inputs", "1=" + npy, "-o", work("one")).expect(0)
    with open(work("both.0.bin"), "rb") as both, open(work("one.0.bin"), "rb") as one:
        assert both.read() == one.read()
    pictures = []
    for more in (["--fixed-inputs", "1=" + npy], ["--fixed-inputs", "mobilenet_conv/Conv/BiasAdd=" + raw], ["--fixed-inputs", "1=0.5"], []):
        if not more:
            write("transfer.tflite.modelinfo", b"[modelinfo]\nversion=1.0\ngroup-id=s\n[sightline]\nfixed-inputs=1=style.npy\n")
        assert "a picture of 384x384" in run("predict", "--model", transfer, *how, *more, "--draw", work("drawn.png"), picture).expect(0).out
        with open(work("drawn.png"), "rb") as drawn:
            pictures.append(drawn.read())
    assert pictures[0] == pictures[1] == pictures[3] != pictures[2]
    run("predict", "--model", transfer, *how, "--fixed-inputs", "1=" + tensor, picture).expect(
        1, "content.raw: expected float32[1,1,1,100] for input 'mobilenet_conv/Conv/BiasAdd', got 1769472 bytes")


def test_style():
    """A second model makes the style of another picture: the same as its tensor in a file. With models of arithmetic a white picture gets the colour."""
    style, content = png("painting.png", 8, 8, (200, 30, 90)), png("content.png", 384, 384, (90, 200, 30))
    how = ("--mean", "0", "--std", "255", "--decoder", "image,range=0,1")
    by_style = ("--style", style, "--style-model")
    run("predict", "--model", model("paint.tflite"), *how, *by_style, model("float_range.tflite"), "--draw", work("painted.png"),
        png("white.png", 8, 8, (255, 255, 255))).expect(0)
    assert {pixel for row in media.read_png(work("painted.png")) for pixel in row} == {(200, 30, 90)}
    wide = run("predict", "--model", model("paint.tflite"), *how, *by_style, model("style_numbers.tflite"), content)
    wide.expect(1, "input_1: expected float32[1,3], which the model's input 'style' is, got float32[1,100]")
    one = run("predict", "--model", model("float_range.tflite"), *how, *by_style, model("float_range.tflite"), content)
    one.expect(1, "pads input_N: no input '#1'; the model has 0 'picture' float32[1,8,8,3]")
    run("predict", "--model", model("paint.tflite"), *by_style[:2], content).expect(2, "--style PICTURE and --style-model FILE: expected both")
    run("predict", "--model", model("paint.tflite"), *how, "--style", work("nowhere.png"), "--style-model", model("float_range.tflite"),
        content).expect(1, "--style %s: " % work("nowhere.png"))
    transfer = data("wild", "models", "style_transfer_quantized_384.tflite")
    tensor = write("painting.raw", struct.pack("<3f", 200 / 255, 30 / 255, 90 / 255) * 64)
    run("infer", "-m", model("style_numbers.tflite"), "-i", tensor, "-o", work("painting")).expect(0)
    drawn = []
    for more in ([*by_style, model("style_numbers.tflite")], ["--fixed-inputs", "1=" + work("painting.0.bin")]):
        run("predict", "--model", transfer, *how, *more, "--draw", work("drawn.png"), content).expect(0)
        with open(work("drawn.png"), "rb") as file:
            drawn.append(file.read())
    assert drawn[0] == drawn[1]


def test_state():
    """State goes from frame to frame of a video; every picture begins anew. Tiles are no sequence."""
    summing = ("--model", model("running_sum.tflite"), "--mean", "0", "--std", "255", "--decoder", "vector")
    frames = predict(*summing, "test://?pattern=blue&frames=4&live=false")
    assert [round(f["vector"]["values"][2]) for f in frames] == [1, 2, 3, 4], frames
    assert [round(f["vector"]["values"][2]) for f in predict(*summing, png("first.png", 8, 8, BLUE), png("second.png", 8, 8, BLUE))] == [1, 1]
    run("predict", *summing, "--tiles", "2x2", png("first.png", 8, 8, BLUE)).expect(
        1, "the model carries state from frame to frame (sum_in=sum_out), and objects and tiles of a frame are no sequence")
    assert "sum_in=sum_out: each of these inputs gets the output of the frame before" in run("inspect", model("running_sum.tflite")).out
    assert "1  float32[1,3]  sum_in" in run("inspect", "--state", "none", model("running_sum.tflite")).out
    run("inspect", "--state", "sum_in", model("running_sum.tflite")).expect(2, "--state: expected INPUT=OUTPUT")
    served = run("serve", "--location", "mqtt://127.0.0.1:1/m", *summing[2:], model("running_sum.tflite"))
    if "no MQTT" not in served.err:
        served.expect(1, "the model carries state from frame to frame (sum_in=sum_out), and a worker answers many who ask")
    folder = os.path.dirname(png("first.png", 8, 8, BLUE))
    run("quantize", "--calibrate", folder, "--output", work("quantised.tflite"), *summing[2:], model("running_sum.tflite")).expect(
        1, "the model carries state from frame to frame (sum_in=sum_out), and models are quantised by pictures one by one")
    tensor = write("blue.raw", struct.pack("<3f", 0, 0, 1) * 64)
    run("infer", "-m", model("running_sum.tflite"), "-i", tensor, "--frames", "3", "-o", work("sum")).expect(0)
    with open(work("sum.0.bin"), "rb") as out:
        assert struct.unpack("<3f", out.read()) == (0, 0, 3)


def test_no_picture_input():
    """The message says what the input is, beside what was expected."""
    run("predict", "--model", model("add.tflite"), png("any.png", 8, 8, (0, 0, 255))).expect(
        1, "add.tflite: its first input '", "' is float32[", "], no picture (expected uint8, int8, int32, int64, float32 or float16 of rank 3 or 4")


def test_colours():
    m = model("brightest_channel.tflite")
    for name, colour, index in (("red", RED, 0), ("green", GREEN, 1), ("blue", BLUE, 2)):
        picture = png(name + ".png", 31, 17, colour)
        frame, = predict("--model", m, picture)
        assert frame["source"] == picture and frame["frame"] == 0 and frame["resolution"] == {"width": 31, "height": 17}
        assert frame["labels"][0]["label"] == name and frame["labels"][0]["label_id"] == index, frame
        assert frame["labels"][0]["confidence"] > 0.98 and frame["objects"] == []


def test_one_box():
    picture = png("wide.png", 200, 100, (0, 51, 204))
    frame, = predict("--model", model("one_box.tflite"), "--threshold", "0.5", picture)
    found, = frame["objects"]
    assert (found["x"], found["y"], found["w"], found["h"]) == (0, 25, 100, 50), found
    assert found["roi_type"] == "blue" and found["detection"]["label_id"] == 1
    assert abs(found["detection"]["confidence"] - 0.8) < 0.02, found
    box = found["detection"]["bounding_box"]
    assert (abs(box["x_min"]), abs(box["x_max"] - 0.5), abs(box["y_min"] - 0.25), abs(box["y_max"] - 0.75)) < (1e-5,) * 4, box


def png_size(path):
    with open(path, "rb") as file:
        head = file.read(24)
    assert head[:8] == b"\x89PNG\r\n\x1a\n", head
    return struct.unpack(">II", head[16:24])


def test_draw():
    wide, small, drawn = png("wide.png", 200, 100, (0, 51, 204)), png("small.png", 31, 17, RED), work("drawn.png")
    result = run("predict", "--model", model("one_box.tflite"), "--draw", drawn, wide, small)
    if "made without Pango" in result.err or "pngenc" in result.err:
        raise Skip(result.err.strip())
    result.expect(0)
    assert png_size(drawn) == (200, 100) and png_size(work("drawn-2.png")) == (31, 17)
    run("predict", "--model", model("one_box.tflite"), "--draw", work("no/such/folder.png"), wide).expect(1, "no/such")


def test_table():
    picture = png("wide.png", 200, 100, (0, 51, 204))
    out = run("predict", "--model", model("one_box.tflite"), picture).expect(0).out.splitlines()
    assert out[0] == picture + " (200x100)", out
    assert out[1].split() == ["confidence", "x", "y", "w", "h", "label"], out
    assert out[2].split()[1:] == ["0", "25", "100", "50", "blue"], out
    dark = png("dark.png", 8, 8, (0, 0, 0))
    out = run("predict", "--model", model("one_box.tflite"), dark).expect(0).out.splitlines()
    assert out[1].strip() == "nothing found above the threshold", out


def test_picture_is_told():
    picture, drawn = png("wide.png", 200, 100, (0, 51, 204)), work("made.png")
    args = ["predict", "--model", model("brightest_quarter.tflite"), "--decoder", "image", picture]
    out = run(*args).expect(0).out.splitlines()
    assert out[1:] == ["  a picture of 4x4: --draw=FILE writes it"], out
    result = run(*args, "--draw", drawn)
    if "made without Pango" not in result.err and "pngenc" not in result.err:
        assert png_size(drawn) == (4, 4), result


def test_top_and_threshold():
    m, picture = model("brightest_channel.tflite"), png("mixed.png", 8, 8, (200, 150, 100))
    names = [label["label"] for label in predict("--model", m, "--threshold", "0", picture)[0]["labels"]]
    assert names == ["red", "green", "blue"], names
    names = [label["label"] for label in predict("--model", m, "--threshold", "0", "--top", "2", picture)[0]["labels"]]
    assert names == ["red", "green"], names
    names = [label["label"] for label in predict("--model", m, "--threshold", "0.7", picture)[0]["labels"]]
    assert names == ["red"], names
    assert predict("--model", m, "--threshold", "0.9", picture)[0]["labels"] == []


def test_classes():
    m, picture = model("brightest_channel.tflite"), png("mixed.png", 8, 8, (200, 150, 100))
    for text, expected in (("green", ["green"]), ("!red", ["green", "blue"]), ("red,blue", ["red", "blue"])):
        names = [label["label"] for label in predict("--model", m, "--threshold", "0", "--classes", text, picture)[0]["labels"]]
        assert names == expected, (text, names)
    run("predict", "--model", m, "--classes", "gren", picture).expect(1, "has no class 'gren'; did you mean 'green'?")
    run("predict", "--model", m, "--classes", "red,", picture).expect(2, "--classes=red,: a name is empty")


def test_broken_in_the_middle():
    m = model("brightest_channel.tflite")
    good, last = png("good.png", 9, 9, RED), png("last.png", 10, 10, BLUE)
    with open(good, "rb") as file:
        png_bytes = file.read()
    bad = [write("noise.png", b"\x89PNG\r\n\x1a\n" + b"\x55" * 300), write("cut.png", png_bytes[:40]), write("text.png", b"no picture\n" * 20),
           write("empty.png", b""), work("missing.png"), "file:///no/such/file.png", "nosuchscheme://x/y"]
    for path in bad:
        result = run("predict", "--json", "--model", m, good, path, last).expect(1, path + ": ")
        frames = lines(result)
        assert [f["source"] for f in frames] == [good, last], result
        assert [f["labels"][0]["label"] for f in frames] == ["red", "blue"], result
    run("predict", "--model", m, work("missing.png")).expect(1, "missing.png: no such file, check the path; expected a picture, a video or a URI\n")
    run("predict", "--model", m, "-").expect(1, "-: no such file, check the path; expected a picture, a video or a URI; standard input is /dev/stdin")
    run("predict", "--model", m, bad[6]).expect(1, "GStreamer has no element that reads 'nosuchscheme://'; expected a path, file://, ")
    run("predict", "--model", m, "file://host" + good).expect(1, "the file is on another machine, 'host': expected file:///PATH")
    assert run("predict", "--model", m, "file://localhost" + good).status == 0
    run("predict", "--model", m, bad[1]).expect(1, "cut.png: cannot be decoded: ", "; it is damaged or cut short")
    run("predict", "--model", m, bad[3]).expect(1, "empty.png: the file is empty; expected a picture or video")


def test_missing_at_an_address():
    """What an HTTP server says, without what GStreamer's element has to say of redirections."""
    class NotFound(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_error(404)

        def log_message(self, *args):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), NotFound)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = "http://127.0.0.1:%d/a.jpg" % server.server_address[1]
    told = run("predict", "--model", model("brightest_channel.tflite"), address).expect(1).err
    server.shutdown()
    assert "(404), URL: %s)" % address in told or "no element that reads" in told, told
    assert "Redirect" not in told, told


def test_nobody_there():
    m = model("brightest_channel.tflite")
    told = run("predict", "--model", m, "http://127.0.0.1:1/a.jpg").expect(1).err
    assert "cannot be read: " in told and "; check the address, and that what it names is there and switched on" in told or "no element that reads" in told, told


def bmp(name, width, height, pixels):
    """An uncompressed BMP file of 24 bits with @pixels as they are stored; a negative height: rows come from the top."""
    info = struct.pack("<IiiHHIIiiII", 40, width, height, 1, 24, 0, len(pixels), 2835, 2835, 0, 0)
    return write(name, b"BM" + struct.pack("<IHHI", 54 + len(pixels), 0, 0, 54) + info + pixels)


def test_bmp_from_the_top():
    """The same picture, blue above red, with its rows in either order."""
    blue, red = b"\xff\0\0" * 200, b"\0\0\xff" * 200
    pictures = bmp("up.bmp", 200, 200, red * 100 + blue * 100), bmp("down.bmp", 200, -200, blue * 100 + red * 100)
    for n, picture in enumerate(pictures):
        drawn = work("bmp%d.png" % n)
        result = run("predict", "--model", model("brightest_channel.tflite"), "--draw", drawn, picture)
        if "made without Pango" in result.err or "GStreamer has no e" in result.err:
            raise Skip(result.err.strip())
        result.expect(0)
        rows = media.read_png(drawn)
        assert all(row[199] == (BLUE if y < 100 else RED) for y, row in enumerate(rows)), picture


def test_labels_with_a_note():
    """Names end at a blank line where there are as many as classes; what stands behind it is a note."""
    labels = write("noted.txt", b"red\ngreen\nblue\n\nand 255 marks pixels\nthat do not count\n")
    done = run("predict", "--model", model("brightest_channel.tflite"), "--labels", labels, png("note.png", 8, 8, (0, 0, 255))).expect(0)
    assert "blue" in done.out, done
    longer = write("longer.txt", b"red\ngreen\n\nblue and more\n")
    run("predict", "--model", model("brightest_channel.tflite"), "--labels", longer, png("note.png", 8, 8, (0, 0, 255))).expect(
        1, "longer.txt: 4 names for the 3 classes of")


def test_bmp_sizes():
    m = model("brightest_channel.tflite")
    run("predict", "--model", m, bmp("large.bmp", 100000, 100000, b"\0" * 1000)).expect(
        1, "large.bmp: the picture has 100000x100000 pixels; expected 200 million at most")
    for width, height in ((32769, 1), (1, -32769)):
        run("predict", "--model", m, bmp("size.bmp", width, height, b"\0" * 1000)).expect(
            1, "size.bmp: cannot be decoded: the BMP header says %dx%d pixels, expected sides of 1 to 32768; it is damaged or cut short\n" % (width, abs(height)))


def test_cut_jpeg():
    """A frame comes of it, gray where bytes are missing, and the exit status says that it is not whole."""
    whole, small = work("whole.jpg"), work("thumbnail.jpg")
    made = subprocess.run(["gst-launch-1.0", "-q", "videotestsrc", "num-buffers=1", "pattern=snow", "!", "video/x-raw,width=64,height=64", "!", "jpegenc", "!",
                           "filesink", "location=" + whole], capture_output=True)
    if made.returncode != 0:
        return
    with open(whole, "rb") as file:
        data = file.read()
    with open(small, "wb") as file:  # a whole picture inside a segment in front, as cameras write
        file.write(data[:2] + b"\xff\xe1" + (len(data) + 2).to_bytes(2, "big") + data + data[2:len(data) // 2])
    run("predict", "--model", model("brightest_channel.tflite"), whole).expect(0)
    run("predict", "--model", model("brightest_channel.tflite"), write("trailer.jpg", data + b"more")).expect(0)
    for cut in (write("cut.jpg", data[:len(data) // 2]), small):
        result = run("predict", "--json", "--model", model("brightest_channel.tflite"), cut)
        if lines(result):
            result.expect(1, cut + ": the JPEG picture is cut short: what is missing of it was gray to the model; get a new copy of the file")
        else:
            result.expect(1, cut + ": cannot be decoded: ")


def test_no_video():
    import struct
    sound = write("sound.wav", b"RIFF" + struct.pack("<I", 36 + 8000) + b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, 8000, 16000, 2, 16) +
                  b"data" + struct.pack("<I", 8000) + bytes(8000))
    run("predict", "--model", model("brightest_channel.tflite"), sound).expect(1, "sound.wav: has no video in it")


def test_sizes():
    m = model("brightest_channel.tflite")
    for width, height in ((1, 1), (1, 50), (50, 1), (3, 5), (8192, 8192)):
        frame, = predict("--timeout", 100, "--model", m, png("size.png", width, height, GREEN))
        assert frame["resolution"] == {"width": width, "height": height}
        assert frame["labels"][0]["label"] == "green" and frame["labels"][0]["confidence"] > 0.98, frame


def test_odd_names():
    for name in ("sp ace.png", "per%20cent.png", "üml\"aut.png", "new\nline.png", "-dash.png"):
        picture = png(name, 5, 5, RED)
        frame, = predict("--model", model("brightest_channel.tflite"), picture)
        assert frame["source"] == picture
    done = subprocess.run([harness.PROGRAM, "predict", "--json", "--model", model("brightest_channel.tflite"), "--", "-dash.png"],
                          cwd=harness.WORK.name, capture_output=True)
    assert done.returncode == 0 and json.loads(done.stdout)["source"] == "-dash.png", done


def test_same_picture_many_times():
    m, picture = model("brightest_channel.tflite"), png("p.png", 20, 20, RED)
    assert len(predict("--model", m, *([picture] * 40))) == 40


def make_video(frames):
    """A Motion JPEG video of blue frames at 10 frames a second."""
    path = work("video%d.avi" % frames)
    made = subprocess.run(["gst-launch-1.0", "-q", "videotestsrc", "num-buffers=%d" % frames, "pattern=blue", "!",
                           "video/x-raw,width=64,height=48,framerate=10/1", "!", "jpegenc", "!", "avimux", "!", "filesink",
                           "location=" + path], capture_output=True)
    if made.returncode != 0:
        raise Skip("gst-launch-1.0, jpegenc or avimux is missing")
    return path


def test_video():
    video, m = make_video(25), model("brightest_channel.tflite")
    frames = predict("--model", m, video, video)
    assert [f["frame"] for f in frames] == list(range(25)) * 2
    for frame in frames:
        assert abs(frame["timestamp"] - frame["frame"] * 100000000) < 1000000, frame
        assert frame["labels"][0]["label"] == "blue"
    out = run("predict", "--model", m, video).expect(0).out.splitlines()
    assert out[1].split() == ["frame", "time", "confidence", "label"], out
    assert out[-1].split()[:2] == ["24", "0:00:02.400"], out[-1]


def test_interrupt():
    video = make_video(3000)
    child = subprocess.Popen([harness.PROGRAM, "predict", "--json", "--model", model("brightest_channel.tflite")] + [video] * 20,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
    child.stdout.readline()
    child.send_signal(signal.SIGINT)
    started = time.monotonic()
    out, err = child.communicate(timeout=200)
    assert child.returncode == 130, (child.returncode, err)
    assert time.monotonic() - started < 100 and err == b"", err
    assert out == b"" or out.endswith(b"}\n")


def best(frame):
    return frame["labels"][0]["label"], frame["labels"][0]["confidence"]


def near(value, expected, tolerance=0.05):
    assert abs(value - expected) <= tolerance, "%g is not within %g of %g" % (value, tolerance, expected)


def test_shared_classes():
    m, labels = data("models", "mobilenet_v2_1.0_224_quant.tflite"), data("models", "imagenet_labels.txt")
    for more in ([], ["--labels", labels], ["--threads", "2"]):
        hopper, cat = predict("--model", m, *more, data("images", "grace_hopper.bmp"), data("images", "cat.bmp"))
        assert best(hopper)[0] == "military uniform" and best(hopper)[1] >= 220 / 256 - 0.05, hopper
        assert best(cat)[0] == "Egyptian cat", cat
        near(best(cat)[1], 202 / 256)
    hopper, cat = predict("--filter", "nearest", "--model", m, data("images", "grace_hopper.bmp"), data("images", "cat.bmp"))
    near(best(hopper)[1], 220 / 256, 0.01)
    near(best(cat)[1], 202 / 256, 0.01)


def test_shared_objects():
    m = data("models", "ssd_mobilenet_v1.tflite")
    wanted = {"bus.jpg": [("person", 0.83), ("person", 0.74), ("person", 0.62), ("truck", 0.56)],
              "dog.jpg": [("bicycle", 0.73), ("car", 0.67), ("dog", 0.64)], "cat.bmp": [("cat", 0.74)]}
    for name, expected in wanted.items():
        frame, = predict("--model", m, "--threshold", "0.4", "--filter", "nearest", data("images", name))
        found = [(o["roi_type"], o["detection"]["confidence"]) for o in frame["objects"]]
        for label, confidence in expected:
            match = [f for f in found if f[0] == label and abs(f[1] - confidence) <= 0.05]
            assert match, "%s: expected %s %.2f, got %s" % (name, label, confidence, found)
            found.remove(match[0])


def test_shared_person():
    m = data("models", "person_detect.tflite")
    hopper, nobody = predict("--model", m, data("images", "grace_hopper.bmp"), data("images", "no_person.bmp"))
    assert hopper["labels"][0]["label_id"] == 1 and nobody["labels"][0]["label_id"] == 0, (hopper, nobody)


def predict_or_skip(*args):
    """predict() for models with operators that not every build has."""
    result = run("predict", "--json", *args)
    if "not supported" in result.err or "unsupported" in result.err or "no kernel" in result.err:
        raise Skip(result.err.strip())
    frames = lines(result.expect(0))
    for frame in frames:
        check_shape(frame)
    return frames


def assert_objects(frame, expected, pixels):
    """@expected: (label, confidence, x_min, y_min, x_max, y_max in 0..1), best first, to within @pixels of the frame."""
    found = frame["objects"][: len(expected)]
    assert len(found) == len(expected), frame
    width, height = frame["resolution"]["width"], frame["resolution"]["height"]
    for got, want in zip(found, expected):
        box = got["detection"]["bounding_box"]
        assert got["roi_type"] == want[0], (got, want)
        near(got["detection"]["confidence"], want[1], 0.02)
        for key, value, size in (("x_min", want[2], width), ("y_min", want[3], height), ("x_max", want[4], width), ("y_max", want[5], height)):
            near(box[key] * size, min(max(value, 0), 1) * size, pixels)


# Frames stretched and resized as those that the reference outputs were made from.
AS_REFERENCE = ("--fit", "stretch", "--filter", "nearest")


def test_shared_yolo():
    # Rows of equal confidence compete for the person, four pixels a code apart: golden.py compares exactly.
    frame, = predict_or_skip("--model", data("models", "yolov8n_full_integer_quant_416.tflite"), *AS_REFERENCE, data("images", "bus.jpg"))
    assert_objects(frame, [("person", 0.9207, 0.07046, 0.37580, 0.29595, 0.84556), ("bus", 0.8878, 0.02819, 0.20199, 0.99588, 0.69994),
                           ("person", 0.8878, 0.83147, 0.33822, 1, 0.79858)], 20)


def test_shared_yolo_letterboxed():
    for name in ("yolov8n_full_integer_quant_224", "yolov8n_full_integer_quant_416", "yolov8n_int8_224"):
        bus, dog = predict_or_skip("--model", data("models", name + ".tflite"), data("images", "bus.jpg"), data("images", "dog.jpg"))
        assert {o["roi_type"] for o in bus["objects"]} >= {"bus", "person"}, bus
        animal, = [o for o in dog["objects"] if o["roi_type"] == "dog"]  # in int8 it and the bicycle may be as sure
        near(animal["x"], 131, 8)
        near(animal["x"] + animal["w"], 313, 8)


def test_shared_faces():
    m = data("models", "version-RFB-320_without_postprocessing.tflite")
    frame, = predict_or_skip("--model", m, "--mean", "127", "--std", "128", *AS_REFERENCE, data("images", "face.jpg"))
    assert len(frame["objects"]) == 4, frame
    assert_objects(frame, [("face", 0.99998, 0.260, 0.232, 0.437, 0.571)], 1)


def test_shared_pose():
    m = data("models", "movenet_single_pose_lightning_ptq.tflite")
    frame, = predict_or_skip("--model", m, *AS_REFERENCE, data("images", "person.jpg"))
    person, = frame["objects"]
    assert person["roi_type"] == "person" and len(person["keypoints"]) == 17
    points = {p["name"]: p for p in person["keypoints"]}
    assert points["left_ankle"]["y"] > points["left_knee"]["y"] > points["left_hip"]["y"] > points["left_shoulder"]["y"], points
    near(points["nose"]["x"], 0.3687, 0.03)
    near(points["nose"]["y"], 0.3073, 0.03)


def test_shared_segmentation():
    m, labels = data("models", "deeplabv3_mnv2_dm05_pascal_quant.tflite"), data("models", "pascal_voc_segmentation_labels.txt")
    frame, = predict_or_skip("--model", m, "--labels", labels, data("images", "dog_segmentation.bmp"))
    mask = frame["mask"]
    shares = {found["label"]: found["fraction"] for found in mask["classes"]}
    assert shares["dog"] > 0.4 and shares["background"] > 0.4, shares
    assert sum(mask["runs"][1::2]) == mask["width"] * mask["height"]
    dog = sum(n for c, n in zip(mask["runs"][::2], mask["runs"][1::2]) if c == 12)
    near(dog / (mask["width"] * mask["height"]), shares["dog"], 1e-5)


def test_shared_video():
    frames = predict("--model", data("models", "mobilenet_v1_0.25_128_quant.tflite"), "--threshold", "0", "--top", "1",
                     data("images", "video1.mp4"))
    assert len(frames) > 10 and [f["frame"] for f in frames] == list(range(len(frames)))
    times = [f["timestamp"] for f in frames]
    assert times == sorted(times)


def test_numbers_contradict():
    """Six columns that are corners, score and class: found, and said once; a preset that is not theirs is refused with the reading that fits."""
    rows = data("bugs", "deepstream_yolo_head", "two.onnx")
    picture = png("frame.png", 128, 96, RED)
    how = ("--mean", "0", "--std", "255")
    result = run("predict", "--model", rows, *how, picture, picture).expect(0, "taken for decoder=yolo,columns=x1y1x2y2,score,class")
    assert result.err.count("taken for") == 1 and result.out.count("0.90     16     24     32     48  0") == 2, result
    asked = "two.onnx: decoder yolo: column 5 holds whole numbers 0..1, which are no scores: state decoder=yolo,columns=x1y1x2y2,score,class"
    run("predict", "--model", rows, *how, "--decoder", "yolo,preset=v5", picture).expect(1, asked)
    result = run("inspect", rows, *how, "--picture", picture).expect(0, "taken for")
    assert "decoder   yolo" in result.out and "0.80     80     12     32     24  1" in result.out, result
    run("inspect", "--json", rows, *how, "--decoder", "yolo,preset=v5", "--picture=" + picture).expect(1, asked)


def test_size_of_the_input_is_offered():
    """D-FINE asks for the size in whose pixels boxes are: the message names the input's, which gives the boxes; the frame's is refused."""
    model_file = data("bugs", "dfine_orig_size", "dfine.onnx")
    picture = png("frame.png", 128, 96, RED)
    how = ("--model", model_file, "--mean", "0", "--std", "255")
    run("predict", *how, picture).expect(1, "--fixed-inputs 'orig_target_sizes=96,96', and not the frame's")
    frames = predict(*how, "--fixed-inputs", "orig_target_sizes=96,96", picture)
    assert [(o["x"], o["y"], o["w"], o["h"]) for o in frames[0]["objects"]] == [(16, 24, 32, 48), (80, 12, 32, 24)], frames
    run("predict", *how, "--fixed-inputs", "orig_target_sizes=192,144", picture).expect(1, "in an input of 96x96 pixels", "orig_target_sizes")


harness.main(globals())
