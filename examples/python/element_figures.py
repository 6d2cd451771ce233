#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""element_figures.py FILE.pipeline [NAME=VALUE...] ELEMENT.PROPERTY...: what elements count, in a pipeline from a description file.

Prints properties such as motion.stats, redact.stats or model.budget each second, and at the end. The part before the dot is the name= of an
element in the launch line.
"""
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("SightlinePipeline", "1.0")
from gi.repository import GLib, Gst, SightlinePipeline

State = SightlinePipeline.PipelineState


def words(value):
    """A structure of GStreamer, or a plain value, as text."""
    return value.to_string().rstrip(";") if isinstance(value, Gst.Structure) else str(value)


def main():
    names = [argument for argument in sys.argv[2:] if "=" not in argument]
    if not names or not all("." in name for name in names):
        sys.exit(__doc__.splitlines()[0])
    loop, failed = GLib.MainLoop(), []
    try:
        pipeline = SightlinePipeline.Pipeline.new_from_file(sys.argv[1], dict(argument.split("=", 1) for argument in sys.argv[2:] if "=" in argument))
        elements = [(name, pipeline.dup_element(name.split(".", 1)[0]), name.split(".", 1)[1]) for name in names]

        def print_figures():
            for name, element, key in elements:
                print("%s: %s" % (name, words(element.get_property(key))), flush=True)

        def on_state_changed(pipeline, before, state):
            if state in (State.ENDED, State.FAILED):
                print_figures()
                loop.quit()

        for name, element, key in elements:
            if element.find_property(key) is None:
                sys.exit("element_figures.py: %s: the element has no such property" % name)
        pipeline.props.stats_interval = 1000
        pipeline.connect("stats", lambda pipeline, stats: print_figures())
        pipeline.connect("error", lambda pipeline, error, element: failed.append(error.message))
        pipeline.connect("state-changed", on_state_changed)
        pipeline.start()
        loop.run()
        pipeline.stop()
    except GLib.Error as error:
        failed.append(error.message)
    except KeyboardInterrupt:
        pipeline.stop()
    if failed:
        sys.exit("element_figures.py: " + failed[0])


if __name__ == "__main__":
    main()
