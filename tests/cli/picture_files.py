# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the pixels of pictures and videos are, of each kind that files come in: four quadrants of known colours are written into a file, and
what is drawn of it has these colours. The small files are made here, byte by byte."""
import json
import os
import struct
import subprocess
import zlib

import harness
from harness import Skip, data, main, model, run, work, write
from media import encode_png, jpeg, launch, plugins_but, read_png

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


def colr_states(path, colours, full):
    """The MP4 file, with the colr box saying so."""
    with open(path, "r+b") as file:
        at = file.read().index(b"colrnclx") + 8
        file.seek(at)
        file.write(struct.pack(">HHHB", colours, colours, colours, full))
    return path


def test_full_range():
    """The range counts without a matrix (MPEG-TS), and where the container states another one (MP4)."""
    lossless = "option-string=lossless=1:range=full"
    check(movie("full.mp4", "video/x-raw,format=I420,colorimetry=1:3:5:1", "x265enc", lossless, "!", "h265parse", "!", "mp4mux"))
    check(movie("full.ts", "video/x-raw,format=I420,colorimetry=1:4:16:4", "x265enc",
                lossless + ":colorprim=unknown:transfer=unknown:colormatrix=unknown", "!", "h265parse", "!", "mpegtsmux"))
    check(movie("limited.mp4", "video/x-raw,format=I420,colorimetry=bt709", "x265enc", "option-string=lossless=1", "!", "h265parse", "!", "mp4mux"))
    for caps in ("1:3:5:1", "1:4:16:4"):  # an encoder that states nothing in its stream
        path = movie("silent.mp4", "video/x-raw,format=I420,colorimetry=" + caps, "openh264enc", "bitrate=4000000", "!", "h264parse", "!", "mp4mux")
        check(path)
        if caps == "1:4:16:4":
            check(colr_states(path, 2, 0x80))
        body = colr_states(path, 2, 0)
        assert middles(drawn(body))[3][0] > 240, "limited range is stretched"
    path = movie("unknown.mp4", "video/x-raw,format=I420,colorimetry=1:4:16:4", "x265enc",
                 lossless + ":colorprim=unknown:transfer=unknown:colormatrix=unknown", "!", "h265parse", "!", "mp4mux")
    check(colr_states(path, 2, 0x80))
    check(colr_states(movie("limited.mp4", "video/x-raw,format=I420,colorimetry=bt709", "x265enc", "option-string=lossless=1", "!", "h265parse", "!", "mp4mux"),
                      1, 0x80))  # the stream counts
    check(movie("ten.mp4", "video/x-raw,format=I422_10LE,colorimetry=1:3:5:1", "x265enc", lossless, "!", "h265parse", "!", "mp4mux"))


def test_damaged_boxes():
    """Boxes of MP4 whose sizes are wrong end in frames or a message."""
    with open(movie("whole.mp4", "video/x-raw,format=I420,colorimetry=1:4:16:4", "openh264enc", "!", "h264parse", "!", "mp4mux"), "rb") as file:
        body = file.read()
    paths = []
    for i, name in enumerate((b"ftyp", b"moov", b"trak", b"mdia", b"minf", b"stbl", b"stsd", b"avc1", b"colr")):
        at, size = body.rindex(name) - 4, (0, 1, 7, 0xffffffff)[i % 4]
        paths.append(write("%s.mp4" % name.decode(), body[:at] + struct.pack(">I", size) + body[at + 4:]))
        paths.append(write("cut-%s.mp4" % name.decode(), body[:at + 6]))
    result = run("predict", "--json", "--model", model("one_box.tflite"), "--timeout", "1", *paths)
    assert result.status in (0, 1) and "crashed" not in result.err and "killed" not in result.err, result


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


def words(*values, order="<"):
    return struct.pack(order + "%dH" % len(values), *values)


def png_of(depth, colour, pixel, more=b""):
    """A PNG file; @pixel makes the bytes of a colour and its number."""
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    lines = b"".join(b"\0" + b"".join(pixel(value, COLOURS.index(value)) for value in row) for row in ROWS)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", WIDTH, HEIGHT, depth, colour, 0, 0, 0)) + more +
            chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b""))


def palette_chunk():
    body = b"".join(map(bytes, COLOURS))
    return struct.pack(">I", len(body)) + b"PLTE" + body + struct.pack(">I", zlib.crc32(b"PLTE" + body))


def packed(codes, low_first):
    """Codes of 9 bits."""
    bits = "".join(format(code, "09b")[::-1 if low_first else 1] for code in codes)
    bits += "0" * (-len(bits) % 8)
    return bytes(int(bits[i:i + 8][::-1 if low_first else 1], 2) for i in range(0, len(bits), 8))


def lzw(values):
    """Codes in which nothing repeats: CLEAR (256) before the table grows to codes of 10 bits, and END."""
    codes = []
    for i, value in enumerate(values):
        codes += [256, value] if i % 200 == 0 else [value]
    return codes + [257]


def gif_of(frames, screen=(WIDTH, HEIGHT)):
    """A GIF whose frame @i shows the quadrants with their numbers moved on by i, each for 70 ms."""
    out = b"GIF89a" + words(*screen) + bytes([0xf7, 0, 0]) + b"".join(map(bytes, COLOURS)).ljust(768, b"\0") + b"!\xff\x0bNETSCAPE2.0\x03\x01\0\0\0"
    for i in range(frames):
        data_of = packed(lzw([(COLOURS.index(value) + i) % 4 for row in ROWS for value in row]), True)
        blocks = b"".join(bytes([len(data_of[at:at + 255])]) + data_of[at:at + 255] for at in range(0, len(data_of), 255))
        out += b"!\xf9\x04\0" + words(7) + b"\0\0," + words(0, 0, WIDTH, HEIGHT) + b"\0\x08" + blocks + b"\0"
    return out + b";"


def tiff_of(parts, order="<", bits=8, samples=3, **tags):
    """A TIFF file of @parts, strips or, with tile=SIDE, tiles."""
    numbers = {"width": 256, "height": 257, "compression": 259, "photometric": 262, "rows": 278, "palette": 320, "float": 339, "subsampling": 530}
    values = {256: [WIDTH], 257: [HEIGHT], 258: [bits] * samples, 259: [1], 262: [2], 277: [samples]}
    values.update({numbers[name]: value if isinstance(value, list) else [value] for name, value in tags.items() if name != "tile"})
    if "tile" in tags:
        values.update({322: [tags["tile"]], 323: [tags["tile"]]})
    offsets, counts = (324, 325) if "tile" in tags else (273, 279)
    at, places = 8, []
    for part in parts:
        places.append(at)
        at += len(part)
    values.update({offsets: places, counts: [len(part) for part in parts]})
    folder, more = b"", at + 2 + 12 * len(values) + 4
    behind = b""
    for tag in sorted(values):
        wide = tag in (offsets, counts)
        body = struct.pack(order + "%d%s" % (len(values[tag]), "I" if wide else "H"), *values[tag])
        folder += struct.pack(order + "HHI", tag, 4 if wide else 3, len(values[tag]))
        if len(body) <= 4:
            folder += body.ljust(4, b"\0")
        else:
            folder += struct.pack(order + "I", more + len(behind))
            behind += body + b"\0" * (len(body) % 2)
    head = (b"II*\0" if order == "<" else b"MM\0*") + struct.pack(order + "I", at)
    return head + b"".join(parts) + struct.pack(order + "H", len(values)) + folder + bytes(4) + behind


def strips(pixel, rows=16):
    return [b"".join(pixel(value) for row in ROWS[y:y + rows] for value in row) for y in range(0, HEIGHT, rows)]


def tiles(side):
    return [b"".join(bytes(ROWS[min(y + v, HEIGHT - 1)][min(x + u, WIDTH - 1)]) for v in range(side) for u in range(side)) for y in range(0, HEIGHT, side)
            for x in range(0, WIDTH, side)]


def flat_jpeg(rows, adobe):
    """A JPEG file of blocks of one value a component; @rows: of blocks. Each code of Huffman's table for DC has four bits, the only one for AC
    is the end of the block. @adobe: (nullable): the transform that its marker states."""
    def segment(marker, body):
        return bytes([0xff, marker]) + struct.pack(">H", len(body) + 2) + body

    n = len(rows[0][0])
    bits, before = "", [0] * n
    for row in rows:
        for block in row:
            for i, value in enumerate(block):
                change = 8 * (value - 128) - before[i]
                before[i] += change
                size = abs(change).bit_length()
                bits += format(size, "04b") + (format(change if change > 0 else change + (1 << size) - 1, "0%db" % size) if size > 0 else "") + "0"
    bits += "1" * (-len(bits) % 8)
    body = bytes(int(bits[i:i + 8], 2) for i in range(0, len(bits), 8)).replace(b"\xff", b"\xff\0")
    return (b"\xff\xd8" + (b"" if adobe is None else segment(0xee, b"Adobe\0\x64\0\0\0\0" + bytes([adobe]))) + segment(0xdb, b"\0" + b"\x01" * 64) +
            segment(0xc0, struct.pack(">BHHB", 8, 8 * len(rows), 8 * len(rows[0]), n) + b"".join(bytes([i + 1, 0x11, 0]) for i in range(n))) +
            segment(0xc4, b"\0" + bytes([0, 0, 0, 12]) + bytes(12) + bytes(range(12))) + segment(0xc4, b"\x10\x01" + bytes(15) + b"\0") +
            segment(0xda, bytes([n]) + b"".join(bytes([i + 1, 0]) for i in range(n)) + b"\0\x3f\0") + body + b"\xff\xd9")


def block_jpeg(convert, adobe):
    return flat_jpeg([[convert(ROWS[8 * y][8 * x]) for x in range(WIDTH // 8)] for y in range(HEIGHT // 8)], adobe)


def ycc(colour):
    """By JFIF's matrix."""
    r, g, b = colour
    y = 0.299 * r + 0.587 * g + 0.114 * b
    return [round(value) for value in (y, 128 + (b - y) / 1.772, 128 + (r - y) / 1.402)]


def ycck(colour):
    """What is stored of inverted inks, as Adobe's programs store them: the matrix of the inks' complements, and black."""
    return ycc([255 - value for value in colour]) + [255]


def grey(colour):
    return (299 * colour[0] + 587 * colour[1] + 114 * colour[2]) // 1000


GREYS = [(grey(colour),) * 3 for colour in COLOURS]


def test_pictures():
    """One run over a file of each kind."""
    def wide(*values):
        return words(*(257 * value for value in values), order=">")

    table = [257 * COLOURS[i][c] if i < 4 else 0 for c in range(3) for i in range(256)]
    kinds = {
        "rgb16.png": png_of(16, 2, lambda value, i: wide(*value)),
        "rgba16.png": png_of(16, 6, lambda value, i: wide(*value, 128)),
        "palette.png": png_of(8, 3, lambda value, i: bytes([i]), palette_chunk()),
        "still.gif": gif_of(1),
        "strips.tif": tiff_of(strips(bytes), rows=16),
        "big-endian.tif": tiff_of(strips(bytes), ">", rows=16),
        "large-strips.tiff": tiff_of(strips(bytes, HEIGHT), rows=HEIGHT),
        "tiles.tif": tiff_of(tiles(16), tile=16),
        "lzw.tif": tiff_of([packed(lzw(part), False) for part in strips(bytes)], rows=16, compression=5),
        "deflate.tif": tiff_of([zlib.compress(part) for part in strips(bytes)], rows=16, compression=8),
        "wide.tif": tiff_of(strips(lambda value: words(*(257 * v for v in value))), bits=16, rows=16),
        "palette.tif": tiff_of(strips(lambda value: bytes([COLOURS.index(value)])), samples=1, rows=16, photometric=3, palette=table),
        "cmyk.tif": tiff_of(strips(lambda value: bytes(255 - v for v in value) + b"\0"), samples=4, rows=16, photometric=5),
        "adobe.jpg": block_jpeg(lambda value: list(value) + [255], 0),
        "ycck.jpg": block_jpeg(ycck, 2),
        "in.tif": tiff_of([block_jpeg(ycc, None)], rows=HEIGHT, compression=7, photometric=6, subsampling=[1, 1]),
    }
    greys = {
        "grey-alpha.png": png_of(8, 4, lambda value, i: bytes([grey(value), 100])),
        "grey16.png": png_of(16, 0, lambda value, i: wide(grey(value))),
        "grey-alpha16.png": png_of(16, 4, lambda value, i: wide(grey(value), 100)),
        "grey.tif": tiff_of(strips(lambda value: bytes([grey(value)])), samples=1, rows=16, photometric=1),
        "grey16.tif": tiff_of(strips(lambda value: words(257 * grey(value))), bits=16, samples=1, rows=16, photometric=1),
    }
    paths = [write(name, body) for name, body in list(kinds.items()) + list(greys.items())]
    out = run("predict", "--json", "--model", model("one_box.tflite"), "--threshold", "1", "--draw", work("kind.png"), *paths)
    if "built without GdkPixbuf" in out.err:
        raise Skip("built without GdkPixbuf")
    assert len(out.expect(0).out.splitlines()) == len(paths), out
    for i, path in enumerate(paths):
        seen = middles(read_png(work("kind-%d.png" % (i + 1) if i > 0 else "kind.png")))
        for got, wanted in zip(seen, COLOURS if i < len(kinds) else GREYS):
            assert all(abs(a - b) <= 4 for a, b in zip(got, wanted)), (path, got, wanted)


def test_moving_gif():
    path = write("moving.gif", gif_of(3))
    result = run("predict", "--json", "--timeout", "3", "--model", model("one_box.tflite"), "--threshold", "1", "--draw", work("moving.png"), path)
    if "built without GdkPixbuf" in result.err:
        raise Skip("built without GdkPixbuf")
    frames = [json.loads(line) for line in result.expect(0).out.splitlines()]
    assert [(frame["frame"], frame["timestamp"]) for frame in frames] == [(i, i * 70000000) for i in range(3)], frames
    for i in range(3):
        seen = middles(read_png(work("moving-%d.png" % (i + 1) if i > 0 else "moving.png")))
        assert seen == [COLOURS[(k + i) % 4] for k in range(4)], (i, seen)
    run("predict", "--json", "--model", model("one_box.tflite"), "--output", work("moving.txt"), path).expect(1, "--output is for pictures, and this is a video")


def test_names_in_a_folder():
    os.mkdir(work("folder"))
    for name in ("a.jfif", "b.JFIF"):
        write("folder/" + name, jpeg(ROWS))
    assert [frame["source"] for frame in frames_of(work("folder"))] == [work("folder/a.jfif"), work("folder/b.JFIF")]


def huge(kind):
    """A picture of 60000 x 60000 pixels, as far as its head."""
    side = 60000
    return {"png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0) + bytes(99),
            "jpg": b"\xff\xd8\xff\xe0\0\x10JFIF\0" + bytes(9) + b"\xff\xc0\0\x11\x08" + struct.pack(">HH", side, side) + b"\x03" + bytes(99),
            "gif": gif_of(1, (side, side)),
            "tif": tiff_of(strips(bytes), width=side, height=side),
            "webp": b"RIFF\xff\0\0\0WEBPVP8X\x0a\0\0\0" + bytes(4) + 2 * (side - 1).to_bytes(3, "little") + bytes(99),
            "bmp": struct.pack("<2sIHHIIiiHHI", b"BM", 200, 0, 0, 54, 40, side, -side, 1, 8, 1) + bytes(150), "ppm": b"P6 # one\n60000\n# two\n60000 255\n" + bytes(99)}[kind]


def more_entries(body, before, behind):
    """The TIFF file @body with further entries of 32 bits in its folder."""
    at, = struct.unpack_from("<I", body, 4)
    n, = struct.unpack_from("<H", body, at)
    first, last = (b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in more) for more in (before, behind))
    return body[:at] + words(n + len(before) + len(behind)) + first + body[at + 2:at + 2 + 12 * n] + last + body[at + 2 + 12 * n:]


def test_hidden_sizes():
    """Sizes that decoders go by, in files that state a small one, too."""
    screen, large, small = words(0, 0, WIDTH, HEIGHT), words(0, 0, 60000, 60000), [(256, WIDTH), (257, HEIGHT)]
    for name, body in (("frame.gif", gif_of(2).replace(b"," + screen, b"," + large)), ("second.gif", large.join(gif_of(2).rsplit(screen, 1))),
                       ("twice.tif", more_entries(huge("tif"), [], small)), ("late.tif", more_entries(huge("tif"), [(1, 0)] * 600, []))):
        path = write(name, body)
        run("predict", "--model", model("one_box.tflite"), path).expect(1, path + ": the picture has 60000x60000 pixels; expected 200 million at most")
    path = write("sizeless.tif", tiff_of(strips(bytes), rows=16).replace(words(256, 3), words(255, 3)))
    said = run("predict", "--model", model("one_box.tflite"), path)
    if "built without GdkPixbuf" not in said.err:
        said.expect(1, "a TIFF picture cannot be decoded: it states no size")


def test_refused():
    """What is not decoded is named, and none of it is called damaged."""
    for kind in ("png", "jpg", "gif", "tif", "webp", "bmp", "ppm"):
        path = write("huge." + kind, huge(kind))
        run("predict", "--model", model("one_box.tflite"), path).expect(
            1, path + ": the picture has 60000x60000 pixels; expected 200 million at most: reduce it, or cut it into parts")
    moving = b"RIFF\xff\0\0\0WEBPVP8X\x0a\0\0\0\x02\0\0\0" + 2 * (63).to_bytes(3, "little") + bytes(99)
    run("predict", "--model", model("one_box.tflite"), write("moving.webp", moving)).expect(1, "animated WebP is not supported: take out a frame (webpmux -get frame 1")
    plain = block_jpeg(lambda value: [255 - v for v in value] + [0], None)
    run("predict", "--model", model("one_box.tflite"), write("plain.jpg", plain)).expect(1, "CMYK JPEG without Adobe's marker is not supported: convert it to RGB")
    real = tiff_of(strips(lambda value: struct.pack("<3f", *value)), bits=32, rows=16, float=3)
    run("predict", "--model", model("one_box.tflite"), write("float.tif", real)).expect(
        1, "TIFF with samples of floating-point numbers is not supported; expected 1 to 16 bits: convert it to PNG")
    long = tiff_of(strips(lambda value: struct.pack("<3I", *value)), bits=32, rows=16)
    run("predict", "--model", model("one_box.tflite"), write("long.tif", long)).expect(1, "TIFF with samples of more than 16 bits is not supported")


def test_streams():
    """Of what comes through a pipe no more is taken than its head, and the message says what to do."""
    for name, body, says in (("a GIF picture", gif_of(2), "is decoded from a file alone: save it, and name the file"),
                             ("a TIFF picture", tiff_of(strips(bytes), rows=16), "is decoded from a file alone"),
                             ("the picture", huge("png"), "has 60000x60000 pixels; expected 200 million at most")):
        done = subprocess.run([harness.PROGRAM, "predict", "--model", model("one_box.tflite"), "/dev/stdin"], input=body, capture_output=True, timeout=200)
        assert done.returncode == 1 and ("/dev/stdin: %s %s" % (name, says)).encode() in done.stderr, done
    done = subprocess.run([harness.PROGRAM, "predict", "--json", "--model", model("one_box.tflite"), "/dev/stdin"], input=encode_png(ROWS), capture_output=True,
                          timeout=200)
    assert done.returncode == 0 and json.loads(done.stdout)["resolution"] == {"width": WIDTH, "height": HEIGHT}, done


def test_damaged():
    """Files that end anywhere, and heads in which bytes are others: an end, and a sentence of the one that does not decode."""
    whole = {"gif": gif_of(2), "tif": tiff_of(strips(bytes), rows=16), "jpg": block_jpeg(ycck, 2), "png": png_of(16, 2, lambda value, i: bytes(6))}
    paths = []
    for kind, body in whole.items():
        paths += [write("cut%d.%s" % (n, kind), body[:n]) for n in (9, 12, 30, len(body) // 2)]
        for at in range(4, 40, 3):
            paths.append(write("changed%d.%s" % (at, kind), body[:at] + b"\xff" + body[at + 1:]))
    result = run("predict", "--json", "--model", model("one_box.tflite"), *paths)
    assert result.status == 1 and "crashed" not in result.err and "killed" not in result.err, result
    cut = write("cut.tif", whole["tif"][:60])
    said = run("predict", "--model", model("one_box.tflite"), cut)
    if "built without GdkPixbuf" not in said.err:
        said.expect(1, "a TIFF picture cannot be decoded: ", "it is damaged, or of a variety that GdkPixbuf does not read: convert it to PNG")


def test_shared_pictures():
    for name in ("rgb.gif", "rgb.tif", "jpg.tif", "cmyk.jpg"):
        check(data("bugs", "gif_tiff", name))
    check(data("bugs", "png16", "rgb16.png"))
    run("predict", "--model", model("one_box.tflite"), data("bugs", "gif_tiff", "anim.webp")).expect(1, "animated WebP is not supported")


def test_shared_videos():
    for case in ("full.mp4",):
        check(data("bugs", "full_range_unknown_matrix", case))
    for case in ("inter.mp4", "inter.ts"):
        path = data("bugs", "interlaced_predict", case)
        check(path)
        assert len(frames_of(path)) == 10


main(globals())
