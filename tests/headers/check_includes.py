#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""TAP: each header compiles alone, and each folder includes only what it may (docs/architecture.md has the same map).

Called by meson: check_includes.py SOURCE_ROOT BUILD_ROOT PACKAGES -- COMPILER...
PACKAGES are the pkg-config packages found, separated by commas; headers of plugins/ and tools/ are compiled only
when GStreamer is among them.
"""
import os
import re
import subprocess
import sys

# Folder: folders whose headers it may include beside its own, and library headers it must not include.
GSTREAMER = r"gst/"
GLIB = r"(glib|gio|gmodule|gobject)"
XNNPACK = r"(xnnpack|pthreadpool)\.h"
ARROWS = {
    "preprocess": ([], [GSTREAMER, GLIB, XNNPACK]),
    "core": ([], [GSTREAMER]),
    "models": (["core"], [GSTREAMER, XNNPACK]),
    "postprocess": (["core"], [GSTREAMER, XNNPACK]),
    "predict": (["preprocess", "core", "models", "postprocess"], [GSTREAMER, XNNPACK]),
    "plugins": (["preprocess", "core", "models", "postprocess", "predict"], [XNNPACK]),
    "pipelines": (["core", "postprocess", "predict"], [XNNPACK]),
    "tools": (["preprocess", "core", "models", "postprocess", "predict", "plugins", "pipelines"], [XNNPACK]),
}
# Of core, only these files know XNNPACK and its thread pool.
XNNPACK_FILES = {"core/xnnpack.c", "core/xnn_weights.c", "core/session.c", "core/threadpool.c"}
NEEDS_GSTREAMER = {"plugins", "pipelines", "tools"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def sources(root, folder, ending):
    for where, _, names in sorted(os.walk(os.path.join(root, folder))):
        for name in sorted(names):
            if name.endswith(ending):
                yield os.path.relpath(os.path.join(where, name), root)


def wrong_includes(root, folder, path):
    """Sentences, one for each include that path must not have."""
    allowed, banned = ARROWS[folder]
    if folder == "core" and path not in XNNPACK_FILES:
        banned = banned + [XNNPACK]
    with open(os.path.join(root, path), encoding="utf-8") as file:
        includes = INCLUDE.findall(file.read())
    for quote, name in includes:
        top = name.split("/")[0]
        if quote == '"' and name != "config.h" and top not in allowed + [folder]:
            yield '%s includes "%s": %s/ may include %s' % (path, name, folder, ", ".join(allowed + [folder]))
        if any(re.match(pattern, name) for pattern in banned):
            yield "%s includes <%s>, which is not %s/'s to know" % (path, name, folder)


def compile_alone(root, build, compiler, flags, path):
    command = compiler + flags + ["-std=gnu11", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror", "-fsyntax-only"]
    command += ["-I" + root, "-I" + build, "-x", "c", "-"]
    return subprocess.run(command, input='#include "%s"\n' % path, text=True, capture_output=True, check=False)


def main():
    split = sys.argv.index("--")
    root, build, packages = sys.argv[1:split]
    compiler = sys.argv[split + 1 :]
    packages = packages.split(",")
    flags = subprocess.check_output(["pkg-config", "--cflags"] + packages, text=True).split()
    number = 0

    def report(good, name, lines=()):
        nonlocal number
        number += 1
        print("%s %d /headers/%s" % ("ok" if good else "not ok", number, name))
        for line in lines:
            print("# " + line)
        return good

    good = True
    for folder in ARROWS:
        wrong = [line for path in sources(root, folder, (".c", ".h")) for line in wrong_includes(root, folder, path)]
        good &= report(not wrong, "arrows/" + folder, wrong)
        if folder in NEEDS_GSTREAMER and "gstreamer-1.0" not in packages:
            continue
        for path in sources(root, folder, ".h"):
            result = compile_alone(root, build, compiler, flags, path)
            good &= report(result.returncode == 0, "alone/" + path, result.stderr.splitlines())
    print("1..%d" % number)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
