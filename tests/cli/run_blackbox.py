# SPDX-License-Identifier: LGPL-2.1-or-later
"""Black boxes of sightline run: on a signal, of pipelines that fail or stall, of a process that is killed; each is replayed."""
import os
import signal
import tempfile
import time

import blackbox
import harness
from harness import SANITIZED, Skip, model, run, work, write
from running import Running, eventually, takes_signal

FRAMES = "videotestsrc is-live=true pattern=blue ! video/x-raw,format=RGB,width=32,height=24,framerate=50/1"
MODEL = "slnormalize ! slinfer model=${model} ! slpostprocess ! application/x-json"


def describe(name, launch, more=""):
    text = "[parameters]\nmodel=%s\n[pipeline]\nlaunch=%s\n%s" % (model("brightest_channel.tflite"), launch, more)
    return write(name + ".pipeline", text.encode())


def folder():
    return tempfile.mkdtemp(dir=harness.WORK.name)


def boxes(where):
    """Paths in the folder: black boxes that are whole, and nothing else."""
    paths = [os.path.join(where, name) for name in sorted(os.listdir(where))]
    assert all(path.endswith(".slbox") for path in paths), paths
    return paths


def check(path, reason, least=1):
    """A black box with that in its reason, which replays without a difference. Its inferences as blackbox.read() has them."""
    keys, inferences = blackbox.read(path)
    assert reason in keys["reason"] and keys["inputs"] == "uint8[1,8,8,3];" and len(inferences) >= least, (keys, len(inferences))
    numbers = [number for number, _, _ in inferences]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers))), numbers
    out = run("replay", path).expect(0).out
    finished = sum(1 for _, done, _ in inferences if done)
    assert "%d inferences: %d equal, 0 different, %d had not finished\n" % (len(numbers), finished, len(numbers) - finished) in out, out
    return inferences


def wait_for_frames(n):
    time.sleep(n / 50)


def test_usage():
    run("run", "--blackbox", work("nowhere"), "a.pipeline").expect(2, "--blackbox: expected an existing folder, got '" + work("nowhere"))
    running = Running(describe("without", FRAMES + " ! " + MODEL + " ! fakesink"))
    running.wait_for("running")
    running.child.send_signal(signal.SIGUSR1)
    assert "SIGUSR1, but nothing is recorded: start with --blackbox FOLDER for black boxes" in running.wait_for("black-box")["message"]
    running.stop()
    assert running.status == 0, running.lines


def test_not_all():
    """A pipeline that waits for its next start, and one with a model that has no frame yet; each with the name that its log lines have."""
    where = folder()
    fails = describe("waits", FRAMES + " ! " + MODEL + " ! identity error-after=5 ! fakesink", "restart=on-failure\nbackoff-min=300s\nbackoff-max=300s\n")
    idle = describe("idle", FRAMES + " ! tee name=t ! queue ! " + MODEL + " ! fakesink t. ! queue ! valve drop=true drop-mode=forward-sticky-events ! " + MODEL + " ! fakesink async=false")
    running = Running(fails, idle, "--blackbox", where)
    running.wait_for("waiting")
    running.wait_for("running", 2)
    running.wait_for("black-box")
    running.child.send_signal(signal.SIGUSR1)
    running.wait_for("black-box", 4)
    lines = [(e["pipeline"], e["message"]) for e in running.events() if e["event"] == "black-box"][1:]
    assert ("waits", "SIGUSR1, but the pipeline is not running: no black box") in lines, lines
    assert ("idle", "SIGUSR1: black boxes of 1 of 2 models: the others have not run yet, or several are being written, or nothing could be recorded") in lines, lines
    running.stop()
    assert running.status == 0 and len(boxes(where)) == 2, running.lines


def test_start():
    """Signals while the program starts, and while a pipeline does that has no frame yet: nothing to write, and nothing ends."""
    where = folder()
    early = describe("early", FRAMES + " ! valve name=valve drop=true drop-mode=forward-sticky-events ! " + MODEL + " ! fakesink async=false", "start-timeout=0\n")
    running = Running(early, describe("good", FRAMES + " ! " + MODEL + " ! fakesink"), "--blackbox", where)
    while not takes_signal(running.child.pid, signal.SIGUSR1):
        assert running.child.poll() is None, running.lines
    for _ in range(50):
        running.child.send_signal(signal.SIGUSR1)
        time.sleep(0.005)
    running.wait_for("running")
    running.child.send_signal(signal.SIGUSR1)
    told = "SIGUSR1: black boxes of 0 of 1 models: the others have not run yet, or several are being written, or nothing could be recorded"
    eventually(lambda: any(e["event"] == "black-box" and e["pipeline"] == "early" and e["message"] == told for e in running.events()))
    running.stop()
    assert running.status == 0, running.lines
    assert not any(e["event"] == "running" and e["pipeline"] == "early" for e in running.events()), running.lines
    for path in boxes(where):
        check(path, "SIGUSR1")


def test_names():
    """Two descriptions of one name."""
    where = folder()
    paths = [os.path.join(folder(), "door.pipeline") for _ in range(2)]
    for path in paths:
        os.rename(describe("door", FRAMES + " ! " + MODEL + " ! fakesink"), path)
    running = Running(*paths, "--blackbox", where)
    running.wait_for("running", 2)
    running.child.send_signal(signal.SIGUSR1)
    running.wait_for("black-box", 2)
    running.stop()
    assert sorted(e["pipeline"] for e in running.events() if e["event"] == "black-box") == ["door", "door-2"], running.lines


def test_signal():
    where = folder()
    running = Running(describe("signal", FRAMES + " ! " + MODEL + " ! fakesink"), "--blackbox", where)
    running.wait_for("running")
    for n in (1, 2):
        wait_for_frames(10)
        running.child.send_signal(signal.SIGUSR1)
        message = running.wait_for("black-box", n)["message"]
        path = boxes(where)[n - 1]
        assert message.startswith(path + ": black box of "), message
        assert "of %d inferences" % len(check(path, "SIGUSR1")) in message, message
    running.stop()
    assert running.status == 0 and len(boxes(where)) == 2, running.lines


def test_description():
    """The key of [pipeline], before --blackbox; an element's own property, before both."""
    where, own, last = folder(), folder(), folder()
    running = Running(describe("described", FRAMES + " ! tee name=t ! queue ! slpredict model=${model} ! fakesink t. ! queue ! slnormalize ! "
                               "slinfer model=${model} black-box=%s ! fakesink" % own, "black-box=%s\n" % where), "--blackbox", last)
    running.wait_for("running")
    wait_for_frames(20)
    running.child.send_signal(signal.SIGUSR1)
    running.wait_for("black-box", 2)
    running.stop()
    for path in where, own:
        check(boxes(path)[0], "SIGUSR1")
    assert boxes(last) == []


def test_error():
    where = folder()
    path = describe("fails", FRAMES + " ! " + MODEL + " ! identity error-after=20 ! fakesink", "restart=no\n")
    running = Running(path, "--blackbox", where)
    running.ended()
    assert running.status == 1 and running.wait_for("failed"), running.lines
    box, = boxes(where)
    assert len(check(box, "identity0: ")) <= 21


def test_error_again():
    """A pipeline that fails again and again, in the same words, has the black box of the first time."""
    where = folder()
    path = describe("again", FRAMES + " ! " + MODEL + " ! identity error-after=5 ! fakesink", "restart=on-failure\nbackoff-min=100ms\nbackoff-max=200ms\n")
    running = Running(path, "--blackbox", where)
    running.wait_for("failed", 4)
    running.stop()
    box, = boxes(where)
    check(box, "identity0: ")


def test_stall():
    """Behind the model each frame takes longer than the watchdog waits."""
    where = folder()
    path = describe("stalls", FRAMES + " ! " + MODEL + " ! identity name=slow ! fakesink", "restart=no\nwatchdog=1s\n[element slow]\nsleep-time=3000000\n")
    running = Running(path, "--blackbox", where)
    running.ended()
    assert "no frame for 1 s (watchdog)" in running.wait_for("failed")["message"], running.lines
    box, = boxes(where)
    check(box, "no frame for 1 s (watchdog)")


def on_slow_disk(seconds):
    if "SIGHTLINE_SLOW_DISK" not in os.environ:
        raise Skip("no program of a sanitizer lets itself be slowed")
    return {"LD_PRELOAD": os.environ["SIGHTLINE_SLOW_DISK"], "SLOW_DISK": str(seconds)}


def test_slow_disk():
    """A disk that takes longer than an element may take to stop: both pipelines go on, and the end waits for it."""
    where = folder()
    fails = describe("failsonce", FRAMES + " ! " + MODEL + " ! identity error-after=20 ! fakesink", "restart=on-failure\nbackoff-min=5min\nbackoff-max=5min\n")
    running = Running(fails, describe("healthy", FRAMES + " ! " + MODEL + " ! fakesink"), "--blackbox", where, env=on_slow_disk(6))
    running.wait_for("waiting")
    message = running.wait_for("black-box")["message"]
    path, = boxes(where)
    assert message.startswith(path + ": black box of "), message
    check(path, "identity0: ")
    running.child.send_signal(signal.SIGUSR1)
    eventually(lambda: any(name.endswith(".part") for name in os.listdir(where)))
    running.stop()
    assert running.status == 0 and not any(e["event"] == "stuck" for e in running.events()), running.lines
    _, last = boxes(where)
    check(last, "SIGUSR1")
    assert any(e["event"] == "black-box" and e["message"].startswith(last) for e in running.events()), running.lines


def test_killed():
    where = folder()
    path = describe("killed", FRAMES + " ! " + MODEL + " ! fakesink")
    for number in (signal.SIGKILL, signal.SIGKILL if SANITIZED else signal.SIGSEGV):  # which a sanitizer makes an exit
        running = Running(path, "--blackbox", where)
        running.wait_for("running")
        wait_for_frames(20)
        running.stop(number)
        assert running.status == -number
    assert len(boxes(where)) == 1, "the second start makes a black box of the first recording"
    checked = describe("checked", FRAMES + " ! " + MODEL + " ! fakesink", "black-box=%s\n" % where)
    result = run("check", checked)
    assert result.status == 0 and len(boxes(where)) == 1, "a check leaves the second recording to the next start: %s" % result
    running = Running(path, "--blackbox", where)
    assert "black box of " in running.wait_for("black-box")["message"], running.lines
    running.stop()
    assert running.status == 0 and len(boxes(where)) == 2, running.lines
    for box in boxes(where):
        check(box, "the process that recorded is no more: it crashed or was killed")


harness.main(globals())
