#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""TAP: how each installed file was compiled and linked, as `readelf` sees it.

Called by meson: hardening.py fortified|plain FILE...
"plain" where functions are not fortified: without optimisation, or with a sanitizer.
"""
import os
import re
import shutil
import subprocess
import sys


def readelf(path, *options):
    return subprocess.run(["readelf", "--wide", *options, path], check=True, capture_output=True, text=True, env=dict(os.environ, LC_ALL="C")).stdout


def imports(path):
    return re.findall(r"UND (\w+)", readelf(path, "--dyn-syms"))


def has_fortified(path):
    """Whether one of its functions is fortified. Compilers leave out the check where they see that it holds, so a file may have none."""
    return any(re.fullmatch(r"__\w+_chk", name) and name != "__stack_chk_fail" for name in imports(path))


def problems(path):
    """Sentences, one for each thing that does not hold."""
    dynamic, segments = readelf(path, "--dynamic"), readelf(path, "--segments")
    flags = " ".join(re.findall(r"\(FLAGS(?:_1)?\)\s+(.*)", dynamic))
    if not re.search(r"\bGNU_RELRO\b", segments):
        yield "no segment GNU_RELRO: its tables of addresses stay writable"
    if "NOW" not in flags:
        yield "not linked with -z now: its tables of addresses stay writable (flags: %s)" % flags
    if not re.search(r"GNU_STACK.* RW ", segments):
        yield "the stack is executable"
    if "Type:                              DYN" not in readelf(path, "--file-header"):
        yield "not position independent"
    if "TEXTREL" in dynamic:
        yield "relocations in code"
    if "__stack_chk_fail" not in imports(path):
        yield "no function has a stack protector"
    if ".so" in os.path.basename(path) and "NODELETE" not in flags:
        yield "not linked with -z nodelete: its types would be registered twice (flags: %s)" % flags


def main():
    if shutil.which("readelf") is None:
        print("1..0 # SKIP readelf is not installed")
        return 0
    fortified, paths = sys.argv[1] == "fortified", sys.argv[2:]
    good = True
    print("1..%d" % (len(paths) + 1))
    for number, path in enumerate(paths, 1):
        wrong = list(problems(path))
        good &= not wrong
        print("%s %d /hardening/%s" % ("not ok" if wrong else "ok", number, os.path.basename(path)))
        for line in wrong:
            print("# " + line)
    name = "/hardening/fortified"
    if not fortified:
        print("ok %d %s # SKIP not optimised, or with a sanitizer" % (len(paths) + 1, name))
    elif any(has_fortified(path) for path in paths):
        print("ok %d %s" % (len(paths) + 1, name))
    else:
        good = False
        print("not ok %d %s\n# no function of any file is fortified" % (len(paths) + 1, name))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
