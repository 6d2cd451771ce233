# SPDX-License-Identifier: LGPL-2.1-or-later
"""What sightline predict takes: folders, cameras, models that are no pictures, and how many frames."""
import json
import os
import subprocess

import harness
from camera import ALONE, Camera, Hung
from harness import Skip, main, model, png, reserve_port, run, work, write
from media import jpeg

RED, GREEN, BLUE = (255, 0, 0), (0, 255, 0), (0, 0, 255)


def predict(*args, status=0, **more):
    result = run("predict", "--json", "--model", model("brightest_channel.tflite"), *args, **more)
    assert result.status == status, result
    return [json.loads(line) for line in result.out.splitlines()]


def folder(name, **files):
    os.makedirs(work(name), exist_ok=True)
    return work(name)


def test_folder():
    """Its pictures in the order of their names, 2 before 10; other files, hidden ones and sub-folders are not looked at."""
    path = folder("many")
    folder("many/sub.png")
    wanted = [png("many/" + name, 5, 5, RED) for name in ("a1.png", "a2.PNG", "a10.png", "b.bmp.png")]
    png("many/sub.png/inside.png", 5, 5, BLUE)
    write("many/notes.txt", b"no picture")
    write("many/clip.mp4", b"no picture either")
    write("many/._a1.png", b"what some systems leave beside pictures")
    assert [frame["source"] for frame in predict(path)] == wanted
    assert [frame["source"] for frame in predict(path + "/", path)] == [path + "/" + one[len(path) + 1:] for one in wanted] + wanted
    assert [frame["source"] for frame in predict("file://" + path)] == wanted


def test_recursive():
    """The pictures of a folder, then those of its sub-folders; a link to a folder above is no way round and round."""
    path = folder("set")
    folder("set/b/deep"), folder("set/a"), folder("set/.hidden")
    wanted = [png("set/" + name, 5, 5, RED) for name in ("z.png", "a/2.png", "a/10.png", "b/1.png", "b/deep/0.png")]
    png("set/.hidden/no.png", 5, 5, BLUE)
    os.symlink(path, work("set/b/up"))
    assert [frame["source"] for frame in predict("--recursive", path)] == wanted
    listed = run("predict", "--json", "--recursive", "--model", model("brightest_channel.tflite"), "--list", write("set.txt", path.encode())).expect(0)
    assert [json.loads(line)["source"] for line in listed.out.splitlines()] == wanted


def test_folder_with_broken_files():
    path = folder("broken")
    good = [png("broken/%d.png" % i, 5, 5, GREEN) for i in (1, 4)]
    bad = {write("broken/2.png", b"no picture\n" * 20): "cannot be decoded: ",
           write("broken/3.jpg", b""): "the file is empty; expected a picture or video\n",
           work("broken/5.png"): "No such file or directory\n"}
    os.symlink("/no/such/file", work("broken/5.png"))
    result = run("predict", "--json", "--model", model("brightest_channel.tflite"), path).expect(1, *["%s: %s" % one for one in bad.items()])
    assert [json.loads(line)["source"] for line in result.out.splitlines()] == good and result.err.count("\n") == 3, result


def test_folder_without_pictures():
    path, m = folder("empty"), model("brightest_channel.tflite")
    sentence = "empty: the folder has no pictures in it (files named .jpg, .png, .bmp, .gif, .webp, .tif or .ppm)%s; videos are named one by one\n"
    run("predict", "--model", m, path).expect(1, sentence % "")
    folder("empty/sub")
    run("predict", "--model", m, path).expect(1, sentence % ", and its sub-folders are not searched (sightline predict --recursive does)")
    run("predict", "--recursive", "--model", m, path).expect(1, sentence % "")
    if os.geteuid() != 0:
        os.chmod(path, 0)
        run("predict", "--model", m, path).expect(1, "empty: ", "Permission denied")


def test_model_as_source():
    m, picture = model("brightest_channel.tflite"), png("p.png", 4, 4, RED)
    run("predict", m, picture).expect(2, "%s is a model: did you mean --model %s? (see sightline predict --help)\n" % (m, m))
    run("predict", picture, m).expect(2, " is a model: did you mean --model ")
    run("predict", "--model", m, model("one_box.tflite"), picture).expect(
        2, "%s is a model, beside --model %s; expected a picture, a video or a URI (see" % (work("one_box.tflite"), m))
    run("predict", write("other.onnx", b"\x08\x07\x12\x07pytorch" * 9), picture).expect(2, "other.onnx is a model: did you mean --model ")
    with open(m, "rb") as file:
        unnamed = write("unnamed", file.read())
    run("predict", unnamed, picture).expect(2, "unnamed is a model: did you mean ")


def test_frames():
    m = model("brightest_channel.tflite")
    pictures = [png("f%d.png" % i, 5, 5, BLUE) for i in range(4)]
    assert [frame["source"] for frame in predict("--frames", "3", *pictures)] == pictures[:3]
    assert len(predict("-n", "9", *pictures)) == 4
    assert [frame["frame"] for frame in predict("--frames", "5", "test://?pattern=blue")] == list(range(5))
    assert len(predict("--frames", "1", pictures[0], "test://", work("never looked at.png"))) == 1
    for wrong in ("0", "-1", "x", "99999999999"):
        run("predict", "--model", m, "--frames", wrong, pictures[0]).expect(2, "--frames: expected 1..2147483647, got '%s'" % wrong)
    for wrong in ("-1", "1.5", "86401"):
        run("predict", "--model", m, "--timeout", wrong, pictures[0]).expect(2, "--timeout: expected 0..86400, got '%s'" % wrong)


def test_cameras():
    """In slcamera's words."""
    m = model("brightest_channel.tflite")
    frames = predict("test://?pattern=red&frames=4&live=false")
    assert [frame["labels"][0]["label"] for frame in frames] == ["red"] * 4, frames
    out = run("predict", "--model", m, "test://?pattern=red&frames=2&live=false").expect(0).out.splitlines()
    assert out[1].split() == ["frame", "time", "confidence", "label"], out
    run("predict", "--model", m, "test://?pattern=none").expect(1, "sightline predict: test://?pattern=none: 'none' is no pattern: expected one of smpte, ")
    port = reserve_port()
    told = run("predict", "--model", m, "rtsp://me:hidden@127.0.0.1:%d/x" % port, env=ALONE).expect(
        1, "sightline predict: rtsp://me:***@127.0.0.1:%d/x: " % port)
    assert "Connection refused" in told.err and "hidden" not in told.err or "is missing, which slcamera needs" in told.err, told
    for missing in ("/dev/video77", "v4l2:///dev/video77"):
        told = run("predict", "--model", m, missing).expect(1, "sightline predict: %s: " % missing)
        assert "there is no /dev/video77: is the camera plugged in?" in told.err or "is missing, which slcamera needs" in told.err, told


def test_mjpeg():
    """A server that sends pictures without end is a camera: what goes away comes back, and both are told."""
    picture = jpeg([[(20, 20, 250)] * 64] * 48)
    camera = Camera(picture, [10 ** 6, 10 ** 6])  # the first is asked what it is
    result = run("predict", "--json", "--model", model("brightest_channel.tflite"), "--frames", "3", camera.uri, env=ALONE)
    if "no element that reads" in result.err or "is missing, which" in result.err:
        raise Skip(result.err.strip())
    frames = [json.loads(line) for line in result.expect(0).out.splitlines()]
    assert [frame["labels"][0]["label"] for frame in frames] == ["blue"] * 3 and frames[0]["source"] == camera.uri, frames


def test_mjpeg_of_another_type():
    """What a server does not say of its pictures, their bytes do; one connection is enough."""
    picture = jpeg([[(20, 20, 250)] * 64] * 48)
    for head in (b"Content-Type: application/octet-stream\r\n", b"", b"Content-Type: video/x-motion-jpeg\r\n"):
        camera = Camera(picture, [10 ** 6], head)
        result = run("predict", "--json", "--model", model("brightest_channel.tflite"), "--frames", "3", camera.uri, env=ALONE)
        if "no element that reads" in result.err:
            raise Skip(result.err.strip())
        frames = [json.loads(line) for line in result.expect(0).out.splitlines()]
        assert [frame["labels"][0]["label"] for frame in frames] == ["blue"] * 3, (head, frames)


def test_network_timeout():
    """A server that sends nothing, and one that sends for ever what is no picture."""
    m = model("brightest_channel.tflite")
    for picture, count, told in ((b"", 0, "and no data came"), (b"\xff\xd8\xff\xe0" + b"x" * 100000, 10 ** 9, "though data came")):
        hung = Hung(picture, count)
        result = run("predict", "--model", m, "--timeout", "3", hung.uri, env=ALONE)
        if "no element that reads" in result.err:
            raise Skip(result.err.strip())
        result.expect(1, "sightline predict: %s: given up: no frame for 3 s (--timeout), %s; check the address, or give it longer" % (hung.uri, told))


def test_unreachable():
    """Why there is no connection, which GStreamer's reader does not say."""
    port = reserve_port()
    for scheme, secret in (("http", "hush"), ("https", "hush"), ("HTTP", "hush"), ("http", "hu@sh")):
        result = run("predict", "--model", model("brightest_channel.tflite"), "%s://joe:%s@127.0.0.1:%d/x.jpg" % (scheme, secret, port),
                     env={**ALONE, "http_proxy": ""})
        if "no element that reads" in result.err:
            raise Skip(result.err.strip())
        result.expect(1, "%s://joe:***@127.0.0.1:%d/x.jpg: cannot be read: Could not connect to 127.0.0.1: Connection refused; check the address" % (scheme, port))


def test_mjpeg_that_comes_back():
    camera = Camera(jpeg([[(20, 20, 250)] * 64] * 48), [2, 3, 3, 10 ** 6])  # the first is asked what it is
    child = subprocess.Popen([harness.PROGRAM, "predict", "--json", "--model", model("brightest_channel.tflite"), camera.uri], env=ALONE,
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, bufsize=1)
    told = ""
    for line in child.stderr:
        told += line
        if "back after " in line or "no element that reads" in line or "is missing" in line:
            break
    child.terminate()
    child.communicate(timeout=100)
    if "no element that reads" in told or "is missing" in told:
        raise Skip(told)
    assert "sightline predict: %s: the camera ended the stream; trying again in " % camera.uri in told, told
    assert child.returncode == 130, child.returncode


main(globals())
