# SPDX-License-Identifier: LGPL-2.1-or-later
"""The Python examples, run with the Python that this script runs with. Arguments: PREDICT_PICTURE MAKE_MODELS."""
import json
import os
import re
import signal
import subprocess
import sys

ROOT = os.environ["SIGHTLINE_SOURCE_ROOT"]
sys.path[:0] = [os.path.join(ROOT, "tests", "cli")]
import harness
from harness import data, model, run, work, write
from figures import shows_figures
from pictures import ppm, ppm_of_bmp


def command(name, *args):
    return [sys.executable, "-B", os.path.join(ROOT, "examples", "python", name), *args]


def example(name, *args, timeout=200):
    done = subprocess.run(command(name, *args), stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout)
    return harness.Result(done.returncode, done.stdout.decode(), done.stderr.decode())


def test_predict_picture():
    picture = ppm("p.ppm", 200, 100, (0, 51, 204))
    for name in ("brightest_channel.tflite", "one_box.tflite"):
        assert example("predict_picture.py", model(name), picture).expect(0).out == run(model(name), picture).expect(0).out != ""


def test_predict_picture_real():
    m = data("models", "ssd_mobilenet_v1.tflite")
    picture = ppm_of_bmp("cat.ppm", data("images", "cat.bmp"))
    assert example("predict_picture.py", m, picture).expect(0).out == run(m, picture).expect(0).out != ""


def test_predict_picture_errors():
    m = model("brightest_channel.tflite")
    example("predict_picture.py").expect(1, "usage: ")
    example("predict_picture.py", work("none.tflite"), m).expect(1, "predict_picture.py: ", "none.tflite: no such file")
    example("predict_picture.py", m, work("none.ppm")).expect(1, "none.ppm")
    example("predict_picture.py", m, write("text.ppm", b"P5 1 1 255 x")).expect(1, "expected a binary PPM picture that begins with P6")
    example("predict_picture.py", m, write("short.ppm", b"P6\n9 9\n255\nabc")).expect(1, "frame RGB 9x9: expected 243 bytes")


def test_custom_decoder():
    try:
        import numpy
    except ImportError:
        raise harness.Skip("this Python has no NumPy")
    assert numpy
    pixels = b"".join(bytes((0, 0, 204 if x >= 6 and y >= 6 else 0)) for y in range(8) for x in range(8))
    result = example("custom_decoder.py", model("brightest_quarter.tflite"), write("corner.ppm", b"P6\n8 8\n255\n" + pixels)).expect(0)
    assert result.out == "0.800 blue 6.0 6.0 2.0 2.0\n", result
    with open(os.path.join(ROOT, "examples", "python", "custom_decoder.py"), encoding="utf-8") as file:
        assert len(file.readlines()) < 25


def test_watch():
    result = example("watch.py", "--no-window", "--frames", "4", model("one_box.tflite"),
                     "videotestsrc pattern=blue num-buffers=4 ! video/x-raw,width=64,height=64,framerate=30/1").expect(0)
    frames = [json.loads(line) for line in result.out.splitlines()]
    assert [f["frame"] for f in frames] == [0, 1, 2, 3], result
    assert all(f["objects"][0]["roi_type"] == "blue" for f in frames), result


def test_watch_errors():
    example("watch.py", "--no-window", work("none.tflite")).expect(1, "watch.py: ", "none.tflite: no such file")
    example("watch.py", "--no-window", model("one_box.tflite"), "nosuchsrc").expect(1, "nosuchsrc")
    example("watch.py", "--no-window", model("one_box.tflite"), "videotestsrc ! identity name=fragile error-after=3").expect(1, "fragile: ")


PEOPLE = """[pipeline]
launch=videotestsrc num-buffers=20 pattern=solid-color foreground-color=${colour} ! video/x-raw,format=RGB,width=64,height=64,framerate=25/1 !
 slpredict model=%s ! sltrack appearance=%s appearance-batch=1 appearance-settings="mean=127.5 std=127.5" ! fakesink
[parameters]
colour=0xff00ff00
[gallery]
location=%s
keep=7d
"""


def test_people():
    """A person is known again in the next run, and another one is new."""
    path = write("door.pipeline", (PEOPLE.replace("!\n ", "! ") % (model("one_box.tflite"), model("looks.onnx"), work("p.gallery"))).encode())
    for colour, person in (("0xff00ff00", 1), ("0xff00ff00", 1), ("0xff0000ff", 2)):
        result = example("people.py", path, "colour=" + colour).expect(0)
        assert re.fullmatch(r"person %d, confidence (1\.00|0\.[5-9]\d), seen by door\n" % person, result.out), result


def test_people_texts():
    """Lines of frames as sltext writes them: each text of an object once, until it changes."""
    code = ("import sys; sys.path[:0] = [sys.argv[1]]\nfrom people import News\nnews = News()\n"
            "for text in ('AB 1', 'AB 1', 'AB 12'):\n"
            "    print(*news.lines({'objects': [{'id': 7, 'text': {'text': text, 'confidence': 0.5}}, {'text': {'text': 'x', 'confidence': 1}}]}))\n")
    done = subprocess.run([sys.executable, "-B", "-c", code, os.path.join(ROOT, "examples", "python")], capture_output=True, text=True, timeout=200)
    assert done.returncode == 0 and done.stdout == "text AB 1, confidence 0.50\n\ntext AB 12, confidence 0.50\n", done


def test_people_errors():
    example("people.py").expect(1, "people.py FILE.pipeline [NAME=VALUE...]: ")
    example("people.py", work("none.pipeline")).expect(1, "people.py: ", "none.pipeline")
    example("people.py", write("door.pipeline", b"[pipeline]\nlaunch=videotestsrc ! fakesink\n"), "x").expect(1, "people.py: expected NAME=VALUE after the file")


def test_element_figures():
    """What slmotion, slredact and the budget count in a pipeline of 40 frames."""
    path, m = shows_figures(example, "element_figures.py")
    example("element_figures.py", path).expect(1, "element_figures.py FILE.pipeline [NAME=VALUE...] ELEMENT.PROPERTY...: ")
    example("element_figures.py", path, "model=" + m, "nobody.stats").expect(1, "no element with name=nobody")
    example("element_figures.py", path, "model=" + m, "motion.luck").expect(1, "element_figures.py: motion.luck: the element has no such property")


def test_watch_interrupted():
    child = subprocess.Popen(command("watch.py", "--no-window", model("one_box.tflite"), "videotestsrc is-live=true pattern=blue"),
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    child.stdout.readline()
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=200)
    assert child.returncode in (0, 130) and b"Traceback" not in err, (child.returncode, err)


harness.main(globals())
