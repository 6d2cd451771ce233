# SPDX-License-Identifier: LGPL-2.1-or-later
"""sightline predict over very many pictures: lists, shares, and runs that were killed."""
import csv
import fcntl
import functools
import http.server
import io
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.parse

sys.path.insert(0, os.path.join(os.environ.get("SIGHTLINE_SOURCE_ROOT", "."), "tests", "support"))
import harness
from harness import PROGRAM, Skip, data, model, png, run, work, write
from media import launch

PICTURES = 20
HEADING = "path,index,rows,frame,time,width,height,label,label_id,score,x,y,w,h,symbology,code\n"


def folder():
    """Pictures of one colour each; one is no picture, one has a name that CSV has to quote."""
    path = work("many")
    if not os.path.exists(path):
        os.mkdir(path)
        for i in range(PICTURES):
            png("many/%d.png" % i, 8, 8, (i * 8, 255 - i * 8, 128))
        png('many/a,"b.png', 8, 8, (255, 0, 0))
        write("many/bad.png", b"no picture")
    return path


def names():
    return sorted([os.path.join(folder(), "%d.png" % i) for i in range(PICTURES)] + [os.path.join(folder(), 'a,"b.png')])


def sources(text):
    return [json.loads(line)["source"] for line in text.splitlines()]


def predict(*args, **more):
    return run("predict", "--model", model("brightest_channel.tflite"), *args, **more)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def test_usage():
    usage = "expected I/N, the I-th of N shares, from 1/N to N/N with N up to 1000000"
    for text in ("0/0", "3/2", "-1/4", "text", "1/2x", "1/1000001"):
        predict("--shard=" + text, "x.png").expect(2, "--shard %s: " % text + usage)
    predict("--resume", "--json", "x.png").expect(2, "--resume needs --output FILE, whose lines say what is done")
    predict("--output", work("x"), "x.png").expect(2, "--output needs --format=json or --format=csv")
    predict("--json", "--format=csv", "x.png").expect(2, "--json and --format=csv: expected one of them")
    predict("--format=xml", "x.png").expect(2, "--format: expected one of table, json, csv, got 'xml'")
    predict("--list", "-", "x.png").expect(2, "--list - and the source x.png: expected one of them")
    predict("--list", "-", "--draw", work("x.png")).expect(2, "--list and --draw: expected one of them")
    predict("--json").expect(2, "expected at least one SOURCE")


def test_shards():
    """Shares are disjoint and whole, and a name's share does not depend on the other names."""
    shares = [sources(predict("--json", "--shard", "%d/3" % i, *names()).expect(0).out) for i in range(1, 4)]
    assert sorted(sum(shares, [])) == names(), shares
    places = {name: i for i, share in enumerate(shares) for name in share}
    assert len(set(places.values())) == 3
    some = random.Random(1).sample(names(), 7)
    for i in range(3):
        assert sources(predict("--json", "--shard", "%d/3" % (i + 1), *some).expect(0).out) == [name for name in some if places[name] == i]


def test_list():
    listed = write("list", "\n\n".join(names()).encode())
    assert sources(predict("--json", "--list", listed).expect(0).out) == names()
    with open(listed, encoding="utf-8") as file:
        piped = subprocess.run([PROGRAM, "predict", "--model", model("brightest_channel.tflite"), "--json", "--list", "-"], stdin=file,
                               capture_output=True, check=True)
    assert sources(piped.stdout.decode()) == names()
    assert predict("--json", "--list", write("none", b"\n\n")).expect(0).out == ""
    predict("--json", "--list", work("nowhere")).expect(1, "--list %s: No such file or directory: expected a file" % work("nowhere"))
    predict("--json", "--list", folder()).expect(1, "cannot be read")
    zero = predict("--json", "--list", write("zero", names()[0].encode() + b"\nx\0y\n")).expect(1, "line 2 of", "has a zero byte")
    assert sources(zero.out) == names()[:1]
    predict("--json", "--list", write("long", b"x" * 70000)).expect(1, "line 1 of", "is longer than 65536 bytes: expected a name a line")


def test_output():
    """A file is begun, gone on with, and kept from whoever would lose it."""
    out = work("out.json")
    predict("--json", "-o", out, folder()).expect(1, "bad.png: ")
    whole = read(out)
    assert sorted(sources(whole)) == names()
    predict("--json", "-o", out, folder()).expect(1, "the file has something in it: go on with --resume, or remove it")
    predict("--json", "-o", out, "--resume", folder()).expect(1, "%d pictures are done" % len(names()), "bad.png: ")
    assert read(out) == whole
    twice = work("twice.json")
    predict("--json", "-o", twice, names()[0], names()[1], names()[0]).expect(0)
    assert sources(read(twice)) == names()[:2]
    predict("--json", "-o", folder(), names()[0]).expect(1, "Is a directory: expected a file in a folder that exists")
    predict("--json", "-o", "/dev/null", names()[0]).expect(1, "expected a regular file; without --output lines go to standard output")
    for text in ("x\n", '{"source":"a"\n'):
        predict("--json", "-o", write("other", text.encode()), "--resume", names()[0]).expect(
            1, "line 1 is none that predict --json writes: it cannot be resumed; name another file")
        assert read(work("other")) == text
    link, target = work("link.json"), work("behind.json")
    os.symlink("behind.json", link)
    for source in (work("missing.png"), names()[0]):
        status = 0 if source == names()[0] else 1
        assert predict("--json", "-o", link, source).status == status and os.path.exists(target) == (status == 0), "what fails leaves no file behind a link"
    assert os.path.islink(link) and sources(read(target)) == names()[:1]
    predict("--format=csv", "-o", out, "--resume", names()[0]).expect(1, "line 1 is none that predict --format=csv writes")
    with open(out, "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        predict("--json", "-o", out, "--resume", names()[0]).expect(1, "another process writes to it: expected a file of its own for each process")


def test_foreign():
    """A file that is not ours is as it was, with and without a newline; one that may be our torn line is cut with the first picture and not before."""
    for form, texts in (("json", (b"not ours", b'{"source":7', b'{"source":"a"}\nnot ours', b"{\0\"source")),
                        ("csv", (b"path\0index", b"path,index,rows,frame,x", (HEADING + "no quote").encode()))):
        for text in texts:
            predict("--format", form, "-o", write("foreign", text), "--resume", names()[0]).expect(
                1, " is none that predict --%s writes: it cannot be resumed" % (form if form == "json" else "format=csv"))
            with open(work("foreign"), "rb") as file:
                assert file.read() == text, (form, text)
    for form, text in (("json", b'{"source":"a","b'), ("csv", b"path,ind")):
        torn = write("mine", text)
        run("predict", "--model", work("no.tflite"), "--format", form, "-o", torn, "--resume", names()[0]).expect(1)
        predict("--format", form, "-o", torn, "--resume", work("many/bad.png")).expect(1)
        assert read(torn) == text.decode()
        predict("--format", form, "-o", torn, "--resume", names()[0]).expect(0, "0 pictures are done")
        assert text.decode() in read(torn)[:len(text)] or form == "json" and sources(read(torn)) == names()[:1]


def test_heading():
    """Comes with the first row, so a run that gave none is begun again; a share without pictures has the heading alone."""
    out = work("heading.csv")
    for _ in range(2):
        run("predict", "--model", work("no.tflite"), "--format=csv", "-o", out, names()[0]).expect(1)
        predict("--format=csv", "-o", out, work("many/bad.png")).expect(1)
        assert not os.path.exists(out)
    assert run("predict", "--model", work("no.tflite"), "--format=csv", names()[0]).expect(1).out == ""
    predict("--format=csv", "-o", out, names()[0]).expect(0)
    assert read(out).startswith(HEADING) and read(out).count(HEADING) == 1
    predict("--format=csv", "-o", work("empty.csv"), "--list", write("nothing", b"")).expect(0)
    assert read(work("empty.csv")) == HEADING == predict("--format=csv", "--list", work("nothing")).expect(0).out


def test_alike():
    """Each of pictures whose names look like secrets, or are no lines of UTF-8, is there once, after a break, too."""
    here = os.fsencode(work("alike"))
    alike = [b"key=1/a.png", b"key=2/a.png", b"token=1.png", b"token=2.png", b"12:30@cam.png", b"12:31@cam.png", b"a\nb.png", b"a\tb.png", b"a b.png",
             b"\xff.png", b"\xfe.png", "\ufffd.png".encode(), "\u00e9.png".encode()]
    for name in alike:
        path = os.path.join(here, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(png("colour.png", 8, 8, (255, 0, 0)), "rb") as file, open(path, "wb") as copy:
            copy.write(file.read())
    how = ("--model", model("brightest_channel.tflite"))
    for form in ("json", "csv"):
        out = work("alike." + form)
        run("predict", *how, "--format", form, "-o", out, *map(os.fsdecode, alike[:3]), cwd=here).expect(0)
        for _ in range(2):
            run("predict", *how, "--format", form, "-o", out, "--resume", *map(os.fsdecode, alike), cwd=here).expect(0, "pictures are done")
            found = sources(read(out)) if form == "json" else [row["path"] for row in csv.DictReader(io.StringIO(read(out)))]
            assert len(found) == len(set(found)) == len(alike), found
            real = [os.fsencode(urllib.parse.unquote(name[len("file://"):], errors="surrogateescape")) if name.startswith("file://") else name.encode()
                    for name in found]
            assert sorted(os.path.join(here, name) for name in real) == sorted(os.path.join(here, name) for name in alike), found
            assert found[0] == "key=1/a.png"
    shares = [sources(run("predict", *how, "--json", "-o", work("alike.%d" % i), "--shard", "%d/2" % i, *map(os.fsdecode, alike), cwd=here).out or
                      read(work("alike.%d" % i))) for i in (1, 2)]
    assert sorted(shares[0] + shares[1]) == sorted(sources(read(work("alike.json")))), shares


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def test_secrets_alike():
    """Two addresses that are shown alike: the second is an error, and with a file each both are there."""
    png("served.png", 8, 8, (255, 0, 0))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=work("")))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    first, second = ("http://127.0.0.1:%d/served.png?token=%s" % (server.server_port, token) for token in ("aaaa", "bbbb"))
    out = work("secret.json")
    result = predict("--json", "-o", out, first)
    if result.status != 0:
        raise Skip("no source of http:// is installed")
    for _ in range(2):
        result = predict("--json", "-o", out, "--resume", first, second, first).expect(1, "--output has another source under this name")
        assert "aaaa" not in result.err + read(out) and "bbbb" not in result.err + read(out), result
        assert len(sources(read(out))) == 1
    predict("--json", "-o", out, "--resume", second).expect(0, "1 pictures are done")
    server.shutdown()


def test_torn():
    """Wherever the end of the file is cut off, a run that goes on gives the file that one without a break gives."""
    for form in ("json", "csv"):
        whole = work("whole." + form)
        predict("--format", form, "-o", whole, "--top", "3", *names()[:4]).expect(0)
        with open(whole, "rb") as file:
            text = file.read()
        last = text.rindex(b'"many/' if b'"many/' in text else names()[3].encode()[:20])
        for cut in (1, 60, last + 5, len(text) - 1):
            torn = write("torn", text[:cut])
            predict("--format", form, "-o", torn, "--top", "3", "--resume", *names()[:4]).expect(0, "pictures are done")
            with open(torn, "rb") as file:
                assert file.read() == text, (form, cut)


def test_rows():
    """CSV is what the JSON says, a row an object or label."""
    picture = data("images", "bus.jpg")
    how = ("--model", data("models", "ssd_mobilenet_v1.tflite"))
    rows = list(csv.DictReader(io.StringIO(run("predict", *how, "--format=csv", picture).expect(0).out)))
    objects = json.loads(run("predict", *how, "--json", picture).expect(0).out)["objects"]
    assert len(rows) == len(objects) > 1
    for i, (row, found) in enumerate(zip(rows, objects)):
        assert (row["path"], int(row["index"]), int(row["rows"])) == (picture, i, len(rows)), row
        assert [int(row[key]) for key in "xywh"] == [found[key] for key in "xywh"], row
        assert (row["label"], int(row["label_id"])) == (found["roi_type"], found["detection"]["label_id"]), row
        assert abs(float(row["score"]) - found["detection"]["confidence"]) < 1e-5, row
    nothing = list(csv.DictReader(io.StringIO(run("predict", *how, "--format=csv", "--threshold", "1", picture).expect(0).out)))
    assert [(row["path"], row["rows"], row["label"], row["x"]) for row in nothing] == [(picture, "1", "", "")], nothing
    labels = list(csv.DictReader(io.StringIO(predict("--format=csv", names()[-1]).expect(0).out)))
    assert labels[0]["path"] == names()[-1] and labels[0]["x"] == "" and labels[0]["label"] != "", labels
    run("predict", "--model", data("models", "deeplabv3_mnv2_dm05_pascal_quant.tflite"), "--format=csv", picture).expect(
        1, "--format=csv: the model gives more than objects and labels: take --format=json, which has everything")


def test_moving():
    predict("--json", "-o", work("camera.json"), "test://").expect(1, "--output is for pictures, and this is a video or a camera")
    assert not os.path.exists(work("camera.json"))
    video = work("variable.mkv")
    launch("videotestsrc", "num-buffers=3", "!", "video/x-raw,width=32,height=32,framerate=30/1", "!", "jpegenc", "!", "capssetter", "replace=true",
           "caps=image/jpeg,width=32,height=32,framerate=0/1", "!", "matroskamux", "!", "filesink", "location=" + video)
    for more in ((), ("--frames", "1")):
        out = work("variable%d.json" % len(more))
        predict("--json", "-o", out, *more, video).expect(1, "--output is for pictures, and this is a video or a camera")
        assert not os.path.exists(out)
        open(out, "wb").close()
        predict("--json", "-o", out, *more, video).expect(1)
        assert read(out) == "", "a file that was there stays"
        predict("--json", "-o", out, *more, names()[0], video).expect(1 - len(more) // 2)
        assert sources(read(out)) == names()[:1]


def test_killed():
    """Killed again and again: in the end each picture is there once."""
    out, listed = work("killed.json"), write("killed.list", "\n".join(names()).encode())
    args = [PROGRAM, "predict", "--model", model("brightest_channel.tflite"), "--json", "-o", out, "--resume", "--list", listed]
    for _ in range(2):
        process = subprocess.Popen(args, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        begun, before = time.monotonic(), os.path.getsize(out) if os.path.exists(out) else 0
        while process.poll() is None and time.monotonic() < begun + 60 and (not os.path.exists(out) or os.path.getsize(out) < before + 500):
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        process.wait()
    predict("--json", "-o", out, "--resume", "--list", listed).expect(0, "pictures are done")
    assert sorted(sources(read(out))) == names()


def test_parallel():
    """The line of docs/scale.md, twice."""
    if shutil.which("parallel") is None:
        raise Skip("needs the program parallel (GNU)")
    listed = write("parallel.list", "\n".join(names()).encode())
    line = ["parallel", "--will-cite", "-j", "2", PROGRAM, "predict", "-m", model("brightest_channel.tflite"), "--list", listed, "--shard", "{}/4",
            "--format=csv", "--output", work("part.{}.csv"), "--resume", ":::", "1", "2", "3", "4"]
    for _ in range(2):
        subprocess.run(line, check=True, stdin=subprocess.DEVNULL, capture_output=True)
        found = []
        for i in range(1, 5):
            with open(work("part.%d.csv" % i), encoding="utf-8") as file:
                found += [row["path"] for row in csv.DictReader(file)]
        assert sorted(found) == names()


harness.main(globals())
