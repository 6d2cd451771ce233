# SPDX-License-Identifier: LGPL-2.1-or-later
# Writes FlatBuffers: tables, vectors, strings, as far as .tflite files need. Parents come before what they refer to.
#
#   table = Table({0: U8(3), 1: Vector([a, b]), 2: 'text'})
#   data = finish(table, b'TFL3')
import struct


class Scalar:
    def __init__(self, form, value):
        self.form, self.value = form, value


def U8(value):
    return Scalar('B', int(value))


def I32(value):
    return Scalar('i', int(value))


def U32(value):
    return Scalar('I', int(value))


class Table:
    def __init__(self, fields):
        self.fields = {k: v for k, v in fields.items() if v is not None}


class Vector:
    def __init__(self, items):
        self.items = list(items)


class Bytes:
    """A vector of packed elements: `size` bytes each, the first one aligned to `align`."""

    def __init__(self, data, size=1, align=4):
        self.data, self.size, self.align = bytes(data), size, align


def ints(values):
    return Bytes(struct.pack(f'<{len(values)}i', *values), 4)


def longs(values):
    return Bytes(struct.pack(f'<{len(values)}q', *values), 8, 8)


def floats(values):
    return Bytes(struct.pack(f'<{len(values)}f', *values), 4)


class Writer:
    def __init__(self):
        self.out = bytearray()
        self.waiting = []
        self.layouts = {}   # vtables are shared: bytes to place

    def pad(self, align, ahead=0):
        while (len(self.out) + ahead) % align:
            self.out.append(0)

    def refer(self, target):
        """Four bytes that will hold the distance to `target`."""
        self.waiting.append((len(self.out), target))
        self.out += b'\0\0\0\0'

    def table(self, table):
        count = max(table.fields, default=-1) + 1
        places, size = {}, 4
        for field in sorted(table.fields, key=lambda f: -self.width(table.fields[f])):
            places[field] = size
            size += self.width(table.fields[field])
        vtable = struct.pack(f'<{2 + count}H', 4 + 2 * count, size, *[places.get(i, 0) for i in range(count)])
        self.pad(4, 0 if vtable in self.layouts else len(vtable))
        if vtable not in self.layouts:
            self.layouts[vtable] = len(self.out)
            self.out += vtable
        start = len(self.out)
        self.out += struct.pack('<i', start - self.layouts[vtable])
        for field in sorted(places, key=places.get):
            value = table.fields[field]
            if isinstance(value, Scalar):
                self.out += struct.pack('<' + value.form, value.value)
            else:
                self.refer(value)
        return start

    @staticmethod
    def width(value):
        return struct.calcsize(value.form) if isinstance(value, Scalar) else 4

    def emit(self, value):
        """Writes one object; returns where it starts."""
        if isinstance(value, Table):
            return self.table(value)
        if isinstance(value, Bytes):
            self.pad(max(4, value.align), 4)
            start = len(self.out)
            self.out += struct.pack('<I', len(value.data) // value.size) + value.data
            return start
        self.pad(4)
        start = len(self.out)
        if isinstance(value, str):
            data = value.encode()
            self.out += struct.pack('<I', len(data)) + data + b'\0'
        else:
            self.out += struct.pack('<I', len(value.items))
            for item in value.items:
                self.refer(item)
        return start


def finish(root, identifier):
    writer = Writer()
    writer.refer(root)
    writer.out += identifier
    while writer.waiting:
        at, target = writer.waiting.pop(0)
        place = writer.emit(target)
        struct.pack_into('<I', writer.out, at, place - at)
    writer.pad(16)
    return bytes(writer.out)
