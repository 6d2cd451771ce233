# SPDX-License-Identifier: LGPL-2.1-or-later
"""TAP: scripts/plain_words.py names each banned turn with its line, counts words of a sentence as a person does, and reads no code."""
import os
import subprocess
import sys
import tempfile

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
WORDS = "word " * 29
PAGE = "A sentence.\n\nWhoever reads this\nwaits.\n\n    whoever runs a command\n\n" + WORDS + "and end.\n\n" + WORDS + "end. Short one `with code of many words in it`.\n"
SOURCE = '/* One line.\n * It is told of here. */\nconst char *text = "whoever";\n'


def listed(name, text, *options):
    """(exit status, lines) for a file with @text."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        done = subprocess.run([sys.executable, "-B", os.path.join(ROOT, "scripts", "plain_words.py"), *options, path], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout.replace(path, name).splitlines()


def main():
    long = WORDS + "and end."
    cases = [("turns of a page", listed("a.md", PAGE), (1, ["a.md:3: 'Whoever'"])),
             ("long sentences", listed("a.md", PAGE.replace("Whoever", "A person who"), "--long"),
              (1, ["a.md:8: 31 words: " + long, "1 of 4 sentences of pages have over 30 words, expected none: split them"])),
             ("comments of C", listed("a.c", SOURCE), (1, ["a.c:2: 'told of'"])),
             ("nothing", listed("a.md", "A sentence.\n", "--long"), (0, ["0 of 0 sentences of pages have over 30 words, expected none: split them"]))]
    print("1..%d" % len(cases))
    for number, (name, got, wanted) in enumerate(cases, 1):
        print("%sok %d %s%s" % ("" if got == wanted else "not ", number, name, "" if got == wanted else "\n# got %s\n# expected %s" % (got, wanted)))
    return 0 if all(got == wanted for _, got, wanted in cases) else 1


if __name__ == "__main__":
    sys.exit(main())
