# SPDX-License-Identifier: LGPL-2.1-or-later
"""[publish] of sightline run, read by a client of RTSP, RTP and XML that shares no code with it."""
import datetime
import hashlib
import os
import re
import signal
import socket
import struct
import xml.etree.ElementTree

import harness
from harness import model, reserve_port, run, write
from running import PATIENCE, Running, eventually

NS = {"tt": "http://www.onvif.org/ver10/schema"}
SOURCE = ("videotestsrc is-live=true ! video/x-raw,format=RGB,width=64,height=48,framerate=15/1 ! tee name=t ! queue ! slpredict model=%s track=true ! "
          "slrestream name=out encoder=jpegenc ! fakesink sync=false t. ! queue ! "
          "videoconvert ! video/x-raw,format=I420 ! jpegenc ! out.encoded")


def describe(name, more="", path="door", port=0, launch=SOURCE):
    text = "[pipeline]\nlaunch=%s\n%s\n[publish]\nrtsp=127.0.0.1:%d/%s\n" % (launch % model("one_box.tflite"), more, port, path)
    return write(name + ".pipeline", text.encode())


class Client:
    """One connection, over which packets come, too."""

    def __init__(self, port, path, user=None):
        self.socket = socket.create_connection(("127.0.0.1", port), PATIENCE)
        self.stream = self.socket.makefile("rb")
        self.uri, self.user, self.count, self.session, self.packets = "rtsp://127.0.0.1:%d/%s" % (port, path), user, 0, None, []
        self.challenge = None

    def authorisation(self, method, uri):
        name, password = self.user
        realm, nonce = (re.search(word + '="([^"]*)"', self.challenge).group(1) for word in ("realm", "nonce"))

        def digest(*words):
            return hashlib.md5(":".join(words).encode()).hexdigest()
        response = digest(digest(name, realm, password), nonce, digest(method, uri))
        return 'Digest username="%s", realm="%s", nonce="%s", uri="%s", response="%s"' % (name, realm, nonce, uri, response)

    def ask(self, method, uri=None, **headers):
        """(status, headers, body) of the answer; packets before it are kept."""
        uri, self.count = uri or self.uri, self.count + 1
        lines = ["%s %s RTSP/1.0" % (method, uri), "CSeq: %d" % self.count] + ["%s: %s" % item for item in headers.items()]
        if self.session:
            lines.append("Session: " + self.session)
        if self.user and self.challenge:
            lines.append("Authorization: " + self.authorisation(method, uri))
        self.socket.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        while self.stream.peek(1)[:1] == b"$":
            self.packets.append(self.packet())
        status = int(self.stream.readline().split()[1])
        answer = {}
        for line in iter(self.stream.readline, b"\r\n"):
            key, value = line.decode().split(":", 1)
            answer[key.lower()] = value.strip()
        return status, answer, self.stream.read(int(answer.get("content-length", 0)))

    def packet(self):
        """(channel, marker, time, payload)"""
        assert self.stream.read(1) == b"$"
        channel, length = struct.unpack(">BH", self.stream.read(3))
        data = self.stream.read(length)
        return channel, data[1] >> 7, struct.unpack(">I", data[4:8])[0], data[12 + 4 * (data[0] & 15):]

    def describe(self):
        status, headers, body = self.ask("DESCRIBE", Accept="application/sdp")
        if status == 401 and self.user and not self.challenge:
            self.challenge = headers["www-authenticate"]
            return self.describe()
        return status, body.decode()

    def play(self):
        """The session description, of which every stream plays. 503 asks a client to try again: no frame has come."""
        status, text = eventually(lambda: next((it for it in [self.describe()] if it[0] != 503), None))
        assert status == 200, (status, text)
        for i, control in enumerate(re.findall(r"a=control:(stream=\d)", text)):
            status, headers, _ = self.ask("SETUP", self.uri + "/" + control, Transport="RTP/AVP/TCP;unicast;interleaved=%d-%d" % (2 * i, 2 * i + 1))
            assert status == 200, status
            self.session = headers["session"].split(";")[0]
        assert self.ask("PLAY")[0] == 200
        return text

    def take(self, channel):
        """(time, bytes) of the next whole frame or document of a channel: its packets up to the marker."""
        whole = b""
        while True:
            at, marker, time, payload = self.packets.pop(0) if self.packets else self.packet()
            if at != channel:
                continue
            whole += payload
            if marker:
                return time, whole

    def close(self):
        self.stream.close()
        self.socket.close()


def read_document(text):
    """The frame of a document, checked by ONVIF's rules; None where it has none."""
    root = xml.etree.ElementTree.fromstring(text)
    assert root.tag == "{%s}MetadataStream" % NS["tt"], root.tag
    frame = root.find("tt:VideoAnalytics/tt:Frame", NS)
    if frame is None:
        return None
    age = datetime.datetime.now(datetime.timezone.utc) - datetime.datetime.fromisoformat(frame.get("UtcTime").replace("Z", "+00:00"))
    assert -1 < age.total_seconds() < PATIENCE, age
    for thing in frame.findall("tt:Object", NS):
        box = thing.find("tt:Appearance/tt:Shape/tt:BoundingBox", NS)
        left, top, right, bottom = (float(box.get(name)) for name in ("left", "top", "right", "bottom"))
        centre = thing.find("tt:Appearance/tt:Shape/tt:CenterOfGravity", NS)
        assert -1 <= left < right <= 1 and -1 <= bottom < top <= 1, box.attrib
        assert abs(float(centre.get("x")) - (left + right) / 2) < 1e-4 and abs(float(centre.get("y")) - (top + bottom) / 2) < 1e-4
        types = thing.findall("tt:Appearance/tt:Class/tt:Type", NS)
        assert types and all(0 <= float(t.get("Likelihood")) <= 1 and t.text for t in types)
        assert int(thing.get("ObjectId")) >= 1
    return frame


def test_both_streams():
    port = reserve_port()
    running = Running(describe("streams", port=port))
    running.wait_for("running")
    client = Client(port, "door/camera")
    text = client.play()
    assert re.search(r"m=video 0 RTP/AVP 26\r", text) and "m=application 0 RTP/AVP 97\r" in text and "a=rtpmap:97 VND.ONVIF.METADATA/90000" in text, text
    frames = [frame for frame in (read_document(client.take(2)[1]) for _ in range(20)) if frame is not None]
    assert len(frames) >= 18 and all(len(frame.findall("tt:Object", NS)) == 1 for frame in frames[-5:])
    times = [client.take(0)[0] for _ in range(10)]
    assert all(0 < (b - a) % 2**32 < 90000 * PATIENCE for a, b in zip(times, times[1:])), times
    client.close()
    drawn = Client(port, "door")
    assert "m=application" not in drawn.play()
    assert drawn.take(0)[1]
    drawn.close()
    running.stop()
    assert running.status == 0


def test_password():
    port, secret = reserve_port(), write("secret", b"open sesame\n")
    os.chmod(secret, 0o600)
    path = describe("locked", port=port)
    with open(path, "a", encoding="utf-8") as file:
        file.write("user=nvr\npassword-file=%s\n" % secret)
    running = Running(path)
    running.wait_for("running")
    for user in (None, ("nvr", "wrong"), ("other", "open sesame")):
        client = Client(port, "door", user)
        assert client.describe()[0] == 401, user
        client.close()
    client = Client(port, "door", ("nvr", "open sesame"))
    client.play()
    assert client.take(0)[1]
    client.close()
    running.stop()
    assert not any("open sesame" in (line or "") for line in running.lines)


def test_reload():
    """Another pipeline takes over while a client watches."""
    port = reserve_port()
    path = describe("reload", port=port)
    running = Running(path)
    running.wait_for("running")
    client = Client(port, "door/camera")
    client.play()
    client.take(0)
    describe("reload", more="watchdog=20s", port=port, launch=SOURCE.replace("track=true", "track=true threshold=0.1"))
    running.child.send_signal(signal.SIGHUP)
    running.wait_for("running", 2)
    seen = [read_document(client.take(2)[1]) for _ in range(60)]
    assert seen[-1] is not None
    client.take(0)
    client.close()
    running.stop()
    assert running.status == 0


def test_two_pipelines():
    """They share a port; a third that wants a path of theirs fails, in the words of the check."""
    port = reserve_port()
    files = describe("one", port=port), describe("two", port=port, path="gate"), describe("three", port=port)
    run("check", *files[:2]).expect(0)
    checked = run("check", *files)
    assert checked.status == 1 and re.search(
        "! three/out +rtsp: path /door of port %d belongs to another slrestream; expected another path\n" % port, checked.out), checked
    running = Running(*files)
    message = running.wait_for("failed")["message"]
    assert "rtsp: path /door of port %d belongs to another slrestream; expected another path" % port in message, message
    for path in ("door", "gate/camera"):
        client = Client(port, path)
        client.play()
        assert client.take(0)[1]
        client.close()
    running.stop()


def test_check_together():
    """Streams of one process that take each other's place are found before they run, in one description and in several."""
    port, secret = reserve_port(), write("other", b"swordfish\n")
    os.chmod(secret, 0o600)
    taken = "rtsp: path /%s of port %d belongs to another slrestream; expected another path"
    both = SOURCE.replace("name=out", "name=out rtsp=127.0.0.1:%d/door").replace("fakesink", "slrestream name=second rtsp=127.0.0.1:%d/%s encoder=jpegenc ! fakesink")
    for path, said in (("door", taken % ("door", port)), ("door/camera", taken % ("door/camera", port)), ("door/camera/x", None), ("doors", None)):
        launch = both.replace("%s track", model("one_box.tflite") + " track") % (port, port, path)
        checked = run("check", write("both.pipeline", ("[pipeline]\nlaunch=%s\n" % launch).encode()))
        assert checked.status == (1 if said else 0) and (not said or said in checked.out), (path, checked)
    beside = "rtsp: nothing can listen on %s, port %d beside another slrestream on 127.0.0.1; expected one address for all streams of a port"
    for address, said in (("", beside % ("0.0.0.0", port)), ("[::]", beside % ("::", port)), ("[::1]", None), ("127.0.0.2", None)):
        launch = both.replace("%s track", model("one_box.tflite") + " track").replace("second rtsp=127.0.0.1", "second rtsp=" + address) % (port, port, "gate")
        file = write("both.pipeline", ("[pipeline]\nlaunch=%s\n" % launch).encode())
        checked = run("check", file)
        assert checked.status == (1 if said else 0) and (not said or said in checked.out), (address, checked)
        if said:
            run("run", file).expect(1, "rtsp: nothing can listen on ", ", port %d: " % port)
    one, locked = describe("one", port=port), describe("locked", port=port, path="gate")
    with open(locked, "a", encoding="utf-8") as file:
        file.write("user=nvr\npassword-file=%s\n" % secret)
    checked = run("check", one, locked)
    assert checked.status == 1 and "rtsp: port %d has streams with another user or password; expected the same for all streams of a port" % port in checked.out, checked


def test_taken():
    with socket.create_server(("127.0.0.1", 0)) as other:
        path = describe("taken", port=other.getsockname()[1])
        run("run", path).expect(1, "rtsp: nothing can listen on 127.0.0.1, port %d: " % other.getsockname()[1], "; choose another port")


def plays(port):
    """A client has a packet of the picture."""
    client = Client(port, "door")
    client.play()
    assert client.take(0)[1]
    client.close()


def test_hostile():
    """Clients that say nonsense, or nothing, or too much, disturb no other."""
    port = reserve_port()
    running = Running(describe("hostile", port=port))
    running.wait_for("running")
    for words in (b"", b"\x00" * 100000, b"GET / HTTP/1.0\r\n\r\n", b"DESCRIBE rtsp://x RTSP/1.0\r\n\r\n", b"$\x00\xff\xff" + b"x" * 65535,
                  b"SETUP rtsp://127.0.0.1/door RTSP/1.0\r\nCSeq: 1\r\nContent-Length: 4000000000\r\n\r\n",
                  b"DESCRIBE rtsp://127.0.0.1/" + b"../" * 1000 + b" RTSP/1.0\r\nCSeq: 1\r\n\r\n",
                  b"PLAY rtsp://127.0.0.1/door RTSP/1.0\r\nCSeq: 1\r\nSession: 1\r\n\r\n" * 50):
        with socket.create_connection(("127.0.0.1", port), PATIENCE) as hostile:
            try:
                hostile.sendall(words)
            except OSError:
                pass
    plays(port)
    running.stop()
    assert running.status == 0


def test_vanished():
    """Clients that set a stream up and are gone leave no session, of which there are eight."""
    port = reserve_port()
    running = Running(describe("vanished", port=port))
    running.wait_for("running")
    for _ in range(24):
        client = Client(port, "door")
        # A stream whose last client has just left answers 503 until it is set up again.
        eventually(lambda: client.ask("SETUP", client.uri + "/stream=0", Transport="RTP/AVP/TCP;unicast;interleaved=0-1")[0] == 200)
        client.close()
    running.stop()
    assert running.status == 0


def test_silent():
    """Connections that say nothing are closed, and those beyond the limit at once, without a word in the log."""
    port = reserve_port()
    running = Running(describe("silent", port=port))
    running.wait_for("running")
    silent = [socket.create_connection(("127.0.0.1", port), PATIENCE) for _ in range(40)]
    for one in silent:
        assert one.recv(1) == b""
        one.close()
    plays(port)
    running.stop()
    assert running.status == 0
    assert not any("CRITICAL" in (line or "") for line in running.lines), running.lines


def test_strict():
    path = describe("strict", more="privacy=strict\n[redact]\nhold=1")
    run("check", path).expect(1)
    assert "privacy=strict: expected slredact before every element that shows pictures, but out (slrestream) streams the open picture" in run("run", path).err


harness.main(globals())
