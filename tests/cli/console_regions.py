# SPDX-License-Identifier: LGPL-2.1-or-later
"""/api/v1/pipelines/NAME/regions: zones are saved into descriptions while cameras run; no count is lost, no edit is overwritten, and a
file is never half of one."""
import contextlib
import json
import os
import shutil
import signal
import subprocess
import threading
import time

import harness
from harness import Skip, model, run, work, write
from openapi import check
from running import eventually
from served import Answer, Served

HEAD = "# The shop's door.\n[pipeline]\nname=%s\nlaunch=videotestsrc is-live=true pattern=blue ! video/x-raw,width=80,height=40,framerate=20/1 ! " \
       "slpredict model=%s ! sltrack ! slanalyze confirm=1 ! slpublish location=%s\n\n[http]\nlisten=127.0.0.1:0\nrole=%s\n"
ALL = "\n# Everybody.\n[zone all]\npoints=0,0 1,0 1,1 0,1\n"
SQUARE = [[0, 0], [1, 0], [1, 1], [0, 1]]


def describe(name, zones=ALL, role="configure"):
    return write(name + ".pipeline", (HEAD % (name, model("one_box.tflite"), work(name + ".json"), role) + zones).encode())


def text_of(path):
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()


class Console(Served):
    def __init__(self, *paths, **more):
        super().__init__(*paths, at=None, **more)
        self.token = self.get("/api/v1/session").json["csrf"]

    def send(self, method, path, value):
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        head = "%s %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Type: application/json\r\nContent-Length: %d\r\n" % (method, path, self.port, len(body))
        if self.token:
            head += "X-CSRF-Token: %s\r\n" % self.token
        return check(method, path, Answer(self.ask(head.encode() + b"\r\n" + body)))

    def regions(self, name):
        answer = check("GET", "/api/v1/pipelines/%s/regions" % name, self.get("/api/v1/pipelines/%s/regions" % name))
        assert answer.status == 200, answer.text
        return answer.json

    def save(self, name, regions, revision):
        return self.send("PUT", "/api/v1/pipelines/%s/regions" % name, {"revision": revision, "regions": regions})

    def restarts(self):
        return len([e for e in self.events() if e["event"] == "running"]) - 1


def zone(name, points=SQUARE, **more):
    return {"kind": "zone", "name": name, "points": points, "classes": None, "anchor": None, "dwell_after": None, "left_behind_after": None, "empty_after": None, **more}


def lines_of(name):
    with open(work(name + ".json"), encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.endswith("\n")]


def test_saves():
    """A hundred saves: the pipeline goes on, every frame comes out, and who stands in a zone has entered it once."""
    path = describe("saves")
    with Console(path) as console:
        eventually(lambda: any(line["analysis"]["zones"][0]["entered"] == 1 for line in lines_of("saves") if "analysis" in line))
        state = console.regions("saves")
        assert state["editable"] and state["why"] is None and state["file"] == "saves.pipeline", state
        assert state["regions"] == [zone("all")] and state["labels"] != [], state
        for n in range(100):
            regions = [zone("all"), zone("till %d" % (n % 3), [[0.1, 0.1], [0.5, 0.1], [0.5, round(0.2 + n / 200, 4)]], dwell_after=1.5)]
            answer = console.save("saves", regions, state["revision"])
            assert answer.status == 200, answer.text
            assert answer.json["revision"] != state["revision"] and answer.json["regions"] == regions, answer.text
            state = answer.json
        before = len(lines_of("saves"))
        eventually(lambda: len(lines_of("saves")) > before + 5)
        assert console.restarts() == 0, console.lines[-5:]
    lines = lines_of("saves")
    numbers = [line["frame"] for line in lines]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers))), "frames are missing"
    last = lines[-1]["analysis"]["zones"]
    assert [z["name"] for z in last] == ["all", "till 0"] and (last[0]["entered"], last[0]["left"], last[0]["inside"]) == (1, 0, 1), last
    assert text_of(path) == HEAD % ("saves", model("one_box.tflite"), work("saves.json"), "configure") + ALL + \
        "\n[zone till 0]\npoints=0.1,0.1 0.5,0.1 0.5,0.695\ndwell-after=1500ms\n", text_of(path)
    kept = [name for name in os.listdir(harness.WORK.name) if name.startswith("saves.pipeline.bak-")]
    assert len(kept) == 5, kept
    run("check", path).expect(0, "")


def test_reload():
    """SIGHUP takes zones over that a person has edited, without a restart, and restarts for anything else."""
    path = describe("reload")
    with Console(path) as console:
        write("reload.pipeline", (text_of(path) + "\n[line way]\npoints=0,0.5 1,0.5\n").encode())
        console.child.send_signal(signal.SIGHUP)
        assert "the same pipeline; it goes on, with new zones, lines and masks" in console.wait_for("reloaded")["message"]
        eventually(lambda: lines_of("reload")[-1]["analysis"]["lines"])
        assert console.restarts() == 0
        write("reload.pipeline", text_of(path).replace("confirm=1", "confirm=2").encode())
        console.child.send_signal(signal.SIGHUP)
        console.wait_for("running", 2)


def test_conflict():
    """An edit on the disk is told, and never overwritten; drop-ins belong to the description, too."""
    path = describe("conflict")
    os.mkdir(path + ".d")
    with Console(path) as console:
        state = console.regions("conflict")
        edited = text_of(path) + "\n[line way]\npoints=0,0.5 1,0.5\n"
        write("conflict.pipeline", edited.encode())
        answer = console.save("conflict", [zone("mine")], state["revision"])
        assert answer.status == 409 and text_of(path) == edited, answer.text
        assert "was changed on the disk meanwhile, and nothing was saved" in answer.json["error"], answer.text
        assert [r["name"] for r in answer.json["regions"]] == ["all", "way"], answer.text
        merged = answer.json["regions"] + [{"kind": "mask", "name": "poster", "points": SQUARE[:3]}]
        answer = console.save("conflict", merged, answer.json["revision"])
        assert answer.status == 200 and text_of(path) == edited + "\n[mask poster]\npoints=0,0 1,0 1,1\n", answer.text
        with open(os.path.join(path + ".d", "site.conf"), "w", encoding="utf-8") as file:
            file.write("[zone all]\nclasses=red\n")
        assert console.save("conflict", merged, answer.json["revision"]).status == 409
        state = console.regions("conflict")
        assert state["regions"][0]["classes"] == "red", state
        answer = console.save("conflict", [dict(state["regions"][0], classes=None)] + state["regions"][1:], state["revision"])
        assert answer.status == 200 and text_of(os.path.join(path + ".d", "site.conf")) == "[zone all]\n", answer.text


def test_refused():
    """What check refuses is refused with its words; nothing is written, and the pipeline goes on."""
    path = describe("refused")
    before = text_of(path)
    other = describe("inline", "").replace(".pipeline", "")
    write("inline.pipeline", text_of(other + ".pipeline").replace("slanalyze confirm=1", 'slanalyze confirm=1 regions="[zone a] points=0,0 1,0 1,1"').encode())
    with Console(path, other + ".pipeline") as console:
        state = console.regions("refused")
        bow = [[0, 0], [1, 1], [1, 0], [0, 0.5]]
        for regions, status, words in (
                ([zone("a", bow)], 422, "[zone a] points: sides 1 and 3 cross"), ([zone("a"), zone("a")], 422, "[zone a]: twice; expected names that differ"),
                ([zone("a", classes="martian")], 422, "[zone a] classes: the model before has no class 'martian'"),
                ([zone("a]\n[pipeline")], 422, "without brackets"), ([zone("")], 422, "expected a name of 1 to 64 bytes"),
                ([zone("a", [[0, 0], [2, 0], [1, 1]])], 400, "points: expected x and y from 0 to 1"), ([{"kind": "circle", "name": "a"}], 400, "expected zone, line or mask, got 'circle'"),
                ([zone("a", dwell_after=-1)], 400, "dwell_after: expected seconds from 0 to 86400, got -1"), ([zone("a", anchor="head")], 400, "anchor: expected bottom"),
                ([zone("a%d" % n) for n in range(65)], 400, "regions: more than 64"), ({}, 400, "regions")):
            answer = console.save("refused", regions, state["revision"])
            assert answer.status == status and words in answer.json["error"].replace("'martian'", "'martian'"), (regions, answer.status, answer.text)
        for body, words in (b"{", "but the file ends"), (b'{"revision":"x"}', "no regions"):
            answer = console.send("PUT", "/api/v1/pipelines/refused/regions", body)
            assert answer.status == 400 and words + ': expected {"regions":[...]} as GET has them' in answer.json["error"], answer.text
        for answer in console.save("nobody", [], "x"), console.get("/api/v1/pipelines/nobody/settings"), console.get("/api/v1/pipelines/nobody/snapshot.jpg"):
            assert answer.status == 404 and answer.json["error"] == "there is no pipeline 'nobody'; GET /api/v1/pipelines lists them", answer.text
        inline = console.regions("inline")
        assert not inline["editable"] and "the regions are in regions= of slanalyze: move them into groups" in inline["why"], inline
        assert [r["name"] for r in inline["regions"]] == ["a"], inline
        assert text_of(path) == before and console.restarts() == 1
        assert [name for name in os.listdir(harness.WORK.name) if name.startswith("refused.pipeline")] == ["refused.pipeline"]
    with Console(describe("looking", role="look")) as console:
        state = console.regions("looking")
        assert not state["editable"] and "expected the role configure" in state["why"], state
        assert console.save("looking", [], state["revision"]).status == 403


def test_shared():
    """A file of two pipelines is not changed for one of them."""
    write("shared.conf", ALL.encode())
    one, two = (describe(name, "") for name in ("one", "two"))
    for path in (one, two):
        write(os.path.basename(path), text_of(path).replace("name=", "include=shared.conf\nname=", 1).replace("\n[http]\nlisten=127.0.0.1:0\nrole=configure\n", "" if path == two else
              "\n[http]\nlisten=127.0.0.1:0\nrole=configure\n").encode())
    with Console(one, two) as console:
        state = console.regions("one")
        answer = console.save("one", [zone("all", SQUARE[:3])], state["revision"])
        assert answer.status == 403 and "shared.conf: the pipeline two has this file, too" in answer.json["error"], answer.text
        answer = console.save("one", state["regions"] + [zone("mine", SQUARE[:3])], state["revision"])
        assert answer.status == 200 and text_of(one).endswith("\n[zone mine]\npoints=0,0 1,0 1,1\n"), answer.text
        assert text_of(work("shared.conf")) == ALL


def test_preview():
    """What zones that are not saved would have counted of the last minutes."""
    with Console(describe("preview", "")) as console:
        ask = {"regions": [zone("new"), {"kind": "line", "name": "way", "points": [[0, 0.01], [1, 0.01]]}, {"kind": "mask", "name": "m", "points": [[0, 0], [0.05, 0], [0.05, 0.05]]}]}
        answer = eventually(lambda: (lambda a: a if a.status != 200 or a.json["seconds"] > 1 else None)(console.send("POST", "/api/v1/pipelines/preview/regions/preview", ask)))
        assert answer.status == 200, answer.text
        assert answer.json["regions"] == [{"kind": "zone", "name": "new", "entered": 1, "left": 0, "in": 0, "out": 0}, {"kind": "line", "name": "way", "entered": 0, "left": 0, "in": 0, "out": 0}], answer.text
        ask["regions"].append({"kind": "mask", "name": "all", "points": SQUARE})
        assert console.send("POST", "/api/v1/pipelines/preview/regions/preview", ask).json["regions"][0]["entered"] == 0
        wrong = console.send("POST", "/api/v1/pipelines/preview/regions/preview", {"regions": [zone("a", SQUARE[:2])]})
        assert wrong.status == 422 and wrong.json["error"] == "[zone a] points: expected at least 3 corners x,y of 0..1, got 2", wrong.text


def test_killed():
    """The process dies while it saves: the file is one of those that were saved, whole."""
    for n in range(2):
        path = describe("killed")
        console = Console(path)
        state, texts = console.regions("killed"), {text_of(path)}

        def saves(console=console, state=state):
            with contextlib.suppress(OSError, ValueError, IndexError, AssertionError):  # the answer that the end cuts off
                for k in range(1000):
                    answer = console.save("killed", [zone("all", [[0, 0], [1, 0], [1, round(0.5 + k / 4000, 4)]])], state["revision"])
                    state = answer.json
        thread = threading.Thread(target=saves)
        thread.start()
        eventually(lambda path=path, texts=texts: text_of(path) not in texts)
        time.sleep(0.05 + 0.013 * n)
        console.child.send_signal(signal.SIGKILL)
        console.ended()
        thread.join()
        text = text_of(path)
        assert text.startswith(next(iter(texts)).split("\n[zone")[0]) and text.count("points=0,0 1,0 1,") == 1 and text.endswith("\n"), text
        run("check", path).expect(0, "")
        with Console(path) as again:  # and the next save finds nothing in its way
            state = again.regions("killed")
            assert again.save("killed", [zone("all")], state["revision"]).status == 200


def settings_of(console, name):
    answer = check("GET", "/api/v1/pipelines/%s/settings" % name, console.get("/api/v1/pipelines/%s/settings" % name))
    assert answer.status == 200, answer.text
    return {setting["key"]: setting for setting in answer.json["settings"]}


def test_settings():
    """Threshold, classes, rate, recording and redaction act at the next frame, are logged with who, and outlive the process."""
    os.mkdir(work("clips"))
    path = describe("settings", ALL + "[redact]\nswitch=true\n[record]\nlocation=%s\nencoder=jpegenc\n" % work("clips"))

    def patch(console, **values):
        return console.send("PATCH", "/api/v1/pipelines/settings/settings", values)

    def seen():
        return lines_of("settings")[-1]["objects"]
    with Console("--state", work("state"), path) as console:
        eventually(lambda: os.path.exists(work("settings.json")) and lines_of("settings") and seen())
        settings = settings_of(console, "settings")
        assert list(settings) == ["threshold", "classes", "rate", "recording", "redaction"], settings
        assert all(setting["editable"] and setting["why"] is None for setting in settings.values()), settings
        assert [settings[key]["value"] for key in settings] == [None, None, 20, True, True], settings
        label = seen()[0]["detection"]["label"]
        assert patch(console, classes="!" + label).json["settings"][1]["value"] == "!" + label
        eventually(lambda: not seen())
        assert patch(console, classes=None, threshold=1).json["settings"][0]["value"] == 1
        eventually(seen)
        answer = patch(console, classes=None, rate=4, recording=False, redaction=False, threshold=0.25)
        assert [setting["value"] for setting in answer.json["settings"]] == [0.25, None, 4, False, False], answer.text
        for values, status, words in (({"threshold": 2}, 422, "threshold: expected a number from 0 to 1"), ({"threshold": "x"}, 422, "threshold: expected a number"),
                                      ({"classes": "martian"}, 422, "classes: the model before has no class 'martian'"), ({"rate": 0}, 422, "rate: expected a number above 0"),
                                      ({"rate": 1e300}, 422, "rate: expected at most 20, the frames a second of the camera, got 1e+300"),
                                      ({"recording": 1}, 422, "recording: expected true, false or null"), ({"volume": 1}, 422, "volume: there is no such setting; expected threshold"),
                                      ({"threshold": 0.7, "rate": -1}, 422, "rate: ")):
            answer = patch(console, **values)
            assert answer.status == status and words in answer.json["error"], answer.text
        assert settings_of(console, "settings")["threshold"]["value"] == 0.25
        told = [event["message"] for event in console.events() if event["event"] == "changed"]
        assert "(no login): settings: threshold: 0.25 instead of 1" in told and "(no login): settings: rate: 4 instead of 20 (the description's)" in told, told
        assert "(no login): settings: recording: false instead of true (the description's)" in told, told
        assert console.restarts() == 0
    with Console("--state", work("state"), path) as console:
        settings = settings_of(console, "settings")
        assert [setting["value"] for setting in settings.values()] == [0.25, None, 4, False, False], settings
        assert settings["threshold"]["default"] is None and settings["rate"]["default"] == 20, settings


def test_settings_refused():
    """What a description does not allow is not editable, and says why."""
    path = describe("strict", ALL + "[redact]\n")
    write("strict.pipeline", text_of(path).replace("name=strict", "name=strict\nprivacy=strict").encode())
    with Console(path, describe("plain", ALL + "[redact]\n")) as console:
        settings, plain = settings_of(console, "strict"), settings_of(console, "plain")
        assert not settings["redaction"]["editable"] and settings["redaction"]["why"] == "privacy=strict: no open picture is ever shown", settings
        assert not plain["redaction"]["editable"] and plain["redaction"]["why"].endswith("add switch=true to [redact]"), plain
        assert not settings["recording"]["editable"] and "add the group [record]" in settings["recording"]["why"], settings
        answer = console.send("PATCH", "/api/v1/pipelines/strict/settings", {"redaction": False})
        assert answer.status == 403 and answer.json["error"] == "redaction: privacy=strict: no open picture is ever shown", answer.text
    write("strict.pipeline", text_of(path).replace("[redact]", "[redact]\nswitch=true").encode())
    told = run("check", path).expect(1).out
    assert "[pipeline] privacy=strict: expected an slredact that always hides, got switch=true at slredact0: remove it" in told, told


@contextlib.contextmanager
def message_bus():
    """The environment of a bus of our own."""
    if not (shutil.which("dbus-daemon") and shutil.which("gdbus")):
        raise Skip("dbus-daemon and gdbus are not here")
    bus = subprocess.Popen(["dbus-daemon", "--session", "--nofork", "--print-address"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        yield {"DBUS_SESSION_BUS_ADDRESS": bus.stdout.readline().decode().strip()}
    finally:
        bus.kill()
        bus.wait()
        bus.stdout.close()


def test_dbus():
    """Settings as properties on a message bus; the log has the user of a change."""
    run("run", "--dbus", "moon", describe("moon")).expect(2, "--dbus: expected session or system, got 'moon'")
    with message_bus() as environment:
        def call(method, *args):
            done = subprocess.run(["gdbus", "call", "--session", "--dest", "org.sightline.Run", "--object-path", "/org/sightline/pipelines/bus_2d1", "--method",
                                   "org.freedesktop.DBus.Properties." + method, "org.sightline.Pipeline", *args], env=dict(os.environ, **environment),
                                  capture_output=True, text=True, timeout=200)
            return (done.stdout + done.stderr).strip()
        with Console("--dbus", "session", describe("bus-1", "audit=%s\n" % work("bus.audit") + ALL), env=environment) as console:
            run("run", "--dbus", "session", describe("second"), env=dict(os.environ, **environment)).expect(
                1, "--dbus session: another program has the name org.sightline.Run: expected one that runs alone")
            assert call("Get", "Name") == "(<'bus-1'>,)" and call("Get", "Threshold") == "(<-1.0>,)" and call("Get", "Rate") == "(<20.0>,)"
            assert call("Set", "Threshold", "<0.5>") == "()" and call("Get", "Threshold") == "(<0.5>,)"
            assert [call("Set", "Classes", "<'!green'>"), call("Set", "Rate", "<5.0>")] == ["()", "()"], call("Set", "Classes", "<'!green'>")
            assert [settings_of(console, "bus-1")[key]["value"] for key in ("threshold", "classes", "rate")] == [0.5, "!green", 5]
            assert call("Set", "Threshold", "<-1.0>") == "()" and settings_of(console, "bus-1")["threshold"]["value"] is None
            assert "threshold: expected a number from 0 to 1" in call("Set", "Threshold", "<7.0>")
            assert "classes: the model before has no class 'martian'" in call("Set", "Classes", "<'martian'>")
            assert "recording: " in call("Set", "Recording", "<false>") and "add the group [record]" in call("Set", "Recording", "<false>")
            told = [event["message"] for event in console.events() if event["event"] == "changed"]
            line = "bus-1: threshold: 0.5 instead of the description's"
            assert "user %d of the message bus: %s" % (os.getuid(), line) in told, told
            assert (["user %d of the message bus" % os.getuid(), "dbus", line]) in [[row[key] for key in ("user", "address", "message")] for row in console.get("/api/v1/audit").json["lines"]]
            with open(work("heard"), "w+b") as heard:
                monitor = subprocess.Popen(["gdbus", "monitor", "--session", "--dest", "org.sightline.Run"], env=dict(os.environ, **environment), stdout=heard)
                def told_by_page():
                    console.send("PATCH", "/api/v1/pipelines/bus-1/settings", {"threshold": 0.125})
                    with open(work("heard"), "rb") as file:
                        return b"/bus_2d1: org.freedesktop.DBus.Properties.PropertiesChanged ('org.sightline.Pipeline', {'Threshold': <0.125>}" in file.read()
                try:
                    eventually(told_by_page)  # the monitor may begin to listen a moment later
                finally:
                    monitor.kill()
                    monitor.wait()


harness.main(globals())
