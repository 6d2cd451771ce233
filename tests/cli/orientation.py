# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pictures and videos that say how they are to be turned: what is seen, printed and drawn is the upright picture. The pixels of each file are
laid out by the standard's words, and what comes of it is compared with what comes of a file that is upright."""
import json

from harness import Skip, data, main, model, run, work, write
from media import (difference, encode_png, jpeg, movie, plugins_but, png_with_orientation, read_png, stored, webp, webp_with_orientation,
                   with_orientation)

WIDTH, HEIGHT = 96, 64
UPRIGHT = [[(40 + 2 * x, 230 if y > 40 else 60, 3 * y) if x > 30 else (250, 240, 20) for x in range(WIDTH)] for y in range(HEIGHT)]


def seen_in(frame):
    return {key: value for key, value in frame.items() if key in ("resolution", "objects")}


def frames_of(paths, drawn):
    result = run("predict", "--json", "--model", model("one_box.tflite"), "--threshold", "0.1", "--draw", drawn, *paths)
    if "made without Pango" in result.err:
        raise Skip("no sloverlay")
    return [json.loads(line) for line in result.expect(0).out.splitlines()]


def predict(path, drawn):
    """The line of JSON without its source, and the picture that is drawn."""
    return seen_in(frames_of([path], drawn)[-1]), read_png(drawn)


def predict_all(paths, drawn):
    """The same of each picture of one run."""
    frames = frames_of(paths, drawn)
    assert [frame["source"] for frame in frames] == paths, frames
    for i, frame in enumerate(frames):
        yield seen_in(frame), read_png(drawn if i == 0 else drawn.replace(".png", "-%d.png" % (i + 1)))


def check_same(found, expected, what):
    for box, wanted in zip(found[0]["objects"], expected[0]["objects"]):
        assert all(abs(box[key] - wanted[key]) <= 1 for key in "xywh"), (what, box, wanted)
        assert abs(box["detection"]["confidence"] - wanted["detection"]["confidence"]) < 0.03, (what, box, wanted)
    assert found[0]["resolution"] == {"width": WIDTH, "height": HEIGHT}, (what, found[0])
    assert len(found[0]["objects"]) == len(expected[0]["objects"]) == 1, (what, found[0])
    assert difference(found[1], expected[1]) < 3, (what, difference(found[1], expected[1]))


def check_all(upright, turned, name):
    """Each picture of @turned, (what it is, path), against @upright."""
    for (what, _), found in zip(turned, predict_all([path for _, path in turned], work(name)), strict=True):
        check_same(found, upright, what)


def test_exif():
    upright = predict(write("upright.jpg", jpeg(UPRIGHT)), work("upright.png"))
    right = [[row[60:] for row in picture] for picture in (upright[1], UPRIGHT)]  # of the box and its label
    assert difference(*right) < 12, "the drawn picture is the picture: %.1f" % difference(*right)
    turned = []
    for orientation in range(1, 9):
        pixels = jpeg(stored(UPRIGHT, orientation))
        for order, kind in ("<", "little"), (">", "big"):
            turned.append(("orientation %d, %s endian" % (orientation, kind),
                           write("turned%d-%s.jpg" % (orientation, kind), with_orientation(pixels, orientation, order))))
    check_all(upright, turned, "turned.png")


def test_png_and_webp():
    upright, files = predict(write("plain.png", encode_png(UPRIGHT)), work("plain-drawn.png")), []
    for orientation in range(1, 9):
        turned = stored(UPRIGHT, orientation)
        plain = encode_png(turned)
        bodies = {"16.png": png_with_orientation(encode_png(turned, 16), orientation, False), "before.png": png_with_orientation(plain, orientation, False),
                  "behind.png": png_with_orientation(plain, orientation, True), "x.webp": webp_with_orientation(webp(turned), turned, orientation)}
        files += [("orientation %d, %s" % (orientation, kind), write("turned%d-%s" % (orientation, kind), body)) for kind, body in bodies.items()]
    check_all(upright, files, "files.png")


def test_turned_and_not_in_one_run():
    files = [write("a.jpg", with_orientation(jpeg(stored(UPRIGHT, 6)), 6)), write("b.jpg", jpeg(UPRIGHT)),
             write("c.jpg", with_orientation(jpeg(stored(UPRIGHT, 2)), 2))]
    out = run("predict", "--json", "--model", model("one_box.tflite"), *files).expect(0).out
    assert [json.loads(line)["resolution"] for line in out.splitlines()] == [{"width": WIDTH, "height": HEIGHT}] * 3, out


def test_movies():
    upright = predict(movie("upright.mov", UPRIGHT, 3, 0), work("movie.png"))
    orientations = {90: 6, 180: 3, 270: 8}
    for degrees, orientation in orientations.items():
        path = movie("turned%d.mov" % degrees, stored(UPRIGHT, orientation), 3, degrees)
        check_same(predict(path, work("movie.png")), upright, "%d degrees" % degrees)


def test_no_videoflip():
    path = write("turned.jpg", with_orientation(jpeg(stored(UPRIGHT, 6)), 6))
    env = plugins_but("videofilter")
    good = write("good.jpg", jpeg(UPRIGHT))
    result = run("predict", "--json", "--model", model("one_box.tflite"), path, good, env=env).expect(
        1, "turned.jpg: its tag says that it is to be turned upright, and GStreamer has no element 'videoflip': install its good plugins (Debian: "
        "gstreamer1.0-plugins-good)\n")
    assert [json.loads(line)["source"] for line in result.out.splitlines()] == [good], result


def test_shared_objects():
    """A real detector finds in the turned files what it finds in the upright one."""
    import subprocess
    m, bus = data("models", "ssd_mobilenet_v1.tflite"), data("images", "bus.jpg")
    plain = work("bus.png")
    done = subprocess.run(["gst-launch-1.0", "-q", "filesrc", "location=" + bus, "!", "jpegdec", "!", "videoconvert", "!", "videoscale", "!",
                           "video/x-raw,format=RGB,width=304,height=400", "!", "pngenc", "!", "filesink", "location=" + plain], capture_output=True)
    if done.returncode != 0:
        raise Skip(done.stderr.decode())
    rows = read_png(plain)

    def found(path, least):
        frame, = [json.loads(line) for line in run("predict", "--json", "--model", m, "--threshold", str(least), path).expect(0).out.splitlines()]
        return [(o["roi_type"], o["x"], o["y"], o["w"], o["h"]) for o in frame["objects"]]

    expected = found(write("bus.jpg", jpeg(rows)), 0.65)
    assert {one[0] for one in expected} >= {"bus", "person"}, expected
    for orientation in (3, 6, 8):
        got = found(write("bus%d.jpg" % orientation, with_orientation(jpeg(stored(rows, orientation)), orientation)), 0.5)
        for wanted in expected:
            assert any(one[0] == wanted[0] and all(abs(a - b) <= 12 for a, b in zip(one[1:], wanted[1:])) for one in got), (orientation, wanted, got)


main(globals())
