#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Lists turns of phrase that a reader has to decipher, in comments of C files and in pages (CONTRIBUTING.md shows what to write
instead). With --long it also lists sentences of pages with more than 30 words. Exits with 1 if it lists anything.

    scripts/plain_words.py [--long] [FILE...]     FILE: default all that git tracks
"""
import re
import subprocess
import sys

BANNED = [r"whoever", r"whomever", r"told of", r"what is no\b", r"of what is\b", r"is no number", r"lets go of", r"lie alike", r"pieces of work",
          r"that is none\b", r"are none\b(?! of)", r"nobody (?:is there|waits)", r"as long as none", r"with nothing of ours", r"one that is none",
          r"nobody says", r"nobody looked", r"let go of", r"rides on", r"no finite numbers?", r"takes? for granted", r"taken for granted"]
TURNS = re.compile("|".join(r"\b(?:%s)" % turn for turn in BANNED), re.IGNORECASE)
COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|(/\*.*?\*/)|(//[^\n]*)', re.DOTALL)


def prose(path, text):
    """[(line, text)] of what a person reads: the comments of C, the pages without code and tables."""
    if path.endswith((".c", ".h", ".cpp")):
        return [(text.count("\n", 0, m.start()) + 1, m[1] or m[2]) for m in COMMENT.finditer(text) if m[1] or m[2]]
    found, start, block = [], 1, []
    for number, line in enumerate(text.split("\n") + [""], 1):
        plain = line.strip() and not line.startswith(("    ", "|", "#"))
        begins = re.match(r"\s*(?:[-*]|\d+\.)\s", line)
        if block and (not plain or begins):
            found.append((start, "\n".join(block)))
            block = []
        if plain:
            start = start if block else number
            block.append(re.sub(r"^\s*(?:[-*]|\d+\.)\s", "", line))
    return found


def sentences(text):
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", re.sub(r"`[^`]*`", "CODE", text)).replace("\n", " ")
    return [s for s in re.split(r"(?<=[.:;?!])\s+", text) if len(s.split()) > 2]


def main():
    long = "--long" in sys.argv
    paths = [a for a in sys.argv[1:] if a != "--long"] or subprocess.check_output(
        ["git", "ls-files", "*.c", "*.h", "*.cpp", "*.md"], text=True).splitlines()
    wrong = total = over = 0
    for path in paths:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for line, part in prose(path, text):
            for m in TURNS.finditer(part if path != "CONTRIBUTING.md" else ""):  # that page shows them
                wrong += 1
                print("%s:%d: '%s'" % (path, line + part.count("\n", 0, m.start()), m[0]))
            if path.endswith(".md"):
                for sentence in sentences(part):
                    total += 1
                    if long and len(sentence.split()) > 30:
                        over += 1
                        print("%s:%d: %d words: %s" % (path, line, len(sentence.split()), sentence))
    if long:
        print("%d of %d sentences of pages have over 30 words, expected none: split them" % (over, total))
    return 1 if wrong or over else 0


if __name__ == "__main__":
    sys.exit(main())
