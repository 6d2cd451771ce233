# SPDX-License-Identifier: LGPL-2.1-or-later
"""sightline serve --zmq with clients that do what Frigate's zmq detector does: it asks for the model, sends pictures, waits 200 ms, and makes a new socket after that."""
import contextlib
import ctypes
import ctypes.util
import json
import os
import random
import signal
import socket
import struct
import subprocess
import threading
import time
import urllib.request

import harness
from harness import Skip, model, reserve_port, run, work, write
from running import PATIENCE, eventually

REQ, DEALER, PUSH, LINGER, RCVTIMEO, SNDTIMEO, SNDMORE, RCVMORE = 3, 5, 8, 17, 27, 28, 2, 13
IDENTITY, IPV6, HEARTBEAT_IVL, HEARTBEAT_TIMEOUT = 5, 42, 75, 77
EMPTY = (b'{"shape":[20,6],"dtype":"float32"}', bytes(480))


def library():
    name = ctypes.util.find_library("zmq")
    if name is None:
        raise Skip("libzmq is not installed")
    zmq = ctypes.CDLL(name, use_errno=True)
    zmq.zmq_ctx_new.restype = zmq.zmq_socket.restype = ctypes.c_void_p
    return zmq


class Client:
    """A socket of libzmq; recv() is None after 200 ms, or as long as it is told."""

    def __init__(self, endpoint, kind=REQ, patience_ms=200, options=()):
        self.zmq, self.endpoint, self.kind, self.patience, self.options = library(), endpoint, kind, patience_ms, options
        self.context = ctypes.c_void_p(self.zmq.zmq_ctx_new())
        self.open()

    def open(self):
        self.socket = ctypes.c_void_p(self.zmq.zmq_socket(self.context, self.kind))
        for option, value in ((LINGER, 0), (RCVTIMEO, self.patience), (SNDTIMEO, self.patience)):
            self.zmq.zmq_setsockopt(self.socket, option, ctypes.byref(ctypes.c_int(value)), 4)
        for option, value in self.options:
            value = value if isinstance(value, bytes) else struct.pack("=i", value)
            assert self.zmq.zmq_setsockopt(self.socket, option, value, len(value)) == 0, option
        assert self.zmq.zmq_connect(self.socket, self.endpoint.encode()) == 0

    def close(self):
        self.zmq.zmq_close(self.socket)

    def end(self):
        self.close()
        self.zmq.zmq_ctx_term(self.context)

    def send(self, *parts):
        for i, part in enumerate(parts):
            if self.zmq.zmq_send(self.socket, part, len(part), SNDMORE if i + 1 < len(parts) else 0) < 0:
                return False
        return True

    def recv(self):
        parts, buffer = [], ctypes.create_string_buffer(1 << 16)
        while True:
            size = self.zmq.zmq_recv(self.socket, buffer, len(buffer), 0)
            if size < 0:
                return None
            parts.append(buffer.raw[:size])
            more, length = ctypes.c_int(), ctypes.c_size_t(4)
            self.zmq.zmq_getsockopt(self.socket, RCVMORE, ctypes.byref(more), ctypes.byref(length))
            if not more.value:
                return tuple(parts)

    def ask(self, *parts):
        answer = self.recv() if self.send(*parts) else None
        if answer is None:  # as Frigate does
            self.close()
            self.open()
        return answer

    def detect(self, header, pixels):
        """The rows that are not empty; None after a time-out."""
        answer = self.ask(json.dumps(header).encode(), pixels)
        if answer is None:
            return None
        assert json.loads(answer[0]) == {"shape": [20, 6], "dtype": "float32"} and len(answer) == 2, answer
        rows = [struct.unpack_from("=6f", answer[1], 24 * row) for row in range(20)]
        return [row for row in rows if row[1] > 0]


def picture(width=8, height=8, colour=(0, 0, 200)):
    return {"shape": [1, height, width, 3], "dtype": "uint8", "model_type": "ssd"}, bytes(colour) * (width * height)


@contextlib.contextmanager
def client(endpoint, **more):
    it = Client(endpoint, **more)
    try:
        yield it
    finally:
        it.end()


class Server:
    """The worker, its log read line by line."""

    def __init__(self, endpoint, *args, name="one_box.tflite"):
        command = [harness.PROGRAM, "serve", model(name), "--zmq", endpoint, "--zmq-timeout", "60000", "--json"] + list(args)  # a busy machine
        self.child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.events = []
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        self.event("listening")

    def read(self):
        for line in self.child.stderr:
            with contextlib.suppress(ValueError):  # a line of a sanitizer
                self.events.append(json.loads(line))

    def all(self, name):
        return [event["message"] for event in list(self.events) if event.get("event") == name]

    def event(self, name):
        return eventually(lambda: self.all(name))[-1]

    def stop(self):
        self.child.send_signal(signal.SIGTERM)
        status = self.child.wait(PATIENCE)
        self.reader.join()
        return status


@contextlib.contextmanager
def server(endpoint, *args, **more):
    library()
    it = Server(endpoint, *args, **more)
    try:
        yield it
    finally:
        it.child.kill()
        it.child.wait()


def address(name):
    return "ipc://" + work(name)


def close(got, *expected):
    return len(got) == len(expected) and all(abs(a - b) < 0.01 for a, b in zip(got, expected))


def test_objects():
    """The box of the toy, in each layout and size, through one connection; the model is there before, whatever its name."""
    with server(address("objects")) as serving, client(address("objects"), patience_ms=PATIENCE * 1000) as camera:
        answer, = camera.ask(b'{"model_request": true, "model_name": "yolo.onnx"}')
        told = json.loads(answer)
        assert told["model_available"] is True and told["model_loaded"] is True, told
        assert serving.event("asked") == "a client asks for the model yolo.onnx: one_box.tflite answers"
        for width, height in ((8, 8), (30, 20), (1, 1)):
            header, pixels = picture(width, height)
            row, = camera.detect(header, pixels)
            assert close(row, 1, 200 / 255, 0.25, 0, 0.75, 0.5), row
            again, = camera.detect(header, pixels[1:] + pixels[:1])  # the same header, and another picture
            assert close(again, 0, 200 / 255, 0.25, 0, 0.75, 0.5), again
            planes = b"".join(bytes([value]) * (width * height) for value in (0, 0, 200))
            assert camera.detect(dict(header, shape=[1, 3, height, width]), planes) == [row]
            floats = struct.pack("=%df" % (3 * width * height), *([0, 0, 200 / 255] * (width * height)))
            again, = camera.detect(dict(header, dtype="float32"), floats)
            assert close(again, *row), again
        told = json.loads(camera.ask(b'{"model_data": true, "model_name": "yolo.onnx"}', b"model")[0])
        assert told["model_saved"] is False and told["model_loaded"] is False, told
        assert serving.stop() == 0 and not os.path.exists(work("objects"))


def test_tensors():
    """Pictures of the model's size and type, which are not converted, get the answers of the same pictures as floats, which are; clients take turns."""
    ssd = harness.data("models", "ssd_mobilenet_v1.tflite")
    chance = random.Random(3)
    pictures = [bytes(chance.choices((0, 40, 90, 250), k=30)) * 9000 for _ in range(3)]
    header = {"shape": [1, 300, 300, 3], "dtype": "uint8"}
    with server(address("tensors"), "--threshold", "0.01", "--jobs", "2", name=ssd) as serving, contextlib.ExitStack() as stack:
        cameras = [stack.enter_context(client(address("tensors"), patience_ms=PATIENCE * 1000)) for _ in range(2)]
        expected = [cameras[0].detect(dict(header, dtype="float32"), struct.pack("=270000f", *pixels)) for pixels in pictures]
        assert all(expected) and expected[0] != expected[1] and expected[1] != expected[2], expected
        for i in range(18):
            assert cameras[i % 2].detect(header, pictures[i % 3]) == expected[i % 3], i
        assert serving.stop() == 0


def test_label_map():
    """Numbers are those of the client's map, by name; a class that it has not is left out."""
    names = write("map.txt", b"0  person\n7  BLUE\n")
    with server(address("map"), "--label-map", names) as serving, client(address("map"), patience_ms=PATIENCE * 1000) as camera:
        assert serving.event("labels") == "1 of 2 classes are not in %s, so their objects are left out: green" % names
        row, = camera.detect(*picture())
        assert row[0] == 7, row
        assert camera.detect(*picture(colour=(0, 200, 0))) == []


def test_malformed():
    """Whoever sends something else gets an answer without objects, and others their own."""
    header, pixels = picture()
    bad = [((), None), ((b"{}", pixels), "dtype: expected uint8 or float32, got none"), ((b"\xff", b""), "expected a header of JSON"),
           ((json.dumps(header).encode(),), "expected a picture after the header, got none"),
           ((json.dumps(header).encode(), pixels[:-1]), "expected 192 bytes for the shape, got 191"),
           ((json.dumps(dict(header, shape=[1, 8, 8, 4])).encode(), pixels), "got [1,8,8,4]"),
           ((b'{"model_request":true,"model_name":"%s"}' % (b"x" * 100000), b""), "expected a header of at most 65536 bytes, got 100038")]
    with server(address("bad")) as serving, client(address("bad"), patience_ms=PATIENCE * 1000) as stranger:
        for parts, message in bad[1:]:
            assert stranger.ask(*parts) == EMPTY, parts
            eventually(lambda: any(message in text for text in serving.all("trouble")))
        with client(address("bad"), kind=DEALER) as other:  # no REQ: no part in front that is empty
            other.send(b"x", b"y")
            eventually(lambda: any("expected an empty part in front, as sockets of type REQ send it without ZMQ_REQ_CORRELATE" in text for text in serving.all("trouble")))
        row, = stranger.detect(header, pixels)
        assert row[0] == 1, row
        assert serving.stop() == 0


def test_flood():
    """Thousands of hostile requests leave the memory as it was, and a camera is served meanwhile."""
    count = 500 if harness.SANITIZED else 5000
    chance = random.Random(5)
    pieces = [b"", b"{", b"[" * 5000, b'{"shape":[1,30000,30000,3],"dtype":"uint8"}', b'{"model_data":true}', bytes(3000), json.dumps(picture()[0]).encode()]
    with server(address("flood")) as serving, client(address("flood"), kind=DEALER) as stranger, \
            client(address("flood"), patience_ms=PATIENCE * 1000) as camera:
        def resident():
            with open("/proc/%d/statm" % serving.child.pid, encoding="ascii") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")
        camera.detect(*picture())
        before = resident()
        for i in range(count):
            stranger.send(b"", *(chance.choice(pieces) for _ in range(chance.randrange(1, 6))))
            if i % 100 == 0:
                assert len(camera.detect(*picture())) == 1
        assert harness.SANITIZED or resident() - before < 20 << 20, resident() - before
        assert len(serving.all("trouble")) <= 20
        assert serving.stop() == 0


def test_comes_back():
    """A worker that was killed leaves its socket; the next one takes it over, and the camera goes on by itself."""
    endpoint = address("killed")
    with server(endpoint) as first, client(endpoint) as camera:
        eventually(lambda: camera.detect(*picture()))
        first.child.kill()
        first.child.wait()
        assert camera.detect(*picture()) is None and os.path.exists(work("killed"))
        with server(endpoint):
            assert eventually(lambda: camera.detect(*picture()))[0][0] == 1
            run("serve", model("one_box.tflite"), "--zmq", endpoint).expect(1, "another program listens there already: stop it, or take another address")


def read_status(port):
    with urllib.request.urlopen("http://127.0.0.1:%d/status" % port, timeout=PATIENCE) as page:
        return json.load(page)


def test_cameras():
    """Five at once, each with pictures of its own, and the page counts them."""
    port = reserve_port()
    with server(address("many"), "--jobs", "2", "--http", "127.0.0.1:%d" % port) as serving, contextlib.ExitStack() as stack:
        cameras = [stack.enter_context(client(address("many"), patience_ms=PATIENCE * 1000)) for _ in range(5)]
        wrong = []

        def film(camera, number):
            for _ in range(40):
                row, = camera.detect(*picture(8, 8, (0, 0, 140 + 20 * number)))
                if not close(row, 1, (140 + 20 * number) / 255, 0.25, 0, 0.75, 0.5):
                    wrong.append((number, row))
        threads = [threading.Thread(target=film, args=item) for item in zip(cameras, range(5))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []

        eventually(lambda: read_status(port)["models"][0]["answered"] == 200)
        status = read_status(port)
        assert status["models"][0]["clients"] == 5 and status["state"] == "serving" and status["broker"] == address("many"), status
        assert serving.stop() == 0


def test_turns():
    """Threads that compute and the one that receives take turns at the socket: no picture waits for one that never comes."""
    for jobs, n in (("1", 2), ("3", 2), ("2", 4)):
        with server(address("turns"), "--jobs", jobs) as serving, contextlib.ExitStack() as stack:
            cameras = [stack.enter_context(client(address("turns"), patience_ms=PATIENCE * 1000)) for _ in range(n)]
            count = [0] * n

            def film(number):
                chance = random.Random(number)
                for _ in range(200):
                    count[number] += cameras[number].detect(*picture()) is not None
                    time.sleep(chance.choice((0, 0, 0.0005, 0.001)))
            threads = [threading.Thread(target=film, args=(number,)) for number in range(n)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert count == [200] * n, (jobs, count)
            assert serving.stop() == 0


def test_late():
    """Pictures that wait longer than their client are not computed: many at once, of which one takes longer than that."""
    port = reserve_port()
    with server(address("late"), "--zmq-timeout", "1", "--queue", "1024", "--http", "127.0.0.1:%d" % port) as serving, client(address("late"), kind=DEALER) as camera:
        header, pixels = picture(32, 32)

        def stale():
            for _ in range(200):
                camera.send(b"", json.dumps(header).encode(), pixels)
            return read_status(port)["models"][0]["stale"]
        eventually(stale)
        assert serving.stop() == 0


def test_full():
    """More pictures at once than --queue lets wait: each gets an answer, some without objects, and the log says why."""
    full = "request: too many wait here: take a faster model, or more --jobs"
    with server(address("full"), "--queue", "1") as serving, client(address("full"), kind=DEALER, patience_ms=PATIENCE * 1000) as camera:
        header, pixels = picture(32, 32)

        def refused():
            for _ in range(50):
                camera.send(b"", json.dumps(header).encode(), pixels)
            answers = [camera.recv() for _ in range(50)]
            return all(answer is not None and answer[:2] == (b"", EMPTY[0]) for answer in answers) and full in serving.all("trouble")
        eventually(refused)
        assert serving.stop() == 0


def test_network():
    """TCP of both kinds: clients with names, questions whether the worker is there, and several pictures ahead."""
    port = reserve_port()
    for host in ("127.0.0.1", "[::1]", "*"):
        if host == "[::1]" and not has_ipv6():
            continue
        reached = "tcp://%s:%d" % (host.replace("*", "127.0.0.1"), port)
        alive = [(HEARTBEAT_IVL, 1), (HEARTBEAT_TIMEOUT, PATIENCE * 1000), (IDENTITY, b"camera")] + [(IPV6, 1)] * (host == "[::1]")
        with server("tcp://%s:%d" % (host, port), "--queue", "64") as serving, client(reached, patience_ms=PATIENCE * 1000, options=alive) as camera, \
                client(reached, kind=DEALER, patience_ms=PATIENCE * 1000, options=alive) as ahead:
            header, pixels = picture(64, 64)
            for _ in range(20):
                ahead.send(b"", json.dumps(header).encode(), pixels)
            for _ in range(20):
                assert camera.detect(header, pixels)[0][0] == 1
            for _ in range(20):
                empty, told, rows = ahead.recv()
                assert (empty, told) == (b"", EMPTY[0]) and struct.unpack_from("=f", rows)[0] == 1
            assert serving.all("trouble") == [] and serving.stop() == 0


def has_ipv6():
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


def test_strangers():
    """A socket of another type is refused; of 100 clients as many as there is room for are served, then the next ones."""
    with server(address("strangers"), "--jobs", "2") as serving:
        with client(address("strangers"), kind=PUSH):
            eventually(lambda: any("): expected a socket of type REQ or DEALER, got PUSH" in text for text in serving.all("trouble")))
    with server(address("strangers"), "--jobs", "2") as serving, contextlib.ExitStack() as stack:
        crowd = [stack.enter_context(raw("strangers")) for _ in range(100)]
        eventually(lambda: any("expected at most 64 clients at a time, got one more: close some" in text for text in serving.all("trouble")))
        served = [one for one in crowd if talk(one)]
        assert len(served) == 64, len(served)
        for one in served:
            one.close()
        with client(address("strangers"), patience_ms=PATIENCE * 1000) as camera:
            assert len(camera.detect(*picture())) == 1
        assert serving.stop() == 0


GREETING = b"\xff" + bytes(8) + b"\x7f\3\0NULL" + bytes(48)
READY = b"\4\x19\5READY\x0bSocket-Type\0\0\0\3REQ"


def raw(name):
    it = socket.socket(socket.AF_UNIX)
    it.connect(work(name))  # which waits for its turn only without a timeout
    it.settimeout(PATIENCE)
    return it


def frames(*parts):
    return b"".join(struct.pack(">BQ", 2 + (i + 1 < len(parts)), len(part)) + part for i, part in enumerate(parts))


def talk(it):
    """Whether a raw connection is served."""
    try:
        it.sendall(GREETING + READY + frames(b"", b'{"model_request":true}'))
        got = b""
        while b"model_file" not in got:
            more = it.recv(4096)
            if not more:
                return False
            got += more
    except OSError:
        return False
    return True


def test_hostile():
    """Noise, and real conversations that are changed, cut, and left in the middle; a picture that comes byte by byte is served, and so is a camera beside all that."""
    count = 100 if harness.SANITIZED else 1000
    chance = random.Random(8)
    header, pixels = picture()
    real = GREETING + READY + frames(b"", json.dumps(header).encode(), pixels)
    with server(address("hostile")) as serving, client(address("hostile"), patience_ms=PATIENCE * 1000) as camera, raw("hostile") as slow:
        for i in range(count):
            stream = bytearray(real if i % 3 else chance.randbytes(chance.randrange(200)))
            for _ in range(chance.randrange(4)):
                if stream:
                    stream[chance.randrange(len(stream))] = chance.randrange(256)
            with raw("hostile") as stranger, contextlib.suppress(OSError):
                stranger.sendall(stream[:chance.randrange(len(stream) + 1)])
            slow.sendall(real[i:i + 1])
            if i % 50 == 0:
                assert len(camera.detect(header, pixels)) == 1
        slow.sendall(real[count:])
        got = b""
        while len(got) < 64 + 30 + 2 + 2 + len(EMPTY[0]) + 9 + 480:
            got += slow.recv(4096)
        assert struct.unpack_from("=f", got, len(got) - 480)[0] == 1
        assert len(serving.all("trouble")) <= 20 and serving.stop() == 0


def test_refused():
    library()
    box = model("one_box.tflite")
    write("plain_file", b"")
    for args, message in [
            (("--zmq", "tcp://192.0.2.1:7000"), "--zmq tcp://192.0.2.1:7000: "),
            (("--zmq", address("no/folder/here")), "no such folder %s: make it first" % work("no/folder")),
            (("--zmq", address("plain_file")), "expected a socket or nothing there, got a file: take another path"),
            (("--zmq", address("")), "expected a socket or nothing there, got a folder: take another path"),
            (("--zmq", "ipc:///" + "x" * 200), "expected a path of at most 107 bytes"),
            (("--zmq", address("x"), "--label-map", work("nowhere.txt")), "--label-map: "),
            (("--zmq", address("x"), "--label-map", write("others.txt", b"cat\ndog\n")), "expected names of the model's classes, such as green, blue, got cat")]:
        run("serve", box, *args).expect(1, message)
    assert os.path.exists(work("plain_file"))
    run("serve", model("brightest_channel.tflite"), "--zmq", address("x")).expect(1, "expected a model that finds objects, got decoder labels")
    run("serve", model("add.tflite"), "--zmq", address("x")).expect(1, "add.tflite: expected a model whose input is a picture, got ")
    for args, message in [((box,), "expected --location, such as"), ((box, "--zmq", "x", "--location", "mqtt://a/b"), "expected either --location or --zmq, got both"),
                          ((box, box, "--zmq", address("x")), "expected one model with --zmq, got 2"), ((box, "--threshold", "0.5", "--location", "mqtt://a/b"), "go with --zmq"),
                          ((box, "--zmq", address("x"), "--zmq-timeout", "0"), "--zmq-timeout"), ((box, "--zmq", address("x"), "--threshold", "2"), "--threshold")]:
        run("serve", *args).expect(2, message)


harness.main(globals())
