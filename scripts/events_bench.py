#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes notes of many clips into a new folder, and measures how long sightline run takes to index them and to answer.
    scripts/events_bench.py build/tools/sightline FOLDER [--clips 100000] [--picture FILE.jpg]"""
import argparse
import datetime
import json
import os
import random
import re
import subprocess
import time
import urllib.request

LABELS, REGIONS, EVENTS = ("person", "car", "dog", "bicycle"), ("way", "door", "yard"), ("in", "out", "entered", "dwell")
QUESTIONS = ("events?limit=50", "events?region=way&label=car", "events?text=bicy", "events?event=in&kept=0&from=2026-05-01T00:00:00Z", "events/timeline?bucket=hour",
             "events/timeline?bucket=day&region=way", "storage")
TRIES = 10


def write_clip(folder, i, picture):
    at = datetime.datetime(2026, 11, 28) - datetime.timedelta(seconds=300 * i)
    event, label, region = random.choice(EVENTS), random.choice(LABELS), random.choice(REGIONS)
    stem = "%s/door-%s.%03dZ-%s" % (folder, at.strftime("%Y-%m-%dT%H-%M-%S"), i % 1000, event)
    found = {"x": 128, "y": 144, "w": 384, "h": 288, "roi_type": label, "id": 5, "detection": {
        "bounding_box": {"x_min": 0.1, "x_max": 0.4, "y_min": 0.2, "y_max": 0.6}, "confidence": 0.9, "label": label, "label_id": 1}}
    notes = {"clip": os.path.basename(stem) + ".mkv", "picture": None, "source": "door", "event": event, "at": 5, "seconds": 10, "frames": 100, "format": "video/x-h264",
             "width": 1280, "height": 720, "cut": None, "n_events": 1, "events": [{"at": 5, "what": {"event": event, "line": region, "id": 5, "label": label}}],
             "predictions": {"objects": [found]}, "trail": {"labels": [label], "cut": False, "frames": [[i / 10, [0, 5, 0.9, 0.1, 0.2, 0.3, 0.4]] for i in range(100)]}}
    with open(stem + ".mkv", "wb"):
        pass
    if picture:
        with open(stem + ".jpg", "wb") as file:
            file.write(picture)
    with open(stem + ".json", "w", encoding="ascii") as file:
        json.dump(notes, file)


def ask(address):
    with urllib.request.urlopen(address, timeout=60) as answer:
        return json.load(answer)


def measure(program, folder, clips, colors):
    path = os.path.join(folder, "bench.pipeline")
    with open(path, "w", encoding="utf-8") as file:
        file.write("[pipeline]\nlaunch=videotestsrc is-live=true ! video/x-raw,format=RGB,width=64,height=48,framerate=5/1 ! "
                   "slrecord location=%s source=door on=\"\" ! fakesink\n" % folder)
    child = subprocess.Popen([program, "run", "--json", "--http", "127.0.0.1:0", path], stderr=subprocess.PIPE, text=True)
    try:
        base = next(match.group(1) for match in (re.search(r"(http://\S+/) shows", line) for line in child.stderr) if match) + "api/v1/"
        begun = time.monotonic()
        while ask(base + "events?limit=1")["total"] < clips:
            time.sleep(0.2)
        print("index of %d clips: %.1f s" % (clips, time.monotonic() - begun))
        for question in QUESTIONS:
            times = []
            for _ in range(TRIES):
                before = time.monotonic()
                ask(base + question)
                times.append(time.monotonic() - before)
            print("%6.1f ms, at most %.1f: %s" % (1000 * min(times), 1000 * max(times), question))
        while colors and ask(base + "events?limit=1&color=" + colors)["total"] < clips:
            time.sleep(0.5)
        if colors:
            print("colours of all: after %.1f s" % (time.monotonic() - begun))
    finally:
        child.terminate()
        child.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("folder", help="new, or one that an earlier run has filled")
    parser.add_argument("--clips", type=int, default=100000)
    parser.add_argument("--picture", help="of all clips")
    parser.add_argument("--color", help="that of the picture: waits for the colours")
    options = parser.parse_args()
    picture = open(options.picture, "rb").read() if options.picture else None
    if not os.path.isdir(options.folder):
        os.makedirs(options.folder)
        random.seed(1)
        for i in range(options.clips):
            write_clip(options.folder, i, picture)
    for name in os.listdir(options.folder):
        if name.startswith(".sightline-events"):
            os.unlink(os.path.join(options.folder, name))
    measure(options.program, options.folder, options.clips, options.color)


main()
