#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""From exec to the first label, and peak memory, of a whole pipeline on raw 1080p NV12 frames.

    first_label.py MODEL [RUNS]      inside `meson devenv`, so that GStreamer finds the plugin

Starts gst-launch-1.0 anew each time on 30 frames (one more start before counting fills the caches) and takes the time
to the first byte of output, and the kernel's figure for the largest resident set.
"""
import os
import statistics
import subprocess
import sys
import tempfile
import time

WIDTH, HEIGHT, FRAMES = 1920, 1080, 30


def start(model, video):
    """Milliseconds to the first label and peak MiB of one run."""
    command = ["gst-launch-1.0", "-q", "filesrc", "location=" + video, "!", "rawvideoparse", "format=nv12", "width=%d" % WIDTH,
               "height=%d" % HEIGHT, "!", "slnormalize", "!", "slinfer", "model=" + model, "!", "slpostprocess", "!", "text/x-raw", "!",
               "fdsink", "fd=1"]
    began = time.monotonic()
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    first = os.read(child.stdout.fileno(), 1)
    took = (time.monotonic() - began) * 1e3
    child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.stdout.close()
    if not first or status != 0:
        sys.exit("first_label: the pipeline failed: " + " ".join(command))
    return took, usage.ru_maxrss / 1024


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: first_label.py MODEL [RUNS]")
    runs = int(sys.argv[2]) if len(sys.argv) == 3 else 15
    with tempfile.TemporaryDirectory() as work:
        video = os.path.join(work, "frames.nv12")
        subprocess.run(["gst-launch-1.0", "-q", "videotestsrc", "num-buffers=%d" % FRAMES, "!",
                        "video/x-raw,format=NV12,width=%d,height=%d" % (WIDTH, HEIGHT), "!", "filesink", "location=" + video],
                       check=True, stdin=subprocess.DEVNULL)
        start(sys.argv[1], video)
        times, sizes = zip(*(start(sys.argv[1], video) for _ in range(runs)))
    print("%s, %d starts, %dx%d NV12" % (sys.argv[1], runs, WIDTH, HEIGHT))
    print("exec to first label  min %6.1f  median %6.1f ms" % (min(times), statistics.median(times)))
    print("peak resident set    min %6.1f  max    %6.1f MiB" % (min(sizes), max(sizes)))


main()
