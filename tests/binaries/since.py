#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""TAP: all that is public is documented, and says since which version it is, as g-ir-scanner reads the doc comments.

Called by meson: since.py VERSION VERSION_SCRIPT GIR [VERSION_SCRIPT GIR]...
VERSION is the project's: nothing is of a later one. A function that a version script lists as API has to be in the GIR file beside it.
"""
import re
import sys
import xml.etree.ElementTree

from symbols import PRIVATE, version_script

CORE = "{http://www.gtk.org/introspection/core/1.0}"
C = "{http://www.gtk.org/introspection/c/1.0}"
GLIB = "{http://www.gtk.org/introspection/glib/1.0}"
FUNCTIONS = [CORE + kind for kind in ("function", "method", "constructor", "virtual-method")]
TYPES = [CORE + kind for kind in ("class", "record", "enumeration", "bitfield", "callback", "interface", "alias", "constant")]


def entries(gir):
    """(what it is called, element) of each function, type, property and signal of the file's namespace."""
    namespace = xml.etree.ElementTree.parse(gir).getroot().find(CORE + "namespace")
    # The same functions again, as members of the class structure.
    members = {callback for field in namespace.iter(CORE + "field") for callback in field.findall(CORE + "callback")}
    for kind in TYPES:
        for what in namespace.iter(kind):
            name = what.get(C + "type") or what.get("name")
            # The class structure of a GObject is not declared by hand.
            if what not in members and what.get(GLIB + "is-gtype-struct-for") is None and not what.get(C + "type", "").startswith("_"):
                yield name, what
            for part in what.findall(CORE + "property"):
                yield name + ":" + part.get("name"), part
            for part in what.findall(GLIB + "signal"):
                yield name + "::" + part.get("name"), part
    for kind in FUNCTIONS:
        for what in namespace.iter(kind):
            yield what.get(C + "identifier") or what.get("name"), what


def undocumented(name, what):
    """(what it is called, element) of @what, its values, parameters and result that have no text; a record's fields are its own."""
    parts = [(name, what)] + [("%s: value %s" % (name, part.get("name")), part) for part in what.findall(CORE + "member")]
    if what.tag in FUNCTIONS or what.tag == CORE + "callback":
        parts += [("%s: parameter %s" % (name, part.get("name")), part) for part in what.findall("%sparameters/%sparameter" % (CORE, CORE))]
        value = what.find(CORE + "return-value")
        if value is not None and value.find(CORE + "type") is not None and value.find(CORE + "type").get("name") != "none":
            parts.append((name + ": what it returns", value))
    return [(part, element) for part, element in parts if element.find(CORE + "doc") is None]


def number(version):
    return tuple(int(part) for part in version.split("."))


def problems(version, script, gir):
    seen = set()
    for name, what in entries(gir):
        seen.add(name)
        since = what.get("version")
        for part, element in undocumented(name, what):
            yield "%s: expected a sentence in its doc comment, got none; write it above 'Returns:' or after the name" % part
        if since is None or not re.fullmatch(r"\d+\.\d+", since):
            yield "%s: expected a line 'Since: MAJOR.MINOR' in its doc comment, got %s" % (name, since or "none")
        elif number(since) > number(version):
            yield "%s: expected a version up to %s, got 'Since: %s'" % (name, version, since)
    api = set().union(*(names for node, names in version_script(script).items() if PRIVATE not in node))
    for name in sorted(api - seen):
        if not name.endswith("_get_type"):
            yield "%s: expected it in %s, because %s lists it: give it a doc comment" % (name, gir, script)


def main():
    version, files = sys.argv[1], sys.argv[2:]
    good = True
    print("1..%d" % (len(files) // 2))
    for i in range(0, len(files), 2):
        found = list(problems(version, *files[i : i + 2]))
        good &= not found
        print("%s %d /since/%s" % ("not ok" if found else "ok", i // 2 + 1, files[i + 1].rsplit("/", 1)[-1]))
        for line in found:
            print("# " + line)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
