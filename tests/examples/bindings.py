# SPDX-License-Identifier: LGPL-2.1-or-later
"""The whole API through its typelibs: every function is called, and errors arrive as exceptions. Arguments: ANYTHING MAKE_MODELS."""
import os
import sys
import threading

import gi

gi.require_version("Sightline", "1.0")
gi.require_version("SightlinePipeline", "1.0")
from gi.repository import GLib, Sightline, SightlinePipeline

sys.path[:0] = [os.path.join(os.environ["SIGHTLINE_SOURCE_ROOT"], "tests", "cli")]
import harness
from clips import clip, qr, way
from harness import Skip, data, model, work

Pipeline, State = SightlinePipeline.Pipeline, SightlinePipeline.PipelineState
BLUE = bytes((0, 51, 204))
CHAIN = "slnormalize ! slinfer model=${model} ! slpostprocess name=results ! fakesink"


def near(got, expected, tolerance=0.005):
    assert len(got) == len(expected) and all(abs(a - b) <= tolerance for a, b in zip(got, expected)), (got, expected)


def expect_error(code, message, function, *args):
    try:
        function(*args)
    except GLib.Error as error:
        assert error.matches(Sightline.error_quark(), code) and message in error.message, error
    else:
        raise AssertionError("expected an error with '%s'" % message)


def test_predictor():
    predictor = Sightline.Predictor.new(model("one_box.tflite"))
    assert predictor.get_input_size() == (True, 8, 8)
    predictor.reset()
    assert "uint8[1,8,8,3]" in predictor.dup_summary()
    predictor.props.threshold = 0.5
    found = predictor.predict_bytes("RGB", 20, 10, GLib.Bytes.new(BLUE * 200))
    thing = found.get_object(0)
    assert found.get_n_objects() == 1 and thing.get_label() == "blue" and thing.get_label_id() == 1
    near(thing.get_box(), (0, 2.5, 10, 5))
    near(thing.get_relative_box(), (0, 0.25, 0.5, 0.5))
    assert (found.get_width(), found.get_height(), found.get_frame_number()) == (20, 10, 0)
    known, age, preprocess, inference, decode = found.get_latency()
    assert known and age == preprocess + inference + decode
    assert found.get_class_mask() is None and found.get_n_mask_classes() == 0
    assert thing.get_track_id() == 0 and thing.get_mask() is None
    assert thing.get_keypoints() == [] and found.get_n_bones() == 0 and found.get_source() is None


def test_properties_first():
    predictor = Sightline.Predictor(model=model("float_range.tflite"), mean="0", std="255", decoder="labels", threads=2, source="here")
    assert predictor.load()
    found = predictor.predict_bytes("RGB", 2, 2, GLib.Bytes.new(BLUE * 4))
    assert found.labels[0].label_id == 2 and found.get_source() == "here"
    near((found.labels[0].confidence,), (0.8,))


def expect_unknown(thing, name, message):
    try:
        setattr(thing, name, 0.3)
    except AttributeError as error:
        assert str(error) == message, error
    else:
        raise AssertionError("%s was set" % name)


def test_exported():
    """Programs of torch.export, in both forms of the archive."""
    for form in ("channels.pt2", "channels.v0.pt2"):
        predictor = Sightline.Predictor.new(model(form))
        assert "float32[1,3,8,8]" in predictor.dup_summary()
        found = predictor.predict_bytes("RGB", 2, 2, GLib.Bytes.new(BLUE * 4))
        assert found.labels[0].label == "blue", found.to_json()


def test_unknown_attributes():
    """A property's name alone, or misspelt, is no attribute."""
    predictor = Sightline.Predictor.new(model("one_box.tflite"))
    pipeline = Pipeline.new_from_string("videotestsrc num-buffers=1 ! fakesink", None)
    expect_unknown(predictor, "treshold", "Predictor has no attribute 'treshold'; did you mean props.threshold?")
    expect_unknown(predictor, "threshold", "Predictor has no attribute 'threshold'; did you mean props.threshold?")
    expect_unknown(pipeline, "max_prediction", "Pipeline has no attribute 'max_prediction'; did you mean props.max_predictions?")
    try:
        predictor.props.treshold = 0.3
    except AttributeError:
        pass
    else:
        raise AssertionError("props.treshold was set")


def test_frames():
    layout = Sightline.Frame.new_with_layout("NV12", 4, 4, GLib.Bytes.new(bytes(range(64))), [0, 32], [8, 8])
    layout.set_colorimetry(Sightline.FrameMatrix.BT709, True)
    layout.set_timestamp(5)
    assert (layout.get_format(), layout.get_width(), layout.get_height(), layout.get_n_planes()) == ("NV12", 4, 4, 2)
    assert layout.get_timestamp() == 5 and layout.get_matrix() == Sightline.FrameMatrix.BT709 and layout.get_full_range()
    assert layout.get_data().get_size() == 64
    formats = Sightline.frame_dup_formats()
    assert "NV12" in formats and len(set(formats)) == len(formats) >= 22
    assert Sightline.frame_packed_size("RGB", 3, 3) == 27
    found = Sightline.Predictor.new(model("brightest_channel.tflite")).predict(layout)
    assert found.get_timestamp() == 5 and len(found.labels) == 1


def test_errors():
    predictor = Sightline.Predictor.new(model("one_box.tflite"))
    data_of_3 = GLib.Bytes.new(b"abc")
    expect_error(Sightline.Error.OPEN, "no such file", Sightline.Predictor.new, work("none.tflite"))
    expect_error(Sightline.Error.SHAPE, "expected 12 bytes", predictor.predict_bytes, "RGB", 2, 2, data_of_3)
    expect_error(Sightline.Error.UNSUPPORTED, "pixel format 'xyz'", Sightline.Frame.new, "xyz", 1, 1, data_of_3)
    expect_error(Sightline.Error.ARGUMENT, "expected 1 plane, got 2", Sightline.Frame.new_with_layout, "RGB", 1, 1, data_of_3, [0, 0], [3, 3])


def test_threads():
    first = Sightline.Predictor.new(model("one_box.tflite"))
    predictors = [first] + [Sightline.Predictor.new_shared(first) for _ in range(3)]
    found = []

    def work_on(predictor):
        for _ in range(20):
            found.append(predictor.predict_bytes("RGB", 2, 2, GLib.Bytes.new(BLUE * 4))[0].label)

    threads = [threading.Thread(target=work_on, args=(predictor,)) for predictor in predictors]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == ["blue"] * 80


def test_pose_and_mask():
    person = Sightline.Predictor.new(data("models", "movenet_single_pose_lightning_ptq.tflite"))
    with open(data("golden", "movenet_single_pose_lightning_ptq.person.in"), "rb") as file:
        found = person.predict_bytes("RGB", 192, 192, GLib.Bytes.new(file.read()))
    assert len(found[0].keypoints) == 17 and found[0].keypoints[0].name == "nose" and len(tuple(found[0].keypoints[0])) == 4
    assert found.get_keypoint_names() == [point.name for point in found[0].keypoints]
    assert len(found.get_bone(0)) == 2
    dog = Sightline.Predictor.new(data("models", "deeplabv3_mnv2_dm05_pascal_quant.tflite"))
    with open(data("golden", "deeplabv3_mnv2_dm05_pascal_quant.dog_segmentation.in"), "rb") as file:
        found = dog.predict_bytes("RGB", 513, 513, GLib.Bytes.new(file.read()))
    mask, width, height = found.mask
    assert (width, height, len(mask)) == (513, 513, 513 * 513) and found.mask.box == (0, 0, 513, 513)
    assert found.get_mask_class_names() == [found.get_mask_class(i)[0] for i in range(found.get_n_mask_classes())]
    name, label_id, fraction = found.get_mask_class(0)
    assert mask.count(bytes((label_id,))) == round(fraction * 513 * 513)


def test_buffers():
    """Pixels in whatever has the buffer protocol; what has not, or is no byte, is an exception of Python's."""
    predictor = Sightline.Predictor.new(model("one_box.tflite"))
    pixels = BLUE * 200
    for data_of in (bytes, bytearray, memoryview, GLib.Bytes.new):
        assert predictor.predict_bytes("RGB", 20, 10, data_of(pixels))[0].label == "blue"
    assert Sightline.Frame.new("RGB", 20, 10, pixels).get_data().get_data() == pixels
    assert Sightline.Frame.new_with_layout("RGB", 1, 2, bytearray(range(16)), [1], [8]).get_height() == 2
    expect_error(Sightline.Error.SHAPE, "expected 600 bytes", predictor.predict_bytes, "RGB", 20, 10, b"abc")
    import array

    for wrong, kind, message in ((array.array("f", [0] * 600), ValueError, "expected items of 1 byte, got items of 4 bytes (format 'f')"),
                                 ("text", TypeError, "bytes-like"), ([1, 2, 3], TypeError, "bytes-like"), (None, TypeError, "bytes-like")):
        try:
            predictor.predict_bytes("RGB", 20, 10, wrong)
        except kind as error:
            assert message in str(error), error
        else:
            raise AssertionError("%r was taken" % (wrong,))


def test_numpy():
    try:
        import numpy
    except ImportError:
        raise Skip("this Python has no NumPy")
    predictor = Sightline.Predictor.new(model("brightest_channel.tflite"))
    wide = numpy.zeros((10, 40, 3), numpy.uint8)
    wide[:, 20:] = (0, 51, 204)
    for array, format, label in ((wide, None, "blue"), (wide[:, 20:], None, "blue"), (wide[::-1, ::2], None, "blue"), (wide, "BGR", "red"),
                                 (numpy.dstack([wide, wide[..., :1]]), None, "blue")):
        found = predictor.predict_array(array, format)
        assert found.labels[0].label == label, (array.shape, format)
        assert (found.get_width(), found.get_height()) == (array.shape[1], array.shape[0])
        near((found.labels[0].confidence,), (array.reshape(-1, array.shape[-1]).mean(axis=0).max() / 255,))
    assert predictor.predict_bytes("RGB", 40, 10, wide).labels[0].label == "blue"
    assert Sightline.Frame.new_from_array(wide[..., 2]).get_format() == "GRAY8"
    for wrong in (wide.astype(numpy.float32), wide[0, 0], wide[..., :2], wide.reshape(1, 10, 40, 3)):
        try:
            predictor.predict_array(wrong)
        except ValueError as error:
            assert "expected" in str(error)
        else:
            raise AssertionError("%s %s was taken" % (wrong.shape, wrong.dtype))


def test_sequence():
    """Predictions as a sequence say what the functions say."""
    found = Sightline.Predictor.new(model("one_box.tflite")).predict_bytes("RGB", 20, 10, BLUE * 200)
    assert len(found) == found.get_n_objects() > 0
    thing = found[0]
    assert (thing.label, thing.label_id, thing.confidence) == ("blue", 1, found.get_object(0).get_confidence())
    assert tuple(thing.box) == tuple(thing.get_box()) and thing.box.width == thing.box[2]
    near(thing.relative_box, (0, 0.25, 0.5, 0.75))
    assert (thing.track_id, thing.parent, thing.mask, thing.keypoints, thing.attributes) == (None, None, None, [], [])
    assert [o.label for o in found] == [o.label for o in found[:]] == [found[i - len(found)].label for i in range(len(found))]
    assert "blue" in repr(thing) and "20x10" in repr(found)
    for index in (len(found), -len(found) - 1):
        try:
            found[index]
        except IndexError:
            continue
        raise AssertionError("there is no object %d" % index)
    nothing = Sightline.Predictor.new(model("brightest_channel.tflite")).predict_bytes("RGB", 1, 1, BLUE)
    assert len(nothing) == 0 and nothing and list(nothing) == [] and nothing.mask is None
    assert [tuple(label) for label in nothing.labels] == [("blue", 2, nothing.get_labels()[0].get_confidence())]
    labels = nothing.labels
    del found, nothing
    assert thing.label == "blue" and thing.predictions[0].box == thing.box and labels[0].label == "blue"


def test_objects_keep_their_predictions():
    """What was taken out of predictions stays what it was when they are gone, and others lie where they lay."""
    predictor = Sightline.Predictor.new(model("one_box.tflite"))
    kept = [predictor.predict_bytes("RGB", 20, 10, BLUE * 200).get_objects()[0] for _ in range(20)]
    boxes = [predictor.predict_bytes("RGB", 20, 10, BLUE * 200)[0].box for _ in range(20)]
    others = [predictor.predict_bytes("RGB", 200, 100, BLUE * 20000) for _ in range(50)]
    near(others[-1][0].box, (0, 25, 100, 50))
    for thing, box in zip(kept, boxes):
        assert (thing.label, thing.index, thing.track_id, thing.attributes) == ("blue", 0, None, [])
        assert (thing.symbology, thing.text, thing.add_on, thing.payload, thing.corners) == (None, None, None, None, [])
        near(box, (0, 2.5, 10, 5))
        near(thing.box, (0, 2.5, 10, 5))


def test_values():
    """A Box and what is like it behave as named tuples do."""
    found = Sightline.Predictor.new(model("one_box.tflite")).predict_bytes("RGB", 20, 10, BLUE * 200)
    x, y, width, height = box = found[0].box
    assert box == (x, y, width, height) == Sightline.Box(x, y, width, height) and box != (x, y) and box != "box"
    assert box[-1] == height and box[:2] == (x, y) and len(box) == 4 and {box: 1}[Sightline.Box(x, y, width, height)] == 1
    assert repr(Sightline.Box(1, 2, 3, 4)) == "Box(x=1.0, y=2.0, width=3.0, height=4.0)"


def outputs():
    predictor = Sightline.Predictor(model=model("brightest_channel.tflite"), decoder="none")
    return predictor.predict_bytes("RGB", 20, 10, BLUE * 200).outputs


def test_outputs():
    output, = outputs()
    assert (output.name, output.dtype, output.shape, output.zero_point) == ("brightness", "uint8", (1, 3), 0), output
    near((output.scale,), (1 / 255,), 1e-6)
    data = output.data
    assert data.readonly and bytes(data) == bytes((0, 51, 204)) and repr(output) == "<Output 'brightness' uint8[1, 3]>"
    assert bytes(output.get_data()) == bytes(data) and output.get_address() % 16 == 0
    del output
    assert data[2] == 204, "the memory stays as long as what looks at it"
    assert Sightline.Predictor.new(model("brightest_channel.tflite")).predict_bytes("RGB", 20, 10, BLUE * 200).outputs == []


class Everything(Sightline.CustomDecoder):
    """Keeps what it was given beyond its time."""

    def do_decode(self, tensors, findings):
        self.kept = tensors.outputs, findings
        for number in (float("nan"), float("inf"), -1e300, 1e300):
            findings.add_object(number, 0, 1, 1, 1, 0)
            findings.add_object(0, 0, 1, 1, number, 0)
        findings.add_object(0, 0, 1, 1, 0.9, -1)
        findings.add_object(0, 0, 1, 1, 0.4, 0)
        findings.add_object(0.5, 0.5, 0.25, 1, 0.9, 0)
        findings.add_object(-1, 0.5, 0.5, 7, 0.75, 2)
        findings.add_object(-1, 0.5, 0.5, 6.9, 0.7, 2)
        findings.add_label(1, 0.625)
        findings.set_values([1.5, -2], False)


def test_custom_decoder():
    decoder = Everything()
    predictor = Sightline.Predictor(model=model("brightest_channel.tflite"), custom_decoder=decoder, decoder="yolo9000")
    assert predictor.props.custom_decoder == decoder and decoder.props.suppress
    shared = Sightline.Predictor.new_shared(predictor)
    for one in (predictor, shared):
        found = one.predict_bytes("RGB", 20, 10, BLUE * 200)
        assert [(thing.label, thing.confidence) for thing in found if thing.label != "red"] == [("blue", 0.75)], list(found)
        near(found[-1].box, (0, 5, 10, 5))
        assert found.labels[0].label == "green" and found.get_values() == [1.5, -2]
    outputs, findings = decoder.kept
    assert bytes(outputs[0].data) == bytes((0, 51, 204))
    findings.add_object(0, 0, 1, 1, 1, 0)
    findings.add_label(0, 1)
    findings.set_values([1], True)
    both = Sightline.Predictor(model=model("brightest_channel.tflite"), custom_decoder=Everything(suppress=False))
    assert len([thing for thing in both.predict_bytes("RGB", 20, 10, BLUE * 200) if thing.label == "blue"]) == 2
    predictor.props.custom_decoder = None
    expect_error(Sightline.Error.ARGUMENT, "got 'yolo9000'", predictor.predict_bytes, "RGB", 20, 10, BLUE * 200)
    assert not Sightline.Predictor(model=model("one_box.tflite"), custom_decoder=Sightline.CustomDecoder()).predict_bytes("RGB", 20, 10, BLUE * 200).labels


def test_outputs_numpy():
    try:
        import numpy
    except ImportError:
        raise Skip("this Python has no NumPy")
    kept = outputs()
    array = numpy.asarray(kept[0])
    assert array.dtype == numpy.uint8 and array.shape == (1, 3) and not array.flags.writeable
    assert array.__array_interface__["data"][0] == kept[0].get_address(), "it is not copied"
    del kept
    assert array.tolist() == [[0, 51, 204]]


def test_docstrings():
    for what in (Sightline.Box, Sightline.Frame, Sightline.Keypoint, Sightline.Label, Sightline.Mask, Sightline.Object, Sightline.Predictions,
                 Sightline.Predictor, Pipeline):
        assert what.__doc__ and "introspection" not in what.__doc__ and len(what.__doc__.splitlines()[0]) < 120, what
    for what in (Sightline.Predictor.predict_bytes, Sightline.Predictor.predict_array, Sightline.Frame.new, Sightline.Frame.new_with_layout):
        assert what.__doc__, what


def test_iteration():
    text = "videotestsrc pattern=blue num-buffers=5 ! video/x-raw,format=RGB ! " + CHAIN
    pipeline = Pipeline.new_from_string(text, {"model": model("one_box.tflite")})
    pipeline.props.max_predictions = 10  # before the start: the default is fewer than frames here
    with pipeline:
        assert [[o.label for o in found] for found in pipeline] == [["blue"]] * 5
    assert pipeline.get_state() in (State.STOPPED, State.ENDED)
    broken = Pipeline.new_from_string("videotestsrc ! identity error-after=3 ! " + CHAIN, {"model": model("one_box.tflite")})
    broken.start()
    try:
        for found in broken:
            assert len(found) == 1
    except GLib.Error as error:
        assert "identity" in error.message, error
    else:
        raise AssertionError("a pipeline that failed ended without an error")


def test_pull():
    pipeline = Pipeline.new_from_string("videotestsrc pattern=blue num-buffers=5 ! video/x-raw,format=RGB ! " + CHAIN,
                                        {"model": model("brightest_channel.tflite")})
    pipeline.props.max_predictions = 10
    assert pipeline.list_parameters() == ["model"] and pipeline.dup_parameter("model") == model("brightest_channel.tflite")
    pipeline.dup_element("results").props.top_k = 2
    assert pipeline.start()
    found = []
    while (predictions := pipeline.pull_predictions(100000000)) is not None:
        found.append((predictions.labels[0].label, len(predictions.labels)))
    assert found == [("blue", 2)] * 5 and pipeline.get_state() == State.ENDED
    stats = pipeline.get_stats().unpack()
    assert stats["predictions"] == 5 and stats["state"] == "ended", stats


def test_push_and_signals():
    pipeline = Pipeline.new_from_string("appsrc name=source block=true ! " + CHAIN, {"model": model("brightest_channel.tflite")})
    loop, found, states = GLib.MainLoop(), [], []

    def on_state_changed(pipeline, before, state):
        states.append(state)
        if state == State.ENDED:
            loop.quit()

    pipeline.props.max_predictions = 10
    pipeline.connect("predictions", lambda pipeline, predictions: found.append(predictions.labels[0].label))
    pipeline.connect("state-changed", on_state_changed)
    pipeline.start()
    for rgb in ((9, 0, 0), (0, 9, 0), (0, 0, 9)):
        assert pipeline.push_frame(Sightline.Frame.new("RGB", 1, 1, GLib.Bytes.new(bytes(rgb))))
    assert pipeline.end_frames()
    loop.run()
    pipeline.stop()
    assert found == ["red", "green", "blue"] and states == [State.STARTING, State.RUNNING, State.ENDED], (found, states)


def test_analysis_events():
    """A code goes down over a line into a zone, and up again; what is found does not say so, the signal does."""
    places, code = way((0, 100, 0), (25, 100, 115), (35, 100, 115), (60, 100, 0), (65, 100, 0)), qr()
    pipeline = Pipeline.new_from_string(
        "slcamera uri=${clip} ! slpredict threshold=0.1 ! sltrack ! slanalyze name=a relink=-1 "
        "regions=\"[line way] points=0,0.5 1,0.5; [zone below] points=0,0.6 1,0.6 1,1 0,1; dwell-after=1s\" ! fakesink",
        {"clip": clip("analysed.avi", [[(code, place)] for place in places])})
    loop, told, crossed = GLib.MainLoop(), [], []

    def on_event(pipeline, event, region, details):
        details = details.unpack()
        assert details["label"] == "qr" and details["id"] == 1 and details["element"] == "a", details
        told.append((event, region))

    pipeline.connect("analysis-event", on_event)
    pipeline.connect("analysis-event::out", lambda pipeline, event, region, details: crossed.append(details.unpack()["timestamp"]))
    pipeline.connect("state-changed", lambda pipeline, before, state: loop.quit() if state in (State.ENDED, State.FAILED) else None)
    pipeline.start()
    loop.run()
    pipeline.stop()
    assert told == [("in", "way"), ("entered", "below"), ("dwell", "below"), ("left", "below"), ("out", "way")], told
    up = next(i for i in range(35, 65) if code.bottom(places[i])[1] < 0.48 * 240)
    assert len(crossed) == 1 and abs(crossed[0] / 1e9 - up / 10) < 0.4, (crossed, up)


def test_pipeline_errors():
    frame = Sightline.Frame.new("GRAY8", 1, 1, GLib.Bytes.new(b"x"))
    pipeline = Pipeline.new_from_string("videotestsrc ! " + CHAIN, {"model": work("none.tflite")})
    expect_error(Sightline.Error.OPEN, "none.pipeline", Pipeline.new_from_file, work("none.pipeline"), None)
    expect_error(Sightline.Error.ARGUMENT, "this one is stopped", pipeline.push_frame, frame)
    expect_error(Sightline.Error.ARGUMENT, "no element with name=nobody", pipeline.dup_element, "nobody")
    try:
        pipeline.start()
    except GLib.Error as error:
        assert "none.tflite" in error.message
    else:
        raise AssertionError("a pipeline started without its model")
    assert pipeline.props.state == State.FAILED


harness.main(globals())
