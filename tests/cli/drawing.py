# SPDX-License-Identifier: LGPL-2.1-or-later
"""sightline predict --draw: pictures and videos with the boxes in their places, looked at by decoding them again."""
import json
import os
import shutil
import signal
import subprocess

import harness
from harness import Skip, main, model, png, png_of, run, work
from media import launch, plugins_but, read_png

SKY = (0, 51, 204)  # one_box.tflite sees a box with the label "blue" over x 0..0.5, y 0.25..0.75 of it


def draw(to, *args, status=0, **how):
    result = run("predict", "--model", model("one_box.tflite"), "--draw", to, *args, **how)
    for missing in ("made without Pango", "GStreamer has no e"):
        if missing in result.err:
            raise Skip(result.err.strip())
    assert result.status == status and (status != 0 or result.err == ""), result
    return result


def decoded(path):
    """Pictures of the file, by GStreamer's decoders."""
    folder = work("decoded")
    os.makedirs(folder, exist_ok=True)
    for name in os.listdir(folder):
        os.unlink(os.path.join(folder, name))
    launch("filesrc", "location=" + path, "!", "decodebin", "!", "videoconvert", "!", "video/x-raw,format=RGB", "!", "pngenc", "!", "multifilesink",
           "location=" + folder + "/%05d.png")
    return [read_png(os.path.join(folder, name)) for name in sorted(os.listdir(folder))]


def looks_like_sky(pixel):
    return all(abs(a - b) < 40 for a, b in zip(pixel, SKY))


def check_box(rows, scale=1):
    """A line where the box of a 200x100 picture is, and sky inside of it and beside it."""
    for x, y in ((100, 60), (50, 74)):  # its right and lower sides, drawn from 1 pixel outside on
        around = [rows[int((y + dy) * scale)][int((x + dx) * scale)] for dx in (-2, -1, 0, 1) for dy in (-2, -1, 0, 1)]
        assert any(not looks_like_sky(pixel) for pixel in around), (x, y, around)
    for x, y in ((50, 60), (150, 60), (150, 10), (50, 90)):
        assert looks_like_sky(rows[int(y * scale)][int(x * scale)]), (x, y, rows[y][x])


def test_jpeg():
    wide = png("wide.png", 200, 100, SKY)
    for ending in (".jpg", ".JPEG"):
        path = work("drawn" + ending)
        draw(path, wide, wide)
        for one in (path, work("drawn-2" + ending)):
            with open(one, "rb") as file:
                assert file.read(3) == b"\xff\xd8\xff"
            rows, = decoded(one)
            assert (len(rows), len(rows[0])) == (100, 200)
            check_box(rows)


def test_png():
    path = work("drawn.png")
    draw(path, png("wide.png", 200, 100, SKY))
    check_box(read_png(path))


def test_sources_stay():
    """A source is not drawn over: not under its own name, not by a link, not in its folder, and not by the number of a later picture."""
    os.mkdir(work("sources"))
    first, second, link = png("sources/a.png", 200, 100, SKY), png("sources/a-2.png", 200, 100, SKY), work("link.png")
    with open(second, "rb") as file:
        before = file.read()
    os.link(second, link)
    lost = ": the source " + second + " would be lost; draw to another name\n"
    for to, source in ((second, second), (link, second), (second, work("sources"))):
        result = draw(to, source, status=2)
        assert result.out == "" and "--draw " + to + lost[:-1] in result.err, result
    result = draw(first, png("wide.png", 200, 100, SKY), second, status=1)
    assert result.err == "sightline predict: " + second + ": --draw " + second + lost, result
    with open(second, "rb") as file:
        assert file.read() == before
    check_box(read_png(first))  # no source of this run


def make_video(frames, rate):
    path = work("in%d.avi" % rate)
    launch("videotestsrc", "num-buffers=%d" % frames, "pattern=solid-color", "foreground-color=0xff0033cc", "!",
           "video/x-raw,width=200,height=100,framerate=%d/1" % rate, "!", "jpegenc", "!", "avimux", "!", "filesink", "location=" + path)
    return path


def test_video():
    path = work("drawn.mp4")
    draw(path, make_video(12, 10))
    rows = decoded(path)
    assert len(rows) == 12 and (len(rows[0]), len(rows[0][0])) == (100, 200), len(rows)
    for one in rows:
        check_box(one)
    assert not os.path.exists(path + ".part")
    times = [json.loads(line)["timestamp"] for line in run("predict", "--json", "--model", model("one_box.tflite"), path).expect(0).out.splitlines()]
    assert all(abs(b - a - 10 ** 8) < 2 * 10 ** 6 for a, b in zip(times, times[1:])), times


def test_pictures_as_video():
    """Each for a second, five frames long; the first one's size, made even; another shape gets borders."""
    path = work("pictures.mp4")
    draw(path, png("wide.png", 200, 100, SKY), png("high.png", 100, 100, SKY))
    rows = decoded(path)
    assert len(rows) == 10, len(rows)
    for one in rows[:5]:
        check_box(one)
    for one in rows[5:]:
        assert max(one[50][10]) < 40 and max(one[50][190]) < 40 and looks_like_sky(one[90][100]), (one[50][10], one[90][100])
    odd = work("odd.mp4")
    draw(odd, png("odd.png", 31, 17, SKY))
    rows = decoded(odd)
    assert (len(rows[0]), len(rows[0][0])) == (18, 32), (len(rows[0]), len(rows[0][0]))


def test_video_and_picture():
    """One rate, the first source's."""
    path = work("mixed.mp4")
    draw(path, make_video(6, 10), png("wide.png", 200, 100, SKY))
    assert len(decoded(path)) == 16


def test_mpeg4():
    """The encoder that is everywhere, which some versions of GStreamer lose timestamps with, and which begins anew when caps change."""
    path = work("mpeg4.mp4")
    env = plugins_but("openh264", "x264", more=("libav", "avi"))
    draw(path, make_video(6, 10), png("wide.png", 200, 100, SKY), env=env)
    frames = [json.loads(line) for line in run("predict", "--json", "--model", model("one_box.tflite"), path, env=env).expect(0).out.splitlines()]
    times = [frame["timestamp"] for frame in frames]
    assert len(times) == 16 and all(abs(b - a - 10 ** 8) < 2 * 10 ** 6 for a, b in zip(times, times[1:])), times


def test_video_as_pictures():
    path = work("frames.jpg")
    draw(path, "--frames", "3", make_video(12, 10))
    assert [os.path.exists(work("frames%s.jpg" % n)) for n in ("", "-2", "-3", "-4")] == [True, True, True, False]


def striped(name):
    """The picture in which one_box.tflite finds its box, with lines of one pixel that differ little from the sky."""
    rows = [b"".join(bytes((SKY[0], SKY[1] + 20 * (x % 2), SKY[2])) for x in range(200)) for y in range(100)]
    return png_of(name, 200, 100, rows)


def test_redacted():
    """The box of the picture has no lines any more, the rest has them, and nothing is drawn."""
    path = work("hidden.png")
    draw(path, "--redact", "blue", striped("striped.png"))
    rows = read_png(path)
    assert all(rows[y][x] == rows[y][x + 1] for y in range(26, 74) for x in range(8, 13)), rows[50][:20]
    assert all(rows[y][x][1] == SKY[1] + 20 * (x % 2) for y in (5, 95) for x in range(200)), rows[5][:20]
    assert all(rows[y][x][1] == SKY[1] + 20 * (x % 2) for y in range(100) for x in range(120, 200))


def test_redacted_pictures():
    """Each picture is a source of its own: what one hides is not held on the next, in which nothing is found."""
    night = b"".join(bytes((20 * (x % 2), 0, 0)) for x in range(200))
    dark = png_of("dark.png", 200, 100, [night] * 100)
    draw(work("several.png"), "--redact", "blue", striped("striped.png"), dark, striped("striped.png"))
    assert read_png(work("several-2.png")) == read_png(dark)
    assert read_png(work("several-3.png")) == read_png(work("several.png")) != read_png(striped("striped.png"))


def test_redact_errors():
    one = striped("striped.png")
    run("predict", "--redact", "blue", one).expect(2, "--redact 'blue': expected --draw FILE, too, for hidden pictures")
    run("predict", "--redact", "", one).expect(2, "--redact '': expected --draw FILE, too, for hidden pictures")
    for option, value in (("--classes", "blue"), ("--top", "1")):
        run("predict", "--redact", "blue", option, value, "--draw", work("x.png"), one).expect(
            2, "--redact and " + option + ": expected one of them: objects that are left out stay visible")
    run("predict", "--redact", "a,,b", "--draw", work("x.png"), one).expect(2, "--redact: ")
    run("predict", "--model", model("one_box.tflite"), "--redact", "bleu", "--draw", work("x.png"), one).expect(
        1, "sightline predict: --redact: labels.txt inside the model has no class 'bleu'; did you mean 'blue'?")


def test_nothing_to_draw():
    """No file, and no part of one."""
    path = work("nothing.mp4")
    draw(path, work("missing.png"), status=1)
    assert not os.path.exists(path) and not os.path.exists(path + ".part")


def test_interrupted():
    """The video holds what was drawn until then."""
    path = work("interrupted.mp4")
    child = subprocess.Popen([harness.PROGRAM, "predict", "--json", "--model", model("one_box.tflite"), "--draw", path, "test://"],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
    for _ in range(5):
        line = child.stdout.readline()
    if line == b"":
        raise Skip(child.communicate()[1].decode())
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=100)
    assert child.returncode == 130, (child.returncode, err)
    if os.path.exists(path):  # else the machine needed longer than the program waits
        assert len(decoded(path)) >= 4


def test_missing_encoders():
    wide, m = png("wide.png", 200, 100, SKY), model("one_box.tflite")
    result = run("predict", "--model", m, "--draw", work("a.mp4"), wide, env=plugins_but("none"))
    if "made without Pango" in result.err:
        raise Skip("no sloverlay")
    result.expect(1, "a.mp4: GStreamer has no encoder for videos in MP4 (x264enc, openh264enc or avenc_mpeg4); install one (Debian: "
                  "gstreamer1.0-plugins-ugly, gstreamer1.0-plugins-bad or gstreamer1.0-libav), or draw pictures (.png, .jpg)\n")
    run("predict", "--model", m, "--draw", work("a.mp4"), wide, env=plugins_but("isomp4")).expect(
        1, "a.mp4: GStreamer has no element 'mp4mux'; install its good plugins (Debian: gstreamer1.0-plugins-good), or draw pictures (.png, .jpg)\n")
    run("predict", "--model", m, "--draw", work("a.jpg"), wide, env=plugins_but("jpeg")).expect(
        1, "GStreamer has no element 'jpegenc': install its good plugins (Debian: gstreamer1.0-plugins-good)")


def refused(to, before=()):
    """What is said, once, of a file that cannot be written, after its name."""
    result = run("predict", "--model", model("one_box.tflite"), "--draw", to, png("wide.png", 200, 100, SKY), before=before)
    if "made without Pango" in result.err or "GStreamer has no e" in result.err:
        raise Skip(result.err.strip())
    assert result.status == 1 and result.err.count("\n") == 1, result
    return result.err.rstrip("\n").partition("--draw " + to + ": ")[2]


def test_unwritable_folder():
    """Before a model is loaded where the folder's permissions say it, else with the first frame; and no temporary file is named."""
    for name in "o.png", "o.jpg":
        assert refused("/proc/" + name) == "cannot be written: No such file or directory"
    assert refused("/proc/o.mp4").startswith("Could not open file "), refused("/proc/o.mp4")
    folder = work("forbidden")
    os.makedirs(folder, exist_ok=True)
    os.chmod(folder, 0o555)
    before = ["setpriv", "--bounding-set=-dac_override"] if os.access(folder, os.W_OK) else []  # root may write everywhere
    if before and (shutil.which("setpriv") is None or subprocess.run(before + ["test", "-w", folder]).returncode != 1):
        raise Skip("this user may write everywhere")
    for name in "o.png", "o.mp4":
        assert refused(folder + "/" + name, before) == "the folder " + folder + " cannot be written to: Permission denied"


def test_no_room():
    folder = work("readonly")
    os.makedirs(folder + "/a.mp4.part", exist_ok=True)
    result = run("predict", "--model", model("one_box.tflite"), "--draw", folder + "/a.mp4", png("wide.png", 200, 100, SKY))
    if "made without Pango" in result.err or "GStreamer has no e" in result.err:
        raise Skip(result.err.strip())
    result.expect(1, "--draw " + folder + "/a.mp4: ", "a.mp4.part")


main(globals())
