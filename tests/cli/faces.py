# SPDX-License-Identifier: LGPL-2.1-or-later
"""sightline serve --faces: people that clients register, find, list and delete, as DeepStack's clients do. A face here is a picture of one colour."""
import contextlib
import fcntl
import functools
import json
import math
import os
import random
import resource
import shutil
import signal
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
    return server("--faces", embedder(made), "--gallery", gallery, *args, models=["face=" + model(detector)])


@functools.cache
def face(colour):
    return read(png("face-%d-%d-%d.png" % colour, 80, 40, colour))


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
    gallery = work("people.json")
    with people(gallery) as serving:
        assert listed(serving) == [] and who(serving, GREEN) == [("unknown", 0)] and not os.path.exists(gallery)
        told = serving.post(FACE + "register", {"userid": "Anna Blum", "image": face(GREEN)})
        assert (told["message"], told["registered"], told["skipped"], told["success"]) == ("face added", 1, [], True), told
        assert serving.post(FACE + "register", {"image1": face(BLUE), "image2": face(BLACK), "image3": face(BLUE), "userid": "ben"})["skipped"] == ["image2"]
        assert listed(serving) == ["Anna Blum", "ben"]
        told = serving.post(FACE + "recognize", {"image": face(GREEN)})
        found, = told["predictions"]
        assert found == {"userid": "Anna Blum", "confidence": 1, "x_min": 0, "y_min": 10, "x_max": 40, "y_max": 30}, told
        assert told["message"] == "Found Anna Blum" and told["inferenceMs"] > 0 and told["duration"] > 0, told
        assert who(serving, BLACK) == []
        assert who(serving, TEAL) == [("ben", confidence(TEAL, BLUE))] and who(serving, TEAL, min_confidence="0.99") == [("unknown", 0)]
        assert serving.post(FACE + "register", {"userid": "ben", "image": face(GREEN)})["message"] == "face updated"
        assert who(serving, TEAL, min_confidence="0")[0][1] == confidence(TEAL, GREEN) > 0.67 and who(serving, BLUE, min_confidence="0.8") == [("unknown", 0)]
        assert delete(serving, "Anna Blum")["message"] == "face deleted" and listed(serving) == ["ben"]
        assert delete(serving, "Anna Blum")["message"] == "there was no such face"
        assert os.stat(gallery).st_mode & 0o777 == 0o600
        metrics = serving.raw(b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").decode()
        assert "colours" in metrics, metrics
        assert serving.stop() == 0
    with open(gallery, encoding="utf-8") as file:
        kept = json.load(file)
    assert set(kept) == {"@model", "ben"} and len(kept["@model"]) == 64 and len(kept["ben"]) == 1 and len(kept["ben"][0]) == 3, kept
    with people(gallery) as serving:
        assert listed(serving) == ["ben"] and who(serving, GREEN) == [("ben", 1)]
        assert serving.stop() == 0
    # The same file names faces in predict.
    found = run("predict", "--model", embedder(), "--gallery", gallery, png("green.png", 80, 40, GREEN)).expect(0).out
    assert " ben" in found, found


def test_refused():
    """Each request about faces that cannot be answered gets its status, and a sentence."""
    form_of = lambda fields: form(fields)[0]
    kind = form({})[1]
    with people(work("refused.json"), detector="two_boxes.tflite") as serving:
        for status, path, body, sentence in [
                (400, "register", form_of({"image": face(GREEN)}), "userid: expected a name of 1 to 64 bytes"),
                (400, "register", form_of({"userid": "ben"}), "expected a picture, as the body or as a part \"image\""),
                (400, "register", form_of({"userid": "ben", "image": face(BLACK), "image2": face(BLACK)}), "no face detected: expected a picture of a face"),
                (400, "register", form_of({"userid": "ben", "image": face(GREEN)}), "image: 2 faces of about one size: expected a picture of one person"),
                (400, "register", form_of({"userid": "ben", "image": b"\x89PNG\r\n\x1a\n"}), "image: "),
                (415, "register", form_of({"userid": "ben", "image": b"GIF89a" + bytes(30)}), "image: the picture: expected JPEG, PNG, WebP or BMP"),
                (400, "register", form_of({"userid": "ben", **{"image%d" % i: face(GREEN) for i in range(17)}}), "expected at most 16 pictures of a person"),
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
        assert told["error"] == "this worker knows no faces: start it with face=MODEL --faces MODEL --gallery FILE", told
        assert serving.stop() == 0


def test_options():
    """What --faces and --gallery need, and galleries that cannot be used."""
    box, listen = "face=" + model("one_box.tflite"), ("--http", "127.0.0.1:0")
    use = ("--faces", embedder(), "--gallery", work("options.json"))
    run("serve", box, *listen, "--faces", embedder()).expect(2, "--faces MODEL and --gallery FILE go together, with --http")
    run("serve", box, "--zmq", "ipc:///x", *use).expect(2, "--faces MODEL and --gallery FILE go together, with --http")
    run("serve", box, *listen, *use, "--mean", "3").expect(2, "options about a model are for one model, and 2 are given")
    run("serve", model("one_box.tflite"), *listen, *use).expect(1, "--faces: expected a model that finds faces, called face: face=MODEL")
    run("serve", box, *listen, "--faces", model("brightest_channel.tflite"), "--gallery", "x").expect(
        1, "--faces brightest_channel.tflite: expected a model that makes embeddings, whose decoder is vector without a gallery")
    run("serve", box, *listen, "--faces", embedder(), "--gallery", work("none/people.json")).expect(1, "--gallery: " + work("none") + ": no such folder; expected one that exists")
    for text, sentence in [
            (b"hello", "expected an object, got 'hello'; expected a gallery: "),
            (b"{\"ben\": [[1, 2]]}", "'ben': expected vectors of 3 numbers, as the model's output has, got 2: was it made with another model?"),
            (b"{\"@model\": \"0123\", \"ben\": [[1, 2, 3]]}", "its embeddings are of another model (0123), expected those of "),
            (b"{\"@model\": [[1, 2, 3]]}", "expected a string")]:
        path = write("options.json", text)
        run("serve", box, *listen, *use).expect(1, "--gallery: " + path, sentence)
    os.unlink(path)
    os.mkdir(path)
    run("serve", box, *listen, *use).expect(1, "--gallery: " + path + ": not a file; expected a gallery")


def test_key():
    """The key before anything else, in each of the forms that clients send."""
    key = write("key", b"open sesame\n")
    os.chmod(key, 0o600)
    with people(work("keyed.json"), "--api-key-file", key) as serving:
        serving.post(FACE + "register", {"userid": "../x", "image": face(GREEN)}, 401)
        serving.post(FACE + "list", {}, 401)
        assert serving.send(FACE + "delete", b"userid=x&api_key=wrong", Content_Type="application/x-www-form-urlencoded")[0] == 401
        serving.post(FACE + "register", {"userid": "ben", "image": face(GREEN), "api_key": "open sesame"})
        assert serving.send(FACE + "list", b"api_key=open+sesame", Content_Type="application/x-www-form-urlencoded")[2]["faces"] == ["ben"]
        assert serving.send(FACE + "list", Authorization="Bearer open sesame")[2]["faces"] == ["ben"]
        assert serving.stop() == 0


def test_two_writers():
    """Two workers with one file: each sees what the other has written, and nothing is lost."""
    gallery = work("shared.json")
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
        with open(gallery + ".lock", encoding="ascii") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            told = two.post(FACE + "register", {"userid": "late", "image": face(GREEN)}, 500)
            assert told["error"] == gallery + ".lock: another program has held it for two seconds: try again later", told
        # A file that another program has damaged is not written over; those who were known are still found.
        kept = read(gallery)
        write("shared.json", kept[:-40])
        told = one.post(FACE + "register", {"userid": "late", "image": face(GREEN)}, 500)
        assert gallery + ": line " in told["error"] and read(gallery) == kept[:-40], told
        told = one.post(FACE + "recognize", {"image": face(GREEN)})
        assert told["predictions"][0]["userid"].startswith("p") and told["warning"].startswith(gallery + ": line "), told
        assert told["warning"].endswith("; faces are compared with the people who were known before"), told
        eventually(lambda: any(gallery in line and "line " in line for line in one.all("trouble")))
        write("shared.json", kept)
        one.post(FACE + "register", {"userid": "late", "image": face(GREEN)})
        assert "warning" not in one.post(FACE + "recognize", {"image": face(GREEN)})
        os.unlink(gallery)
        assert listed(one) == [] == listed(two)
        assert one.stop() == 0 == two.stop()


def test_killed():
    """A worker that is killed while people are registered leaves all that it has confirmed."""
    gallery = work("killed.json")
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
    gallery = work("full.json")
    with people(gallery) as serving:
        serving.post(FACE + "register", {"userid": "ben", "image": face(GREEN)})
        kept = read(gallery)
        resource.prlimit(serving.child.pid, resource.RLIMIT_FSIZE, (20, resource.RLIM_INFINITY))
        told = serving.post(FACE + "register", {"userid": "late", "image": face(BLUE)}, 500)
        assert told["error"].startswith(gallery + ": ") and "nothing has changed: make room, or give the right" in told["error"], told
        assert read(gallery) == kept and not os.path.exists(gallery + ".new")
        resource.prlimit(serving.child.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        assert listed(serving) == ["ben"] and who(serving, BLUE, min_confidence="0.8") == [("unknown", 0)]
        eventually(lambda: any("nothing has changed" in line for line in serving.all("trouble")))
        assert serving.stop() == 0


def test_bounds():
    """A thousand people at most."""
    gallery = work("many.json")
    write("many.json", json.dumps({"p%d" % i: [[1, i, 1]] for i in range(1000)}).encode())
    with people(gallery) as serving:
        told = serving.post(FACE + "register", {"userid": "late", "image": face(GREEN)}, 500)
        assert told["error"] == gallery + ": expected at most 1000 people: delete some first", told
        assert "late" not in listed(serving)
        serving.post(FACE + "register", {"userid": "p3", "image": face(GREEN)})
        delete(serving, "p4")
        serving.post(FACE + "register", {"userid": "late", "image": face(GREEN)})
        assert len(listed(serving)) == 1000 and serving.stop() == 0


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
    gallery = work("flood.json")
    with people(gallery) as serving:
        serving.flood(count, chance, mutant, lambda: serving.send(FACE + "recognize", *form({"image": face(GREEN)})[:1], Content_Type=kind)[0] == 200)
        assert all("/" not in name and name.isprintable() for name in listed(serving))
        assert serving.stop() == 0
    left = {name for name in os.listdir(work("")) if name.startswith("flood")}
    assert left <= {"flood.json", "flood.json.lock"}, left


def test_leaving():
    """A worker that was told to end finishes what it registers."""
    gallery = work("leaving.json")
    with people(gallery) as serving:
        done = []
        thread = threading.Thread(target=lambda: done.append(serving.post(FACE + "register", {"userid": "ben", **{"image%d" % i: face(GREEN) for i in range(16)}})))
        thread.start()
        eventually(lambda: [m["answered"] for m in serving.send("/status", method="GET")[2]["models"]][1] > 0)
        serving.child.send_signal(signal.SIGTERM)
        thread.join()
        assert done[0]["registered"] == 16 and serving.child.wait(PATIENCE) == 0
    assert "ben" in json.loads(read(gallery))


harness.main(globals())
