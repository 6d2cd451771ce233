# SPDX-License-Identifier: LGPL-2.1-or-later
"""sightline serve --http with clients that post pictures: requests as clients of DeepStack and CodeProject.AI shape them, plain ones, and hostile ones."""
import base64
import contextlib
import json
import os
import random
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import zlib

sys.path.insert(0, os.path.join(os.environ.get("SIGHTLINE_SOURCE_ROOT", "."), "tests", "support"))
import harness
import schema
from harness import Skip, model, png, run, write
from posting import form, mutated, read, server
from running import PATIENCE, eventually

BLUE = (0, 0, 200)
SIGNATURE = b"\x89PNG\r\n\x1a\n"


# 16x8 pixels: gray, CMYK with Adobe's marker, and a blue one that EXIF turns by a quarter.
JPEG = base64.b64decode(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAMCAgMCAgMDAwMEAwMEBQgFBQQEBQoHBwYIDAoMDAsKCwsNDhIQDQ4RDgsLEBYQERMUFRUVDA8XGBYUGBIUFRT/wAALCAAIABABAREA/8QAHwAAAQUBAQ"
    "EBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKBkaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVW"
    "V1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKTlJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/9oACAEBAAA/APsCiv/Z")
CMYK = base64.b64decode(
    "/9j/7gAOQWRvYmUAZAAAAAAA/9sAQwADAgIDAgIDAwMDBAMDBAUIBQUEBAUKBwcGCAwKDAwLCgsLDQ4SEA0OEQ4LCxAWEBETFBUVFQwPFxgWFBgSFBUU/8AAFAgACAAQBEMRAE0RAFkRAEsRAP/EAB"
    "8AAAEFAQEBAQEBAAAAAAAAAAABAgMEBQYHCAkKC//EALUQAAIBAwMCBAMFBQQEAAABfQECAwAEEQUSITFBBhNRYQcicRQygZGhCCNCscEVUtHwJDNicoIJChYXGBkaJSYnKCkqNDU2Nzg5OkNERUZH"
    "SElKU1RVVldYWVpjZGVmZ2hpanN0dXZ3eHl6g4SFhoeIiYqSk5SVlpeYmZqio6Slpqeoqaqys7S1tre4ubrCw8TFxsfIycrS09TV1tfY2drh4uPk5ebn6Onq8fLz9PX29/j5+v/aAA4EQwBNAFkASw"
    "AAPwD48r48r9U6+wKKKKK//9k=")
TURNED = base64.b64decode(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/4QAiRXhpZgAATU0AKgAAAAgAAQESAAMAAAABAAYAAAAAAAD/2wBDAAMCAgMCAgMDAwMEAwMEBQgFBQQEBQoHBwYIDAoMDAsKCwsNDhIQDQ4RDgsLEBYQERMUFR"
    "UVDA8XGBYUGBIUFRT/2wBDAQMEBAUEBQkFBQkUDQsNFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBT/wAARCAAIABADASIAAhEBAxEB/8QAHwAAAQUBAQEB"
    "AQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKBkaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVWV1"
    "hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKTlJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/8QAHwEAAwEBAQEBAQEBAQAAAAAA"
    "AAECAwQFBgcICQoL/8QAtREAAgECBAQDBAcFBAQAAQJ3AAECAxEEBSExBhJBUQdhcRMiMoEIFEKRobHBCSMzUvAVYnLRChYkNOEl8RcYGRomJygpKjU2Nzg5OkNERUZHSElKU1RVVldYWVpjZGVmZ2"
    "hpanN0dXZ3eHl6goOEhYaHiImKkpOUlZaXmJmaoqOkpaanqKmqsrO0tba3uLm6wsPExcbHyMnK0tPU1dbX2Nna4uPk5ebn6Onq8vP09fb3+Pn6/9oADAMBAAIRAxEAPwD856KKK/0LPlD/2Q==")


def blue(width=80, height=40):
    return read(png("blue-%d.png" % width, width, height, BLUE))


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def raw_png(width, height, colour, rows, *more):
    return SIGNATURE + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, colour, 0, 0, 0)) + b"".join(more) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def test_predict():
    """The JSON of docs/predictions.md, for a picture as the body and in a form."""
    with open(os.path.join(harness.ROOT, "docs", "predictions.schema.json"), encoding="utf-8") as file:
        rules = json.load(file)
    with server() as serving:
        status, headers, told = serving.send("/predict", blue(), Content_Type="image/png")
        assert status == 200 and headers["Content-Type"] == "application/json", headers
        assert not list(schema.problems(told, rules, rules)), told
        found, = told["objects"]
        assert (found["x"], found["y"], found["w"], found["h"], found["roi_type"]) == (0, 10, 40, 20, "blue") and told["resolution"] == {"width": 80, "height": 40}, told
        assert serving.post("/predict", {"image": blue()}) == told
        assert serving.post("/predict", {"image": blue(), "model": "one_box"}) == told
        assert serving.send("/predict?min_confidence=0.9", blue())[2]["objects"] == []
        assert serving.post("/predict", {"image": blue(), "min_confidence": "0.9"})["objects"] == []
        assert serving.post("/predict?model=colour", {"image": blue()})["labels"][0]["label"] == "blue"
        eventually(lambda: [m["answered"] for m in serving.send("/status", method="GET")[2]["models"]] == [5, 1])
        assert serving.stop() == 0


def check_detection(told, command="detect"):
    for key in ("inferenceMs", "processMs", "analysisRoundTripMs", "duration", "moduleId", "moduleName", "message"):
        assert key in told, (key, told)
    assert told["success"] is True and told["count"] == 1 and told["code"] == 200 and told["command"] == command, told
    found, = told["predictions"]
    assert {key: found[key] for key in ("label", "x_min", "y_min", "x_max", "y_max")} == {"label": "blue", "x_min": 0, "y_min": 10, "x_max": 40, "y_max": 30}, told
    assert abs(found["confidence"] - 200 / 255) < 0.01 and all(isinstance(found[key], int) for key in ("x_min", "y_min", "x_max", "y_max")), told


def test_clients():
    """The shapes of the requests of public clients."""
    with server() as serving:
        # Frigate's detector plug-in: requests.post(url, data={"api_key": ...}, files={"image": bytes}).
        check_detection(serving.post("/v1/vision/detection", {"api_key": "", "image": blue()}))
        # Home Assistant's HASS-Deepstack-object by deepstack-python: min_confidence, and a custom model by its name.
        check_detection(serving.post("/v1/vision/detection", {"min_confidence": 0.45, "api_key": "", "image": blue()}))
        check_detection(serving.post("/v1/vision/custom/one_box", {"min_confidence": 0.45, "image": blue()}), "custom")
        assert serving.post("/v1/vision/scene", {"api_key": "", "image": blue()})["label"] == "blue"
        # Blue Iris: the list of models without a body, then pictures with the name of a file and min_confidence.
        status, _, told = serving.send("/v1/vision/custom/list")
        assert status == 200 and told["success"] and told["models"] == ["one_box"], told
        assert serving.send("/v1/vision/custom/list", method="GET")[2]["models"] == ["one_box"]
        body = b"--------------------------5b1\r\nContent-Disposition: form-data; name=\"min_confidence\"\r\n\r\n0.40\r\n" \
               b"--------------------------5b1\r\nContent-Disposition: form-data; name=\"image\"; filename=\"cam1.jpg\"\r\nContent-Type: image/jpeg\r\n\r\n" + blue() + \
               b"\r\n--------------------------5b1--\r\n"
        check_detection(serving.send("/v1/vision/detection", body, Content_Type="multipart/form-data; boundary=------------------------5b1")[2])
        # AgentDVR and iSpy: .NET's MultipartFormDataContent quotes the boundary, and not the names.
        body = b"--9a-b\r\nContent-Type: application/octet-stream\r\nContent-Disposition: form-data; name=image; filename=image.jpg; filename*=utf-8''image.jpg\r\n\r\n" + \
               blue() + b"\r\n--9a-b\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Disposition: form-data; name=min_confidence\r\n\r\n0.4\r\n--9a-b--\r\n"
        check_detection(serving.send("/v1/vision/detection", body, Content_Type='multipart/form-data; boundary="9a-b"')[2])
        # Node-RED by node's form-data: a chunked body.
        data, kind = form({"image": blue(), "min_confidence": "0.4"}, "--------------------------402814")
        check_detection(serving.send("/v1/vision/detection", iter([data[:100], data[100:]]), Content_Type=kind)[2])
        for path in ("/v1/status/ping", "/v1/server/status/ping"):
            assert serving.send(path, method="GET")[2]["success"] is True
        assert serving.post("/v1/vision/detection", {"image": blue(), "min_confidence": "0.9"})["predictions"] == []
        assert serving.stop() == 0


def test_curl():
    """curl waits for 100 Continue with larger bodies; two requests on one connection: the first one is answered."""
    if shutil.which("curl") is None:
        raise Skip("curl is not installed")
    noise = random.Random(1).randbytes(3 * 700 * 700)
    large = write("noise.png", raw_png(700, 700, 2, b"".join(b"\0" + noise[2100 * y:2100 * y + 2100] for y in range(700))))
    with server() as serving:
        done = subprocess.run(["curl", "-s", "-H", "Expect: 100-continue", "-F", "image=@" + large, "http://127.0.0.1:%d/predict" % serving.port], capture_output=True,
                              timeout=PATIENCE, check=True)
        assert json.loads(done.stdout)["resolution"] == {"width": 700, "height": 700}
        one = b"POST /predict HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n\r\n" % len(blue()) + blue()
        answer = serving.raw(one + one)
        assert answer.startswith(b"HTTP/1.1 200") and answer.count(b"HTTP/1.1 ") == 1, answer


def test_pictures():
    """Gray, transparent and turned pictures; coordinates are those of the upright one."""
    exif = b"MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0"
    rows = (b"\0" + bytes(BLUE) * 80) * 40
    with server() as serving:
        told = serving.send("/predict", raw_png(80, 40, 2, rows, chunk(b"eXIf", exif)))[2]
        assert told["resolution"] == {"width": 40, "height": 80} and told["objects"][0]["x"] == 0 and told["objects"][0]["w"] == 20, told
        told = serving.send("/predict", raw_png(80, 40, 6, (b"\0" + bytes(BLUE + (0,)) * 80) * 40))[2]
        assert told["objects"][0]["roi_type"] == "blue", told
        assert serving.send("/predict?model=colour", raw_png(80, 40, 0, (b"\0" + bytes([200]) * 80) * 40))[2]["labels"][0]["confidence"] > 0.78
        assert serving.send("/predict?model=colour", JPEG)[2]["labels"][0]["confidence"] > 0.7
        assert serving.send("/predict", CMYK)[2]["objects"][0]["roi_type"] == "blue"
        told = serving.send("/predict", TURNED)[2]
        assert told["resolution"] == {"width": 8, "height": 16} and told["objects"][0]["roi_type"] == "blue", told
        bitmap = b"BM" + struct.pack("<IHHI", 54 + 24, 0, 0, 54) + struct.pack("<IiiHHIIiiII", 40, 2, 3, 1, 24, 0, 24, 0, 0, 0, 0) + (bytes(reversed(BLUE)) * 2 + b"\0\0") * 3
        assert serving.send("/predict", bitmap)[2]["resolution"] == {"width": 2, "height": 3}
        assert serving.stop() == 0


def test_refused():
    """Each request that cannot be answered gets its status, and a sentence."""
    bomb = SIGNATURE + chunk(b"IHDR", struct.pack(">IIBBBBB", 50000, 50000, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(bytes(100000))) + chunk(b"IEND", b"")
    with server("--http-body", "1") as serving:
        for status, path, body, kind, sentence in [
                (400, "/predict", b"", "image/jpeg", "expected a picture, as the body or as a part \"image\" of a form, got none"),
                (415, "/predict", b"GIF89a" + bytes(30), "image/gif", "expected JPEG, PNG, WebP or BMP, got something else"),
                (415, "/predict", b"x=1", "application/x-www-form-urlencoded", "Content-Type: expected multipart/form-data"),
                (413, "/predict", bomb, "image/png", "the picture has 50000x50000 pixels, expected at most 40 million: reduce it"),
                (400, "/predict", blue()[:-30], "image/png", "the picture cannot be decoded: "),
                (400, "/predict", JPEG[:-30], "image/jpeg", "the picture cannot be decoded: "),
                (413, "/predict", bytes(1 << 21), "image/png", "the body has 2097152 bytes, expected at most 1048576: send a smaller picture"),
                (413, "/predict", iter([bytes(1 << 20), b"x"]), "image/png", "the body has more than 1048576 bytes: send a smaller picture"),
                (400, "/predict?min_confidence=2", blue(), "image/png", "min_confidence: expected 0..1, got 2"),
                (404, "/predict?model=none", blue(), "image/png", "model none: expected one that finds anything, of those that are served: one_box, colour"),
                (404, "/v1/vision/face", blue(), "image/png",
                 "model face: expected one that finds objects, of those that are served: one_box, colour; others are served by sightline serve NAME=MODEL"),
                (404, "/v1/vision/custom/colour", blue(), "image/png", "model colour: expected one that finds objects"),
                (404, "/v1/vision/face/register", blue(), "image/png", "this worker knows no faces: start it with face=MODEL --faces MODEL --gallery FILE --keep TIME"),
                (404, "/v1/vision/face/match", blue(), "image/png", "/v1/vision/face/match: there is nothing here; expected /predict, "),
                (405, "/health", b"", "image/png", "/health: expected GET or HEAD"),
                (400, "/predict", b"--a\r\n\r\nx", "multipart/form-data; boundary=a", "form: expected the boundary behind each part"),
                (400, "/predict", b"x", "multipart/form-data", "form: expected a boundary of 1 to 70 bytes in Content-Type"),
                (400, "/predict", b"--a--", "multipart/form-data; boundary=a", "got none")]:
            got, headers, told = serving.send(path, body, Content_Type=kind)
            assert got == status and sentence in told["error"] and told["success"] is False, (path, status, got, told)
        got, headers, told = serving.send("/v1/vision/detection", method="GET")
        assert got == 405 and headers["Allow"] == "POST" and told["error"] == "expected POST with a picture", told
        assert serving.send("/v1/vision/face/list", method="GET")[2]["error"] == "expected POST"
        got, _, told = serving.send("/predict", blue(), Origin="http://pages.example")
        assert got == 403 and "a page of another origin sends this" in told["error"], told
        assert serving.send("/predict", blue(), Origin="http://127.0.0.1:%d" % serving.port)[0] == 200
        assert serving.stop() == 0


def test_key():
    """The key in the form, in the address or as a password; a wrong one is refused, and guesses wait."""
    key = write("key", b"open sesame\n")
    os.chmod(key, 0o600)
    with server("--api-key-file", key) as serving:
        check_detection(serving.post("/v1/vision/detection", {"api_key": "open sesame", "image": blue()}))
        assert serving.send("/predict?api_key=open%20sesame", blue())[0] == 200
        assert serving.send("/predict", blue(), Authorization="Bearer open sesame")[0] == 200
        told = serving.post("/v1/vision/detection", {"image": blue()}, 401)
        assert told["error"].startswith("Incorrect api key"), told
        assert serving.send("/status", method="GET", Authorization="Bearer open sesame")[0] == 200
        assert serving.raw(b"GET /status HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").startswith(b"HTTP/1.1 401")
        begun = time.monotonic()
        for guess in ("open sesam", "open sesame2", "x"):
            serving.post("/v1/vision/detection", {"api_key": guess, "image": blue()}, 401)
            assert serving.send("/predict", blue(), Authorization="Bearer " + guess)[0] == 401
        assert time.monotonic() - begun > 0.19  # a tenth of a second after each but the first
        check_detection(serving.post("/v1/vision/detection", {"api_key": "open sesame", "image": blue()}))
        # Refused before the body: it never comes.
        head = b"POST /predict HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer wrong\r\nExpect: 100-continue\r\nContent-Length: 1000\r\n\r\n"
        assert serving.raw(head).startswith(b"HTTP/1.1 401")
        assert serving.stop() == 0
    run("serve", model("one_box.tflite"), "--http", "127.0.0.1:0", "--api-key-file", key, "--http-password-file", key).expect(2, "expected either --api-key-file or --http-password-file")
    run("serve", model("one_box.tflite"), "--http", "127.0.0.1:0", "--api-key-file", "nowhere/key").expect(1, "sightline serve: --api-key-file: " + "nowhere/key" + ": No such file or directory")
    run("serve", model("one_box.tflite"), "--zmq", "ipc:///x", "--api-key-file", key).expect(2, "--api-key-file and --http-body go with --http")
    run("serve", model("one_box.tflite"), "--http", "127.0.0.1:0", "--http-body", "0").expect(2, "--http-body")
    run("serve", model("one_box.tflite"), "--http", "0.0.0.0:0").expect(1, "other machines reach 0.0.0.0:0")
    run("serve", model("add.tflite"), "--http", "127.0.0.1:0").expect(1, "add.tflite: expected a model whose input is a picture, got ")


def test_no_classifier():
    """A scene needs a classifier: the sentence names none that a client did not name."""
    with server(models=[model("one_box.tflite")]) as serving:
        told = serving.post("/v1/vision/scene", {"image": blue()}, 404)
        assert told["error"].startswith("expected a model that finds labels, of those that are served: one_box; "), told


def test_many():
    """200 clients at once: each is answered, or told to come again."""
    with server() as serving:
        got, picture = [], blue()

        def post():
            with contextlib.suppress(OSError):
                status, headers, _ = serving.send("/v1/vision/detection", *form({"image": picture})[:1], Content_Type=form({})[1])
                got.append((status, headers.get("Retry-After")))
        threads = [threading.Thread(target=post) for _ in range(200)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(got) == 200 and set(got) <= {(200, None), (503, "1")} and (200, None) in got, got
        assert serving.stop() == 0


def test_slow():
    """Clients that send slowly are hung up on, and others are answered meanwhile."""
    with server() as serving, contextlib.ExitStack() as stack:
        slow = [stack.enter_context(socket.create_connection(("127.0.0.1", serving.port), PATIENCE)) for _ in range(100)]
        for peer in slow:
            peer.sendall(b"POST /predict HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100000\r\n\r\n" + blue())
        assert serving.send("/predict", blue())[0] == 200
        for peer in slow:
            with contextlib.suppress(ConnectionResetError):  # where what it sent is not read
                assert peer.recv(100) == b""
        assert serving.stop() == 0


def test_leaving():
    """A worker that was told to end refuses new pictures, and waits for those that it has begun to receive."""
    with server() as serving, socket.create_connection(("127.0.0.1", serving.port), PATIENCE) as begun:
        picture = blue()
        begun.sendall(b"POST /predict HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n\r\n" % len(picture) + picture[:9])
        assert serving.send("/predict", picture)[0] == 200  # so the headers before have come
        serving.child.send_signal(signal.SIGTERM)
        told = eventually(lambda: (lambda got: got if got[0] == 503 else None)(serving.send("/predict", picture)))
        assert told[2]["error"] == "the worker ends: send it to the next one" and told[1]["Retry-After"] == "1", told
        begun.sendall(picture[9:])
        assert begun.recv(100)[:12] in (b"HTTP/1.1 200", b"")  # nothing where this took longer than a connection lasts
        assert serving.child.wait(PATIENCE) == 0


def test_flood():
    """Thousands of hostile requests: none crashes the worker, its memory stays, and a camera is served."""
    count = 300 if harness.SANITIZED else 2500
    chance = random.Random(7)
    whole, kind = form({"image": blue(), "min_confidence": "0.4", "api_key": "x"})
    paths = ["/predict", "/v1/vision/detection", "/v1/vision/custom/list", "/v1/vision/custom/%ff%00", "/v1/vision/scene", "/v1/" + "x" * 3000, "//", "/predict?" + "a=b&" * 500]
    kinds = [kind, kind + "x", "image/png", "multipart/form-data; boundary=\"", "a/b", "\xff"]

    def mutant():
        body = mutated(chance, chance.choice([whole, blue(), JPEG, b"", b"--"]))
        size = chance.choice([len(body), len(body), len(body), len(body) + 9, 1 << 40, -1])
        return ("POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: %s\r\n" % (chance.choice(paths), chance.choice(kinds))).encode("latin-1") + \
            chance.choice([b"Content-Length: %d\r\n\r\n" % size, b"Transfer-Encoding: chunked\r\n\r\n5\r\n"]) + body
    with server() as serving:
        serving.send("/predict", blue())
        serving.flood(count, chance, mutant, lambda: serving.send("/predict", blue())[0] == 200)
        assert serving.stop() == 0


harness.main(globals())
