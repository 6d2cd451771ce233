#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Many cameras and several workers over a mosquitto of its own: how fast, how fair, at what cost, and what happens when a worker dies.

fleet.py SIGHTLINE run MODEL      one fleet (--cameras, --rate, --seconds, --workers). --kill ends a worker by SIGKILL in the middle. --delay MS,
                                  --loss PERCENT and --limit MBIT put the cameras into a network namespace behind such a link; that needs
                                  root and a kernel with netem, and says why where it cannot be
fleet.py SIGHTLINE cost MODEL     a model of cost out of three measured fleets, its error on three others (less those that
                                  the machine did not keep up with), and what it says of 100 to 10,000 cameras

Run it by `meson devenv`, which has the plugin files. MODEL takes gray pictures of 96x96, such as person_detect.tflite.
"""
import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time

from remote import Pool, cpu_of

CHAIN = ("videotestsrc is-live=true pattern=black num-buffers={} ! video/x-raw,format=GRAY8,width=96,height=96,framerate={}/1 ! slnormalize ! "
         "slremote name=r{} location={}/bench deadline=1000 ! slpostprocess ! application/x-json ! filesink async=false buffer-mode=unbuffered "
         "location={}/{}.json")
BROKER_SHARE = 0.7  # of a processor that a broker's one thread is planned for


class Skipped(Exception):
    pass


class Link:
    """A network namespace behind a link with delay, loss and a limit, both ways."""

    def __init__(self, delay, loss, limit):
        self.name, self.here, self.there = f"slfleet{os.getpid()}", f"slf{os.getpid()}", f"slg{os.getpid()}"
        self.address, far = "10.213.77.1", "10.213.77.2"
        shape = ["netem", "delay", f"{delay}ms", "loss", f"{loss}%", *(["rate", f"{limit}mbit"] if limit else []), "limit", "100000"]
        if os.geteuid() != 0:
            raise Skipped("network namespaces need root")
        try:
            self.ip("netns", "add", self.name)
            self.ip("link", "add", self.here, "type", "veth", "peer", "name", self.there, "netns", self.name)
            self.ip("addr", "add", f"{self.address}/30", "dev", self.here)
            self.ip("link", "set", self.here, "up")
            self.ip("-n", self.name, "addr", "add", f"{far}/30", "dev", self.there)
            self.ip("-n", self.name, "link", "set", self.there, "up")
            self.call("tc", "qdisc", "add", "dev", self.here, "root", *shape)
            self.call("tc", "-n", self.name, "qdisc", "add", "dev", self.there, "root", *shape)
        except Skipped:
            self.close()
            raise

    @staticmethod
    def call(*command):
        try:
            done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
        except OSError as reason:
            raise Skipped(f"{command[0]}: {reason.strerror}") from reason
        if done.returncode != 0:
            raise Skipped(f"{' '.join(command)}: {done.stderr.strip()}")

    def ip(self, *arguments):
        self.call("ip", *arguments)

    def close(self):
        for command in (["ip", "link", "del", self.here], ["ip", "netns", "del", self.name]):
            subprocess.run(command, stderr=subprocess.DEVNULL, check=False)


def traffic(pool):
    """Bytes that the broker has received and sent."""
    said = subprocess.run(["mosquitto_sub", "-h", pool.address, "-p", str(pool.port), "-t", "$SYS/broker/bytes/+", "-C", "2", "-W", "5"],
                          capture_output=True, encoding="utf-8", check=False).stdout
    return sum(int(line) for line in said.split())


def read_lines(folder, cameras):
    """What each camera wrote, whole lines alone."""
    found = []
    for i in range(cameras):
        with open(os.path.join(folder, f"{i}.json"), encoding="utf-8") as file:
            found.append([json.loads(line) for line in file if line.endswith("\n")])
    return found


def newest(folder):
    """Seconds of stream time that the first camera has come to; it reads next to nothing, since it must not disturb what it measures."""
    with open(os.path.join(folder, "0.json"), "rb") as file:
        file.seek(max(0, os.path.getsize(file.name) - 4096))
        whole = [line for line in file.read().splitlines(keepends=True)[1:] if line.endswith(b"\n")]
    return json.loads(whole[-1])["timestamp"] / 1e9 if whole else 0


class Killer(threading.Thread):
    """Ends a worker by SIGKILL in the middle; the others have its share from then on. @spent: its processor time until then."""

    STEP = 0.05

    def __init__(self, pool, folder, options):
        super().__init__(daemon=True)
        self.pool, self.folder, self.options, self.at, self.killed, self.spent = pool, folder, options, None, None, 0
        self.over = threading.Event()
        self.start()

    def run(self):
        while newest(self.folder) < self.options.seconds / 2:
            if self.over.wait(self.STEP):
                return
        self.at = newest(self.folder)
        self.killed = self.pool.workers.pop(0)
        self.spent = cpu_of(self.killed.pid)
        self.killed.kill()

    def close(self):
        """The cameras are done, and their time is taken, which the dead worker's is not to be added to: who is not dead by now stays alive."""
        self.over.set()
        self.join()
        if self.killed:
            self.killed.wait()


def measure(options, link=None):
    """A dictionary of what one fleet took and gave."""
    with tempfile.TemporaryDirectory() as folder:
        pool = Pool(options.sightline, options.model, options.workers, folder, *([link.address] if link else []))
        frames = options.seconds * options.rate
        for i in range(options.cameras):
            open(os.path.join(folder, f"{i}.json"), "w", encoding="utf-8").close()
        line = " ".join(CHAIN.format(frames, options.rate, i, pool.location, folder, i) for i in range(options.cameras))
        bytes_before, (broker, worker) = traffic(pool), pool.cpu()
        killer = Killer(pool, folder, options) if options.kill else None
        before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        subprocess.run([*(["ip", "netns", "exec", link.name] if link else []), "gst-launch-1.0", "-q", *line.split()], check=True)
        wall, after = time.monotonic() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
        if killer:
            killer.close()
        broker_after, worker_after = pool.cpu()
        worker_after += killer.spent if killer else 0
        time.sleep(1.1)
        moved = traffic(pool) - bytes_before
        pool.close()
        lines = read_lines(folder, options.cameras)
    return {"lines": lines, "asked": frames * options.cameras, "wall": wall, "bytes": moved, "killed": killer.at if killer else None,
            "cpu": {"cameras": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, "workers": worker_after - worker,
                    "broker": broker_after - broker}}


def jain(counts):
    """1: all have the same; 1/n: one has everything."""
    return sum(counts) ** 2 / (len(counts) * sum(n * n for n in counts)) if any(counts) else 0


def tell_death(found, options):
    """How long frames were missing or old after a worker's end, as all cameras together saw it."""
    seen = {(i, one["frame"]): one["latency"]["age"] / 1e6 for i, lines in enumerate(found["lines"]) for one in lines}
    bad, lost, old = found["killed"], 0, 3 / options.rate
    for i in range(options.cameras):
        for frame in range(int(found["killed"] * options.rate) - 1, options.seconds * options.rate):
            age = seen.get((i, frame))
            lost += age is None
            if age is None or age > old:
                bad = max(bad, frame / options.rate)
    print(f"a worker of {options.workers} killed at {found['killed']:.1f} s: {lost} frames without predictions from then on, the last missing or "
          f"older than 3 frames {bad - found['killed']:.1f} s later")


def run(options):
    shaped = options.delay or options.loss or options.limit
    try:
        link = Link(options.delay, options.loss, options.limit) if shaped else None
    except Skipped as reason:
        print(f"skipped: {reason}")
        return 0
    try:
        found = measure(options, link)
    finally:
        if link:
            link.close()
    counts = [len(lines) for lines in found["lines"]]
    ages = sorted(one["latency"]["age"] / 1000 for lines in found["lines"] for one in lines[options.rate:])
    print(f"{options.cameras} cameras at {options.rate} frames a second, {options.workers} workers: {sum(counts)} of {found['asked']} frames with "
          f"predictions, {sum(counts) / found['wall']:.1f} a second; the least of a camera {min(counts)}, fairness (Jain) {jain(counts):.4f}")
    if ages:
        print(f"age p50 {ages[len(ages) // 2]:.1f} ms, p99 {ages[len(ages) * 99 // 100]:.1f} ms, most {ages[-1]:.1f} ms")
    print(f"broker: {found['bytes'] / found['asked']:.0f} bytes a frame, in and out together")
    for who, took in found["cpu"].items():
        print(f"{who}: {100 * took / found['wall']:.1f} % of a processor, {1000 * took / found['asked']:.3f} ms a frame")
    if found["killed"] is not None:
        tell_death(found, options)
    elif options.kill:
        print(f"no worker was killed: the first camera never came to {options.seconds / 2:g} s")
    return 0


def fit(points):
    """Two numbers a and b, a for each frame and b for each camera and second, least squares over (frames, camera seconds, value)."""
    ff, fc, cc, fv, cv = (sum(w * p[i] * p[j] for p in points for w in [1 / p[2] ** 2]) for i, j in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2)))
    determinant = ff * cc - fc * fc
    a, b = (fv * cc - cv * fc) / determinant, (cv * ff - fv * fc) / determinant
    return (a, b) if b > 0 else (fv / ff, 0)


def cost(options):
    """Points differ in cameras and rates, so that what a frame costs is told from what a connection costs."""
    fitted, checked = [(20, 5), (80, 5), (20, 20)], [(40, 5), (40, 10), (100, 5)]
    values = {}
    for options.cameras, options.rate in fitted + checked:
        found = measure(options)
        done = sum(len(lines) for lines in found["lines"])
        if done > 0.95 * found["asked"]:
            values[options.cameras, options.rate] = {**found["cpu"], "bytes": found["bytes"]}
        print(f"measured: {options.cameras} cameras at {options.rate} frames a second for {options.seconds} s: {done} of {found['asked']} frames, "
              + ", ".join(f"{who} {took:.2f} s" for who, took in found["cpu"].items()) + f", {found['bytes'] / 1e6:.2f} MB", flush=True)
    checked = [point for point in checked if point in values]
    if any(point not in values for point in fitted) or not checked:
        print("the machine did not keep up with what was asked of it: no model is made of that")
        return 1
    model = {}
    for what in ("cameras", "workers", "broker", "bytes"):
        model[what] = fit([(c * r * options.seconds, c * options.seconds, values[c, r][what]) for c, r in fitted])
        wrong = [(model[what][0] * r + model[what][1]) * c * options.seconds / values[c, r][what] - 1 for c, r in checked]
        unit = "bytes" if what == "bytes" else "us of processor"
        a, b = (n * (1 if what == "bytes" else 1e6) for n in model[what])
        print(f"{what}: {a:.0f} {unit} a frame and {b:.0f} a camera and second; on the other fleets " + ", ".join(f"{100 * w:+.0f} %" for w in wrong))
    print("cameras at 5 a second | MB/s at brokers | processors: cameras, each % | workers | broker | brokers of one thread")
    for cameras in (100, 1000, 10000):
        need = {what: (a * 5 + b) * cameras for what, (a, b) in model.items()}
        print(f"{cameras} | {need['bytes'] / 1e6:.1f} | {100 * need['cameras'] / cameras:.2f} | {need['workers']:.2f} | {need['broker']:.2f} | "
              f"{max(1, -int(-need['broker'] // BROKER_SHARE))}")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sightline")
    parser.add_argument("what", choices=["run", "cost"])
    parser.add_argument("model")
    parser.add_argument("--cameras", type=int, default=100)
    parser.add_argument("--rate", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--kill", action="store_true")
    parser.add_argument("--delay", type=float, default=0, help="milliseconds, each way")
    parser.add_argument("--loss", type=float, default=0, help="percent, each way")
    parser.add_argument("--limit", type=float, default=0, help="Mbit/s, each way")
    options = parser.parse_args()
    options.sightline, options.model = os.path.abspath(options.sightline), os.path.abspath(options.model)
    if options.kill and options.workers < 2:
        parser.error("--kill needs --workers 2 or more")
    return {"run": run, "cost": cost}[options.what](options)


if __name__ == "__main__":
    sys.exit(main())
