#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""watch.py [--no-window] MODEL [SOURCE]: what a model sees in live video, in a window, or line by line without one.

SOURCE is a part of a launch line that makes video, such as v4l2src; without it a moving test picture. The window needs GTK 3 with
its Python bindings and a display.
"""
import argparse
import sys

import gi

gi.require_version("SightlinePipeline", "1.0")
from gi.repository import GLib, SightlinePipeline

State = SightlinePipeline.PipelineState
LAUNCH = "%s ! videoconvert ! slnormalize ! slinfer model=${model} ! slpostprocess ! fakesink sync=true"
TEST_SOURCE = "videotestsrc pattern=ball num-buffers=%d ! video/x-raw,width=320,height=240,framerate=30/1"


def open_gtk():
    """The GTK module, or None where there is none or no display."""
    try:
        gi.require_version("Gtk", "3.0")
        from gi.repository import Gtk

        return Gtk if Gtk.init_check(None)[0] else None
    except (ImportError, ValueError):
        return None


class Window:
    """Boxes on a plain ground, and labels in a line below."""

    def __init__(self, gtk, on_close):
        self.found = None
        self.window = gtk.Window(title="Sightline")
        self.area = gtk.DrawingArea(width_request=640, height_request=480)
        self.line = gtk.Label(label="")
        column = gtk.Box(orientation=gtk.Orientation.VERTICAL)
        column.pack_start(self.area, True, True, 0)
        column.pack_start(self.line, False, False, 6)
        self.window.add(column)
        self.area.connect("draw", self.draw)
        self.window.connect("destroy", lambda window: on_close())
        self.window.show_all()

    def show(self, found):
        self.found = found
        self.line.set_text(", ".join(label.label for label in found.labels))
        self.area.queue_draw()

    def draw(self, area, cairo):
        width, height = area.get_allocated_width(), area.get_allocated_height()
        cairo.set_source_rgb(0.1, 0.1, 0.1)
        cairo.paint()
        cairo.set_source_rgb(0.2, 0.9, 0.4)
        for thing in self.found or []:
            x_min, y_min, x_max, y_max = thing.relative_box
            cairo.rectangle(x_min * width, y_min * height, (x_max - x_min) * width, (y_max - y_min) * height)
            cairo.stroke()
            cairo.move_to(x_min * width + 4, y_min * height + 14)
            cairo.show_text("%s %.2f" % (thing.label, thing.confidence))


class Lines:
    """One line of JSON a frame."""

    def show(self, found):
        print(found.to_json(), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--no-window", action="store_true", help="print lines even where a window could be opened")
    parser.add_argument("--frames", type=int, default=-1, help="frames of the test picture; default: for ever")
    parser.add_argument("model", metavar="MODEL")
    parser.add_argument("source", metavar="SOURCE", nargs="?")
    options = parser.parse_args()
    loop, failed = GLib.MainLoop(), []
    gtk = None if options.no_window else open_gtk()
    view = Window(gtk, loop.quit) if gtk else Lines()

    def on_error(pipeline, error, element):
        failed.append(error.message)

    def on_state_changed(pipeline, before, state):
        if state in (State.ENDED, State.FAILED):
            loop.quit()

    try:
        source = options.source or TEST_SOURCE % options.frames
        pipeline = SightlinePipeline.Pipeline.new_from_string(LAUNCH % source, {"model": options.model})
        pipeline.connect("predictions", lambda pipeline, found: view.show(found))
        pipeline.connect("error", on_error)
        pipeline.connect("state-changed", on_state_changed)
        pipeline.start()
        loop.run()
        pipeline.stop()
    except GLib.Error as error:
        failed.append(error.message)
    except KeyboardInterrupt:
        pipeline.stop()
    if failed:
        sys.exit("watch.py: " + failed[0])


if __name__ == "__main__":
    main()
