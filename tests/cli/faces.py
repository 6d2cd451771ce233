# SPDX-License-Identifier: LGPL-2.1-or-later
"""sightline serve --faces: people that clients register, find, list and delete, as DeepStack's clients do. A face here is a picture of one colour.
The file is a gallery of slgallery, which is read with Python's sqlite3."""
import contextlib
import functools
import json
import math
import os
import random
import resource
import shutil
import signal
import sqlite3
import sys
import threading
import urllib.parse

sys.path.insert(0, os.path.join(os.environ.get("SIGHTLINE_SOURCE_ROOT", "."), "tests", "support"))
import harness
from harness import model, png, run, work, write
from posting import form, mutated, read, server
from running import PATIENCE, eventually

FACE = "/v1/vision/face/"
GREEN, BLUE, TEAL, BLACK = (0, 200, 0), (0, 0, 200), (0, 100, 200), (0, 0, 0)


def embedder(name="colours.tflite"):
    """A model whose embedding is the colour of a picture."""
    path = work(name)
    if not os.path.exists(path):
        shutil.copy(model("brightest_channel.tflite"), path)
        write(name + ".modelinfo", b"[modelinfo]\nversion=1.0\n[sightline]\ndecoder=vector,kind=embedding\n")
    return path


def people(gallery, *args, detector="one_box.tflite", made="colours.tflite"):
    return server("--faces", embedder(made), "--gallery", gallery, "--keep", "365d", *args, models=["face=" + model(detector)])


@functools.cache
def face(colour):
    return read(png("face-%d-%d-%d.png" % colour, 80, 40, colour))


def rows(gallery, query):
    with contextlib.closing(sqlite3.connect("file:%s?mode=ro" % gallery, uri=True)) as database:
        return database.execute(query).fetchall()


def change(gallery, *statements):
    with contextlib.closing(sqlite3.connect(gallery)) as database, database:
        for statement in statements:
            database.execute(statement)


def is_near(found, name, expected):
    """Embeddings are kept with 8 bits a number."""
    (got, sure), = found
    return got == name and abs(sure - expected) < 0.015


def confidence(one, other):
    """(1 + cosine) / 2 of two pictures of a colour: the square of 60 pixels around the box sees 42 of 64 samples of the picture, and a gray border."""
    a, b = ([(42 * value + 22 * 114) / 64 for value in colour] for colour in (one, other))
    dot = lambda x, y: sum(p * q for p, q in zip(x, y))
    return round((1 + dot(a, b) / math.sqrt(dot(a, a) * dot(b, b))) / 2, 2)


def listed(serving):
    """deepstack-python and Blue Iris post a form without files, or nothing."""
    status, _, told = serving.send(FACE + "list", b"", Content_Type="application/x-www-form-urlencoded")
    assert status == 200 and told["success"] is True, told
    return told["faces"]


def delete(serving, name, status=200):
    got, _, told = serving.send(FACE + "delete", urllib.parse.urlencode({"userid": name}), Content_Type="application/x-www-form-urlencoded")
    assert got == status and told["success"] == (status == 200), told
    return told


def who(serving, colour, **fields):
    told = serving.post(FACE + "recognize", {"image": face(colour), **fields})
    assert told["success"] is True and told["count"] == len(told["predictions"]), told
    return [(found["userid"], round(found["confidence"], 2)) for found in told["predictions"]]


def test_people():
    """Registered, found, listed, deleted, with the members that clients read."""
    gallery = work("people.gallery")
    with people(gallery) as serving:
        assert listed(serving) == [] and who(serving, GREEN) == [("unknown", 0)]
        told = serving.post(FACE + "register", {"userid": "Anna Blum", "image": face(GREEN)})
        assert (told["message"], told["registered"], told["skipped"], told["success"]) == ("face added", 1, [], True), told
        assert serving.post(FACE + "register", {"image1": face(BLUE), "image2": face(BLACK), "image3": face(BLUE), "userid": "ben"})["skipped"] == ["image2"]
        assert listed(serving) == ["Anna Blum", "ben"]
        told = serving.post(FACE + "recognize", {"image": face(GREEN)})
        found, = told["predictions"]
        assert found == {"userid": "Anna Blum", "confidence": 1, "x_min": 0, "y_min": 10, "x_max": 40, "y_max": 30}, told
        assert told["message"] == "Found Anna Blum" and told["inferenceMs"] > 0 and told["duration"] > 0, told
        assert who(serving, BLACK) == []
        assert is_near(who(serving, TEAL), "ben", confidence(TEAL, BLUE)) and who(serving, TEAL, min_confidence="0.99") == [("unknown", 0)]
        assert serving.post(FACE + "register", {"userid": "ben", "image": face(GREEN)})["message"] == "face updated"
        assert is_near([("either", sure) for _, sure in who(serving, TEAL, min_confidence="0")], "either", confidence(TEAL, GREEN)) and confidence(TEAL, GREEN) > 0.67 and who(serving, BLUE, min_confidence="0.8") == [("unknown", 0)]
        assert delete(serving, "Anna Blum")["message"] == "face deleted" and listed(serving) == ["ben"]
        assert delete(serving, "Anna Blum")["message"] == "there was no such face"
        assert os.stat(gallery).st_mode & 0o777 == 0o600
        metrics = serving.raw(b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").decode()
        assert "colours" in metrics, metrics
        assert serving.stop() == 0
    (digest, length, keep), = rows(gallery, "SELECT model, length, keep FROM about")
    assert (len(digest), length, keep) == (64, 3, 365 * 86400 * 1000000) and rows(gallery, "SELECT name FROM named") == [(b"ben",)]
    assert rows(gallery, "SELECT camera, length(look) FROM view") == [("registered", 3)]
    with open(gallery, "rb") as file:
        assert b"Anna" not in file.read()
    with people(gallery) as serving:
        assert listed(serving) == ["ben"] and who(serving, GREEN) == [("ben", 1)]
        assert serving.stop() == 0
    listed_people = [json.loads(line) for line in run("gallery", "list", gallery, "--json").expect(0).out.splitlines()]
    assert [(person["name"], person["cameras"], person["views"]) for person in listed_people] == [("ben", ["registered"], 1)], listed_people
    assert run("gallery", "list", gallery).expect(0).out.endswith(" registered ben\n")
    assert run("gallery", "show", gallery, str(listed_people[0]["id"])).expect(0).out.startswith("ben\n")
    # Forgotten there is forgotten here.
    with people(gallery) as serving:
        run("gallery", "forget", gallery, str(listed_people[0]["id"])).expect(0)
        assert listed(serving) == [] and who(serving, GREEN) == [("unknown", 0)] and serving.stop() == 0


def test_keep():
    """What is older than --keep is erased at the start; people without names are nobody's."""
    gallery = work("old.gallery")
    with people(gallery) as serving:
        for name in ("ben", "old"):
            serving.post(FACE + "register", {"userid": name, "image": face(GREEN)})
        assert serving.stop() == 0
    change(gallery, *("UPDATE %s SET %s = %s - 400 * 86400000000 WHERE person = 2" % (table, column, column) for table, column in (("view", "time"), ("sighting", "first"), ("sighting", "last"))))
    with people(gallery) as serving:
        assert listed(serving) == ["ben"] and rows(gallery, "SELECT count(*) FROM view") == [(1,)]
        change(gallery, "DELETE FROM named")
        assert listed(serving) == [] and who(serving, GREEN) == [("unknown", 0)] and serving.stop() == 0


def test_sealed():
    """With a key nobody reads names or embeddings in the file; another key is refused."""
    gallery, key, wrong = work("sealed.gallery"), write("seal", b"5" * 64 + b"\n"), write("other-seal", b"6" * 64 + b"\n")
    for file in (key, wrong):
        os.chmod(file, 0o600)
    for turn in range(2):
        with people(gallery, "--gallery-key-file", key) as serving:
            if turn == 0:
                serving.post(FACE + "register", {"userid": "Anna Blum", "image": face(GREEN)})
            assert who(serving, GREEN) == [("Anna Blum", 1)] and listed(serving) == ["Anna Blum"] and serving.stop() == 0
    with open(gallery, "rb") as file:
        assert b"Anna" not in file.read()
    assert rows(gallery, "SELECT length(name) FROM named") == [(9 + 28,)]
    assert "Anna" not in run("gallery", "list", gallery).expect(0).out and "Anna Blum" in run("gallery", "list", gallery, "--key-file", key).expect(0).out
    start = ("serve", "face=" + model("one_box.tflite"), "--http", "127.0.0.1:0", "--faces", embedder(), "--gallery", gallery, "--keep", "365d")
    run(*start, "--gallery-key-file", wrong).expect(1, "--gallery: " + gallery + ": it is encrypted with another key")
    run(*start).expect(1, "--gallery: " + gallery + ": it is encrypted; expected the file of its key: state key-file= (--key-file of sightline gallery, --gallery-key-file of sightline serve)")


def test_refused():
    """Each request about faces that cannot be answered gets its status, and a sentence."""
    form_of = lambda fields: form(fields)[0]
    kind = form({})[1]
    with people(work("refused.gallery"), detector="two_boxes.tflite") as serving:
        for status, path, body, sentence in [
                (400, "register", form_of({"image": face(GREEN)}), "userid: expected a name of 1 to 64 bytes"),
                (400, "register", form_of({"userid": "ben"}), "expected a picture, as the body or as a part \"image\""),
                (400, "register", form_of({"userid": "ben", "image": face(BLACK), "image2": face(BLACK)}), "no face detected: expected a picture of a face"),
                (400, "register", form_of({"userid": "ben", "image": face(GREEN)}), "image: 2 faces of about one size: expected a picture of one person"),
                (400, "register", form_of({"userid": "ben", "image": b"\x89PNG\r\n\x1a\n"}), "image: "),
                (415, "register", form_of({"userid": "ben", "image": b"GIF89a" + bytes(30)}), "image: the picture: expected JPEG, PNG, WebP or BMP"),
                (400, "register", form_of({"userid": "ben", **{"image%d" % i: face(GREEN) for i in range(7)}}), "expected at most 6 pictures of a person"),
                (400, "recognize", form_of({"min_confidence": "2", "image": face(GREEN)}), "min_confidence: expected 0..1, got 2"),
                (400, "recognize", b"--a--", "form: expected the boundary"),
                (400, "delete", form_of({}), "userid: expected a name"),
                (404, "match", form_of({}), "/v1/vision/face/match: there is nothing here; expected ")]:
            got, _, told = serving.send(FACE + path, body, Content_Type=kind)
            assert got == status and sentence in told["error"] and told["success"] is False, (path, status, got, told)
        for name in ("../ben", "a\\b", "a\nb", "a\x7fb", "\u202eneb", "x" * 65, ".ben", "@model", "unknown", "", "\0", "ben\0x"):
            got, _, told = serving.send(FACE + "register", form_of({"userid": name, "image": face(GREEN)}), Content_Type=kind)
            assert got == 400 and "userid: expected a name" in told["error"] and "\n" not in told["error"], (name, told)
        assert [found["userid"] for found in serving.post(FACE + "recognize", {"image": face(GREEN)})["predictions"]] == ["unknown"] * 2
        got, _, told = serving.send(FACE + "delete", b"userid=" + b"x" * 70000, Content_Type="application/x-www-form-urlencoded")
        assert got == 413 and "expected at most 65536" in told["error"], told
        got, headers, _ = serving.send(FACE + "list", method="GET")
        assert got == 405 and headers["Allow"] == "POST"
        assert listed(serving) == [] and serving.stop() == 0
    with server() as serving:
        told = serving.post(FACE + "list", {}, 404)
        assert told["error"] == "this worker knows no faces: start it with face=MODEL --faces MODEL --gallery FILE --keep TIME", told
        assert serving.stop() == 0


def test_options():
    """What --faces and --gallery need, and galleries that cannot be used."""
    box, listen = "face=" + model("one_box.tflite"), ("--http", "127.0.0.1:0")
    path, keep = work("options.gallery"), ("--keep", "365d")
    use = ("--faces", embedder(), "--gallery", path, *keep)
    together = ": --faces MODEL, --gallery FILE and --keep TIME go together, with --http ADDR:PORT, without --location and --zmq"
    for words, wrong in (((*listen, "--faces", embedder()), "--gallery is missing"), ((*listen, *use[:4]), "--keep is missing"), ((*listen, *use[2:]), "--faces is missing"),
                         ((*listen, "--gallery-key-file", path), "--faces is missing"), (("--zmq", "ipc:///x", *use), "--zmq is given"),
                         (("--location", "mqtt://localhost/x", *use), "--location is given"), (use, "--http is missing")):
        run("serve", box, *words).expect(2, wrong + together)
    run("serve", box, *listen, *use, "--mean", "3").expect(2, "options about a model are for one model, and 2 are given")
    run("serve", model("one_box.tflite"), *listen, *use).expect(1, "--faces: expected a model that finds faces, called face: face=MODEL")
    run("serve", box, *listen, "--faces", model("brightest_channel.tflite"), "--gallery", "x", *keep).expect(
        1, "--faces brightest_channel.tflite: expected a model that makes embeddings, whose decoder is vector without a gallery")
    run("serve", box, *listen, "--faces", embedder(), "--gallery", work("none/people.gallery"), *keep).expect(1, "--gallery: " + work("none/people.gallery") + ": No such file or directory; expected the file of a gallery")
    write("options.gallery", b"{\"ben\": [[1, 2, 3]]}")
    run("serve", box, *listen, *use).expect(1, "--gallery: " + path + ": file is not a database; expected a gallery that sightline has made")
    os.unlink(path)
    with people(path) as serving:
        assert serving.stop() == 0
    change(path, "UPDATE about SET model = '0123'")
    run("serve", box, *listen, *use).expect(1, "--gallery: " + path + ": its embeddings are of another model (0123, 3 numbers), expected those of ")
    os.unlink(path)
    os.mkdir(path)
    run("serve", box, *listen, *use).expect(1, "--gallery: " + path + ": Is a directory; expected the file of a gallery")


def test_key():
    """The key before anything else, in each of the forms that clients send."""
    key = write("key", b"open sesame\n")
    os.chmod(key, 0o600)
    with people(work("keyed.gallery"), "--api-key-file", key) as serving:
        serving.post(FACE + "register", {"userid": "../x", "image": face(GREEN)}, 401)
        serving.post(FACE + "list", {}, 401)
        assert serving.send(FACE + "delete", b"userid=x&api_key=wrong", Content_Type="application/x-www-form-urlencoded")[0] == 401
        serving.post(FACE + "register", {"userid": "ben", "image": face(GREEN), "api_key": "open sesame"})
        assert serving.send(FACE + "list", b"api_key=open+sesame", Content_Type="application/x-www-form-urlencoded")[2]["faces"] == ["ben"]
        assert serving.send(FACE + "list", Authorization="Bearer open sesame")[2]["faces"] == ["ben"]
        assert serving.stop() == 0


def test_two_writers():
    """Two workers with one file: each sees what the other has written, and nothing is lost."""
    gallery = work("shared.gallery")
    with people(gallery) as one, people(gallery) as two:
        face(GREEN)  # is written once, before the threads begin

        def fill(serving, first):
            for i in range(first, first + 10):
                serving.post(FACE + "register", {"userid": "p%d" % i, "image": face(GREEN)})
        threads = [threading.Thread(target=fill, args=(serving, first)) for serving, first in ((one, 0), (two, 10), (one, 20), (two, 30))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(listed(one)) == sorted(listed(two)) == sorted("p%d" % i for i in range(40))
        delete(one, "p7")
        assert "p7" not in listed(two)
        with contextlib.closing(sqlite3.connect(gallery, isolation_level=None)) as database:
            database.execute("BEGIN IMMEDIATE")
            told = two.post(FACE + "register", {"userid": "late", "image": face(GREEN)}, 500)
            assert told["error"] == gallery + ": database is locked; nothing has changed: make room, give the right, or try again", told
        # Another program has put something else in the place of the file: those who were known are still found.
        with contextlib.closing(sqlite3.connect(gallery)) as database:
            assert database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
        os.rename(gallery, gallery + ".kept")
        write("shared.gallery", b"no database, but a text of some length")
        told = one.post(FACE + "register", {"userid": "late", "image": face(GREEN)}, 500)
        assert gallery + ": file is not a database" in told["error"] and len(read(gallery)) == 38, told
        told = one.post(FACE + "recognize", {"image": face(GREEN)})
        assert told["predictions"][0]["userid"].startswith("p") and told["warning"].startswith(gallery + ": file is not a database"), told
        assert told["warning"].endswith("; faces are compared with the people who were known before"), told
        eventually(lambda: any(gallery in line and "not a database" in line for line in one.all("trouble")))
        os.rename(gallery + ".kept", gallery)
        one.post(FACE + "register", {"userid": "late", "image": face(GREEN)})
        assert "warning" not in one.post(FACE + "recognize", {"image": face(GREEN)})
        for ending in ("", "-wal", "-shm"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(gallery + ending)
        assert listed(one) == [] == listed(two)
        assert one.stop() == 0 == two.stop()


def test_killed():
    """A worker that is killed while people are registered leaves all that it has confirmed."""
    gallery = work("killed.gallery")
    known = set()
    for turn in range(2 if harness.SANITIZED else 6):
        with people(gallery) as serving:
            assert known <= set(listed(serving)), known
            enough = threading.Event()

            def fill():
                with contextlib.suppress(OSError, ValueError, AssertionError):
                    for i in range(100000):
                        name = "%d-%d" % (turn, i)
                        serving.post(FACE + "register", {"userid": name, "image": face(GREEN)})
                        known.add(name)
                        if i == turn:
                            enough.set()
            thread = threading.Thread(target=fill)
            thread.start()
            assert enough.wait(PATIENCE)
            serving.child.kill()
            thread.join()
    with people(gallery) as serving:
        assert known <= set(listed(serving)) and serving.stop() == 0


def test_full():
    """A disk that is full: the client is told, and nothing has changed."""
    gallery = work("full.gallery")
    with people(gallery) as serving:
        serving.post(FACE + "register", {"userid": "ben", "image": face(GREEN)})
        resource.prlimit(serving.child.pid, resource.RLIMIT_FSIZE, (20, resource.RLIM_INFINITY))
        told = serving.post(FACE + "register", {"userid": "late", "image": face(BLUE)}, 500)
        assert told["error"].startswith(gallery + ": ") and "nothing has changed: make room, give the right, or try again" in told["error"], told
        resource.prlimit(serving.child.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        assert listed(serving) == ["ben"] and who(serving, BLUE, min_confidence="0.8") == [("unknown", 0)]
        eventually(lambda: any("nothing has changed" in line for line in serving.all("trouble")))
        serving.post(FACE + "register", {"userid": "late", "image": face(BLUE)})
        assert listed(serving) == ["ben", "late"] and serving.stop() == 0


def test_flood():
    """Hostile requests about faces: none crashes the worker, its memory stays, and a camera is served."""
    count = 200 if harness.SANITIZED else 2000
    chance = random.Random(11)
    whole, kind = form({"userid": "anna", "image": face(GREEN), "image2": face(BLUE), "min_confidence": "0.4", "api_key": "x"})
    texts = b"userid=a%00b&userid=%ff&min_confidence=1e999&a=" + b"%" * 30
    paths = [FACE + name for name in ("recognize", "register", "list", "delete", "", "register/", "match", "../custom/list")]
    kinds = [kind, kind, kind, "application/x-www-form-urlencoded", "image/png", "multipart/form-data; boundary=\"", "a/b"]

    def mutant():
        body = mutated(chance, chance.choice([whole, whole, texts, face(GREEN), b"", b"--"]))
        size = chance.choice([len(body)] * 4 + [len(body) + 9, 1 << 40, -1])
        return ("POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n" % (chance.choice(paths), chance.choice(kinds), size)).encode() + body
    gallery = work("flood.gallery")
    with people(gallery) as serving:
        serving.flood(count, chance, mutant, lambda: serving.send(FACE + "recognize", *form({"image": face(GREEN)})[:1], Content_Type=kind)[0] == 200)
        assert all("/" not in name and name.isprintable() for name in listed(serving))
        assert serving.stop() == 0
    left = {name for name in os.listdir(work("")) if name.startswith("flood")}
    assert left <= {"flood.gallery", "flood.gallery-wal", "flood.gallery-shm"}, left


def test_leaving():
    """A worker that was told to end finishes what it registers."""
    gallery = work("leaving.gallery")
    with people(gallery) as serving:
        done = []
        thread = threading.Thread(target=lambda: done.append(serving.post(FACE + "register", {"userid": "ben", **{"image%d" % i: face(GREEN) for i in range(6)}})))
        thread.start()
        eventually(lambda: [m["answered"] for m in serving.send("/status", method="GET")[2]["models"]][1] > 0)
        serving.child.send_signal(signal.SIGTERM)
        thread.join()
        assert done[0]["registered"] == 6 and serving.child.wait(PATIENCE) == 0
    assert rows(gallery, "SELECT name FROM named") == [(b"ben",)]


harness.main(globals())
