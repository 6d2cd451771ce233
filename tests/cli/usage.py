# SPDX-License-Identifier: LGPL-2.1-or-later
"""Command lines that make no sense, models that are none, and help."""
import json
import os
import re
import shutil
import stat
import subprocess
import sys

import harness
from harness import Skip, model, png, run, work, write


def test_help():
    for args in (["--help"], ["-h"], ["help"]):
        result = run(*args).expect(0)
        for command in ("predict", "inspect", "infer", "bench"):
            assert command in result.out, result
    for command in ("predict", "inspect", "infer", "bench"):
        result = run(command, "--help").expect(0)
        assert "sightline " + command in result.out, result


def test_version():
    result = run("--version").expect(0)
    assert result.out.startswith("sightline ") and result.out.split()[1][0].isdigit(), result
    assert "GLib 2." in result.out and "XNNPACK" in result.out, result
    assert re.fullmatch(r"sightline [0-9.]+( \([0-9a-f]{7,}\))?", result.out.splitlines()[0]), result


def test_no_command():
    run().expect(2, "Usage: sightline COMMAND")
    run("predct").expect(2, "'predct' is not a command; did you mean 'predict'?")
    run("--josn").expect(2, "'--josn' is not an option; expected --help, --version or a command first")
    run("frobnicate").expect(2, "'frobnicate' is not a command; expected predict, get, zoo, advise, inspect, card, infer, convert, quantize, calibrate, fit, eval, bench, backends, run, user, check, replay, tokenize, search, gallery or serve")


def test_missing_module():
    """The program without the module of its large commands, and with one of another version."""
    alone = work("alone")
    os.makedirs(alone)
    program = shutil.copy(harness.PROGRAM, alone)
    environment = dict(os.environ, LD_LIBRARY_PATH=os.path.join(os.path.dirname(harness.PROGRAM), ".."))

    def tell(*args):
        return subprocess.run([program, *args], capture_output=True, text=True, timeout=200, env=environment)

    assert tell("--version").returncode == 0 and tell("infer", "--help").returncode == 0
    told = tell("run", "--help")
    if told.returncode == 0:
        raise Skip("an installed module is found")
    for line in (told.stderr, tell("bench", "preprocess").stderr):
        assert "cannot load the module of this command: " in line and "sightline-commands.so" in line, line
        assert "install Sightline again, with all its files" in line, line
    with open("/proc/self/maps") as maps:
        library = next(line.split()[-1] for line in maps if "/libm" in line)
    shutil.copy(library, os.path.join(alone, "sightline-commands.so"))
    told = tell("run", "--help")
    assert told.returncode == 1 and "the module of this command is not of this version: " in told.stderr, told.stderr


def test_no_proc():
    """Without /proc nobody says where the program is: that is said, once."""
    if harness.SANITIZED:
        raise Skip("the leak checker needs /proc")
    libraries = os.path.dirname(os.path.dirname(harness.PROGRAM))
    script = 'mount -t tmpfs none /proc && LD_LIBRARY_PATH=%s exec "$@"' % libraries
    for words in (["predict", "x.jpg"], ["--help"]):
        done = subprocess.run(["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh", harness.PROGRAM, *words], stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=300)
        told = done.stderr.decode()
        if "unshare" in told or "mount" in told.split(":")[0] or "shared libraries" in told:
            raise Skip("no file system can be mounted here: " + told)
        assert told == "sightline predict: /proc is not mounted, which says where the program and its modules lie: mount it (mount -t proc proc /proc), as a chroot needs\n", told
        assert done.returncode == (1 if words[0] == "predict" else 0), done


def test_missing_arguments():
    run("predict", "--model", model("brightest_channel.tflite")).expect(2, "expected at least one SOURCE")
    run("inspect").expect(2, "expected one MODEL, got 0")
    run("inspect", "a", "b").expect(2, "expected one MODEL, got 2")
    run("infer").expect(2, "--model FILE is required")
    run("infer", "--model", "m").expect(2, "--input FILE is required")
    run("infer", "--model", "m", "--input", "i").expect(2, "--output PREFIX is required")
    run("infer", "--model", "m", "--input", "i", "--output", "o", "extra").expect(2, "unexpected argument 'extra'")


def test_serve():
    there = model("brightest_channel.tflite")
    result = run("serve", "m", "--location", "mqtt://localhost/m")
    if "this build has no MQTT" in result.err:
        raise Skip("no MQTT")
    run("serve", "--location", "mqtt://localhost/m").expect(2, "expected at least one model file")
    run("serve", there).expect(2, "expected --location, such as --location mqtt://localhost/models")
    run("serve", there, there, "--location", "mqtt://localhost/m").expect(1, "two models are called brightest_channel: name one, as NAME=FILE")
    run("serve", there, "a=" + there, "--mean", "0", "--location", "mqtt://localhost/m").expect(2, "options about a model are for one model, and 2 are given")
    run("serve", there, "--jobs", "0", "--location", "mqtt://localhost/m").expect(2, "--jobs: expected 1..64, got '0'")
    run("serve", "workers=" + there, "--location", "mqtt://localhost/m").expect(1, "expected the prefix that the workers serve under and a model's name")
    run("serve", there, "--location", "mqtt://a:secret@localhost/+").expect(2, "expected levels with '/' between and no wildcards")
    run("serve", there, "--location", "mqtt://localhost/m", "--password-file", "/none").expect(1, "--password-file: /none")
    run("serve", there, "--location", "mqtt://localhost/m", "--ca-file", "/none").expect(1, "ca-file, certificate and private-key are for mqtts://")


def test_unknown_option():
    for command in ("predict",), ("inspect",), ("infer",), ("bench", "model"), ("bench", "preprocess"):
        run(*command, "--frobnicate").expect(2, "Unknown option --frobnicate", "--help")
    for slip in ("--modle", "--modle=x"):
        run("predict", slip, "x").expect(2, "Unknown option " + slip + "; did you mean --model?")


def test_numbers():
    m = model("brightest_channel.tflite")
    for value in ("65", "10000", "-1", "two", "", "4294967297"):
        run("predict", "--model", m, "--threads", value, "x.png").expect(2, "--threads: expected 1..64 or auto (0 = auto), got '%s'" % value)
        run("infer", "--model", m, "--input", "x", "--output", "y", "--threads", value).expect(2, "--threads: expected 1..64")
    for value in ("0", "1048577", "-1", "1G"):
        for command in (["predict", "--model", m, "x.png"], ["inspect", m], ["bench", "model", m],
                        ["infer", "--model", m, "--input", "x", "--output", "y"]):
            run(*command, "--tensor-limit", value).expect(2, "--tensor-limit: expected 1..1048576, got '%s'" % value)
            if value != "1048577":
                run(*command, "--work-limit", value).expect(2, "--work-limit: expected 1..1000000, got '%s'" % value)
    for value in ("0", "1001", "-5"):
        run("predict", "--model", m, "--top", value, "x.png").expect(2, "--top: expected 1..1000, got '%s'" % value)
    for value in ("-0.1", "1.5", "nan", "inf", "high", "0.5x", ""):
        run("predict", "--model", m, "--threshold", value, "x.png").expect(2, "--threshold: expected a number in 0..1, got '%s'" % value)


def test_automatic_threads():
    """0 is auto, as in other programs of this field, and each command that has --threads says so."""
    m, picture = model("brightest_channel.tflite"), png("p.png", 4, 4, (255, 0, 0))
    for value in ("0", "auto"):
        run("predict", "--model", m, "--threads", value, picture).expect(0)
        run("bench", "model", m, "--runs", "2", "--warm-up", "0", "--threads", "1," + value).expect(0)
    described = run("--describe-options").expect(0).out.splitlines()
    options = [(line["command"], option["help"]) for line in map(json.loads, described) for option in line.get("options", ()) if option["long"] == "threads"]
    assert len(options) >= 9 and all("(0 = auto; default" in text for _, text in options), options


def test_choices():
    m = model("brightest_channel.tflite")
    for option, expected in (("colour", "RGB, BGR, GRAY"), ("layout", "NHWC, NCHW"), ("fit", "stretch, letterbox, crop")):
        for args in (["predict", "--model", m, "x.png"], ["inspect", m]):
            run(*args, "--" + option, "purple").expect(2, "--%s: expected one of %s, got 'purple'" % (option, expected))


def bad_models():
    with open(model("brightest_channel.tflite"), "rb") as file:
        good = file.read()
    return [(work("missing.tflite"), "No such file"), (harness.WORK.name, "directory"), (write("empty.tflite", b""), "empty"),
            (write("magic.tflite", good[:4] + b"XXXX" + good[8:]), "magic.tflite"), (write("cut.tflite", good[:len(good) // 2]), "cut.tflite"),
            (write("text.tflite", b"this is a text file, not a model\n" * 10), "text.tflite"), (model("unknown_op.tflite"), "Frobnicate")]


def test_bad_models():
    picture = png("p.png", 4, 4, (255, 0, 0))
    zeros = write("zeros.bin", bytes(192))
    for path, message in bad_models():
        for args in (["inspect", path], ["predict", "--model", path, picture],
                     ["infer", "--model", path, "--input", zeros, "--output", work("none")]):
            result = run(*args).expect(1, path)
            assert message.lower() in result.err.lower(), result
            assert result.out == "", result
    assert not os.path.exists(work("none.0.bin"))


def test_unknown_op_is_named():
    told = run("inspect", model("unknown_op.tflite")).expect(1, "custom op 'Frobnicate'", "not supported: ").err
    assert len(told) < 400 and "CONV_2D" not in told, told


def test_operators_are_listed():
    names = run("inspect", "--operators").expect(0).out.splitlines()
    assert len(names) >= 100 and names == sorted(names) and {"CONV_2D", "SOFTMAX", "TFLite_Detection_PostProcess"} <= set(names), names
    assert not {"LOOKUP", "RESIZE_ARG_MAX"} & set(names), names
    run("inspect", "--operators", model("unknown_op.tflite")).expect(2, "--operators")


def test_what_is_taken_for_granted_is_told():
    args = ["inspect", "--decoder", "segmentation", model("brightest_quarter.tflite")]
    note = "no class is the background (decoder segmentation,background=yes where class 0 is)"
    assert "  note      " + note + "\n" in run(*args).expect(0).out
    assert '"note":"' + note + '"' in run(args[0], "--json", *args[1:]).expect(0).out


def test_bad_model_is_told_before_sources():
    result = run("predict", "--model", work("missing.tflite"), work("missing.png")).expect(1, "missing.tflite")
    assert "missing.png" not in result.err, result


def test_float_range_unknown():
    picture = png("p.png", 4, 4, (255, 0, 0))
    m = model("float_range.tflite")
    told = run("predict", "--model", m, picture).expect(1).err
    assert told == ("sightline predict: " + m + ": input 'picture' is float32[1,8,8,3] and nothing states which values its pixels take; "
                    "give mean and std, as properties or options (127.5 and 127.5 for -1..1, 0 and 255 for 0..1, 0 and 1 for 0..255), or write "
                    "'ranges=-1.0,1.0' or 'ranges=0.0,1.0' under [picture] of " + m + ".modelinfo\n"), told
    run("predict", "--model", m, "--mean", "0", "--std", "255", "--decoder", "labels", picture).expect(0)


def test_vector():
    """Numbers that nothing calls scores are numbers, and get names from options or a description."""
    picture, m = png("p.png", 4, 4, (255, 0, 51)), model("float_range.tflite")
    options = ["predict", "--model", m, "--mean", "0", "--std", "255", picture]
    told = run(*options).expect(0, "nothing says what the numbers mean, so they are given as they are")
    assert told.err.count("\n") == 1 and told.out.splitlines()[1:] == ["       value  name", "           1  0", "           0  1", "         0.2  2"]
    found = json.loads(run(*options, "--json").expect(0, "decoder=labels for scores of classes").out)
    assert found["labels"] == [] and found["vector"] == {"kind": "values", "values": [1, 0, 0.2]}, found
    named = run(*options, "--decoder", "vector,names=r,g,b,units=%,scale=100").expect(0)
    assert named.err == "", named
    named = named.out.splitlines()
    assert named[2:] == ["         100  r (%)", "           0  g (%)", "          20  b (%)"], named
    out = run(*options, "--decoder", "vector,kind=embedding").expect(0).out
    assert out.endswith("  an embedding of 3 numbers: --json has them\n"), out


def test_cpu_warning():
    """Kernels of several families are used, the warning comes once."""
    picture = png("blue.png", 4, 4, (0, 0, 255))
    env = dict(os.environ, SIGHTLINE_CPU="mmx")
    result = run("predict", "--model", model("brightest_channel.tflite"), picture, env=env)
    assert result.status == 0, result
    assert result.err.count("SIGHTLINE_CPU=mmx is not an instruction set, using ") == 1, result
    assert result.err.count("\n") <= 2, result


def test_bench():
    run("bench").expect(2, "expected 'model MODEL', 'preprocess' or 'field'")
    run("bench", "camera").expect(2, "got camera")
    run("bench", "preprocess", "--format", "XYZ").expect(2, "'XYZ' is none that is measured")
    run("bench", "preprocess", "--rounds", "0").expect(2, "--rounds")
    run("bench", "model").expect(2, "expected one MODEL")
    assert len(run("bench", "preprocess", "--format", "GRAY8", "--quick", "--json").expect(0).out.splitlines()) == 2
    lines = run("bench", "preprocess", "--format", "GRAY8", "--rounds", "2", "--cold", "2", "--json").expect(0).out.splitlines()
    assert len(lines) == 2, lines
    for line, cache in zip(lines, ("warm", "cold")):
        measured = json.loads(line)
        assert measured["format"] == "GRAY8" and measured["in"] == "1920x1080" and measured["cache"] == cache, measured
        assert measured["max_error"] <= 0.5 and measured["min_us"] <= measured["median_us"], measured
        assert set(measured["peers"]) == {"libyuv", "gstreamer"}, measured


def test_labels():
    picture = png("p.png", 4, 4, (255, 0, 0))
    m = model("brightest_channel.tflite")
    cases = [(work("none.txt"), "No such file"), (harness.WORK.name, "directory"), (write("empty.txt", b""), "empty"),
             (write("short.txt", b"red\ngreen\n"), "2")]
    for path, message in cases:
        result = run("predict", "--model", m, "--labels", path, picture).expect(1, path)
        assert message.lower() in result.err.lower(), result
    for names, count, advice in ((4, "4 names for the 3 classes of", "expected one a class: remove the name that the model does not have"),
                           (2, "2 names for the 3 classes of", "expected one a class: add the name that is missing"),
                           (5, "5 names for the 3 classes of", "expected one a class: is it another model's?")):
        run("predict", "--model", m, "--labels", write("long.txt", b"x\n" * names), picture).expect(1, count, advice)
    nameless = " of these are classes without a name ('???', an empty line, or a number that is skipped): "
    alone = "this model has as many classes as there are names; give a file with the names alone, one a line"
    for text, count, advice in ((b"red\n???\ngreen\n\nblue\n", "5 names", "2" + nameless + alone), (b"???\nred\n???\ngreen\nblue\n", "5 names", "2" + nameless + alone),
                                (b"1 red\n3 green\n4 blue\n", "5 names", "2" + nameless + alone), (b"a\n???\nb\nc\nd\n", "5 names", "1" + nameless + "is it another model's?"),
                                (b"a\n???\nb\nc\n", "4 names", "1" + nameless + alone)):
        run("predict", "--model", m, "--labels", write("gaps.txt", text), picture).expect(1, count + " for the 3 classes of", "expected one a class: " + advice)
    for name, text in (("crlf.txt", b"rot\r\ngruen\r\nblau\r\n"), ("numbered.txt", b"0  rot\n1  gruen\n2 blau\n"), ("bom.txt", b"\xef\xbb\xbfrot\na\nb"), ("map.pbtxt", b"item { id: 1 name: 'rot' }\nitem { id: 2 name: 'a' }\nitem { id: 3 name: 'b' }"),
                       ("data.yaml", b"nc: 3\nnames:\n  0: rot\n  1: a\n  2: b\n"), ("table.csv", b"name,id\nb,2\nrot,0\na,1\n"),
                       ("map.json", b'{"id2label": {"0": "rot", "1": "a", "2": "b"}}')):
        result = run("predict", "--model", m, "--labels", write(name, text), picture).expect(0)
        assert result.out.splitlines()[-1].split()[-1] == "rot", result


def test_labels_of_detectors():
    """A detector whose last operator knows its number of classes takes no other number of names."""
    picture, m = png("p.png", 4, 4, (0, 0, 255)), model("one_box.tflite")
    run("predict", "--model", m, "--labels", write("many.txt", b"x\n" * 50), picture).expect(1, "50 names for the 2 classes of", "is it another model's?")
    run("predict", "--model", m, "--labels", write("one.txt", b"x\n"), picture).expect(1, "1 name for the 2 classes of")
    items = b"item { id: 1 name: 'gruen' }\nitem { id: 2 name: 'blau' }"  # a label map counts from 1
    for name, text in (("two.txt", b"gruen\nblau\n"), ("two.pbtxt", items)):
        found, = json.loads(run("predict", "--model", m, "--labels", write(name, text), "--json", picture).expect(0).out)["objects"]
        assert (found["detection"]["label"], found["detection"]["label_id"]) == ("blau", 1), found


# For options that every model has, and for those of one command: values that are malformed whatever the model, and what is said of them.
MALFORMED = {
    "mean": (("abc", "1,2", "1,2,3,4", "nan", "1,,2"), "--mean: expected 1 or 3 finite numbers with ',' between, got '%s'"),
    "std": (("abc", "0", "-1", "1,0,1", "1;1;1"), "--std: expected 1 or 3 finite numbers above 0 with ',' between, got '%s'"),
    "colour": (("RBG", "3"), "--colour: expected one of RGB, BGR, GRAY, got '%s'"),
    "layout": (("NHCW",), "--layout: expected one of NHWC, NCHW, got '%s'"),
    "fit": (("zoom",), "--fit: expected one of stretch, letterbox, crop, got '%s'"),
    "crop-share": (("foo", "0", "1.1", "0.5,0.5", "87%"), "--crop-share: expected a number 0.01..1, such as 0.875 for 224 of 256 pixels, got '%s'"),
    "pad-value": (("256", "-1", "1.5", "grey"), "--pad-value: expected 0..255, got '%s'"),
    "decoder": (("yolo9000", ",top=1", "labels,top", "labels,top=1", "no-such"), "--decoder=%s: "),
    "tensor-limit": (("0", "1048577", "many"), "--tensor-limit: expected 1..1048576, got '%s'"),
    "work-limit": (("0", "x"), "--work-limit: expected 1..1000000, got '%s'"),
    "input-shape": (("abc", "1,0,8,8", "1,3;x", "1,2.5", "1x8x8x3", "int64:"),
                    "--input-shape: expected whole numbers with ',' between, as in 1,3,224,224, and ';' between inputs, got '%s'"),
    "fixed-inputs": (("foo", "1=", "=1", "1=0.5;;2=1"), "--fixed-inputs: expected INPUT=VALUE with ';' between, "),
    "state": (("foo", "a=", "=b", "a=b,c"), "--state: expected INPUT=OUTPUT with ',' between, each a number or a name, such as h0=hn,c0=cn, or none, got '%s'"),
    "backend": (("foo", "TFLITE"), "--backend=%s: expected auto, sightline, onnxruntime or tflite"),
    "device": (("tpu", "-1", "GPU"), "--device=%s: expected auto, cpu, gpu or npu, or a number of sightline backends"),
    "sha256": (("x", "A" * 64, "0" * 63), "--sha256: expected 64 digits 0-9 and a-f, as sha256sum prints them, got '"),
    "provider-options": (("foo", "=1", "a=1,b"), "--provider-options: expected KEY=VALUE with ',' between, such as device_id=0, got '"),
    "precision": (("foo", "FP16"), "--precision=%s: expected float, bf16 or fp16"),
    "threads": (("x", "65", "-1"), "--threads: expected 1..64 or auto (0 = auto), got '%s'"),
    "predict shard": (("1", "0/2", "3/2"), "--shard %s: expected I/N"),
    "predict threshold": (("x", "2", "-0.1"), "--threshold: expected a number in 0..1, got '%s'"),
    "predict top": (("0", "x"), "--top: expected 1..1000, got '%s'"),
    "predict classes": ((",", "a,", "!", "a,!a"), "--classes=%s: "),
    "predict tiles": (("9x9", "2", "x"), "--tiles=%s: expected COLUMNSxROWS"),
    "predict filter": (("foo",), "--filter: expected one of nearest, bilinear, area, auto, got '%s'"),
    "predict frames": (("0", "x"), "--frames: expected 1..2147483647, got '%s'"),
    "predict timeout": (("-1", "x"), "--timeout: expected 0..86400, got '%s'"),
    "predict format": (("xml",), "--format: expected one of table, json, csv, got '%s'"),
    "infer frames": (("0", "x"), "--frames: expected 1..1000000, got '%s'"),
    "quantize pictures": (("0", "x"), "--pictures: expected 1..100000, got '%s'"),
    "method": (("max",), "--method: expected one of minmax, percentile, mse, got '%s'"),
    "percentile": (("2", "x"), "--percentile: expected a number in 0..1, got '%s'"),
    "float-head": (("x",), "--float-head: expected one of auto, none, got '%s'"),
    "weights": (("x",), "--weights: expected one of per-channel, per-tensor, got '%s'"),
    "activations": (("int4",), "--activations: expected one of int8, uint8, got '%s'"),
    "prune": (("2", "x"), "--prune: expected a number in 0..1, got '%s'"),
    "min-agreement": (("2", "x"), "--min-agreement: expected a number in 0..1, got '%s'"),
    "calibrate minutes": (("0", "x"), "--minutes: expected a number in 0.01..10080, got '%s'"),
    "calibrate rate": (("0", "x"), "--rate: expected a number in 0.001..60, got '%s'"),
    "fit pictures": (("0", "x"), "--pictures: expected 1..200, got '%s'"),
    "eval threshold": (("2", "x"), "--threshold: expected a number in 0..1, got '%s'"),
    "eval worst": (("0", "x"), "--worst: expected 1..100000, got '%s'"),
    "bench model threads": (("x", "1,65"), "--threads: expected 1..64 or auto (0 = auto), got '"),
    "bench model runs": (("0", "x"), "--runs: expected 1..1000000, got '%s'"),
    "bench model warm-up": (("-1", "x"), "--warm-up: expected 0..1000000, got '%s'"),
    "bench model batch": (("1", "x"), "--batch: expected 2..64, got '%s'"),
    "bench preprocess format": (("FOO",), "--format: '%s' is none that is measured"),
    "bench preprocess rounds": (("0", "x"), "--rounds: expected 1..100000, got '%s'"),
    "bench preprocess cold": (("-1", "x"), "--cold: expected 0..200, got '%s'"),
    "replay cpu": (("foo",), "--cpu: expected an instruction set of this processor, got '%s'"),
    "search limit": (("0", "501", "x"), "--limit: expected 1..500, got '%s'"),
    "search since": (("x", "2026", "2026-13-01"), "--since: expected a time such as 2026-11-29 or 2026-11-29T15:04:05Z, got '%s'"),
    "search until": (("x", "noon"), "--until: expected a time such as 2026-11-29 or 2026-11-29T15:04:05Z, got '%s'"),
    "gallery limit": (("0", "100001", "x"), "--limit: expected 1..100000, got '%s'"),
    "gallery since": (("x", "2026", "2026-13-01"), "--since: expected a time such as 2026-11-29 or 2026-11-29T15:04:05Z, got '%s'"),
    "gallery before": (("x", "noon"), "--before: expected a time such as 2026-11-29 or 2026-11-29T15:04:05Z, got '%s'"),
    "run http": (("foo", "127.0.0.1:65536"), "--http %s: expected ADDR:PORT, such as 127.0.0.1:8080 or [::1]:8080, got '"),
    "run dbus": (("foo", ""), "--dbus: expected session or system, got '%s'"),
    "run stop-timeout": (("0", "x", "99ms", "11min"), "--stop-timeout: expected a time of 100ms..10min, got '%s'"),
    "run set": (("x", "=1"), "--set: expected NAME=VALUE, got '%s'"),
    "check set": (("x", "=1"), "--set: expected NAME=VALUE, got '%s'"),
    "calibrate set": (("x", "=1"), "--set: expected NAME=VALUE, got '%s'"),
    "serve location": (("x", "http://a/b", "mqtt://localhost:65536/x"), "location=%s: expected mqtt://"),
    "serve http": (("foo",), "--http %s: expected ADDR:PORT, such as 127.0.0.1:8080 or [::1]:8080, got '"),
    "serve jobs": (("0", "x"), "--jobs: expected 1..64, got '%s'"),
    "serve queue": (("0", "x"), "--queue: expected 1..1024, got '%s'"),
    "serve batch": (("0", "x"), "--batch: expected 1..64, got '%s'"),
    "serve zmq": (("x", "ipc://x", "tcp://a", "tcp://a:0", "tcp://a:65536", "tcp://*:80x"), "--zmq %s: expected ipc:///PATH or tcp://ADDRESS:PORT with a port of 1..65535"),
    "serve threshold": (("2", "x"), "--threshold: expected a number in 0..1, got '%s'"),
    "serve keep": (("0", "7w", "3651d", "ever"), "--keep: expected a time after which people are erased, such as 7d, 12h or 30min, from 1ms to 3650d, got '%s'"),
    "serve http-body": (("0", "257", "x"), "--http-body: expected 1..256, got '%s'"),
    "serve zmq-timeout": (("0", "x"), "--zmq-timeout: expected 1..60000, got '%s'"),
}
# No option that wants a number takes one of these: below zero, above every range, no number. All are read by the same functions: each option gets
# two of them.
NO_NUMBERS = ("-1", "-9223372036854775809", "99999999999999999999", "1e999", "nan", "-inf", "0x10z", " ")
# Any text may be right: names, sources of pictures, and what only the other machine or the library can judge.
FREE = {"predict redact", "prompts", "templates", "serve name", "provider", "camera", "calibrate", "evaluate", "search class"}


def malformed_key(command, option):
    own = "%s %s" % (command, option["long"])
    return own if own in MALFORMED else option["long"]


def test_backends():
    """Which runtimes are here, or what to install; a library that is no provider's."""
    env = dict(os.environ, SIGHTLINE_ONNXRUNTIME="/nowhere/o.so", SIGHTLINE_TFLITE="/nowhere/t.so")
    lines = run("backends", env=env).expect(0).out.splitlines()
    assert lines[0].startswith("sightline: Sightline ") and lines[1].startswith("onnxruntime: missing: /nowhere/o.so, which the environment variable "), lines
    assert lines[2].startswith("tflite: missing: /nowhere/t.so, ") and len(lines) == 3, lines
    told = json.loads(run("backends", "--json", env=env).expect(0).out)
    assert [r["name"] for r in told["runtimes"]] == ["onnxruntime", "tflite"] and all(r["missing"] and r["devices"] == [] for r in told["runtimes"]), told
    run("backends", "--provider-library", "/nowhere/p.so", env=env).expect(1, "/nowhere/o.so, which the environment variable SIGHTLINE_ONNXRUNTIME names")
    for name, told in ((work("nowhere.onnx"), ": no such file, check the path; expected a "), (write("odd.onnx", b"odd"), ": device=auto compares devices with Sightline, ")):
        run("predict", "--model", name, "--backend", "auto", "--provider-library", "/nowhere/p.so", "--device", "auto", "x.png", env=env).expect(1, name + told)
    fake = os.environ["SIGHTLINE_FAKE_RUNTIME"]
    for words, told in (("", []), ("nameless", [{"device": 0, "type": "other", "vendor": "unknown", "memory": None, "provider": "unknown"}])):
        result = run("backends", "--json", env=dict(env, SIGHTLINE_ONNXRUNTIME=fake, FAKE_RUNTIME=words + " noisy"))
        assert result.status == 0 and result.err == "the fake says hello\n" * 2, result
        assert json.loads(result.out)["runtimes"][0] == {"name": "onnxruntime", "version": "1.99.0", "library": fake, "missing": None, "devices": told}, result
    told = json.loads(run("backends", "--json", env=dict(env, SIGHTLINE_ONNXRUNTIME=fake, FAKE_RUNTIME="ghosts")).expect(0).out)["runtimes"][0]
    assert told["version"] is None and told["missing"] == "it counts 1 devices and does not give them: it is no complete library", told
    run("backends", "--provider-library", fake, env=dict(env, SIGHTLINE_ONNXRUNTIME=fake)).expect(1, "provider-library=%s: it lacks the function CreateEpFactories" % fake)
    os.mkfifo(work("pipe.so"))
    for library, words in ((work("pipe.so"), "not a file; expected a shared object"), (write("text.so", b"no library" * 9), "invalid ELF header")):
        run("backends", "--provider-library", library, env=dict(env, SIGHTLINE_ONNXRUNTIME=fake)).expect(1, "provider-library=%s: cannot be opened: " % library, words)
        assert words in json.loads(run("backends", "--json", env=dict(env, SIGHTLINE_TFLITE=library)).expect(0).out)["runtimes"][1]["missing"]
    run("backends", "--model", "m.onnx").expect(2, "--model goes with --provider-library; state that, too")
    run("backends", "x").expect(2, "expected no arguments, got 'x'")


def test_malformed():
    """A value that no model and no input could make right is wrong usage: exit status 2 and what is expected, with each option of each command."""
    m, picture = model("brightest_channel.tflite"), png("p.png", 4, 4, (255, 0, 0))
    description = write("idle.pipeline", b"[pipeline]\nlaunch=fakesrc num-buffers=1 ! fakesink\n")
    target, here = work("malformed.tflite"), ["serve", m, "--location", "mqtt://127.0.0.1:1/x"]
    commands = {"predict": ["predict", "--model", m, picture], "inspect": ["inspect", m], "infer": ["infer", "--model", m, "--input", picture, "--output", work("o")],
                "convert": ["convert", m, "--output", target], "quantize": ["quantize", m, "--calibrate", picture, "--output", target],
                "calibrate": ["calibrate", m, "--camera", "test://", "--output", target], "fit": ["fit", m, picture], "eval": ["eval", m, "--dataset", harness.WORK.name],
                "bench model": ["bench", "model", m], "bench preprocess": ["bench", "preprocess", "--quick"], "run": ["run", description], "check": ["check", description],
                "replay": ["replay", work("none.slbox")], "search": ["search", "red", harness.WORK.name], "gallery": ["gallery", "list", work("none.gallery")],
                "serve": here}
    described = {name: json.loads(run(*name.split(), "--describe-options").expect(0).out)["options"] for name in commands}
    seen = set()
    for name, command in commands.items():
        for option in described[name]:
            own = "%s %s" % (name, option["long"])
            if option["value"] is None or option["file"]:
                continue
            key = malformed_key(name, option)
            values, message = MALFORMED.get(key, ((), ""))
            assert values or FREE & {own, option["long"]}, "no malformed value of " + own
            seen |= {own, option["long"]}
            if re.search(r"expected (a number in )?[0-9.]+\.\.[0-9]", message):
                values = (*values, *NO_NUMBERS[list(MALFORMED).index(key) % 4::4])
            # Commands that share an option share its values: each value is refused by one of them at least, and each command refuses some.
            sharing = [other for other in commands if any(malformed_key(other, o) == key for o in described[other])]
            values = values[sharing.index(name) % max(1, len(values))::len(sharing)]
            for value in values:
                words = {"serve location": ["serve", m], "serve zmq": ["serve", m], "calibrate set": ["calibrate", m, description, "--output", target]}.get(own, command)
                result = run(*words, "--%s=%s" % (option["long"], value))
                assert result.status == 2 and (message % value if "%s" in message else message) in result.err, (own, value, result)
    assert set(MALFORMED) <= seen, set(MALFORMED) - seen


def test_decoder():
    picture = png("p.png", 4, 4, (255, 0, 0))
    m = model("brightest_channel.tflite")
    run("predict", "--model", m, "--decoder", "yolo9000", picture).expect(2, "--decoder=yolo9000: decoder", "labels", "got 'yolo9000'")
    run("predict", "--model", m, "--decoder", "yolo", picture).expect(1, "decoder yolo", "too few for 4 of a box")
    run("predict", "--model", m, "--decoder", "labels,top=3", picture).expect(2, "--decoder=labels,top=3: decoder labels: no parameter 'top'")
    run("predict", "--model", m, "--decoder", "ssd", picture).expect(1, "boxes[1,N,4]", "got uint8[1,3]")


def test_decoder_values():
    """A value of a parameter that suits no model is wrong usage in each command that has --decoder; one that this model does not suit is not."""
    m, picture = model("brightest_channel.tflite"), png("p.png", 4, 4, (255, 0, 0))
    target = work("values.tflite")
    commands = (["predict", "--model", m, picture], ["inspect", m], ["convert", m, "--output", target], ["quantize", m, "--calibrate", picture, "--output", target],
                ["calibrate", m, "--camera", "test://", "--output", target], ["fit", m, picture], ["eval", m, "--dataset", harness.WORK.name],
                ["serve", m, "--location", "mqtt://127.0.0.1:1/x"])
    for command in commands:
        run(*command, "--decoder", "yolo,preset=v99").expect(2, "--decoder=yolo,preset=v99: decoder parameter preset: expected one of v3, ", "got 'v99'")
    for text, expected in (("yolo,columns=x1y1x2y2,scores", "columns: expected words of x1y1x2y2, "), ("yolo,transposed=perhaps", "transposed: expected one of no, "),
                           ("yolo,strides=8,x", "strides: expected 1 to "), ("labels,threshold=2", "threshold: expected a number 0..1, got '2'"),
                           ("labels,background-offset=1.5", "background-offset: expected an integer -1000..1000, got '1.5'"), ("image,range=0", None),
                           ("image,range=all", "range: expected frame or 1 to 2 numbers"), ("ssd,order=boxes,boxes,boxes,box", "order: expected words of boxes, ")):
        result = run("predict", "--model", m, picture, "--decoder", text)
        assert result.status == (2 if expected else 1) and (expected is None or "decoder parameter " + expected in result.err), (text, result)
    run("predict", "--model", m, picture, "--decoder", "yolo,preset=v8").expect(1)


def test_no_decoder():
    picture, m = png("p.png", 4, 4, (0, 51, 204)), model("brightest_channel.tflite")
    frame = json.loads(run("predict", "--json", "--model", m, "--decoder", "none", picture).expect(0).out)
    output, = frame["outputs"]
    assert abs(output.pop("scale") - 1 / 255) < 1e-9, output
    assert output == {"name": "brightness", "type": "uint8", "shape": [1, 3], "zero_point": 0, "values": [0, 51, 204]}, output
    assert frame["objects"] == frame["labels"] == []
    assert "  tensor brightness uint8[1,3]: --json has its numbers" in run("predict", "--model", m, "--decoder", "none", picture).expect(0).out
    run("predict", "--model", m, "--decoder", "none,names=a", picture).expect(2, "--decoder=none,names=a: decoder none: no parameter 'names'; there are: none")


def test_gallery():
    m = model("brightest_channel.tflite")
    colours = {"warm": (255, 51, 0), "sky": (0, 51, 204)}
    sources = []
    for name, colour in colours.items():
        os.makedirs(work(name), exist_ok=True)
        sources.append(png(os.path.join(name, "p.png"), 4, 4, colour))
    lines = run("predict", "--json", "--model", m, "--decoder", "vector,kind=embedding", *sources).expect(0).out
    make = os.path.join(os.environ["SIGHTLINE_SOURCE_ROOT"], "examples", "python", "make_gallery.py")
    gallery = write("faces.json", subprocess.run([sys.executable, make], input=lines.encode(), stdout=subprocess.PIPE, check=True).stdout)
    picture = png("p.png", 4, 4, (0, 60, 190))
    label, = json.loads(run("predict", "--json", "--model", m, "--gallery", gallery, picture).expect(0).out)["labels"]
    assert label["label"] == "sky" and label["confidence"] > 0.99, label
    assert "sky" in run("predict", "--model", m, "--decoder", "vector,threshold=0.9", "--gallery", gallery, picture).expect(0).out
    frame = json.loads(run("predict", "--json", "--model", m, "--gallery", gallery, png("g.png", 4, 4, (0, 255, 0))).expect(0).out)
    assert frame["labels"] == [] and "vector" not in frame, frame
    run("predict", "--model", m, "--gallery", work("no.json"), picture).expect(1, "no.json: no such file; expected a gallery")


def test_full_disk():
    if not os.path.exists("/dev/full"):
        raise Skip("no /dev/full")
    for args in (["inspect", model("add.tflite")], ["--help"], ["--version"], ["predict", "--help"]):
        with open("/dev/full", "w") as full:
            done = subprocess.run([harness.PROGRAM] + args, stdout=full, stderr=subprocess.PIPE)
        assert done.returncode == 1 and b"cannot write to standard output: No space left on device" in done.stderr, done


def test_closed_output():
    """Results must not end up in a file that was opened in the place of standard output."""
    picture = png("p.png", 4, 4, (255, 0, 0))
    for args in (["inspect", model("add.tflite")], ["predict", "--model", model("brightest_channel.tflite"), picture]):
        done = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", harness.PROGRAM] + args, stderr=subprocess.PIPE)
        assert done.returncode == 1 and b"cannot write to standard output" in done.stderr, done


def test_draw_paths():
    picture, m = png("p.png", 4, 4, (255, 0, 0)), model("brightest_channel.tflite")
    draw = ["predict", "--model", m, picture, "--draw"]
    for wrong in ("p.gif", "p.mkv", "p.jpg.txt"):
        run(*draw, work(wrong)).expect(2, wrong + ": expected a file name that ends in .png or .jpg, for pictures, or .mp4, for a video\n")
    run(*draw, "").expect(2, "--draw '': expected the name of a file that ends in .png, .jpg or .mp4\n")
    run(*draw, harness.WORK.name).expect(2, "expected the name of a file that ends in .png, .jpg or .mp4")
    run(*draw, work("none/p.png")).expect(1, "there is no folder " + work("none") + "; make it first")
    if os.path.exists("/dev/full") and not os.access("/dev", os.W_OK):
        run(*draw, "/dev/full").expect(1, "--draw /dev/full: cannot be written: No space left on device")


def test_draw_to_a_pipe():
    """What is no file stays what it is."""
    pipe = work("pipe")
    os.mkfifo(pipe)
    reader = subprocess.Popen(["head", "-c", "8", pipe], stdout=subprocess.PIPE)
    drawn = run("predict", "--model", model("brightest_channel.tflite"), png("p.png", 4, 4, (255, 0, 0)), "--draw", pipe)
    if "made without Pango" in drawn.err:
        reader.kill()
        raise Skip("no sloverlay")
    assert reader.communicate(timeout=200)[0] == b"\x89PNG\r\n\x1a\n"
    assert stat.S_ISFIFO(os.stat(pipe).st_mode)


harness.main(globals())
