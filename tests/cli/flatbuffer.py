# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads a TensorFlow Lite file by the public schema, checking every offset on the way. Standard library only."""
import struct

TYPES = {0: 4, 1: 2, 2: 4, 3: 1, 4: 8, 6: 1, 7: 2, 9: 1, 10: 8}  # bytes of an element by TensorType


class Table:
    def __init__(self, raw, at):
        self.raw, self.at = raw, at
        back = struct.unpack_from("<i", raw, at)[0]
        self.vtable = at - back
        assert at % 4 == 0 and 0 < self.vtable < len(raw), "table at %d" % at
        self.size, self.length = struct.unpack_from("<HH", raw, self.vtable)
        assert self.size >= 4 and self.size % 2 == 0 and at + self.length <= len(raw), "vtable at %d" % self.vtable

    def place(self, field, bytes_):
        where = 4 + 2 * field
        offset = struct.unpack_from("<H", self.raw, self.vtable + where)[0] if where < self.size else 0
        if offset == 0:
            return None
        assert 4 <= offset <= self.length - bytes_ and (self.at + offset) % bytes_ == 0, "field %d of the table at %d" % (field, self.at)
        return self.at + offset

    def number(self, field, kind, default=0):
        at = self.place(field, struct.calcsize(kind))
        return default if at is None else struct.unpack_from("<" + kind, self.raw, at)[0]

    def target(self, field):
        at = self.place(field, 4)
        return None if at is None else at + struct.unpack_from("<I", self.raw, at)[0]

    def vector(self, field, kind):
        """Elements of @kind, "T" for tables; none for an absent one."""
        at = self.target(field)
        if at is None:
            return []
        count = struct.unpack_from("<I", self.raw, at)[0]
        size = 4 if kind == "T" else struct.calcsize(kind)
        assert (at + 4) % size == 0 and at + 4 + count * size <= len(self.raw), "vector at %d" % at
        if kind != "T":
            return list(struct.unpack_from("<%d%s" % (count, kind), self.raw, at + 4))
        places = [at + 4 + 4 * i for i in range(count)]
        return [Table(self.raw, p + struct.unpack_from("<I", self.raw, p)[0]) for p in places]

    def bytes(self, field):
        at = self.target(field)
        if at is None:
            return None, b""
        count = struct.unpack_from("<I", self.raw, at)[0]
        assert at + 4 + count <= len(self.raw)
        return at + 4, self.raw[at + 4:at + 4 + count]


class Model:
    """codes: (operator, version); operators: (code index, inputs, outputs); tensors: (type, shape, scales, zero points, axis, data)."""

    def __init__(self, raw):
        assert raw[4:8] == b"TFL3"
        root = Table(raw, struct.unpack_from("<I", raw, 0)[0])
        assert root.number(0, "I") == 3
        self.codes = [(max(t.number(0, "b"), t.number(3, "i")), t.number(2, "i", 1)) for t in root.vector(1, "T")]
        assert all(version >= 1 for _, version in self.codes)
        buffers = [t.bytes(0) for t in root.vector(4, "T")]
        assert buffers[0][1] == b"", "buffer 0 is empty by definition"
        assert all(at is None or at % 16 == 0 for at, _ in buffers), "buffers lie at multiples of 16"
        (graph,) = root.vector(2, "T")
        self.tensors = [self.tensor(t, buffers) for t in graph.vector(0, "T")]
        self.constants = sum(len(t[5]) for t in self.tensors)
        self.inputs, self.outputs = graph.vector(1, "i"), graph.vector(2, "i")
        self.operators = [(t.number(0, "I"), t.vector(1, "i"), t.vector(2, "i")) for t in graph.vector(3, "T")]
        self.metadata = {t.bytes(0)[1].decode(): buffers[t.number(1, "I")][1] for t in root.vector(6, "T")}
        self.check()

    @staticmethod
    def tensor(table, buffers):
        shape, kind = table.vector(0, "i"), table.number(1, "b")
        (_, data), quant = buffers[table.number(2, "I")], table.target(4)
        assert kind in TYPES and all(n > 0 for n in shape), (kind, shape)
        count = TYPES[kind]
        for n in shape:
            count *= n
        assert data == b"" or len(data) == count, "%d bytes for %s" % (len(data), shape)
        scales, zeros, axis = [], [], 0
        if quant is not None:
            quant = Table(table.raw, quant)
            scales, zeros, axis = quant.vector(2, "f"), quant.vector(3, "q"), quant.number(6, "i")
            assert len(scales) == len(zeros) and all(s > 0 for s in scales)
            assert len(scales) == 1 or len(scales) == shape[axis], (shape, len(scales), axis)
        return kind, shape, scales, zeros, axis, data

    def check(self):
        """Each tensor is made once, before it is read."""
        made = set(self.inputs) | {i for i, t in enumerate(self.tensors) if t[5]}
        for code, inputs, outputs in self.operators:
            assert code < len(self.codes)
            assert set(inputs) - {-1} <= made, (self.codes[code], set(inputs) - made)
            assert not made & set(outputs), (self.codes[code], outputs)
            made |= set(outputs)
        assert set(self.outputs) <= made and made == set(range(len(self.tensors)))
