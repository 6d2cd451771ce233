# SPDX-License-Identifier: LGPL-2.1-or-later
"""The files of the console's page: their size, what they must not contain, their names in the resource, and their words."""
import gzip
import json
import os
import re

import harness

PAGE = os.path.join(harness.ROOT, "tools", "run", "page")


def test_size():
    """All files of the page together, as a browser gets them compressed."""
    total = 0
    for folder, _, names in os.walk(PAGE):
        for name in names:
            with open(os.path.join(folder, name), "rb") as file:
                data = file.read()
            total += min(len(data), len(gzip.compress(data)))
            if name.endswith(".js"):
                assert not re.search(rb"innerHTML|insertAdjacentHTML|outerHTML|document\.write|eval\(|https?://(?!www\.w3\.org)", data), name
    print("# %d bytes compressed" % total)
    assert total < 150000, total


def test_words():
    """Each text that the page asks for is there, and none is there that nobody asks for."""
    with open(os.path.join(PAGE, "strings", "en.json"), encoding="utf-8") as file:
        words = json.load(file)
    sources = ""
    for name in sorted(os.listdir(PAGE)):
        if name.endswith(".js"):
            with open(os.path.join(PAGE, name), encoding="utf-8") as file:
                sources += file.read()
    asked = set(re.findall(r"""["']([a-z]+(?:\.[a-zA-Z0-9_-]+)+|skip|back|again|cancel|failed)["']""", sources)) | set(re.findall(r't\("([a-zA-Z._-]+)"', sources))
    stems = tuple(set(re.findall(r"""["']([a-z]+(?:\.[a-z]+)*\.)["'] \+""", sources)))
    lacking = {key for key in re.findall(r'\bt\("([a-zA-Z._-]+[a-zA-Z])"', sources)} - set(words)
    unused = {key for key in words if key not in asked and not key.startswith(stems) and not key.startswith("page.")}
    assert not lacking and not unused, (lacking, unused)


def test_resource():
    """Each file is in the program, and those that the page needs to open are kept for times without a connection."""
    with open(os.path.join(PAGE, "page.gresource.xml"), encoding="utf-8") as file:
        named = re.findall(r">([^<>]+)</file>", file.read())
    present = [os.path.relpath(os.path.join(folder, name), PAGE) for folder, _, names in os.walk(PAGE) for name in names]
    assert sorted(named) == sorted(set(present) - {"page.gresource.xml"}), set(named) ^ set(present)
    with open(os.path.join(PAGE, "sw.js"), encoding="utf-8") as file:
        kept = re.findall(r'"([\w/-]+\.\w+)"', file.read().split("];")[0])
    assert set(kept) == {name for name in named if not name.endswith(".png")} - {"index.html", "sw.js"}, set(kept) ^ set(named)


harness.main(globals())
