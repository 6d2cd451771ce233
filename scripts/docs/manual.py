#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Manual pages of the program: sightline.1, an overview, and sightline-COMMAND.1 for each command.

    scripts/docs/manual.py PROGRAM tools/data/sightline.1 FOLDER

Which options there are, and how they are spelt, says PROGRAM. tools/data/sightline.1 has prose: below ".SS COMMAND: ..." what the command does, and
longer texts for options. An option that it does not describe, or "as above", gets the text of --help, or what another command's section says of the same option.
Meson calls this when Sightline is installed.
"""
import os
import re
import sys

import commands


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"(?m)^([.'])", r"\\&\1", text)


class Prose:
    """What tools/data/sightline.1 says of a command: text before its options, texts of options by name, text after them."""

    def __init__(self, text=""):
        blocks = text.split(".TP\n")
        self.before, self.options, self.after = blocks[0], {}, ""
        for number, block in enumerate(blocks[1:], 2):
            head, _, body = block.partition("\n")
            if number == len(blocks) and "\n.P\n" in body:
                body, self.after = body.split("\n.P\n", 1)
            name = re.search(r"\\-\\-((?:\w|\\-)+)", head)
            assert name, "tools/data/sightline.1: '%s' follows .TP in the section of a command, and names no option" % head
            self.options[name[1].replace("\\-", "-")] = body.rstrip("\n") + "\n"


def split_source(text):
    """(what is before the commands, {command: Prose}, what is after them)"""
    start, end = text.index(".SS "), text.index(".SH EXIT STATUS")
    found = re.split(r"(?m)^\.SS ([\w ]+): .*\n", text[start:end])
    return text[:start], {name: Prose(body) for name, body in zip(found[1::2], found[2::2])}, text[end:]


def spelling(option):
    """The line after .TP."""
    name = "\\-\\-" + roff(option["long"])
    if option["value"]:
        name += "\\fR=\\fI%s\\fR" % roff(option["value"])
    return "\\fB%s%s\\fR" % ("\\-%s\\fR, \\fB" % option["short"] if option["short"] else "", name)


def text_of(option, part, prose, others):
    """The longest text that somebody wrote for this option."""
    own = prose.options.get(option["long"], "")
    candidates = [own] + [text for other, text in others.get((option["long"], option["help"]), []) if other != part.words]
    for text in candidates:
        if text and "as above" not in text.lower():
            return text
    return roff(option["help"]).rstrip(".") + ".\n"


def arguments_of(part):
    words = [("\\fB%s\\fR" if word.startswith("-") else "\\fI%s\\fR") % roff(word) for word in part.arguments.split()]
    return " ".join(["[\\fIOPTION\\fR...]"] + words)


def page(part, prose, others):
    name = "sightline-" + "-".join(part.words)
    lines = [
        '.\\" SPDX-License-Identifier: LGPL-2.1-or-later\n.TH %s 1 "" "Sightline" "User commands"' % name.upper(),
        ".SH NAME\n%s \\- %s" % (roff(name), roff(part.summary)),
        ".SH SYNOPSIS\n\\fBsightline %s\\fR %s" % (" ".join(part.words), arguments_of(part)),
        ".SH DESCRIPTION\n" + roff(part.sentence) + ("\n.P\n" + prose.before.rstrip("\n") if prose.before else ""),
        ".SH OPTIONS",
    ]
    for option in part.options:
        lines.append(".TP\n%s\n%s" % (spelling(option), text_of(option, part, prose, others).rstrip("\n")))
    after = prose.after.rstrip("\n") or roff(part.details or "")
    if after:
        lines.append(".SH NOTES\n" + after)
    if not any("Exit status" in text for text in (prose.before, after)):
        lines.append(".SH EXIT STATUS\n0 done, 1 something failed, 2 wrong usage, 130 interrupted.")
    lines.append(".SH SEE ALSO\n.BR sightline (1),\nfor the environment, files and examples.")
    return "\n".join(lines) + "\n"


def overview(before, after, parts):
    lines = [".SH COMMANDS"]
    for part in parts:
        lines.append(".TP\n.BR sightline\\-%s (1)\n%s." % ("\\-".join(part.words), roff(part.summary[0].upper() + part.summary[1:])))
    return before + "\n".join(lines) + "\n" + after


def write_pages(program, source, folder):
    _, parts = commands.read(program)
    with open(source, encoding="utf-8") as file:
        before, prose, after = split_source(file.read())
    others = {}
    for part in parts:
        for option in part.options:
            text = prose.get(" ".join(part.words), Prose()).options.get(option["long"])
            if text:
                others.setdefault((option["long"], option["help"]), []).append((part.words, text))
    os.makedirs(folder, exist_ok=True)
    pages = {"sightline-%s.1" % "-".join(part.words): page(part, prose.get(" ".join(part.words), Prose()), others) for part in parts}
    pages["sightline.1"] = overview(before, after, parts)
    for name, text in pages.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("usage: manual.py PROGRAM tools/data/sightline.1 FOLDER")
    write_pages(*sys.argv[1:])
