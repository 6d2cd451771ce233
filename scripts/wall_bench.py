#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs cameras of 1280x720 without a model, and measures in turn, with and without a client that asks as the page's wall of cameras does, how
much of a core the program takes. The difference is what the server and the pictures for it cost.
    scripts/wall_bench.py build/tools/sightline FOLDER [--cameras 16] [--rate 5] [--turns 5] [--seconds 5]"""
import argparse
import http.client
import json
import os
import re
import statistics
import subprocess
import threading
import time

TICKS = os.sysconf("SC_CLK_TCK")


def describe(folder, cameras, rate):
    for i in range(cameras):
        path = os.path.join(folder, "camera-%02d.pipeline" % i)
        with open(path, "w", encoding="utf-8") as file:
            file.write("[pipeline]\nlaunch=videotestsrc is-live=true pattern=ball ! video/x-raw,format=I420,width=1280,height=720,framerate=%d/1 ! fakesink\n" % rate)
        yield path


class Wall:
    """What the page asks for while its wall is seen: a small picture a second of each camera, the pipelines every 2 s, the newest events every 5 s."""

    def __init__(self, port, names):
        self.port, self.over, self.bytes, self.asked = port, threading.Event(), 0, 0
        asks = [("/api/v1/pipelines/%s/snapshot.jpg?boxes=0&width=480" % name, 1) for name in names]
        asks += [("/api/v1/pipelines", 2), ("/api/v1/events?limit=12", 5)]
        self.threads = [threading.Thread(target=self.repeat, args=ask) for ask in asks]
        for thread in self.threads:
            thread.start()

    def repeat(self, path, seconds):
        while not self.over.is_set():
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
            connection.request("GET", path)
            answer = connection.getresponse()
            data = answer.read()
            if answer.status == 200:
                self.bytes += len(data)
                self.asked += 1
            connection.close()
            self.over.wait(seconds)

    def end(self):
        self.over.set()
        for thread in self.threads:
            thread.join()


def cpu(pid):
    """Seconds of processor time."""
    with open("/proc/%d/stat" % pid, encoding="ascii") as file:
        fields = file.read().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def share(pid, seconds):
    """Of one core, in percent."""
    begun, before = time.monotonic(), cpu(pid)
    time.sleep(seconds)
    return 100 * (cpu(pid) - before) / (time.monotonic() - begun)


def measure(child, port, names, options):
    without, watched = [], []
    for _ in range(options.turns):
        without.append(share(child.pid, options.seconds))
        wall = Wall(port, names)
        time.sleep(1)
        asked, size = wall.asked, wall.bytes
        watched.append(share(child.pid, options.seconds))
        asked, size = wall.asked - asked, wall.bytes - size
        wall.end()
        print("%5.1f %% of a core without a client, %5.1f %% with one, which got %.1f answers and %.0f kB a second"
              % (without[-1], watched[-1], asked / options.seconds, size / options.seconds / 1000), flush=True)
    differences = [b - a for a, b in zip(without, watched)]
    print("the client costs %.1f %% of a core: the median of %d turns, %.1f to %.1f" % (statistics.median(differences), options.turns, min(differences), max(differences)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("folder", help="for descriptions")
    parser.add_argument("--cameras", type=int, default=16)
    parser.add_argument("--rate", type=int, default=5, help="frames a second of each camera")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=5, help="of each measurement")
    options = parser.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    child = subprocess.Popen([options.program, "run", "--json", "--http", "127.0.0.1:0", *describe(options.folder, options.cameras, options.rate)], stderr=subprocess.PIPE, text=True)
    try:
        port = int(next(match.group(1) for match in (re.search(r"http://\S+:(\d+)/ shows", line) for line in child.stderr) if match))
        threading.Thread(target=child.stderr.read, daemon=True).start()
        names = ["camera-%02d" % i for i in range(options.cameras)]
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
            connection.request("GET", "/api/v1/pipelines")
            if all(pipeline["frames_per_second"] > 0 for pipeline in json.load(connection.getresponse())["pipelines"]):
                break
            time.sleep(0.5)
        measure(child, port, names, options)
    finally:
        child.terminate()
        child.wait()


main()
