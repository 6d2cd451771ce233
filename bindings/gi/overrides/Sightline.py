# SPDX-License-Identifier: LGPL-2.1-or-later
"""What gi adds to Sightline for Python: pixels in any buffer, predictions as sequences, docstrings."""
from collections import namedtuple

from gi.module import get_introspection_module
from gi.overrides import override
from gi.repository import GLib

Sightline = get_introspection_module("Sightline")
__all__ = []

Box = namedtuple("Box", "x y width height")
Box.__doc__ = "A rectangle in pixels of the frame; numbers are not rounded."
Keypoint = namedtuple("Keypoint", "name x y confidence")
Keypoint.__doc__ = "A point of an object, in pixels of the frame; name is None where the model has none."
Label = namedtuple("Label", "label label_id confidence")
Label.__doc__ = "A label of the frame or of an object: its text, the number of its class (-1: unknown), 0..1."
Mask = namedtuple("Mask", "data width height")
Mask.__doc__ = "Cells row by row, a byte each: numpy.frombuffer(mask.data, numpy.uint8).reshape(mask.height, mask.width)."


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


class Object:
    """One object that was found. It belongs to its Predictions, and keeps them."""

    def __init__(self, predictions, index):
        self.predictions, self.index = predictions, index

    @property
    def label(self):
        """What it is."""
        return self.predictions.get_object_label(self.index)

    @property
    def label_id(self):
        """The number of its class, -1: unknown."""
        return self.predictions.get_object_label_id(self.index)

    @property
    def confidence(self):
        """How sure the model is, 0..1."""
        return self.predictions.get_object_confidence(self.index)

    @property
    def box(self):
        """Where it is, a Box in pixels of the frame."""
        return Box(*self.predictions.get_object_box(self.index))

    @property
    def relative_box(self):
        """Where it is, as (x_min, y_min, x_max, y_max) in 0..1 of the frame."""
        return tuple(self.predictions.get_object_relative_box(self.index))

    @property
    def id(self):
        """Its number from frame to frame where the pipeline tracks objects, else None."""
        return self.predictions.get_object_id(self.index) or None

    @property
    def parent(self):
        """The Object inside which a further model found this one, else None."""
        parent = self.predictions.get_object_parent(self.index)
        return Object(self.predictions, parent) if parent >= 0 else None

    @property
    def keypoints(self):
        """A list of Keypoint."""
        found = self.predictions
        return [Keypoint(found.get_keypoint_name(i), *found.get_keypoint(self.index, i)) for i in range(found.get_n_keypoints(self.index))]

    @property
    def details(self):
        """A list of Label: what further models say of this object."""
        found = self.predictions
        return [Label(*found.get_object_detail(self.index, i)[:3]) for i in range(found.get_n_object_details(self.index))]

    @property
    def mask(self):
        """A Mask over the box's whole pixels, 128..255 where the object is, or None."""
        data, _, _, _, _, width, height = self.predictions.get_object_mask(self.index)
        return Mask(data.get_data(), width, height) if data is not None else None

    def __repr__(self):
        return "<Object %r %.3f at %.1f,%.1f, %.1f x %.1f>" % (self.label, self.confidence, *self.box)


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
            return [Object(self, i) for i in range(*index.indices(len(self)))]
        at = index + len(self) if index < 0 else index
        if not 0 <= at < len(self):
            raise IndexError("object %d of %d" % (index, len(self)))
        return Object(self, at)

    def __iter__(self):
        return (Object(self, i) for i in range(len(self)))

    @property
    def labels(self):
        """A list of Label of the whole frame, best first."""
        return [Label(self.get_label(i), self.get_label_id(i), self.get_label_confidence(i)) for i in range(self.get_n_labels())]

    @property
    def mask(self):
        """A Mask of the whole frame, the number of its class in each cell, or None."""
        data, width, height = self.get_mask()
        return Mask(data.get_data(), width, height) if data is not None else None

    def __repr__(self):
        return "<Predictions of a frame of %dx%d: %d objects, %d labels>" % (self.get_width(), self.get_height(), len(self), self.get_n_labels())


class Predictor(Sightline.Predictor):
    """A model that predicts frames in memory, in the calling thread.

    Predictor.new(path) loads it; Predictor(model=path, mean="127.5") sets properties first. Any thread may call it; calls wait for each
    other, so threads share a model with Predictor.new_shared(other). Errors are GLib.Error.
    """

    def predict_bytes(self, format, width, height, data):
        """Predictions of pixels: bytes, a NumPy array of uint8, or anything with the buffer protocol; rows without padding."""
        return Sightline.Predictor.predict_bytes(self, format, width, height, _bytes(data))

    def predict_array(self, array, format=None):
        """Predictions of an array of shape (height, width) or (height, width, channels): GRAY8, RGB or RGBA unless format says other."""
        return self.predict_bytes(*_describe(array, format), array)


for _class in (Frame, Predictions, Predictor):
    globals()[_class.__name__] = override(_class)
    __all__.append(_class.__name__)
__all__ += ["Box", "Keypoint", "Label", "Mask", "Object"]
