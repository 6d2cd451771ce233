# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pictures for the tests, as rows of (r, g, b): PNG written and read here, JPEG and video files by GStreamer, and EXIF segments and
rotation matrices put into these by hand."""
import os
import struct
import subprocess
import zlib

from harness import Skip, WORK, work, write


def encode_png(rows, bits=8):
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    lines = b"".join(b"\0" + bytes(value for pixel in row for value in pixel for _ in range(bits // 8)) for row in rows)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", len(rows[0]), len(rows), bits, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(lines, 1)) + chunk(b"IEND", b""))


def paeth(a, b, c):
    p = a + b - c
    return min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]


def read_png(path):
    """Rows of an 8-bit file: RGB, RGBA, or grey, whose value counts for each colour."""
    with open(path, "rb") as file:
        data = file.read()
    at, packed = 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", body[:10])
        packed += body if kind == b"IDAT" else b""
        at += 12 + size
    assert depth == 8 and colour in (0, 2, 6), (depth, colour)
    n = {0: 1, 2: 3, 6: 4}[colour]
    raw, stride, before, rows = zlib.decompress(packed), width * n, bytes(width * n), []
    for y in range(height):
        method, line = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for i in range(stride):
            a, b, c = line[i - n] if i >= n else 0, before[i], before[i - n] if i >= n else 0
            line[i] = (line[i] + (0, a, b, (a + b) // 2, paeth(a, b, c))[method]) & 255
        before = bytes(line)
        rows.append([tuple(line[x * n:x * n + 3]) if n > 1 else (line[x],) * 3 for x in range(width)])
    return rows


def difference(one, other):
    """Mean absolute difference of two pictures of one size."""
    assert (len(one), len(one[0])) == (len(other), len(other[0])), (len(one), len(one[0]), len(other), len(other[0]))
    pairs = [(a, b) for r, s in zip(one, other) for p, q in zip(r, s) for a, b in zip(p, q)]
    return sum(abs(a - b) for a, b in pairs) / len(pairs)


def launch(*words):
    """Runs a pipeline; skips the test where it has not the elements."""
    done = subprocess.run(["gst-launch-1.0", "-q", *words], capture_output=True, timeout=300)
    if done.returncode != 0:
        raise Skip("gst-launch-1.0 %s: %s" % (" ".join(words), done.stderr.decode("utf-8", "replace").strip()[:200]))


def jpeg(rows):
    """Bytes of a JPEG file."""
    picture, made = write("to-encode.png", encode_png(rows)), work("encoded.jpg")
    launch("filesrc", "location=" + picture, "!", "pngdec", "!", "videoconvert", "!", "jpegenc", "quality=95", "!", "filesink", "location=" + made)
    with open(made, "rb") as file:
        return file.read()


def with_orientation(data, orientation, order=">"):
    """The JPEG file @data with an EXIF segment in front, in either byte order."""
    body = b"Exif\0\0" + tiff_of(orientation, order)
    return data[:2] + b"\xff\xe1" + struct.pack(">H", len(body) + 2) + body + data[2:]


def tiff_of(orientation, order=">"):
    """EXIF that states an orientation, in either byte order."""
    return (b"MM\0*" if order == ">" else b"II*\0") + struct.pack(order + "IHHHIHHI", 8, 1, 0x0112, 3, 1, orientation, 0, 0)


def png_with_orientation(data, orientation, behind):
    """The PNG file @data with a chunk eXIf behind its IHDR, or @behind the pixels."""
    exif = tiff_of(orientation)
    chunk = struct.pack(">I", len(exif)) + b"eXIf" + exif + struct.pack(">I", zlib.crc32(b"eXIf" + exif))
    at = len(data) - 12 if behind else 33
    return data[:at] + chunk + data[at:]


def webp(rows):
    """Bytes of a WebP file without loss."""
    picture, made = write("to-encode.png", encode_png(rows)), work("encoded.webp")
    launch("filesrc", "location=" + picture, "!", "pngdec", "!", "videoconvert", "!", "webpenc", "lossless=true", "!", "filesink", "location=" + made)
    with open(made, "rb") as file:
        return file.read()


def webp_with_orientation(data, rows, orientation):
    """The simple WebP file @data of @rows as an extended one, whose EXIF is behind the pixels."""
    exif = tiff_of(orientation, "<")
    header = bytes([8, 0, 0, 0]) + (len(rows[0]) - 1).to_bytes(3, "little") + (len(rows) - 1).to_bytes(3, "little")
    body = b"WEBP" + b"VP8X" + struct.pack("<I", len(header)) + header + data[12:] + b"EXIF" + struct.pack("<I", len(exif)) + exif
    return b"RIFF" + struct.pack("<I", len(body)) + body


def stored(rows, orientation):
    """The pixels of a file of that orientation which shows @rows: Exif 2.32 says on which side of the upright picture its row 0 and its
    column 0 lie."""
    sides = {1: "top left", 2: "top right", 3: "bottom right", 4: "bottom left", 5: "left top", 6: "right top", 7: "right bottom", 8: "left bottom"}
    row0, column0 = sides[orientation].split()
    height, width = len(rows), len(rows[0])

    def upright(r, c):
        along = {"top": r, "bottom": height - 1 - r, "left": r, "right": width - 1 - r}[row0]
        across = {"top": c, "bottom": height - 1 - c, "left": c, "right": width - 1 - c}[column0]
        return rows[along][across] if row0 in ("top", "bottom") else rows[across][along]

    turned = row0 in ("left", "right")
    return [[upright(r, c) for c in range(height if turned else width)] for r in range(width if turned else height)]


def movie(name, rows, frames, degrees):
    """A QuickTime file of that many equal frames, whose track is to be turned clockwise."""
    picture, path = write("frame.png", encode_png(rows)), work(name)
    launch("filesrc", "location=" + picture, "!", "pngdec", "!", "imagefreeze", "num-buffers=%d" % frames, "!", "video/x-raw,framerate=10/1", "!",
           "videoconvert", "!", "jpegenc", "quality=95", "!", "qtmux", "!", "filesink", "location=" + path)
    with open(path, "rb") as file:
        data = bytearray(file.read())
    a, b = {0: (1, 0), 90: (0, 1), 180: (-1, 0), 270: (0, -1)}[degrees]
    at = data.index(b"tkhd") + 4 + 4 + 20 + 8 + 8  # behind version, times and numbers (ISO 14496-12, 8.3.2)
    assert struct.unpack(">9i", data[at:at + 36])[8] == 1 << 30, data[at:at + 36]
    data[at:at + 20] = struct.pack(">5i", a << 16, b << 16, 0, -b << 16, a << 16)
    return write(name, bytes(data))


def plugins_but(*missing, more=()):
    """The environment in which GStreamer has its common plugins, and @more, without those whose file names begin so."""
    found = subprocess.run(["pkg-config", "--variable=pluginsdir", "gstreamer-1.0"], capture_output=True, text=True)
    if found.returncode != 0:
        raise Skip("pkg-config does not know GStreamer's plugins")
    folder = os.path.join(WORK.name, "without-" + "-".join(missing))
    os.makedirs(folder, exist_ok=True)
    wanted = ("coreelements", "app", "png", "jpeg", "playback", "typefindfunctions", "videoconvert", "videoscale", "videorate", "videofilter", "isomp4") + more
    for name in os.listdir(found.stdout.strip()):
        if name.startswith(tuple("libgst" + one for one in wanted)) and not name.startswith(tuple("libgst" + one for one in missing)):
            if not os.path.lexists(os.path.join(folder, name)):
                os.symlink(os.path.join(found.stdout.strip(), name), os.path.join(folder, name))
    return dict(os.environ, GST_PLUGIN_SYSTEM_PATH_1_0=folder, GST_PLUGIN_PATH="", GST_REGISTRY=folder + ".bin")
