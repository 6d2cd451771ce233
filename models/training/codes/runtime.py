# SPDX-License-Identifier: LGPL-2.1-or-later
# A .tflite in Sightline's own runtime, through libsightline: bytes of pictures in, rows out.
import ctypes
import os

import numpy as np
import torch

import net


class Runtime:
    def __init__(self, path, library):
        lib = self.lib = ctypes.CDLL(os.path.abspath(library))
        for name in ('sl_model_load', 'sl_model_graph', 'sl_session_new', 'sl_tensor_buffer_new'):
            getattr(lib, name).restype = ctypes.c_void_p
        lib.sl_session_new.argtypes = [ctypes.c_void_p, ctypes.c_uint, ctypes.c_void_p]
        lib.sl_session_run.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
        lib.sl_tensor_buffer_new.argtypes = [ctypes.c_size_t]
        lib.sl_model_graph.argtypes = [ctypes.c_void_p]
        model = lib.sl_model_load(os.path.abspath(path).encode(), None, None)
        if not model:
            raise SystemExit(f'{path}: does not load; `sightline inspect {path}` says why')
        self.session = lib.sl_session_new(lib.sl_model_graph(model), 1, None)
        self.rows = sum((net.SIZE // s) ** 2 for s in net.STRIDES)
        self.channels = 4 + len(net.CLASSES)
        self.input = lib.sl_tensor_buffer_new(net.SIZE * net.SIZE * 3)
        self.output = lib.sl_tensor_buffer_new(self.rows * self.channels)

    def codes(self, picture):
        """int8 rows of one RGB picture (bytes)."""
        data = (picture.astype(np.int16) - 128).astype(np.int8)
        ctypes.memmove(self.input, data.ctypes.data, data.nbytes)
        inputs, outputs = (ctypes.c_void_p * 1)(self.input), (ctypes.c_void_p * 1)(self.output)
        if self.lib.sl_session_run(self.session, inputs, outputs) != 0:
            raise SystemExit('the session failed')
        return np.frombuffer(ctypes.string_at(self.output, self.rows * self.channels), np.int8).reshape(self.rows, self.channels)

    def __call__(self, pictures, scale=1 / 32):
        return torch.from_numpy(np.stack([self.codes(p).astype(np.float32) * scale for p in pictures.numpy()]))
