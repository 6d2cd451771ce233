# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the pixels of pictures and videos are, of each kind that files come in: four quadrants of known colours are written into a file, and
what is drawn of it has these colours. The small files are made here, byte by byte."""
import json

from harness import data, main, model, run, work, write
from media import encode_png, launch, plugins_but, read_png

WIDTH, HEIGHT = 64, 48
COLOURS = ((200, 30, 40), (30, 180, 60), (40, 60, 210), (230, 230, 230))
ROWS = [[COLOURS[2 * (y >= HEIGHT // 2) + (x >= WIDTH // 2)] for x in range(WIDTH)] for y in range(HEIGHT)]


def middles(rows):
    """The colours in the middle of each quadrant."""
    height, width = len(rows), len(rows[0])
    return [rows[y * height // 4][x * width // 4] for y in (1, 3) for x in (1, 3)]


def drawn(path, name="seen.png"):
    run("predict", "--json", "--model", model("one_box.tflite"), "--threshold", "1", "--draw", work(name), path).expect(0)
    return read_png(work(name))


def check(path, tolerance=6, colours=COLOURS):
    for seen, wanted in zip(middles(drawn(path)), colours):
        assert all(abs(a - b) <= tolerance for a, b in zip(seen, wanted)), (path, seen, wanted)


def frames_of(path):
    return [json.loads(line) for line in run("predict", "--json", "--model", model("one_box.tflite"), path).expect(0).out.splitlines()]


def movie(name, caps, *encoder, frames=4, rows=ROWS):
    """A video of that many frames of the quadrants."""
    picture, path = write("quadrants.png", encode_png(rows)), work(name)
    launch("filesrc", "location=" + picture, "!", "pngdec", "!", "imagefreeze", "num-buffers=%d" % frames, "!", "video/x-raw,framerate=25/1", "!",
           "videoconvert", "!", caps, "!", *encoder, "!", "filesink", "location=" + path)
    return path


def test_full_range():
    """The range counts without a matrix (MPEG-TS), and where the container states another one (MP4)."""
    lossless = "option-string=lossless=1:range=full"
    check(movie("full.mp4", "video/x-raw,format=I420,colorimetry=1:3:5:1", "x265enc", lossless, "!", "h265parse", "!", "mp4mux"))
    check(movie("full.ts", "video/x-raw,format=I420,colorimetry=1:4:16:4", "x265enc",
                lossless + ":colorprim=unknown:transfer=unknown:colormatrix=unknown", "!", "h265parse", "!", "mpegtsmux"))
    check(movie("limited.mp4", "video/x-raw,format=I420,colorimetry=bt709", "x265enc", "option-string=lossless=1", "!", "h265parse", "!", "mp4mux"))
    check(movie("ten.mp4", "video/x-raw,format=I422_10LE,colorimetry=1:3:5:1", "x265enc", lossless, "!", "h265parse", "!", "mp4mux"))


def test_interlaced():
    """As many frames as there are, each of the top field's colours, although the other field is black."""
    rows = [row if y % 2 == 0 else [(0, 0, 0)] * WIDTH for y, row in enumerate(ROWS)]
    for form in ("Y42B", "I422_10LE"):
        path = movie(form + ".mkv", "video/x-raw,format=" + form, "capssetter", "caps=video/x-raw,interlace-mode=interleaved,field-order=top-field-first", "!",
                     "avenc_ffv1", "!", "matroskamux", rows=rows)
        check(path)
        assert len(frames_of(path)) == 4, path


def test_interlaced_without_deinterlace():
    """The message names what to install; progressive frames need nothing."""
    path = movie("fields.mkv", "video/x-raw,format=Y42B", "capssetter", "caps=video/x-raw,interlace-mode=interleaved", "!", "avenc_ffv1", "!", "matroskamux")
    env = plugins_but("deinterlace", more=("matroska", "libav"))
    run("predict", "--model", model("one_box.tflite"), path, env=env).expect(
        1, "the video is interlaced (interlace-mode=interleaved), and GStreamer has no element 'deinterlace'", "gstreamer1.0-plugins-good")


def test_shared_videos():
    for case in ("full.mp4",):
        check(data("bugs", "full_range_unknown_matrix", case))
    for case in ("inter.mp4", "inter.ts"):
        path = data("bugs", "interlaced_predict", case)
        check(path)
        assert len(frames_of(path)) == 10


main(globals())
