# SPDX-License-Identifier: LGPL-2.1-or-later
"""sightline run --http: /api/v1, who may ask what, and what hostile clients get out of it: nothing."""
import base64
import contextlib
import fcntl
import json
import os
import pty
import re
import resource
import shutil
import signal
import ssl
import subprocess
import termios
import threading

import harness
from harness import Skip, model, run, work, write
from openapi import DOCUMENT, Client, find_path
from running import eventually
from served import Answer, Served, certificate, jpeg_size, read_until

FRAMES = "videotestsrc is-live=true pattern=blue ! video/x-raw,format=RGB,width=320,height=240,framerate=30/1"
MODEL = "slpredict name=predict model=${model} ! application/x-json ! fakesink"
ZONES = "slpredict model=${model} ! slanalyze name=analyze ! fakesink"
REGIONS = "[zone floor]\npoints=0,0 1,0 1,1 0,1\n[line door]\npoints=0,0.5 1,0.5\n"
USERS = {"anna": "look", "bert": "review", "carla": "configure"}


def describe(name, http="", launch=FRAMES + " ! " + MODEL, more=""):
    text = "[parameters]\nmodel=%s\n[pipeline]\nlaunch=%s\n%s\n[http]\n%s\n" % (model("brightest_channel.tflite"), launch, more, http)
    return write(name + ".pipeline", text.encode())


def user(*args, password=None):
    done = subprocess.run([harness.PROGRAM, "user", *args], input=password, capture_output=True, text=True, timeout=200)
    if "this build has no libcrypt" in done.stderr:
        raise Skip("built without libcrypt")
    return done


def users_file(name="users"):
    path = work(name)
    if not os.path.exists(path):
        for who, role in USERS.items():
            done = user("add", path, who, "--role", role, password=who + "-secret\n")
            assert done.returncode == 0, done.stderr
    return path


def basic(name, password):
    return "Basic " + base64.b64encode(("%s:%s" % (name, password)).encode()).decode()


def test_document():
    roles = {operation["x-role"] for row in DOCUMENT["paths"].values() for key, operation in row.items() if key != "parameters"}
    assert roles == {"none", "look", "review", "configure"}
    assert find_path("/api/v1/events/timeline?bucket=hour") == "/api/v1/events/timeline"
    assert find_path("/api/v1/events/a%2Fb") == "/api/v1/events/{id}" and find_path("/api/v1/events/a/b") is None
    with Served(describe("document")) as served:
        client = Client(served)
        assert client.get("openapi.json").json == DOCUMENT


def refusal(client, method, row, query):
    """The error of an address that states @query, "" without one."""
    path = row.replace("{name}", "keys").replace("{id}", "x")
    answer = client.ask(method.upper(), path + "?" + query)
    return answer.json["error"] if answer.status == 400 else ""


def test_keys():
    """An address knows the keys that the document has, and refuses others."""
    with Served(describe("keys", "role=configure")) as served:
        client = Client(served)
        for row, operations in DOCUMENT["paths"].items():
            for method, operation in ((key, operation) for key, operation in operations.items() if key != "parameters"):
                names = [parameter["name"] for parameter in operation.get("parameters", []) if parameter["in"] == "query"]
                assert refusal(client, method, row, "&quux=1").startswith("?quux=: unknown key; "), (method, row)
                for name in names:
                    assert "unknown key" not in refusal(client, method, row, name + "="), (method, row, name)
        for query, error in (("wrods=red", "?wrods=: unknown key; did you mean 'words'?"), ("limit=5&lable=dog", "?lable=: unknown key; did you mean 'label'?"), ("Kept", "?Kept=: unknown key; did you mean 'kept'?"),
                             ("x", "?x=: unknown key; the nearest are 'to', 'text', 'from'"), ("%00=1", "?%00=: unknown key"), ("%1b[m=1", "?\\x1b[m=: unknown key")):
            assert refusal(client, "get", "/api/v1/events", query).startswith(error), refusal(client, "get", "/api/v1/events", query)
        assert refusal(client, "get", "/api/v1/storage", "all=1") == "?all=: unknown key; expected none here"
        assert refusal(client, "get", "/api/v1/log", "line=5") == "?line=: unknown key; did you mean 'lines'?"
        assert client.get("events?l%69mit=5&&").status == 200


def test_nobody():
    """Without users and a password everybody on this machine looks, and changes nothing."""
    with Served(describe("nobody"), describe("other/name".replace("/", "_"), more="name=a/b")) as served:
        client = Client(served)
        assert client.get("session").json == {"user": None, "role": "look", "csrf": None, "users": False, "login": False, "search": "none"}
        answer = client.get("log")
        assert answer.status == 403 and answer.json["error"].startswith("GET /api/v1/log: expected the role configure, got look"), answer.text
        answer = client.ask("POST", "session", {"user": "a", "password": "b"})
        assert answer.status == 409 and "nobody logs in here" in answer.json["error"], answer.text
        assert client.get("session", Host="evil.example").status == 403
        assert "connect-src" not in answer.headers["content-security-policy"] and answer.headers["x-content-type-options"] == "nosniff"
        for path, status in (("nothing", 404), ("pipelines/none/snapshot.jpg", 404), ("pipelines/%00/snapshot.jpg", 404), ("pipelines/%ff/snapshot.jpg", 404),
                             ("pipelines/nobody/snapshot.jpg?boxes=2", 400), ("pipelines/nobody/snapshot.jpg?width=0", 400), ("log?lines=x", 403),
                             ("pipelines//snapshot.jpg", 404), ("pipelines/%1b[31m/snapshot.jpg", 404)):
            answer = client.get(path)
            assert answer.status == status and answer.json["error"], (path, answer.text)
        answer = client.ask("PUT", "session", {})
        assert answer.status == 405 and answer.headers["allow"] == "GET, POST, DELETE", answer.headers
        assert client.get("pipelines/a%2Fb/snapshot.jpg").status == 200
        assert client.ask("HEAD", "pipelines").body == b""


def test_role():
    with Served(describe("role", "role=configure")) as served:
        client = Client(served)
        assert client.get("session").json["role"] == "configure" and client.get("log").json["lines"]
        answer = client.get("audit")
        assert answer.status == 404 and "expected audit=FILE in [http]" in answer.json["error"]
        assert client.get("log?lines=1").json["lines"][0]["event"] == "running" and client.get("log?lines=0").status == 400
    run("run", describe("no-role", "role=cook")).expect(1, "no-role.pipeline:7: [http] role: expected look, review or configure, got 'cook'")
    file = write("secret", b"secret\n")
    os.chmod(file, 0o600)
    run("run", describe("two-roles", "listen=127.0.0.1:0\nrole=look\npassword-file=" + file)).expect(1, "got role=look and a password file: expected role only where")
    run("run", describe("two-ways", "listen=127.0.0.1:0\nusers=x\npassword-file=" + file)).expect(1, "got a file of users and a password file: expected one of them")
    run("run", describe("no-proxy", "listen=127.0.0.1:0\nproxy=here")).expect(1, "proxy: expected an address, or a network such as 10.0.0.0/24, got 'here'")
    run("run", describe("no-audit", "listen=127.0.0.1:0\naudit=" + work("none") + "/a")).expect(1, "audit log " + work("none") + "/a: No such file")


def test_pipelines():
    state = work("state")
    with Served(describe("shop", launch=FRAMES + " ! " + ZONES, more="state=%s\n%s" % (state, REGIONS))) as served:
        client = Client(served)
        def ready():
            row, = client.get("pipelines").json["pipelines"]
            return row if row["today"] and row["frames_per_second"] > 0 and row["width"] else None
        row = eventually(ready)
        assert (row["width"], row["height"]) == (320, 240) and row["state"] == "running" and row["models"][0]["model"].endswith(".tflite"), row
        assert [(t["kind"], t["name"]) for t in row["today"]] == [("zone", "floor"), ("line", "door")] and "inside" not in row["today"][1]
        assert jpeg_size(client.get("pipelines/shop/snapshot.jpg").body) == (320, 240)
        assert jpeg_size(client.get("pipelines/shop/snapshot.jpg?width=100").body) == (160, 120)
        clean, drawn = (len(client.get("pipelines/shop/snapshot.jpg?boxes=%d" % boxes).body) for boxes in (0, 1))
        assert drawn > clean, (drawn, clean)  # zones are drawn on one colour
        newest = eventually(lambda: (lambda answer: answer if answer.status == 200 else None)(client.get("pipelines/shop/predictions")))
        assert newest.json["resolution"] == {"width": 320, "height": 240}
        with served.stream("/api/v1/pipelines/shop/stream.mjpg?boxes=0") as peer:
            head = read_until(peer, b"image/jpeg", 2).partition(b"\r\n\r\n")[0]
            assert head.startswith(b"HTTP/1.1 200") and b"Content-Security-Policy: default-src 'none'; frame-ancestors 'none'; sandbox" in head, head
        with served.stream("/api/v1/pipelines/shop/predictions", "text/event-stream") as peer:
            read_until(peer, b'"analysis":{', 2)
        newest = eventually(lambda: client.get("pipelines/shop/predictions").json.get("analysis"))
        assert [zone["name"] for zone in newest["zones"]] == ["floor"] and "analysis" not in served.get("/predictions").json
    with open(work("state/shop.today"), encoding="ascii") as file:
        assert "of=analyze zone floor\nentered=" in file.read()


def test_words():
    """What a camera that is away and a pipeline that failed are called."""
    away = describe("away", launch="slcamera name=eye uri=rtsp://127.0.0.1:9/ ! fakesink")
    ended = describe("ended", launch="videotestsrc num-buffers=1 ! fakesink", more="restart=no")
    fails = describe("fails", launch="filesrc location=%s ! fakesink" % work("none"), more="restart=no")
    served = Served(away, ended, fails, first_frame=False)
    client = Client(served)
    rows = eventually(lambda: (lambda rows: rows if [rows[1]["state"], rows[2]["state"]] == ["ended", "failed"] else None)(client.get("pipelines").json["pipelines"]))
    served.stop()
    assert (rows[1]["words"], rows[1]["level"], rows[1]["healthy"]) == ("at its end", "good", True), rows[1]
    assert (rows[2]["words"], rows[2]["level"], rows[2]["healthy"]) == ("failed: it is not started again", "bad", False), rows[2]
    assert rows[2]["reasons"] == ["failed, and is not started again"] and rows[0]["level"] != "good", rows


def test_users():
    audit = work("audit.log")
    with Served(describe("users", "users=%s\naudit=%s" % (users_file(), audit))) as served:
        stranger = Client(served)
        assert stranger.get("session").json == {"user": None, "role": "none", "csrf": None, "users": True, "login": True, "search": "none"}
        answer = stranger.get("pipelines")
        assert answer.status == 401 and "www-authenticate" not in answer.headers, answer.headers
        assert stranger.get("/").status == 200
        for path in ("/snapshot.jpg", "/stream.mjpg", "/predictions", "/pipelines", "/health", "/metrics", "/nothing"):
            answer = stranger.get(path)
            assert answer.status in (401, 404) and (answer.status == 404) == (path == "/nothing"), (path, answer.status)
        assert stranger.get("/health").headers["www-authenticate"].startswith("Basic ")
        for name, role in USERS.items():
            client = Client(served)
            answer = client.login(name, name + "-secret")
            assert answer.json["user"] == name and answer.json["role"] == role and len(answer.json["csrf"]) == 43, answer.text
            cookie = answer.headers["set-cookie"]
            assert "HttpOnly; SameSite=Strict" in cookie and "Secure" not in cookie and re.match(r"sightline-\d+=[\w-]{43}; Path=/;", cookie), cookie
            assert client.get("pipelines").status == 200 and client.get("/health").status in (200, 503)
            assert client.get("audit").status == (200 if role == "configure" else 403)
        assert Client(served, Authorization=basic("anna", "anna-secret")).get("session").json["role"] == "look"
        assert Client(served, Authorization=basic("anna", "anna-secret")).get("/pipelines").status == 200
        assert Client(served, Authorization="Bearer anna-secret").get("session").json["role"] == "none"
        for name, password in (("anna", "bert-secret"), ("nobody", "anna-secret"), ("", "")):
            answer = stranger.login(name, password)
            assert answer.status == 401 and answer.json["error"].startswith("wrong user or password"), answer.text
        lines = client.get("audit").json["lines"]
        assert [line["user"] for line in lines if line["message"] == "logged in"] == list(USERS) and lines[0]["address"] == "127.0.0.1"
        assert os.stat(audit).st_mode & 0o777 == 0o600
        with open(audit, "ab") as file:  # what a machine without power left, and others
            file.write(b'{"time":"2026-\n{"a":"\xff"}\n{"a":1} {}\n\n')
        assert client.get("audit").json["lines"] == lines
        old = client.headers["Cookie"]
        answer = client.ask("DELETE", "session")
        assert answer.json["role"] == "none" and "Max-Age=0" in answer.headers["set-cookie"]
        assert Client(served, Cookie=old).get("session").json["role"] == "none"


def test_forgery():
    """What a page of another origin, and a planted cookie, can do."""
    with Served(describe("forgery", "users=" + users_file())) as served:
        client = Client(served)
        planted = "sightline-0=" + "A" * 43
        client.headers["Cookie"] = planted
        client.login("carla", "carla-secret")
        assert client.headers["Cookie"] != planted and Client(served, Cookie=planted).get("session").json["role"] == "none"
        token = client.headers.pop("X-CSRF-Token")
        for wrong in ({}, {"X-CSRF-Token": "x" * 43}, {"X-CSRF-Token": ""}):
            answer = client.ask("DELETE", "session", **wrong)
            assert answer.status == 403 and "expected the header X-CSRF-Token" in answer.json["error"], answer.text
        for origin in ("http://evil.example", "null", "http://127.0.0.1:1"):
            answer = client.ask("DELETE", "session", **{"X-CSRF-Token": token, "Origin": origin})
            assert answer.status == 403 and "another origin" in answer.json["error"], answer.text
        answer = Client(served).ask("POST", "session", b"user=carla&password=carla-secret", **{"Content-Type": "application/x-www-form-urlencoded"})
        assert answer.status == 415 and "expected a body with Content-Type: application/json" in answer.json["error"]
        for body in (b"", b"{", b"[]", b'{"user":"carla"}', b'{"user":1,"password":2}', b"\xff", b'{"user":"a","password":"b"}x', b'{"a":' * 2000):
            answer = Client(served).ask("POST", "session", body)
            assert answer.status in (401, 413, 422) and answer.json["error"], (body[:20], answer.status)
        second = Client(served)
        second.headers["Cookie"] = client.headers["Cookie"]
        second.login("carla", "carla-secret")  # a login ends the session that it had
        assert client.get("session").json["role"] == "none" and second.get("session").json["role"] == "configure"
        here = {"Origin": "http://127.0.0.1:%d" % served.port}
        assert second.ask("DELETE", "session", **here).status == 200


def test_bodies():
    """Bodies that are too long, come in parts, or never come."""
    with Served(describe("bodies", "users=" + users_file())) as served:
        client = Client(served)
        answer = client.ask("POST", "session", b"x" * 5000)
        assert answer.status == 413 and "the body has 5000 bytes, expected at most 4096" in answer.json["error"], answer.text
        head = "POST /api/v1/session HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        parts = b"1000\r\n" + b"x" * 4096 + b"\r\n1\r\nx\r\n0\r\n\r\n"
        answer = served.answer((head + "Transfer-Encoding: chunked\r\n\r\n").encode() + parts)
        assert answer.status == 413 and "more than 4096 bytes" in answer.json["error"], answer.text
        body = json.dumps({"user": "anna", "password": "anna-secret"}).encode()
        answer = served.answer((head + "Transfer-Encoding: chunked\r\n\r\n").encode() + b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body))
        assert answer.status == 200, answer.text
        with served.connect() as slow:
            slow.sendall((head + "Content-Length: 100\r\n\r\n{").encode())
            assert client.get("session").status == 200  # others are answered meanwhile
        with served.connect() as gone:
            gone.sendall((head + "Content-Length: %d\r\n\r\n" % len(body)).encode() + body)
        assert client.login("anna", "anna-secret").status == 200


def test_password():
    file = write("one-secret", b"one secret\n")
    os.chmod(file, 0o600)
    with Served(describe("password", "password-file=" + file)) as served:
        stranger, client = Client(served), Client(served)
        assert stranger.get("session").json["login"] and stranger.get("session").json["role"] == "none"
        assert stranger.get("pipelines").status == 401 and stranger.get("/").status == 401
        assert Client(served, Authorization="Bearer one secret").get("session").json["role"] == "configure"
        assert Client(served, Authorization=basic("x", "one secret")).get("log").status == 200
        assert Client(served, Authorization=basic("x", "another")).get("pipelines").status == 401
        assert client.login("", "another").status == 401 and client.login("", "one secret").json["role"] == "configure"
        assert client.get("log").status == 200 and client.ask("DELETE", "session").status == 200


def test_changes():
    """A file of users that changes while the program runs."""
    path = work("changing")
    for name in ("dora", "emil"):
        assert user("add", path, name, "--role", "configure", password="old-secret").returncode == 0
    with Served(describe("changes", "users=" + path)) as served:
        dora, emil = Client(served), Client(served)
        assert dora.login("dora", "old-secret").status == 200 and emil.login("emil", "old-secret").status == 200
        assert user("password", path, "dora", password="new-secret").returncode == 0
        eventually(lambda: dora.get("session").json["role"] == "none")
        assert emil.get("session").json["role"] == "configure"
        assert dora.login("dora", "old-secret").status == 401 and dora.login("dora", "new-secret").status == 200
        with open(path, encoding="utf-8") as file:
            text = file.read()
        with open(path, "w", encoding="utf-8") as file:
            file.write("# staff\n" + text.replace("emil:configure", "emil:look"))
        eventually(lambda: emil.get("session").json["role"] == "look")
        os.chmod(path, 0o644)
        assert "users stay as they were: %s: other users may read or change this file (mode 0644): chmod 600" % path in served.wait_for("http", 2)["message"]
        assert emil.get("session").json["role"] == "look"
        os.chmod(path, 0o600)
        streams = [served.connect() for _ in range(3)]
        for peer, key, value in zip(streams, ("Cookie", "Authorization", "Cookie"), (emil.headers["Cookie"], basic("emil", "old-secret"), dora.headers["Cookie"])):
            peer.sendall(("GET /api/v1/pipelines/changes/stream.mjpg HTTP/1.1\r\nHost: 127.0.0.1\r\n%s: %s\r\n\r\n" % (key, value)).encode())
            assert read_until(peer, b"image/jpeg").startswith(b"HTTP/1.1 200")
        assert user("remove", path, "emil").returncode == 0
        for peer in streams[:2]:
            while peer.recv(1 << 16):
                pass
        assert read_until(streams[2], b"image/jpeg", 5)
        assert dora.ask("DELETE", "session").status == 200
        while streams[2].recv(1 << 16):
            pass
        eventually(lambda: emil.get("session").json["role"] == "none")
        assert open(path, encoding="utf-8").read().startswith("# staff\ndora:configure:$y$")


def test_user_command():
    path = users_file("listed")
    assert [line.split() for line in user("list", path).stdout.splitlines()] == [list(item) for item in USERS.items()]
    assert os.stat(path).st_mode & 0o777 == 0o600
    for args, password, status, message in (
            (["add", path, "anna", "--role", "look"], "long enough", 1, "there is a user 'anna' already; 'sightline user password' changes"),
            (["add", path, "frida", "--role", "look"], "short", 1, "expected a password of 8 to 256 bytes"),
            (["add", path, "frida", "--role", "look"], "", 1, "expected a password of 8 to 256 bytes"),
            (["add", path, "a:b", "--role", "look"], "long enough", 2, "'a:b' is no name of a user: expected letters, digits and . _ - @"),
            (["add", path, "password", "--role", "look"], "long enough", 2, "neither password nor nobody"),
            (["add", path, "frida", "--role", "cook"], "long enough", 2, "--role: expected look, review or configure, got 'cook'"),
            (["add", path, "frida"], "long enough", 2, "add: expected --role look, review or configure"),
            (["remove", path, "frida", "--role", "look"], "", 2, "remove: --role is for add"),
            (["remove", path, "frida"], "", 1, "there is no user 'frida'; 'sightline user list' lists them"),
            (["password", path, "frida"], "long enough", 1, "there is no user 'frida'"),
            (["list", work("none")], "", 1, "'sightline user add' makes one"),
            (["list"], "", 2, "list: expected FILE, got 0 arguments"),
            (["cook", path], "", 2, "expected add, list, remove or password, got 'cook'")):
        done = user(*args, password=password)
        assert done.returncode == status and message in done.stderr, (args, done.returncode, done.stderr)
    for text, message in (("anna\n", ":1: expected NAME:ROLE:HASH"), ("a b:look:$y$x\n", ":1: 'a b' is no name"), ("\na:cook:$y$x\n", ":2: a: expected the role look"),
                          ("a:look:$6$x\n", ":1: a: expected a hash that begins with $y$"), ("a:look:$y$x\na:look:$y$x\n", ":2: a has a line already")):
        bad = write("bad-users", text.encode())
        os.chmod(bad, 0o600)
        run("run", describe("bad-users", "listen=127.0.0.1:0\nusers=" + bad)).expect(1, bad + message)
    os.chmod(bad, 0o640 | 0o004)
    run("run", describe("open-users", "listen=127.0.0.1:0\nusers=" + bad)).expect(1, "(mode 0644): chmod 600")


def test_full_disk():
    """A file of users that cannot be written stays as it is."""
    path = work("full-users")
    assert user("add", path, "dora", "--role", "look", password="long enough").returncode == 0
    with open(path, "rb") as file:
        before = file.read()

    def small():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
    for args in (["add", path, "emil", "--role", "look"], ["password", path, "dora"]):
        done = subprocess.run([harness.PROGRAM, "user", *args], input="long enough\n" if args[0] == "add" else "another one\n", capture_output=True, text=True, timeout=200, preexec_fn=small)
        if args[0] == "password":
            assert done.returncode == 0, done.stderr  # it is as long as before
            continue
        assert done.returncode == 1 and done.stderr.startswith("sightline user: %s: " % path) and "; the users are as they were" in done.stderr, done.stderr
        with open(path, "rb") as file:
            assert file.read() == before
        assert [name for name in os.listdir(os.path.dirname(path)) if name.startswith("full-users")] == ["full-users"]


def test_prompt():
    """A password is asked for without an echo, and whatever ends the question brings the echo back."""
    path = work("prompted")
    for key, again, number in ((b"\x03", None, signal.SIGINT), (b"\x1c", None, signal.SIGQUIT), (None, None, signal.SIGTERM), (b"long enough\n", b"long enoughs\n", -1),
                               (b"long enough\n", b"long enough\n", 0)):
        master, terminal = pty.openpty()

        def own(fd=terminal):
            fcntl.ioctl(fd, termios.TIOCSCTTY, 0)
            for one in (signal.SIGINT, signal.SIGQUIT):  # which shells ignore in what they run in the background
                signal.signal(one, signal.SIG_DFL)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        child = subprocess.Popen([harness.PROGRAM, "user", "add", path, "tom", "--role", "look"], stdin=terminal, stdout=terminal, stderr=terminal, start_new_session=True, preexec_fn=own)
        try:
            shown = os.read(master, 1000)
            if b"this build has no libcrypt" in shown:
                raise Skip("built without libcrypt")
            assert shown == b"Password: ", shown
            eventually(lambda: not termios.tcgetattr(terminal)[3] & termios.ECHO)
            if key is None:
                child.send_signal(number)
            else:
                os.write(master, key)
            if again is not None:
                while b"again: " not in shown:
                    shown += os.read(master, 1000)
                os.write(master, again)
            assert child.wait(60) == -number, child.returncode
            while number == -1 and b"the two passwords differ: nothing was changed\r\n" not in shown:
                shown += os.read(master, 1000)
            assert termios.tcgetattr(terminal)[3] & termios.ECHO, number
            assert os.path.exists(path) == (number == 0)
        finally:
            child.kill()
            os.close(master)
            os.close(terminal)


def test_flood():
    """Wrong passwords in masses hold up neither others nor the log."""
    with Served(describe("flood", "users=" + users_file())) as served:
        client = Client(served)
        client.login("anna", "anna-secret")
        statuses = []

        def guess(number):
            statuses.append(Client(served).login("anna", "guess-%d" % number).status)
        threads = [threading.Thread(target=guess, args=(i,)) for i in range(40)]
        for thread in threads:
            thread.start()
        assert client.get("session").json["role"] == "look"
        with served.connect(source="127.0.0.2") as other:  # another client is not slowed down
            body = json.dumps({"user": "bert", "password": "bert-secret"})
            other.sendall(("POST /api/v1/session HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)).encode())
            answer = Answer(b"".join(iter(lambda: other.recv(1 << 16), b"")))
            assert answer.status in (200, 429), answer.text
        for thread in threads:
            thread.join()
        assert set(statuses) <= {401, 429} and 429 in statuses, statuses
        assert sum("login refused" in line["message"] for line in served.events()) < 10


def test_proxy():
    """Headers of a proxy count from its address alone, and only its last address is believed."""
    audit = work("proxied.log")
    said = {"X-Forwarded-For": "6.6.6.6, 192.0.2.7", "X-Forwarded-Proto": "https", "X-Forwarded-Host": "shop.example"}
    with Served(describe("proxied", "users=%s\naudit=%s\nproxy=127.0.0.1" % (users_file(), audit))) as served:
        client = Client(served, Origin="https://shop.example", **said)
        assert "; Secure" in client.login("carla", "carla-secret").headers["set-cookie"]
        assert client.get("audit").json["lines"][-1]["address"] == "192.0.2.7"
        for origin in ("https://evil.example", "http://shop.example", "https://shop.example:8443"):
            assert client.ask("DELETE", "session", Origin=origin).status == 403, origin
        assert client.ask("DELETE", "session").status == 200
        named = Client(served, host="shop.example", Origin="https://shop.example", X_Forwarded_For="192.0.2.7", X_Forwarded_Proto="https")
        assert named.login("carla", "carla-secret").status == 200
        answer = named.ask("DELETE", "session")
        assert answer.status == 200, answer.text
        bad = {**said, "X-Forwarded-For": "no address"}
        assert Client(served, **bad).login("carla", "carla-secret").status == 200
    with Served(describe("direct", "users=%s\naudit=%s\nproxy=192.0.2.0/24" % (users_file(), audit))) as served:
        client = Client(served, **said)
        assert "; Secure" not in client.login("carla", "carla-secret").headers["set-cookie"]
        assert client.get("audit").json["lines"][-1]["address"] == "127.0.0.1"
        assert client.ask("DELETE", "session", Origin="https://shop.example").status == 403


def test_stop():
    """The program ends while passwords are checked, and others wait for that."""
    with Served(describe("stop", "users=" + users_file())) as served:
        peers = [served.connect() for _ in range(8)]
        for number, peer in enumerate(peers):
            peer.sendall(("GET /api/v1/pipelines HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: %s\r\n\r\n" % basic("bert", "guess-%d" % number)).encode())
        assert Client(served).get("session").status == 200
        served.stop()
        for peer in peers:
            peer.close()


def trust(path):
    context = ssl.create_default_context(cafile=path)
    context.check_hostname = False
    return context


def test_certificate():
    """Certificate files that change while the program runs; the cookie is for TLS alone."""
    first, second = certificate("first"), certificate("second")
    served_files = work("live.pem"), work("live.key")
    for here, there in zip(first, served_files):
        shutil.copy(here, there)
    with Served(describe("tls", "users=%s\ncertificate=%s\nprivate-key=%s" % (users_file(), *served_files)), context=trust(first[0])) as served:
        client = Client(served)
        assert "; Secure" in client.login("anna", "anna-secret").headers["set-cookie"]
        for here, there in zip(second, served_files):
            shutil.copy(here, there)
        assert served.wait_for("http", 2)["message"] == "certificate %s was read again" % served_files[0]
        with contextlib.suppress(ssl.SSLError), served.connect():
            raise AssertionError("the old certificate is still served")
        served.context = trust(second[0])
        assert client.get("session").json["user"] == "anna"
        write("live.pem", b"no certificate")
        assert "the certificate stays as it was: certificate " + served_files[0] in served.wait_for("http", 3)["message"]
        assert client.get("session").json["user"] == "anna"
        shutil.copy(first[0], served_files[0])  # and the key of the second
        assert "the key does not belong to the certificate; expected a pair" in served.wait_for("http", 4)["message"]
        assert client.get("session").json["user"] == "anna"


if __name__ == "__main__":
    harness.main(globals())
