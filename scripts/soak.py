#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""`sightline run` for a long time with a camera that keeps going away: does it come back, and does it grow?

    soak.py SIGHTLINE MODEL [--minutes 30] [--source rtsp|failing|steady|watched] [--server RTSP_SERVER] [--every 20,60]
            [--report FILE]

Sources: rtsp, a real RTSP server (tests/support/rtsp_server) that is killed every 20 to 60 seconds (--every) and started again
some seconds later; failing, a source that fails every 4 seconds, so that the supervisor has to start it again; steady,
nothing fails; watched, nothing fails either, and the page of --http has a reader of its picture and one of its predictions, objects come and
go in a zone, and slrecord keeps clips of that within 20 MB (MODEL is one that finds boxes in gray pictures, such as the tests' one_box.tflite).
Without --source it is rtsp where --server exists, else failing.

Bars: each time the source is back, predictions are back within the longest delay between attempts + 2 s; the resident set
grows by less than 1 MB an hour after a warm-up (in runs under 20 minutes: by less than 3 MB in all, since a slope says little
there and malloc's arenas of new threads are still filling; the heap in use does not grow: by mallinfo2() its least in a minute
was 4.47 MB in each from the fourth to the eighth, in which the camera came back some 40 times); no more file descriptors and
threads at the end (median) than after the warm-up (most); in "watched" whole clips of no more than their bytes; the age of predictions stays below 3 frames for 99 %. Exit status 1
when one is not met. A line a minute says how it goes.

Times are those of a machine that has a processor free. How much longer than its processor time a little work takes is measured all
the while, and times may be longer by that factor: nothing on a quiet machine.
"""
import argparse
import hashlib
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

FPS = 15
BACKOFF_S = 2.0
ALLOWED_S = 2.0
CHAIN = (" ! queue max-size-buffers=1 max-size-bytes=0 max-size-time=0 leaky=downstream ! slnormalize ! slinfer model=${model} "
         "! slpostprocess ! application/x-json ! fdsink fd=1 sync=false")
LIVE = "videotestsrc is-live=true%%s ! video/x-raw,format=NV12,width=640,height=480,framerate=%d/1" % FPS
CLIPS_MB = 20
WATCHED = """[zone picture]
points=0,0 1,0 1,1 0,1
[record]
location=%s
on=entered,left
pre-roll=2
post-roll=2
max-size=%d
[http]
listen=127.0.0.1:0
"""
LAUNCH = {
    "rtsp": "slcamera uri=${source} reconnect-min=250 reconnect-max=%d" % (BACKOFF_S * 1000),
    "failing": LIVE % "" + " ! identity name=fails error-after=${frames}",
    "steady": LIVE % "",
    "watched": LIVE % " pattern=zone-plate kx2=0 ky2=0 kt=4" + (" ! queue max-size-buffers=1 max-size-bytes=0 max-size-time=0 leaky=downstream "
                                                                "! slpredict model=${model} threshold=0.5 ! sltrack ! slanalyze ! fakesink"),
}
POLICY = "restart=always\nbackoff-min=250ms\nbackoff-max=%ds\nwatchdog=20s\nstart-timeout=60s\n" % BACKOFF_S


class Server:
    """The RTSP camera, killed and started again by a thread of its own."""

    def __init__(self, path, pauses):
        self.path, self.pauses, self.back = path, pauses, []
        self.held = socket.socket()  # the port is ours while the server is away, too; servers may take what only so is held
        self.held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.held.bind(("127.0.0.1", 0))
        self.port = self.held.getsockname()[1]
        self.stopped = threading.Event()
        self.start()
        self.thread = threading.Thread(target=self.keep_killing, daemon=True)

    def start(self):
        self.child = subprocess.Popen([self.path, "--port", str(self.port), "--fps", str(FPS)], stdout=subprocess.PIPE)
        self.uri = self.child.stdout.readline().decode().strip()

    def keep_killing(self):
        while not self.stopped.wait(random.uniform(*self.pauses)):
            self.child.send_signal(random.choice((signal.SIGKILL, signal.SIGTERM)))
            self.child.wait()
            self.child.stdout.close()
            if self.stopped.wait(random.uniform(1, 5)):
                return
            self.start()
            self.back.append(time.monotonic())

    def stop(self):
        self.stopped.set()
        self.thread.join()
        self.child.kill()
        self.held.close()


class Stretch:
    """A thread that works a little twice a second: how much longer that takes than it has the processor."""

    def __init__(self):
        self.factors, self.ended = [], threading.Event()
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def work(self):
        block = bytes(4 << 20)
        while not self.ended.wait(0.5):
            wall, own = time.monotonic(), time.thread_time()
            hashlib.sha256(block)
            self.factors.append((time.monotonic() - wall) / max(time.thread_time() - own, 1e-4))

    def end(self):
        self.ended.set()
        self.thread.join()
        return max(1.0, percentile(self.factors, 0.95))


def sample(pid):
    """Resident set in bytes, file descriptors, threads."""
    with open("/proc/%d/status" % pid, encoding="ascii", errors="replace") as file:
        status = dict(line.split(":", 1) for line in file if ":" in line)
    return int(status["VmRSS"].split()[0]) * 1024, len(os.listdir("/proc/%d/fd" % pid)), int(status["Threads"])


def slope(points):
    """Least squares of (seconds, bytes), in bytes a second."""
    n = len(points)
    mean_x, mean_y = sum(x for x, _ in points) / n, sum(y for _, y in points) / n
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / spread if spread > 0 else 0.0


def percentile(values, part):
    return sorted(values)[min(len(values) - 1, int(len(values) * part))] if values else 0.0


class Soak:
    """What one run showed: when predictions came and how old they were, when pipelines started again, what the process held."""

    def __init__(self, args, work):
        self.args, self.arrivals, self.ages, self.back, self.samples = args, [], [], [], []
        self.stretch = Stretch()
        self.server = Server(args.server, [float(s) for s in args.every.split(",")]) if args.source == "rtsp" else None
        self.watched, self.clips, self.page, self.serves = args.source == "watched", os.path.join(work, "clips"), None, threading.Event()
        os.mkdir(self.clips)
        path = os.path.join(work, "soak.pipeline")
        with open(path, "w", encoding="utf-8") as file:
            file.write("[pipeline]\nlaunch=%s%s\n%s%s[parameters]\nmodel=%s\nsource=%s\nframes=%d\n" %
                       (LAUNCH[args.source], "" if self.watched else CHAIN, POLICY, WATCHED % (self.clips, CLIPS_MB) if self.watched else "",
                        os.path.abspath(args.model), self.server.uri if self.server else "", FPS * 4))
        self.child = subprocess.Popen([args.sightline, "run", "--json", "--stats", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        readers = (self.read_page, self.read_picture) if self.watched else (self.read_predictions,)
        self.readers = [threading.Thread(target=reader, daemon=True) for reader in (self.read_log,) + readers]

    def predicted(self, line):
        self.arrivals.append(time.monotonic())
        age = (json.loads(line).get("latency") or {}).get("age")
        if age is not None:
            self.ages.append(age / 1e6)

    def read_predictions(self):
        for line in self.child.stdout:
            self.predicted(line)

    def open_page(self, path, accept):
        """What the page gives; in the beginning it has nothing yet."""
        self.serves.wait(60)
        while self.child.poll() is None:
            try:
                return urllib.request.urlopen(urllib.request.Request(self.page + path, headers={"Accept": accept}))
            except OSError:
                time.sleep(0.2)
        return ()

    def read_page(self):
        for line in self.open_page("predictions", "text/event-stream"):
            if line.startswith(b"data:"):
                self.predicted(line[5:])

    def read_picture(self):
        picture = self.open_page("stream.mjpg", "*/*")
        while picture and picture.read1(65536):
            pass

    def clip_files(self):
        """Bytes of all, how many clips there are, and how many files are not whole."""
        names = os.listdir(self.clips)
        clips = [name for name in names if name.endswith(".mkv")]
        torn = [name for name in clips if name[:-3] + "json" not in names] + [name for name in names if name.startswith(".")]
        return sum(os.path.getsize(os.path.join(self.clips, name)) for name in names), len(clips), len(torn)

    def read_log(self):
        for line in self.child.stderr:
            if not line.startswith(b"{"):
                continue  # some encoders have words of their own
            event = json.loads(line)
            if event["event"] == "http":
                self.page = event["message"].split()[0]
                self.serves.set()
            if event["event"] == "failed" and self.args.source == "failing":
                self.back.append(time.monotonic())

    def watch(self, seconds):
        began = said = time.monotonic()
        for reader in self.readers:
            reader.start()
        if self.server is not None:
            self.server.thread.start()
        while time.monotonic() - began < seconds and self.child.poll() is None:
            time.sleep(1)
            self.samples.append((time.monotonic() - began,) + sample(self.child.pid))
            if time.monotonic() - said >= 60:
                said = time.monotonic()
                print("%5.1f min: %d predictions, RSS %.1f MB, %d fds, %d threads" %
                      ((said - began) / 60, len(self.arrivals), self.samples[-1][1] / 1e6, self.samples[-1][2], self.samples[-1][3]), flush=True)

    def stop(self):
        if self.server is not None:
            self.back = list(self.server.back)
            self.server.stop()
        asked = time.monotonic()
        alive = self.child.poll() is None
        self.child.terminate()
        status = self.child.wait(100)
        for reader in self.readers:
            reader.join(10)
        self.clip_bytes, self.n_clips, self.torn = self.clip_files()
        return alive and status == 0, time.monotonic() - asked

    def recoveries(self, until, allowed):
        """Seconds from each return of the source to the next prediction; times too close to the end left out."""
        waits = []
        for back in self.back:
            after = [t for t in self.arrivals if t > back]
            if after or until - back > allowed:
                waits.append(after[0] - back if after else float("inf"))
        return waits


def judge(soak, seconds, clean, stop_s):
    """The figures, and the names of the bars that were not met."""
    until = time.monotonic()
    settled = [s for s in soak.samples if s[0] > max(10, seconds * 0.2)]
    quarter = max(1, len(settled) // 4)
    first, last = settled[:quarter], settled[-quarter:]
    stretch = soak.stretch.end()
    allowed = BACKOFF_S * 1.25 + ALLOWED_S * stretch
    waits = soak.recoveries(until, allowed)
    figures = {
        "minutes": seconds / 60, "source": soak.args.source, "predictions": len(soak.arrivals), "returns": len(waits),
        "slowest_return_s": max(waits, default=0.0), "age_p50_s": percentile(soak.ages, 0.5), "age_p99_s": percentile(soak.ages, 0.99),
        "rss_mb": last[-1][1] / 1e6, "rss_slope_mb_per_h": slope([s[:2] for s in settled]) * 3600 / 1e6,
        "rss_growth_mb": (percentile([s[1] for s in last], 0.5) - percentile([s[1] for s in first], 0.5)) / 1e6,
        "fds_first": max(s[2] for s in first), "fds_last": percentile([s[2] for s in last], 0.5),
        "threads_first": max(s[3] for s in first), "threads_last": percentile([s[3] for s in last], 0.5), "stop_s": stop_s,
        "stretch": stretch, "clips": soak.n_clips, "clips_mb": soak.clip_bytes / 1e6, "torn_clips": soak.torn,
    }
    grew = figures["rss_slope_mb_per_h"] >= 1 if seconds >= 1200 else figures["rss_growth_mb"] >= 3
    bars = {
        "it ran to the end and stopped with status 0": clean, "stopped within 2 s": stop_s < 2.2 * stretch,
        "predictions came": len(soak.arrivals) > seconds, "back in time after each failure": all(w <= allowed for w in waits),
        "memory flat": not grew, "no more file descriptors": figures["fds_last"] <= figures["fds_first"],
        "no more threads": figures["threads_last"] <= figures["threads_first"],
        "whole clips within their bytes": not soak.watched or (soak.n_clips > soak.torn == 0 and soak.clip_bytes <= CLIPS_MB << 20),
        "99 % of predictions younger than 3 frames": figures["age_p99_s"] < 3 / FPS * stretch,
    }
    return figures, [name for name, met in bars.items() if not met]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sightline")
    parser.add_argument("model")
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--source", choices=sorted(LAUNCH))
    parser.add_argument("--server", default="")
    parser.add_argument("--every", default="20,60", help="seconds between two kills of the server, at least and at most")
    parser.add_argument("--report", help="file for the figures as JSON")
    args = parser.parse_args()
    if args.source is None:
        args.source = "rtsp" if os.path.exists(args.server) else "failing"
    if args.source == "rtsp" and not os.path.exists(args.server):
        sys.exit("soak: --source rtsp needs --server, the path of rtsp_server")
    with tempfile.TemporaryDirectory() as work:
        soak = Soak(args, work)
        soak.watch(args.minutes * 60)
        clean, stop_s = soak.stop()
    if len(soak.samples) < 20:
        sys.exit("soak: ended after %d s; see sightline run's messages" % len(soak.samples))
    figures, missed = judge(soak, args.minutes * 60, clean, stop_s)
    print(json.dumps(figures, indent=2))
    if args.report:
        with open(args.report, "w", encoding="utf-8") as file:
            json.dump(figures, file)
    for name in missed:
        print("not met: " + name)
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
