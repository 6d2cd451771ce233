# SPDX-License-Identifier: LGPL-2.1-or-later
"""[push] of description files and /api/v1/push: messages to browsers, by a push service of this test on the loopback address."""
import base64
import contextlib
import hashlib
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
from harness import Skip, run, work, write
from hooks import Hook, describe, log_of, watching
from openapi import Client
from push_keys import key_file, openssl
from running import STOPPED, eventually
from served import Served

try:
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec, utils
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF
except ImportError:
    ec = None

# The receiver of RFC 8291, appendix A.
POINT, AUTH = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4", "BTBZMqHH6r4Tts7J_aSIgg"
PRIVATE = "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"
LOOK = "[http]\nlisten=127.0.0.1:0\n"


def decode(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def group(file, port, more=""):
    if "libcrypto" in run("--version").out.partition("without")[2]:
        raise Skip("built without libcrypto")
    return "[push]\nkey=%s\nsubject=mailto:me@example.org\nsubscriptions=%s\nhosts=127.0.0.1:%d\nretry-min=10\nretry-max=20\n%s" % (key_file(), file, port, more)


def subscribed(name, *endpoints):
    """A file of subscriptions, as the console writes it."""
    lines = [json.dumps({"id": hashlib.sha256(e.encode()).hexdigest()[:16], "user": "nobody", "login": "", "name": "A phone", "added": "2026-03-01T16:04:05.678Z",
                         "endpoint": e, "p256dh": POINT, "auth": AUTH}) + "\n" for e in endpoints]
    path = write(name, "".join(lines).encode())
    os.chmod(path, 0o600)
    return path


def left(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line)["endpoint"].rpartition("/")[2] for line in file]


def decrypt(body):
    """The receiver's side of RFC 8291 and RFC 8188."""
    if ec is None:
        raise Skip("python3-cryptography is not installed")
    salt, record, length = body[:16], int.from_bytes(body[16:20], "big"), body[20]
    sender, sealed = body[21:21 + length], body[21 + length:]
    assert record == 4096 and length == 65 and len(body) <= record
    own = ec.derive_private_key(int.from_bytes(decode(PRIVATE), "big"), ec.SECP256R1())
    shared = own.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), sender))
    def derive(salt, key, info, size):
        return HKDF(hashes.SHA256(), size, salt, info).derive(key)
    key = derive(decode(AUTH), shared, b"WebPush: info\0" + decode(POINT) + sender, 32)
    plain = AESGCM(derive(salt, key, b"Content-Encoding: aes128gcm\0", 16)).decrypt(derive(salt, key, b"Content-Encoding: nonce\0", 12), sealed, None)
    text, mark, padding = plain.rpartition(b"\2")
    assert mark and not padding.strip(b"\0")
    return json.loads(text)


def check_signature(value, origin):
    """RFC 8292: a JWT by the key that stands beside it. The key is returned."""
    scheme, _, rest = value.partition(" ")
    parts = dict(part.strip().split("=", 1) for part in rest.split(","))
    head, claims, signature = parts["t"].split(".")
    told = json.loads(decode(claims))
    assert scheme == "vapid" and json.loads(decode(head)) == {"typ": "JWT", "alg": "ES256"}
    assert told["aud"] == origin and told["sub"] == "mailto:me@example.org" and time.time() < told["exp"] <= time.time() + 86400, told
    raw = decode(signature)
    assert len(raw) == 64 and len(decode(parts["k"])) == 65
    if ec is not None:
        der = utils.encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
        public = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), decode(parts["k"]))
        public.verify(der, (head + "." + claims).encode(), ec.ECDSA(hashes.SHA256()))
    return parts["k"]


def test_message():
    """What a phone gets: encrypted, signed, without pictures; what fails for a while comes again."""
    hook = Hook(500, (429, {"Retry-After": "1"}), None, 201)
    endpoint = "http://127.0.0.1:%d" % hook.port
    file = subscribed("message", endpoint + "/SECRET")
    with watching(describe("message", "", more=group(file, hook.port, "zones=way\nclasses=blue\n") + LOOK)) as running:
        eventually(lambda: len(hook.got) >= 4)
        path, headers, body, method = hook.got[3]
        assert (path, method, headers["Content-Encoding"], headers["TTL"], headers["Urgency"]) == ("/SECRET", "POST", "aes128gcm", "3600", "high"), headers
        key = check_signature(headers["Authorization"], endpoint)
        log = log_of(running)
        assert "SECRET" not in log and "http://127.0.0.1:%d/***: the status 500" % hook.port in log, log
        assert running.stop() < STOPPED and running.status == 0
    assert len(hook.got) == 4 and left(file) == ["SECRET"]
    told = decrypt(body)
    assert {k: told[k] for k in ("text", "camera", "event", "zone", "label")} == {"text": "blue entered way", "camera": "door", "event": "entered", "zone": "way", "label": "blue"}, told
    assert set(told) == {"text", "camera", "utc", "event", "zone", "label", "notice"} and b"picture" not in body
    with open(work("vapid.pem"), "rb") as pem:
        public = serialization.load_pem_private_key(pem.read(), None).public_key()
    assert decode(key) == public.public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)


def test_gone():
    """404 and 410 remove a browser, other refusals are told and counted; none of them holds the others up."""
    hooks = {"gone": Hook(410), "none": Hook(404), "large": Hook(413), "moved": Hook(302, location="http://127.0.0.1:1/"), "good": Hook(201), "busy": Hook((503, {"Retry-After": "3600"}))}
    file = subscribed("gone", *("http://127.0.0.1:%d/%s" % (hook.port, name) for name, hook in hooks.items()))
    hosts = ",".join("127.0.0.1:%d" % hook.port for hook in hooks.values())
    with watching(describe("gone", "", ["a", "b", "c"], more=group(file, 1).replace("127.0.0.1:1\n", hosts + "\n"))):
        eventually(lambda: len(hooks["good"].got) == 3)
        assert left(file) == ["large", "moved", "good", "busy"]
        eventually(lambda: len(hooks["large"].got) == 3 and len(hooks["moved"].got) == 3)
        assert [len(hooks[name].got) for name in ("gone", "none", "busy")] == [1, 1, 1]
    for answer, words in ((413, "the status 413"), (302, "the status 302, a redirection, which is not followed"), (403, "the status 403")):
        hook = Hook(answer, location="http://127.0.0.1:1/")
        file = subscribed("refused", "http://127.0.0.1:%d/SECRET" % hook.port)
        with watching(describe("refused", "", more=group(file, hook.port))) as running:
            eventually(lambda: "/***: " + words + "; such lines are lost and counted in dropped" in log_of(running))
            assert "SECRET" not in log_of(running) and len(hook.got) == 1 and left(file) == ["SECRET"]


def test_dripping():
    """An answer that never ends delays other phones for one timeout."""
    good = Hook(201)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        def drip():
            with contextlib.suppress(OSError):
                while True:
                    with listening.accept()[0] as peer, contextlib.suppress(OSError):
                        peer.recv(65536)
                        while True:
                            peer.sendall(b"HTTP/1.1 102 Processing\r\n\r\n")
                            time.sleep(0.1)
        threading.Thread(target=drip, daemon=True).start()
        port = listening.getsockname()[1]
        file = subscribed("drip", "http://127.0.0.1:%d/slow" % port, "http://127.0.0.1:%d/good" % good.port)
        more = group(file, port, "timeout=1\n").replace(":%d\n" % port, ":%d,127.0.0.1:%d\n" % (port, good.port))
        with watching(describe("drip", "", ["a", "b", "c", "d"], more=more)) as running:
            eventually(lambda: len(good.got) == 4)
            assert running.stop() < STOPPED and running.status == 0


def test_private():
    """A name that leads into a private network is not connected to, whatever the file says."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        for endpoint, words in (("https://phone.localhost/SECRET", "the host has a private address; hosts= of [push] allows it"), ("https://127.0.0.1:%d/SECRET" % port, "expected the name of a public host"),
                                ("http://127.0.0.1:%d/SECRET" % port, "expected https"), ("https://localhost/SECRET", "expected the name of a public host")):
            file = subscribed("private", endpoint)
            with watching(describe("private", "", more=group(file, 1))) as running:
                eventually(lambda: words in log_of(running))
                assert "SECRET" not in log_of(running)
        listening.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            raise AssertionError("somebody called: %s" % (listening.accept(),))


def test_errors():
    """What a description may not say."""
    key, file = key_file(), work("errors.phones")
    bare = "[push]\nkey=%s\nsubject=mailto:me@example.org\nsubscriptions=%s\n" % (key, file)
    other, encrypted, loose = key_file("p384.pem", "P-384"), work("encrypted.pem"), key_file("loose.pem")
    openssl("pkcs8", "-topk8", "-in", key, "-passout", "pass:x", "-out", encrypted)
    os.chmod(encrypted, 0o600)
    os.chmod(loose, 0o644)
    expected = "expected a private key of the curve P-256 as PEM, without a passphrase"
    for text, words in [("[push]\nkey=x\n", "[push]: expected subscriptions=FILE"), (bare + "attach-picture=true\n", "[push] attach-picture: no picture goes to a push service: remove it"),
                        (bare + "every=soon\n", "[push] every: expected a time such as 500ms"), (bare + "colour=red\n", "[push] colour: "),
                        (bare + "location=mqtt://127.0.0.1/x\n", "[push] location: messages go to the phones of subscriptions=FILE: remove it"),
                        (bare.replace("me@example.org", ""), "subject of [push]: expected mailto: with an address, or https://HOST, got 'mailto:'"),
                        (bare + "hosts=a b\n", "hosts of [push]: expected HOST or HOST:PORT with ',' between, got 'a b'"),
                        (bare.replace(key, work("none")), "key=%s: No such file" % work("none")), (bare.replace(key, other), expected), (bare.replace(key, encrypted), expected),
                        (bare.replace(key, loose), "other users may read or change this secret (mode 0644): chmod 600")]:
        result = run("check", describe("errors", "", more=text))
        assert result.status != 0 and words in result.out + result.err, (text, str(result))
    advice = "no phone can be added: expected [http] with listen=, whose page adds them, or --http"
    assert advice in run("check", describe("errors", "", more=bare)).out and advice not in run("check", describe("errors", "", more=bare + LOOK)).out
    for text, words in [
            (bare.replace("key=%s\n" % key, ""), "key of [push] is not set: expected a PEM file with a key of the curve P-256"),
            (bare.replace("mailto:", ""), "subject of [push]: expected mailto: with an address, or https://HOST, got 'me@example.org'"), (bare + "hosts=,\n", "expected HOST or HOST:PORT with ',' between, got ''"),
            (bare.replace(key, work("none")), "key=%s: No such file" % work("none")), (bare.replace(key, other), expected), (bare.replace(key, encrypted), expected),
            (bare.replace(key, loose), "other users may read or change this secret (mode 0644): chmod 600"), (bare.replace(key, write("no.pem", b"x" * 20000)), "expected a regular file of at most 16384 bytes"),
            (bare.replace(file, subscribed("open.phones", "https://a.example/x")), "open.phones: other users may read or change it (mode 0666): chmod 600")]:
        if "open.phones" in text:
            os.chmod(work("open.phones"), 0o666)
        with watching(describe("errors", "", more="restart=no\n" + text)) as running:
            eventually(lambda: words in log_of(running) and advice in log_of(running))
    run("run", describe("first", "", more=bare + LOOK), describe("second", "", more=bare.replace(file, file + "2"))).expect(1, "[push] subscriptions is %s2, %s has %s: expected one for all that run together" % (file, work("first.pipeline"), file))


def body_of(endpoint, **more):
    return {"endpoint": endpoint, "p256dh": POINT, "auth": AUTH, "name": "Chrome, Android", **more}


def test_api():
    """Subscribing, listing and removing; hostile bodies."""
    hook = Hook(201)
    file, endpoint = work("api.phones"), "http://127.0.0.1:%d/" % hook.port
    with Served(describe("api", "", more=group(file, hook.port) + "[http]\nrole=configure\n")) as served:
        client = Client(served)
        told = client.get("push").json
        assert len(decode(told["key"])) == 65 and told["why"] is None and told["browsers"] == [], told
        one, = client.ask("POST", "push", body_of(endpoint + "one")).json["browsers"]
        assert one["id"] == hashlib.sha256((endpoint + "one").encode()).hexdigest()[:16] and (one["user"], one["name"], one["own"]) == ("(no login)", "Chrome, Android", True), one
        assert os.stat(file).st_mode & 0o777 == 0o600
        assert len(client.ask("POST", "push", body_of(endpoint + "one", name="Again")).json["browsers"]) == 1
        for body, status in ((b"", 422), (b"{", 422), (b"[]", 422), (b"\xff", 422), (b'{"endpoint":1}', 422), ({"endpoint": endpoint}, 422), (body_of(endpoint, more="x"), 422), (b'{"a":' * 500, 422),
                             (body_of("https://10.0.0.1/x"), 422), (body_of("http://fcm.googleapis.com/x"), 422), (body_of("https://a.example/" + "x" * 1100), 422), (body_of("file:///etc/passwd"), 422),
                             (body_of(endpoint, p256dh="AAAA"), 422), (body_of(endpoint, auth="AAAA"), 422), (body_of(endpoint, name=""), 422), (body_of(endpoint, name="x" * 65), 422), (body_of(endpoint + "x" * 9000), 413)):
            answer = client.ask("POST", "push", body)
            assert answer.status == status and answer.json["error"], (body, answer.text)
        assert client.ask("POST", "push", body_of(endpoint, name="")).json["error"] == "name: expected 1 to 64 bytes"
        assert "expected endpoint, p256dh, auth and name" in client.ask("POST", "push", {"endpoint": endpoint}).json["error"]
        answer = client.ask("POST", "push", json.dumps(body_of(endpoint)).encode(), **{"Content-Type": "text/plain"})
        assert answer.status == 415 and client.ask("POST", "push", body_of(endpoint), Origin="http://evil.example").status == 403
        for i in range(15):
            assert client.ask("POST", "push", body_of(endpoint + str(i))).status == 200
        answer = client.ask("POST", "push", body_of(endpoint + "more"))
        assert answer.status == 409 and answer.json["error"].startswith("expected at most 64 browsers, and 16 of one user"), answer.text
        for wrong in ("0" * 16, "..%2f..", "x" * 2000):
            answer = client.ask("DELETE", "push/" + wrong)
            assert answer.status == 404 and "there is no browser of that id" in answer.json["error"], answer.text
        assert one["id"] not in [b["id"] for b in client.ask("DELETE", "push/" + one["id"]).json["browsers"]] and len(left(file)) == 15
        os.chmod(file, 0o644)
        assert client.get("push").status == 500 and "chmod 600" in client.get("push").json["error"]
    with Served(describe("none", "", more="[http]\nrole=configure\n")) as served:
        told = Client(served).get("push").json
        assert told["key"] is None and told["why"].startswith("no description has the group [push]"), told
        answer = Client(served).ask("POST", "push", body_of(endpoint))
        assert answer.status == 409 and answer.json["error"].startswith("push: no description has the group [push]"), answer.text


def test_reload():
    """SIGHUP: the log says what of a changed [push] the console reads at the start alone."""
    more = group(subscribed("reload.phones"), 9)
    with Served(describe("reload", "", more=more + LOOK), at=None) as served:
        path = describe("reload", "", more=more.replace("retry-max=20", "retry-max=30") + LOOK)
        served.child.send_signal(signal.SIGHUP)
        served.wait_for("reloaded")
        describe("reload", "", more=more.replace("hosts=127.0.0.1:9", "hosts=127.0.0.1:10") + LOOK)
        served.child.send_signal(signal.SIGHUP)
        assert served.wait_for("push")["message"] == "%s: [push] changed; the console reads it when the program starts: start it again" % path
        served.wait_for("reloaded", 2)
    with Served(describe("reload", "", more=more + LOOK), at=None) as served:
        describe("reload", "", more=LOOK)
        served.child.send_signal(signal.SIGHUP)
        assert "[push] changed" in served.wait_for("push")["message"]


def test_users():
    """Browsers are their users': whoever configures sees all, and those of users who are gone go."""
    hook = Hook(201)
    users, file = work("users"), work("users.phones")
    for who, role in (("anna", "look"), ("bert", "look"), ("carla", "configure")):
        done = subprocess.run([harness.PROGRAM, "user", "add", users, who, "--role", role], input=who + "-secret\n", capture_output=True, text=True, timeout=200)
        if "this build has no libcrypt" in done.stderr:
            raise Skip("built without libcrypt")
    endpoint = "http://127.0.0.1:%d/" % hook.port
    with Served(describe("users", "", more=group(file, hook.port) + "[http]\nusers=%s\naudit=%s\n" % (users, work("push.audit")))) as served:
        clients = {}
        assert Client(served).get("push").status == 401
        for who in ("anna", "bert", "carla"):
            clients[who] = Client(served)
            clients[who].login(who, who + "-secret")
            token = clients[who].headers.pop("X-CSRF-Token")
            answer = clients[who].ask("POST", "push", body_of(endpoint + who))
            assert answer.status == 403 and "expected the header X-CSRF-Token" in answer.json["error"], answer.text
            clients[who].headers["X-CSRF-Token"] = token
            clients[who].ask("POST", "push", body_of(endpoint + who, name=who + "'s phone"))
        mine, = clients["anna"].get("push").json["browsers"]
        assert (mine["user"], mine["own"]) == ("anna", True)
        assert [(b["user"], b["own"]) for b in clients["carla"].get("push").json["browsers"]] == [("anna", False), ("bert", False), ("carla", True)]
        assert clients["bert"].ask("DELETE", "push/" + mine["id"]).status == 404 and len(left(file)) == 3
        eventually(lambda: {path for path, *_ in hook.got} <= {"/anna", "/bert", "/carla"})
        subprocess.run([harness.PROGRAM, "user", "remove", users, "anna"], check=True, timeout=200)
        eventually(lambda: left(file) == ["bert", "carla"])
        subprocess.run([harness.PROGRAM, "user", "password", users, "bert"], input="another-secret\n", check=True, text=True, timeout=200, stdout=subprocess.DEVNULL)
        eventually(lambda: left(file) == ["carla"])
        lines = [line["message"] for line in clients["carla"].get("audit").json["lines"]]
        assert "push: the browser 'anna's phone' is told about events" in lines, lines
        with open(file, encoding="ascii") as text:
            assert "secret" not in text.read()


harness.main(globals())
