# SPDX-License-Identifier: LGPL-2.1-or-later
"""The ready descriptions, checked and run: on test sources, and those that count on clips whose events follow from where the pictures
in them were put."""
import json
import os
import subprocess

import clips
import harness
from broker import Broker
from clips import RATE, Sprite, clip, linear, no_code, qr, way
from harness import Skip, data, model, run, work, write
from running import Running, eventually

READY = os.path.join(harness.ROOT, "pipelines", "ready")
FINDER = os.path.join(harness.ROOT, "models", "codes", "codes.tflite")


def ready(path, *args):
    """Checks a ready description, runs it to the end of its stream, and returns what it printed."""
    result = run("check", path, *args)
    if 'no element "' in result.out:
        raise Skip("an element is missing")
    result.expect(0)
    result = run("run", path, *args)
    assert result.status == 0 and "running; first frame" in result.err and "end of stream" in result.err, result
    return result.out.splitlines()


BLUE = "test://?pattern=blue&frames=6&live=false"


def frames_of(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def setting(**values):
    return [word for name, value in values.items() for word in ("--set", "%s=%s" % (name, value))]


def test_ready_labels():
    lines = ready(os.path.join(READY, "usb-camera-labels.pipeline"), *setting(source=BLUE, model=model("brightest_channel.tflite")))
    assert lines == ["blue"] * 6, lines


def test_ready_boxes():
    ready(os.path.join(READY, "usb-camera-boxes.pipeline"), *setting(source=BLUE, sink="fakesink", model=model("one_box.tflite")))


def test_ready_rtsp():
    out = work("rtsp.json")
    ready(os.path.join(READY, "rtsp-boxes-json.pipeline"), *setting(source=BLUE, name="yard", output=out, model=model("one_box.tflite")))
    frames = frames_of(out)
    assert len(frames) == 6 and frames[0]["source"] == "yard" and frames[0]["objects"][0]["roi_type"] == "blue", frames


def test_ready_counter():
    out = work("counter.json")
    ready(os.path.join(READY, "people-counter.pipeline"),
          *setting(source=BLUE, name="gate", classes="blue", line="0.1,0.2 0.9,0.2", output=out, model=model("one_box.tflite")))
    frames = frames_of(out)
    assert len(frames) == 6 and frames[0]["source"] == "gate" and frames[0]["objects"][0]["roi_type"] == "blue", frames
    assert frames[-1]["analysis"]["lines"] == [{"name": "way", "in": 0, "out": 0, "classes": []}], frames[-1]
    result = run("check", os.path.join(READY, "people-counter.pipeline"), *setting(source=BLUE, line="0,0 1", model=model("one_box.tflite")))
    assert result.status == 1 and "[line way] points: expected points x,y of numbers from 0 to 1" in result.out, result


def test_home_assistant():
    """Two cameras are two devices, whose ids stay; the threshold and the switch are obeyed; the recipe of docs/ready.md."""
    broker = Broker()
    paths = []
    for till in ("till1", "till2"):
        text = ("[pipeline]\ninclude=%s\n[parameters]\nmodel=%s\nsource=test://?pattern=blue\nclasses=blue\nname=%s\noutput=mqtt://localhost:%d/sightline/%s\n"
                "[element sink]\ncounts=true\ndiscovery-prefix=homeassistant\npicture-interval=1\ninterval=0.2\non-change=true\n"
                % (os.path.abspath(os.path.join(READY, "queue-watch.pipeline")), model("one_box.tflite"), till, broker.port, till))
        paths.append(write(till + ".pipeline", text.encode()))
    try:
        announced = []
        for _ in range(2):
            running = Running(*paths)
            broker.heard = []
            for till in ("till1", "till2"):
                broker.hear("^sightline/%s/threshold$" % till, "0.1")
                broker.hear("^homeassistant/binary_sensor/.*%s.*/blue_present" % till)
                broker.hear("^homeassistant/sensor/.*%s.*/queue_entered" % till)
            broker.say("sightline/till1/threshold/set", "0.99")
            broker.hear("^sightline/till1/threshold$", "0.99")
            broker.say("sightline/till1/threshold/set", "7")
            running.wait_for("warning")
            broker.say("sightline/till2/enabled/set", "OFF")
            broker.hear("^sightline/till2/enabled$", "OFF")
            running.stop()
            broker.hear("^sightline/till1/available", "offline")
            assert ("sightline/till2/enabled", "ON") in broker.heard, "the switch is kept without a folder"
            found = {topic for topic, _ in broker.heard if topic.startswith("homeassistant/")}
            announced.append(found)
        devices = {topic.split("/")[2] for topic in announced[0]}
        assert len(devices) == 2 and announced[0] == announced[1], announced
        for device in devices:
            kinds = {topic.split("/")[1] for topic in announced[0] if topic.split("/")[2] == device}
            assert kinds == {"sensor", "binary_sensor", "camera", "switch", "number"}, kinds
        warned = [e["message"] for e in running.events() if e["event"] == "warning"]
        assert warned == ["sink: the broker's threshold/set: expected a number from 0 to 1, got '7'; nothing changes"], warned
    finally:
        broker.close()


def test_ready_folder():
    out = work("folder.json")
    clips.gst("videotestsrc", "num-buffers=5", "pattern=red", "!", "video/x-raw,width=40,height=30", "!", "jpegenc", "!", "multifilesink", "location=" +
           work("picture-%03d.jpg"), "index=1")
    ready(os.path.join(READY, "picture-folder.pipeline"),
          *setting(source=work("picture-%03d.jpg"), first=1, output=out, model=model("brightest_channel.tflite")))
    assert [f["labels"][0]["label"] for f in frames_of(out)] == ["red"] * 5


def test_ready_two_stage():
    out = work("stages.json")
    ready(os.path.join(READY, "two-stage.pipeline"),
          *setting(source=BLUE, output=out, model=model("one_box.tflite"), classifier=model("brightest_channel.tflite")))
    found = frames_of(out)[0]["objects"][0]
    assert found["roi_type"] == "blue" and "blue" in json.dumps({k: v for k, v in found.items() if k not in ("roi_type", "detection")}), found


def test_ready_style():
    style = harness.png("style.png", 8, 8, (0, 0, 255))
    out = work("painted.rgb")
    own = write("style.pipeline", ("[pipeline]\ninclude=%s\n[element sink]\nlocation=%s\n" % (os.path.abspath(os.path.join(READY, "style-transfer.pipeline")), out)).encode())
    ready(own, *setting(**{"source": "test://?pattern=white&frames=6&live=false", "style": style, "style-model": model("float_range.tflite"),
                           "model": model("paint.tflite"), "sink": "filesink"}))
    first = write("first.pipeline", ("[pipeline]\ninclude=%s\n[element transfer]\nfixed-inputs=1=0.5\n" % own).encode())
    run("check", first, *setting(**{"source": BLUE, "style": style, "style-model": model("float_range.tflite"), "model": model("paint.tflite"),
                                    "sink": "filesink"})).expect(0)
    with open(out, "rb") as file:
        pixels = file.read()
    assert len(pixels) >= 192 and set(pixels[0::3]) | set(pixels[1::3]) == {0} and set(pixels[2::3]) == {255}, pixels[:24]


def test_ready_kiosk():
    out, path = work("kiosk.json"), os.path.join(READY, "headless-kiosk.pipeline")
    args = setting(source="test://?pattern=blue", output=out, model=model("one_box.tflite"))
    if 'no element "' in run("check", path, *args).out:
        raise Skip("an element is missing")
    child = subprocess.Popen([harness.PROGRAM, "run", "--stop-timeout=60s", path] + args, stderr=subprocess.PIPE)
    eventually(lambda: os.path.exists(out) and os.path.getsize(out) >= 2000 or child.poll() is not None)
    child.terminate()
    _, err = child.communicate(timeout=200)
    assert child.returncode == 0, err
    assert frames_of(out)[0]["source"] == "kiosk"


def test_ready_without_model():
    result = run("run", os.path.join(READY, "headless-kiosk.pipeline"))
    result.expect(1, "model.conf:4: parameter model has no default and no value: give one with --set model=VALUE")


def person():
    return Sprite(data("images", "person.jpg"), (640, 424), (184, 90, 100, 290), 64, 186, (192, 100, 83, 275))


def watch(name, frames, **settings):
    """Frames that a ready description writes of the clip."""
    out = work(name + ".json")
    if os.path.exists(out):
        os.remove(out)
    ready(os.path.join(READY, name + ".pipeline"), *setting(source=clip(name + ".avi", frames), output=out, **settings))
    lines = frames_of(out)
    assert [line["frame"] for line in lines] == list(range(len(frames))), (len(lines), len(frames))
    return lines


def events_of(lines):
    """(second, event)"""
    return [(line["frame"] / RATE, event) for line in lines for event in line["analysis"]["events"]]


def expect_events(lines, *wanted):
    """The events are those wanted, (name, label or None), in this order; returns their seconds, and what they say."""
    events = events_of(lines)
    assert [(event["event"], event.get("label")) for _, event in events] == list(wanted), events
    return [second for second, _ in events], [event for _, event in events]


def near(seconds, wanted, most=0.4):
    assert abs(seconds - wanted) <= most, (seconds, wanted)


def when(places, where, first=0):
    """Second of the first of the places, frame by frame from `first` on, that `where` is true of."""
    return next((first + i) / RATE for i, place in enumerate(places) if where(place))


def test_counter_counts():
    """A code goes down over the line, another goes up, the first goes down again."""
    a, b = qr(), linear()
    down, up = way((0, 20, 0), (30, 20, 110), (35, 20, 110)), way((0, 100, 100), (40, 100, 0), (45, 100, 0))
    frames = [[(a, at)] for at in down] + [[]] * 5 + [[(b, at)] for at in up] + [[]] * 5 + [[(a, at)] for at in down] + [[]] * 25
    lines = watch("people-counter", frames, model=FINDER, classes="qr,linear", line="0,0.5 1,0.5")
    seconds, _ = expect_events(lines, ("in", "qr"), ("out", "linear"), ("in", "qr"))
    crossed = when(down, lambda at: a.bottom(at)[1] > 0.52 * clips.HEIGHT)
    near(seconds[0], crossed)
    near(seconds[1], when(up, lambda at: b.bottom(at)[1] < 0.48 * clips.HEIGHT, 41))
    near(seconds[2], 9.2 + crossed)
    assert lines[-1]["analysis"]["lines"] == [{"name": "way", "in": 2, "out": 1, "classes": [
        {"label": "qr", "in": 2, "out": 0}, {"label": "linear", "in": 0, "out": 1}]}], lines[-1]["analysis"]


def test_counter_people():
    """Somebody walks over the line and back, seen by a detector of people."""
    someone = person()
    places = way((0, 30, -10), (25, 60, 52), (40, 100, 52), (65, 150, -10), (70, 150, -10))
    lines = watch("people-counter", [[(someone, at)] for at in places], model=data("models", "ssd_mobilenet_v1.tflite"), line="0,0.82 1,0.82")
    expect_events(lines, ("in", "person"), ("out", "person"))
    assert lines[-1]["analysis"]["lines"][0]["in"] == lines[-1]["analysis"]["lines"][0]["out"] == 1, lines[-1]["analysis"]


ZONE = "0.5,0 1,0 1,1 0.5,1"


def test_queue_watch():
    """Two come to the right half of the picture: one waits there for ten seconds, one for three."""
    a, b = qr(), linear()
    long, short = way((0, 8, 60), (30, 190, 60), (110, 190, 60), (140, 8, 60), (145, 8, 60)), way((0, 0, 90), (20, 120, 90), (30, 120, 90), (50, 0, 90), (55, 0, 90))
    lines = watch("queue-watch", [[(a, at)] for at in long] + [[(b, at)] for at in short] + [[]] * 5, model=FINDER, classes="qr,linear", zone=ZONE, wait="5s")
    seconds, events = expect_events(lines, ("entered", "qr"), ("dwell", "qr"), ("left", "qr"), ("entered", "linear"), ("left", "linear"))
    entered = when(long, lambda at: a.bottom(at)[0] > 0.52 * clips.WIDTH)
    left = when(long[110:], lambda at: a.bottom(at)[0] < 0.48 * clips.WIDTH, 110)
    near(seconds[0], entered)
    near(seconds[1], entered + 5)
    near(seconds[2], left)
    near(events[1]["seconds"], 5, 0.2)
    near(events[2]["seconds"], left - entered)
    near(events[4]["seconds"], when(short[30:], lambda at: b.bottom(at)[0] < 0.48 * clips.WIDTH, 30) - when(short, lambda at: b.bottom(at)[0] > 0.52 * clips.WIDTH))
    zone, = lines[-1]["analysis"]["zones"]
    assert (zone["inside"], zone["entered"], zone["left"]) == (0, 2, 2), zone


def test_queue_watch_people():
    someone = person()
    places = way((0, 10, 20), (20, 200, 20), (80, 200, 20), (100, 10, 20), (105, 10, 20))
    lines = watch("queue-watch", [[(someone, at)] for at in places], model=data("models", "ssd_mobilenet_v1.tflite"), zone=ZONE, wait="3s")
    seconds, events = expect_events(lines, *[(event, "person") for event in ("entered", "dwell", "left")])
    near(seconds[0], when(places, lambda at: someone.bottom(at)[0] > 0.52 * clips.WIDTH))
    near(events[1]["seconds"], 3, 0.2)


def test_queue_watch_errors():
    path, known = os.path.join(READY, "queue-watch.pipeline"), setting(source=BLUE, model=model("one_box.tflite"), classes="blue")
    for values, message in ((setting(zone="0,0 1,1"), "[zone queue] points: expected at least 3 corners x,y of 0..1, got 2"),
                            (setting(wait="soon"), "[zone queue] dwell-after: expected a time such as 500ms"),
                            (setting(classes="gren"), "has no class 'gren'; did you mean 'green'?")):
        result = run("check", path, *known, *values)
        assert result.status == 1 and message in result.out, result


def test_shelf_gap():
    """Goods are taken away for 6 s, while something else stands in their place; then they are hidden for a moment."""
    goods, other = linear(), qr()
    here, there = [(goods, (60, 60))], [(other, (100, 60))]
    frames = [here] * 30 + [[]] * 10 + [there] * 40 + [[]] * 10 + [here] * 30 + [[]] * 12 + [here] * 20
    lines = watch("shelf-gap", frames, model=FINDER, classes="linear", zone="0.2,0.2 0.8,0.2 0.8,0.8 0.2,0.8", gap="3s")
    seconds, events = expect_events(lines, ("entered", "linear"), ("left", "linear"), ("empty", None), ("entered", "linear"))
    near(events[1]["seconds"], 2.9, 0.2)
    near(seconds[2], 2.9 + 3, 0.2)
    near(events[2]["seconds"], 3, 0.2)
    near(seconds[3], 9.0)
    assert lines[-1]["analysis"]["zones"][0]["inside"] == 1, lines[-1]["analysis"]


def test_code_gate():
    """Three parcels on a belt go through the gate, the last of them without a code."""
    belt = [(sprite, way((0, -sprite.size[0], 60), (50, clips.WIDTH, 60))) for sprite in (qr(), linear(), no_code())]
    frames = [[(sprite, places[i - start]) for start, (sprite, places) in zip((0, 40, 80), belt) if 0 <= i - start < len(places)] for i in range(150)]
    lines = watch("code-gate", frames, zone="0.35,0 0.65,0 0.65,1 0.35,1", within="4s")
    seconds, events = expect_events(lines, ("entered", "qr"), ("left", "qr"), ("entered", "linear"), ("left", "linear"), ("empty", None))
    for i, start in ((0, 0), (1, 40)):
        sprite, places = belt[i]
        near(seconds[2 * i], when(places, lambda at: sprite.centre(at)[0] > 0.37 * clips.WIDTH, start))
        left = when(places, lambda at: sprite.centre(at)[0] > 0.67 * clips.WIDTH, start)
        near(seconds[2 * i + 1], left)
    near(seconds[4], left + 4)
    assert [zone["entered"] for zone in lines[-1]["analysis"]["zones"]] == [2], lines[-1]["analysis"]


def test_two_zones():
    """A file of one's own with more zones than the ready description has."""
    own = harness.write("own.pipeline", ("""[pipeline]
include=%s
[zone back]
points=0,0 0.5,0 0.5,1 0,1
anchor=centre
""" % os.path.join(READY, "code-gate.pipeline")).encode())
    out = work("own.json")
    ready(own, *setting(source=clip("own.avi", [[(qr(), (180, 60))]] * 5), output=out, zone=ZONE))
    assert [(zone["name"], zone["inside"]) for zone in frames_of(out)[-1]["analysis"]["zones"]] == [("gate", 1), ("back", 0)]


harness.main(globals())
