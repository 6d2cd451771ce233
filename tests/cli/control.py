# SPDX-License-Identifier: LGPL-2.1-or-later
"""slpublish control=true: settings of a pipeline by a real broker, and what it hears of them."""
import contextlib
import itertools
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.environ.get("SIGHTLINE_SOURCE_ROOT", "."), "tests", "support"))
import harness
from broker import Broker
from harness import Skip, model, run, work, write
from openapi import Client
from running import eventually
from served import Served

AUDIT = "[http]\nrole=configure\naudit=%s\n"


def describe(name, port, control="control=true", location=None, more=""):
    text = "[pipeline]\nlaunch=videotestsrc is-live=true pattern=blue ! video/x-raw,format=RGB,width=80,height=40,framerate=20/1 ! slpredict model=%s ! slpublish location=%s %s\n%s" % (
        model("brightest_channel.tflite"), location or "mqtt://127.0.0.1:%d/shop/door" % port, control, more)
    return write(name + ".pipeline", (text + AUDIT % work("control.audit")).encode())


@contextlib.contextmanager
def broker():
    if "libmosquitto" in run("--version").out.partition("without")[2]:
        raise Skip("built without libmosquitto")
    with contextlib.closing(Broker()) as it:
        yield it


def settings(client, name):
    return {row["key"]: row["value"] for row in client.get("pipelines/%s/settings" % name).json["settings"]}


def test_set():
    """What is set acts, is retained as state, and is in the log and the audit log; what cannot be is answered."""
    with broker() as it:
        it.say("shop/door/set/threshold", "0.9", "-r")  # of a time long ago
        with Served(describe("door", it.port)) as served:
            client = Client(served)
            it.hear("door/state/threshold$", "null")
            it.hear("door/state/classes$", "null")
            it.hear("door/state/rate$", "20")
            assert settings(client, "door")["threshold"] is None
            it.heard.clear()
            it.say("shop/door/set/threshold", "0.25")
            it.hear("door/state/threshold$", "0.25")
            assert settings(client, "door")["threshold"] == 0.25
            it.say("shop/door/set/classes", "!green")
            it.hear("door/state/classes$", '"!green"')
            it.say("shop/door/set/rate", "5")
            it.hear("door/state/rate$", "5")
            it.say("shop/door/set/classes", "null")
            it.hear("door/state/classes$", "null")
            client.ask("PATCH", "pipelines/door/settings", {"threshold": 0.5})
            it.hear("door/state/threshold$", "0.5")
            for name, payload, words in (
                    ("threshold", "2", "threshold: expected a number from 0 to 1, or null for the description's"), ("threshold", "0.5 ", None), ("threshold", "much", "threshold: expected a number"),
                    ("threshold", "", "threshold: expected a number"), ("threshold", "[" * 500, "threshold: expected a number"), ("rate", "0", "rate: expected a number above 0"),
                    ("classes", "martian", "classes: the model before has no class 'martian'"), ("classes", "7", "classes: expected names with ',' between"),
                    ("recording", "true", "recording: "), ("redaction", "false", "redaction: "), ("threshold", "1" * 1025, "threshold: expected at most 1024 bytes of UTF-8"),
                    ("classes", b"\xff\xfe", "classes: expected at most 1024 bytes of UTF-8"), ("classes", b"a\0b", "classes: expected at most 1024 bytes of UTF-8"),
                    ("volume", "11", "volume: there is no such setting; expected threshold, classes, rate, recording or redaction"), ("x" * 200, "1", "there is no such setting"),
                    ("threshold", "NaN", "threshold: expected a number"), ("threshold", "-0.1", "threshold: expected a number from 0 to 1")):
                it.heard.clear()
                it.say("shop/door/set/" + name, payload)
                if words is None:
                    continue
                topic = "door/state/%s$" % ("error" if len(name) > 100 or name == "volume" else name + "/error")
                it.hear(topic)
                answer = next(told for heard, told in it.heard if heard.endswith(topic[5:-1]))
                assert words in answer, (name, payload, answer)
            assert settings(client, "door") == {"threshold": 0.5, "classes": None, "rate": 5, "recording": None, "redaction": None}, settings(client, "door")
            told = [event["message"] for event in served.events() if event["event"] == "changed"]
            assert "mqtt:shop/door/set/threshold: door: threshold: 0.25 instead of the description's" in told, told
            assert "mqtt:shop/door/set/classes: door: classes: '!green' instead of the description's" in told, told
            assert "mqtt:shop/door/set/rate: door: rate: 5 instead of 20 (the description's)" in told, told
            assert "mqtt:shop/door/set/classes: door: classes: the description's instead of '!green'" in told, told
            lines = [(line["user"], line["address"], line["message"]) for line in client.get("audit").json["lines"]]
            assert ("mqtt:shop/door/set/threshold", "mqtt", "door: threshold: 0.25 instead of the description's") in lines, lines
            client.ask("PATCH", "pipelines/door/settings", {"threshold": 0.5})  # which it is
            assert len(client.get("audit").json["lines"]) == len(lines)
        kept = subprocess.run(["mosquitto_sub", "-p", str(it.port), "-t", "shop/door/state/#", "-F", "%t %p", "-C", "3", "-W", "60"], capture_output=True, text=True, check=True).stdout
        assert sorted(kept.split("\n")[:3]) == ["shop/door/state/classes null", "shop/door/state/rate 5", "shop/door/state/threshold 0.5"], kept


def test_flood():
    """Any number of messages leaves the program as it is, and able to obey."""
    with broker() as it, Served(describe("flood", it.port)) as served:
        it.hear("door/state/threshold$", "null")
        lines = b"".join(b"%d\n" % i for i in range(5000))
        subprocess.run(["mosquitto_pub", "-p", str(it.port), "-t", "shop/door/set/threshold", "-l"], input=lines, check=True, timeout=100)
        def obeyed():
            it.say("shop/door/set/threshold", "0.75")
            return settings(Client(served), "flood")["threshold"] == 0.75
        eventually(obeyed)


def test_wash():
    """Whoever may write to the broker does not fill the audit log; the log says so once a minute. What changes nothing is no change."""
    with broker() as it, Served(describe("wash", it.port)) as served:
        client, began = Client(served), time.monotonic()
        it.hear("door/state/threshold$", "null")
        def lines():
            return [line for line in client.get("audit").json["lines"] if line["address"] == "mqtt"]
        it.heard.clear()
        before = len(lines())
        for _ in range(40):
            it.say("shop/door/set/threshold", "0.5")
        it.say("shop/door/set/rate", "10")
        it.hear("door/state/rate$", "10")
        eventually(lambda: len(lines()) - before == 2)  # the state is told before the audit log is written
        assert not [topic for topic, _ in it.heard if topic.endswith("/error")], lines()
        for _ in range(20):
            it.say("shop/door/set/threshold", "0.25")
            it.say("shop/door/set/threshold", "0.75")
        it.hear("door/state/threshold/error$", "threshold: expected at most 16 changes at once, then one each 5 s")
        told = served.wait_for("control")["message"]
        assert told.endswith(" settings by MQTT were refused: expected at most 16 changes at once, then one each 5 s") and int(told.split()[0]) > 0, told
        assert 16 <= len(lines()) - before <= 17 + (time.monotonic() - began) / 5, lines()
        assert len([event for event in served.events() if event["event"] == "control"]) == 1
        client.ask("PATCH", "pipelines/wash/settings", {"threshold": 0.125})
        it.hear("door/state/threshold$", "0.125")


def test_off():
    """Without control=true nobody listens; no other destination has it."""
    with broker() as it:
        with Served(describe("off", it.port, "")) as served:
            it.hear("door/available", "online")
            it.say("shop/door/set/threshold", "0.25")
            it.hear("door/set/threshold", "0.25")
            it.heard.clear()
            it.hear("shop/door$")  # a frame later
            assert settings(Client(served), "off")["threshold"] is None and not [topic for topic, _ in it.heard if "/state/" in topic]
    run("run", describe("file", 0, location=work("out.json"), more="restart=no\n")).expect(1, "control=true: expected location=mqtt[s]://HOST/TOPIC, whose broker may change settings")


def test_home():
    """Home Assistant's threshold goes the same way, and follows changes by others."""
    with broker() as it, Served(describe("home", it.port, "control=true discovery-prefix=homeassistant")) as served:
        client = Client(served)
        it.hear("door/state/threshold$", "null")
        it.say("shop/door/threshold/set", "0.25")
        it.hear("door/threshold$", "0.25")
        it.hear("door/state/threshold$", "0.25")
        client.ask("PATCH", "pipelines/home/settings", {"threshold": 0.5})
        it.hear("door/threshold$", "0.5")
        it.say("shop/door/threshold/set", "2")
        it.hear("door/state/threshold/error$")
        lines = [(line["user"], line["message"]) for line in client.get("audit").json["lines"]]
        assert ("mqtt:shop/door/threshold/set", "home: threshold: 0.25 instead of the description's") in lines, lines


class Held:
    """A way to a port of 127.0.0.1. Connections after the first wait until they are let through."""

    def __init__(self, port):
        self.to, self.listener, self.open = port, socket.create_server(("127.0.0.1", 0)), threading.Event()
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        for number in itertools.count():
            here = self.listener.accept()[0]
            threading.Thread(target=self.join, args=(here, number), daemon=True).start()

    def join(self, here, number):
        if number > 0:
            self.open.wait()
        there = socket.create_connection(("127.0.0.1", self.to))
        threading.Thread(target=self.copy, args=(there, here), daemon=True).start()
        self.copy(here, there)

    def copy(self, one, other):
        with contextlib.suppress(OSError):
            while data := one.recv(65536):
                other.sendall(data)
            other.shutdown(socket.SHUT_WR)


def test_restart():
    """A new connection hears the values again, and no old answer, also if the pipeline runs before it is connected."""
    with broker() as it:
        way = Held(it.port)
        path = describe("again", way.port)
        with Served(path) as served:
            it.hear("door/state/rate$", "20")
            it.say("shop/door/set/threshold", "7")
            it.hear("door/state/threshold/error")
            it.heard.clear()
            with open(path, "r+b") as file:
                text = file.read().replace(b"framerate=20", b"framerate=10")
                file.seek(0)
                file.write(text)
            served.child.send_signal(signal.SIGHUP)
            eventually(lambda: len([event for event in served.events() if event["event"] == "running"]) == 2)
            way.open.set()
            it.hear("door/state/rate$", "10")
            it.hear("shop/door$")  # a frame later
            assert not [topic for topic, _ in it.heard if topic.endswith("/error")], json.dumps(it.heard)


harness.main(globals())
