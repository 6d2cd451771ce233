# SPDX-License-Identifier: LGPL-2.1-or-later
"""The commands of the program `sightline` and their options, as its own tables have them: `sightline --describe-options` prints JSON objects,
one a line, {"name", "summary"} for a command and then {"command", "arguments", "summary", "details", "options"} for it or each of its parts.
"""
import json
import re
import subprocess

# Choices at the end of an option's text: "How frames fill the input: stretch, letterbox or crop".
CHOICES = re.compile(r": ((?:[\w-]+, )*[\w-]+ or [\w-]+)(?: \(default.*\))?$")


class Part:
    """A command, or a part of one such as `bench model`: its words, a short summary, and what --describe-options says of it."""

    def __init__(self, words, summary, described):
        self.words, self.summary = words, summary
        self.arguments, self.sentence, self.details = described["arguments"], described["summary"], described["details"]
        self.options = described["options"]
        for option in self.options:
            found = CHOICES.search(option["help"]) if option["value"] else None
            option["choices"] = option["choices"] or (re.split(r", | or ", found[1]) if found else [])


def read(program):
    """[(name, summary)] of the commands and [Part] of all of them, in the program's order."""
    lines = subprocess.run([program, "--describe-options"], check=True, capture_output=True, stdin=subprocess.DEVNULL, encoding="utf-8").stdout
    names, parts = [], []
    for line in map(json.loads, lines.splitlines()):
        if "name" in line:
            names.append((line["name"], line["summary"]))
            continue
        words = line["command"].split()
        summary = names[-1][1] if len(words) == 1 else line["summary"][0].lower() + line["summary"][1:].rstrip(".")
        parts.append(Part(words, summary, line))
    return names, parts
