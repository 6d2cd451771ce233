# SPDX-License-Identifier: LGPL-2.1-or-later
"""Files of strangers that were read in a wrong way once, each with the value that its case states. The picture of most cases is 128x96 and has two
objects, a cat at 16,24 of 32x48 and a dog at 80,12 of 32x24."""
import json
import os
import shutil
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))

from broker import Broker  # noqa: E402
from camera import ALONE, Camera  # noqa: E402
from harness import PROGRAM, ROOT, Skip, data, main, png, reserve_port, run, work, write  # noqa: E402
from media import difference, jpeg, read_png  # noqa: E402
from running import PATIENCE, Running, answers  # noqa: E402

FRACTIONS = ("--mean", "0", "--std", "255")
CAT, DOG = ("cat", 16, 24, 32, 48), ("dog", 80, 12, 32, 24)


def bug(*parts):
    return data("bugs", *parts)


def found(*args):
    """The objects of each frame: name and box."""
    lines = run("predict", "--json", *args).expect(0).out.splitlines()
    return [[(o["roi_type"], o["x"], o["y"], o["w"], o["h"]) for o in json.loads(line)["objects"]] for line in lines]


def test_binary_sigmoid():
    """One sigmoid with two names is the share of the second."""
    model, picture = bug("binary_sigmoid", "cat_vs_dog.onnx"), bug("binary_sigmoid", "p.png")
    out = run("predict", "--model", model, *FRACTIONS, "--labels", bug("binary_sigmoid", "l.txt"), picture).expect(0).out
    assert out.split()[-2:] == ["0.92", "cat"], out


def test_labels_files():
    """Files of any kind name the classes; one of another model is refused."""
    model, picture = bug("labels_files", "m.onnx"), bug("labels_files", "p.png")
    for name in ("labelmap.pbtxt", "data.yaml", "labels.csv", "labels.json", "comment.txt"):
        got = found("--model", model, *FRACTIONS, "--labels", bug("labels_files", name), picture)
        assert got == [[CAT, DOG]], (name, got)
    result = run("predict", "--model", model, *FRACTIONS, "--labels", bug("labels_files", "coco80.txt"), picture)
    result.expect(1, "80 names for the 2 classes of ")


def test_yolov5_metadata():
    """Names and stride without a task: mean, std, fit and names of YOLOv5 without being asked."""
    got = found("--model", bug("yolov5_metadata", "yolov5.onnx"), bug("yolov5_metadata", "p.png"))
    assert got == [[("dog", 16, 16, 32, 64)]], got


def test_winml_output_colour():
    """A picture that comes out as it went in, in BGR on both sides."""
    drawn, picture = work("drawn.png"), bug("labels_files", "p.png")
    result = run("predict", "--model", bug("winml-output-colour", "identity_bgr.onnx"), "--draw", drawn, picture)
    if "made without Pango" in result.err:
        raise Skip("no sloverlay")
    result.expect(0)
    scaled = work("scaled.png")
    rows = read_png(drawn)
    done = subprocess.run(["gst-launch-1.0", "-q", "filesrc", "location=" + picture, "!", "pngdec", "!", "videoconvert", "!", "videoscale", "!",
                           "video/x-raw,format=RGB,width=%d,height=%d" % (len(rows[0]), len(rows)), "!", "pngenc", "!", "filesink", "location=" + scaled],
                          capture_output=True)
    if done.returncode != 0:
        raise Skip(done.stderr.decode())
    wanted = read_png(scaled)
    assert difference(rows, wanted) < 12, difference(rows, wanted)
    swapped = [[pixel[::-1] for pixel in row] for row in wanted]
    assert difference(rows, swapped) > 2 * difference(rows, wanted), "red and blue are swapped"


def test_advice_for_pictures():
    """A picture of one channel, three times the input's size, is proposed as such, and no detector is."""
    model, picture = bug("wrong-advice-superres", "lite.ai.toolkit__examples_hub_onnx_cv_subpixel-cnn.onnx"), bug("labels_files", "p.png")
    result = run("predict", "--model", model, *FRACTIONS, picture).expect(1, "decoder=image,range=0,1")
    assert "decoder=yolo" not in result.err and "decoder=segmentation" not in result.err, result
    run("predict", "--model", model, *FRACTIONS, "--decoder", "image,range=0,1", picture).expect(0)


def test_float16_input():
    """What predict says of float16 pixels is what the model gives for them as raw numbers."""
    model = bug("float16-input", "classes.onnx")
    shape = json.loads(run("inspect", "--json", model, *FRACTIONS).expect(0).out)["inputs"][0]["shape"]
    n = shape[1] * shape[2] * shape[3]
    picture = png("plain.png", 64, 64, (255, 255, 255))
    line = json.loads(run("predict", "--json", "--model", model, *FRACTIONS, "--top", "1", picture).expect(0).out)
    run("infer", "--model", model, "--input", write("ones.bin", struct.pack("<e", 1) * n), "--output", work("raw")).expect(0)
    with open(work("raw.0.bin"), "rb") as file:
        raw = file.read()
    numbers = struct.unpack("<%de" % (len(raw) // 2), raw)
    best = max(range(len(numbers)), key=numbers.__getitem__)
    got = line["classification"][0] if "classification" in line else line["labels"][0]
    assert str(best) in json.dumps(got), (best, line)


def test_detr_of_any_queries():
    for n in (50, 100, 300):
        contract = run("inspect", bug("detr-zero-config", "detr_%d.onnx" % n)).expect(0).out
        assert "decoder   detr\n" in contract, contract


def test_yunet_2021():
    for name in ("yunet_120x160.onnx", "yunet_float32.tflite"):
        contract = run("inspect", bug("yunet-2021", name)).expect(0).out
        assert "decoder   yunet-2021\n" in contract, contract


def test_torchscript():
    """A list that is turned around, and an input of whole numbers."""
    run("infer", "--model", bug("torchscript-list-slice", "rev.pt"), "--input-shape", "1,3,8,16", "--input",
        write("pixels.bin", bytes(4 * 3 * 8 * 16)), "--output", work("rev")).expect(0)
    towers = bug("torchscript-int64-input", "two_tower.pt")
    run("inspect", towers, "--input-shape", "1,3,8,8").expect(1, "state a shape for each input, as in input-shape=1,3,224,224;int64:1,77")
    run("infer", "--model", towers, "--input-shape", "1,3,8,8;int64:1,4", "--input", write("picture.bin", bytes(4 * 3 * 8 * 8)), "--input",
        write("words.bin", struct.pack("<4q", 1, 2, 3, 0)), "--output", work("towers")).expect(0)


def test_tensor_limit():
    """The limit is for tensors that are in memory at once: 64 MiB of 1.1 GiB, and those that making constants takes. The number of the refusal does."""
    model = bug("tensor-limit", "chain.onnx")
    told = run("inspect", model, "--tensor-limit", "70").expect(1, "at once; set tensor-limit").err.split("tensor-limit=")[1].split()[0]
    assert int(told) < 100, told
    for limit in ((), ("--tensor-limit", told)):
        run("inspect", model, *limit).expect(0)
    run("inspect", model, "--tensor-limit", "10").expect(1, "over the limit of 10485760 bytes; set tensor-limit (MiB) higher")


def test_models_page():
    """The options that the page of models states give what the cases say."""
    page = open(os.path.join(os.environ["SIGHTLINE_SOURCE_ROOT"], "docs", "models.md"), encoding="utf-8").read()

    def options(name):
        row = next(line for line in page.splitlines() if line.startswith("| %s |" % name))
        return next(cell for cell in row.split("|") if "--mean" in cell).strip().strip("`").split()

    def of(name):
        return ["--model", data("formats", "models", name), *options(name)]

    bus, dog = data("images", "bus.jpg"), data("images", "dog.jpg")
    names = [o[0] for o in found(*of("yolox_nano.onnx"), "--labels", bug("deepstream_yolo_head", "coco80.txt"), bus)[0]]
    assert len(names) >= 4, names
    nanodet = ["--model", data("models", "nanodet_m.onnx"), *options("nanodet_m.onnx")]
    names = [o[0] for o in found(*nanodet, "--labels", bug("deepstream_yolo_head", "coco80.txt"), bus)[0]]
    assert "coco5" in names and "coco0" in names, names  # a bus and persons
    out = run("predict", *of("mobilenetv2_dynq_s8.onnx"), "--top", "2", dog).expect(0).out
    assert "235" in out.split(), out  # with another dog as likely; 669 with the values that the page had


def test_geometry_after_predict():
    """Elements that move pixels behind the model: the boxes follow."""
    folder = os.path.dirname(bug("geometry_after_predict", "m.onnx"))
    for change, boxes in (("videocrop left=20", [("cat", 0, 24, 28, 48), ("dog", 60, 12, 32, 24)]),
                          ("videoflip video-direction=horiz", [("cat", 80, 24, 32, 48), ("dog", 16, 12, 32, 24)]),
                          ("videoscale add-borders=true ! video/x-raw,width=128,height=128,pixel-aspect-ratio=1/1",
                           [("cat", 16, 40, 32, 48)])):
        lines = work("lines.json")
        path = write("after.pipeline", ("[pipeline]\nlaunch=filesrc location=%s/p.png ! decodebin ! videoconvert ! slpredict model=%s/m.onnx mean=0 std=255 "
                                        "labels=%s/l.txt ! video/x-raw ! %s ! slpublish location=%s\n" % (folder, folder, folder, change, lines)).encode())
        done = subprocess.run([PROGRAM, "run", path], capture_output=True, timeout=200)
        assert done.returncode == 0, done.stderr
        with open(lines, encoding="utf-8") as file:
            objects = [(o["roi_type"], o["x"], o["y"], o["w"], o["h"]) for o in json.loads(file.readline())["objects"]]
        os.unlink(lines)
        for wanted in boxes:
            assert any(o[0] == wanted[0] and all(abs(a - b) <= 1 for a, b in zip(o[1:], wanted[1:])) for o in objects), (change, wanted, objects)


QUADRANTS = ((200, 30, 39), (29, 180, 59), (39, 60, 210), (231, 231, 231))


def probed(case, uri, frames, *more):
    """The 4x4 pixels of each frame, as lists of R, G and B."""
    result = run("predict", "--model", bug(case, "probe.onnx"), "--mean", "0", "--std", "1", "--decoder", "none", "--json", "--frames", frames, *more, uri, env=ALONE)
    if "no element that reads" in result.err or "is missing, which" in result.err:
        raise Skip(result.err.strip())
    values = [json.loads(line)["outputs"][0]["values"] for line in result.expect(0, "").out.splitlines()]
    assert len(values) == frames, (len(values), result.err)
    return [(one[:16], one[16:32], one[32:]) for one in values]


class Server:
    """A server of a case at a port of its own, until the test ends."""

    def __init__(self, folder, script):
        self.port = reserve_port()
        self.child = subprocess.Popen([sys.executable, "-B", script, str(self.port)], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def __enter__(self):
        deadline = time.monotonic() + PATIENCE
        while not answers(self.port):
            assert self.child.poll() is None and time.monotonic() < deadline, "the server does not listen"
            time.sleep(0.05)
        return self

    def __exit__(self, *error):
        self.child.kill()
        self.child.wait()


def show_quadrants(frames):
    for frame in frames:
        for at, wanted in zip((0, 3, 12, 15), QUADRANTS):
            assert all(abs(channel[at] - value) <= 6 for channel, value in zip(frame, wanted)), (at, wanted, frame)


def test_rtsp_grey_until_key_frame():
    """No frame before a whole key frame, whether the stream begins with one or between two."""
    with Server(bug("rtsp_grey_until_key_frame"), "server.py") as server:
        for stream in ("fromkey", "midgop"):
            show_quadrants(probed("rtsp_grey_until_key_frame", "rtsp://127.0.0.1:%d/%s" % (server.port, stream), 30))


def test_rtsp_tcp_bursts():
    """A camera that pauses and catches up on TCP: each frame is a picture, with the differences of colour bars."""
    with Server(bug("rtsp_tcp_bursts"), "server.py") as server:
        for frame in probed("rtsp_grey_until_key_frame", "rtsp://127.0.0.1:%d/fromkey" % server.port, 60):
            assert max(max(channel) - min(channel) for channel in frame) > 120, frame


def test_stale_sprop():
    """Parameter sets of another encoding in the SDP: the stream's own count, from the first frame on."""
    shutil.copytree(bug("stale_sprop"), work("stale"), copy_function=shutil.copyfile)
    shutil.copyfile(bug("stale_sprop", "s.h264"), work("stale/full.h264"))  # of another of its streams
    with Server(work("stale"), "rtsp.py") as server:
        show_quadrants(probed("stale_sprop", "rtsp://127.0.0.1:%d/stale" % server.port, 12))


def test_mjpeg_octet_stream():
    """Pictures without end from a server that calls them bytes."""
    camera = Camera(jpeg(read_png(bug("mjpeg_octet_stream", "q.png"))), [10 ** 6], b"Content-Type: application/octet-stream\r\n")
    show_quadrants(probed("mjpeg_octet_stream", camera.uri, 3, "--timeout", "60"))


def test_ha_two_cameras():
    """One recipe twice, with two topics: two devices, each with ids of its own."""
    folder = os.path.dirname(bug("ha_two_cameras", "till1.pipeline"))
    broker = Broker()
    try:
        for name in os.listdir(folder):
            shutil.copyfile(os.path.join(folder, name), work(name))
        for name in os.listdir(os.path.join(ROOT, "pipelines", "ready")):
            shutil.copyfile(os.path.join(ROOT, "pipelines", "ready", name), work(name))
        for till in ("till1", "till2"):
            with open(work(till + ".pipeline"), encoding="utf-8") as file:
                text = file.read().replace("localhost:18830", "127.0.0.1:%d" % broker.port).replace("model=m.onnx", "model=" + work("m.onnx"))
            write(till + ".pipeline", text.encode())
        running = Running(work("till1.pipeline"), work("till2.pipeline"))
        for till in ("till1", "till2"):
            broker.hear("^homeassistant/.*%s.*/config$" % till)
        running.stop()
    finally:
        broker.close()
    announced = [(topic, json.loads(text)) for topic, text in broker.heard if topic.startswith("homeassistant/") and text]
    ids = {}
    for topic, entity in announced:
        ids.setdefault(entity["unique_id"], set()).add(topic)
    assert all(len(topics) == 1 for topics in ids.values()), ids
    devices = {json.dumps(entity["device"]["identifiers"]) for _, entity in announced if "device" in entity}
    assert len(devices) == 2, devices


main(globals())
