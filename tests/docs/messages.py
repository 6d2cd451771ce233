# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every message that README.md or a page of docs/ tells of is asked for by a test.

A message stands in a section headed as below, in the first column of a table or in an indented line; anywhere else it is what
an indented block or words in backticks say of something expected or tried again, and what `sightline check` marks with `*` or `!`.
X, "..." and the like stand for anything in it; what is left must be in the source of one test, where the strings of a sentence
are joined first.
"""
import glob
import os
import re

ROOT = os.path.normpath(os.path.join(os.path.dirname(__file__), "..", ".."))
HEADINGS = ("messages", "errors", "what it says, and what to do")
# What stands for anything: dots, capitals alone, and what each test chooses for itself.
ANYTHING = re.compile(r"\.\.\.|\b[XYHP]\b|\bHOST\b|\b[0-9]+\.[0-9] s$|/dev/video0|image/jpeg|\S+\.tflite|rtsp://cam/1: .*(?=; trying)"
                      r"|\b(?<=in )[0-9.]+ s\b|(?<=back after )[0-9.]+ s|videoconvert0|slnormalize0")
TOLD = re.compile(r"\bexpected [^a]|\bexpected a [A-Z]|; trying again|^back after|; give ")


def lines_of_section(lines):
    """(line number, message) of each in a section of messages."""
    wanted = False
    for number, line in lines:
        if line.startswith("#"):
            wanted = line.strip("# \n").lower() in HEADINGS
        cell = re.match(r"\| `(.*?)` \|", line.replace(r"\|", "\0"))
        if wanted and cell and " " in cell.group(1):
            yield number, cell.group(1).replace("\0", "|")
        elif wanted and re.match(r"    [^ $]", line) and ": " in line:
            yield number, line.strip()


def blocks(lines):
    """(line number, text) of what is said elsewhere: findings of check a line each, other indented lines and words in backticks joined."""
    indented, prose = [], []
    for number, line in lines + [(0, "")]:
        if re.match(r"    [*!] ", line):
            yield number, line[6:].strip()
        elif re.match(r"    [^$]", line):
            indented.append((number, line.strip()))
        elif not line.startswith("    "):
            if indented:
                yield indented[0][0], " ".join(text for _, text in indented)
            indented = []
            prose.append((number, line.strip()))
    text = "\n".join(line for _, line in prose)
    for found in re.finditer(r"`([^`]*)`", text):
        yield prose[text.count("\n", 0, found.start())][0], found.group(1).replace("\n", " ")


def messages(page):
    with open(page, encoding="utf-8") as file:
        lines = list(enumerate(file, 1))
    told = dict(lines_of_section(lines))
    for number, message in blocks(lines):
        if number not in told and (TOLD.search(message) or lines[number - 1][1].startswith(("    * ", "    ! "))):
            told[number] = message
    return sorted(told.items())


def sources():
    for path in sorted(glob.glob(os.path.join(ROOT, "tests", "**", "*.*"), recursive=True)):
        if path.endswith((".c", ".py")) and not os.path.samefile(path, __file__):
            with open(path, encoding="utf-8") as file:
                text = re.sub(r'(?<!\\)"\s*f?"', "", file.read())
            yield text.replace(r"\"", '"').replace(r"\'", "'").replace("\\\\", "\\")


def main():
    texts, n = list(sources()), 0
    print("TAP version 13")
    for page in sorted(glob.glob(os.path.join(ROOT, "docs", "*.md"))) + [os.path.join(ROOT, "README.md")]:
        for number, message in messages(page):
            n += 1
            pieces = [piece.strip(' :"') for piece in ANYTHING.split(message)]
            pieces = [piece for piece in pieces if len(piece) > 3]
            good = bool(pieces) and any(all(piece in text for piece in pieces) for text in texts)
            print("%sok %d %s:%d %s" % ("" if good else "not ", n, os.path.basename(page), number, message.replace("#", "")))
    print("1..%d" % n)


main()
