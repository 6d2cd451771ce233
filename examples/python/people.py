#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""people.py FILE.pipeline [NAME=VALUE...]: who comes, and what is read, in a pipeline from a description file.

A line for each person of its gallery when the camera sees this person first, and for each text of a tracked object when it changes.
The description needs sltrack and [gallery] for people, sltext for texts; docs/gallery.md and docs/text.md have such descriptions.
"""
import json
import sys

import gi

gi.require_version("SightlinePipeline", "1.0")
from gi.repository import GLib, SightlinePipeline

State = SightlinePipeline.PipelineState


class News:
    """What was printed already."""

    def __init__(self):
        self.people, self.texts = set(), {}

    def lines(self, frame):
        """frame: a frame's predictions as docs/predictions.md has them."""
        for thing in frame.get("objects", []):
            person, text = thing.get("identity"), thing.get("text")
            if person and person["id"] not in self.people:
                self.people.add(person["id"])
                yield "person %d%s, confidence %.2f, seen by %s" % (
                    person["id"], " (%s)" % person["name"] if "name" in person else "", person["confidence"], ", ".join(person["cameras"]))
            if text and "id" in thing and self.texts.get(thing["id"]) != text["text"]:
                self.texts[thing["id"]] = text["text"]
                yield "text %s, confidence %.2f" % (text["text"], text["confidence"])


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__.splitlines()[0])
    loop, news, failed = GLib.MainLoop(), News(), []

    def on_predictions(pipeline, found):
        for line in news.lines(json.loads(found.to_json())):
            print(line, flush=True)

    def on_state_changed(pipeline, before, state):
        if state in (State.ENDED, State.FAILED):
            loop.quit()

    try:
        parameters = dict(argument.split("=", 1) for argument in sys.argv[2:])
        pipeline = SightlinePipeline.Pipeline.new_from_file(sys.argv[1], parameters)
        pipeline.connect("predictions", on_predictions)
        pipeline.connect("error", lambda pipeline, error, element: failed.append(error.message))
        pipeline.connect("state-changed", on_state_changed)
        pipeline.start()
        loop.run()
        pipeline.stop()
    except ValueError:
        sys.exit("people.py: expected NAME=VALUE after the file")
    except GLib.Error as error:
        failed.append(error.message)
    except KeyboardInterrupt:
        pipeline.stop()
    if failed:
        sys.exit("people.py: " + failed[0])


if __name__ == "__main__":
    main()
