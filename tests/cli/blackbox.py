# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes black boxes as models/replay/black_box.h describes them; nothing here is shared with the program under test."""
import hashlib
import os
import struct
import sys

MASK = (1 << 64) - 1
P1, P2, P3, P4, P5 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5


def rotate(value, bits):
    value &= MASK
    return (value << bits | value >> 64 - bits) & MASK


def mix(lane, value):
    return rotate(lane + value * P2, 31) * P1 & MASK


def xxh64(data, seed=0):
    at = 0
    if len(data) >= 32:
        lanes = [seed + P1 + P2, seed + P2, seed, seed - P1]
        while len(data) - at >= 32:
            lanes = [mix(lane, value) for lane, value in zip(lanes, struct.unpack_from("<4Q", data, at))]
            at += 32
        total = sum(rotate(lane, bits) for lane, bits in zip(lanes, (1, 7, 12, 18)))
        for lane in lanes:
            total = ((total ^ mix(0, lane)) * P1 + P4) & MASK
    else:
        total = seed + P5
    total = (total + len(data)) & MASK
    while len(data) - at >= 8:
        total = (rotate(total ^ mix(0, struct.unpack_from("<Q", data, at)[0]), 27) * P1 + P4) & MASK
        at += 8
    while len(data) - at >= 4:
        total = (rotate(total ^ struct.unpack_from("<I", data, at)[0] * P1, 23) * P2 + P3) & MASK
        at += 4
    for byte in data[at:]:
        total = rotate(total ^ byte * P5, 11) * P1 & MASK
    total = (total ^ total >> 33) * P2 & MASK
    total = (total ^ total >> 29) * P3 & MASK
    return total ^ total >> 32


def section(tag, content):
    head = struct.pack("<4sIQ", tag, 0, len(content))
    return head + struct.pack("<Q", xxh64(content, xxh64(head))) + content


def inference(number, inputs, outputs, stored=True, finished=True, pts=MASK):
    """@inputs, @outputs: bytes of each."""
    content = struct.pack("<QQqII", number, pts, 0, int(finished), 0)
    for output in outputs:
        content += struct.pack("<QQ", xxh64(output) if finished else 0, len(output) if stored and finished else 0)
    return section(b"INFR", content + b"".join(inputs) + (b"".join(outputs) if stored and finished else b""))


def write(path, model, inputs, outputs, inferences, more=None):
    """@inputs, @outputs: texts such as "uint8[1,8,8,3]"; @inferences: of inference(); @more: keys that replace others."""
    with open(model, "rb") as file:
        content = file.read()
    keys = {"reason": "a test", "created": "2026-11-23T20:00:00.5Z", "sightline": "0.1.0", "model": model, "model-bytes": len(content),
            "sha256": hashlib.sha256(content).hexdigest(), "threads": 1, "backends": "plain: 1", "inputs": ";".join(inputs) + ";",
            "outputs": ";".join(outputs) + ";", **(more or {})}
    info = "[black-box]\n" + "".join("%s=%s\n" % item for item in keys.items())
    body = section(b"INFO", info.encode()) + b"".join(inferences)
    head = b"SLBBOX\r\n" + struct.pack("<IIQ", 1, 1 + len(inferences), 32 + len(body))
    with open(path, "wb") as file:
        file.write(head + struct.pack("<Q", xxh64(head)) + body)
    return path


def read(path):
    """(keys of the info, [(number, finished, bytes behind the fixed part)]) of a file whose checksums are right."""
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == b"SLBBOX\r\n" and xxh64(data[:24]) == struct.unpack_from("<Q", data, 24)[0], path
    version, sections, size = struct.unpack_from("<IIQ", data, 8)
    assert version == 1 and size == len(data) == os.path.getsize(path), path
    at, keys, inferences = 32, {}, []
    for number in range(sections):
        tag, _, length, check = struct.unpack_from("<4sIQQ", data, at)
        content = data[at + 24 : at + 24 + length]
        assert xxh64(content, xxh64(data[at : at + 16])) == check, (path, number)
        at += 24 + length
        if number == 0:
            keys = dict(line.split("=", 1) for line in content.decode().splitlines() if "=" in line)
        else:
            assert tag == b"INFR", tag
            number, _, _, finished = struct.unpack_from("<QQqI", content)
            inferences.append((number, bool(finished), content[32:]))
    assert at == len(data), path
    return keys, inferences


def main(path, model):
    """A file to start from, for the fuzzer."""
    write(path, model, ["float32[1,4]"] * 2, ["float32[1,4]"],
          [inference(1, [bytes(16)] * 2, [bytes(16)]), inference(2, [bytes(16)] * 2, [bytes(16)], stored=False)])


if __name__ == "__main__":
    main(*sys.argv[1:])
