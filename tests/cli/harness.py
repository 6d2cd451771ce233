# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs functions named test_* and reports them as TAP; helpers to run the program and to write pictures.

Standard library only. A test script ends with harness.main(globals()) and is called as
SCRIPT PROGRAM MAKE_MODELS [--part=K/N]. Scripts that wait much run in parts, side by side: each part
runs every N-th test, so no test may need what another one left.
"""
import contextlib
import fcntl
import os
import pty
import re
import resource
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import time
import traceback
import zlib

PROGRAM = os.path.abspath(sys.argv[1])
MAKE_MODELS = os.path.abspath(sys.argv[2])
ROOT = os.environ.get("SIGHTLINE_SOURCE_ROOT", ".")
DATA = os.environ.get("SIGHTLINE_TEST_DATA", os.path.join(ROOT, "..", "shared"))
WORK = tempfile.TemporaryDirectory(prefix="sightline-cli-")
HELD = []  # sockets of reserved ports
evidence = []  # functions of the running test; the lines that they return follow its traceback, where it fails
os.environ.setdefault("SIGHTLINE_SYS", os.path.join(WORK.name, "no-sys"))  # what this machine's processor does is no matter of tests
SANITIZED = "ASAN_OPTIONS" in os.environ  # the program is several times slower and keeps what it freed


class Skip(Exception):
    """The test cannot run here; the message says why."""


class Result:
    """What a run of the program left: exit status, stdout and stderr as text."""

    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err

    def __str__(self):
        return "status %d\nstdout: %s\nstderr: %s" % (self.status, self.out, self.err)

    def expect(self, status, *messages):
        """Checks the status and that stderr holds every message, and nothing where success has none; returns self."""
        assert self.status == status, "expected status %d: %s" % (status, self)
        for message in messages:
            assert message in self.err, "expected '%s' in stderr: %s" % (message, self)
        if status == 0 and not messages:
            assert self.err == "", "expected nothing on stderr: %s" % self
        return self


def run(*args, timeout=300, before=(), **more):
    done = subprocess.run([*before, PROGRAM] + [str(a) for a in args], stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout, **more)
    result = Result(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8", "replace"))
    assert done.returncode >= 0, "killed by signal %d: %s" % (-done.returncode, result)
    if "cannot be decoded: no " in result.err and "decoder is installed" in result.err:
        raise Skip("a GStreamer decoder is missing: " + result.err.strip())
    return result


def work(name):
    return os.path.join(WORK.name, name)


def write(name, data):
    path = work(name)
    with open(path, "wb") as file:
        file.write(data)
    return path


def data(*parts):
    """A shared file; skips the test where it is not there."""
    path = os.path.join(DATA, *parts)
    if not os.path.exists(path):
        raise Skip("/".join(parts) + " not found; set SIGHTLINE_TEST_DATA")
    return path


def some_of(folder, every):
    """A folder of links to the first of each @every files of another one."""
    path = work("%s-by-%d" % (os.path.basename(folder), every))
    os.makedirs(path, exist_ok=True)
    for name in sorted(os.listdir(folder))[::every]:
        os.symlink(os.path.abspath(os.path.join(folder, name)), os.path.join(path, name))
    return path


def model(name):
    path = work(name)
    if not os.path.exists(path):
        subprocess.run([MAKE_MODELS, WORK.name], check=True)
    return path


def png(name, width, height, rgb):
    """A picture of one colour as a PNG file."""
    return png_of(name, width, height, [bytes(rgb) * width] * height)


def png_of(name, width, height, rows):
    """A picture as a PNG file, of rows of R, G, B."""

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    packer = zlib.compressobj(1)
    packed = b"".join(packer.compress(b"\0" + row) for row in rows) + packer.flush()
    return write(name, b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
                 chunk(b"IDAT", packed) + chunk(b"IEND", b""))


def reserve_port():
    """A port of 127.0.0.1 that is this process's until it ends. Nobody listens there, and a server that sets SO_REUSEADDR can."""
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind(("127.0.0.1", 0))
    HELD.append(held)
    return held.getsockname()[1]


class Terminal:
    """The program at work with its standard error, and with @both its standard output too, on a terminal."""

    def __init__(self, *args, columns=80, both=False, **environment):
        try:
            self.terminal, child = pty.openpty()
        except OSError as problem:
            raise Skip("no terminal is to be had: %s" % problem) from problem
        fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self.told, self.columns = "", columns
        variables = {**os.environ, "TERM": "xterm", **environment}
        if "NO_COLOR" not in environment:
            variables.pop("NO_COLOR", None)
        self.output = tempfile.TemporaryFile()
        self.child = subprocess.Popen([PROGRAM, *map(str, args)], stdin=subprocess.DEVNULL, stdout=child if both else self.output, stderr=child, env=variables)
        os.close(child)

    def read(self):
        """Whether there was anything to read."""
        try:
            part = os.read(self.terminal, 65536)
        except OSError:  # nobody writes any more
            part = b""
        self.told += part.decode("utf-8", "replace")
        return part != b""

    def wait_for(self, text):
        while text not in self.told:
            assert self.read(), "ended without '%s': %r" % (text, self.told)

    def end(self):
        """Exit status, standard output, and what is on the screen at the end."""
        while self.read():
            pass
        status = self.child.wait()
        os.close(self.terminal)
        self.output.seek(0)
        with self.output:
            return status, self.output.read().decode(), self.screen()

    def screen(self):
        """What stays of the lines that were written over; none was longer than the terminal is wide."""
        screen = []
        for row in self.told.split("\n"):
            versions = re.sub(r"\033\[[\d;]*m", "", row.rstrip("\r")).split("\r\033[K")
            assert all(len(one) < self.columns for one in versions[1:-1]), versions
            screen.append(versions[-1])
        return "\n".join(screen)


def children(process):
    """Numbers of the processes that @process started."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open("/proc/%s/stat" % entry, encoding="utf-8", errors="replace") as file:
                    if int(file.read().rpartition(")")[2].split()[1]) == process:
                        found.append(int(entry))
            except OSError:
                pass
    return found


def kill_children():
    """What a test that failed or was skipped has left: it holds the pipe whose end the caller waits for."""
    for child in children(os.getpid()):
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)


def processor_time():
    """Seconds that this process and the programs that ended have computed."""
    return sum(used.ru_utime + used.ru_stime for used in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


def main(names):
    last = sys.argv[-1]
    part, parts = map(int, last[len("--part="):].split("/")) if last.startswith("--part=") else (1, 1)
    tests = [(name, test) for name, test in names.items() if name.startswith("test_")][part - 1::parts]
    failed = 0
    print("1..%d" % len(tests), flush=True)
    for number, (name, test) in enumerate(tests, 1):
        started, computed = time.monotonic(), processor_time()
        evidence.clear()
        try:
            test()
            print("ok %d %s\n# %.1f s, %.1f s of processor" % (number, name, time.monotonic() - started, processor_time() - computed), flush=True)
        except Skip as reason:
            print("ok %d %s # SKIP %s" % (number, name, str(reason).replace("\n", " ")), flush=True)
        except Exception:
            failed += 1
            print("not ok %d %s" % (number, name))
            for line in traceback.format_exc().splitlines() + [line for words in evidence for line in words()]:
                print("# " + re.sub("[\0-\x1f]", lambda found: "\\x%02x" % ord(found[0]), line))
            sys.stdout.flush()
    kill_children()
    WORK.cleanup()
    sys.exit(1 if failed else 0)
