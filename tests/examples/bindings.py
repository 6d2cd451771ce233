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
    assert "uint8[1,8,8,3]" in predictor.dup_summary()
    predictor.props.threshold = 0.5
    found = predictor.predict_bytes("RGB", 20, 10, GLib.Bytes.new(BLUE * 200))
    assert found.get_n_objects() == 1 and found.get_object_label(0) == "blue" and found.get_object_label_id(0) == 1
    near(found.get_object_box(0), (0, 2.5, 10, 5))
    near(found.get_object_relative_box(0), (0, 0.25, 0.5, 0.75))
    assert (found.get_width(), found.get_height(), found.get_frame_number()) == (20, 10, 0)
    known, age, preprocess, inference, decode = found.get_latency()
    assert known and age == preprocess + inference + decode
    assert found.get_mask() == (None, 0, 0) and found.get_n_mask_classes() == 0
    assert found.get_object_id(0) == 0 and found.get_object_mask(0)[0] is None
    assert found.get_n_keypoints(0) == 0 and found.get_n_bones() == 0 and found.get_source() is None


def test_properties_first():
    predictor = Sightline.Predictor(model=model("float_range.tflite"), mean="0", std="255", threads=2, source="here")
    assert predictor.load()
    found = predictor.predict_bytes("RGB", 2, 2, GLib.Bytes.new(BLUE * 4))
    assert found.get_label_id(0) == 2 and found.get_source() == "here"
    near((found.get_label_confidence(0),), (0.8,))


def test_frames():
    layout = Sightline.Frame.new_with_layout("NV12", 4, 4, GLib.Bytes.new(bytes(range(64))), [0, 32], [8, 8])
    layout.set_colorimetry(Sightline.FrameMatrix.BT709, True)
    layout.set_timestamp(5)
    assert (layout.get_format(), layout.get_width(), layout.get_height(), layout.get_n_planes()) == ("NV12", 4, 4, 2)
    assert layout.get_timestamp() == 5 and layout.get_matrix() == Sightline.FrameMatrix.BT709 and layout.get_full_range()
    assert layout.get_data().get_size() == 64
    assert "NV12" in Sightline.frame_list_formats() and Sightline.frame_packed_size("RGB", 3, 3) == 27
    found = Sightline.Predictor.new(model("brightest_channel.tflite")).predict(layout)
    assert found.get_timestamp() == 5 and found.get_n_labels() == 1


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
            found.append(predictor.predict_bytes("RGB", 2, 2, GLib.Bytes.new(BLUE * 4)).get_object_label(0))

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
    assert found.get_n_keypoints(0) == 17 and found.get_keypoint_name(0) == "nose"
    assert len(found.get_keypoint(0, 0)) == 3 and len(found.get_bone(0)) == 2
    dog = Sightline.Predictor.new(data("models", "deeplabv3_mnv2_dm05_pascal_quant.tflite"))
    with open(data("golden", "deeplabv3_mnv2_dm05_pascal_quant.dog_segmentation.in"), "rb") as file:
        found = dog.predict_bytes("RGB", 513, 513, GLib.Bytes.new(file.read()))
    mask, width, height = found.get_mask()
    assert (width, height, mask.get_size()) == (513, 513, 513 * 513)
    name, label_id, fraction = found.get_mask_class(0)
    assert mask.get_data().count(bytes((label_id,))) == round(fraction * 513 * 513)


def test_pull():
    pipeline = Pipeline.new_from_string("videotestsrc pattern=blue num-buffers=5 ! video/x-raw,format=RGB ! " + CHAIN,
                                        {"model": model("brightest_channel.tflite")})
    pipeline.props.max_predictions = 10
    assert pipeline.list_parameters() == ["model"] and pipeline.dup_parameter("model") == model("brightest_channel.tflite")
    pipeline.dup_element("results").props.top_k = 2
    assert pipeline.start()
    found = []
    while (predictions := pipeline.pull_predictions(100000000)) is not None:
        found.append((predictions.get_label(0), predictions.get_n_labels()))
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
    pipeline.connect("predictions", lambda pipeline, predictions: found.append(predictions.get_label(0)))
    pipeline.connect("state-changed", on_state_changed)
    pipeline.start()
    for rgb in ((9, 0, 0), (0, 9, 0), (0, 0, 9)):
        assert pipeline.push_frame(Sightline.Frame.new("RGB", 1, 1, GLib.Bytes.new(bytes(rgb))))
    assert pipeline.end_frames()
    loop.run()
    pipeline.stop()
    assert found == ["red", "green", "blue"] and states == [State.STARTING, State.RUNNING, State.ENDED], (found, states)


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
