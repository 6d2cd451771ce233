# SPDX-License-Identifier: LGPL-2.1-or-later
"""[gallery] in descriptions that run, and sightline gallery. A person here is one box on a camera of one colour. Files are read with Python's sqlite3."""
import json
import os
import re
import signal
import sqlite3
import stat

import harness
from harness import model, run, work, write
from running import Running, eventually

GREEN, BLUE = "0xff00ff00", "0xff0000ff"
USAGE = "sightline gallery: "


def describe(camera, colour, gallery, extra="", frames=40, live="false"):
    """The path of a description of a camera."""
    return write("%s.pipeline" % camera, (
        "[pipeline]\nlaunch=videotestsrc num-buffers=%d is-live=%s pattern=solid-color foreground-color=%s ! video/x-raw,format=RGB,width=64,height=64,framerate=25/1 ! "
        "slpredict model=%s ! sltrack appearance=%s appearance-batch=1 appearance-settings=\"mean=127.5 std=127.5\" ! slpublish location=%s\n"
        "[gallery]\nlocation=%s\nkeep=7d\n%s" % (frames, live, colour, model("one_box.tflite"), model("looks.onnx"), work(camera + ".jsonl"), gallery, extra)).encode())


def seen(camera):
    """What the camera published of its objects."""
    with open(work(camera + ".jsonl"), encoding="utf-8") as file:
        return [thing for line in file for thing in json.loads(line)["objects"]]


def people(gallery, *args):
    listed = run("gallery", "list", gallery, "--json", *args)
    assert listed.status == 0 and listed.err == ("" if listed.out else "nobody found\n"), listed
    return [json.loads(line) for line in listed.out.splitlines()]


def rows(gallery, query):
    with sqlite3.connect("file:%s?mode=ro" % gallery, uri=True) as database:
        return database.execute(query).fetchall()


def watch(description):
    """Until the end of its stream."""
    done = run("run", description)
    assert done.status == 0 and "end of stream" in done.err and "warning" not in done.err, done


def new_gallery(name):
    """Three cameras have seen two people."""
    gallery = work(name)
    for camera, colour in (("gate", GREEN), ("hall", GREEN), ("yard", BLUE)):
        watch(describe(camera, colour, gallery))
    return gallery


def test_cameras():
    """The same person on two cameras, another one on the third: the JSON of frames, the list, and what is in the file."""
    gallery = new_gallery("a.gallery")
    ids = {camera: {thing["identity"]["id"] for thing in seen(camera) if "identity" in thing} for camera in ("gate", "hall", "yard")}
    assert ids["gate"] == ids["hall"] == {1} and ids["yard"] == {2}, ids
    last = seen("hall")[-1]["identity"]
    assert sorted(last["cameras"]) == ["gate", "hall"] and 0.5 < last["confidence"] <= 1, last
    listed = people(gallery)
    assert [(p["id"], sorted(p["cameras"])) for p in listed] == [(max(ids["yard"]), ["yard"]), (1, ["gate", "hall"])], listed
    for person in listed:
        stored = rows(gallery, "SELECT count(*) FROM sighting WHERE person = %d" % person["id"])[0][0]
        assert person["sightings"] == stored and 0 <= person["confidence"] <= 1 and person["first"] <= person["last"], person
    assert oct(os.stat(gallery).st_mode & 0o777) == "0o600"


def test_commands():
    """list, show, merge and forget, as text and as JSON; errors are sentences."""
    gallery = new_gallery("b.gallery")
    other = people(gallery)[0]["id"]
    text = run("gallery", "list", gallery).expect(0).out.splitlines()
    assert text[1].split()[0] == "1" and sorted(text[1].split()[4].split(",")) == ["gate", "hall"], text
    assert [p["id"] for p in people(gallery, "--camera", "yard")] == [other] and len(people(gallery, "--limit", "1")) == 1
    assert people(gallery, "--since", "2100-01-01") == []
    shown = json.loads(run("gallery", "show", gallery, "1", "--json").expect(0).out)
    assert [s["camera"] for s in shown["sightings"]] == ["gate", "hall"] and "cosine" not in shown["sightings"][0], shown
    assert shown["sightings"][1]["cosine"] > 0.9 and shown["alike"]["id"] == other and shown["alike"]["confidence"] < 0.5 and shown["alike"]["calibrated"] is False, shown
    lines = run("gallery", "show", gallery, "1").expect(0).out.splitlines()
    assert lines[0].endswith(" gate") and lines[2].startswith("most alike: %d, cosine " % other) and lines[2].endswith("(not calibrated)"), lines
    run("gallery", "merge", gallery, str(other), "1").expect(0)
    merged = people(gallery)
    assert [(p["id"], sorted(p["cameras"])) for p in merged] == [(1, ["gate", "hall", "yard"])], merged
    run("gallery", "forget", gallery, "--camera", "yard").expect(0)
    assert sorted(people(gallery)[0]["cameras"]) == ["gate", "hall"]
    run("gallery", "forget", gallery, "1").expect(0)
    assert people(gallery) == [] and rows(gallery, "SELECT count(*) FROM view") == [(0,)]
    for words, status, message in (
            (["show", gallery, "1"], 1, "there is no person 1 in it; expected one that `sightline gallery list` shows"),
            (["forget", gallery, "7"], 1, "there is no person 7 in it"),
            (["list", work("none")], 1, "No such file or directory; expected the file of a gallery that can be written"),
            (["list", gallery, "--key-file", write("k", b"1")], 1, "expected a key of 64 hexadecimal digits"),
            ([], 2, USAGE + "expected list, show, merge or forget, got ''"),
            (["open", gallery], 2, "expected list, show, merge or forget, got 'open'"),
            (["list"], 2, "list: expected the FILE of a gallery"),
            (["list", gallery, "1"], 2, "list: expected no person, got 1 words after FILE"),
            (["show", gallery], 2, "show: expected one PERSON, got 0 words after FILE"),
            (["show", gallery, "anna"], 2, "show: expected the number of a person, got 'anna'"),
            (["merge", gallery, "1"], 2, "merge: expected PERSON and the person that it is, too, got 1 words"),
            (["merge", gallery, "1", "1"], 1, "expected two persons, got 1 twice"),
            (["forget", gallery, "1", "2"], 2, "forget: expected at most one PERSON, got 2 words"),
            (["forget", gallery], 2, "forget: expected a PERSON, --before, --camera, or --all without these"),
            (["forget", gallery, "1", "--all"], 2, "forget: expected a PERSON, --before, --camera, or --all without these")):
        if words and words[-1] == work("k"):
            os.chmod(work("k"), 0o600)
        run("gallery", *words).expect(status, message)


def test_key():
    """An encrypted gallery: who was where is listed without the key, embeddings need it."""
    gallery, key, wrong = work("c.gallery"), write("key", b"5" * 64 + b"\n"), write("wrong", b"6" * 64 + b"\n")
    os.chmod(key, 0o600)
    os.chmod(wrong, 0o600)
    for camera, colour in (("gate", GREEN), ("yard", BLUE)):
        watch(describe(camera, colour, gallery, "key-file=%s\n" % key))
    assert len(people(gallery)) == 2
    assert "alike" not in json.loads(run("gallery", "show", gallery, "1", "--json").expect(0).out)
    assert "alike" in json.loads(run("gallery", "show", gallery, "1", "--json", "--key-file", key).expect(0).out)
    run("gallery", "list", gallery, "--key-file", wrong).expect(1, "it is encrypted with another key; expected the key that it was made with")
    sizes = {size for (size,) in rows(gallery, "SELECT length(look) FROM view")}
    assert sizes == {24 + 28}, sizes
    assert "it is encrypted; expected the file of its key: state key-file=" in run("run", describe("gate", GREEN, gallery)).err


def size_of(jpeg):
    """Width and height in the frame header of a JPEG."""
    at = 2
    while jpeg[at + 1] not in (0xc0, 0xc2):
        at += 2 + int.from_bytes(jpeg[at + 2:at + 4], "big")
    return int.from_bytes(jpeg[at + 7:at + 9], "big"), int.from_bytes(jpeg[at + 5:at + 7], "big")


def test_pictures():
    """pictures=true keeps one picture of each person, which show writes; it is encrypted and erased as embeddings are. Nothing is kept without it."""
    gallery, sealed, key, picture = work("p.gallery"), work("q.gallery"), write("key", b"5" * 64 + b"\n"), work("person.jpg")
    os.chmod(key, 0o600)
    striped = lambda path: write("gate.pipeline", open(path, encoding="utf-8").read().replace("pattern=solid-color", "pattern=checkers-4").encode())
    watch(striped(describe("gate", GREEN, gallery)))
    assert rows(gallery, "SELECT count(*) FROM picture") == [(0,)]
    run("gallery", "show", gallery, "1", "--picture", picture).expect(1, "there is no picture of person 1 in it; slgallery keeps pictures with pictures=true")
    watch(striped(describe("gate", GREEN, gallery, "pictures=true\npicture-size=32\n")))
    os.mkfifo(work("pipe"))
    for path, message in ((work("none/a.jpg"), "there is no such folder; make it first"), (harness.WORK.name, "is a folder; expected the file to write"),
                          (work("pipe"), "is a device or a pipe; expected the file to write"), ("", "the name is empty; expected the file to write"),
                          (gallery, "is a file of another kind, which would be lost"), (key, "is a file of another kind, which would be lost")):
        run("gallery", "show", gallery, "1", "--picture", path).expect(2, "--picture: ", message)
    assert people(gallery) and stat.S_ISFIFO(os.stat(work("pipe")).st_mode)
    lines = run("gallery", "show", gallery, "1", "--picture", picture).expect(0).out
    assert re.search(r"^picture: \S+Z gate$", lines, re.M), lines
    with open(picture, "rb") as file:
        jpeg = file.read()
    assert size_of(jpeg) == (32, 32) and os.stat(picture).st_mode & 0o777 == 0o600, size_of(jpeg)
    assert rows(gallery, "SELECT jpeg FROM picture") == [(jpeg,)]
    shown = json.loads(run("gallery", "show", gallery, "1", "--json").expect(0).out)["picture"]
    assert shown["camera"] == "gate" and 0 < shown["score"] <= 1, shown
    # Its colours: another program of ours, and libjpeg, read it.
    labels = json.loads(run("predict", "--json", "--model", model("brightest_channel.tflite"), picture).expect(0).out)["labels"]
    assert labels[0]["label"] == "green" if "label" in labels[0] else labels, labels
    # What somebody else put there: no picture, one with more behind it, half of one, a larger one.
    large = jpeg[:jpeg.index(b"\xff\xc0") + 5] + b"\x04\x01\x04\x01" + jpeg[jpeg.index(b"\xff\xc0") + 9:]
    for other in (b"#!/bin/sh\n", b"", jpeg + b"#!/bin/sh\n", jpeg[:len(jpeg) // 2], b"x" + jpeg, large):
        with sqlite3.connect(gallery) as database:
            database.execute("UPDATE picture SET jpeg = ?", (other,))
        run("gallery", "show", gallery, "1", "--picture", picture).expect(1, "the picture of person 1 is not what was written: forget that person, or put a copy back")
        with open(picture, "rb") as file:
            assert file.read() == jpeg, other
    run("gallery", "forget", gallery, "--camera", "gate").expect(0)
    assert rows(gallery, "SELECT count(*) FROM picture") == [(0,)]
    with open(gallery, "rb") as file:
        assert jpeg[-80:-10] not in file.read()
    watch(striped(describe("gate", GREEN, sealed, "pictures=true\nkey-file=%s\n" % key)))
    run("gallery", "show", sealed, "1", "--picture", picture).expect(1, "it is encrypted; expected the file of its key")
    run("gallery", "show", sealed, "1", "--picture", picture, "--key-file", key).expect(0)
    with open(picture, "rb") as file, open(sealed, "rb") as stored:
        jpeg = file.read()
        assert jpeg[:2] == b"\xff\xd8" and jpeg[-80:-10] not in stored.read()
    assert rows(sealed, "SELECT length(jpeg) FROM picture") == [(len(jpeg) + 28,)]
    with sqlite3.connect(sealed) as database:
        database.execute("UPDATE picture SET jpeg = zeroblob(100)")
    run("gallery", "show", sealed, "1", "--picture", picture, "--key-file", key).expect(1, "the picture of person 1 is not what was written: forget that person, or put a copy back")


def test_for_good():
    """A start that would fail again is not repeated: a wrong key, a newer version, another model, no keep=. A file that is away may come."""
    gallery, key, wrong = work("e.gallery"), write("key", b"5" * 64 + b"\n"), write("wrong", b"6" * 64 + b"\n")
    for file in (key, wrong):
        os.chmod(file, 0o600)
    watch(describe("gate", GREEN, gallery, "key-file=%s\n" % key))

    def fails(extra, message, text=lambda text: text):
        path = describe("gate", GREEN, gallery, extra)
        with open(path, encoding="utf-8") as file:
            write("gate.pipeline", text(file.read().replace("[pipeline]\n", "[pipeline]\nrestart=on-failure\nbackoff-min=300s\nbackoff-max=300s\n")).encode())
        running = Running(path)
        running.ended()
        assert running.status == 1 and message in running.events()[-1]["message"] and running.events()[-1]["event"] == "failed", running.lines

    fails("key-file=%s\n" % wrong, "it is encrypted with another key")
    fails("", "it is encrypted; expected the file of its key")
    launched = lambda text: text.split("[gallery]")[0].replace("! slpublish", "! slgallery location=%s ! slpublish" % gallery)
    fails("", "keep: missing, and nothing is stored", launched)
    with sqlite3.connect(gallery) as database:
        database.execute("UPDATE about SET model = 'another'")
    fails("key-file=%s\n" % key, "its embeddings are of another model")
    with sqlite3.connect(gallery) as database:
        database.execute("PRAGMA user_version = 9")
    fails("key-file=%s\n" % key, "a gallery of version 9, expected version ")
    os.remove(key)
    running = Running(write("gate.pipeline", open(describe("gate", GREEN, gallery, "key-file=%s\n" % key), encoding="utf-8").read().replace(
        "[pipeline]\n", "[pipeline]\nrestart=on-failure\n").encode()))
    running.wait_for("waiting")
    running.stop()


def test_check():
    """check says which file, for how long, of which model, encrypted or not, who writes; and what is wrong with it."""
    gallery, key = new_gallery("f.gallery"), write("key", b"5" * 64 + b"\n")
    os.chmod(key, 0o600)
    (digest,), = rows(gallery, "SELECT model FROM about")

    def findings(path, status=0):
        done = run("check", "--json", path)
        assert done.status == status, done
        return [(f["kind"], f["text"]) for f in json.loads(done.out)["findings"] if f["about"].startswith("slgallery")]

    (kind, text), = findings(describe("gate", GREEN, gallery))
    assert kind == "fact" and text == ("%s: 2 people in it, written by gate,hall,yard; embeddings of 24 numbers of model %s; kept for 7d, at most 10000 people; not encrypted; "
                                       "camera gate writes it" % (gallery, digest)), text
    (_, text), (_, leaves) = findings(describe("gate", GREEN, work("new.gallery"), "key-file=%s\nshare=mqtt://me:secret@127.0.0.1/people\nmachine=1\n" % key))
    assert text == "%s: made at the start; embeddings of model %s; kept for 7d, at most 10000 people; encrypted; camera gate writes it" % (work("new.gallery"), digest), text
    assert leaves == "embeddings of people leave this machine, encrypted, to mqtt://me:***@127.0.0.1/people", leaves
    assert not os.path.exists(work("new.gallery"))
    chain = lambda tracker, properties: write("gate.pipeline", ("[pipeline]\nlaunch=videotestsrc ! slpredict model=%s ! %s ! slgallery %s ! fakesink\n" % (
        model("one_box.tflite"), tracker, properties)).encode())
    launched = lambda properties: chain("sltrack appearance=%s appearance-settings=\"mean=127.5 std=127.5\"" % model("looks.onnx"), properties)
    for make, words, sentence in (
            (launched, "keep=7d", "location: missing; expected the file of the gallery, such as location=people.gallery"),
            (lambda words: chain("sltrack", words), "location=a keep=7d", "gets no embeddings; expected sltrack appearance=MODEL before it"),
            (lambda words: chain("identity", words), "location=a keep=7d", "gets no embeddings; expected sltrack appearance=MODEL before it"),
            (launched, "location=a", "keep: missing, and nothing is stored that no rule erases; expected a time such as keep=7d"),
            (launched, "location=a keep=7d paths=gate:5s", "paths: expected FROM>TO:LEAST-MOST with the names of two cameras"),
            (launched, "location=a keep=7d camera=a,b", "camera: expected a name of 1 to 64 bytes"),
            (launched, "location=a keep=7d machine=1 share=http://127.0.0.1/people", "share: location=http://127.0.0.1/people: expected "),
            (launched, "location=a keep=ever", "keep: expected a time after which people are erased"),
            (launched, "location=%s keep=7d" % work("none/a"), "No such file or directory; expected a folder in which the file of a gallery can be made"),
            (launched, "location=a keep=7d key-file=%s" % work("none"), "none: No such file or directory; expected the file of a key, such as `openssl rand -hex 32` prints"),
            (lambda words: describe("gate", GREEN, gallery, words), "key-file=%s\n" % key, "it is not encrypted, but a key file is stated")):
        found = findings(make(words), 1)
        assert any(kind == "problem" and sentence in text for kind, text in found), (sentence, found)
    with sqlite3.connect(gallery) as database:
        database.execute("UPDATE about SET model = 'another'")
    assert any("its embeddings are of another model (another, 24 numbers), expected those of %s" % digest in text for _, text in findings(describe("gate", GREEN, gallery), 1))
    sealed = work("g.gallery")
    watch(describe("gate", GREEN, sealed, "key-file=%s\n" % key))
    assert [text for _, text in findings(describe("gate", GREEN, sealed), 1)] == [sealed + ": it is encrypted; expected the file of its key: state key-file= (--key-file of sightline gallery, --gallery-key-file of sightline serve)"]


def test_check_changes_nothing():
    """A gallery stays as it is, with the log that a killed program has left, which is read."""
    gallery = work("h.gallery")
    watch(describe("gate", GREEN, gallery))

    def files():
        found = {}
        for name in os.listdir(os.path.dirname(gallery)):
            if name.startswith("h.gallery") and not name.endswith("-shm"):  # which is no part of the data
                with open(work(name), "rb") as file:
                    found[name] = file.read()
        return found

    def checked():
        done = run("check", describe("yard", BLUE, gallery))
        assert done.status == 0, done
        return re.search(r"(\d+) people in it, written by (\S+);", done.out).groups()

    whole = files()
    assert checked() == ("1", "gate") and files() == whole and set(whole) == {"h.gallery"}
    assert not os.path.exists(gallery + "-shm")
    running = Running(describe("hall", BLUE, gallery, frames=-1, live="true"))
    eventually(lambda: rows(gallery, "SELECT count(*) FROM person") == [(2,)])
    running.stop(signal.SIGKILL)
    left = files()
    assert left["h.gallery"] == whole["h.gallery"] and len(left["h.gallery-wal"]) > 0, [(name, len(text)) for name, text in left.items()]
    for _ in range(2):
        assert checked() == ("2", "gate,hall") and files() == left


def test_reload():
    """keep= changes with SIGHUP while a camera runs: what it does not allow any more goes."""
    gallery = new_gallery("d.gallery")
    with sqlite3.connect(gallery) as database:
        for table, column in (("view", "time"), ("sighting", "last"), ("sighting", "first")):
            database.execute("UPDATE %s SET %s = %s - 86400000000" % (table, column, column))
    path = describe("gate", BLUE, gallery, frames=100000, live="true")
    running = Running(path)
    running.wait_for("running")
    text = open(path, encoding="utf-8").read()
    write("gate.pipeline", text.replace("keep=7d", "keep=12h").encode())
    running.child.send_signal(signal.SIGHUP)
    eventually(lambda: [p["cameras"] for p in people(gallery)] == [["gate"]])
    running.stop()
    assert rows(gallery, "SELECT keep FROM about") == [(12 * 3600 * 1000000,)]


harness.main(globals())
