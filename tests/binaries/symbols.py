#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""TAP: what a library or a plugin file exports is what its version script lists and its headers declare, as `nm` sees it.

Called by meson:
  symbols.py library LIBRARY VERSION_SCRIPT HEADER [--without VERSION_SCRIPT] [--users FILE...]
  symbols.py plugins FILE...
HEADER is the one that applications include. --without names the script of a library below, which the header includes too.
--users are all the files that may use what is not API: of that nothing is listed that none of them imports.
"""
import os
import re
import subprocess
import sys

ROOT = os.environ["SIGHTLINE_SOURCE_ROOT"]
NODE = re.compile(r"(\w[\w.]*) \{\s*global:(.*?)(?:local:\s*\*;\s*)?\};", re.DOTALL)
PRIVATE = "_PRIVATE_"
PAGE = "docs/embedding.md"


def version_script(path):
    """{node: set of names}."""
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.DOTALL)
    return {node: {name.strip() for name in names.split(";") if name.strip()} for node, names in NODE.findall(text)}


def declared(header):
    """Functions of ours that the header declares, and those that it includes."""
    path = os.path.join(ROOT, "include", header)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    code = re.sub(r"^#define[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL | re.MULTILINE)
    names = set(re.findall(r"\b(sl_[a-z0-9_]+) \(", code))
    names |= {prefix + "_get_type" for prefix in re.findall(r"\bG_DECLARE_\w+ \(\w+, (\w+),", code)}
    for included in re.findall(r'^#include "([^"]+)"', text, re.MULTILINE):
        names |= declared(included)
    return names


def symbols(path, kind):
    """Names of the dynamic symbol table with their versions, without those of the toolchain (sanitizers, profiling)."""
    out = subprocess.run(["nm", "-D", kind, path], check=True, capture_output=True, text=True).stdout
    names = (line.split()[-1] for line in out.splitlines())
    return {name for name in names if name.startswith(("sl_", "gst_plugin_")) or kind == "--defined-only" and not name.startswith("_")}


def difference(name, expected, got, where):
    """A test case: its name, and a sentence for each name that is on one side only; where says of what."""
    missing = ["%s is missing %s" % (symbol, where) for symbol in sorted(expected - got)]
    return name, missing + ["%s is too much %s" % (symbol, where) for symbol in sorted(got - expected)]


def counts(nodes):
    """A test case: the page has a row for each node, with the number of its functions."""
    with open(os.path.join(ROOT, PAGE), encoding="utf-8") as file:
        rows = dict(re.findall(r"^\| `(SIGHTLINE_[\w.]*)`[^|]*\| (\d+) \|", file.read(), re.MULTILINE))
    for node, names in nodes.items():
        stated = rows.get(re.sub(PRIVATE + ".*", PRIVATE, node), "none")
        if stated != str(len(names)):
            yield "%s, functions of %s: expected %d, as the version script lists, got %s" % (PAGE, node, len(names), stated)


def library_cases(path, script, header, *more):
    nodes = version_script(script)
    listed = {"%s@@%s" % (symbol, node) for node, names in nodes.items() for symbol in names}
    exported = {symbol for symbol in symbols(path, "--defined-only") if symbol.split("@@")[0] not in nodes}
    yield difference("exports/what-is-listed", listed, exported, "in %s, going by %s" % (path, script))
    yield "counted/" + PAGE, list(counts(nodes))
    below = set().union(*version_script(more[more.index("--without") + 1]).values()) if "--without" in more else set()
    api = set().union(*(names for node, names in nodes.items() if PRIVATE not in node))
    yield difference("listed/what-is-declared", declared(header) - below, api, "in %s, going by %s" % (script, header))
    if "--users" in more:
        private = set().union(*(names for node, names in nodes.items() if PRIVATE in node))
        users = more[more.index("--users") + 1 :]
        imported = {symbol.split("@")[0] for user in users for symbol in symbols(user, "--undefined-only")}
        yield difference("private/what-is-used", private & imported, private, "in %s, going by what files import" % script)


def plugin_cases(*paths):
    for path in paths:
        name = re.sub(r"^libgst|\.so$", "", os.path.basename(path))
        entries = {"gst_plugin_%s_%s" % (name, what) for what in ("get_desc", "register")}
        yield difference("exports/" + os.path.basename(path), entries, symbols(path, "--defined-only"), "in " + path)


def main():
    cases = {"library": library_cases, "plugins": plugin_cases}[sys.argv[1]]
    good = True
    number = 0
    for number, (name, problems) in enumerate(cases(*sys.argv[2:]), 1):
        good &= not problems
        print("%s %d /symbols/%s" % ("not ok" if problems else "ok", number, name))
        for problem in problems:
            print("# " + problem)
    print("1..%d" % number)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
