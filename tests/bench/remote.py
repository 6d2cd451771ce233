#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What inference on other machines costs, with a mosquitto of its own on loopback.

remote.py SIGHTLINE overhead MODEL    processor time a frame of slinfer, and of slremote with sightline serve and the broker
remote.py SIGHTLINE scale MODEL       frames a second of one worker and of two, each held to a share of a processor (--share) by stopping it

Run it by `meson devenv`, which has the plugin files. fleet.py has many cameras.
"""
import argparse
import atexit
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

TICK = os.sysconf("SC_CLK_TCK")


def cpu_of(pid):
    """Seconds of processor time of a process that runs."""
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Pool:
    """A broker and workers."""

    def __init__(self, sightline, model, workers, folder, address="127.0.0.1"):
        self.address, self.port = address, free_port()
        config = os.path.join(folder, "mosquitto.conf")
        with open(config, "w") as file:
            file.write(f"listener {self.port} {address}\nallow_anonymous true\nuser root\nset_tcp_nodelay true\nsys_interval 1\n")
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.broker = subprocess.Popen(["mosquitto", "-c", config], **quiet)
        self.location = f"mqtt://{address}:{self.port}/models"
        self.workers = [subprocess.Popen([sightline, "serve", f"bench={model}", "--location", self.location], **quiet)
                        for _ in range(workers)]
        for process in [self.broker, *self.workers]:
            atexit.register(process.kill)
        time.sleep(2)

    def cpu(self):
        return cpu_of(self.broker.pid), sum(cpu_of(worker.pid) for worker in self.workers)

    def close(self):
        for worker in self.workers:
            worker.send_signal(signal.SIGTERM)
            worker.wait()
        self.broker.kill()
        self.broker.wait()


def run_line(line):
    """Processor time of gst-launch-1.0 and its wall time."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(["gst-launch-1.0", "-q", *line.split()], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.monotonic() - begun


def overhead(options):
    """A long line and a short one of each kind, whose difference is free of what starting costs."""
    size = "video/x-raw,format=RGB,width=224,height=224,framerate=30/1"
    begin = "videotestsrc pattern=black num-buffers={} ! " + size + " ! slnormalize ! "
    with tempfile.TemporaryDirectory() as folder:
        pool = Pool(options.sightline, options.model, 1, folder)
        kinds = {"slinfer": f"slinfer model={options.model}", "slremote": f"slremote location={pool.location}/bench deadline=60000"}
        best = {}
        for _ in range(options.rounds):
            for kind, element in kinds.items():
                taken = []
                for frames in (20, 20 + options.frames):
                    broker, worker = pool.cpu()
                    here, _ = run_line(begin.format(frames) + element + " ! fakesink sync=false")
                    broker_after, worker_after = pool.cpu()
                    taken.append((here, worker_after - worker, broker_after - broker))
                row = [1000 * (long - short) / options.frames for short, long in zip(*taken)]
                if kind not in best or sum(row[:2]) < sum(best[kind][:2]):
                    best[kind] = row
        pool.close()
    for kind, (here, worker, broker) in best.items():
        print(f"{kind}: {here:.3f} ms a frame in the camera's process, {worker:.3f} in the worker's, {broker:.3f} in the broker's")
    print(f"slremote and serve beyond slinfer: {sum(best['slremote'][:2]) - sum(best['slinfer'][:2]):.3f} ms a frame")


class Pacer(threading.Thread):
    """Lets each process take @share of a processor's time: one that had its time is stopped until there is some again, so a process that others kept from running
    catches up, within a round."""

    ROUND, STEP = 0.2, 0.004

    def __init__(self, processes, share):
        super().__init__(daemon=True)
        self.processes, self.share, self.ends = processes, share, False
        self.start()

    def spent(self):
        """Seconds of processor time of each, in nanoseconds' grain."""
        times = []
        for process in self.processes:
            total = 0
            for task in os.listdir(f"/proc/{process.pid}/task"):
                with open(f"/proc/{process.pid}/task/{task}/schedstat") as stat:
                    total += int(stat.read().split()[0])
            times.append(total / 1e9)
        return times

    def run(self):
        owed = [0.0] * len(self.processes)
        running = [True] * len(self.processes)
        before, last = self.spent(), time.monotonic()
        while not self.ends:
            time.sleep(self.STEP)
            now, spent = time.monotonic(), self.spent()
            for i, process in enumerate(self.processes):
                # What it may take grows with time and is not saved for later beyond a round.
                owed[i] = min(owed[i] + self.share * (now - last), self.share * self.ROUND) - (spent[i] - before[i])
                if running[i] and owed[i] <= 0 or not running[i] and owed[i] > self.share * self.STEP:
                    running[i] = not running[i]
                    process.send_signal(signal.SIGCONT if running[i] else signal.SIGSTOP)
            before, last = spent, now
        for process in self.processes:
            process.send_signal(signal.SIGCONT)


def scale(options):
    """Alternating rounds of one worker and of two, and the best of each: what others take away makes a round slower, never faster than its pace."""
    line = ("videotestsrc pattern=black num-buffers={} ! video/x-raw,format=RGB,width=224,height=224,framerate=30/1 ! slnormalize ! "
            "slremote window=16 location={}/bench deadline=60000 ! fakesink sync=false")
    best = {1: 0, 2: 0}
    for number in range(options.rounds):
        for workers in best:
            with tempfile.TemporaryDirectory() as folder:
                pool = Pool(options.sightline, options.model, workers, folder)
                pacer = Pacer(pool.workers, options.share)
                short, long = (run_line(line.format(n, pool.location))[1] for n in (20, 20 + options.frames))
                pacer.ends = True
                pacer.join()
                pool.close()
            rate = options.frames / (long - short)
            best[workers] = max(best[workers], rate)
            print(f"round {number + 1}, {workers} workers: {rate:.1f} frames a second", flush=True)
    print(f"two to one: {best[2] / best[1]:.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sightline")
    parser.add_argument("what", choices=["overhead", "scale"])
    parser.add_argument("model")
    parser.add_argument("--frames", type=int, default=600)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--share", type=float, default=0.1)
    options = parser.parse_args()
    options.sightline, options.model = os.path.abspath(options.sightline), os.path.abspath(options.model)
    return {"overhead": overhead, "scale": scale}[options.what](options)


if __name__ == "__main__":
    sys.exit(main())
