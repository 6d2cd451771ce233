#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""`sightline run` with `[record]` on an RTSP camera of H.264: what keeping the camera's stream costs, and what encoding it again does.

    record.py SIGHTLINE MODEL RTSP_SERVER [SECONDS]

The server (tests/support/rtsp_server) gives colour bars with a patch of noise, 640x360 at 15 frames a second. The same pipeline runs without a recorder, with one that keeps what the
camera encoded, and with one for each encoder that is installed, which gets all frames at their size; in turn, SECONDS each (5) and three rounds.
Processor time of the program alone, start and end left out, in percent of one processor.
"""
import os
import signal
import statistics
import subprocess
import sys
import tempfile

from run import cpu_percent

ROUNDS = 3
CAMERA = ["--port", "0", "--payload", "h264", "--size", "640x360", "--fps", "15", "--pattern", "smpte"]
ENCODERS = ["x264enc", "openh264enc", "vp8enc", "jpegenc"]


def is_installed(encoder):
    return subprocess.run(["gst-inspect-1.0", "--exists", encoder], check=False).returncode == 0


def description(uri, model, record):
    text = "[pipeline]\nlaunch=slcamera uri=%s ! slpredict model=%s ! sltrack ! fakesink\n" % (uri, model)
    return text + ("[record]\non=object\nmin-free=0\nmax-framerate=0\n" + record if record is not None else "")


def main():
    if len(sys.argv) not in (4, 5):
        sys.exit("usage: record.py SIGHTLINE MODEL RTSP_SERVER [SECONDS]")
    program, model, server = sys.argv[1:4]
    seconds = float(sys.argv[4]) if len(sys.argv) == 5 else 5
    camera = subprocess.Popen([server] + CAMERA, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    try:
        uri = camera.stdout.readline().strip()
        with tempfile.TemporaryDirectory() as work:
            cases = {"no recorder": None, "as the camera encoded it": "location=%s\n" % work}
            cases.update((name, "location=%s\nencoder=%s\n" % (work, name)) for name in ENCODERS if is_installed(name))
            spent = {name: [] for name in cases}
            path = os.path.join(work, "record.pipeline")
            for _ in range(ROUNDS):
                for name, record in cases.items():
                    with open(path, "w", encoding="utf-8") as file:
                        file.write(description(uri, os.path.abspath(model), record))
                    spent[name].append(cpu_percent([program, "run", path], seconds))
                    if spent[name][-1] <= 0:
                        sys.exit("record: the pipeline does not run: try sightline run with the model")
    finally:
        camera.send_signal(signal.SIGTERM)
        camera.wait()
    for name, values in spent.items():
        print("%-26s min %6.2f  median %6.2f %%" % (name, min(values), statistics.median(values)))


if __name__ == "__main__":
    main()
