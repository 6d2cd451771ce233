# SPDX-License-Identifier: LGPL-2.1-or-later
"""What gi adds to SightlinePipeline for Python: pipelines that are iterated, docstrings."""
from gi.module import get_introspection_module
from gi.overrides import override
from gi.repository import Sightline

SightlinePipeline = get_introspection_module("SightlinePipeline")
__all__ = []


class Pipeline(SightlinePipeline.Pipeline):
    """A pipeline from a description file or a launch line: cameras, files, frames of the application's own.

    Pipeline.new_from_file(path, parameters) or Pipeline.new_from_string(text, parameters), parameters a dict or None. Predictions come
    as the signal "predictions" to a main loop, or without one by iterating:

        with Pipeline.new_from_file("door.pipeline", None) as pipeline:
            for found in pipeline:
                print(list(found))
    """

    __setattr__ = Sightline.Predictor.__setattr__

    def __iter__(self):
        """Predictions of each frame until the pipeline ends or is stopped; GLib.Error when it fails."""
        while (found := self.pull_predictions(-1)) is not None:
            yield found

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *problem):
        self.stop()


Pipeline = override(Pipeline)
__all__.append("Pipeline")
