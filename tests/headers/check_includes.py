#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""TAP: each header compiles alone, and each folder, and each room of core, includes only what it may (docs/architecture.md has the same
map). No files of core include each other in a circle.

Called by meson: check_includes.py SOURCE_ROOT BUILD_ROOT COMPILER...
A public header, of include/, is compiled as an application does, with include/ and GLib alone, and reaches nothing private.
Another is compiled with the include folders that meson compiles its folder's sources with, as BUILD_ROOT's
compile_commands.json has them; those of plugins/, pipelines/ and tools/ only where GStreamer is among them.
"""
import json
import os
import re
import shlex
import subprocess
import sys

# Folder: folders whose headers it may include beside its own and base's, and library headers it must not include.
GSTREAMER = r"gst/"
GLIB = r"(glib|gio|gmodule|gobject)"
XNNPACK = r"(xnnpack|pthreadpool)\.h"
ARROWS = {
    "include": ([], [GSTREAMER, XNNPACK]),
    "base": ([], [GSTREAMER, XNNPACK]),
    "preprocess": ([], [GSTREAMER, GLIB, XNNPACK]),
    "core": ([], [GSTREAMER]),
    "models": (["core"], [GSTREAMER, XNNPACK]),
    "postprocess": (["core"], [GSTREAMER, XNNPACK]),
    "predictions": (["core", "models", "postprocess"], [GSTREAMER, XNNPACK]),
    "analyze": (["predictions"], [GSTREAMER, XNNPACK]),
    "predict": (["preprocess", "core", "models", "postprocess", "predictions"], [GSTREAMER, XNNPACK]),
    "quantize": (["preprocess", "core", "models", "postprocess", "predict"], [GSTREAMER, XNNPACK]),
    "evaluate": ([], [GSTREAMER, XNNPACK]),
    "replay": (["core", "models"], [GSTREAMER, XNNPACK]),
    "read": (["preprocess"], [GSTREAMER, XNNPACK]),
    "remote": (["core", "models"], [GSTREAMER, XNNPACK]),
    "plugins": (["preprocess", "read", "core", "models", "postprocess", "predictions", "analyze", "predict", "replay", "remote"], [XNNPACK]),
    "pipelines": (["core", "predictions", "analyze", "predict"], [XNNPACK]),
    "tools": (["preprocess", "core", "models", "postprocess", "predictions", "analyze", "predict", "quantize", "evaluate", "replay", "remote", "plugins", "pipelines"], [XNNPACK]),
}
# Which of the public headers, include/sightline/NAME.h, a folder may include. They include each other and nothing else of ours.
DOOR = {
    "include": {"custom_decoder", "decoder_plugin", "error", "frame", "object", "output", "predictions", "predictor", "pipeline", "sightline"},
    "core": {"error"},
    "models": {"error"},
    "postprocess": {"decoder_plugin", "error"},
    "predictions": {"error"},
    "analyze": {"error"},
    "predict": {"custom_decoder", "error", "frame", "predictions", "predictor"},
    "quantize": {"error"},
    "evaluate": {"error"},
    "replay": {"error"},
    "read": set(),
    "remote": {"error"},
    "plugins": {"error", "frame", "predictions"},
    "pipelines": {"error", "frame", "predictions", "pipeline"},
    "tools": {"error", "frame", "predictions", "predictor", "pipeline"},
}
# Rooms of core: which others their files may include beside their own. Each folder of core/backends/ is a room,
# which no other may include.
ROOMS = {
    "core/graph": [],
    "core/ops": ["core/graph"],
    "core/passes": ["core/graph", "core/ops"],
    "core/backends": ["core/graph", "core/ops"],
    "core/external": ["core/graph"],
    "core/runtime": ["core/graph", "core/ops", "core/backends", "core/external"],
}
BACKEND = ["core/graph", "core/ops", "core/backends"]
# The only room of core that knows XNNPACK and its thread pool.
XNNPACK_ROOM = "core/backends/xnnpack"
NEEDS_GSTREAMER = {"plugins", "pipelines", "tools"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def sources(root, folder, ending):
    for where, _, names in sorted(os.walk(os.path.join(root, folder))):
        for name in sorted(names):
            if name.endswith(ending):
                yield os.path.relpath(os.path.join(where, name), root)


def room_of(path):
    """core/backends/int8 for a file there, core/ops for one in core/ops/kernels."""
    parts = os.path.dirname(path).split("/")
    return "/".join(parts[: 3 if parts[:2] == ["core", "backends"] else 2])


def core_includes(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return [name for quote, name in INCLUDE.findall(file.read()) if quote == '"' and name.startswith("core/")]


def wrong_rooms(root, path):
    """Sentences, one for each include of another room of core that path must not have."""
    room = room_of(path)
    allowed = ROOMS.get(room, BACKEND if room.startswith("core/backends/") else []) + [room]
    for name in core_includes(root, path):
        if room_of(name) not in allowed:
            yield '%s includes "%s": %s/ may include %s' % (path, name, room, ", ".join(allowed))


def module_of(path):
    """A header, its source and its private header are one module."""
    return re.sub(r"(_private)?\.[ch]$", "", path)


def circles(root):
    """Sentences, one for each set of modules of core that include each other in a circle."""
    reached = {}
    for path in sources(root, "core", (".c", ".h")):
        names = {module_of(name) for name in core_includes(root, path)} - {module_of(path)}
        reached.setdefault(module_of(path), set()).update(names)
    changed = True
    while changed:
        changed = False
        for names in reached.values():
            more = set().union(*(reached.get(name, set()) for name in names)) - names
            names |= more
            changed = changed or bool(more)
    seen = set()
    for module, names in sorted(reached.items()):
        circle = sorted(name for name in names if module in reached.get(name, set()))
        if module in names and module not in seen:
            yield "these include each other: " + ", ".join(circle)
            seen |= set(circle)


def wrong_includes(root, folder, path):
    """Sentences, one for each include that path must not have."""
    allowed, banned = ARROWS[folder]
    allowed = allowed + sorted({"base", folder} if folder != "include" else {folder})
    if folder == "core" and room_of(path) != XNNPACK_ROOM:
        banned = banned + [XNNPACK]
    with open(os.path.join(root, path), encoding="utf-8") as file:
        includes = INCLUDE.findall(file.read())
    for quote, name in includes:
        top = name.split("/")[0]
        if top == "sightline":
            if name[len("sightline/") : -len(".h")] not in DOOR.get(folder, ()):
                yield '%s includes "%s": of include/sightline, %s/ may include %s' % (path, name, folder, ", ".join(sorted(DOOR.get(folder, ()))))
        elif quote == '"' and name != "config.h" and top not in allowed:
            yield '%s includes "%s": %s/ may include %s' % (path, name, folder, ", ".join(allowed))
        if any(re.match(pattern, name) for pattern in banned):
            yield "%s includes <%s>, which is not %s/'s to know" % (path, name, folder)


def folder_flags(root, build, folder):
    """What the folder's sources are compiled with: -I, -isystem and -pthread, each once, in the order met."""
    flags = []
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        commands = json.load(file)
    for entry in commands:
        source = os.path.relpath(os.path.join(entry["directory"], entry["file"]), root)
        words = iter(shlex.split(entry["command"]) if source.split(os.sep)[0] == folder else [])
        for word in words:
            if word == "-isystem":
                word += next(words)
            if word.startswith(("-I", "-isystem", "-pthread")) and word not in flags:
                flags.append(word)
    return flags


def application_flags(root, build):
    """What an application is compiled with: the include folder, and GLib."""
    flags = [flag for flag in folder_flags(root, build, "predict") if flag.startswith(("-I/", "-isystem/", "-pthread"))]
    return ["-I" + os.path.join(root, "include")] + [flag for flag in flags if not flag.endswith((root, build)) and root + "/" not in flag]


def compile_alone(build, compiler, flags, name):
    command = compiler + flags + ["-std=gnu11", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror", "-fsyntax-only", "-x", "c", "-"]
    return subprocess.run(command, input='#include "%s"\n' % name, text=True, capture_output=True, check=False, cwd=build)


def private_includes(root, build, compiler, flags, name):
    """Sentences, one for each file of ours outside of include/ that the public header brings with it."""
    done = subprocess.run(compiler + flags + ["-M", "-x", "c", "-"], input='#include "%s"\n' % name, text=True, capture_output=True, check=False, cwd=build)
    if done.returncode != 0:
        return done.stderr.splitlines()
    reached = (os.path.realpath(os.path.join(build, path)) for path in done.stdout.replace("\\\n", " ").split()[1:])
    private = sorted(path for path in reached if path.startswith(os.path.realpath(root) + os.sep))
    public = os.path.realpath(os.path.join(root, "include")) + os.sep
    return ["include/%s reaches %s, which no application has" % (name, path) for path in private if not path.startswith(public)]


def not_installed(root, build):
    """Sentences, one for each public header that is not installed as sightline-1.0/ has it, and each other header that is."""
    with open(os.path.join(build, "meson-info", "intro-installed.json"), encoding="utf-8") as file:
        installed = {os.path.relpath(source, root): target for source, target in json.load(file).items() if source.endswith(".h")}
    public = set(sources(root, "include", ".h"))
    for path in sorted(public - set(installed)):
        # Without GStreamer there is no libsightline-pipeline.
        if "pipeline" not in path:
            yield "%s is not installed" % path
    for path, target in sorted(installed.items()):
        if path not in public:
            yield "%s is installed as %s and is not in include/" % (path, target)
        elif not target.endswith("/sightline-1.0/" + path[len("include/") :]):
            yield "%s is installed as %s, where it cannot be included by its name" % (path, target)


def main():
    root, build = sys.argv[1:3]
    compiler = sys.argv[3:]
    number = 0

    def report(good, name, lines=()):
        nonlocal number
        number += 1
        print("%s %d /headers/%s" % ("ok" if good else "not ok", number, name))
        for line in lines:
            print("# " + line)
        return good

    missing = list(not_installed(root, build))
    good = report(not missing, "installed", missing)
    for folder in ARROWS:
        wrong = [line for path in sources(root, folder, (".c", ".h")) for line in wrong_includes(root, folder, path)]
        good &= report(not wrong, "arrows/" + folder, wrong)
        if folder == "core":
            wrong = [line for path in sources(root, folder, (".c", ".h")) for line in wrong_rooms(root, path)]
            good &= report(not wrong, "rooms/core", wrong)
            wrong = list(circles(root))
            good &= report(not wrong, "circles/core", wrong)
        flags = application_flags(root, build) if folder == "include" else folder_flags(root, build, folder) + ["-I" + root, "-I" + build]
        if folder in NEEDS_GSTREAMER and not any(flag.endswith("gstreamer-1.0") for flag in flags):
            continue
        for path in sources(root, folder, ".h"):
            if folder == "include":
                private = private_includes(root, build, compiler, flags, path[len("include/") :])
                good &= report(not private, "public/" + path, private)
            result = compile_alone(build, compiler, flags, path[len("include/") :] if folder == "include" else path)
            good &= report(result.returncode == 0, "alone/" + path, result.stderr.splitlines())
    print("1..%d" % number)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
