# SPDX-License-Identifier: LGPL-2.1-or-later
"""sightline calibrate: which frames of a camera count, what becomes of them, how it ends early, and that a running pipeline takes the file."""
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import time

import harness
from camera import ALONE, Camera
from flatbuffer import Model
from harness import SANITIZED, Skip, data, png, run, work, write
from media import jpeg, launch
from running import PATIENCE, Running

IMAGENET = ["--mean", "123.675,116.28,103.53", "--std", "58.395,57.12,57.375"]
PATIENT = 0.8 if SANITIZED else 0.2  # minutes of a watch in which frames have to come


def small(*more):
    return ["calibrate", data("formats", "models", "mobilenet_v2_035.ext.onnx"), *IMAGENET, *more]


def clip():
    return data("images", "video1.mp4")


def report(result):
    return json.loads(result.expect(0).out)


def test_clip():
    """Frames at the rate, by the clip's own clock, of which a fifth is compared on; the same bytes each time; every layer of 8 bits."""
    sums = set()
    for i in range(2):
        target = work("clip%d.tflite" % i)
        got = report(run(*small("-c", clip(), "--rate", "3", "-o", target, "--json")))
        assert got["looked_at"] == got["alike"] + got["calibrated"] + got["compared"], got
        assert got["compared"] == (got["looked_at"] - got["alike"]) // 5 >= 2 and got["measure"] == "top-1", got
        assert got["quantized_nodes"] >= 50 and got["bytes"] == os.path.getsize(target) < got["float_bytes"] / 2, got
        with open(target, "rb") as file:
            sums.add(file.read())
    assert len(sums) == 1
    assert 9 in [tensor[0] for tensor in Model(sums.pop()).tensors]
    if SANITIZED:  # the rest is of frames counted, with no other code
        return
    faster = report(run(*small("-c", clip(), "--rate", "6", "-o", target, "--json")))
    assert abs(faster["looked_at"] - 2 * got["looked_at"]) <= 2, (faster, got)
    shorter = report(run(*small("-c", clip(), "--rate", "10", "--minutes", "0.05", "-o", target, "--json")))
    assert 28 <= shorter["looked_at"] <= 30, shorter
    words = run(*small("-c", clip(), "--rate", "3", "-o", target)).expect(0).out
    assert "frames     %d looked at, %d alike, %d learned from" % (got["looked_at"], got["alike"], got["calibrated"]) in words, words


def test_once_is_as_good_as_twice():
    """What one pass learns of frames gives results as near to the float ones as what two passes do."""
    if SANITIZED:
        raise Skip("figures, which are the same without sanitizers")
    one = report(run(*small("-c", clip(), "--rate", "5", "--alike", "-o", work("one.tflite"), "--json")))
    two = report(run("quantize", *small("-c", clip(), "--pictures", str(one["calibrated"]), "-o", work("two.tflite"), "--json")[1:]))
    assert abs(one["output_snr_db"] - two["output_snr_db"]) < 2, (one, two)


def still(name, frames):
    """A clip of one picture, ten times a second."""
    picture, path = png(name + ".png", 64, 48, (90, 120, 60)), work(name + ".avi")
    launch("filesrc", "location=" + picture, "!", "pngdec", "!", "imagefreeze", "num-buffers=%d" % frames, "!", "video/x-raw,framerate=10/1", "!",
           "videoconvert", "!", "jpegenc", "!", "avimux", "!", "filesink", "location=" + path)
    return path


def test_still_scene():
    """Frames that show the same are one picture, unless all are wanted."""
    path, target = still("still", 40), work("still.tflite")
    run(*small("-c", path, "--rate", "10", "-o", target)).expect(
        1, "1 of the 40 frames looked at are different; expected at least 10", "more --minutes", "--alike")
    assert not os.path.exists(target)
    got = report(run(*small("-c", path, "--rate", "10", "-o", target, "--json", "--alike")))
    assert (got["looked_at"], got["alike"], got["calibrated"], got["compared"]) == (40, 0, 32, 8), got


def test_too_few_frames():
    target = work("few.tflite")
    run(*small("-c", still("few", 9), "--rate", "10", "--alike", "-o", target)).expect(1, "9 of the 9 frames looked at are different")
    for rate in "60", "0.001":
        run(*small("-c", "test://?pattern=blue", "--rate", rate, "--minutes", "0.02", "-o", target)).expect(1, "test://?pattern=blue: 1 of the ")
    assert not os.path.exists(target)


def test_no_frame():
    """A source that is there and sends nothing is not waited for any longer than it is watched, and ten seconds."""
    path, target = work("silent"), work("silent.tflite")
    os.mkfifo(path)
    writer = os.open(path, os.O_RDWR)
    run(*small("-c", path, "--minutes", "0.01", "-o", target)).expect(1, "silent: no frame came within 11 s; check that it is switched on")
    os.close(writer)
    assert not os.path.exists(target)


def test_many_frames():
    """A hundred frames to compare on at most, evenly; what is not kept is learned from."""
    got = report(run("calibrate", data("formats", "models", "cntk_mnist.onnx"), "--mean", "0", "--std", "255", "--decoder", "labels", "-c",
                     still("many", 1300), "--rate", "10", "--alike", "-o", work("many.tflite"), "--json"))
    assert got["looked_at"] == 1300 == got["calibrated"] + got["compared"] and 50 <= got["compared"] <= 100, got


def test_large_tensors():
    """Those that are kept are as many as fit 128 MB: of 3 x 1024 x 1024 values of 16 bits there are 10 to 20."""
    if SANITIZED:
        raise Skip("frames counted, with no other code")
    got = report(run("calibrate", harness.model("many_pixels.tflite"), "--mean", "0", "--std", "255", "--decoder", "labels", "-c", still("large", 105),
                     "--rate", "10", "--alike", "--float-head", "none", "-o", work("large.tflite"), "--json"))
    assert got["looked_at"] == 105 == got["calibrated"] + got["compared"] and 10 <= got["compared"] <= 20, got


class Watching:
    """The program at work on a terminal, as which it shows how many frames it has."""

    def __init__(self, *options):
        self.told, terminal = "", pty.openpty()
        self.terminal = terminal[0]
        self.child = subprocess.Popen([harness.PROGRAM, *small(*options)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=terminal[1], env=ALONE)
        os.close(terminal[1])

    def read(self):
        try:
            part = os.read(self.terminal, 4096)
        except OSError:  # nobody writes any more
            part = b""
        self.told += part.decode("utf-8", "replace")
        return part != b""

    def wait_for_frames(self, n):
        until = time.monotonic() + PATIENCE
        while max([0, *map(int, re.findall(r"(\d+) frames ", self.told))]) < n:
            assert time.monotonic() < until and self.read(), self.told

    def end(self):
        """Exit status, standard output, and what was told."""
        while self.read():
            pass
        out = self.child.stdout.read().decode()
        os.close(self.terminal)
        self.child.stdout.close()
        if "is missing, which slcamera needs" in self.told or "no element that reads" in self.told:
            raise Skip(self.told)
        return self.child.wait(PATIENCE), out, self.told


def test_live_camera():
    """By the clock; ended by Ctrl-C once there is enough, after which the file is made."""
    target = work("live.tflite")
    watching = Watching("-c", "test://?pattern=ball", "--rate", "20", "-o", target, "--json")
    watching.wait_for_frames(15)
    watching.child.send_signal(signal.SIGINT)
    status, out, told = watching.end()
    assert status == 0 and "ends early: makes the file of " in told and "Ctrl-C once more ends without it" in told, (status, told)
    got = json.loads(out)
    assert got["calibrated"] + got["compared"] >= 15 and os.path.getsize(target) == got["bytes"], got


def test_interrupted_too_early():
    """Without enough frames there is no file, nor is there when it is interrupted twice; what was there stays."""
    target = write("early.tflite", b"as it was")
    for pattern, frames, signals in ("blue", 1, 1), ("ball", 12, 2):
        watching = Watching("-c", "test://?pattern=" + pattern, "--rate", "20", "-o", target)
        watching.wait_for_frames(frames)
        watching.child.send_signal(signal.SIGINT)
        while signals == 2 and "ends early" not in watching.told:
            assert watching.read(), watching.told
        if signals == 2:
            watching.child.send_signal(signal.SIGINT)
        status, _, told = watching.end()
        assert status == (130 if signals == 1 else -signal.SIGINT), (status, told)
        assert open(target, "rb").read() == b"as it was"
    assert [name for name in os.listdir(harness.WORK.name) if name.startswith("early")] == ["early.tflite"]


class Server:
    """tests/support/mjpeg_server, a camera whose plug can be pulled."""

    def __init__(self):
        program = os.environ.get("SIGHTLINE_MJPEG_SERVER")
        if not program:
            raise Skip("the MJPEG server was not built")
        self.child = subprocess.Popen([program], stdout=subprocess.PIPE)
        self.uri = self.child.stdout.readline().decode().strip()

    def kill(self):
        self.child.kill()
        self.child.wait()
        self.child.stdout.close()


def test_camera_gone():
    """In the middle, for good: it is told, and the file is made of what was seen by the end, if that is enough."""
    minutes = str(PATIENT)
    for frames, expected in (12, 0), (2, 1):
        server, target = Server(), work("gone%d.tflite" % frames)
        watching = Watching("-c", server.uri, "--rate", "10" if frames > 10 else "1", "--alike", "--minutes", minutes, "-o", target)
        try:
            watching.wait_for_frames(frames)
        finally:
            server.kill()
        status, _, told = watching.end()
        assert status == expected and os.path.exists(target) == (expected == 0), (status, told)
        assert "trying again in " in told, told
        assert expected == 0 or "frames looked at are different; expected at least 10" in told, told


def test_camera_that_comes_back():
    camera = Camera(jpeg([[(20, 20, 250)] * 64] * 48), [2, 3, 3, 10 ** 6], rate=20)  # the first is asked what it is, on a slow machine the second, too
    got = run(*small("-c", camera.uri, "--rate", "10", "--alike", "--minutes", str(PATIENT), "-o", work("back.tflite"), "--json"), env=ALONE)
    if "no element that reads" in got.err or "is missing, which" in got.err:
        raise Skip(got.err.strip())
    got.expect(0, "sightline calibrate: %s: the camera ended the stream; trying again in " % camera.uri)


def test_no_camera():
    target = work("none.tflite")
    for source, message in (("/dev/video77", "there is no /dev/video77: is the camera plugged in?"), (work("nowhere.mp4"), "no such file"),
                            ("http://127.0.0.1:9/x", "http://127.0.0.1:9/x: "), (write("text.mp4", b"no video"), "text.mp4: "),
                            ("test://?pattern=none", "'none' is no pattern")):
        got = run(*small("-c", source, "-o", target)).expect(1)
        assert message in got.err or "is missing, which slcamera needs" in got.err, got
    sound = work("sound.wav")
    launch("audiotestsrc", "num-buffers=5", "!", "wavenc", "!", "filesink", "location=" + sound)
    run(*small("-c", sound, "-o", target)).expect(1, "sound.wav: has no video in it")
    assert not os.path.exists(target)


def test_refusals():
    target = work("refused.tflite")
    run("calibrate").expect(2, "expected one MODEL, one FILE.pipeline, or both in this order, got 0 arguments")
    run("calibrate", "a.pipeline", "b.onnx", "-o", target).expect(2, "got 2 arguments")
    run(*small("-c", "test://", "-o", target, "--set", "a=b")).expect(2, "--set: there is no FILE.pipeline")
    run(*small("-o", target)).expect(2, "--camera SOURCE, or a FILE.pipeline, is required")
    run(*small("-c", "test://")).expect(2, "--output FILE is required")
    run(*small("-c", "test://", "-o", target, "--minutes", "0")).expect(2, "--minutes: expected a number in 0.01..10080, got '0'")
    run(*small("-c", "test://", "-o", target, "--minutes", "nan")).expect(2, "--minutes: expected a number")
    run(*small("-c", "test://", "-o", target, "--rate", "0")).expect(2, "--rate: expected a number in 0.001..60, got '0'")
    run(*small("-c", harness.WORK.name, "-o", target)).expect(2, "is a folder; expected a camera, a URI or a video")
    run(*small("-c", "test://", "-o", work("no/such/x.tflite"))).expect(2, "there is no such folder; make it first")
    run(*small("-c", "test://", "-o", work("x.onnx"))).expect(2, "expected a name that ends in .tflite")
    run(*small("-c", "test://", "-o", target, "--method", "entropy")).expect(2, "--method")
    run("calibrate", harness.model("add.tflite"), "-c", "test://", "-o", target).expect(1, "expected one picture of float32, as models have before")
    run("calibrate", data("formats", "models", "mobilenet_v2_035.ext.onnx"), "-c", "test://", "-o", target).expect(1, "give mean and std")
    same = work("same.tflite")
    shutil.copy(harness.model("add.tflite"), same)
    run("calibrate", same, "-c", "test://", "-o", same).expect(2, "--output and MODEL are one file")
    run(*small("-c", same, "-o", same)).expect(2, "--output and --camera are one file")
    assert not os.path.exists(target)


def test_too_little_agreement():
    target = work("disagree.tflite")
    run(*small("-c", clip(), "--rate", "3", "--minutes", "0.07", "--prune", "0.9", "--min-agreement", "1", "-o", target)).expect(
        1, "expected at least 1", "is not written")
    assert not os.path.exists(target)


def test_running_pipeline_takes_the_file():
    """A pipeline that runs the float model goes on with the quantised one between two frames, once it is told."""
    path = work("door.tflite")
    run("convert", data("formats", "models", "mobilenet_v2_035.ext.onnx"), *IMAGENET, "-o", path).expect(0)
    description = write("door.pipeline", ("[pipeline]\nlaunch=videotestsrc is-live=true pattern=ball ! video/x-raw,width=320,height=240,framerate=10/1 "
                                          "! slpredict name=see model=%s ! fakesink\n" % path).encode())
    running = Running(description)
    running.wait_for("running")
    run(*small("-c", clip(), "--rate", "3", "-o", path)).expect(0)
    running.child.send_signal(signal.SIGHUP)
    assert running.wait_for("reloaded")["message"].endswith("it goes on, and loads what is new: " + path)
    assert path + " runs now" in running.wait_for("model-changed")["message"]
    running.stop()
    assert running.status == 0, running.events()


def described(name, launch):
    return write(name + ".pipeline", ("[parameters]\nsource=test://?pattern=ball\nmodel=%s\n[pipeline]\nlaunch=%s\n" % (
        data("formats", "models", "mobilenet_v2_035.ext.onnx"), launch)).encode())


SEE = "slpredict name=see model=${model} mean=%s std=%s" % tuple(IMAGENET[1::2])


def test_description():
    """Camera, model and what is said of it are those of the pipeline, whose sinks do not run; a clip in place of the camera gives the same as
    without the description."""
    target, sink = work("described.tflite"), work("sink.raw")
    path = described("described", "slcamera uri=${source} ! %s ! filesink location=%s" % (SEE, sink))
    got = report(run("calibrate", path, "--rate", "5", "--alike", "--minutes", str(PATIENT / 2), "-o", target, "--json"))
    assert got["looked_at"] >= 10 and os.path.getsize(target) == got["bytes"] and not os.path.exists(sink), got
    run("calibrate", path, "-c", clip(), "--rate", "3", "-o", target).expect(0)
    same = work("undescribed.tflite")
    run(*small("-c", clip(), "--rate", "3", "-o", same)).expect(0)
    assert open(same, "rb").read() == open(target, "rb").read()
    # What runs the pipeline's model does not matter: a runtime that is not here, or weights in 16 bits.
    other = described("elsewhere", "slcamera uri=${source} ! %s ! filesink location=%s" % (SEE.replace("name=see", "name=see backend=tflite precision=bf16"), sink))
    run("calibrate", other, "-c", clip(), "--rate", "3", "-o", work("elsewhere.tflite")).expect(0)
    assert open(work("elsewhere.tflite"), "rb").read() == open(same, "rb").read()
    # A model before the description stands for the pipeline's, which may be quantised already.
    run("calibrate", path, "--set", "model=" + target, "-c", clip(), "-o", work("x.tflite")).expect(1, "described.tflite: takes int8[")
    run("calibrate", small()[1], path, "--set", "model=" + target, "-c", clip(), "--rate", "3", "-o", target).expect(0)
    assert open(same, "rb").read() == open(target, "rb").read()


def test_part_of_the_frame():
    """A model that sees a part learns from that part; a part outside of the frame is refused."""
    whole, part = work("whole.tflite"), work("part.tflite")
    for target, region in (whole, ""), (part, " inference-region=0,0,64,48"):
        run("calibrate", described("part", "slcamera uri=${source} ! %s%s ! fakesink" % (SEE, region)), "-c", clip(), "--rate", "3", "--alike", "-o",
            target).expect(0)
    assert open(whole, "rb").read() != open(part, "rb").read()
    run("calibrate", described("part", "slcamera uri=${source} ! %s inference-region=9000,0,64,48 ! fakesink" % SEE), "-c", clip(), "-o",
        target).expect(1, "9000")


def test_frames_that_do_not_fit():
    """Where frames become too small for the part that the model sees, the watch ends; what was learned before is kept."""
    pictures = [work("large%d.jpg" % i) for i in range(2)]
    for path, size in zip(pictures, ("width=240,height=200", "width=100,height=200")):
        launch("videotestsrc", "pattern=ball", "num-buffers=30", "!", "video/x-raw,framerate=10/1," + size, "!", "jpegenc", "!", "filesink",
               "location=" + path)
    joined, target = work("sizes.mjpg"), work("sizes.tflite")
    for order, code, words in ((pictures, 0, "going on with the 30 frames before"), (pictures[::-1], 1, "is not inside the frame of 100x200")):
        with open(joined, "wb") as file:
            for path in order:
                with open(path, "rb") as part:
                    file.write(part.read())
        path = described("sizes", "slcamera uri=${source} ! %s inference-region=0,0,200,200 ! fakesink" % SEE)
        done = run("calibrate", path, "-c", joined, "--rate", "60", "--alike", "-o", target).expect(code, words)
        assert "sizes.mjpg: " in done.err, done.err
        assert os.path.exists(target) == (code == 0)
        if code == 0:
            os.remove(target)


def test_refused_descriptions():
    target = work("undescribable.tflite")
    for name, launch, message in (
            ("no-camera", "videotestsrc ! %s ! fakesink" % SEE, "no-camera.pipeline: the pipeline has 0 elements slcamera; expected one, or --camera"),
            ("no-model", "slcamera uri=${source} ! fakesink", "has 0 elements slinfer; expected one, so MODEL and --camera have to be stated"),
            ("two", "slcamera uri=${source} ! %s ! slpredict inference-region=roi-list model=${model} ! fakesink" % SEE, "has 2 elements slinfer"),
            ("objects", "slcamera uri=${source} ! %s inference-region=roi-list ! fakesink" % SEE, "the model sees objects that another one finds"),
            ("default", "slcamera uri=${source} ! slpredict ! fakesink", "its slinfer has no model; expected one, or MODEL before the description"),
            ("wrong", "slcamera uri=${source} ! nothing ! fakesink", "wrong.pipeline:")):
        run("calibrate", described(name, launch), "-o", target).expect(1, message)
    run("calibrate", work("nowhere.pipeline"), "-o", target).expect(1, "nowhere.pipeline: no such file")
    path = described("nobody", "slcamera uri=${source} ! %s ! fakesink" % SEE)
    run("calibrate", path, "--set", "sauce=x", "-o", target).expect(1, "sauce")
    gone = run("calibrate", path, "--set", "source=http://me:hidden@127.0.0.1:9/x", "-o", target, env=ALONE).expect(1)
    assert "http://me:***@127.0.0.1:9/x: " in gone.err and "hidden" not in gone.err or "is missing, which slcamera needs" in gone.err, gone
    assert not os.path.exists(target)


harness.main(globals())
