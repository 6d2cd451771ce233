# SPDX-License-Identifier: LGPL-2.1-or-later
"""What elements count in a pipeline of 40 frames, as an example prints it."""
from harness import model, write

FIGURES = b"""[pipeline]
launch=videotestsrc pattern=ball num-buffers=40 ! video/x-raw,format=RGB,width=64,height=64,framerate=25/1 ! slmotion name=motion ! slpredict name=model model=${model} ! slredact name=redact ! fakesink
[parameters]
model=
[budget]
cores=4
rate=10
"""


def shows_figures(example, name):
    """Runs the example, and returns the pipeline's file and model."""
    path, m = write("figures.pipeline", FIGURES), model("one_box.tflite")
    result = example(name, path, "model=" + m, "motion.stats", "redact.stats", "model.budget").expect(0)
    last = dict(line.split(": ", 1) for line in result.out.splitlines()[-3:])
    assert list(last) == ["motion.stats", "redact.stats", "model.budget"], result
    assert "frames=(guint64)40" in last["motion.stats"] and "frames=(guint64)40" in last["redact.stats"] and "promised=(double)10" in last["model.budget"], last
    return path, m
