# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pictures for the examples: PPM files of one colour, and of a BMP file's pixels."""
import struct

from harness import write


def ppm(name, width, height, rgb):
    return write(name, b"P6\n%d %d\n255\n" % (width, height) + bytes(rgb) * (width * height))


def ppm_of_bmp(name, path):
    """The same picture, of an uncompressed BMP file with 24 bits a pixel."""
    with open(path, "rb") as file:
        data = file.read()
    start, width, height, bits = struct.unpack_from("<I", data, 10) + struct.unpack_from("<ii", data, 18) + struct.unpack_from("<H", data, 28)
    assert bits == 24 and height > 0
    stride = (3 * width + 3) // 4 * 4
    rows = []
    for y in reversed(range(height)):
        row = bytearray(data[start + y * stride : start + y * stride + 3 * width])
        row[0::3], row[2::3] = row[2::3], row[0::3]
        rows.append(bytes(row))
    return write(name, b"P6\n%d %d\n255\n" % (width, height) + b"".join(rows))
