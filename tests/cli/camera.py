# SPDX-License-Identifier: LGPL-2.1-or-later
"""Cameras of the tests: they send pictures over HTTP, and go away."""
import os
import socket
import threading
import time

ALONE = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}


class Camera(threading.Thread):
    """A server of MJPEG that ends each connection after some pictures; of @pictures: connections, then no more. @head: what it says of itself; @rate: pictures
    a second, without which it sends as fast as they are taken."""

    def __init__(self, picture, counts, head=b"Content-Type: multipart/x-mixed-replace; boundary=next\r\n", rate=None):
        super().__init__(daemon=True)
        self.picture, self.counts, self.head, self.pause = picture, counts, head, 1 / rate if rate else 0
        self.server = socket.create_server(("127.0.0.1", 0))
        self.uri = "http://127.0.0.1:%d/video" % self.server.getsockname()[1]
        self.start()

    def serve(self, peer, count):
        request = b""
        while b"\r\n\r\n" not in request:
            got = peer.recv(4096)
            if not got:  # a look whether somebody listens
                return False
            request += got
        peer.sendall(b"HTTP/1.0 200 OK\r\n" + self.head + b"\r\n")
        for _ in range(count):
            peer.sendall(b"--next\r\nContent-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n" % len(self.picture) + self.picture + b"\r\n")
            time.sleep(self.pause)
        return True

    def run(self):
        counts = list(self.counts)
        while counts:
            peer, _ = self.server.accept()
            with peer:
                try:
                    if self.serve(peer, counts[0]):
                        counts.pop(0)
                except OSError:
                    counts.pop(0)


class Hung(Camera):
    """Says that it sends some bytes, sends its picture @count times without what is around it, and keeps the connection."""

    def __init__(self, picture, count):
        super().__init__(picture, [count] * 9, b"Content-Type: application/octet-stream\r\n")

    def serve(self, peer, count):
        if not super().serve(peer, 0):
            return False
        for _ in range(count):
            peer.sendall(self.picture)
        return peer.recv(1) == b""
