# SPDX-License-Identifier: LGPL-2.1-or-later
"""Programs that serve HTTP, for tests: their answers, and streams of pictures."""
import json
import os
import re
import shutil
import socket
import ssl
import struct
import subprocess
import time

from harness import SANITIZED, Skip, work
from running import PATIENCE, Running


class Answer:
    def __init__(self, data):
        head, _, self.body = data.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        self.status = int(lines[0].split(" ")[1]) if lines[0].startswith("HTTP/1.") else 0
        self.headers = {key.lower(): value.strip() for key, _, value in (line.partition(":") for line in lines[1:])}

    @property
    def text(self):
        return self.body.decode("utf-8")

    @property
    def json(self):
        return json.loads(self.body)


class Served(Running):
    """A program that serves at a port of its own choice."""

    def __init__(self, *args, at="127.0.0.1:0", context=None, first_frame=True, **more):
        if context and SANITIZED:  # its leak checker reads thread-local memory of GnuTLS that is gone, and crashes
            more["env"] = {"ASAN_OPTIONS": os.environ["ASAN_OPTIONS"] + ":intercept_tls_get_addr=0"}
        super().__init__(*(["--http", at] if at is not None else []), *args, **more)
        message, count = "", 0
        while not message.endswith(" shows the pipelines"):
            count += 1
            message = self.wait_for("http", count)["message"]
        self.host, self.port = re.match(r"https?://(.*):(\d+)/", message).groups()
        self.host, self.port, self.context = self.host.strip("[]"), int(self.port), context
        if first_frame:
            self.wait_for("running")

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self.child.poll() is None:
            self.stop()
        assert error[0] is not None or self.status == 0, self.lines[-5:]

    def connect(self, timeout=PATIENCE, source="127.0.0.1"):
        plain = socket.create_connection((self.host, self.port), timeout, (source, 0) if self.host == "127.0.0.1" else None)
        return self.context.wrap_socket(plain) if self.context else plain

    def ask(self, request):
        """The whole answer to these bytes, b"" where the program hangs up."""
        try:
            with self.connect() as peer:
                peer.sendall(request)
                return b"".join(iter(lambda: peer.recv(1 << 16), b""))
        except (ConnectionResetError, BrokenPipeError, ssl.SSLEOFError):
            return b""

    def get(self, path, method="GET", **headers):
        headers = {"Host": "127.0.0.1:%d" % self.port, **{key.replace("_", "-"): value for key, value in headers.items()}}
        lines = "".join("%s: %s\r\n" % item for item in headers.items())
        return self.answer(("%s %s HTTP/1.1\r\n%s\r\n" % (method, path, lines)).encode())

    def answer(self, request):
        return Answer(self.ask(request))

    def stream(self, path, accept="*/*"):
        peer = self.connect()
        peer.sendall(("GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: %s\r\n\r\n" % (path, accept)).encode())
        return peer

    def descriptors(self):
        return len(os.listdir("/proc/%d/fd" % self.child.pid))


def read_for(peer, seconds):
    """What comes within so many seconds."""
    data, deadline = b"", time.monotonic() + seconds
    while time.monotonic() < deadline:
        peer.settimeout(max(0.01, deadline - time.monotonic()))
        try:
            piece = peer.recv(1 << 16)
        except socket.timeout:
            break
        if piece == b"":
            break
        data += piece
    return data


def read_until(peer, marker, times=1):
    data = b""
    while data.count(marker) < times:
        piece = peer.recv(1 << 16)
        assert piece, "ended before %r: %r" % (marker, data[-200:])
        data += piece
    return data


def jpeg_size(data):
    assert data[:2] == b"\xff\xd8" and data[-2:] == b"\xff\xd9", data[:20]
    at = 2
    while not 0xC0 <= data[at + 1] <= 0xC3:
        at += 2 + struct.unpack(">H", data[at + 2:at + 4])[0]
    height, width = struct.unpack(">HH", data[at + 5:at + 9])
    return width, height


def certificate(name="server"):
    if shutil.which("openssl") is None:
        raise Skip("openssl is not installed")
    paths = work(name + ".pem"), work(name + ".key")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
                    "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-out", paths[0], "-keyout", paths[1]],
                   check=True, capture_output=True)
    return paths
