# SPDX-License-Identifier: LGPL-2.1-or-later
"""A worker that takes pictures by HTTP, and forms as clients write them."""
import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import threading

import harness
from harness import Skip, model, run
from running import PATIENCE, eventually


class Server:
    """The worker, its log read line by line."""

    def __init__(self, *args, models=None):
        if "GdkPixbuf" not in run("--version").out.split("without")[0] or "libsoup" not in run("--version").out.split("without")[0]:
            raise Skip("this build takes no pictures by HTTP")
        command = [harness.PROGRAM, "serve", *(models or [model("one_box.tflite"), "colour=" + model("brightest_channel.tflite")]), "--http", "127.0.0.1:0", "--json", *args]
        self.child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.events = []
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        told = eventually(lambda: self.all("http") or self.child.poll() is not None and [""])[-1]
        assert told.endswith(" shows the worker, and takes pictures"), told
        self.port = int(told.split("/")[2].rpartition(":")[2])

    def read(self):
        for line in self.child.stderr:
            with contextlib.suppress(ValueError):  # a line of a sanitizer
                self.events.append(json.loads(line))

    def all(self, name):
        return [event["message"] for event in list(self.events) if event.get("event") == name]

    def send(self, path, body=b"", method="POST", **headers):
        """Status, headers and JSON of the answer."""
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            client.request(method, path, body, {key.replace("_", "-"): value for key, value in headers.items()})
            answer = client.getresponse()
            return answer.status, dict(answer.getheaders()), json.loads(answer.read())
        finally:
            client.close()

    def post(self, path, fields, status=200):
        """A form as requests and most others write it; a value that is bytes is a file."""
        body, kind = form(fields)
        got, _, told = self.send(path, body, Content_Type=kind)
        assert got == status, (path, got, told)
        assert told.get("success", True) == (status == 200), told
        return told

    def raw(self, data):
        """The whole answer to these bytes, b"" where the program hangs up."""
        with socket.create_connection(("127.0.0.1", self.port), PATIENCE) as peer:
            try:
                peer.sendall(data)
                return b"".join(iter(lambda: peer.recv(1 << 16), b""))
            except (ConnectionResetError, BrokenPipeError):
                return b""

    def flood(self, count, chance, mutant, serves):
        """So many requests of mutant(): memory stays, little is told of them, and serves() is asked in between."""
        before = 0
        for i in range(count):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), PATIENCE) as peer:
                peer.sendall(mutant())
                peer.shutdown(socket.SHUT_WR)
                if chance.random() < 0.5:
                    peer.recv(1 << 16)
            if i % 100 == 0:
                assert eventually(serves)
            if i == count // 5:
                before = self.resident()
        assert harness.SANITIZED or self.resident() - before < 20 << 20, (before, self.resident())
        assert len(self.all("trouble")) <= 20

    def resident(self):
        with open("/proc/%d/statm" % self.child.pid, encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")

    def stop(self):
        self.child.send_signal(signal.SIGTERM)
        status = self.child.wait(PATIENCE)
        self.reader.join()
        return status


@contextlib.contextmanager
def server(*args, models=None):
    it = Server(*args, models=models)
    try:
        yield it
    finally:
        it.child.kill()
        it.child.wait()


def form(fields, boundary="0123456789abcdef0123456789abcdef"):
    body = b""
    for name, value in fields.items():
        body += ("--%s\r\nContent-Disposition: form-data; name=\"%s\"" % (boundary, name)).encode()
        if isinstance(value, bytes):
            body += b"; filename=\"%s\"\r\nContent-Type: image/png\r\n\r\n" % name.encode() + value + b"\r\n"
        else:
            body += b"\r\n\r\n" + str(value).encode() + b"\r\n"
    return body + b"--%s--\r\n" % boundary.encode(), "multipart/form-data; boundary=" + boundary


def read(path):
    with open(path, "rb") as file:
        return file.read()


def mutated(chance, body):
    """These bytes with up to five places of them changed, put in or left out."""
    body = bytearray(body)
    for _ in range(chance.randrange(6)):
        if body:
            at = chance.randrange(len(body))
            body[at:at + chance.randrange(3)] = chance.randbytes(chance.randrange(4))
    return bytes(body)
