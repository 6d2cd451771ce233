# SPDX-License-Identifier: LGPL-2.1-or-later
"""Events of the console: the index beside the clips, searches, files in the browser, what is kept and deleted, and counts that outlive the process."""
import http.client
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import urllib.parse

import harness
import openapi
from browser import Browser
from harness import Skip, model, run, work, write
from running import STOPPED, eventually
from served import Answer, Served, jpeg_size

EVIL = "<img src=x onerror=alert(1)>"
STEMS = ["door-2026-11-20T10-00-00.000Z-in", "door-2026-11-21T11-30-00.500Z-entered", "gate-2026-11-21T12-00-00.000Z-out"]


def gst(*words):
    done = subprocess.run(["gst-launch-1.0", "-q", *words], stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
    if done.returncode != 0:
        raise Skip("gst-launch-1.0 or an element is missing: " + done.stderr.decode())


def note(folder, stem, what, label, picture, shape="video/x-h264", texts=(), box=(0.25, 0.25, 0.75, 0.75)):
    source, event = stem.split("-")[0], stem.rsplit("Z-", 1)[1]
    found = {"roi_type": label, "id": 7, "detection": {"bounding_box": dict(zip(("x_min", "y_min", "x_max", "y_max"), box)), "confidence": 0.75, "label": label, "label_id": 0}}
    codes = [dict(found, id=8 + i, code={"symbology": "qr-code", "text": text}) for i, text in enumerate(texts)]
    notes = {"clip": stem + ".mkv", "picture": stem + ".jpg" if picture else None, "source": source, "event": event, "time": "2026-11-20T10:00:00.000Z", "at": 1,
             "seconds": 2, "frames": 20, "format": shape, "width": 320, "height": 240, "cut": None, "n_events": 1,
             "events": [{"at": 1, "what": dict(what, event=event, id=7, label=label)}], "predictions": {"objects": [found] + codes},
             "trail": {"labels": [label], "cut": False, "frames": [[0, [0, 7, 0.75, 0.25, 0.25, 0.5, 0.5]]]}}
    with open(os.path.join(folder, stem + ".json"), "w", encoding="utf-8") as file:
        json.dump(notes, file)
    if picture:
        shutil.copy(picture, os.path.join(folder, stem + ".jpg"))


def clips(name):
    """A folder with three clips: H.264 with a red picture, JPEG with a blue one, and a damaged file without a picture."""
    folder = work(name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    frames = ["videotestsrc", "num-buffers=20", "!", "video/x-raw,format=I420,width=320,height=240,framerate=10/1", "!"]
    gst(*frames, "openh264enc", "gop-size=10", "!", "h264parse", "!", "matroskamux", "!", "filesink", "location=%s/%s.mkv" % (folder, STEMS[0]))
    gst(*frames, "jpegenc", "!", "matroskamux", "!", "filesink", "location=%s/%s.mkv" % (folder, STEMS[1]))
    with open("%s/%s.mkv" % (folder, STEMS[2]), "wb") as file:
        file.write(b"no clip at all" * 1000)
    for color, pattern in (("red", "red"), ("blue", "blue")):
        gst("videotestsrc", "num-buffers=1", "pattern=" + pattern, "!", "video/x-raw,width=640,height=480", "!", "jpegenc", "!", "filesink", "location=" + work(color + ".jpg"))
    note(folder, STEMS[0], {"line": "way in"}, "person", work("red.jpg"), texts=["AB-100%"])
    note(folder, STEMS[1], {"zone": EVIL}, EVIL, work("blue.jpg"), shape="image/jpeg")
    note(folder, STEMS[2], {"line": "way in"}, "car", None)
    return folder


def describe(name, folder, more="", recorder=""):
    text = ("[pipeline]\nlaunch=videotestsrc is-live=true ! video/x-raw,format=RGB,width=64,height=48,framerate=10/1 ! "
            "slrecord location=%s source=door on=\"\" %s ! fakesink\n%s" % (folder, recorder, more))
    return write(name + ".pipeline", text.encode())


def events(served, **query):
    answer = get(served, "/api/v1/events?" + urllib.parse.urlencode(query))
    assert answer.status == 200, answer.text
    return answer.json


def ids(served, **query):
    return [event["id"] for event in events(served, **query)["events"]]


def indexed(served, total=3, colors=2):
    """Once all rows are there, and the colours of their objects."""
    eventually(lambda: events(served)["total"] == total and sum(e["color"] is not None for e in events(served)["events"]) >= colors)


def send(served, method, path, body=None):
    headers = {"Content-Type": "application/json", "Content-Length": str(len(body))} if body else {}
    lines = "".join("%s: %s\r\n" % item for item in {"Host": "127.0.0.1:%d" % served.port, **headers}.items())
    return Answer(served.ask(("%s %s HTTP/1.1\r\n%s\r\n%s" % (method, path, lines, body or "")).encode()))


def get(served, path):
    """An answer that is as docs/openapi.json says."""
    return openapi.check("GET", path, served.get(path))


def refused(answer, status, *parts):
    assert answer.status == status, (answer.status, answer.text)
    for part in parts:
        assert part in answer.json["error"], answer.json


def search(served):
    assert ids(served) == STEMS[::-1], ids(served)
    first = events(served)["events"][2]
    assert (first["pipeline"], first["time"], first["event"], first["region"], first["label"]) == ("search", "2026-11-20T10:00:00.000Z", "in", "way in", "person"), first
    assert (first["object"], first["confidence"], first["seconds"], first["clip"], first["picture"], first["kept"]) == (7, 0.75, 2, True, True, False), first
    assert first["bytes"] == sum(os.path.getsize(os.path.join(work("search"), STEMS[0] + end)) for end in (".mkv", ".jpg", ".json")), first
    for query, found in (({"region": "way in"}, (2, 0)), ({"label": "car"}, (2,)), ({"event": "entered"}, (1,)), ({"color": "red"}, (0,)), ({"color": "blue"}, (1,)),
                         ({"pipeline": "search"}, (1, 0)), ({"pipeline": "gate"}, (2,)), ({"text": "ab-100%"}, (0,)), ({"text": "%"}, (0,)), ({"text": "ONERROR"}, (1,)),
                         ({"from": "2026-11-21T00:00:00Z", "to": "2026-11-21T12:00:00Z"}, (1,)), ({"kept": 1}, ()), ({"kept": 0, "label": "person"}, (0,)),
                         ({"label": "x' OR 1=1 --"}, ())):
        answer = events(served, **query)
        assert [e["id"] for e in answer["events"]] == [STEMS[i] for i in found] and answer["total"] == len(found), (query, answer)
    page, seen = events(served, limit=2), []
    while True:
        seen += [e["id"] for e in page["events"]]
        assert page["total"] == 3
        if page["next"] is None:
            break
        page = events(served, limit=2, before=page["next"])
    assert seen == STEMS[::-1], seen
    for zone in ("+13:00", "Pacific/Auckland") if os.path.exists("/usr/share/zoneinfo/Pacific/Auckland") else ("+13:00",):
        days = get(served, "/api/v1/events/timeline?bucket=day&zone=" + urllib.parse.quote(zone, safe="%")).json["buckets"]
        assert days == [{"from": "2026-11-19T11:00:00.000Z", "count": 1}, {"from": "2026-11-21T11:00:00.000Z", "count": 2}], days
    for path in ("events/timeline", "charts/counts"):
        refused(served.get("/api/v1/%s?zone=..%%2fpasswd" % path), 400, "?zone=../passwd: no time zone that this machine knows: expected a name such as Europe/Berlin")
    days = get(served, "/api/v1/events/timeline?bucket=day&zone=UTC").json["buckets"]
    assert days == [{"from": "2026-11-20T00:00:00.000Z", "count": 1}, {"from": "2026-11-21T00:00:00.000Z", "count": 2}], days
    storage = served.get("/api/v1/storage").json
    assert storage["clips"] == 3 and storage["oldest"] == "2026-11-20T10:00:00.000Z" and storage["folders"][0]["path"] == work("search"), storage
    assert storage["free_bytes"] > 0 and storage["folders"][0]["max_bytes"] == 5e6 and storage["folders"][0]["keep_days"] is None, storage
    for query, words in (("from=x", "?from=x: expected a time such as 2026-"), ("kept=2", "?kept=2: expected 0 or 1"), ("limit=0", "?limit=0: expected 1 to 500"),
                         ("before=x", "?before=x: expected what a list of events has")):
        refused(served.get("/api/v1/events?" + query), 400, words)
    refused(served.get("/api/v1/events/timeline?bucket=week"), 400, "?bucket=week: expected minute, hour or day")
    refused(served.get("/api/v1/charts/counts?bucket=minute&from=2000-01-01T00:00:00Z"), 400, "expected at most 2000 buckets")


def hostile_notes(served):
    """Notes that are almost JSON, or have other types: the answer is JSON as the document says."""
    path = os.path.join(work("search"), STEMS[2] + ".json")
    with open(path, "rb") as file:
        good = file.read()
    with open(path, "wb") as file:
        file.write(b'{"at":01.50,"width":"<b>","height":null,"frames":[],"cut":true,"format":{},"trail":7,"x":1,'
                   b'"events":[{"what":{"label":"a\tb\x01\x1b[31m</script>","k\n":-.5,"deep":[[{}],false,null]}}],"predictions":{"objects":[]}}')
    one = get(served, "/api/v1/events/" + STEMS[2]).json
    assert one["at"] == 1.5 and one["predictions"] == {"objects": []} and not set(one) & {"width", "height", "frames", "cut", "format", "trail", "x"}, one
    assert one["events"][0]["what"]["deep"] == [[{}], False, None] and one["events"][0]["what"]["k\n"] == -0.5, one
    for text in (b"", b"{", b'{"at":1}x', b'{"at":1,"events":[\xff]}', b'{"predictions":' + b'{"a":' * 5000):
        with open(path, "wb") as file:
            file.write(text)
        assert "at" not in get(served, "/api/v1/events/" + STEMS[2]).json, text[:40]
    with open(path, "wb") as file:
        file.write(good)


def files(served):
    base = "/api/v1/events/"
    one = get(served, base + STEMS[0]).json
    assert one["predictions"]["objects"][0]["detection"]["label"] == "person" and one["trail"]["frames"] == [[0, [0, 7, 0.75, 0.25, 0.25, 0.5, 0.5]]], one
    assert (one["width"], one["height"], one["frames"]) == (320, 240, 20), one
    assert jpeg_size(served.get(base + STEMS[0] + "/picture.jpg").body) == (640, 480)
    small = served.get(base + STEMS[0] + "/thumbnail.jpg")
    assert jpeg_size(small.body) == (320, 240) and small.headers["content-type"] == "image/jpeg", small.headers
    with open(os.path.join(work("search"), STEMS[0] + ".mkv"), "rb") as file:
        whole = file.read()
    saved = served.get(base + STEMS[0] + "/clip.mkv")
    assert saved.body == whole and saved.headers["content-disposition"] == 'attachment; filename="%s.mkv"' % STEMS[0], saved.headers
    assert "sandbox" in saved.headers["content-security-policy"] and saved.headers["x-content-type-options"] == "nosniff"
    for asked, part in (("bytes=10-19", whole[10:20]), ("bytes=-5", whole[-5:]), ("bytes=%d-" % (len(whole) - 3), whole[-3:])):
        answer = served.get(base + STEMS[0] + "/clip.mkv", Range=asked)
        assert answer.status == 206 and answer.body == part and answer.headers["content-range"].endswith("/%d" % len(whole)), (asked, answer.headers)
    assert served.get(base + STEMS[0] + "/clip.mkv", Range="bytes=0-1,4-5").body == whole
    for asked in ("bytes=5-2", "bytes=-", "bytes=x", "bytes 0-1", "lines=0-1", "bytes=0x1-"):
        answer = served.get(base + STEMS[0] + "/clip.mkv", Range=asked)
        assert answer.status == 200 and answer.body == whole, asked
    for asked in ("bytes=18446744073709551616-", "bytes=99999999999999999999-99999999999999999999", "bytes=-0"):
        assert served.get(base + STEMS[0] + "/clip.mkv", Range=asked).status == 416, asked
    assert served.get(base + STEMS[0] + "/clip.mkv", Range="bytes=3-99999999999999999999").body == whole[3:]
    head = served.get(base + STEMS[0] + "/clip.mkv", "HEAD", Range="bytes=5-9")
    assert (head.status, head.body, head.headers["content-length"], head.headers["accept-ranges"]) == (200, b"", str(len(whole)), "bytes"), head.headers
    assert served.get(base + STEMS[0] + "/clip.mkv", Range="bytes=%d-" % len(whole)).status == 416
    played = served.get(base + STEMS[0] + "/clip.mp4")
    assert played.status == 200 and played.headers["content-type"] == "video/mp4" and played.body[4:8] == b"ftyp" and b"moof" in played.body, played.headers
    head = served.get(base + STEMS[0] + "/clip.mp4", "HEAD")
    assert head.status == 200 and head.body == b"", head.status
    refused(served.get(base + STEMS[1] + "/clip.mp4"), 415, "is image/jpeg: expected video/x-h264, which browsers play; clip.mkv has the file")
    refused(served.get(base + STEMS[2] + "/clip.mp4"), 500, "cannot be played: it is no Matroska file: expected a header of matroska or webm; clip.mkv has the file as it is")
    path = os.path.join(work("search"), STEMS[2] + ".mkv")
    for text in (whole.replace(b"matroska", b"natroska", 1), whole[:300], b"", whole[:40] + b"\xff" * 400):  # GStreamer's element answers the first with a critical message
        with open(path, "wb") as file:
            file.write(text)
        refused(served.get(base + STEMS[2] + "/clip.mp4"), 500, "cannot be played: ", "clip.mkv has the file as it is")
    refused(served.get(base + STEMS[2] + "/picture.jpg"), 404, "there is no picture of this event")
    for path in ("nothing", "..%2f..%2fetc", "%2e%2e", STEMS[0] + "%00", "x' OR 1=1"):
        assert served.get(base + urllib.parse.quote(path, safe="%") + "/clip.mkv").status in (400, 404), path
    refused(served.get(base + "nothing"), 404, "nothing: there is no such event; it may have been deleted: load the list again")


def plays(served):
    """Chromium plays the clip, and jumps in it."""
    browser = Browser("http://127.0.0.1:%d/" % served.port, 800, 600)
    try:
        browser.call("Page.setBypassCSP", enabled=True)  # the page as such may not matter here
        browser.call("Page.navigate", url="http://127.0.0.1:%d/page/strings/en.json" % served.port)
        browser.wait_for("document.readyState == 'complete' && location.pathname == '/page/strings/en.json'")
        browser.value("document.body.innerHTML = '<video muted src=\"/api/v1/events/%s/clip.mp4\"></video>'" % STEMS[0])
        browser.wait_for("document.querySelector('video').readyState >= 2", 20)
        browser.value("document.querySelector('video').muted = true, document.querySelector('video').play()")
        browser.wait_for("document.querySelector('video').currentTime > 0")
        assert 1.8 < browser.value("document.querySelector('video').duration") < 2.3, browser.value("document.querySelector('video').duration")
        browser.value("document.querySelector('video').pause(), document.querySelector('video').currentTime = 1.5")
        browser.wait_for("!document.querySelector('video').seeking && document.querySelector('video').currentTime == 1.5")
        assert browser.value("document.querySelector('video').videoWidth") == 320
    finally:
        browser.close()


def keep_and_delete(served):
    folder, base = work("search"), "/api/v1/events/"
    assert send(served, "POST", base + STEMS[0] + "/keep", '{"keep":true}').json["kept"]
    assert os.path.exists(os.path.join(folder, STEMS[0] + ".keep")) and ids(served, kept=1) == [STEMS[0]]
    assert get(served, "/api/v1/storage").json["kept"] == 1
    refused(send(served, "POST", base + STEMS[0] + "/keep", '{"keep":1}'), 400, 'expected {"keep":true} or {"keep":false}')
    assert send(served, "DELETE", base + STEMS[1]).status == 200
    assert not [name for name in os.listdir(folder) if name.startswith(STEMS[1])] and ids(served) == [STEMS[2], STEMS[0]]
    refused(send(served, "DELETE", base + STEMS[1]), 404, "there is no such event")
    served.wait_for("changed", 2)
    assert [e["message"] for e in served.events() if e["event"] == "changed"] == ["(no login): event %s is kept" % STEMS[0], "(no login): event %s is deleted" % STEMS[1]]
    for end in (".mkv", ".json"):  # by hand, or by slrecord
        os.unlink(os.path.join(folder, STEMS[2] + end))
    eventually(lambda: ids(served) == [STEMS[0]])


def test_events():
    folder = clips("search")
    path = describe("search", folder, "[http]\nrole=review\n", "max-size=5")
    with Served(path) as served:
        indexed(served)
        search(served)
        hostile_notes(served)
        files(served)
        keep_and_delete(served)
    with open(os.path.join(folder, ".sightline-events.sqlite"), "wb") as file:
        file.write(b"this was an index" * 1000)
    note(folder, STEMS[1], {"line": "x"}, "dog", None)
    shutil.copy(os.path.join(folder, STEMS[0] + ".mkv"), os.path.join(folder, STEMS[1] + ".mkv"))
    with open(os.path.join(folder, STEMS[1] + ".json"), "w", encoding="ascii") as file:
        file.write('{"event":"in","events":[{"at":' + "[" * 5000)  # the name says the rest
    with Served(describe("search", folder, "", "keep=0.001")) as served:
        served.wait_for("events")
        assert "the index is damaged: it is %s/.sightline-events.damaged now" % folder in served.wait_for("events")["message"]
        eventually(lambda: ids(served, kept=1) == [STEMS[0]])  # what is older than its days is deleted, and not what is kept
        eventually(lambda: ids(served) == [STEMS[0]])
        refused(send(served, "DELETE", "/api/v1/events/" + STEMS[0]), 403, "expected the role review, got look")
        assert os.path.exists(os.path.join(folder, STEMS[0] + ".mkv")) and not os.path.exists(os.path.join(folder, STEMS[1] + ".mkv"))


def test_no_index():
    """An index that another program holds, and a link out of the folder: the program says so, and ends in time."""
    folder, outside = work("no-index"), work("outside")
    os.makedirs(folder)
    path = os.path.join(folder, ".sightline-events.sqlite")
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("CREATE TABLE x (y)")
    database.execute("BEGIN EXCLUSIVE")
    with Served(describe("no-index", folder)) as served:
        assert served.wait_for("events")["message"] == path + ": database is locked; events of this folder are not indexed until that is over"
        assert events(served)["total"] == 0
        took = served.stop()
        assert took < STOPPED, took
    database.close()
    os.unlink(path)
    os.symlink(outside, path)
    with Served(describe("no-index", folder)) as served:
        assert path + ": Too many levels of symbolic links; expected a regular file that can be written; events" in served.wait_for("events")["message"]
    os.unlink(path)
    os.mkfifo(path)
    with Served(describe("no-index", folder)) as served:
        assert path + ": it is none; expected a regular file that can be written; events" in served.wait_for("events")["message"]
    assert not os.path.exists(outside)


def test_plays():
    folder = clips("plays")
    with Served(describe("plays", folder)) as served:
        indexed(served)
        plays(served)


def test_conversions():
    """While as many clips are converted as may be, one more is refused, a list is answered, and the program ends."""
    folder = work("conversions")
    clips("conversions")
    many = ["long-2026-11-20T10-00-0%d.000Z-in" % i for i in range(5)]
    for stem in many:
        note(folder, stem, {"line": "way in"}, "person", None)
        path = os.path.join(folder, stem + ".mkv")
        shutil.copy(os.path.join(folder, STEMS[0] + ".mkv"), path)
        os.truncate(path, 1 << 40)  # a hole: looking for the next cluster outlasts the test
    served = Served(describe("conversions", folder))
    waiting = []
    try:
        indexed(served, 8)
        for stem in many[:4]:
            waiting.append(http.client.HTTPConnection("127.0.0.1", served.port))
            waiting[-1].request("GET", "/api/v1/events/%s/clip.mp4" % stem)
        full = eventually(lambda: [a for a in [served.get("/api/v1/events/%s/clip.mp4" % many[4])] if a.status == 503])[0]
        refused(full, 503, "4 clips are being prepared: try again in a few seconds")
        assert len(ids(served)) == 8
        refused(served.get("/api/v1/events/%s/clip.mp4" % many[4]), 503, "4 clips are being prepared")  # they still go on
        assert served.stop() < 10 and served.status == 0, served.status  # a conversion may take 20 s
    finally:
        served.child.kill()
        for connection in waiting:
            connection.close()
        shutil.rmtree(folder)


def conversions(served, folder):
    """Converted clips that the program holds: files without a name."""
    links = "/proc/%d/fd" % served.child.pid
    return [name for name in os.listdir(links) if os.path.islink(os.path.join(links, name)) and re.match(re.escape(folder) + "/#.* \\(deleted\\)$", os.readlink(os.path.join(links, name)))]


def test_deleted_conversions():
    """Of a clip that is deleted, here or by hand, nothing is left: not the MP4 that was made of it either."""
    folder = clips("gone")
    other = "door-2026-11-21T13-00-00.000Z-in"
    shutil.copy(os.path.join(folder, STEMS[0] + ".mkv"), os.path.join(folder, other + ".mkv"))
    with Served(describe("gone", folder, "[http]\nrole=review\n")) as served:
        indexed(served, 4)
        for stem in (STEMS[0], other):
            assert served.get("/api/v1/events/%s/clip.mp4" % stem).status == 200
        assert len(conversions(served, folder)) == 2
        assert send(served, "DELETE", "/api/v1/events/" + STEMS[0]).status == 200
        eventually(lambda: len(conversions(served, folder)) == 1)
        os.unlink(os.path.join(folder, other + ".mkv"))
        eventually(lambda: not conversions(served, folder))


def peak(served):
    """Kilobytes of memory that the program had at most."""
    with open("/proc/%d/status" % served.child.pid, encoding="ascii") as file:
        return int(next(line for line in file if line.startswith("VmHWM")).split()[1])


def test_never_reading():
    """Clients that ask for a large clip, or for lists, and read nothing: they take little memory, and others are answered."""
    folder = clips("patient")
    os.truncate(os.path.join(folder, STEMS[2] + ".mkv"), 1 << 32)
    peers = []
    with Served(describe("patient", folder)) as served:
        indexed(served)
        before = peak(served)
        try:
            for path in ["/api/v1/events/%s/clip.mkv" % STEMS[2]] * 20 + ["/api/v1/events?limit=500", "/api/v1/openapi.json"] * 10:
                peers.append(served.connect())
                peers[-1].sendall(("GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n" % (path, served.port)).encode())
            assert eventually(lambda: served.get("/api/v1/events/%s/clip.mkv" % STEMS[0], Range="bytes=0-1").status == 503)  # 16 are being sent
            assert ids(served) == STEMS[::-1]
            assert harness.SANITIZED or peak(served) < before + 40000, (before, peak(served))
        finally:
            for peer in peers:
                peer.close()
        eventually(lambda: served.get("/api/v1/events/%s/clip.mkv" % STEMS[0], Range="bytes=0-1").status == 206)


def counted(served, **query):
    buckets = get(served, "/api/v1/charts/counts?" + urllib.parse.urlencode(query)).json["buckets"]
    return sum(region["entered"] or 0 for bucket in buckets for region in bucket["regions"])


def test_live():
    """An event is in the list at once, gets its clip, and is in the charts, also after a kill."""
    folder = work("live")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    text = ("[parameters]\nmodel=%s\n[pipeline]\nlaunch=videotestsrc is-live=true pattern=blue ! video/x-raw,format=RGB,width=64,height=48,framerate=10/1 ! "
            "slpredict model=${model} threshold=0.3 track=true ! slanalyze confirm=1 ! slrecord location=%s source=cam post-roll=0.5 min-free=0 ! fakesink\n"
            "[zone =all]\npoints=0,0 1,0 1,1 0,1\n" % (model("one_box.tflite"), folder))
    path = write("live.pipeline", text.encode())
    served = Served(path)
    try:
        first = eventually(lambda: events(served)["events"])[0]
        assert (first["pipeline"], first["event"], first["region"]) == ("live", "entered", "=all"), first
        eventually(lambda: (get(served, "/api/v1/pipelines").json["pipelines"][0]["last_event"] or {}).get("event") == "entered")
        clip, = eventually(lambda: [e for e in events(served)["events"] if e["clip"]])
        assert events(served)["total"] == 1 and clip["picture"] and clip["color"] == "blue", events(served)
        one = get(served, "/api/v1/events/" + clip["id"]).json
        assert one["events"][0]["what"]["zone"] == "=all", one
        assert one["trail"]["frames"] and one["predictions"]["objects"], one
        eventually(lambda: counted(served) == 1)
        eventually(lambda: get(served, "/api/v1/charts/occupancy").json["most"] > 0)
        eventually(lambda: get(served, "/api/v1/charts/latency?bucket=minute").json["buckets"][-1]["predictions"] > 0)
        table = served.get("/api/v1/charts/counts?format=csv")
        assert table.headers["content-type"].startswith("text/csv") and table.headers["content-disposition"] == "attachment; filename=counts.csv", table.headers
        lines = table.text.split("\r\n")
        assert lines[0] == "from,pipeline,kind,name,entered,left,in,out,most,mean_dwell" and lines[1].split(",")[1:6] == ['"live"', "zone", "\"'=all\"", "1", "0"], lines
        for name in ("dwell", "occupancy", "latency"):
            assert served.get("/api/v1/charts/%s?format=csv" % name).status == 200
    finally:
        served.stop(signal.SIGKILL)
    with Served(path) as served:
        assert counted(served) >= 1
        assert clip["id"] in ids(served)


def built_without():
    with Served(write("bare.pipeline", b"[pipeline]\nlaunch=videotestsrc is-live=true ! fakesink\n")) as served:
        refused(served.get("/api/v1/events"), 501, "this build keeps no events: expected SQLite 3 when it was made (Debian: libsqlite3-dev, meson option sqlite)")


if "SQLite" in run("--version").out.partition("without")[2]:
    harness.main({"test_built_without": built_without})
harness.main(globals())
