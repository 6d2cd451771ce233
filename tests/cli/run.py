# SPDX-License-Identifier: LGPL-2.1-or-later
"""sightline run: pipelines that end, fail, stall, change and do not stop; signals; what a service manager hears."""
import glob
import json
import os
import re
import signal
import socket
import subprocess
import time
import urllib.request
from datetime import datetime

import harness
from harness import Skip, model, reserve_port, run, work, write
from running import PATIENCE, STOPPED, Running, eventually

FRAMES = "videotestsrc is-live=true pattern=blue ! video/x-raw,format=RGB,width=32,height=24,framerate=50/1"
MODEL = "slnormalize ! slinfer model=${model} ! slpostprocess ! application/x-json"


def describe(name, launch, more=""):
    """A description file; the model's path is its parameter."""
    text = "[parameters]\nmodel=%s\n[pipeline]\nlaunch=%s\n%s" % (model("brightest_channel.tflite"), launch, more)
    return write(name + ".pipeline", text.encode())


def test_usage():
    run("run").expect(2, "expected at least one FILE")
    run("run", "--set", "x", "a.pipeline").expect(2, "--set: expected NAME=VALUE, got 'x'")
    run("run", "--dot", work("nowhere"), "a.pipeline").expect(2, "--dot: expected an existing folder, got '" + work("nowhere"))
    run("run", work("missing.pipeline")).expect(1, work("missing.pipeline") + ": no such file")
    run("run", harness.WORK.name).expect(1, "expected a pipeline description, got a directory")
    assert "--stats" in run("run", "--help").expect(0).out


def test_errors_in_files():
    good = describe("good", "fakesrc num-buffers=1 ! fakesink")
    bad = describe("bad", "fakesrc ! fakesnk")
    worse = describe("worse", "fakesrc ! fakesink", "watchdog=soon\n")
    result = run("run", good, bad, worse).expect(1, bad + ":4: [pipeline] launch: no element \"fakesnk\"; did you mean 'fakesink'?",
                                                 worse + ":5: [pipeline] watchdog: expected a time")
    assert "running" not in result.err
    event, = [json.loads(line) for line in run("run", "--json", bad).err.splitlines()]
    assert event["event"] == "bad-description" and event["message"].startswith(bad + ":4: "), event


def test_end_of_stream():
    path = describe("ends", FRAMES.replace("videotestsrc", "videotestsrc num-buffers=20") + " ! " + MODEL + " ! filesink location=${out}",
                    "[parameters]\nout=x\n")
    running = Running(path, "--set", "out=" + work("lines.json"))
    running.ended()
    assert running.status == 0 and [e["event"] for e in running.events()] == ["running", "end-of-stream"], running.lines
    with open(work("lines.json"), encoding="utf-8") as file:
        frames = [json.loads(line) for line in file]
    assert len(frames) == 20 and frames[0]["labels"][0]["label"] == "blue", frames


def test_log_for_people():
    path = describe("people", "videotestsrc num-buffers=2 ! fakesink")
    result = run("run", path)
    assert result.status == 0
    lines = result.err.splitlines()
    assert len(lines) == 2 and " people: running; first frame after " in lines[0] and lines[1].endswith(" people: end of stream"), lines
    for line in lines:
        stamp = line.split(" ")[0]
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d", stamp), line
        age = (datetime.now().astimezone() - datetime.fromisoformat(stamp)).total_seconds()
        assert -1 < age < PATIENCE, line
    east = run("run", path, env=dict(os.environ, TZ="XXX-05:30"))
    assert "+05:30 people: running" in east.err, east


def test_log_for_the_journal():
    path = describe("journal", "videotestsrc num-buffers=2 ! fakesink")
    read, write_end = os.pipe()
    status = os.fstat(write_end)
    for stream, expected in (("%d:%d" % (status.st_dev, status.st_ino), b"<6>journal: "), ("1:2", b"20")):
        child = subprocess.run([harness.PROGRAM, "run", path], stdin=subprocess.DEVNULL, stderr=write_end, timeout=PATIENCE,
                               env=dict(os.environ, JOURNAL_STREAM=stream))
        lines = os.read(read, 65536).splitlines()
        assert child.returncode == 0 and len(lines) == 2 and all(line.startswith(expected) for line in lines), lines
    os.close(read)
    os.close(write_end)


def test_stop_signals():
    for number in (signal.SIGTERM, signal.SIGINT) * 5:  # at its first frame a pipeline is still on its way to playing
        running = Running(describe("live", FRAMES + " ! fakesink"), held=10)
        running.wait_for("running")
        running.stop_well(number)


def is_finished(path):
    """Whether the AVI file has its length and its index."""
    with open(path, "rb") as file:
        data = file.read()
    return int.from_bytes(data[4:8], "little") == len(data) - 8 and b"idx1" in data


def test_stop_finishes_files():
    path = work("film.avi")
    running = Running(describe("film", FRAMES.replace("RGB", "I420") + " ! avimux ! filesink location=" + path))
    running.wait_for("running")
    time.sleep(0.5)
    assert running.stop() < STOPPED and running.status == 0, running.lines
    assert is_finished(path), "the file was not finished"


def test_stop_timeout_finishes_files():
    """The end of stream is behind two seconds of frames, longer than the default waits for it."""
    path = work("long.avi")
    running = Running("--stop-timeout=60s", describe("long", "videotestsrc ! video/x-raw,format=I420,width=64,height=48,framerate=25/1 ! "
                                                     "queue max-size-buffers=20 max-size-bytes=0 max-size-time=0 ! identity sleep-time=100000 ! "
                                                     "avimux ! filesink location=" + path))
    running.wait_for("running")
    running.stop()
    assert running.status == 0 and is_finished(path), running.lines


def test_does_not_stop():
    running = Running("--stop-timeout=700ms", describe("deaf", FRAMES + " ! tee name=t t. ! queue ! fakesink async=false "
                               "t. ! queue ! identity dump=true sleep-time=60000000 ! fakesink async=false"))
    running.wait_for("running")
    running.child.stdout.read(1)  # it shows a frame and goes to sleep
    time.sleep(1)
    seconds = running.stop()
    assert running.status == 1 and seconds < STOPPED, seconds
    assert "did not stop within 0.7 s; ending without it; a longer --stop-timeout gives it more time" in running.wait_for("stuck")["message"]


def test_does_not_stop_after_a_failure():
    running = Running(describe("hang", FRAMES + " ! identity sleep-time=60000000 ! fakesink", "start-timeout=200ms\nrestart=always\n"), patient=False)
    running.ended()
    assert running.status == 1 and "an element does not stop; ending" in running.wait_for("stuck")["message"]


def test_failure_without_restart():
    running = Running(describe("once", "videotestsrc ! identity error-after=3 ! fakesink"))
    running.ended()
    assert running.status == 1 and running.events()[-1]["event"] == "failed" and "identity0: " in running.events()[-1]["message"]
    running = Running(describe("model", FRAMES + " ! " + MODEL + " ! fakesink"), "--set", "model=" + work("no.tflite"))
    running.ended()
    assert running.status == 1 and work("no.tflite") in running.events()[-1]["message"], running.lines


def delay(event):
    return float(event["message"].split()[-2])


def test_restart_on_failure():
    running = Running(describe("again", "videotestsrc ! identity error-after=3 ! fakesink", "restart=on-failure\nbackoff-min=200ms\nbackoff-max=1s\n"))
    delays = [delay(running.wait_for("waiting", n)) for n in range(1, 6)]
    assert running.stop() < STOPPED and running.status == 0
    for got, least in zip(delays, (0.2, 0.4, 0.8, 1, 1)):
        assert least * 0.75 - 0.051 < got < least + 0.051, delays  # told to a tenth of a second
    assert "starts again in" in running.wait_for("waiting")["message"]


class Camera:
    """tests/support/mjpeg_server on one port, to be killed and started again."""

    def __init__(self):
        self.program = os.environ.get("SIGHTLINE_MJPEG_SERVER")
        if not self.program:
            raise Skip("the MJPEG server was not built")
        self.port = reserve_port()  # while the server is away, too
        self.start()

    def start(self):
        self.child = subprocess.Popen([self.program, "--port", str(self.port)], stdout=subprocess.PIPE)
        self.uri = self.child.stdout.readline().decode().strip()

    def kill(self):
        self.child.kill()
        self.child.wait()
        self.child.stdout.close()

    def lose(self, running):
        """Kills it, and waits until the program has noticed."""
        told = len([e for e in running.events() if e["event"] == "warning"])
        self.kill()
        running.wait_for("warning", told + 1)


def test_camera_is_back():
    camera = Camera()
    running = Running(describe("cam", "slcamera name=eye reconnect-min=50 reconnect-max=200 uri=%s ! fakesink" % camera.uri, "watchdog=0\n"), "--stats")
    running.wait_for("running")
    for n in (1, 2):
        camera.lose(running)
        assert not [e for e in running.events() if e["event"] == "recovered"][n - 1:]
        camera.start()
        back = running.wait_for("recovered", n)
        assert back["level"] == "info" and back["pipeline"] == "cam", back
        assert re.fullmatch(r"eye: %s: back after \d+\.\d s" % re.escape(camera.uri), back["message"]), back
    running.stop()
    camera.kill()
    pipeline, = running.events()[-1]["pipelines"]
    assert running.status == 0 and pipeline["recoveries"] == 2 and pipeline["restarts"] == 0, pipeline


def test_record():
    """[record] keeps the camera's own pictures."""
    camera = Camera()
    os.makedirs(work("clips"))
    path = write("recorded.pipeline", ("[pipeline]\nlaunch=slcamera uri=%s ! slpredict model=%s threshold=0 ! sltrack ! fakesink\n"
                                       "[record]\nlocation=%s\nmin-free=0\non=object\npre-roll=0\npost-roll=0.5\n"
                                       % (camera.uri, model("one_box.tflite"), work("clips"))).encode())
    running = Running(path)
    running.wait_for("running")
    eventually(lambda: glob.glob(work("clips/*.mkv")))
    with urllib.request.urlopen(camera.uri) as stream:
        sent = stream.read(65536)
    running.stop()
    camera.kill()
    clip = glob.glob(work("clips/*.mkv"))[0]
    with open(clip, "rb") as file, open(clip[:-len("mkv")] + "json", encoding="utf-8") as notes:
        kept, said = file.read(), json.load(notes)
    picture = sent[sent.index(b"\xff\xd8\xff"):sent.index(b"\xff\xd9") + 2]
    assert said["format"] == "image/jpeg" and said["width"] == 320 and said["height"] == 240, said
    assert len(picture) > 1000 and kept.count(picture) == said["frames"], (len(picture), said)


def test_pipeline_is_back():
    running = Running(describe("comeback", "videotestsrc ! identity error-after=3 ! fakesink", "restart=on-failure\nbackoff-min=100ms\n"))
    back = running.wait_for("recovered")
    assert re.fullmatch(r"back after \d+\.\d s", back["message"]) and back["pipeline"] == "comeback", back
    running.stop()
    order = [e["event"] for e in running.events()][:5]
    assert order == ["running", "failed", "waiting", "running", "recovered"], order


def test_nobody_reads():
    for sink in ("application/x-json ! slpublish location=-", "fdsink fd=1"):
        running = Running(describe("unread", FRAMES + " ! " + MODEL.replace("application/x-json", sink), "restart=always\n"))
        running.child.stdout.read(1)
        running.child.stdout.close()
        running.child.wait(PATIENCE)
        running.reader.join()
        states = [e for e in running.events() if e["event"] != "warning"]  # of lines that are lost
        assert running.status == 1 and states[-1]["event"] == "failed" and "Broken pipe" in states[-1]["message"], running.lines


def test_restart_in_vain():
    """What a second start does not mend ends the pipeline, and the message says so where a restart was asked for."""
    launch, said = FRAMES + " ! slmotion ignore=nonsense ! fakesink", "not started again, since it would fail again"
    run("run", describe("vain", launch, "restart=always\n")).expect(1, "'nonsense': expected [zone NAME]", "; " + said)
    assert said not in run("run", describe("once", launch)).expect(1, "'nonsense': expected [zone NAME]").err
    running = Running(describe("vain", launch, "restart=always\n"), describe("other", FRAMES + " ! fakesink"))
    running.wait_for("running")
    running.wait_for("failed")
    describe("vain", FRAMES + " ! fakesink", "restart=always\n")
    running.child.send_signal(signal.SIGHUP)
    running.wait_for("running", 2)
    assert running.stop() < STOPPED and running.status == 0


def test_restart_always():
    running = Running(describe("ever", "videotestsrc num-buffers=3 ! fakesink", "restart=always\nbackoff-min=10ms\nbackoff-max=20ms\n"))
    running.wait_for("running", 3)
    assert running.stop() < STOPPED and running.status == 0
    one = Running(describe("eos", "videotestsrc num-buffers=3 ! fakesink", "restart=on-failure\n"))
    one.ended()
    assert one.status == 0 and not [e for e in one.events() if e["event"] == "waiting"]


def test_watchdog():
    path = describe("stall", "fdsrc fd=0 blocksize=192 ! rawvideoparse width=8 height=8 format=rgb ! fakesink sync=false",
                    "watchdog=500ms\nrestart=on-failure\nbackoff-min=50ms\n")
    running = Running(path, stdin=subprocess.PIPE)
    running.child.stdin.write(bytes(192 * 3))
    running.child.stdin.flush()
    running.wait_for("running")
    assert "no frame for 0.5 s (watchdog)" in running.wait_for("failed")["message"]
    running.wait_for("waiting")
    running.child.stdin.write(bytes(192 * 3))
    running.child.stdin.flush()
    running.wait_for("running", 2)
    running.stop()
    running.child.stdin.close()
    assert running.status == 0
    assert delay(running.wait_for("recovered")) >= 0.5, "counted from the watchdog, not from the last frame"


def test_camera_away_is_no_stall():
    """The camera is away twice, for longer than the watchdog waits: the pipeline goes on, the time is that since the last frame, and
    what stood in a zone stands there once."""
    camera, lines = Camera(), work("away.json")
    running = Running(describe("patient", "slcamera name=eye reconnect-min=50 reconnect-max=200 uri=%s ! slpredict model=%s track=true ! "
                               "slanalyze confirm=1 patience=2 ! slpublish location=%s" % (camera.uri, model("one_box.tflite"), lines),
                               "watchdog=3s\nrestart=on-failure\n[zone all]\npoints=0,0 1,0 1,1 0,1\n"))
    alive = time.monotonic()  # a moment before the last frame that came
    running.wait_for("running")
    for n in range(1, 3):
        camera.lose(running)
        time.sleep(3.5)
        started = time.monotonic()
        camera.start()
        back = running.wait_for("recovered", n)
        least, most = 3.5, time.monotonic() - alive + 0.1
        assert least <= float(back["message"].split()[-2]) <= most and "eye: " in back["message"], (back, most)
        alive = started
    seen = len(analyses(lines))
    eventually(lambda: len(analyses(lines)) > seen + 50)  # at 20 frames a second, longer than patience
    running.stop()
    camera.kill()
    assert running.status == 0 and "failed" not in [e["event"] for e in running.events()], running.lines
    zone = analyses(lines)[-1]["zones"][0]
    assert (zone["entered"], zone["left"]) == (1, 0) and zone["longest"] > 7, zone


def test_stopped_program_is_no_stall():
    """While the whole program stands still, as where a machine sleeps, the watchdog does not count."""
    path = work("asleep.raw")
    running = Running(describe("asleep", FRAMES + " ! identity sleep-time=100000 ! filesink buffer-mode=unbuffered location=" + path, "watchdog=2s\nrestart=no\n"))
    running.wait_for("running")
    running.child.send_signal(signal.SIGSTOP)
    time.sleep(2.2)
    before = os.path.getsize(path)
    running.child.send_signal(signal.SIGCONT)
    eventually(lambda: os.path.getsize(path) > before or running.child.poll() is not None)
    running.stop()
    assert running.status == 0 and "failed" not in [e["event"] for e in running.events()], running.lines


def test_camera_is_back_is_no_stall():
    """After the camera is back, its first frame has the watchdog's time to reach the sink, whenever the watchdog last saw the camera away."""
    camera, frames = Camera(), work("late.raw")
    running = Running(describe("late", "slcamera reconnect-min=50 reconnect-max=50 uri=%s ! identity sleep-time=1200000 ! filesink buffer-mode=unbuffered location=%s"
                               % (camera.uri, frames), "watchdog=4s\nrestart=no\n"))
    running.wait_for("running")
    for n, seconds in enumerate((4.8, 5.4), 1):  # one or two frames were on their way when it went
        camera.lose(running)
        time.sleep(seconds)
        camera.start()
        running.wait_for("recovered", n)
        before = os.path.getsize(frames)
        eventually(lambda: os.path.getsize(frames) > before or running.child.poll() is not None)
    running.stop()
    camera.kill()
    assert running.status == 0 and "failed" not in [e["event"] for e in running.events()], running.lines


def test_nothing_to_tell_is_no_stall():
    text = FRAMES + " ! " + MODEL.replace("slpostprocess ! application/x-json", "slpostprocess threshold=1 ! text/x-raw") + " ! fakesink name=sink"
    running = Running(describe("quiet", text.replace("blue", "smpte"), "watchdog=5s\n"))
    running.wait_for("running")
    time.sleep(7)
    running.stop()
    assert running.status == 0 and "failed" not in [e["event"] for e in running.events()], running.lines


def test_start_timeout():
    running = Running(describe("never", FRAMES + " ! valve drop=true ! fakesink async=false", "start-timeout=300ms\n"))
    running.ended()
    assert running.status == 1 and "no frame within 0.3 s of its start (start-timeout)" in running.wait_for("failed")["message"]


def test_reload():
    path = describe("reload", FRAMES + " ! fakesink")
    running = Running(path)
    running.wait_for("running")
    running.child.send_signal(signal.SIGHUP)
    assert "the same pipeline" in running.wait_for("reloaded")["message"]
    write("reload.pipeline", b"[pipeline]\nlaunch=fakesrc ! fakesnk\n")
    running.child.send_signal(signal.SIGHUP)
    why = running.wait_for("reload-failed")["message"]
    assert "reload.pipeline:2: [pipeline] launch: no element" in why and "going on with the description before" in why, why
    describe("reload", FRAMES + " ! identity ! fakesink")
    running.child.send_signal(signal.SIGHUP)
    assert "starting the new pipeline" in running.wait_for("reloaded", 2)["message"]
    running.wait_for("running", 2)
    describe("reload", FRAMES + " ! slnormalize ! slinfer model=/no/such.tflite ! fakesink")
    running.child.send_signal(signal.SIGHUP)
    assert "/no/such.tflite" in running.wait_for("failed")["message"]
    assert "going on with the one before" in running.wait_for("reload-failed", 2)["message"]
    running.wait_for("running", 3)
    assert running.stop() < STOPPED and running.status == 0


def analyses(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line)["analysis"] for line in file if line.endswith("\n")]


def test_counts_go_on():
    """Something stands in a zone while the pipeline fails 20 times, is changed 5 times, and the program starts again: it entered once."""
    lines, folder = work("counted.json"), work("state")

    def describe_one(threshold, errors=12):
        return describe("counts", "videotestsrc is-live=true pattern=blue ! video/x-raw,format=RGB,width=64,height=48,framerate=100/1 ! "
                        "identity error-after=%d ! slpredict model=%s track=true threshold=%g ! slanalyze confirm=1 ! slpublish location=%s"
                        % (errors, model("one_box.tflite"), threshold, lines),
                        "restart=on-failure\nbackoff-min=10ms\nbackoff-max=20ms\n[zone all]\npoints=0,0 1,0 1,1 0,1\n")

    path = describe_one(0.3)
    running = Running(path, "--state", folder)
    running.wait_for("running", 21)
    for n in range(5):
        describe_one(0.31 + n / 100, -1)
        starts = len([e for e in running.events() if e["event"] == "running"])
        running.child.send_signal(signal.SIGHUP)
        running.wait_for("reloaded", n + 1)
        running.wait_for("running", starts + 1)
    running.stop()
    assert running.status == 0 and not [e for e in running.events() if e["event"] == "state"], running.lines
    again = Running(path, "--state", folder)
    again.wait_for("running")
    time.sleep(0.3)
    again.stop()
    told = analyses(lines)
    assert len(told) >= 26 and len({a["since"] for a in told}) == 1, (len(told), {a["since"] for a in told})
    assert {a["zones"][0]["entered"] for a in told[1:]} == {1} and {a["zones"][0]["left"] for a in told} == {0}, told
    ids = [i["id"] for a in told for i in a["inside"]]
    assert ids == sorted(ids), "an id came again"
    longest = [a["zones"][0]["longest"] for a in told]
    assert longest == sorted(longest) and longest[-1] > 1, "time inside began again"
    for damage, message in ((b"\0\xff[state", ": expected what an earlier run saved, got something else or a part of it: not used; counts begin at 0"),
                            (b"[state]\nversion=1\npipeline=yard\n", ": expected the state of pipeline counts, got that of 'yard': not used; counts begin at 0")):
        write("state/counts.state", damage)
        bad = Running(path, "--state", folder)
        said = bad.wait_for("state")
        bad.wait_for("running")
        bad.stop()
        assert said["level"] == "warning" and said["message"] == work("state/counts.state") + message, said
    assert analyses(lines)[-1]["since"] > told[-1]["since"]


def test_state_folder():
    """A folder that cannot take the counts is an error before anything starts; one that goes away later is a warning."""
    path = describe("counts", FRAMES + " ! fakesink")
    plain, dangling = write("no-folder", b""), work("dangling")
    os.symlink(work("nowhere"), dangling)
    rest = "; expected a folder that this user can write to: make it, or name another one, or counts do not go on"
    cases = [(plain, "it is a file"), (plain + "/state", "Not a directory"), (dangling, "it is a link to nothing"), ("", "the name is empty"),
             ("/proc/self", "No such file or directory")]
    for folder, why in cases:
        result = run("run", "--json", "--state", folder, path).expect(1)
        event = json.loads(result.err.splitlines()[0])
        assert event["event"] == "bad-state" and event["message"] == "state %s: %s%s" % (folder, why, rest), event
    result = run("run", describe("own", FRAMES + " ! fakesink", "state=%s\n" % plain)).expect(1)
    assert "state %s: it is a file" % plain in result.err, result
    folder = work("gone")
    running = Running(describe("counted", "fdsrc fd=0 blocksize=192 ! rawvideoparse width=8 height=8 format=rgb ! slpredict model=%s track=true ! fakesink"
                               % model("one_box.tflite")), "--state", folder, stdin=subprocess.PIPE)
    running.child.stdin.write(bytes(192))  # nothing is found in a black picture, so there is an id to give
    running.child.stdin.flush()
    eventually(lambda: os.path.exists(os.path.join(folder, "counted.state")))
    os.rename(folder, folder + "-away")
    write("gone", b"")
    running.child.stdin.write(b"\xff" * 192 * 20)  # white ones have an object: its id is new to keep
    running.child.stdin.close()
    running.ended()
    said, = [e for e in running.events() if e["event"] == "state"]
    assert folder in said["message"] and said["message"].endswith(": counts are not kept over the end of the program; trying again"), said
    assert running.status == 0, running.lines


def test_state_names():
    """Names that differ keep apart: a/b, a_b and a%2Fb."""
    folder = work("named")
    counted = "videotestsrc num-buffers=3 ! video/x-raw,width=64,height=48 ! slpredict model=%s track=true ! fakesink" % model("one_box.tflite")
    files = [describe(name, counted, "name=%s\n" % told) for name, told in (("one", "a/b"), ("two", "a_b"), ("three", "a%2Fb"))]
    for _ in range(2):
        running = Running(*files, "--state", folder)
        running.ended()
        assert running.status == 0 and not [e for e in running.events() if e["event"] == "state"], running.lines
    assert sorted(os.listdir(folder)) == ["a%252Fb.state", "a%2Fb.state", "a_b.state"], os.listdir(folder)


def overwrite(path, other):
    """As cp does: the same file, cut short and written anew."""
    with open(other, "rb") as source, open(path, "wb") as target:
        target.write(source.read())


def test_model_file():
    path = write("mine.tflite", open(model("brightest_channel.tflite"), "rb").read())
    running = Running(describe("models", FRAMES + " ! " + MODEL + " ! fakesink"), "--set", "model=" + path)
    running.wait_for("running")
    running.child.send_signal(signal.SIGHUP)
    assert running.wait_for("reloaded")["message"].endswith("the same pipeline; it goes on")
    for _ in range(3):
        open(path, "wb").close()
        overwrite(path, model("one_box.tflite"))
    warning = running.wait_for("warning")["message"]
    assert path + ": the file has changed since the model was loaded; the model goes on as it was" in warning, warning
    running.child.send_signal(signal.SIGHUP)
    assert running.wait_for("reloaded", 2)["message"].endswith("it goes on, and loads what is new: " + path)
    assert path + " runs now" in running.wait_for("model-changed")["message"]
    write("mine.modelinfo", b"[modelinfo]\nversion=1.0\n")
    running.child.send_signal(signal.SIGHUP)
    assert running.wait_for("reloaded", 3)["message"].endswith(work("mine.modelinfo"))
    running.wait_for("model-changed", 2)
    write("beside.tflite", open(model("brightest_channel.tflite"), "rb").read())
    os.rename(work("beside.tflite"), path)
    running.child.send_signal(signal.SIGHUP)
    running.wait_for("model-changed", 3)
    write("beside.tflite", b"TFL3 is not all it takes")
    os.rename(work("beside.tflite"), path)
    running.child.send_signal(signal.SIGHUP)
    while not any("the model was not changed" in e["message"] for e in running.events()):
        running.wait_for("warning", 1 + len([e for e in running.events() if e["event"] == "warning"]))
    reloads = len([e for e in running.events() if e["event"] == "reloaded"])
    os.unlink(path)
    for n in 1, 2:  # it is still missing the second time
        running.child.send_signal(signal.SIGHUP)
        told = running.wait_for("reloaded", reloads + n)
        assert told["message"].endswith("the same pipeline; it goes on; no such file any more: " + path +
                                        ": what was loaded of it runs on, put it back before the next start"), told
        assert told["level"] == "warning", told
    overwrite(path, model("one_box.tflite"))
    changes = len([e for e in running.events() if e["event"] == "model-changed"])
    running.child.send_signal(signal.SIGHUP)
    assert running.wait_for("reloaded", reloads + 3)["message"].endswith("it goes on, and loads what is new: " + path)
    running.wait_for("model-changed", changes + 1)
    assert running.stop() < STOPPED and running.status == 0
    assert not any(e["event"] == "failed" for e in running.events()), running.lines


class Manager:
    """A service manager's socket."""

    def __init__(self, name, **more):
        path = work(name)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(path)
        self.socket.settimeout(PATIENCE)
        self.env = dict(NOTIFY_SOCKET=path, **more)
        self.heard = []

    def wait_for(self, word):
        while not any(word in text for text in self.heard):
            self.heard.append(self.socket.recv(4096).decode())


def test_service_manager():
    manager = Manager("notify", WATCHDOG_USEC="400000")
    path = describe("service", FRAMES + " ! fakesink")
    running = Running(path, env=manager.env)
    manager.wait_for("READY=1")
    assert "STATUS=1 running" in manager.heard[-1], manager.heard
    manager.wait_for("WATCHDOG=1")
    running.child.send_signal(signal.SIGHUP)
    manager.heard.clear()
    manager.wait_for("RELOADING=1\nMONOTONIC_USEC=")
    manager.wait_for("READY=1")
    running.child.send_signal(signal.SIGTERM)
    manager.wait_for("STOPPING=1")
    running.ended()
    assert running.status == 0
    nobody = Running(path, env=dict(NOTIFY_SOCKET=work("nobody")))
    assert "No such file" in nobody.wait_for("notify")["message"]
    nobody.wait_for("running")
    nobody.stop()
    assert nobody.status == 0 and len([e for e in nobody.events() if e["event"] == "notify"]) == 1


def test_service_manager_is_behind():
    manager = Manager("behind", WATCHDOG_USEC="400000")
    crowd = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    crowd.setblocking(False)
    try:
        while True:
            crowd.sendto(b"another service", manager.env["NOTIFY_SOCKET"])
    except BlockingIOError:
        crowd.close()
    running = Running(describe("behind", FRAMES + " ! fakesink"), env=manager.env)
    running.wait_for("running")
    manager.wait_for("READY=1")
    manager.heard.clear()
    manager.wait_for("WATCHDOG=1")
    running.stop()
    assert running.status == 0 and "notify" not in [e["event"] for e in running.events()], running.lines


def test_not_ready_too_early():
    manager = Manager("early")
    running = Running(describe("early", FRAMES + " ! valve drop=true ! fakesink async=false", "start-timeout=1s\nrestart=on-failure\n"), env=manager.env)
    manager.wait_for("STATUS=1 starting")
    assert not any("READY" in text for text in manager.heard)
    manager.wait_for("READY=1")  # a camera that is away does not keep a machine from booting
    assert running.wait_for("failed")
    running.stop()
    assert running.status == 0


def test_several():
    one, two = describe("one", FRAMES + " ! fakesink"), describe("two", "videotestsrc ! identity error-after=2 ! fakesink")
    running = Running(one, two, one)
    running.wait_for("failed")
    running.wait_for("running", 3)
    names = {e["pipeline"] for e in running.events()}
    assert names == {"one", "two", "one-3"}, names
    running.stop()
    assert running.status == 1
    result = run("run", one, two, "--set", "modle=x").expect(1, "--set modle: none of the descriptions has a parameter of that name")
    assert "running" not in result.err


def test_stats():
    running = Running(describe("stats", FRAMES + " ! " + MODEL + " ! fakesink"), "--stats")
    pipeline, seen = None, 1
    while pipeline is None or not 10 < pipeline["fps_in"] < 100:  # a busy machine may take some seconds to get there
        seen += 1
        stats = running.wait_for("stats", seen)
        pipeline, = stats["pipelines"]
    running.stop()
    assert pipeline["name"] == "stats" and pipeline["state"] == "running" and pipeline["restarts"] == 0
    assert 0 < pipeline["fps_out"] < 200 and 0 <= pipeline["dropped"] < 100, pipeline
    for stage in ("preprocess", "inference", "decode", "age"):
        assert 0 <= pipeline[stage + "_us"]["p50"] <= pipeline[stage + "_us"]["p95"], pipeline
    assert stats["rss_mib"] > 1 and stats["threads"] > 1 and stats["cpu_percent"] >= 0


def test_summary():
    path = describe("sum", FRAMES.replace("videotestsrc is-live=true", "videotestsrc num-buffers=20") + " ! " + MODEL + " ! fakesink")
    running = Running(path, "--stats")
    running.ended()
    last = running.events()[-1]
    pipeline, = last["pipelines"]
    assert last["event"] == "summary" and last["cpu_seconds"] > 0 and last["rss_peak_mib"] > 1 and last["seconds"] >= 0, last
    for key, value in dict(name="sum", state="ended", restarts=0, recoveries=0, frames_in=20, frames_out=20, predictions=20, dropped=0).items():
        assert pipeline[key] == value, pipeline
    assert pipeline["age_us"]["p50"] <= pipeline["age_us"]["p95"] and pipeline["fps_out"] > 0, pipeline
    text = run("run", "--stats", path)
    lines = text.err.splitlines()[-3:]
    assert text.status == 0 and lines[0].startswith("summary ") and lines[0].split()[-2:] == ["restarts", "back"], lines
    row = lines[1].split()
    assert row[:2] == ["sum", "ended"] and row[3:7] == ["20", "20", "20", "0"] and row[-2:] == ["0", "0"], lines
    assert re.fullmatch(r"\d+\.\d s, CPU \d+\.\d s, memory \d+\.\d MiB at most", lines[2]), lines
    assert "summary" not in run("run", path).err


def test_summary_over_restarts():
    running = Running(describe("sums", "videotestsrc num-buffers=3 ! fakesink", "restart=always\nbackoff-min=10ms\nbackoff-max=20ms\n"), "--stats")
    running.wait_for("waiting", 4)
    running.stop()
    pipeline, = running.events()[-1]["pipelines"]
    assert pipeline["restarts"] >= 3 and pipeline["frames_in"] >= 9 and pipeline["recoveries"] == 0, pipeline


def test_stats_table():
    import pty
    try:
        main, child = pty.openpty()
    except OSError as error:
        raise Skip(str(error))
    process = subprocess.Popen([harness.PROGRAM, "run", "--stop-timeout=60s", "--stats", describe("table", FRAMES + " ! " + MODEL + " ! fakesink")],
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=child)
    os.close(child)
    shown, deadline = b"", time.monotonic() + PATIENCE
    while (shown.count(b"fps out") < 3 or b" running" not in shown) and time.monotonic() < deadline:
        shown += os.read(main, 65536)
    process.terminate()
    assert process.wait(PATIENCE) == 0
    os.close(main)
    assert b"pipeline" in shown and b"table            running" in shown and b"\033[" in shown and b" MiB, " in shown, shown


def test_dot():
    folder = work("graphs")
    os.mkdir(folder)
    running = Running("--dot", folder, describe("graph", FRAMES + " ! identity error-after=20 ! fakesink"))
    running.ended()
    with open(os.path.join(folder, "graph.dot"), encoding="utf-8") as file:
        assert file.read().startswith("digraph pipeline")
    assert os.path.exists(os.path.join(folder, "graph-failed.dot"))


def test_values_add_no_elements():
    target = work("stolen")
    running = Running(describe("inject", "videotestsrc num-buffers=3 ! identity name=${model} ! fakesink"), "--set",
                      "model=x ! filesink location=" + target)
    running.ended()
    assert not os.path.exists(target)


harness.main(globals())
