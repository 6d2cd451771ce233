# SPDX-License-Identifier: LGPL-2.1-or-later
"""sightline run at work, its log read as it comes."""
import contextlib
import json
import os
import signal
import socket
import subprocess
import threading
import time

import harness

PATIENCE = 200
# The check for leaks of LLVM 14 now and then crashes itself, where a thread ends meanwhile. It says so, finds nothing, and ends the
# program with its own status, 1.
CRASHED_CHECK = ("Tracer caught signal", "LeakSanitizer has encountered a fatal error", "HINT: For debugging, try setting environment variable LSAN_OPTIONS",
                 "HINT: LeakSanitizer does not work under ptrace")
STOPPED = 30  # a moment, which a busy machine stretches; what would hold a program up in these tests lasts a minute


def eventually(what, patience=PATIENCE):
    deadline = time.monotonic() + patience
    while True:
        value = what()
        if value:
            return value
        assert time.monotonic() < deadline, "never: %s" % what
        time.sleep(0.05)


def takes_signal(pid, number):
    """Whether the process has made up its mind about that signal, which then no longer ends it."""
    with open("/proc/%d/status" % pid, encoding="ascii") as file:
        masks = [int(line.split()[1], 16) for line in file if line.startswith(("SigBlk", "SigCgt"))]
    return any(mask >> (number - 1) & 1 for mask in masks)


def answers(port):
    """Whether somebody listens at a port of 127.0.0.1."""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 5):
        return True


class Running:
    """The program at work, its log read line by line as JSON. @patient: on a busy machine its pipelines may need more than the default of 1.8 s to stop.
    @held: seconds that tell a pipeline on a busy machine from one that something holds up."""

    def __init__(self, *args, json_log=True, env=None, stdin=subprocess.DEVNULL, patient=True, held=60):
        patience = ["--stop-timeout=%ds" % (60 if harness.SANITIZED else held)] if patient or harness.SANITIZED else []
        command = [harness.PROGRAM, "run"] + patience + (["--json"] if json_log else []) + [str(a) for a in args]
        self.child = subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(os.environ, **(env or {})))
        self.lines, self.changed, self.check_crashed = [], threading.Condition(), False
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        harness.evidence.append(self.last_words)

    def last_words(self):
        """What is known of the program where a test fails."""
        return ["sightline run: exit status %s, the end of its log:" % self.status] + [line.rstrip() for line in self.lines[-60:] if line]

    def read(self):
        for line in map(bytes.decode, self.child.stderr):
            if harness.SANITIZED and any(words in line for words in CRASHED_CHECK):
                self.check_crashed = True
                continue
            with self.changed:
                self.lines.append(line)
                self.changed.notify_all()
        with self.changed:
            self.lines.append(None)
            self.changed.notify_all()

    def events(self):
        return [json.loads(line) for line in self.lines if line is not None]

    def wait_for(self, event, count=1, timeout=PATIENCE):
        """The count-th event of that name."""
        deadline = time.monotonic() + timeout
        with self.changed:
            while True:
                found = [e for e in self.events() if e["event"] == event]
                if len(found) >= count:
                    return found[count - 1]
                left = deadline - time.monotonic()
                assert left > 0 and None not in self.lines, "no event %s (%d), last %s" % (event, count, self.lines[-6:])
                self.changed.wait(left)

    def stop(self, number=signal.SIGTERM):
        """Seconds until the program was gone."""
        self.child.send_signal(number)
        return self.ended()

    def ended(self, timeout=PATIENCE):
        started = time.monotonic()
        self.child.wait(timeout)
        self.reader.join()
        self.out = self.child.stdout.read()
        self.child.stdout.close()
        self.child.stderr.close()
        return time.monotonic() - started

    def stop_well(self, number=signal.SIGTERM):
        """A signal ends it well; it tells itself what did not stop in time."""
        seconds = self.stop(number)
        assert self.status == 0 and "stuck" not in [event["event"] for event in self.events()], (self.status, seconds, self.lines[-5:])
        assert seconds < STOPPED or harness.SANITIZED, "%.2f s" % seconds

    @property
    def status(self):
        """Exit status; 0 where the check for leaks crashed, because nothing else was found until then."""
        status = self.child.returncode
        return 0 if self.check_crashed and status == 1 else status
