# SPDX-License-Identifier: LGPL-2.1-or-later
"""A build for one model alone. Arguments: BUILD, of -Doperators=mobilenet_v2_1.0_224_quant.tflite and without the plugin; DATA, the shared data;
SOURCES; then EXPORTED, a build of -Doperators=channels.v0.pt2 in the folder TOYS. It must be small, predict as LiteRT does, bit by bit, and say of what it
has not that it was left out."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

MAX_BYTES = 450000
BUILD, DATA, SOURCES, EXPORTED, TOYS = (os.path.realpath(path) for path in sys.argv[1:6])
MODEL = "mobilenet_v2_1.0_224_quant"
LEFT_OUT = "is left out of this build: build it with this model in meson's option operators"


def model(name):
    return os.path.join(DATA, "models", name)


def golden(name):
    return os.path.join(DATA, "golden", "%s.%s" % (MODEL, name))


def run(program, *arguments, library=BUILD):
    return subprocess.run([program, *arguments], capture_output=True, env=os.environ | {"LD_LIBRARY_PATH": library})


def compiled(folder):
    flags = subprocess.check_output(["pkg-config", "--cflags", "--libs", "gobject-2.0", "gio-2.0"], text=True).split()
    program = os.path.join(folder, "outputs")
    subprocess.check_call(["cc", "-Wall", "-Werror", os.path.join(SOURCES, "tests", "selective", "outputs.c"), "-o", program,
                           "-I" + os.path.join(SOURCES, "include"), "-L" + BUILD, "-lsightline-1.0", *flags])
    return program


def checks(folder):
    stripped = os.path.join(folder, "stripped.so")
    subprocess.check_call(["strip", "-o", stripped, os.path.join(BUILD, "libsightline-1.0.so.0")])
    size = os.path.getsize(stripped)
    print("# libsightline has %d bytes, stripped" % size)
    yield "it has fewer than %d bytes: %d" % (MAX_BYTES, size), size < MAX_BYTES
    program = compiled(folder)
    for picture in ("grace_hopper", "cat", "prng"):
        with open(golden(picture + ".xnn.out0.bin"), "rb") as file:
            expected = file.read()
        result = run(program, model(MODEL + ".tflite"), golden(picture + ".in"))
        yield "its output for %s is LiteRT's %s" % (picture, result.stderr.decode()), result.stdout == expected
    ppm = os.path.join(folder, "hopper.ppm")
    with open(golden("grace_hopper.in"), "rb") as pixels, open(ppm, "wb") as file:
        file.write(b"P6 224 224 255\n" + pixels.read())
    labelled = os.path.join(folder, MODEL + ".tflite")
    shutil.copy(model(MODEL + ".tflite"), labelled)
    shutil.copy(model("imagenet_labels.txt"), folder)
    with open(labelled + ".modelinfo", "w", encoding="utf-8") as file:
        file.write("[modelinfo]\nversion=1.0\n[sightline]\nlabels=imagenet_labels.txt\n")
    result = run(os.path.join(BUILD, "examples", "predict_picture"), labelled, ppm)
    yield "it sees a military uniform %r" % (result.stdout + result.stderr), b"military uniform" in result.stdout.split(b"\n")[0]
    for what, arguments in (("an operator", (model("ssd_mobilenet_v1.tflite"), golden("cat.in"))),
                            ("a format", (model("mobilenet_v2_quant.onnx"), golden("cat.in"))),
                            ("a decoder", (model(MODEL + ".tflite"), golden("cat.in"), "yolo"))):
        result = run(program, *arguments)
        yield "of %s it says that it was left out: %s" % (what, result.stderr.decode()), result.returncode == 1 and LEFT_OUT in result.stderr.decode()


def exported(folder):
    """A build for a program of torch.export, which has neither the other formats nor ONNX's other operators."""
    ppm = os.path.join(folder, "green.ppm")
    with open(ppm, "wb") as file:
        file.write(b"P6 8 8 255\n" + bytes((51, 204, 102)) * 64)
    program = os.path.join(EXPORTED, "examples", "predict_picture")
    for name in ("channels.v0.pt2", "channels.pt2"):
        result = run(program, os.path.join(TOYS, name), ppm, library=EXPORTED)
        yield "%s sees green %r" % (name, result.stdout + result.stderr), b"green" in result.stdout.split(b"\n")[0]
    result = run(program, os.path.join(TOYS, "brightest_channel.tflite"), ppm, library=EXPORTED)
    yield "of TensorFlow Lite it says that it was left out: %s" % result.stderr.decode(), result.returncode == 1 and LEFT_OUT in result.stderr.decode()


def refusals(folder):
    """Lists that inspect --needs did not print, or not this version's, end the setup with a sentence."""
    version = json.loads(run("meson", "introspect", "--projectinfo", BUILD).stdout)["version"]
    good = "version %s\nreader tflite\noperator MEAN" % version  # an editor may leave the last newline away
    for name, texts, expected in (("unknown", (good, good.replace("MEAN", "NOPE")), "this version has no operator called NOPE"),
                                  ("unversioned", ("reader tflite\n",), 'unversioned0.needs: expected a line "version %s" in it' % version),
                                  ("old", ("version 0.0.1\n",), "of version %s prints; got a list of version 0.0.1" % version)):
        paths = [os.path.join(folder, "%s%d.needs" % (name, number)) for number in range(len(texts))]
        for path, text in zip(paths, texts):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        result = run("meson", "setup", os.path.join(folder, name), SOURCES, "-Dplugin=disabled", "-Dtests=disabled", "-Dbench=disabled",
                     "-Dintrospection=disabled", "-Doperators=" + ",".join(paths))
        said = result.stdout.decode()
        yield "a list is refused, %s: %s" % (name, said.strip().split("\n")[-3:]), result.returncode == 1 and expected in said


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        found = list(checks(folder)) + list(exported(folder)) + list(refusals(folder))
    for name, good in found:
        failed += not good
        print("%s %s" % ("ok" if good else "not ok", name.replace("\n", " ")))
    print("%d passed, %d failed, 0 skipped" % (len(found) - failed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
