# SPDX-License-Identifier: LGPL-2.1-or-later
"""[notify] of description files: webhooks, ntfy and programs that are told about events, by servers of this test on the loopback address."""
import base64
import contextlib
import hashlib
import hmac
import json
import os
import signal
import socket
import ssl
import stat
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.environ.get("SIGHTLINE_SOURCE_ROOT", "."), "tests", "support"))
import harness
from broker import Broker
from harness import run, work, write
from hooks import Hook, describe, log_of, watching
from running import PATIENCE, STOPPED, eventually
from served import certificate

def test_webhook():
    """An event as JSON, signed; what fails for a while is sent again, with the same id."""
    key = write("signing", b"a long secret\n")
    os.chmod(key, 0o600)
    hook = Hook(500, 503, 429, None, 200)
    with watching(describe("hook", "webhook=http://127.0.0.1:%d/hooks/SECRET-TOKEN?key=x\nsigning-key-file=%s\nretry-min=10\nretry-max=20\n" % (hook.port, key))) as running:
        eventually(lambda: len(hook.got) >= 5)
        path, headers, body, method = hook.got[4]
        assert path == "/hooks/SECRET-TOKEN?key=x" and method == "POST" and headers["Content-Type"] == "application/json", (path, headers)
        assert headers["X-Sightline-Signature"] == "sha256=" + hmac.new(b"a long secret", body, hashlib.sha256).hexdigest()
        told = json.loads(body)
        assert told["event"] == {"event": "entered", "zone": "way", "id": 1, "label": "blue"} and told["text"] == "blue entered way" and told["source"] == "door", told
        assert len({one[2] for one in hook.got[:5]}) == 1 and "picture" not in told, told
        log = log_of(running)
        assert "SECRET" not in log and "a long secret" not in log and "http://127.0.0.1:%d/***" % hook.port in log, log
        assert running.stop() < STOPPED and running.status == 0
    assert len(hook.got) == 5


def test_refused():
    """4xx is not sent again and is counted; a redirection is not followed."""
    other = Hook(200)
    for answer, words in ((404, "the status 404"), (302, "the status 302, a redirection, which is not followed")):
        hook = Hook(answer, 200, location="http://127.0.0.1:%d/" % other.port)
        with watching(describe("refused", "webhook=http://127.0.0.1:%d/x\n" % hook.port, ("a", "b"))) as running:
            eventually(lambda: len(hook.got) == 2)
            eventually(lambda: words + "; such lines are lost and counted in dropped" in log_of(running))
            assert [told["event"]["zone"] for told in hook.notices()] == ["a", "b"]
    assert other.got == []


def secured(address="127.0.0.1"):
    """A hook behind TLS, and the path of its certificate, which is for localhost and 127.0.0.1."""
    hook, (certified, key) = Hook(200, address=address), certificate("hook-" + address)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certified, key)
    hook.server.socket = context.wrap_socket(hook.server.socket, server_side=True)
    return hook, certified


def test_tls():
    """The server's certificate is checked: by the authorities of ca-file, and for the address."""
    (hook, ours), (other, others) = secured(), secured("127.0.0.2")
    with watching(describe("tls", "webhook=https://127.0.0.1:%d/SECRET\nca-file=%s\n" % (hook.port, ours))) as running:
        eventually(lambda: hook.got)
        assert hook.notices()[0]["event"]["zone"] == "way" and hook.got[0][0] == "/SECRET", hook.got
        assert "SECRET" not in log_of(running)
    hook.got.clear()
    for address, port, more in (("127.0.0.1", hook.port, ""), ("127.0.0.1", hook.port, "ca-file=%s\n" % others), ("127.0.0.2", other.port, "ca-file=%s\n" % others)):
        with watching(describe("untrusted", "webhook=https://%s:%d/SECRET\n%s" % (address, port, more))) as running:
            eventually(lambda: "https://%s:%d/***: Unacceptable TLS certificate" % (address, port) in log_of(running))
            assert "SECRET" not in log_of(running)
    assert hook.got == [] == other.got
    with watching(describe("no-authority", "webhook=https://127.0.0.1:1/x\nca-file=/none/there\n", more="restart=no\n")) as running:
        eventually(lambda: "ca-file=/none/there: " in log_of(running))


def test_filters():
    """Only the kinds, places and classes that are asked for."""
    hook = Hook(200)
    for i, (notify, zones) in enumerate([("zones=b, c", ["b", "c"]), ("events=left", []), ("classes=green", []), ("classes=blue\nevents=entered,left\nevery=1h", ["a", "b", "c", "d"])]):
        hook.got.clear()
        with watching(describe("filter%d" % i, "webhook=http://127.0.0.1:%d/x\n%s\n" % (hook.port, notify), "abcd", more="[http]\nlisten=127.0.0.1:0\n")) as running:
            eventually(lambda: '"event":"running"' in log_of(running) and len(hook.got) >= len(zones))
            assert running.stop() < STOPPED and running.status == 0
        assert [told["event"]["zone"] for told in hook.notices()] == zones, hook.got


def test_queue():
    """A server that is away: the oldest notices are lost, counted, and told about; SIGTERM does not wait for it."""
    blocked = threading.Event()
    hook = Hook(blocked)
    with watching(describe("queue", "webhook=http://127.0.0.1:%d/x\nmax-queue-bytes=1024\ntimeout=60\n" % hook.port, ["z%d" % i for i in range(30)])) as running:
        eventually(lambda: hook.got)
        eventually(lambda: "the queue (max-queue-bytes) is full" in log_of(running))
        assert running.stop() < STOPPED and running.status == 0
    blocked.set()


def test_retry_stop():
    """SIGTERM while a retry waits ends the program at once."""
    hook = Hook(503)
    with watching(describe("retry", "webhook=http://127.0.0.1:%d/x\nretry-min=60000\nretry-max=60000\n" % hook.port)) as running:
        eventually(lambda: "the status 503" in log_of(running))
        assert running.stop() < STOPPED and running.status == 0


def test_dripping():
    """An answer that never ends, a few bytes at a time, is given up after the timeout, and so is none at all, in the same words."""
    def drip(connection, words):
        with contextlib.suppress(OSError), connection:
            connection.recv(65536)
            while True:
                connection.sendall(words)
                time.sleep(0.1)

    for words in (b"HTTP/1.1 102 Processing\r\n\r\n", b"HTTP/1.1 200 OK\r\n", b""):
        with socket.create_server(("127.0.0.1", 0)) as listening:
            def serve():
                with contextlib.suppress(OSError):
                    while True:
                        threading.Thread(target=drip, args=(listening.accept()[0], words), daemon=True).start()
            threading.Thread(target=serve, daemon=True).start()
            with watching(describe("drip", "webhook=http://127.0.0.1:%d/SECRET\ntimeout=1\n" % listening.getsockname()[1])) as running:
                eventually(lambda: "/***: no whole answer within 1 s (timeout)" in log_of(running))
                assert "SECRET" not in log_of(running)
                assert running.stop() < STOPPED and running.status == 0


def test_ntfy():
    """Title, priority and tags; a picture as attachment."""
    hook = Hook(200)
    with watching(describe("ntfy", "ntfy=http://127.0.0.1:%d/door\ntitle=Tür\npriority=high\ntags=warning,camera\nattach-picture=true\n" % hook.port)) as running:
        eventually(lambda: hook.got or "go on without pictures" in log_of(running))
        eventually(lambda: hook.got)
        path, headers, body, method = hook.got[0]
        assert (path, method, headers["Priority"], headers["Tags"]) == ("/door", "PUT", "high", "warning,camera"), headers
        assert headers["Title"] == "=?UTF-8?B?%s?=" % base64.b64encode("Tür".encode()).decode(), headers
        if "go on without pictures" not in log_of(running):
            assert body.startswith(b"\xff\xd8") and headers["Message"] == "blue entered way" and headers["Content-Type"] == "image/jpeg", headers


def test_location():
    """Other locations of slpublish get the same messages: a topic of a broker."""
    broker = Broker()
    try:
        with watching(describe("mqtt", "location=mqtt://127.0.0.1:%d/door/events\n" % broker.port)):
            broker.hear("^door/events$")
    finally:
        broker.close()
    notice = json.loads(next(payload for topic, payload in broker.heard if topic == "door/events"))
    assert (notice["source"], notice["event"]["event"], notice["event"]["zone"]) == ("door", "entered", "way"), notice


def program(name, text):
    path = write(name, ("#!/bin/sh\n" + text).encode())
    os.chmod(path, 0o700)
    return path


def test_command():
    """A program gets the notice on its standard input, without a shell; one that fails, hangs or prints much is counted."""
    out = work("told")
    tell = program("tell", "printf '%%s|' \"$@\" >%s.new; cat >>%s.new; mv %s.new %s\n" % (out, out, out, out))
    with watching(describe("command", "command=%s 'one two' $HOME ;rm\n" % tell)) as running:
        eventually(lambda: os.path.exists(out))
        with open(out, encoding="utf-8") as file:
            words, _, body = file.read().rpartition("|")
        assert words == "one two|$HOME|;rm" and json.loads(body)["event"]["event"] == "entered", (words, body)
        del running
    for name, text, words in (("fails", "exit 3\n", "exited with code 3"), ("much", "head -c 9000000 /dev/zero; head -c 9000000 /dev/zero >&2; exit 4\n", "exited with code 4"),
                              ("hangs", "trap '' TERM; sleep 1000\n", "killed, as it took longer than 1 s (timeout)")):
        with watching(describe(name, "command=%s\ntimeout=1\n" % program(name, text))) as running:
            eventually(lambda: words in log_of(running))
    mark = work("mark")
    path = program("stays", "echo $$ >%s.new; mv %s.new %s; sleep 1000\n" % (mark, mark, mark))
    with watching(describe("stays", "command=%s\ntimeout=300\n" % path)) as running:
        eventually(lambda: os.path.exists(mark))
        assert running.stop() < STOPPED and running.status == 0
    with open(mark, encoding="ascii") as file:
        pid = int(file.read())
    eventually(lambda: not os.path.exists("/proc/%d" % pid))


def test_reload():
    """SIGHUP takes another address, and leaves no connection behind."""
    one, two = Hook(200), Hook(200)
    path = describe("reload", "webhook=http://127.0.0.1:%d/x\n" % one.port)
    with watching(path) as running:
        eventually(lambda: one.got)
        held = len(os.listdir("/proc/%d/fd" % running.child.pid))
        for i in range(10):
            two.got.clear()
            describe("reload", "webhook=http://127.0.0.1:%d/%d\n" % (two.port, i), ("other%d" % i,))
            running.child.send_signal(signal.SIGHUP)
            eventually(lambda: two.got)
        eventually(lambda: len(os.listdir("/proc/%d/fd" % running.child.pid)) < held + 10)


def test_errors():
    """What a description may not say."""
    key = write("open-key", b"secret\n")
    os.chmod(key, 0o644)
    for notify, words in [
            ("", ""), ("title=x\n", "[notify]: expected webhook, ntfy, command or location, got none of them"),
            ("webhook=ftp://TOKEN\n", "[notify] webhook: expected an address http[s]://HOST/PATH"),
            ("webhook=http://127.0.0.1:1/TOKEN\nntfy=http://127.0.0.1:1/TOKEN\n", "[notify] ntfy: expected one of webhook, ntfy, command and location"),
            ("webhook=http://127.0.0.1:1/TOKEN\nlocation=mqtt://127.0.0.1:1/TOKEN\n", "[notify] location: expected one of webhook, ntfy, command and location; a second one is an slpublish of the launch line"),
            ("location=mqtt://127.0.0.1:1/a\nwebhook=http://127.0.0.1:1/TOKEN\n", "[notify] webhook: expected one of webhook, ntfy, command and location"),
            ("location=\n", "[notify] location: expected a location of slpublish, such as mqtt://HOST/TOPIC"),
            ("command=rm -rf\n", "[notify] command: expected the whole path of a program, then its arguments"),
            ("webhook=http://127.0.0.1:1/TOKEN\nevery=soon\n", "[notify] every: expected a time such as 500ms"),
            ("webhook=http://127.0.0.1:1/TOKEN\nevents=born\n", "events=born: expected all, or entered, left, in, out, dwell, left-behind and empty"),
            ("webhook=http://127.0.0.1:1/TOKEN\nzones=way, wey\n", "zones: no zone or line is called 'wey', so none of its events is told; did you mean 'way'?"),
            ("webhook=http://127.0.0.1:1/TOKEN\ncolour=red\n", "[notify] colour: ")]:
        result = run("check", describe("errors", notify))
        if words:
            assert result.status != 0 and words in result.out + result.err, (notify, str(result))
        assert "TOKEN" not in result.out + result.err, str(result)
    for notify, words in [
            ("webhook=http://127.0.0.1:1/TOKEN\nevents=born\n", "events=born: expected all, or entered, left, in, out, dwell, left-behind and empty"),
            ("webhook=http://me:TOKEN@127.0.0.1:1/\n", "user and password are username and password-file"),
            ("webhook=http://TOKEN@127.0.0.1:1/\n", "location=http://***@127.0.0.1:1/***: expected a host and a path"),
            ("command=/none/there\tTOKEN\n", "location=exec:/none/there: No such file"),
            ("webhook=http://127.0.0.1:1/TOKEN\nsigning-key-file=%s\n" % key, "signing-key-file="),
            ("command=/none/there\n", "location=exec:/none/there: No such file or directory: expected a program that may be run"),
            ("command=/usr/bin\n", "location=exec:/usr/bin: a folder: expected a program")]:
        with watching(describe("errors", notify, more="restart=no\n")) as running:
            eventually(lambda: words in log_of(running))
            assert "TOKEN" not in log_of(running), log_of(running)
    with open(describe("errors", "webhook=http://127.0.0.1:1/TOKEN\n"), encoding="utf-8") as file:
        description = file.read()
    for before, after, words in [
            (" ! fakesink", "", "[notify]: expected something behind slanalyze, and tee, queue and slpublish"),
            (" ! slanalyze confirm=1", "", "the launch line has no slanalyze, which makes the events; expected one behind sltrack")]:
        changed = description.replace(before, after)
        result = run("check", write("errors.pipeline", changed[:changed.index("[zone")].encode() + b"[notify]\nwebhook=http://127.0.0.1:1/TOKEN\n"))
        assert changed != description and result.status != 0 and words in result.out + result.err, (after, str(result))
    opened = "tee name=t ! queue ! slredact ! fakesink t. ! queue ! slpublish location=exec:/bin/true events=all attach-picture=true"
    result = run("check", describe("strict", "", tail=opened, more="privacy=strict\n"))
    assert result.status != 0 and "publishes the open picture" in result.out + result.err, str(result)
    run("check", describe("strict", "webhook=http://127.0.0.1:1/x\nattach-picture=true\n", more="privacy=strict\n[redact]\n"))


harness.main(globals())
