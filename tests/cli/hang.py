# SPDX-License-Identifier: LGPL-2.1-or-later
"""sightline predict and what does not move: decoders that hang or crash, pipes, servers and readers that are silent. Whatever it waits for, the next
source goes on and a signal ends it, together with the processes it started."""
import fcntl
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import termios
import time

import harness
from harness import Skip, children, main, model, png, run, work, write
from media import launch
from running import eventually

RED = (255, 0, 0)
# A GIF of 65535 x 65535 pixels without any: what GStreamer's libav demuxer reads for ever, in the versions of Debian 12 and 13.
ENDLESS_GIF = b"GIF89a" + b"\xff" * 4 + bytes(3)


def video(frames):
    path = work("video%d.avi" % frames)
    if not os.path.exists(path):
        launch("videotestsrc", "num-buffers=%d" % frames, "pattern=blue", "!", "video/x-raw,width=64,height=48,framerate=10/1", "!", "jpegenc", "!",
               "avimux", "!", "filesink", "location=" + path)
    return path


def start(*args):
    return subprocess.Popen([harness.PROGRAM, "predict", "--json", "--model", model("brightest_channel.tflite"), *args], stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)


def decoder_of(child):
    """The process that decodes for @child, which the spawner started."""
    spawner, = children(child.pid)
    decoder, = children(spawner)
    return spawner, decoder


def waiting_in(pipe):
    """Bytes."""
    return int.from_bytes(fcntl.ioctl(pipe.fileno(), termios.FIONREAD, bytes(4)), sys.byteorder)


def expect_end(child, number):
    """After @number, and nothing that @child started is left: its pipes are closed at their other ends."""
    child.send_signal(number)
    out, err = child.communicate(timeout=100)
    assert child.returncode == 130, (child.returncode, out, err)
    return out, err


def test_one_initialisation():
    """GStreamer is initialised once, before the decoder's process is forked. Where plugins were loaded for a new registry, threads may run, and then each
    process does it."""
    picture, registry = png("once.png", 5, 5, RED), work("once.bin")
    for fork, times in (("no", (1, 2)), ("yes", (1,))):
        env = dict(os.environ, GST_DEBUG="GST_INIT:4", GST_REGISTRY=registry, GST_REGISTRY_FORK=fork)
        result = run("predict", "--json", "--model", model("brightest_channel.tflite"), picture, env=env)
        assert result.status == 0 and json.loads(result.out)["labels"][0]["label_id"] == 0, (fork, result)
        assert result.err.count("Initializing GStreamer Core Library") in times, (fork, result)


def test_endless_pictures():
    folder = work("pictures")
    os.mkdir(folder)
    pictures = [png("pictures/%d.png" % i, 5, 5, RED) for i in (1, 3, 5)]
    bad = [write("pictures/%d.gif" % i, ENDLESS_GIF) for i in (2, 4)]
    result = run("predict", "--json", "--model", model("brightest_channel.tflite"), "--timeout", "4", folder).expect(1, *[path + ": " for path in bad])
    assert [json.loads(line)["source"] for line in result.out.splitlines()] == pictures, result
    assert result.err.count("\n") == 2, result
    if "given up" in result.err:
        result.expect(1, "2.gif: given up: its decoder made no progress for 4 s (--timeout); it is damaged, or needs longer\n")


def test_decoder_that_stops():
    """No decoder of ours spins on demand, but one that is stopped makes as little progress; twice in a run."""
    child = start("--timeout", "4", video(3000), video(3001), png("last.png", 5, 5, RED))
    for path in (video(3000), video(3001)):
        line = child.stdout.readline()
        while json.loads(line)["source"] != path:
            line = child.stdout.readline()
        os.kill(decoder_of(child)[1], signal.SIGSTOP)
    out, err = child.communicate(timeout=200)
    sources = [json.loads(line)["source"] for line in out.splitlines()]
    assert child.returncode == 1 and sources[-1] == work("last.png"), (child.returncode, sources[-5:], err)
    for path in (video(3000), video(3001)):
        assert (path + ": given up: its decoder made no progress for 4 s (--timeout); it is damaged, or needs longer\n").encode() in err, err


def test_decoder_that_crashes():
    sentences = {signal.SIGABRT: "its decoder crashed (Aborted): it is damaged, or made to do that",
                 signal.SIGKILL: "the process that decodes it was killed: perhaps it needs more memory than there is"}
    for number, sentence in sentences.items():
        child = start(video(3000), png("last.png", 5, 5, RED))
        child.stdout.readline()
        os.kill(decoder_of(child)[1], number)
        out, err = child.communicate(timeout=200)
        assert child.returncode == 1 and json.loads(out.splitlines()[-1])["source"] == work("last.png"), (child.returncode, err)
        assert err.decode() == "sightline predict: %s: %s\n" % (video(3000), sentence), err


def test_signal_while_a_decoder_hangs():
    for number in (signal.SIGINT, signal.SIGTERM):
        child = start("--timeout", "0", video(3000))
        child.stdout.readline()
        spawner, decoder = decoder_of(child)
        os.kill(decoder, signal.SIGSTOP)
        _, err = expect_end(child, number)
        assert err == b"", err
        eventually(lambda: not os.path.exists("/proc/%d" % spawner))  # it ends when nobody can ask it any more


def test_signal_while_a_decoder_spins():
    child = start("--timeout", "0", png("first.png", 5, 5, RED), write("endless.gif", ENDLESS_GIF))
    child.stdout.readline()
    if child.poll() is None:
        child.send_signal(signal.SIGTERM)
    child.communicate(timeout=100)
    assert child.returncode in (1, 130), child.returncode  # 1 where the decoder refuses the file


def test_signal_while_a_pipe_is_silent():
    for number in (signal.SIGINT, signal.SIGTERM):
        pipe = work("pipe%d" % number)
        os.mkfifo(pipe)
        child = start(pipe)
        with open(pipe, "wb") as writer:  # returns when it is opened at the other end, too
            writer.write(b"\x89PNG\r\n\x1a\n")
            writer.flush()
            expect_end(child, number)


def test_quick_pipe():
    """Who writes may be gone before anything is read; a damaged picture is told as one."""
    with open(png("quick.png", 5, 5, RED), "rb") as file:
        data = file.read()
    for name, content, status in (("whole", data, 0), ("cut", data[:40], 1)):
        pipe = work("quick-" + name)
        os.mkfifo(pipe)
        child = start(pipe)
        with open(pipe, "wb") as writer:
            writer.write(content)
        out, err = child.communicate(timeout=100)
        assert child.returncode == status and out.count(b"\n") == 1 - status, (child.returncode, out, err)
        assert status == 0 or b"quick-cut: cannot be decoded: " in err, err


def test_slow_pipe():
    """Data may take longer than the timeout, and a pipe is no file that is damaged."""
    picture, pipe = png("slow.png", 5, 5, RED), work("slow")
    os.mkfifo(pipe)
    child = start("--timeout", "2", pipe)
    with open(picture, "rb") as file, open(pipe, "wb") as writer:
        data = file.read()
        writer.write(data[:40])
        writer.flush()
        time.sleep(2.5)  # nothing happens, which no event tells of
        writer.write(data[40:])
    out, err = child.communicate(timeout=100)
    assert child.returncode == 0 and json.loads(out)["labels"][0]["label"] == "red", (child.returncode, out, err)


def test_signal_while_a_server_is_silent():
    for scheme in ("http", "rtsp"):
        with socket.create_server(("127.0.0.1", 0)) as server:
            server.settimeout(60)
            child = start("--timeout", "0", "%s://127.0.0.1:%d/a" % (scheme, server.getsockname()[1]))
            try:
                peer, _ = server.accept()
            except TimeoutError:
                child.kill()
                raise Skip(child.communicate()[1].decode() or "it asks a proxy")
            with peer:
                expect_end(child, signal.SIGINT)


def test_signal_while_nobody_reads():
    """Standard output is full."""
    child = start(*[video(3000)] * 200)
    full = time.monotonic() + 100
    seen, size = -1, 0
    while seen != size or size == 0:  # a full pipe tells nobody
        assert time.monotonic() < full
        time.sleep(0.5)
        seen, size = size, waiting_in(child.stdout)
    child.send_signal(signal.SIGTERM)
    child.wait(timeout=100)
    child.stdout.close()
    assert child.returncode == 130, child.returncode


def test_killed():
    """What it started ends with it, even when it is killed."""
    child = start(video(3000))
    child.stdout.readline()
    decoder_of(child)
    child.kill()
    child.communicate(timeout=100)  # until the last of them has closed standard error


def test_no_process():
    """With one file to open at a time there is no pair of sockets to a process that decodes."""
    picture = png("alone.png", 8, 8, RED)
    run("predict", "--model", model("brightest_channel.tflite"), picture, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (4, 4))).expect(
        1, "sightline predict: cannot start a process to decode in: Too many open files\n")


main(globals())
