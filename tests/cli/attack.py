# SPDX-License-Identifier: LGPL-2.1-or-later
"""Files that once broke Sightline, from the shared data, run again by the program: each ends in time, with a sentence, and lets others live."""
import os
import shutil
import signal
import subprocess
import sys
import time

import harness
from harness import SANITIZED, Skip, data, main, png, reserve_port, run, work
from running import answers

SECONDS = 120  # a machine with other work needs some; what used to hang took for ever
PYTHON = "/usr/bin/python3"  # the one that has gi
ESCAPES = ("\033", "\007", "\x9b")


def attack(name):
    return data("attack", name)


def in_shared(args, **more):
    """Runs args in a folder beside which shared/ lies, as the paths inside the files expect."""
    folder = work("project")
    os.makedirs(folder, exist_ok=True)
    link = work("shared")
    if not os.path.islink(link):
        os.symlink(os.path.abspath(harness.DATA), link)
    return run(*args, cwd=folder, timeout=SECONDS, **more)


def test_models_that_fold_for_ever():
    for name in ("mm1k10.tflite", "mm4k12.tflite", "mm1k200.tflite", "foldbomb.tflite"):
        result = run("inspect", attack(name), timeout=SECONDS)
        assert result.status in (0, 1), result
    result = in_shared(["check", attack("fold.pipeline")])
    assert result.status in (0, 1), result


def test_gif_without_pictures():
    attack("hang.gif")
    red = png("red.png", 8, 8, (255, 0, 0))
    result = run("predict", "--model", harness.model("brightest_channel.tflite"), "--timeout", 1, attack("hang.gif"), red, timeout=SECONDS)
    assert result.status == 1 and "hang.gif" in result.err and "red" in result.out, result


def test_password_with_a_hash():
    for command in ("check", "run"):
        result = in_shared([command, attack("mq.pipeline")], env=dict(os.environ, GST_DEBUG="*:2"))
        assert "s3cr" not in result.out + result.err and "et@127" not in result.out + result.err, result


def test_labels_with_escapes():
    red = png("red.png", 8, 8, (255, 0, 0))
    for output in ([], ["--json"]):
        result = run("predict", "--model", harness.model("float_range.tflite"), "--mean", 0, "--std", 255, "--labels", attack("l.txt"), *output, red,
                     timeout=SECONDS)
        assert not any(escape in result.out + result.err for escape in ESCAPES), result


def test_model_overwritten_in_place():
    small = attack("swapfile.sh") and data("models", "person_detect.tflite")
    path, pipeline = work("swapped.tflite"), work("swapped.pipeline")
    shutil.copyfile(data("models", "mobilenet_v1_0.25_128_quant.tflite"), path)
    os.chmod(path, 0o644)
    with open(pipeline, "w", encoding="utf-8") as file:
        file.write("[pipeline]\nlaunch=videotestsrc is-live=true ! slpredict model=%s ! application/x-json ! fdsink\n" % path)
    process = subprocess.Popen([harness.PROGRAM, "run", pipeline], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        for i in range(12):
            line = process.stdout.readline()
            assert line, "it ended: %s" % process.stderr.read()
            if i == 4:
                shutil.copyfile(small, path)
            if i == 8:
                os.truncate(path, 100)
        process.send_signal(signal.SIGINT)
        err = process.communicate(timeout=SECONDS)[1]  # a pipe that is closed before the end is an error of its own
        assert process.returncode in (0, 130), (process.returncode, err)
    finally:
        process.kill()
        process.wait()


def test_overlay_outside_a_frame():
    script = attack("overlay_oob.py")
    if SANITIZED:
        raise Skip("Python does not carry the sanitizer that the plugin is built with")
    if subprocess.run([PYTHON, "-c", "import gi; gi.require_version('GstApp', '1.0')"], capture_output=True, check=False).returncode != 0:
        raise Skip("%s has no GStreamer bindings" % PYTHON)
    environment = dict(os.environ, MALLOC_CHECK_="3", GST_PLUGIN_PATH=os.environ["SIGHTLINE_TEST_PLUGINS"],
                       GST_REGISTRY=work("overlay.registry"))
    for args in (["true"], ["false", "roi"], ["true", "roi"]):
        done = subprocess.run([PYTHON, script, *args], env=environment, capture_output=True, text=True, timeout=SECONDS, check=False)
        assert done.returncode == 0 and "GST_MESSAGE_ERROR" in done.stdout, done


def peak_kib(pid):
    with open("/proc/%d/status" % pid, encoding="ascii") as file:
        for line in file:
            if line.startswith("VmHWM"):
                return int(line.split()[1])
    return 0


def test_endless_part_of_mjpeg():
    port = reserve_port()
    with open(attack("mjpeg_endless.py"), encoding="utf-8") as file:
        script = file.read().replace("8698", str(port))
    server = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    process = None
    try:
        end = time.monotonic() + SECONDS
        while not answers(port):
            assert server.poll() is None and time.monotonic() < end, "the server did not start"
            time.sleep(0.05)
        process = subprocess.Popen([harness.PROGRAM, "predict", "--model", harness.model("brightest_channel.tflite"), "http://127.0.0.1:%d/" % port],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = process.stderr.readline()
        while line and "32" not in line:
            line = process.stderr.readline()
        assert "max-part-bytes" in line, "expected the bound to be named: %s" % line
        assert peak_kib(process.pid) < 500 * 1024, "it took %d KiB" % peak_kib(process.pid)
    finally:
        for each in (process, server):
            if each is not None:
                each.kill()
                each.wait()


main(globals())
