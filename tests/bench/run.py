#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""`sightline run`: from exec to the first prediction of a file pipeline, and what supervision costs beside gst-launch-1.0.

    run.py SIGHTLINE MODEL [SECONDS]      inside `meson devenv`, so that gst-launch-1.0 finds the plugin

Starts the program anew 40 times on a file of raw 1080p NV12 frames and takes the time to the first byte of output. Then the
same live pipeline, 30 frames a second, runs under gst-launch-1.0 and under `sightline run --stats` in turn, SECONDS each
(5) and three rounds, and their processor times are compared: 40 seconds in all.
"""
import glob
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time

WIDTH, HEIGHT, FRAMES, STARTS, ROUNDS = 1920, 1080, 3, 40, 3
CHAIN = "slnormalize ! slinfer model=%s ! slpostprocess ! "


def first_prediction(program, description):
    """Milliseconds from exec to the first byte of output."""
    began = time.monotonic()
    child = subprocess.Popen([program, "run", description], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    first = os.read(child.stdout.fileno(), 1)
    took = (time.monotonic() - began) * 1e3
    _, err = child.communicate()
    if not first or child.returncode != 0:
        sys.exit("run: the pipeline failed: " + err.decode())
    return took


def cpu_percent(command, seconds):
    """Processor time of a run of some seconds, start and end left out, in percent of one processor."""

    def used(pid):
        """Seconds, of all threads; in nanoseconds where /proc/PID/stat counts hundredths of a second."""
        total = 0
        for path in glob.glob("/proc/%d/task/*/schedstat" % pid):
            with open(path, encoding="ascii") as file:
                total += int(file.read().split()[0])
        return total / 1e9

    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(1)
    before, began = used(child.pid), time.monotonic()
    time.sleep(seconds)
    spent = 100 * (used(child.pid) - before) / (time.monotonic() - began)
    child.send_signal(signal.SIGINT)
    child.wait()
    return spent


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit("usage: run.py SIGHTLINE MODEL [SECONDS]")
    program, model = sys.argv[1:3]
    seconds = float(sys.argv[3]) if len(sys.argv) == 4 else 5
    with tempfile.TemporaryDirectory() as work:
        video, start, live = (os.path.join(work, name) for name in ("frames.nv12", "start.pipeline", "live.pipeline"))
        subprocess.run(["gst-launch-1.0", "-q", "videotestsrc", "num-buffers=%d" % FRAMES, "!",
                        "video/x-raw,format=NV12,width=%d,height=%d" % (WIDTH, HEIGHT), "!", "filesink", "location=" + video],
                       check=True, stdin=subprocess.DEVNULL)
        with open(start, "w", encoding="utf-8") as file:
            file.write("[pipeline]\nlaunch=filesrc location=%s ! rawvideoparse format=nv12 width=%d height=%d ! " % (video, WIDTH, HEIGHT) +
                       CHAIN % model + "application/x-json ! fdsink fd=1\n")
        chain = ("videotestsrc is-live=true pattern=black ! video/x-raw,format=NV12,width=320,height=240,framerate=30/1 ! " + CHAIN % model +
                 "application/x-json ! fakesink")
        with open(live, "w", encoding="utf-8") as file:
            file.write("[pipeline]\nlaunch=" + chain + "\n")
        first_prediction(program, start)
        times = [first_prediction(program, start) for _ in range(STARTS)]
        plain, supervised = [], []
        for _ in range(ROUNDS):
            plain.append(cpu_percent(["gst-launch-1.0", "-q"] + chain.split(), seconds))
            supervised.append(cpu_percent([program, "run", "--stats", live], seconds))
    print("%s, %d starts, %dx%d NV12" % (model, STARTS, WIDTH, HEIGHT))
    print("exec to first prediction   min %6.1f  median %6.1f ms" % (min(times), statistics.median(times)))
    print("processor, gst-launch-1.0  min %6.2f  median %6.2f %%" % (min(plain), statistics.median(plain)))
    print("processor, sightline run   min %6.2f  median %6.2f %%" % (min(supervised), statistics.median(supervised)))


if __name__ == "__main__":
    main()
