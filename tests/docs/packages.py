#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""TAP: the line that installs Debian's packages takes what the program needs and nothing else, and pages in packages keep the names that links have."""
import fnmatch
import os
import re

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def packages():
    """Each package with those of ours that it depends on."""
    found = {}
    for paragraph in read("debian", "control").split("\n\n"):
        name = re.search(r"^Package: (\S+)", paragraph, re.MULTILINE)
        if name:
            depends = re.search(r"^Depends: ((?:.*\n?)(?:[ \t].*\n?)*)", paragraph, re.MULTILINE)
            found[name.group(1)] = set(re.findall(r"(?:^|,)\s*([a-z][a-z0-9.+-]+)", depends.group(1) if depends else ""))
    return {name: depends & set(found) for name, depends in found.items()}


def chosen_by_line(ours):
    line = re.search(r"^    apt install (.*)$", read("docs", "install.md"), re.MULTILINE).group(1)
    files = ["%s%s_0.1.0_amd64.deb" % (name, more) for name in ours for more in ("", "-dbgsym")]
    return {file.split("_")[0] for glob in line.split() for file in fnmatch.filter(["./" + f for f in files], glob)}


def needed(ours, name):
    return {name}.union(*(needed(ours, other) for other in ours[name]))


def main():
    ours = packages()
    chosen, wanted = {name.lstrip("./") for name in chosen_by_line(ours)}, needed(ours, "sightline")
    left = [suffix for suffix in (".md", ".json", ".html") if "-X" + suffix not in re.search(r"dh_compress (.*)", read("debian", "rules")).group(1)]
    print("1..2")
    print("%s 1 install.md's line takes %s%s" % ("ok" if chosen == wanted else "not ok", " ".join(sorted(chosen)),
                                                "" if chosen == wanted else ", expected " + " ".join(sorted(wanted))))
    print("%s 2 pages keep their names%s" % ("ok" if not left else "not ok", "" if not left else ": dh_compress takes " + " ".join(left)))


main()
