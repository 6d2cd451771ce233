#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""TAP: each header compiles alone, and each folder, and each room of core, includes only what it may (docs/architecture.md has the same
map). A header that another folder includes carries the line DOOR_MARK; the others are private. No files include each other in
a circle.

Called by meson: check_includes.py SOURCE_ROOT BUILD_ROOT COMPILER...
A public header, of include/, is compiled as an application does, with include/ and GLib alone, and reaches nothing private.
A header that a source, or another such header, includes first is not compiled once more. Another is compiled with the include folders that meson compiles its folder's sources with, as BUILD_ROOT's
compile_commands.json has them; those of plugins/, pipelines/ and tools/ only where GStreamer is among them.
"""
import json
import os
import re
import shlex
import subprocess
import sys

# Folder: folders whose headers it may include beside its own and those of core/base, and library headers it must not include. A folder
# inside another is a folder of its own.
GSTREAMER = r"gst/"
GLIB = r"(glib|gio|gmodule|gobject)"
XNNPACK = r"(xnnpack|pthreadpool)\.h"
BASE, PREDICTIONS, ANALYZE, READ = "core/base", "postprocess/predictions", "postprocess/analyze", "postprocess/read"
QUANTIZE, REPLAY, REMOTE, PUSH, GALLERY, EVALUATE = "models/quantize", "models/replay", "pipelines/remote", "pipelines/push", "pipelines/gallery", "tools/evaluate"
ARROWS = {
    "include": ([], [GSTREAMER, XNNPACK]),
    BASE: ([], [GSTREAMER, XNNPACK]),
    "preprocess": ([], [GSTREAMER, GLIB, XNNPACK]),
    "core": ([], [GSTREAMER]),
    "models": (["core"], [GSTREAMER, XNNPACK]),
    "postprocess": (["core"], [GSTREAMER, XNNPACK]),
    PREDICTIONS: (["core", "models", "postprocess"], [GSTREAMER, XNNPACK]),
    ANALYZE: ([PREDICTIONS], [GSTREAMER, XNNPACK]),
    "predict": (["preprocess", "core", "models", "postprocess", PREDICTIONS], [GSTREAMER, XNNPACK]),
    QUANTIZE: (["preprocess", "core", "models", "postprocess", "predict"], [GSTREAMER, XNNPACK]),
    EVALUATE: ([], [GSTREAMER, XNNPACK]),
    REPLAY: (["core", "models"], [GSTREAMER, XNNPACK]),
    READ: (["preprocess"], [GSTREAMER, XNNPACK]),
    REMOTE: (["core", "models"], [GSTREAMER, XNNPACK]),
    PUSH: ([], [GSTREAMER, XNNPACK]),
    GALLERY: (["core", REMOTE], [GSTREAMER, XNNPACK]),
    "plugins": (["preprocess", READ, "core", "models", "postprocess", PREDICTIONS, ANALYZE, "predict", REPLAY, REMOTE, PUSH, GALLERY], [XNNPACK]),
    "pipelines": (["core", PREDICTIONS, ANALYZE, "predict"], [XNNPACK]),
    "tools": (["preprocess", "core", "models", "postprocess", PREDICTIONS, ANALYZE, "predict", QUANTIZE, EVALUATE, REPLAY, REMOTE, PUSH, GALLERY, "plugins", "pipelines"], [XNNPACK]),
}
# The second line of a header that files of other folders may include. Every header of core/base is one.
DOOR_MARK = "/* Door: other folders may include this header. */"
# Which of the public headers, include/sightline/NAME.h, a folder may include. They include each other and nothing else of ours.
PUBLIC = {
    "include": {"custom_decoder", "decoder_plugin", "error", "frame", "object", "output", "predictions", "predictor", "pipeline", "sightline"},
    BASE: {"error"},
    "core": {"error"},
    "models": {"error"},
    "postprocess": {"decoder_plugin", "error"},
    PREDICTIONS: {"error"},
    ANALYZE: {"error"},
    "predict": {"custom_decoder", "error", "frame", "predictions", "predictor"},
    QUANTIZE: {"error"},
    EVALUATE: {"error"},
    REPLAY: {"error"},
    READ: set(),
    REMOTE: {"error"},
    PUSH: {"error"},
    GALLERY: {"error"},
    "plugins": {"error", "frame", "predictions"},
    "pipelines": {"error", "frame", "predictions", "pipeline"},
    "tools": {"error", "frame", "predictions", "predictor", "pipeline"},
}
# Rooms: which others of their folder their files may include beside their own. Each folder of core/backends/ is a room,
# which no other may include. Files of models/ outside of these rooms may include all of them.
ROOMS = {
    "core/graph": [],
    "core/ops": ["core/graph"],
    "core/passes": ["core/graph", "core/ops"],
    "core/search": [],
    "core/sql": [],
    "core/backends": ["core/graph", "core/ops"],
    "core/external": ["core/graph"],
    "core/runtime": ["core/graph", "core/ops", "core/backends", "core/external"],
    "models/lower": [],
    "models/aten": ["models/lower"],
    "models/onnx": ["models/lower"],
    "models/torch": ["models/lower", "models/aten"],
    "models/torchscript": ["models/lower", "models/aten", "models/torch"],
    "models/pt2": ["models/lower", "models/aten", "models/torch", "models/torchscript"],
    "models/tflite": [],
}
BACKEND = ["core/graph", "core/ops", "core/backends"]
# The only room of core that knows XNNPACK and its thread pool.
XNNPACK_ROOM = "core/backends/xnnpack"
NEEDS_GSTREAMER = {"plugins", "pipelines", "tools"}
PROTOTYPE = re.compile(r"^([A-Za-z][^;{}#()]*?)\b(sl_\w+) \(", re.MULTILINE)
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def folder_of(path):
    """The folder of ARROWS in which a file lies; the innermost one."""
    return max((folder for folder in ARROWS if path.startswith(folder + "/")), key=len, default=path.split("/")[0])


def sources(root, folder, ending):
    """Paths of the folder's files, without those of folders of ARROWS inside of it."""
    for where, _, names in sorted(os.walk(os.path.join(root, folder))):
        if os.path.relpath(where, root) != folder and folder_of(os.path.relpath(where, root) + "/") != folder:
            continue
        for name in sorted(names):
            if name.endswith(ending):
                yield os.path.relpath(os.path.join(where, name), root)


def room_of(path):
    """core/backends/int8 for a file there, core/ops for one in core/ops/kernels."""
    parts = os.path.dirname(path).split("/")
    return "/".join(parts[: 3 if parts[:2] == ["core", "backends"] else 2])


def includes(root, path):
    """What path includes of ours, outside of include/."""
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return [name for quote, name in INCLUDE.findall(file.read()) if quote == '"' and os.path.exists(os.path.join(root, name))]


def own_includes(root, path):
    """What path includes of its own folder."""
    return [name for name in includes(root, path) if folder_of(name) == folder_of(path)]


def is_room(room):
    return room in ROOMS or room.startswith("core/")


def wrong_rooms(root, path):
    """Sentences, one for each include of another room that path must not have."""
    room = room_of(path)
    allowed = ROOMS.get(room, BACKEND if room.startswith("core/backends/") else []) + [room]
    for name in own_includes(root, path) if is_room(room) else ():
        if is_room(room_of(name)) and room_of(name) not in allowed:
            yield '%s includes "%s": %s/ may include %s' % (path, name, room, ", ".join(allowed))


def module_of(path):
    """A header, its source and its private header are one module."""
    return re.sub(r"(_private)?\.[ch]$", "", path)


def circles(root):
    """Sentences, one for each set of modules that include each other in a circle."""
    reached = {}
    for path in (path for folder in ARROWS for path in sources(root, folder, (".c", ".h", ".cpp"))):
        names = {module_of(name) for name in includes(root, path)} - {module_of(path)}
        reached.setdefault(module_of(path), set()).update(names)
    for name in list(reached):
        waiting = set(reached[name])
        while waiting:
            more = reached.get(waiting.pop(), set()) - reached[name]
            reached[name] |= more
            waiting |= more
    seen = set()
    for module, names in sorted(reached.items()):
        circle = sorted(name for name in names if module in reached.get(name, set()))
        if module in names and module not in seen:
            seen |= set(circle)
            yield "these include each other: " + ", ".join(circle)


def wrong_includes(root, folder, path):
    """Sentences, one for each include that path must not have."""
    allowed, banned = ARROWS[folder]
    allowed = allowed + sorted({BASE, folder} if folder != "include" else {folder})
    if folder == "core" and room_of(path) != XNNPACK_ROOM:
        banned = banned + [XNNPACK]
    with open(os.path.join(root, path), encoding="utf-8") as file:
        includes = INCLUDE.findall(file.read())
    for quote, name in includes:
        top = folder_of(name)
        if name.startswith("sightline/"):
            if name[len("sightline/") : -len(".h")] not in PUBLIC.get(folder, ()):
                yield '%s includes "%s": of include/sightline, %s/ may include %s' % (path, name, folder, ", ".join(sorted(PUBLIC.get(folder, ()))))
        elif quote == '"' and name != "config.h" and top not in allowed:
            yield '%s includes "%s": %s/ may include %s' % (path, name, folder, ", ".join(allowed))
        if any(re.match(pattern, name) for pattern in banned):
            yield "%s includes <%s>, which is not %s/'s to know" % (path, name, folder)


def is_door(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return DOOR_MARK in file.read(1000).splitlines()


def wrong_doors(root):
    """Sentences: private headers that another folder includes, and marked ones that none does."""
    users = {}
    for folder in ARROWS:
        for path in sources(root, folder, (".c", ".h", ".cpp")):
            with open(os.path.join(root, path), encoding="utf-8") as file:
                names = [name for quote, name in INCLUDE.findall(file.read()) if quote == '"']
            for name in names:
                if name.endswith(".h") and folder_of(name) not in ("include", BASE, "sightline", folder) and "/" in name:
                    users.setdefault(name, []).append(path)
    for name, paths in sorted(users.items()):
        if not is_door(root, name):
            yield '%s includes "%s", which is private to %s/: as its second line it needs %s' % (paths[0], name, folder_of(name), DOOR_MARK)
    for folder in ARROWS:
        for path in sources(root, folder, ".h"):
            if is_door(root, path) and path not in users:
                yield "%s is marked as a door, and no other folder includes it: remove the mark" % path


def compile_commands(root, build):
    """[(source, words of the command that compiles it)]; a source may be compiled several times."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        entries = json.load(file)
    return [(os.path.relpath(os.path.join(entry["directory"], entry["file"]), root), shlex.split(entry["command"])) for entry in entries]


def first_include(root, path):
    """What a source or header of ours includes first, if that is a header of ours, else None."""
    if not os.path.exists(os.path.join(root, path)):
        return None
    with open(os.path.join(root, path), encoding="utf-8") as file:
        first = INCLUDE.search(file.read())
    return first[2] if first and first[1] == '"' and os.path.exists(os.path.join(root, first[2])) else None


def proven_alone(root, commands):
    """Headers that the build proves to compile alone: those that a compiled source, or such a header, includes first. Precompiled headers may
    hide what is missing; `.ci/run sanitizers` builds without."""
    proven = set()
    for path in [source for source, _ in commands if source.endswith(".c")]:
        while path := first_include(root, path):
            if path in proven:
                break
            proven.add(path)
    return proven


def folder_flags(commands, folder):
    """What the folder's sources are compiled with: -I, -isystem and -pthread, each once, in the order met."""
    flags = []
    for source, command in commands:
        words = iter(command if folder_of(source) == folder else [])
        for word in words:
            if word == "-isystem":
                word += next(words)
            if word.startswith(("-I", "-isystem", "-pthread")) and word not in flags:
                flags.append(word)
    return flags


def application_flags(root, build, commands):
    """What an application is compiled with: the include folder, and GLib."""
    flags = [flag for flag in folder_flags(commands, "predict") if flag.startswith(("-I/", "-isystem/", "-pthread"))]
    return ["-I" + os.path.join(root, "include")] + [flag for flag in flags if not flag.endswith((root, build)) and root + "/" not in flag]


def compile_alone(build, compiler, flags, name):
    """The finished process; its output lists the files that the header brings with it, as make has them."""
    command = compiler + flags + ["-std=gnu11", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror", "-fsyntax-only", "-MD", "-MF", "-", "-x", "c", "-"]
    return subprocess.run(command, input='#include "%s"\n' % name, text=True, capture_output=True, check=False, cwd=build)


def private_includes(root, build, name, made_of):
    """Sentences, one for each file of ours outside of include/ that the public header brings with it, by what compile_alone() listed."""
    reached = (os.path.realpath(os.path.join(build, path)) for path in made_of.replace("\\\n", " ").split()[1:])
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


def twice_declared(root):
    """Sentences, one for each function that two headers declare: a program with both could call either."""
    first = {}
    for path in (path for folder in ARROWS for path in sources(root, folder, ".h")):
        with open(os.path.join(root, path), encoding="utf-8") as file:
            text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.DOTALL)
        for start, name in PROTOTYPE.findall(text):
            if not start.startswith("static") and first.setdefault(name, path) != path:
                yield "%s and %s declare %s: name one of them differently" % (first[name], path, name)


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

    commands = compile_commands(root, build)
    proven = proven_alone(root, commands)
    missing = list(not_installed(root, build))
    good = report(not missing, "installed", missing)
    wrong = list(wrong_doors(root))
    good &= report(not wrong, "doors", wrong)
    wrong = list(twice_declared(root))
    good &= report(not wrong, "declared-once", wrong)
    wrong = list(circles(root))
    good &= report(not wrong, "circles", wrong)
    for folder in ARROWS:
        wrong = [line for path in sources(root, folder, (".c", ".h")) for line in wrong_includes(root, folder, path)]
        good &= report(not wrong, "arrows/" + folder, wrong)
        if any(room.startswith(folder + "/") for room in ROOMS):
            wrong = [line for path in sources(root, folder, (".c", ".h")) for line in wrong_rooms(root, path)]
            good &= report(not wrong, "rooms/" + folder, wrong)
        flags = application_flags(root, build, commands) if folder == "include" else folder_flags(commands, folder) + ["-I" + root, "-I" + build]
        if folder.split("/")[0] in NEEDS_GSTREAMER and folder not in (REMOTE, EVALUATE) and not any(flag.endswith("gstreamer-1.0") for flag in flags):
            continue
        for path in sources(root, folder, ".h"):
            if path in proven:
                good &= report(True, "alone/" + path)
                continue
            name = path[len("include/") :] if folder == "include" else path
            result = compile_alone(build, compiler, flags, name)
            good &= report(result.returncode == 0, "alone/" + path, result.stderr.splitlines())
            if folder == "include":
                private = private_includes(root, build, name, result.stdout)
                good &= report(not private, "public/" + path, private)
    print("1..%d" % number)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
