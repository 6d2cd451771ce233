# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every message that a page of docs/ tells of is asked for by a test.

A message stands in a section headed as below, in the first column of a table or in an indented line. X, "..." and the like
stand for anything in it; what is left must be in the source of one test, where the strings of a sentence are joined first.
"""
import glob
import os
import re

ROOT = os.path.normpath(os.path.join(os.path.dirname(__file__), "..", ".."))
HEADINGS = ("messages", "errors", "what it says, and what to do")
# What stands for anything: dots, capitals alone, and what each test chooses for itself.
ANYTHING = re.compile(r"\.\.\.|\b[XYHP]\b|\bHOST\b|\b[0-9]+\.[0-9] s$|/dev/video0|image/jpeg")


def messages(page):
    """(line number, message) of each."""
    wanted = False
    with open(page, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if line.startswith("#"):
                wanted = line.strip("# \n").lower() in HEADINGS
            cell = re.match(r"\| `(.*?)` \|", line.replace(r"\|", "\0"))
            if wanted and cell and " " in cell.group(1):
                yield number, cell.group(1).replace("\0", "|")
            elif wanted and re.match(r"    [^ $]", line) and ": " in line:
                yield number, line.strip()


def sources():
    for path in sorted(glob.glob(os.path.join(ROOT, "tests", "**", "*.*"), recursive=True)):
        if path.endswith((".c", ".py")) and not os.path.samefile(path, __file__):
            with open(path, encoding="utf-8") as file:
                text = re.sub(r'(?<!\\)"\s*f?"', "", file.read())
            yield text.replace(r"\"", '"').replace(r"\'", "'").replace("\\\\", "\\")


def main():
    texts, n = list(sources()), 0
    print("TAP version 13")
    for page in sorted(glob.glob(os.path.join(ROOT, "docs", "*.md"))):
        for number, message in messages(page):
            n += 1
            pieces = [piece.strip(' :"') for piece in ANYTHING.split(message)]
            pieces = [piece for piece in pieces if len(piece) > 3]
            good = bool(pieces) and any(all(piece in text for piece in pieces) for text in texts)
            print("%sok %d %s:%d %s" % ("" if good else "not ", n, os.path.basename(page), number, message.replace("#", "")))
    print("1..%d" % n)


main()
