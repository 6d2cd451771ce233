# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the program shows on a terminal: how far long work is, and colours. Nothing of either goes into a pipe or a file."""
import os
import re
import signal

import harness
from harness import Skip, Terminal, data, model, png, run, work, write

BAR = re.compile(r"\[[#.]{24}\] +\d+ %")


def many(name, n, line="%s 1\n"):
    """A list of one picture, @n times."""
    return write(name + ".txt", (line % png(name + ".png", 8, 8, (10, 200, 20)) * n).encode())


def long_work():
    """What takes long: (what the line counts, the arguments, whether the command ends by itself when interrupted)."""
    channel, pixels, pictures = model("brightest_channel.tflite"), model("many_pixels.tflite"), many("many", 20000)
    yield "pictures", ["eval", channel, "--dataset", pictures], True
    yield "sources", ["predict", "--model", channel, "--list", many("listed", 20000, "%s\n"), "--json"], True
    yield "runs", ["bench", "model", pixels, "--runs", "1000000"], False
    yield "cases", ["bench", "preprocess", "--cold", "0"], False


def test_interrupted():
    """The line shows how far work is; a signal that ends the program takes the line away."""
    for counted, arguments, catches in long_work():
        terminal = Terminal(*arguments)
        terminal.wait_for(" %s  " % counted)
        terminal.child.send_signal(signal.SIGINT)
        status, _, screen = terminal.end()
        assert status == (130 if catches else -signal.SIGINT), (arguments, status, terminal.told)
        assert screen == "" and "\n" not in terminal.told, (arguments, terminal.told[-300:])
        if counted != "sources":
            assert BAR.search(terminal.told) and " left" in terminal.told, terminal.told


def test_two_signals():
    """A second signal ends the program at once, with its line."""
    terminal = Terminal("eval", model("brightest_channel.tflite"), "--dataset", many("twice", 200000))
    terminal.wait_for(" pictures  ")
    terminal.child.send_signal(signal.SIGTERM)
    terminal.child.send_signal(signal.SIGTERM)
    status, _, screen = terminal.end()
    assert status in (130, -signal.SIGTERM) and screen == "", (status, terminal.told)


def test_quantize():
    terminal = Terminal("quantize", data("quantize", "models", "mobilenetv2_float.onnx"), "--calibrate", data("quantize", "pictures", "calibrate"), "--mean",
                        "123.675,116.28,103.53", "--std", "58.395,57.12,57.375", "--pictures", "10", "-o", work("quantized.tflite"))
    status, out, screen = terminal.end()
    assert status == 0 and screen == "" and "learning  [" in terminal.told and "/10 pictures" in terminal.told, terminal.told
    assert "\033" not in out and "\r" not in out, out


def test_fit():
    pictures = data("quantize", "pictures", "calibrate")
    terminal = Terminal("fit", data("formats", "models", "mobilenet_v2_035.ext.onnx"), pictures, "--pictures", "4")
    status, out, screen = terminal.end()
    assert status == 0 and screen == "" and " readings  " in terminal.told, terminal.told
    assert "\033" not in out, out


def test_narrow():
    """A line that would wrap could not be taken away: it is cut, the name first, and then whole fields, such as a time of hours."""
    for columns in 20, 60:
        terminal = Terminal("eval", model("brightest_channel.tflite"), "--dataset", many("narrow", 100000), columns=columns)
        terminal.wait_for(" %")
        terminal.child.send_signal(signal.SIGINT)
        assert terminal.end()[2] == "", terminal.told
        lines = [line for line in re.split(r"\r\x1b\[K", terminal.told) if " %" in line]
        field = r"(\S*) +(\[[#.]{24}\] +)?\d+ %(  \d+/100000 pictures)?(  [\d.]+/s)?(  [\d:]+ left)?"
        for line in lines:
            match = re.fullmatch(field, line)
            assert match and len(line) < columns and (match[1] == "" or match[1].startswith("...") or match[1] in "brightest_channel.tflite"), (columns, line)


def test_both_on_the_terminal():
    """Results are whole lines, whatever the line of progress does between them."""
    pictures = many("both", 60, "%s\n")
    arguments = ["predict", "--model", model("brightest_channel.tflite"), "--json", "--list", pictures]
    status, _, screen = Terminal(*arguments, both=True, columns=4000).end()
    piped = run(*arguments)
    timeless = re.compile(r'"[a-z_]*ms":[^,}]*')
    assert status == 0 and timeless.sub("", screen.replace("\r", "")) == timeless.sub("", piped.out), screen[:500]


def test_piped():
    """Whether progress is shown or not, what goes into a pipe is the same, without a character for terminals."""
    folder = work("folder")
    os.makedirs(folder)
    for i in range(4):
        png(os.path.join(folder, "%d.png" % i), 8, 8, (50 * i, 100, 20))
    channel = model("brightest_channel.tflite")
    for arguments in ["predict", "--model", channel, folder], ["predict", "--model", channel, "--format", "csv", folder]:
        status, out, screen = Terminal(*arguments).end()
        piped = run(*arguments).expect(0)
        assert status == 0 and screen == "" and out == piped.out != "", (out, piped)
    for arguments in ["eval", channel, "-d", many("few", 3)], ["bench", "model", channel], ["fit", channel, folder], ["predict", work("none.png")]:
        piped = run(*arguments, env={**os.environ, "TERM": "xterm"})
        assert not re.search("[\r\033]", piped.out + piped.err), piped


def test_colours():
    """On a terminal a complaint begins in bold, unless NO_COLOR is set to anything or the terminal is dumb."""
    def complains(**environment):
        terminal = Terminal("predict", "--model", work("no-model"), work("no-picture"), **environment)
        status, _, screen = terminal.end()
        assert status == 1 and screen.startswith("sightline predict: "), screen
        return terminal.told
    assert complains().startswith("\033[1msightline predict:\033[0m ")
    assert complains(NO_COLOR="").startswith("\033[1m")
    assert "\033" not in complains(NO_COLOR="1") and "\033" not in complains(TERM="dumb")


def test_headings_and_findings():
    """On a terminal headings are bold and problems red; the text is that of a pipe."""
    broken = write("broken.pipeline", b"[pipeline]\nlaunch=videotestsrc ! slinfer model=/no/such.tflite ! fakesink\n")
    for arguments, style in (["check", broken], "\033[1;31m!"), (["eval", model("brightest_channel.tflite"), "-d", many("headed", 1)], "\033[1m"):
        terminal = Terminal(*arguments, both=True, columns=4000)
        _, _, screen = terminal.end()
        piped = run(*arguments)
        timeless = re.compile(r"[0-9.]+$", flags=re.M)
        assert style in terminal.told and timeless.sub("", screen.replace("\r", "")) == timeless.sub("", piped.out + piped.err), (screen, piped)
        plain = Terminal(*arguments, both=True, NO_COLOR="1")
        plain.end()
        # A slow machine sees the line of progress, which is taken away without colours, too.
        assert "\033" not in plain.told.replace("\033[K", "") and "\033" not in piped.out, plain.told


def test_dumb():
    """A terminal that cannot write over a line gets none."""
    status, _, _ = (terminal := Terminal("bench", "preprocess", "--format", "GRAY8", "--cold", "0", "--rounds", "3", TERM="dumb")).end()
    assert status == 0 and terminal.told == "", terminal.told


harness.main(globals())
