# SPDX-License-Identifier: LGPL-2.1-or-later
"""What people decide about events: which are kept, which somebody has looked at, which are deleted, one by one and many at once."""
import json
import os

import harness
from harness import model, run, work, write
from openapi import Client
from running import eventually
from served import Served

STEMS = ["door-2026-11-2%d%s-in" % (i, "T10-00-00.000Z") for i in range(5)]


def clips(name):
    """A folder of five clips, of which nothing is played."""
    folder = work(name)
    os.makedirs(folder)
    for i, stem in enumerate(STEMS):
        write("%s/%s.mkv" % (name, stem), b"no video")
        notes = {"event": "in", "events": [{"at": 1, "what": {"event": "in", "line": "way %d" % (i % 2), "id": 7, "label": ("dog", "car", "Ärmel")[i % 3]}}]}
        write("%s/%s.json" % (name, stem), json.dumps(notes).encode())
    return folder


def describe(name, folder, more="[http]\nrole=review\n"):
    return write(name + ".pipeline", ("[pipeline]\nlaunch=videotestsrc is-live=true ! video/x-raw,format=RGB,width=64,height=48,framerate=10/1 ! "
                                      "slrecord location=%s source=door on=\"\" ! fakesink\n%s" % (folder, more)).encode())


def ids(client, query=""):
    return sorted(event["id"] for event in client.get("events?" + query).json["events"])


def mark(client, what, *stems):
    return client.ask("POST", "events", {"do": what, "ids": list(stems)})


def changes(served):
    return [e["message"] for e in served.events() if e["event"] == "changed"]


def test_marks():
    """Marks are files beside the clip: they are in the index again when that is made anew, and go with the clip."""
    folder = clips("marks")
    path = describe("marks", folder)
    with Served(path) as served:
        client = Client(served)
        eventually(lambda: client.get("events").json["total"] == 5)
        assert client.get("events/words").json == {"events": ["in"], "regions": ["way 0", "way 1"], "labels": ["car", "dog", "Ärmel"]}
        answer = client.ask("POST", "events/%s/review" % STEMS[0], {"reviewed": True})
        assert answer.json["reviewed"]["user"] == "(no login)", answer.text
        with open(os.path.join(folder, STEMS[0] + ".reviewed"), encoding="utf-8") as file:
            assert json.load(file) == answer.json["reviewed"], answer.text
        assert ids(client, "reviewed=1") == STEMS[:1] and ids(client, "reviewed=0") == STEMS[1:] and ids(client, "reviewed=0&label=car") == [STEMS[1], STEMS[4]]
        assert client.get("events/" + STEMS[0]).json["recording"] is False
        assert mark(client, "review", *STEMS[1:3]).json == {"done": 2, "failed": []}
        assert mark(client, "unreview", STEMS[0]).json["done"] == 1 and ids(client, "reviewed=1") == STEMS[1:3]
        assert not os.path.exists(os.path.join(folder, STEMS[0] + ".reviewed"))
        assert mark(client, "keep", *STEMS[:2]).json["done"] == 2 and ids(client, "kept=1") == STEMS[:2]
        assert mark(client, "release", STEMS[1]).json["done"] == 1 and ids(client, "kept=1") == STEMS[:1]
        gone = mark(client, "delete", STEMS[2], "nothing").json
        assert gone["done"] == 1 and gone["failed"] == [{"id": "nothing", "error": "nothing: there is no such event; it may have been deleted: load the list again"}], gone
        assert not [name for name in os.listdir(folder) if name.startswith(STEMS[2])]
        served.wait_for("changed", 8)
        assert changes(served)[-1] == "(no login): event %s is deleted" % STEMS[2] and "(no login): event %s is reviewed" % STEMS[1] in changes(served), changes(served)
        for body in ({}, {"do": "keep"}, {"do": "burn", "ids": STEMS}, {"do": "keep", "ids": []}, {"do": "keep", "ids": [7]}, {"do": "keep", "ids": ["x"] * 201}, b"{", b'{"do":"keep","ids":["x"'):
            answer = client.ask("POST", "events", body)
            assert answer.status == 400 and answer.json["error"].startswith('expected {"do":"keep", "release", "review", "unreview" or "delete","ids":[1 to 200'), answer.text
        answer = client.ask("POST", "events/%s/review" % STEMS[0], {"reviewed": 1})
        assert answer.status == 400 and answer.json["error"] == 'expected {"reviewed":true} or {"reviewed":false}', answer.text
        answer = client.get("events?reviewed=2")
        assert answer.status == 400 and answer.json["error"] == "?reviewed=2: expected 0 or 1", answer.text
    for name in os.listdir(folder):
        if name.startswith(".sightline"):
            os.unlink(os.path.join(folder, name))
    write("marks/%s.reviewed" % STEMS[3], b'{"user":"\\u202ea\\u001b[31m","time":7}')  # of another origin
    write("marks/%s.reviewed" % STEMS[4], b"[[[")
    with Served(describe("marks", folder, "")) as served:
        client = Client(served)
        eventually(lambda: client.get("events").json["total"] == 4)
        assert ids(client, "reviewed=1") == [STEMS[1], STEMS[3], STEMS[4]] and ids(client, "kept=1") == STEMS[:1]
        found = {event["id"]: event["reviewed"] for event in client.get("events").json["events"]}
        assert found[STEMS[1]]["user"] == "(no login)" and found[STEMS[3]] == {"user": "\\u202ea\\x1b[31m", "time": None} and found[STEMS[4]] == {"user": None, "time": None}, found
        os.unlink(os.path.join(folder, STEMS[1] + ".reviewed"))
        eventually(lambda: ids(client, "reviewed=1") == [STEMS[3], STEMS[4]])
        for method, where, body in (("POST", "events", {"do": "delete", "ids": STEMS}), ("POST", "events/%s/review" % STEMS[3], {"reviewed": False})):
            answer = client.ask(method, where, body)
            assert answer.status == 403 and "expected the role review, got look" in answer.json["error"], answer.text


def test_two():
    """Two programs share a folder of clips: what one marks and deletes, the other has within seconds."""
    folder = clips("shared-clips")
    with Served(describe("shared-1", folder)) as first, Served(describe("shared-2", folder)) as second:
        one, two = Client(first), Client(second)
        eventually(lambda: one.get("events").json["total"] == 5 and two.get("events").json["total"] == 5)
        for i, stem in enumerate(STEMS[:4]):
            for client in (one, two):
                assert mark(client, "keep" if i % 2 else "review", stem).json == {"done": 1, "failed": []}
        assert mark(one, "delete", STEMS[4]).json["done"] == 1
        for client in (one, two):
            eventually(lambda: ids(client, "kept=1") == STEMS[1:4:2] and ids(client, "reviewed=1") == STEMS[0:4:2] and len(ids(client)) == 4)
        assert not [e for served in (first, second) for e in served.events() if e["event"] == "events"]


def test_recording():
    """An event whose clip is being recorded is not deleted: the clip would bring it back. Events without a clip are reviewed and deleted, too; the
    clip keeps the mark."""
    folder = work("recording")
    os.makedirs(folder)
    text = ("[parameters]\nmodel=%s\n[pipeline]\nlaunch=videotestsrc is-live=true pattern=blue ! video/x-raw,format=RGB,width=64,height=48,framerate=10/1 ! "
            "slpredict model=${model} threshold=0.3 track=true ! slanalyze confirm=1 ! slrecord location=%s source=cam on=entered post-roll=600 max-length=600 min-free=0 ! fakesink\n"
            "[zone all]\npoints=0,0 1,0 1,1 0,1\n[http]\nrole=review\n" % (model("one_box.tflite"), folder))
    with Served(write("recording.pipeline", text.encode())) as served:
        client = Client(served)
        stem, = eventually(lambda: ids(client))
        eventually(lambda: client.get("events/" + stem).json["recording"])
        for answer in (client.ask("DELETE", "events/" + stem), mark(client, "delete", stem)):
            told = answer.json.get("error") or answer.json["failed"][0]["error"]
            assert told == stem + ": its clip is still being recorded: delete it when it is complete", answer.text
        reviewed = client.ask("POST", "events/%s/review" % stem, {"reviewed": True}).json["reviewed"]
        assert reviewed["user"] == "(no login)", reviewed
        answer = client.ask("POST", "events/%s/keep" % stem, {"keep": True})
        assert answer.status == 409 and answer.json["error"] == stem + ": there is no clip of this event, so there is nothing to keep", answer.text
    with Served(write("recording.pipeline", text.replace("on=entered", 'on=""').encode())) as served:
        client = Client(served)
        eventually(lambda: len(ids(client)) == 2)
        (bare,), (clip,) = ([event for event in client.get("events").json["events"] if event["clip"] == has] for has in (False, True))
        assert clip["reviewed"] == reviewed and bare["reviewed"] is None, (clip, bare)
        with open(os.path.join(folder, clip["id"] + ".reviewed"), encoding="utf-8") as file:
            assert json.load(file) == reviewed
        assert client.get("events/" + stem).json["id"] == clip["id"], "whoever has the event's address finds the clip that took its place"
        assert client.get("events/%s/clip.mkv" % stem).status == 200
        for answer in (client.ask("DELETE", "events/" + stem), mark(client, "delete", stem)):
            told = answer.json.get("error") or answer.json["failed"][0]["error"]
            assert told == "%s: the clip %s took its place: load the list again, and delete that" % (stem, clip["id"]), answer.text
        bare = bare["id"]
        assert client.ask("DELETE", "events/" + bare).status == 200 and bare not in ids(client)


if "SQLite" not in run("--version").out.partition("without")[2]:
    harness.main(globals())
