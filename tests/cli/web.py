# SPDX-License-Identifier: LGPL-2.1-or-later
"""sightline run --http: what it answers, to whom, and what clients that are slow, greedy or hostile do to it: nothing."""
import base64
import contextlib
import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time

import harness
from harness import SANITIZED, Skip, model, reserve_port, run, work, write
from running import PATIENCE, Running, eventually
from served import Answer, Served, certificate, jpeg_size, read_for, read_until

sys.path.insert(0, os.path.join(harness.ROOT, "tests", "support"))
import schema  # noqa: E402

FRAMES = "videotestsrc is-live=true pattern=blue ! video/x-raw,format=RGB,width=320,height=240,framerate=30/1"
DARK = "fakesrc is-live=true do-timestamp=true ! identity sleep-time=20000 ! fakesink"  # no video
MODEL = "slpredict name=predict model=${model} ! application/x-json ! fakesink"
AT_ONCE = 8  # handshakes
PAGES = ["/", "/snapshot.jpg", "/predictions", "/pipelines", "/health", "/metrics"]


def describe(name, launch=FRAMES + " ! " + MODEL, more=""):
    text = "[parameters]\nmodel=%s\n[pipeline]\nlaunch=%s\n%s" % (model("brightest_channel.tflite"), launch, more)
    return write(name + ".pipeline", text.encode())


def test_usage():
    path = describe("usage", "fakesrc num-buffers=1 ! fakesink")
    run("run", "--http", "8080", path).expect(2, "--http 8080: expected ADDR:PORT, such as 127.0.0.1:8080 or [::1]:8080, got '8080'")
    for text in ("127.0.0.1", "localhost:x", "127.0.0.1:65536", "example.com:80", "::1:80", "[127.0.0.1]:80", ":80", ""):
        run("run", "--http", text, path).expect(2, "--http %s: expected ADDR:PORT, " % text, "got '%s'" % text)
    run("run", "--http", "0.0.0.0:80", path).expect(1, "--http 0.0.0.0:80: other machines reach 0.0.0.0:80: expected 127.0.0.1 or [::1], a password "
                                                    "file (--http-password-file) or TLS (--http-certificate and --http-key); sightline serve also takes a key (--api-key-file)")
    run("run", "--http-password-file", "x", path).expect(1, "--http-password-file: expected --http ADDR:PORT with it, which says where to serve")
    run("run", "--http-certificate", "x", "--http", "127.0.0.1:0", path).expect(1, "--http: got a certificate without a private key: "
                                                                                "expected both for HTTPS, or neither")
    run("run", "--http-key", "x", "--http", "127.0.0.1:0", path).expect(1, "--http: got a private key without a certificate: expected both")
    run("run", "--http", "127.0.0.1:0", "--http-password-file", work("none"), path).expect(1, "--http 127.0.0.1:0: password file: ", work("none"))
    run("run", "--http", "127.0.0.1:0", "--http-certificate", path, "--http-key", path, path).expect(1, "certificate " + path, "expected PEM files")
    pair, other = certificate("usage"), certificate("other")
    run("run", "--http", "127.0.0.1:0", "--http-certificate", pair[0], "--http-key", other[1], path).expect(
        1, "certificate %s with the private key %s: the key does not belong to the certificate; expected a pair" % (pair[0], other[1]))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        at = "127.0.0.1:%d" % taken.getsockname()[1]
        run("run", "--http", at, path).expect(1, "--http " + at + ": ", "in use", "expected an address of this machine and a port that nothing else listens at")
    event, = [json.loads(line) for line in run("run", "--json", "--http", "0.0.0.0:80", path).err.splitlines()]
    assert event["event"] == "bad-http" and event["level"] == "error", event


def test_description():
    one = describe("one", more="[http]\nlisten=127.0.0.1:0\nwidth=160\n")
    two = describe("two", more="[http]\nlisten=127.0.0.1:1\n")
    three = describe("three")
    run("run", one, two).expect(1, two + ":6: [http] listen is 127.0.0.1:1, " + one + " has 127.0.0.1:0: expected one address for all that run together; "
                                "state it with --http")
    run("run", describe("far", more="[http]\nlisten=0.0.0.0:1\n")).expect(1, work("far.pipeline") + ":6: [http] listen 0.0.0.0:1: other machines reach")
    with Served(one, three, at=None) as served:
        assert [p["name"] for p in served.get("/pipelines").json["pipelines"]] == ["one", "three"]
        assert jpeg_size(served.get("/snapshot.jpg?pipeline=three").body) == (160, 120)
    with Served(one, two, at="[::1]:0") as served:
        assert served.host == "::1" and served.get("/health").status in (200, 503)
    running = Running(three)
    running.wait_for("running")
    assert running.stop() < PATIENCE and "http" not in {event["event"] for event in running.events()}


def test_strange_methods():
    """libsoup keeps the name of each method for ever: after many unknown ones no more reach it, and others are answered."""
    with Served(describe("strange")) as served:
        statuses = [served.get("/", "BREW%d" % i).status for i in range(110)]
        assert statuses == [405] * 100 + [0] * 10, statuses.index(0)
        assert served.get("/").status == 200 and served.get("/", "BREW").status == 0


def test_strange_methods_by_tls():
    """The same behind TLS, where the method comes encrypted; byte by byte, too."""
    chain, key = certificate("strange")
    context = ssl.create_default_context(cafile=chain)
    context.check_hostname = False
    with Served(describe("hidden"), "--http-certificate", chain, "--http-key", key, context=context) as served:
        assert served.get("/", "BREW").status == 405 and served.get("/", "BREW" * 5).status == 0
        with served.connect() as slow:
            for byte in (b"G", b"E", b"T", b" / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"):
                slow.sendall(byte)
            assert read_until(slow, b"\r\n").startswith(b"HTTP/1.1 200")
        with contextlib.suppress(ConnectionResetError, ssl.SSLError), served.connect() as endless:
            endless.sendall(b"B" * 17)
            assert endless.recv(100) == b""
        assert served.get("/").status == 200


def test_pages():
    with Served(describe("pages", more="[http]\nstall=1min\n")) as served:
        eventually(lambda: served.get("/predictions").status == 200)
        eventually(lambda: served.get("/health").status == 200)
        for path in PAGES:
            answer, head = served.get(path), served.get(path, "HEAD")
            assert answer.status == 200 and len(answer.body) == int(answer.headers["content-length"]), (path, answer.status)
            assert head.status == 200 and head.body == b"" and head.headers["content-type"] == answer.headers["content-type"], path
            assert answer.headers["cache-control"] == "no-store" and answer.headers["connection"] == "close", answer.headers
        for path in ("/stream.mjpg", "/predictions"):
            assert served.get(path, "HEAD", Accept="text/event-stream").status == 200
        page = served.get("/").text
        assert "default-src 'none'" in served.get("/").headers["content-security-policy"]
        assert not re.search(r"https?://", page), "the page is to load nothing from elsewhere"
        assert served.get("/page/none.js").status == 404 and served.get("/page/none.js").text == "/page/none.js: the page has no such file\n"
        missing = served.get("/nothing%0a")
        assert missing.status == 404 and missing.text.startswith("/nothing\\n: there is nothing here; expected one of /, /snapshot.jpg, "), missing.text
        assert served.get("/health?pipeline=x").text == "?pipeline=x: there is no such pipeline; expected pages\n"
        assert served.get("/", "BREW" * 5).status == 0, "a method that no program has"
        with served.connect() as half, served.connect() as slow:
            half.sendall(b"GE")
            half.shutdown(socket.SHUT_WR)
            with contextlib.suppress(ConnectionResetError):
                assert half.recv(100) == b""
            for byte in (b"G", b"E", b"T", b" / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"):
                slow.sendall(byte)
            assert read_until(slow, b"\r\n").startswith(b"HTTP/1.1 200")
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "BREW"):
            answer = served.get("/", method)
            assert answer.status == 405 and answer.headers["allow"] == "GET, HEAD" and b"expected GET or HEAD" in answer.body, method
        for host, status in (("localhost", 200), ("[::1]:80", 200), ("evil.example", 403), ("evil.example:%d" % served.port, 403)):
            assert served.get("/metrics", Host=host).status == status, host


def test_predictions():
    with open(os.path.join(harness.ROOT, "docs", "predictions.schema.json"), encoding="utf-8") as file:
        rule = json.load(file)
    quiet = describe("quiet", "fakesrc is-live=true do-timestamp=true ! identity sleep-time=20000 ! fakesink")
    with Served(describe("told"), quiet) as served:
        with served.stream("/predictions", "text/event-stream") as peer:
            head, events = read_until(peer, b"\n\n", 12).split(b"\r\n\r\n", 1)
        assert head.startswith(b"HTTP/1.1 200 OK\r\n") and b"Content-Type: text/event-stream" in head, head
        lines = [line[6:] for line in events.decode().split("\n") if line.startswith("data: ")]
        numbers = [json.loads(line)["frame"] for line in lines]
        assert len(lines) >= 10 and numbers == sorted(set(numbers)), numbers
        for line in lines + [served.get("/predictions").text]:
            assert not schema.problems(json.loads(line), rule, rule), line
            assert json.loads(line)["labels"][0]["label"] == "blue", line
        eventually(lambda: served.get("/predictions?pipeline=quiet").text == "/predictions: quiet: there are none yet\n")
        assert served.get("/predictions?pipeline=quiet").status == 503
        # As many listeners as there may be, and one more; a listener that leaves makes room.
        peers = [eventually(lambda: listener(served)) for _ in range(16)]
        for peer in peers:
            read_until(peer, b"data: ")
        refused = served.get("/predictions", Accept="text/event-stream")
        assert refused.status == 503 and refused.headers["retry-after"] == "10" and "16 clients look already" in refused.text, refused.text
        assert served.get("/predictions").status == 200
        for peer in peers:
            peer.close()
        eventually(lambda: listener(served)).close()


def listener(served):
    """A peer that listens for predictions; None where there is no room for one more."""
    peer = served.stream("/predictions", "text/event-stream")
    if peer.recv(12) == b"HTTP/1.1 200":
        return peer
    peer.close()


def pixels(jpeg, width, height):
    path, raw = write("picture.jpg", jpeg), work("picture.rgb")
    subprocess.run(["gst-launch-1.0", "-q", "filesrc", "location=" + path, "!", "jpegdec", "!", "videoconvert", "!", "video/x-raw,format=RGB", "!",
                    "filesink", "location=" + raw], check=True, timeout=PATIENCE)
    with open(raw, "rb") as file:
        data = file.read()
    assert len(data) == width * height * 3, len(data)
    return [data[i:i + 3] for i in range(0, len(data), 3)]


def test_pictures():
    frames = FRAMES.replace("RGB,width=320,height=240", "%s,width=1280,height=720")
    kinds = [describe("lines-" + form.lower(), frames % form + " ! " + MODEL) for form in ("NV12", "RGB", "GRAY8")]
    kinds += [describe("frames", frames % "I420" + " ! slpredict model=${model} ! sltrack ! fakesink"), describe("plain", frames % "YUY2" + " ! fakesink")]
    with Served(*kinds) as served:
        for path in kinds:
            name = os.path.basename(path)[:-9]
            answer = eventually(lambda: (lambda a: a if a.status == 200 else None)(served.get("/snapshot.jpg?pipeline=" + name)))
            assert answer.headers["content-type"] == "image/jpeg" and jpeg_size(answer.body) == (640, 360), name
        grid = pixels(served.get("/snapshot.jpg?pipeline=lines-nv12").body, 640, 360)
        blue = sum(p[2] > 200 and p[0] < 60 and p[1] < 60 for p in grid)
        assert 0.5 < blue / len(grid) < 0.998, "expected a blue picture with a label on it, %d of %d are blue" % (blue, len(grid))
        with served.stream("/stream.mjpg") as peer:
            data = read_until(peer, b"\r\n--frame\r\n", 4)
            started, more = time.monotonic(), read_for(peer, 3)
            rate = more.count(b"\r\n--frame\r\n") / (time.monotonic() - started)
            looking = served.get("/pipelines").json["threads"]  # a report is up to half a second old: not asked for at the start
        head, _, parts = data.partition(b"\r\n\r\n")
        assert b"Content-Type: multipart/x-mixed-replace; boundary=frame" in head, head
        part = parts.split(b"--frame\r\n")[2]
        fields, _, jpeg = part.partition(b"\r\n\r\n")
        length = int(re.search(rb"Content-Length: (\d+)", fields).group(1))
        assert jpeg_size(jpeg[:length]) == (640, 360) and jpeg[length:] == b"\r\n", fields
        assert rate < 20, "expected about 10 pictures of the 30 frames a second, got %.1f" % rate  # what a late reader finds waiting counts, too
        # What makes pictures goes away when nobody looks: it has threads of its own.
        eventually(lambda: served.get("/pipelines").json["threads"] < looking)


def test_redacted():
    """The page has its pictures from behind slredact, never from before the model."""
    frames = FRAMES.replace("pattern=blue", "pattern=checkers-1").replace("RGB,", "GRAY8,")
    assert "checkers-1" in frames, frames
    path = describe("hidden", frames + " ! slpredict model=${model} ! slredact min-confidence=0 margin=4 zones=\"[zone all] points=0,0 1,0 1,1 0,1\" ! fakesink")
    with Served(path) as served:
        answer = eventually(lambda: (lambda a: a if a.status == 200 else None)(served.get("/snapshot.jpg?pipeline=hidden")))
        grid = pixels(answer.body, *jpeg_size(answer.body))
        lower = [p[0] for p in grid[-len(grid) // 4:]]  # above are labels
        assert max(lower) - min(lower) < 60, "expected gray where there were squares of one pixel, got %d..%d" % (min(lower), max(lower))


def test_viewers():
    with Served(describe("few", more="[http]\nviewers=2\nframe-rate=60\n")) as served:
        peers = [served.stream("/stream.mjpg") for _ in range(2)]
        for peer in peers:
            read_until(peer, b"image/jpeg", 2)
        refused = served.get("/stream.mjpg")
        assert refused.status == 503 and "2 clients look already: expected at most 2; more with viewers= in [http]" in refused.text, refused.text
        assert served.get("/snapshot.jpg").status == 200
        peers.pop().close()
        eventually(lambda: sees_pictures(served))
        peers.pop().close()


def test_no_picture():
    odd = describe("odd", DARK.replace("! fakesink", "! video/x-raw,format=RGB ! fakesink"))  # of no size
    with Served(describe("dark", DARK), odd) as served:
        started = time.monotonic()
        answer = served.get("/snapshot.jpg")
        assert answer.status == 503 and answer.text == "/snapshot.jpg: dark: no frame came for 3 s; /health says how the pipeline is\n", answer.text
        assert time.monotonic() - started >= 3
        says = "/snapshot.jpg: odd: no pictures of video/x-raw, format=(string)RGB: expected raw video in system memory\n"
        eventually(lambda: served.get("/snapshot.jpg?pipeline=odd").text == says)
        for _ in range(2):
            answer = served.get("/snapshot.jpg?pipeline=odd")
            assert answer.status == 503 and answer.text == says, answer.text


def test_stall():
    """Bytes are frames here: while none are written the pipeline stalls."""
    path = describe("stalls", "fdsrc fd=0 blocksize=4 do-timestamp=true ! fakesink", "watchdog=0\nstart-timeout=0\n")
    with Served(path, stdin=subprocess.PIPE, first_frame=False) as served:
        answer = served.get("/health")
        assert answer.status == 503 and answer.json["reasons"] == ["stalls: starting, no frame yet"], answer.text
        delay, tries = 3, 0
        while delay >= 3:  # a busy machine may need some tries
            tries += 1
            flowing = threading.Event()

            def feed():
                while not flowing.is_set():
                    served.child.stdin.write(b"data")
                    served.child.stdin.flush()
                    time.sleep(0.02)

            feeder = threading.Thread(target=feed)
            feeder.start()
            eventually(lambda: served.get("/health").status == 200)
            flowing.set()
            feeder.join()
            stalled = time.monotonic()
            answer = eventually(lambda: (lambda a: a if a.status == 503 else None)(served.get("/health")))
            delay = time.monotonic() - stalled
            assert delay > 1.5 and tries < 20, "expected 503 within 3 s of the stall, got it after %.1f s" % delay
            assert re.fullmatch(r"stalls: no frame for \d+\.\d s", answer.json["reasons"][0]), answer.text
        served.child.stdin.close()


def test_states():
    failing = describe("fails", "videotestsrc num-buffers=3 ! identity error-after=2 ! fakesink")
    waiting = describe("waits", "videotestsrc ! identity error-after=2 ! fakesink", "restart=on-failure\nbackoff-min=1h\nbackoff-max=2h\n")
    ending = describe("ends", FRAMES.replace("videotestsrc", "videotestsrc num-buffers=3") + " ! " + MODEL)
    running = Served(failing, waiting, ending, describe("goes-on"), first_frame=False)
    for event in ("waiting", "end-of-stream"):
        running.wait_for(event)
    reasons = ["fails: failed, and is not started again", "waits: waiting for its next start"]
    eventually(lambda: running.get("/health").json["reasons"] == reasons)  # what goes on may take its time to begin
    states = {"fails": "failed", "waits": "waiting", "ends": "ended", "goes-on": "running"}
    eventually(lambda: {p["name"]: p["state"] for p in running.get("/pipelines").json["pipelines"]} == states)  # a report is up to half a second old
    gone = running.get("/predictions?pipeline=ends")
    assert gone.status == 503 and gone.text == "/predictions: ends: there are none: the pipeline is ended\n", gone.text
    restarts = {p["name"]: p["restarts"] for p in running.get("/pipelines").json["pipelines"]}
    assert restarts["waits"] == 0, "a start that is only waited for counts: %s" % restarts
    messages = running.get("/pipelines").json["messages"]
    assert any(m["pipeline"] == "fails" and m["level"] == "error" for m in messages), messages
    running.stop()
    assert running.status == 1


def test_camera_away():
    path = describe("away", "slcamera name=gate uri=http://user:secret@127.0.0.1:%d/stream ! fakesink" % reserve_port(), "start-timeout=0\n")
    with Served(path, first_frame=False) as served:
        reasons = eventually(lambda: (lambda r: r if r[1:] == ["away: camera gate is reconnecting"] else None)(served.get("/health").json["reasons"]))
        assert reasons[0] == "away: starting, no frame yet", reasons
        assert b"secret" not in served.get("/pipelines").body + served.get("/metrics").body


def samples_of(text):
    """What Prometheus reads: {name with labels: value}."""
    samples = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            name, _, value = line.rpartition(" ")
            assert name not in samples and float(value) >= 0, line
            samples[name] = float(value)
    return samples


def test_metrics():
    camera = "slcamera name=door uri=test://?pattern=ball width=320 height=240 framerate=30"
    path = describe("tells", camera + " ! slpredict name=predict model=${model} ! application/x-json ! slpublish name=out location=%s" % work("lines.json"))
    odd = describe('odd "name"', "videotestsrc is-live=true ! fakesink")
    with Served(path, odd) as served:
        eventually(lambda: served.get("/predictions?pipeline=tells").status == 200)
        begun = ('camera_state{pipeline="tells",camera="door",state="playing"} 1\n', 'pipeline_state{pipeline="odd \\"name\\"",state="running"} 1\n', 'output_connected{pipeline="tells",element="out"} 1\n')
        eventually(lambda: (lambda text: all("sightline_" + words in text for words in begun))(served.get("/metrics").text))
        answer = served.get("/metrics")
        assert answer.headers["content-type"].startswith("text/plain; version=0.0.4"), answer.headers
        text = answer.text
        samples = samples_of(text)
        assert samples['sightline_pipeline_state{pipeline="odd \\"name\\"",state="running"}'] == 1, text
        assert samples['sightline_model_info{pipeline="tells",element="predict",model="%s"}' % model("brightest_channel.tflite")] == 1
        assert samples['sightline_output_connected{pipeline="tells",element="out"}'] == 1
        for stage in ("preprocess", "inference", "decode", "age"):
            bounds = [(name, value) for name, value in samples.items() if name.startswith('sightline_stage_seconds_bucket{pipeline="tells",stage="%s"' % stage)]
            counts = [value for _, value in bounds]
            total = samples['sightline_stage_seconds_count{pipeline="tells",stage="%s"}' % stage]
            assert counts == sorted(counts) and counts[-1] == total > 0 and 'le="+Inf"' in bounds[-1][0], bounds
            assert samples['sightline_stage_seconds_sum{pipeline="tells",stage="%s"}' % stage] > 0
        # Frames go on between the two counts.
        eventually(lambda: (lambda s: abs(s['sightline_predictions_total{pipeline="tells"}'] - s['sightline_stage_seconds_count{pipeline="tells",stage="age"}']) <= 2)
                   (samples_of(served.get("/metrics").text)))
        assert samples["process_resident_memory_bytes"] > 1e6 and samples["process_cpu_seconds_total"] > 0
        eventually(lambda: float(re.search(r'sightline_published_lines_total{pipeline="tells",element="out"} (\d+)', served.get("/metrics").text).group(1)) > 5)
        if shutil.which("promtool") is None:
            raise Skip("promtool, of Debian's package prometheus, is not installed")
        done = subprocess.run(["promtool", "check", "metrics"], input=text.encode(), capture_output=True, timeout=PATIENCE)
        assert done.returncode == 0 and done.stderr == b"", done


def video_from_the_middle():
    """(nullable): the path of H.264 of 18 pictures, of which the ninth is the first key frame."""
    parts = work("parts")
    os.makedirs(parts, exist_ok=True)
    done = subprocess.run(["gst-launch-1.0", "-q", "videotestsrc", "num-buffers=20", "!", "video/x-raw,width=64,height=48", "!", "openh264enc", "gop-size=10", "!",
                           "h264parse", "config-interval=-1", "!", "video/x-h264,stream-format=byte-stream,alignment=au", "!", "multifilesink",
                           "location=" + os.path.join(parts, "%02d")], capture_output=True) if shutil.which("gst-launch-1.0") else None
    if done is None or done.returncode != 0:
        return None
    pictures = [open(os.path.join(parts, name), "rb").read() for name in sorted(os.listdir(parts))]
    sets = pictures[0][:pictures[0].index(b"\0\0\1\x65")]
    path = work("middle.h264")
    with open(path, "wb") as file:
        file.write(sets.rstrip(b"\0") + b"".join(pictures[2:]))
    return path


def test_damaged():
    """Frames that a decoder calls corrupted are dropped, and have a reason of their own."""
    path = video_from_the_middle()
    if path is None:
        raise Skip("there is no gst-launch-1.0 with openh264enc")
    source = 'multifilesrc location="%s" loop=true caps=video/x-h264,stream-format=byte-stream ! h264parse ! avdec_h264 ! ' % path
    with Served(describe("damaged", source + "slpredict model=${model} ! fakesink")) as served:
        eventually(lambda: int(re.search(r'reason="damaged"} (\d+)', served.get("/metrics").text).group(1)) > 4)
        drops = served.get("/pipelines").json["pipelines"][0]["drops"]
        assert drops["damaged"] > 4 and drops["busy"] == 0, drops


def test_drops():
    """Frames that give way, by who drops them; what a pipeline of another kind drops is another's."""
    slow = "identity sleep-time=200000 ! fakesink"
    paths = [describe("camera", "slcamera uri=test://?pattern=ball width=320 height=240 framerate=30 ! " + slow),
             describe("queue", FRAMES + " ! queue leaky=upstream max-size-buffers=1 ! " + slow),
             describe("late", FRAMES + " ! identity sleep-time=200000 ! fakesink sync=true qos=true max-lateness=1000000"),
             describe("busy", FRAMES + " ! slpredict model=${model} ! application/x-json ! " + slow)]
    with Served(*paths) as served:
        def drops(name):
            found = re.findall(r'sightline_frames_dropped_total{pipeline="%s",reason="(\w+)"} (\d+)' % name, served.get("/metrics").text)
            return {reason: int(count) for reason, count in found if count != "0"}
        for reason in ("camera", "queue", "late", "busy"):
            eventually(lambda: set(drops(reason)) == {reason})
        told = {p["name"]: p["drops"] for p in served.get("/pipelines").json["pipelines"]}
        assert told["queue"]["queue"] > 0 and told["queue"]["busy"] == told["queue"]["late"] == told["queue"]["camera"] == 0, told


def still_open(peer):
    peer.setblocking(False)
    try:
        return peer.recv(1) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False


def answers_among(served, said):
    """Whether an answer comes while peers that have said no more than that are there."""
    peers = [socket.create_connection((served.host, served.port)) for _ in said]
    try:
        for peer, words in zip(peers, said):
            peer.sendall(words)
        return b" 200 " in served.ask(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")[:20] and still_open(peers[-1])
    finally:
        for peer in peers:
            peer.close()


def client_hello():
    """The first words of a TLS client."""
    context, words = ssl.create_default_context(), ssl.MemoryBIO()
    try:
        context.wrap_bio(ssl.MemoryBIO(), words, server_hostname="localhost").do_handshake()
    except ssl.SSLWantReadError:
        return words.read()


def waits(peer):
    """Whether nothing has come for it, neither words nor the end."""
    peer.setblocking(False)
    try:
        peer.recv(1)
    except BlockingIOError:
        return True
    except OSError:
        pass
    return False


def asked_among(served, source, request, limit):
    """Checks that an answer comes early in one of some tries, while each connection of others has said as much: within @limit seconds, or, on a
    busy machine, while more of them wait than are served at once. @source gives the address of the number-th."""
    tries = []
    while not tries or len(tries) < 10 and not SANITIZED and tries[-1][0] >= limit and tries[-1][1] <= AT_ONCE:
        with contextlib.ExitStack() as stack:
            peers = [stack.enter_context(socket.create_connection((served.host, served.port), PATIENCE, (source(number), 0))) for number in range(60)]
            for peer in peers:
                peer.sendall(request)
            started = time.monotonic()
            answer = served.get("/metrics", Authorization="Bearer open sesame")
            while answer.status == 0 and time.monotonic() - started < PATIENCE:  # a handshake on a slow machine may be given up: clients try again
                answer = served.get("/metrics", Authorization="Bearer open sesame")
            tries.append((time.monotonic() - started, sum(waits(peer) for peer in peers)))
            assert answer.status == 200, answer.status
    assert SANITIZED or tries[-1][0] < limit or tries[-1][1] > AT_ONCE, tries


def test_crowds():
    """What others do does not keep the right password, or a handshake, waiting."""
    secret = write("crowd", b"open sesame\n")
    os.chmod(secret, 0o600)
    guess = b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer word\r\n\r\n"
    with Served(describe("watched"), "--http-password-file", secret) as served:
        descriptors = served.descriptors()
        for source in (lambda number: "127.0.0.%d" % (2 + number), lambda number: "127.0.0.2"):
            asked_among(served, source, guess, 1)
        eventually(lambda: served.descriptors() <= descriptors + 1)
        started, guesses = time.monotonic(), [served.connect(source="127.0.0.3") for _ in range(40)]
        for peer in guesses:
            peer.sendall(guess)
        answers = [b"".join(iter(lambda peer=peer: peer.recv(1 << 16), b"")) for peer in guesses]
        told = [answer[9:12] for answer in answers if answer or time.monotonic() - started < 10]  # seconds, then who has no answer is hung up on
        refused = [Answer(answer).text for answer in answers if answer[9:12] == b"429"]
        assert set(refused) == {"24 passwords of this client wait already, as one was wrong: try again later\n"}, refused
        assert set(told) == {b"401", b"429"} and told.count(b"429") < 20, told
        eventually(lambda: served.get("/metrics", Authorization="Bearer open sesame").status == 200)
    chain, key = certificate("crowd")
    context = ssl.create_default_context(cafile=chain)
    context.check_hostname = False
    with Served(describe("veiled"), "--http-certificate", chain, "--http-key", key, context=context) as served:
        for source in (lambda number: "127.0.0.%d" % (2 + number), lambda number: "127.0.0.2", lambda number: "127.0.0.1"):
            for words in (b"\x16", client_hello()):
                asked_among(served, source, words, 5)
        eventually(lambda: gives_way(served))


def gives_way(served):
    """Whether connections of a client that has many of them give way, not those of others. The patience for any may end first on a busy machine."""
    with contextlib.ExitStack() as stack:
        first = stack.enter_context(socket.create_connection((served.host, served.port), PATIENCE, ("127.0.0.2", 0)))
        for _ in range(100):
            stack.enter_context(socket.create_connection((served.host, served.port), PATIENCE, ("127.0.0.3", 0)))
        return served.get("/metrics").status == 200 and still_open(first)


def ends_handshakes(served):
    """Whether peers that begin a handshake and go no further are let go before one that came with them and says nothing."""
    with contextlib.ExitStack() as stack:
        count = 2 if SANITIZED else AT_ONCE  # with a sanitizer on a busy machine each takes seconds to end
        silent, *peers = [stack.enter_context(socket.create_connection((served.host, served.port), PATIENCE)) for _ in range(count + 1)]
        for peer in peers:
            peer.sendall(b"\x16")
        return all(peer.recv(1) == b"" for peer in peers) and still_open(silent)


def test_zones():
    street, detector = harness.data("images", "bus.jpg"), harness.data("models", "ssd_mobilenet_v1.tflite")
    launch = ("multifilesrc location=%s loop=true caps=image/jpeg,framerate=10/1 ! jpegdec ! identity sync=true ! videoconvert ! video/x-raw,format=I420 ! "
              "slpredict model=%s track=true ! slanalyze name=look ! slrecord name=keep ! fakesink" % (street, detector))
    os.makedirs(work("clips"))
    zones = "[zone all]\npoints=0,0 1,0 1,1 0,1\nclasses=person\n[zone none]\npoints=0,0 0.02,0 0.02,0.02\n[line way]\npoints=0,0.01 1,0.01\n"
    zones += "[record]\nlocation=%s\npre-roll=0\npost-roll=0\nmin-free=0\non=entered\n" % work("clips")
    with Served(describe("street", launch, zones)) as served:
        key = 'sightline_zone_objects{pipeline="street",element="look",zone="all",label="person"}'
        text = eventually(lambda: (lambda t: t if key in t else None)(served.get("/metrics").text))
        samples = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
        people = sum(o["detection"]["label"] == "person" for o in served.get("/predictions").json["objects"])
        assert 0 < float(samples[key]) <= people, (samples[key], people)
        assert samples[key.replace("objects", "entered_total")] == samples[key]
        assert samples['sightline_zone_longest_seconds{pipeline="street",element="look",zone="none"}'] == "0"
        assert abs(float(samples['sightline_counts_since_seconds{pipeline="street",element="look"}']) - time.time()) < PATIENCE
        regions = served.get("/pipelines").json["pipelines"][0]["regions"]
        assert [(r["kind"], r["name"]) for r in regions] == [("zone", "all"), ("zone", "none"), ("line", "way")], regions
        assert regions[0]["inside"] == regions[0]["entered"] == float(samples[key]) and regions[0]["left"] == regions[1]["inside"] == 0, regions
        eventually(lambda: re.search(r'sightline_clips_total{pipeline="street",element="keep"} [1-9]', served.get("/metrics").text))
        assert 'sightline_clips_failed_total{pipeline="street",element="keep"} 0' in served.get("/metrics").text
    clips = [name for name in os.listdir(work("clips")) if not name.startswith(".")]  # without the index of events
    assert sorted({name.rpartition(".")[2] for name in clips}) == ["jpg", "json", "mkv"], clips
    assert all(name.startswith("street-") for name in clips), clips


def test_password_and_tls():
    secret = write("password", b"open sesame\n")
    os.chmod(secret, 0o600)
    with Served(describe("guarded"), "--http-password-file", secret) as served:
        basic = "Basic " + base64.b64encode(b"any:open sesame").decode()
        for header, status in ((basic, 200), ("Bearer open sesame", 200), ("bearer open sesame", 200), ("Bearer open sesam", 401),
                               ("Basic " + base64.b64encode(b"open sesame").decode(), 401), ("Basic !!", 401), ("Basic", 401), ("Digest x", 401)):
            assert served.get("/metrics", Authorization=header).status == status, header
        for path in PAGES + ["/stream.mjpg", "/nothing"]:
            answer = served.get(path)
            assert answer.status == 401 and answer.headers["www-authenticate"].startswith("Basic realm="), path
        assert served.get("/metrics", Authorization=basic, Host="name.example").status == 200
        started = time.monotonic()
        guesses = [served.connect() for _ in range(21)]  # over as many connections; the right one comes last, and waits its turn
        for number, peer in enumerate(guesses):
            word = "open sesame" if number == 20 else "word %d" % number
            peer.sendall(b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\n\r\n" % word.encode())
        assert [int(read_until(peer, b"\r\n")[9:12]) for peer in guesses[-1:] + guesses[:-1]] == [200] + [401] * 20
        assert time.monotonic() - started >= 1.9, "20 guesses are to take 2 s"
        for peer in guesses:
            peer.close()
        with served.connect() as wrong, served.connect() as viewer:  # a stream that waits its turn, too
            for peer, word, path in ((wrong, b"word", b"metrics"), (viewer, b"open sesame", b"stream.mjpg")):
                peer.sendall(b"GET /%s HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\n\r\n" % (path, word))
            read_until(viewer, b"image/jpeg", 2)
        assert "sesame" not in "".join(line for line in served.lines if line)
    os.chmod(secret, 0o644)
    with Served(describe("readable"), "--http-password-file", secret, first_frame=False) as served:
        assert any(e["event"] == "http" and e["level"] == "warning" for e in served.events()), served.lines
    chain, key = certificate()
    context = ssl.create_default_context(cafile=chain)
    context.check_hostname = False
    with Served(describe("sealed"), "--http-certificate", chain, "--http-key", key, at="0.0.0.0:0", context=context) as served:
        served.host = "127.0.0.1"
        for path in ("/", "/snapshot.jpg", "/pipelines", "/metrics"):
            assert served.get(path).status == 200, path
        with served.stream("/stream.mjpg") as peer:
            read_until(peer, b"image/jpeg", 3)
        eventually(lambda: answers_among(served, [b""] * 60))
        eventually(lambda: ends_handshakes(served))
        served.context = None  # plain text at a port for TLS
        assert served.ask(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")[:4] != b"HTTP"


def test_reload():
    unnamed = MODEL.replace("name=predict ", "")
    path = describe("changes", FRAMES + " ! " + unnamed)
    with Served(path) as served, served.stream("/stream.mjpg") as peer, served.stream("/predictions", "text/event-stream") as listener:
        read_until(peer, b"image/jpeg", 3)
        for pattern, colour in (("red", "red"), ("green", "green")):
            describe("changes", FRAMES.replace("blue", pattern) + " ! " + unnamed)
            served.child.send_signal(signal.SIGHUP)
            read_until(listener, b'"label":"%s"' % colour.encode())
            read_until(peer, b"image/jpeg", 3)
        eventually(lambda: served.get("/health").status == 200)
        text = served.get("/metrics").text
        assert 'sightline_restarts_total{pipeline="changes"} 0\n' in text, "a reload is no restart"
        assert 'sightline_model_info{pipeline="changes",element="slpredict0"' in text, "a reload changes no name"


def ages(served, seconds):
    """Median and worst age of predictions, and how many there were."""
    with served.stream("/predictions", "text/event-stream") as peer:
        text, tries = "", 0
        while '"age":' not in text and tries < PATIENCE:  # a busy machine may have none for a while
            text, tries = text + read_for(peer, seconds).decode(), tries + 1
    found = sorted(int(age) for age in re.findall(r'"age":(\d+)', text))
    assert found, text[:200]
    return found[len(found) // 2], found[-1], len(found)


def test_hostile():
    # Pictures of noise are large: they fill the buffers of who takes none at once.
    with Served(describe("calm", FRAMES.replace("blue", "snow") + " ! " + MODEL), describe("dark", DARK)) as served:
        eventually(lambda: served.get("/health").status == 200)
        quiet = ages(served, 1)
        descriptors = served.descriptors()
        memory = served.get("/pipelines").json["rss_bytes"]
        idle = [served.connect() for _ in range(50)]
        slow, viewer = served.stream("/stream.mjpg"), served.stream("/stream.mjpg?pipeline=dark")
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        done = threading.Event()

        def sip():
            while not done.wait(1):
                try:
                    slow.recv(1)
                except OSError:
                    return

        drip = served.connect()  # a request that never ends

        def trickle():
            try:
                for byte in b"GET / HTTP/1.1\r\nHost: x\r\n" + b"A: b\r\n" * 1000:
                    if done.wait(0.2):
                        return
                    drip.sendall(bytes([byte]))
            except OSError:
                pass

        threads = [threading.Thread(target=sip), threading.Thread(target=trickle)]
        for thread in threads:
            thread.start()
        for bad in (b"\0" * 5000, b"\x16\x03\x01\x02\x00\x01", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"GET  HTTP/1.1\r\n\r\n", b"\r\n" * 1000,
                    b"GET http://[::1 HTTP/1.1\r\nHost: x\r\n\r\n", b"GET /%00 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
                    b"GET /%ff%fe?%ff=%ff&pipeline=%ff HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", b"GET /../../etc/passwd HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
                    b"GET / HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -1\r\n\r\n",
                    b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffff\r\n" + b"x" * 100000,
                    b"GET /" + b"a" * 2000000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 300000 + b"\r\n",
                    b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 50000000\r\n\r\n" + b"x" * 50000000,
                    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                    b"Sec-WebSocket-Key: eA==\r\nSec-WebSocket-Version: 13\r\n\r\n",
                    b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 1000):
            with served.connect() as peer:
                try:
                    peer.sendall(bad)
                    peer.shutdown(socket.SHUT_WR)
                    while peer.recv(1 << 16):
                        pass
                except OSError:
                    pass
            assert served.child.poll() is None, (bad[:60], served.lines[-5:])
        with served.stream("/predictions", "text/event-stream") as chatty:
            try:
                for _ in range(100):
                    chatty.sendall(b"x" * 1000)
            except OSError:
                pass
        grown = served.get("/pipelines").json["rss_bytes"] - memory
        assert grown < 32 << 20 or SANITIZED, "%d bytes" % grown
        busy = eventually(lambda: (lambda busy: busy if busy[0] < quiet[0] + 1000000 else None)(ages(served, 2)))  # predictions do not wait for clients
        print("# ages in us (median, worst, number) alone %s, with them %s" % (quiet, busy))  # by how little they do is measured on a quiet machine
        # Who says nothing for 10 s is let go, and so is who takes nothing.
        for peer in idle + [drip]:
            peer.settimeout(PATIENCE)
            try:
                assert peer.recv(1) == b""
            except ConnectionResetError:
                pass
            peer.close()
        while viewer.recv(1 << 16):  # no picture ever came
            pass
        viewer.close()
        eventually(lambda: served.descriptors() <= descriptors + 1)
        done.set()
        slow.close()
        for thread in threads:
            thread.join()
        eventually(lambda: served.get("/health").status == 200)


def peak_bytes(served):
    """The most memory that it has had since the last call."""
    with open("/proc/%d/status" % served.child.pid, encoding="ascii") as file:
        peak = 1024 * int(re.search(r"VmHWM:\s*(\d+)", file.read()).group(1))
    with open("/proc/%d/clear_refs" % served.child.pid, "w", encoding="ascii") as file:
        file.write("5")
    return peak


def ask_at_once(served, request, times):
    answers = [None] * times

    def ask(number):
        answers[number] = served.ask(request)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(times)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [Answer(answer) for answer in answers]


def test_ranges():
    """Requests for parts of answers, many times over, and with more headers than anybody needs: neither costs memory."""
    with Served(describe("parts")) as served:
        eventually(lambda: served.get("/predictions").status == 200)
        eventually(lambda: served.get("/health").status == 200)
        whole = served.get("/")
        assert whole.status == 200
        peak_bytes(served)
        idle = peak_bytes(served)
        for path in PAGES:
            for header, status in (("bytes=" + "0-," * 2000 + "0-", 200), ("bytes=" + "0-," * 20000 + "0-", 431), ("bytes=1-", 200), ("bytes=9-1", 200)):
                request = "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nRange: %s\r\nIf-Range: \"x\"\r\n\r\n" % (path, header)
                for answer in ask_at_once(served, request.encode(), 16):
                    late = path == "/health" and status == 200 and answer.status == 503  # what a slow machine is told
                    assert answer.status == status or late, (path, header[:20], answer.status)
                    assert "content-range" not in answer.headers and len(answer.body) == int(answer.headers["content-length"]), answer.headers
        grown = peak_bytes(served) - idle
        assert grown < 60 << 20 or SANITIZED, "%d bytes" % grown
        assert served.get("/", Range="bytes=1-").body == whole.body
        for name, value in (("X", "x" * 8200), ("X" * 8200, "x"), ("Authorization", "Bearer " + "x" * 9000)):
            answer = served.get("/", **{name: value})
            assert answer.status == 431, answer.status
            assert re.fullmatch(r"the request's address and headers have \d+ bytes, expected at most 8192\n", answer.text), answer.text
        assert served.get("/?" + "x" * 8200).status == 431
        assert served.get("/", X="x" * 7000).status == 200


def test_memory_of_tls():
    """Clients that keep the connections of TLS open: each costs some buffers, and not a copy of the system's certificates."""
    chain, key = certificate("kept")
    context = ssl.create_default_context(cafile=chain)
    context.check_hostname = False
    with Served(describe("kept"), "--http-certificate", chain, "--http-key", key, context=context) as served:
        eventually(lambda: served.get("/health").status == 200)
        peak_bytes(served)
        idle = peak_bytes(served)
        with contextlib.ExitStack() as stack:
            for _ in range(40):
                stack.enter_context(served.connect())
            grown = peak_bytes(served) - idle
        assert grown < 40 << 20 or SANITIZED, "%d bytes" % grown


def sees_pictures(served):
    with served.stream("/stream.mjpg") as peer:
        return read_for(peer, 2).count(b"image/jpeg") >= 2


def test_many_connections():
    with Served(describe("crowd")) as served:
        descriptors = served.descriptors()
        peers = []
        for _ in range(160):
            peers.append(served.connect())
        assert served.get("/health").status in (200, 503)
        assert served.descriptors() < descriptors + 150, served.descriptors()
        for peer in peers:
            peer.close()
        eventually(lambda: served.descriptors() <= descriptors + 2)
        for _ in range(60):
            served.stream("/stream.mjpg").close()
        eventually(lambda: served.descriptors() <= descriptors + 12)
        eventually(lambda: sees_pictures(served))


def test_stop_with_clients():
    served = Served(describe("stops"))
    peers = [served.stream("/stream.mjpg"), served.stream("/predictions", "text/event-stream"), served.connect()]
    read_until(peers[0], b"image/jpeg")
    served.stop()
    assert served.status == 0, served.lines
    for peer in peers:
        try:
            while peer.recv(1 << 16):
                pass
        except ConnectionResetError:
            pass
        peer.close()


def built_without():
    """Of a build that has no libsoup: it says so, and runs everything else."""
    says = "this build serves no HTTP: expected libsoup 3 when it was made (Debian: libsoup-3.0-dev, meson option http)"
    asks = describe("asks", "fakesrc num-buffers=1 ! fakesink", "[http]\nlisten=127.0.0.1:0\n")
    run("run", "--http", "127.0.0.1:0", describe("plain", "fakesrc num-buffers=1 ! fakesink")).expect(1, "--http: " + says)
    run("run", asks).expect(1, asks + ":6: [http] listen: " + says)
    assert run("run", work("plain.pipeline")).status == 0


if "serves no HTTP" in run("run", "--http", "127.0.0.1:0", describe("probe", "fakesrc num-buffers=1 ! fakesink")).err:
    harness.main({"test_built_without": built_without})
harness.main(globals())
