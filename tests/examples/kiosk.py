# SPDX-License-Identifier: LGPL-2.1-or-later
"""The kiosk, on a screen that a program makes: what is to be seen on it. Arguments: KIOSK MAKE_MODELS. SIGHTLINE_SCREENSHOTS names a
folder for the pictures, to look at."""
import os
import shutil
import signal
import subprocess
import sys
import time

ROOT = os.environ["SIGHTLINE_SOURCE_ROOT"]
sys.path[:0] = [os.path.join(ROOT, "tests", "cli")]
import harness
from harness import Skip, model, run, work, write

WIDTH, HEIGHT = 1280, 720
PIPELINE = os.path.join(ROOT, "examples", "c", "kiosk.pipeline")
PLAIN = dict(GDK_BACKEND="x11", GSK_RENDERER="cairo", GTK_A11Y="none", GIO_USE_VFS="local", GSETTINGS_BACKEND="memory", LIBGL_ALWAYS_SOFTWARE="1", G_DEBUG="")


class Screen:
    """An X server without a screen, for as long as a with block lasts."""

    def __enter__(self):
        if shutil.which("Xvfb") is None:
            raise Skip("Xvfb is not installed")
        number, given = os.pipe()
        self.server = subprocess.Popen(["Xvfb", "-displayfd", str(given), "-screen", "0", "%dx%dx24" % (WIDTH, HEIGHT), "-nolisten", "tcp"],
                                       pass_fds=[given], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(given)
        with os.fdopen(number) as file:
            self.display = ":" + file.readline().strip()
        if self.display == ":":
            raise Skip("Xvfb does not start")
        return self

    def __exit__(self, *error):
        self.server.terminate()
        self.server.wait(60)

    def rows(self):
        """What is on the screen: rows of RGB bytes."""
        path = work("screen.raw")
        shot = subprocess.run(["gst-launch-1.0", "-q", "ximagesrc", "num-buffers=1", "use-damage=false", "show-pointer=false", "display-name=" + self.display, "!",
                               "videoconvert", "!", "video/x-raw,format=RGB", "!", "filesink", "location=" + path], capture_output=True, timeout=100)
        if shot.returncode != 0:
            raise Skip("gst-launch-1.0 or ximagesrc is missing: " + shot.stderr.decode())
        with open(path, "rb") as file:
            data = file.read()
        assert len(data) == 3 * WIDTH * HEIGHT, len(data)
        return [data[3 * WIDTH * y : 3 * WIDTH * (y + 1)] for y in range(HEIGHT)]


def is_blue(row, x):
    red, green, blue = row[3 * x : 3 * x + 3]
    return red < 40 and green < 40 and blue > 200


def ink(rows):
    """Width in pixels of what is written below the picture, 0 = nothing; None where no picture is over the whole width."""
    right = WIDTH * 3 // 4  # right of the box
    picture = [y for y, row in enumerate(rows) if is_blue(row, right)]
    if len(picture) < HEIGHT // 2 or picture[-1] == HEIGHT - 1:
        return None
    ground, columns = rows[HEIGHT - 1][:3], set()
    for row in rows[picture[-1] + 6 :]: # the zone's edge is drawn there, too
        columns |= {x for x in range(WIDTH) if row[3 * x : 3 * x + 3] != ground}
    return max(columns) - min(columns) + 1 if columns else 0


def kept(name, rows):
    """Writes a picture for who wants to look at it."""
    if "SIGHTLINE_SCREENSHOTS" in os.environ:
        with open(os.path.join(os.environ["SIGHTLINE_SCREENSHOTS"], name + ".ppm"), "wb") as file:
            file.write(b"P6\n%d %d\n255\n" % (WIDTH, HEIGHT) + b"".join(rows))


def watch(screen, name, done, *settings):
    """Runs the kiosk until what is written has a width that `done` is true of; returns that."""
    words = [PIPELINE, "model=" + model("one_box.tflite"), "source=test://?pattern=blue", *settings]
    child = subprocess.Popen([harness.PROGRAM, *words], env=dict(os.environ, DISPLAY=screen.display, **PLAIN), stderr=subprocess.PIPE)
    deadline, width = time.monotonic() + 120, None
    try:
        while not (width is not None and done(width)):
            assert child.poll() is None and time.monotonic() < deadline, (width, child.poll(), child.poll() and child.stderr.read())
            time.sleep(0.2)
            rows = screen.rows()
            width = ink(rows)
        kept(name, rows)
    finally:
        child.send_signal(signal.SIGTERM)
        child.communicate(timeout=200)
    return width


def test_greets():
    """Who is not asked for is not greeted; who is is, with more words."""
    with Screen() as screen:
        alone = watch(screen, "alone", lambda width: width > 50, "classes=green")
        greeted = watch(screen, "greeted", lambda width: width > 1.5 * alone, "classes=blue")
        assert 0 < alone < greeted < WIDTH, (alone, greeted)


def test_errors():
    with Screen() as screen:
        here = dict(os.environ, DISPLAY=screen.display, **PLAIN)
        run(env=here).expect(1, "kiosk: expected a display, and kiosk FILE.pipeline")
        run(work("none.pipeline"), env=here).expect(1, "none.pipeline: no such file")
        bad = write("bad.pipeline", b"[pipeline]\nlaunch=fakesrc ! fakesink\n")
        run(bad, env=here).expect(1, "kiosk: the pipeline has no element with name=picture")
        run(PIPELINE, "model=" + work("none.tflite"), "source=test://", env=here).expect(1, "none.tflite: no such file")


def test_no_display():
    run(PIPELINE, "model=" + model("one_box.tflite"), env=dict(os.environ, DISPLAY=":none", **PLAIN)).expect(1, "kiosk: expected a display")


harness.main(globals())
