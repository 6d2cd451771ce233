#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""slremote while workers and the broker are killed every 5 to 20 seconds, all but one worker.

    chaos.py SIGHTLINE MODEL [--minutes N] [--cameras N] [--workers N] [--seed N]

Each camera has another picture, whose predictions slinfer gives before. Every line that comes out must be the one of its frame, at most once. To be run by
`meson devenv`, which has the plugin files. Exit status 1 when a line was wrong, came twice, or the process of a camera or of the worker that is not killed ended.
"""
import argparse
import atexit
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import threading
import time

RATE = 5
SOURCE = ("videotestsrc {live} pattern=ball foreground-color={colour} num-buffers={frames} ! "
          "video/x-raw,format=GRAY8,width=96,height=96,framerate=5/1 ! slnormalize ! {element} ! slpostprocess ! application/x-json ! fdsink sync=false")
QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def launch(line, **more):
    return subprocess.Popen(["gst-launch-1.0", "-q", *line.split()], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, **more)


def told(line):
    """Which frame a line is of, what it says of that, and its age. A live source begins with part of a frame's time."""
    one = json.loads(line)
    return one["timestamp"] * RATE // 10 ** 9, json.dumps({key: one[key] for key in ("labels", "objects") if key in one}, sort_keys=True), one["latency"]["age"]


def resident(pid):
    with open(f"/proc/{pid}/status") as status:
        return int(next(line for line in status if line.startswith("VmRSS")).split()[1])


class Memory(threading.Thread):
    """KiB of all @processes together, every 5 seconds, from half a minute on: what starting takes is there by then."""

    def __init__(self, processes):
        super().__init__(daemon=True)
        self.processes, self.samples = processes, []
        self.start()

    def run(self):
        time.sleep(30)
        while all(process.poll() is None for process in self.processes):
            try:
                self.samples.append(sum(resident(process.pid) for process in self.processes))
            except (OSError, StopIteration):
                return
            time.sleep(5)

    def parts(self):
        """The mean of the first and of the last fifth of the samples."""
        n = len(self.samples) // 5
        return (sum(self.samples[:n]) / n, sum(self.samples[-n:]) / n) if n > 0 else (0, 0)


class Camera:
    """A process of slremote, and a thread that compares what it writes."""

    def __init__(self, number, model, location, frames):
        colour = 0xff000000 + 0x010101 * (40 + 50 * number % 200)
        reference = launch(SOURCE.format(live="", colour=colour, frames=frames, element=f"slinfer model={model}"))
        self.expected = dict(told(line)[:2] for line in reference.stdout)
        reference.wait()
        self.seen, self.wrong, self.twice, self.ages = set(), 0, 0, []
        element = f"slremote location={location} deadline=1000 contract-timeout=60000"
        self.begun = time.monotonic()
        self.process = launch(SOURCE.format(live="is-live=true", colour=colour, frames=frames, element=element))
        self.thread = threading.Thread(target=self.read)
        self.thread.start()

    def read(self):
        for line in self.process.stdout:
            frame, said, age = told(line)
            self.wrong += said != self.expected.get(frame)
            self.twice += frame in self.seen
            self.seen.add(frame)
            self.ages.append((time.monotonic(), age / 1e6))


class Pool:
    """A broker and workers, any of which may be dead."""

    def __init__(self, options, folder):
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            self.port = one.getsockname()[1]
        self.config = os.path.join(folder, "mosquitto.conf")
        with open(self.config, "w") as file:
            file.write(f"listener {self.port} 127.0.0.1\nallow_anonymous true\nuser root\n")
        location = f"mqtt://127.0.0.1:{self.port}/models"
        self.commands = [["mosquitto", "-c", self.config]]
        self.commands += [[options.sightline, "serve", f"chaos={options.model}", "--location", location]] * options.workers
        self.processes = [subprocess.Popen(command, **QUIET) for command in self.commands]
        self.location = location + "/chaos"
        atexit.register(self.close)

    def kill(self, which):
        self.processes[which].kill()
        self.processes[which].wait()

    def start(self, which):
        self.processes[which] = subprocess.Popen(self.commands[which], **QUIET)

    def close(self):
        for process in self.processes:
            process.kill()
            process.wait()


def torment(pool, end, chance):
    """Kills and starts again until @end; gives the times from and to which all were there."""
    whole = []
    deaths = [0, 0]
    while True:
        begun = time.monotonic()
        pause = chance.uniform(5, 20)
        if begun + pause + 4 > end:
            time.sleep(max(0, end - begun))
            whole.append((begun, end))
            return whole, deaths
        time.sleep(pause)
        whole.append((begun, time.monotonic()))
        which = chance.randrange(len(pool.processes))
        pool.kill(which)
        deaths[which > 0] += 1
        time.sleep(chance.uniform(0.2, 3))
        pool.start(which)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sightline")
    parser.add_argument("model")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--cameras", type=int, default=4)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=2026)
    options = parser.parse_args()
    options.sightline, options.model = os.path.abspath(options.sightline), os.path.abspath(options.model)
    frames = int(options.minutes * 60 * RATE)
    with tempfile.TemporaryDirectory() as folder:
        pool = Pool(options, folder)
        cameras = [Camera(i, options.model, pool.location, frames) for i in range(options.cameras)]
        memory = Memory([camera.process for camera in cameras])
        lasting = Memory([subprocess.Popen(pool.commands[1] + ["--name", "lasting"], **QUIET)])
        atexit.register(lasting.processes[0].kill)
        whole, deaths = torment(pool, cameras[0].begun + options.minutes * 60 - 5, random.Random(options.seed))
        alive = all(camera.process.poll() is None for camera in cameras)
        alive_worker = lasting.processes[0].poll() is None
        for camera in cameras:
            camera.thread.join()
        ended = [camera.process.wait() for camera in cameras]
        pool.close()
    lines = sum(len(camera.seen) for camera in cameras)
    wrong, twice = sum(camera.wrong for camera in cameras), sum(camera.twice for camera in cameras)
    ages = sorted(age for camera in cameras for at, age in camera.ages for begin, end in whole if begin + 2 < at < end)
    print(f"{options.minutes} minutes, {options.cameras} cameras, {options.workers} workers: the broker killed {deaths[0]} times, workers {deaths[1]} times")
    print(f"{lines} of {frames * options.cameras} frames with predictions, {wrong} wrong, {twice} twice")
    if ages:
        print(f"age from 2 s after a return on: p50 {1000 * ages[len(ages) // 2]:.0f} ms, p99 {1000 * ages[len(ages) * 99 // 100]:.0f} ms "
              f"({ages[len(ages) * 99 // 100] * RATE:.2f} frames)")
    for who, samples in (("cameras together", memory), ("a worker that nobody killed", lasting)):
        first, last = samples.parts()
        print(f"memory of {who}: {first / 1024:.1f} MiB in the first fifth of the time, {last / 1024:.1f} MiB in the last")
    return 1 if wrong or twice or not alive or not alive_worker or any(ended) else 0


if __name__ == "__main__":
    sys.exit(main())
