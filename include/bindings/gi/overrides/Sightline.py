# SPDX-License-Identifier: LGPL-2.1-or-later
"""What gi adds to Sightline for Python: pixels in any buffer, predictions as sequences, docstrings."""
import ctypes
import difflib
import sys

from gi.module import get_introspection_module
from gi.overrides import override
from gi.repository import GLib

Sightline = get_introspection_module("Sightline")
__all__ = []


def _bytes(data):
    """A GLib.Bytes with a copy of what is in any object with the buffer protocol: bytes, bytearray, memoryview, a NumPy array."""
    if isinstance(data, GLib.Bytes):
        return data
    view = memoryview(data)
    if view.itemsize != 1:
        raise ValueError("expected items of 1 byte, got items of %d bytes (format '%s'): convert with array.astype(numpy.uint8)"
                         % (view.itemsize, view.format))
    return GLib.Bytes.new(view.tobytes())


def _describe(array, format):
    """Format, width and height of an array of rows of pixels."""
    shape = memoryview(array).shape
    formats = {2: "GRAY8"} if len(shape) == 2 else {3: {1: "GRAY8", 3: "RGB", 4: "RGBA"}.get(shape[-1])} if len(shape) == 3 else {}
    known = formats.get(len(shape))
    if known is None:
        raise ValueError("expected an array of shape (height, width), (height, width, 3) or (height, width, 4), got %s" % (shape,))
    return format or known, shape[1], shape[0]


class _Documented(type(Sightline.Frame)):
    """Shows the docstring of a class that is no GObject, where gi shows the list of its functions."""

    @property
    def __doc__(cls):
        return vars(cls).get("__doc__")


class Frame(Sightline.Frame, metaclass=_Documented):
    """A picture in memory: pixel format, size, planes.

    Pixels are bytes, a bytearray, a NumPy array of uint8, any object with the buffer protocol, or a GLib.Bytes, which alone is not copied.
    """

    @staticmethod
    def new(format, width, height, data):
        """A frame whose rows and planes follow each other without padding. Raises GLib.Error when data is not of that size."""
        return Sightline.Frame.new(format, width, height, _bytes(data))

    @staticmethod
    def new_with_layout(format, width, height, data, offsets, strides):
        """A frame whose planes begin at offsets, with rows strides bytes apart (below 0: stored upside down)."""
        return Sightline.Frame.new_with_layout(format, width, height, _bytes(data), offsets, strides)

    @staticmethod
    def new_from_array(array, format=None):
        """A frame of an array of shape (height, width) or (height, width, channels); format is GRAY8, RGB or RGBA unless given (BGR, ...)."""
        return Frame.new(*_describe(array, format), array)


class _Fields:
    """What a named tuple has: its fields in order, by index, compared with other sequences."""

    _fields = ()

    def __len__(self):
        return len(self._fields)

    def __iter__(self):
        return (getattr(self, name) for name in self._fields)

    def __getitem__(self, index):
        return tuple(self)[index]

    def __eq__(self, other):
        return tuple(self) == tuple(other) if isinstance(other, (tuple, _Fields)) else NotImplemented

    def __hash__(self):
        return hash(tuple(self))

    def __repr__(self):
        return "%s(%s)" % (type(self).__name__, ", ".join("%s=%r" % pair for pair in zip(self._fields, self)))


class Box(_Fields, Sightline.Box, metaclass=_Documented):
    """A rectangle, in pixels of the frame unless said otherwise: x, y, width, height. Numbers are not rounded."""

    _fields = ("x", "y", "width", "height")

    def __init__(self, x=0, y=0, width=0, height=0):
        self.x, self.y, self.width, self.height = x, y, width, height


class Keypoint(_Fields, Sightline.Keypoint, metaclass=_Documented):
    """A point of an object, in pixels of the frame: name (None where the model has none), x, y, confidence."""

    _fields = ("name", "x", "y", "confidence")
    name = property(lambda self: self.get_name(), doc="What the point is called, or None.")
    x = property(lambda self: self.get_x(), doc="Pixels from the frame's left edge.")
    y = property(lambda self: self.get_y(), doc="Pixels from the frame's top edge.")
    confidence = property(lambda self: self.get_confidence(), doc="0..1.")


class Label(_Fields, Sightline.Label, metaclass=_Documented):
    """A label of the frame or an attribute of an object: label, label_id, confidence.

    label is the name of the class, label_id its number (-1: unknown). An attribute also has model, the name of the model that gave it.
    """

    _fields = ("label", "label_id", "confidence")
    label = property(lambda self: self.get_name(), doc="The name of the class.")
    label_id = property(lambda self: self.get_id(), doc="The number of the class, -1: unknown.")
    confidence = property(lambda self: self.get_confidence(), doc="0..1.")
    model = property(lambda self: self.get_model(), doc="The name of the model that gave an attribute, else None.")


class Mask(_Fields, Sightline.Mask, metaclass=_Documented):
    """A grid of cells, a byte each, row by row: data, width, height.

    numpy.frombuffer(mask.data, numpy.uint8).reshape(mask.height, mask.width) makes an array of it.
    """

    _fields = ("data", "width", "height")
    data = property(lambda self: bytes(self.get_cells()), doc="The cells, as bytes.")
    width = property(lambda self: self.get_width(), doc="Cells in a row.")
    height = property(lambda self: self.get_height(), doc="Rows.")
    box = property(lambda self: self.get_box(), doc="The Box that the grid covers, in pixels of the frame.")


class Object(Sightline.Object, metaclass=_Documented):
    """One object that was found. It belongs to its Predictions, and keeps them."""

    predictions = property(lambda self: self.get_predictions(), doc="The Predictions that it is one of.")
    index = property(lambda self: self.get_index(), doc="Its place among them.")
    label = property(lambda self: self.get_label(), doc="What it is.")
    label_id = property(lambda self: self.get_label_id(), doc="The number of its class, -1: unknown.")
    confidence = property(lambda self: self.get_confidence(), doc="How sure the model is, 0..1.")
    box = property(lambda self: self.get_box(), doc="Where it is, a Box in pixels of the frame.")
    track_id = property(lambda self: self.get_track_id() or None, doc="Its number from frame to frame where the pipeline tracks objects, else None.")
    parent = property(lambda self: self.get_parent(), doc="The Object inside which a further model found this one, else None.")
    mask = property(lambda self: self.get_mask(), doc="A Mask over the box's whole pixels, 128..255 where the object is, or None.")
    keypoints = property(lambda self: self.get_keypoints(), doc="A list of Keypoint.")
    attributes = property(lambda self: self.get_attributes(), doc="A list of Label: what further models say of this object.")
    symbology = property(lambda self: self.get_symbology(), doc="The kind of code that was read here, such as 'qr-code', or None.")
    text = property(lambda self: self.get_text(), doc="What the code that was read here says, or None: payload has what is no text.")
    add_on = property(lambda self: self.get_add_on(), doc="The two or five digits beside the EAN or UPC code that was read here, or None.")
    payload = property(lambda self: bytes(self.get_payload()) if self.symbology else None, doc="The bytes of the code that was read here, or None.")
    corners = property(lambda self: [(point.x, point.y) for point in self.get_corners()], doc="Four points (x, y) of the code that was read here.")

    @property
    def relative_box(self):
        """Where it is, as (x_min, y_min, x_max, y_max) in 0..1 of the frame."""
        x, y, width, height = self.get_relative_box()
        return (x, y, x + width, y + height)

    def __repr__(self):
        return "<Object %r %.3f at %.1f,%.1f, %.1f x %.1f>" % (self.label, self.confidence, *self.box)


class Output(Sightline.Output, metaclass=_Documented):
    """An output tensor of a model, as decoder "none" gives them: name, dtype, shape, scale, zero_point.

    numpy.asarray(output) is an array over its memory, which is not copied and stays as long as the array. data is the same as bytes.
    """

    name = property(lambda self: self.get_name(), doc="What the model calls it.")
    dtype = property(lambda self: self.get_dtype(), doc="Type of its numbers, as NumPy calls it.")
    shape = property(lambda self: tuple(self.get_shape()), doc="Sizes, outermost first.")
    scale = property(lambda self: self.get_scale(), doc="number = (stored - zero_point) * scale; 0 where it is not quantised.")
    zero_point = property(lambda self: self.get_zero_point(), doc="What means 0 in a quantised tensor.")

    @property
    def data(self):
        """Its bytes: a memoryview that cannot be written."""
        size = self._item_size()
        for length in self.shape:
            size *= length
        memory = type("Memory", (ctypes.c_char * size,), {}).from_address(self.get_address())
        memory.owner = self
        return memoryview(memory).toreadonly().cast("B")

    @property
    def __array_interface__(self):
        kind = {"f": "f", "i": "i", "u": "u", "b": "b"}[self.dtype[0]]
        order = {"little": "<", "big": ">"}[sys.byteorder] if self._item_size() > 1 else "|"
        return {"version": 3, "shape": self.shape, "typestr": "%s%s%d" % (order, kind, self._item_size()), "data": (self.get_address(), True)}

    def _item_size(self):
        return int(self.dtype.lstrip("abcdefghijklmnopqrstuvwxyz") or 8) // 8

    def __repr__(self):
        return "<Output %r %s%s>" % (self.name, self.dtype, list(self.shape))


class Predictions(Sightline.Predictions, metaclass=_Documented):
    """What a model saw in one frame: a sequence of Object, best first, with the frame's labels and mask beside them.

    len(), indices, slices, `in` and iteration are about objects. It is true even when nothing was found.
    """

    def __len__(self):
        return self.get_n_objects()

    def __bool__(self):
        return True

    def __getitem__(self, index):
        if isinstance(index, slice):
            return self.get_objects()[index]
        at = index + len(self) if index < 0 else index
        if not 0 <= at < len(self):
            raise IndexError("object %d of %d" % (index, len(self)))
        return self.get_object(at)

    def __iter__(self):
        return iter(self.get_objects())

    @property
    def labels(self):
        """A list of Label of the whole frame, best first."""
        return self.get_labels()

    @property
    def mask(self):
        """A Mask of the whole frame, the number of its class in each cell, or None."""
        return self.get_class_mask()

    @property
    def outputs(self):
        """A list of Output: the model's tensors, where its decoder is "none"."""
        return self.get_outputs()

    def __repr__(self):
        return "<Predictions of a frame of %dx%d: %d objects, %d labels>" % (self.get_width(), self.get_height(), len(self), len(self.labels))


def _set_known(self, name, value):
    """__setattr__ of a class of ours: a misspelt name would become an attribute that nobody reads."""
    if not name.startswith("_") and not hasattr(type(self), name):
        properties = [spec.name.replace("-", "_") for spec in self.list_properties()]
        near = difflib.get_close_matches(name, properties, 1)
        raise AttributeError("%s has no attribute '%s'%s" % (type(self).__name__, name, "; did you mean props.%s?" % near[0] if near else
                                                             ": properties are props.NAME, of %s" % ", ".join(properties)))
    object.__setattr__(self, name, value)


class Predictor(Sightline.Predictor):
    """A model that predicts frames in memory, in the calling thread.

    Predictor.new(path) loads it; Predictor(model=path, mean="127.5") sets properties first. Any thread may call it; calls wait for each
    other, so threads share a model with Predictor.new_shared(other). Errors are GLib.Error.
    """

    __setattr__ = _set_known

    def predict_bytes(self, format, width, height, data):
        """Predictions of pixels: bytes, a NumPy array of uint8, or anything with the buffer protocol; rows without padding."""
        return Sightline.Predictor.predict_bytes(self, format, width, height, _bytes(data))

    def predict_array(self, array, format=None):
        """Predictions of an array of shape (height, width) or (height, width, channels): GRAY8, RGB or RGBA unless format says other."""
        return self.predict_bytes(*_describe(array, format), array)


for _class in (Box, Frame, Keypoint, Label, Mask, Object, Output, Predictions, Predictor):
    globals()[_class.__name__] = override(_class)
    __all__.append(_class.__name__)
