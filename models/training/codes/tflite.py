# SPDX-License-Identifier: LGPL-2.1-or-later
# A TensorFlow Lite model: tensors, operators, metadata and the zip behind it. Numbers are those of the public schema.
import io
import zipfile

import numpy as np

from flatbuffer import Bytes, I32, Table, U32, U8, Vector, finish, floats, ints, longs

TYPES = {np.dtype(np.float32): 0, np.dtype(np.int32): 2, np.dtype(np.uint8): 3, np.dtype(np.int8): 9}
# name: (operator, member of the union of options)
OPERATORS = {'add': (0, 11), 'concat': (2, 10), 'conv': (3, 1), 'reshape': (22, 17), 'nearest': (97, 74)}
RELU = 1


class Model:
    def __init__(self):
        self.tensors, self.buffers, self.codes, self.operators = [], [Table({})], [], []

    def buffer(self, data):
        self.buffers.append(Table({0: Bytes(data, 1, 16)}))
        return len(self.buffers) - 1

    def tensor(self, name, shape, dtype, scale=None, zero=0, axis=0, data=None):
        """Index of a new tensor; `scale` is a number or one for each index of `axis`."""
        quantisation = None
        if scale is not None:
            scales = np.atleast_1d(np.asarray(scale, np.float32))
            quantisation = Table({2: floats(scales.tolist()), 3: longs([int(zero)] * len(scales)), 6: I32(axis) if len(scales) > 1 else None})
        at = self.buffer(np.ascontiguousarray(data).tobytes()) if data is not None else 0
        self.tensors.append(Table({0: ints(shape), 1: U8(TYPES[np.dtype(dtype)]), 2: U32(at), 3: name, 4: quantisation}))
        return len(self.tensors) - 1

    def operator(self, kind, inputs, output, options):
        builtin, member = OPERATORS[kind]
        if builtin not in self.codes:
            self.codes.append(builtin)
        self.operators.append(Table({0: U32(self.codes.index(builtin)), 1: ints(inputs), 2: ints([output]), 3: U8(member), 4: Table(options)}))

    def finish(self, inputs, outputs, description, metadata, files):
        """The file's bytes: `metadata` is the root table of the metadata schema, `files` {name: bytes} the zip."""
        names = [Table({0: 'TFLITE_METADATA', 1: U32(self.buffer(finish(metadata, b'M001')))})]
        codes = Vector(Table({0: U8(c), 3: I32(c)}) for c in self.codes)
        graph = Table({0: Vector(self.tensors), 1: ints(inputs), 2: ints(outputs), 3: Vector(self.operators), 4: 'main'})
        root = Table({0: U32(3), 1: codes, 2: Vector([graph]), 3: description, 4: Vector(self.buffers), 6: Vector(names)})
        data = finish(root, b'TFL3')
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, 'w') as pack:
            for name, text in files.items():
                info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
                pack.writestr(info, text)
        return data + archive.getvalue()


def image_metadata(name, description, mean, std, labels):
    """TFLite Metadata of a model with one RGB picture as input and a file of labels at its output."""
    normalisation = Table({0: U8(1), 1: Table({0: floats(mean), 1: floats(std)})})
    picture = Table({0: 'image', 3: Table({0: U8(2), 1: Table({0: U8(1)})}), 4: Vector([normalisation])})
    file = Table({0: labels, 1: 'class names', 2: U8(2)})
    return Table({0: name, 1: description, 3: Vector([Table({2: Vector([picture]), 3: Vector([Table({0: 'predictions', 6: Vector([file])})])})]), 5: 'LGPL-2.1-or-later'})
