# SPDX-License-Identifier: LGPL-2.1-or-later
"""sightline check: facts, advice and problems."""
import json
import os
import stat
import subprocess

import harness
from harness import Skip, model, run, work, write


def check(text, *args, status=0, env=None):
    """Findings as (kind, about, text) of a description."""
    path = write("check.pipeline", text.encode())
    result = run("check", "--json", path, *args, env=env)
    assert result.status == status and result.err == "", result
    answer = json.loads(result.out)
    assert answer["file"] == path and answer["good"] == (status == 0), answer
    return [(f["kind"], f["about"], f["text"]) for f in answer["findings"]]


def has(findings, kind, about, *words):
    found = [text for k, a, text in findings if k == kind and a == about and all(word in text for word in words)]
    assert found, "no %s about %s with %s in %s" % (kind, about, words, findings)


def described(launch, more=""):
    return "[parameters]\nmodel=%s\n[pipeline]\nlaunch=%s\n%s" % (model("brightest_channel.tflite"), launch, more)


SOURCE = "videotestsrc name=s ! video/x-raw,format=NV12,width=320,height=240,framerate=25/1"
TAIL = "slnormalize name=n ! slinfer name=m model=${model} ! slpostprocess ! application/x-json ! fakesink"


def test_usage():
    run("check").expect(2, "expected FILE: a pipeline description")
    run("check", "--set", "=1", "a").expect(2, "--set: expected NAME=VALUE, got '=1'")
    missing = run("check", work("missing.pipeline"))
    assert missing.status == 1 and "missing.pipeline: no such file" in missing.out, missing


def test_good():
    findings = check(described(SOURCE + " ! " + TAIL, "description=All is well\n"))
    assert not [f for f in findings if f[0] != "fact"], findings
    has(findings, "fact", "pipeline", "check: All is well")
    has(findings, "fact", "restart", "no, back-off 0.5 to 30 s, watchdog 10 s")
    has(findings, "fact", "m", "brightest_channel.tflite: uint8[1,8,8,3] RGB NHWC", "3 labels")
    has(findings, "fact", "caps", "! n: video/x-raw, format=(string)NV12, width=(int)320, height=(int)240, framerate=(fraction)25/1")
    has(findings, "fact", "caps", "n ! m: ", "other/tensors", "types=(string)uint8")
    has(findings, "fact", "copies", "no element copies whole frames")
    has(findings, "fact", "memory", "m: ", "MiB of weights")
    has(findings, "fact", "time", "m: ", "preprocessing", "inference", "decoding")
    has(findings, "fact", "budget", "40.0 ms between frames at 25 frames/s")


def test_processor():
    root = work("board")
    for path, text in (("thermal_zone0/type", "cpu-thermal"), ("thermal_zone0/temp", "90000"), ("cooling_device0/type", "cpufreq-cpu0"), ("cooling_device0/cur_state", "1")):
        path = os.path.join(root, "class", "thermal", path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text + "\n")
    findings = check(described(SOURCE + " ! " + TAIL), env=dict(os.environ, SIGHTLINE_SYS=root))
    has(findings, "fact", "processor", "90.0 degrees (cpu-thermal); slowed down by heat")
    has(findings, "advice", "processor", "the processor is throttled (slowed down by heat), so times are too long: cool the board")
    assert not [f for f in check(described(SOURCE + " ! " + TAIL)) if f[1] == "processor"]


def test_settings():
    """The model is looked at as slinfer is told to load it."""
    text = described(SOURCE + " ! " + TAIL)
    has(check(text.replace("model=${model}", "model=${model} colour=BGR fit=crop")), "fact", "m", "uint8[1,8,8,3] BGR NHWC crop")
    for stated, problem in [("layout=NCHW", "layout=NCHW contradicts input"), ("precision=fp8", "precision=fp8: expected float, bf16 or fp16")]:
        findings = check(text.replace("model=${model}", "model=${model} " + stated), status=1)
        has(findings, "problem", "m", problem)


def test_backends():
    """Who runs a model, what the runtime that is here would take, and which tensors are copied."""
    library = os.environ["SIGHTLINE_FAKE_RUNTIME"]
    here = dict(os.environ, SIGHTLINE_ONNXRUNTIME=library, SIGHTLINE_TFLITE=library, XDG_CACHE_HOME=work("cache"))
    missing = dict(here, SIGHTLINE_TFLITE="/nowhere/liblite.so")
    text = described(SOURCE + " ! " + TAIL)
    findings = check(text, env=missing)
    has(findings, "fact", "backend", "m: Sightline, CPU, runs it")
    assert len([f for f in findings if f[1] == "backend"]) == 1, findings
    # The fake one has another input than this model.
    has(check(text, env=here), "fact", "backend", "m: TensorFlow Lite does not run it: ", "the two read the model differently")
    findings = check(text.replace("model=${model}", "model=${model} backend=tflite"), status=1, env=here)
    has(findings, "problem", "m", "the two read the model differently")


def test_branch():
    """A tensor of another branch is zeros where time is measured, unless it has a first value, by name or number."""
    frames = "video/x-raw,format=RGB,width=8,height=8,framerate=25/1"
    branch = "videotestsrc ! %s ! slnormalize ! slinfer model=%s mean=0 std=255 ! m.input_1" % (frames, model("float_range.tflite"))
    for fixed in ("", "fixed-inputs=style=0.5", "fixed-inputs=1=0.5"):
        infer = "slinfer name=m model=%s mean=0 std=255 decoder=image,range=0,1 %s" % (model("paint.tflite"), fixed)
        launch = "videotestsrc ! %s ! queue ! slnormalize ! %s ! slpostprocess ! fakesink %s" % (frames, infer, branch)
        findings = check("[pipeline]\nlaunch=%s\n" % launch)
        has(findings, "fact", "time", "m: ", "inference")


def test_dmabuf():
    caps = "video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=NV12%s,width=320,height=240,framerate=25/1"
    findings = check(described("fakesrc ! " + caps % "" + " ! " + TAIL))
    has(findings, "fact", "copies", "no element copies whole frames")
    has(findings, "fact", "copies", "n reads frames of DMABuf where they lie, without a copy")
    has(findings, "fact", "frames", "measured with video/x-raw, ", "format=(string)NV12")
    has(findings, "fact", "time", "m: ", "preprocessing")


def test_http():
    launch = "fakesrc num-buffers=1 ! fakesink"
    for listen, said in (("127.0.0.1:99999", "expected ADDR:PORT, such as 127.0.0.1:8080 or [::1]:8080, got '127.0.0.1:99999'"),
                         ("127.0.0.1:80a", "expected ADDR:PORT, "), ("0.0.0.0:8080", "other machines reach 0.0.0.0:8080: expected 127.0.0.1 or [::1]"),
                         ("127.0.0.1:0\ncertificate=/c", "got a certificate without a private key")):
        findings = check(described(launch, "[http]\nlisten=%s\n" % listen), status=1)
        has(findings, "problem", "http", work("check.pipeline") + ":", "[http] listen", said)
    secret = write("secret", b"a long secret\n")
    os.chmod(secret, 0o600)
    for good in ("listen=127.0.0.1:8080", "listen=0.0.0.0:8080\npassword-file=" + secret, "width=320", "listen=127.0.0.1:0\naudit=" + work("check.audit")):
        assert not [f for f in check(described(launch, "[http]\n%s\n" % good)) if f[1] == "http"], good


def test_together():
    """What one process has once, two descriptions may not state differently."""
    def paths(*groups):
        launch = "[pipeline]\nlaunch=fakesrc num-buffers=1 ! fakesink\n"
        return [write("%s.pipeline" % name, (launch + group).encode()) for name, group in zip("ab", groups)]
    here, there = "[http]\nlisten=127.0.0.1:8080\n", "[http]\nlisten=127.0.0.1:8081\n"
    for groups, about, sentence in (((here, there), "http", "[http] listen is 127.0.0.1:8081, %s has 127.0.0.1:8080: expected one address for all that run together; "
                                     "state it with --http" % work("a.pipeline")),
                                    ((here, here), None, None), ((here, ""), None, None)):
        result = run("check", "--json", *paths(*groups))
        last = json.loads(result.out.splitlines()[-1])
        if sentence is None:
            assert result.status == 0 and last["file"] == work("b.pipeline"), result
            continue
        assert result.status == 1 and last["file"] == "all together", result
        has([(f["kind"], f["about"], f["text"]) for f in last["findings"]], "problem", about, sentence)
        run("run", *paths(*groups)).expect(1, sentence)


def test_http_files():
    """Files that [http] names are opened as at the start, and none is made."""
    version = run("--version").out.partition("without")[2]
    if "libsoup" in version or "libcrypt" in version:
        raise Skip("built without libsoup or libcrypt")
    users, bad, folder = write("http.users", b""), write("bad.users", b"anna\n"), work("http.folder")
    os.mkdir(folder)
    for path in (users, bad):
        os.chmod(path, 0o600)
    for more, said in (("users=/nowhere/users", "/nowhere/users: No such file or directory; 'sightline user add' makes one"),
                       ("users=" + bad, bad + ":1: expected NAME:ROLE:HASH, as 'sightline user add' writes it"),
                       ("password-file=/nowhere/secret", "password file: "), ("certificate=/nowhere/c\nprivate-key=/nowhere/k", "/nowhere/c"),
                       ("audit=/nowhere/audit", "audit log /nowhere/audit: No such file or directory"), ("audit=" + folder, "audit log %s: Is a directory" % folder)):
        text = described(SOURCE + " ! " + TAIL, "[http]\nlisten=127.0.0.1:0\n%s\n" % more)
        has(check(text, status=1), "problem", "http", work("check.pipeline") + ":", "[http] listen 127.0.0.1:0: ", said)
        run("run", work("check.pipeline")).expect(1, said)
    assert os.listdir(folder) == []


def test_state():
    """A folder that cannot keep the counts is a problem, as at the start; check makes none."""
    file, dangling, new = write("no-folder", b""), work("dangling"), work("new/state")
    os.symlink(work("nowhere"), dangling)
    rest = "; expected a folder that this user can write to: make it, or name another one, or counts do not go on"
    wrong = [(file, "it is a file"), (file + "/state", "Not a directory"), (file + "/more/state", "Not a directory"), (dangling, "it is a link to nothing")]
    for folder, why in wrong:
        findings = check(described(SOURCE + " ! " + TAIL, "state=%s\n" % folder), status=1)
        assert [f for f in findings if f[0] == "problem"] == [("problem", "state", "state %s: %s%s" % (folder, why, rest))], findings
    closed = work("closed")
    os.mkdir(closed, 0o555)
    if not os.access(closed, os.W_OK):  # the superuser may write there
        for folder in (closed, closed + "/state"):
            has(check(described(SOURCE + " ! " + TAIL, "state=%s\n" % folder), status=1), "problem", "state", "state %s: Permission denied" % folder)
    for folder in (new, work("."), "."):
        check(described(SOURCE + " ! " + TAIL, "state=%s\n" % folder))
    assert not os.path.exists(work("new")), "check made the folder"


def test_nothing_is_played():
    out = work("untouched.json")
    check(described(SOURCE + " ! " + TAIL.replace("fakesink", "filesink location=" + out)))
    assert not os.path.exists(out)


def test_advice():
    findings = check(described(SOURCE + " ! queue name=q max-size-buffers=0 max-size-bytes=0 max-size-time=0 ! videoconvert name=c ! videoscale name=v ! " + TAIL,
                               "restart=always\nwatchdog=0\n"))
    has(findings, "advice", "q", "unbounded: it grows until memory ends")
    has(findings, "advice", "c", "unnecessary before n, which reads YUV, RGB and gray of any size in one pass; "
                                 "without it a copy of each frame is saved")
    has(findings, "advice", "v", "unnecessary before n")
    has(findings, "advice", "restart", "watchdog=0: a camera that stalls without closing is never noticed")
    has(findings, "fact", "copies", "2 of each frame", "c, v")
    findings = check(described(SOURCE + " ! slnormalize ! slinfer name=m model=${model} threads=64 ! fakesink"))
    has(findings, "advice", "m", "no slpostprocess in the pipeline")
    if os.cpu_count() < 64:
        has(findings, "advice", "m", "threads=64 on %d processors" % os.cpu_count())


def test_too_slow():
    findings = check(described(SOURCE.replace("25/1", "1000000/1") + " ! " + TAIL))
    has(findings, "advice", "budget", "frames/s will be predicted; more threads, a smaller model, or a leaky queue")
    findings = check(described(SOURCE.replace("25/1", "1000000/1") + " ! slpredict name=p model=${model} ! application/x-json ! fakesink"))
    has(findings, "advice", "budget", "p: about ", "frames/s will be predicted; more threads, a smaller model, or a larger inference-interval")


def test_settings_of_the_start():
    """Texts that an element refuses when it starts, which check does not let it do."""
    predict = SOURCE + " ! slpredict name=p model=${model} %s ! sltrack ! "
    lines = SOURCE + " ! slpredict name=p model=${model} ! "
    os.makedirs(work("clips"), exist_ok=True)
    os.symlink(work("nowhere"), work("link"))
    os.mknod(work("socket"), stat.S_IFSOCK | 0o600)
    clips = "slrecord name=e location=%s " % work("clips")
    for about, launch, sentence in (
            ("e", predict % "" + "slanalyze name=e regions=door ! fakesink", "regions: 'door': expected [zone NAME], [line NAME] or [mask NAME] first"),
            ("e", SOURCE + " ! slmotion name=e ignore=door ! fakesink", "ignore: 'door': expected [zone NAME]"),
            ("e", predict % "" + "slredact name=e zones=door ! fakesink", "zones: 'door': expected [zone NAME]"),
            ("e", predict % "" + clips + "on=entred ! fakesink", "on=entred: unknown event; did you mean 'entered'?"),
            ("e", predict % "" + clips + "encoder=h264 ! fakesink", "encoder=h264: unknown"),
            ("p", predict % "inference-region=1,2" + "fakesink", "inference-region=1,2: expected full-frame, roi-list"),
            ("p", predict % "tiles=2" + "fakesink", "tiles=2: expected COLUMNSxROWS"),
            ("p", predict % "tiles=2x2 object-class=person" + "fakesink", "tiles=2x2 and objects=true, as object-class and object-alignment of slpredict set it: expected one of them"),
            ("n", SOURCE + " ! slnormalize name=n video-direction=custom ! slinfer model=${model} ! slpostprocess ! fakesink", "video-direction=custom is not supported"),
            ("e", predict % "" + "sltext name=e formats=%s ! fakesink" % work("none"), "No such file or directory; expected a file of formats, a line NAME: PATTERN each"),
            ("e", predict % "" + "slpublish name=e location=gopher://x/y", "location=gopher://x/y: expected a path"),
            ("e", predict % "" + "slpublish name=e location=exec:/nonexistent/program", "expected a program that may be run"),
            ("e", predict % "" + "slpublish name=e location=exec:", "location=exec: has no program: expected its whole path, such as exec:/usr/bin/logger"),
            ("e", predict % "" + "slpublish name=e location=\"exec: \"", "location=exec: has no program: expected its whole path, such as exec:/usr/bin/logger"),
            ("e", predict % "" + "slpublish name=e location=file://host/tmp/x", "the file is on another machine, 'host': expected file:///PATH"),
            ("e", predict % "" + "slpublish name=e location=%s" % work("link"), "it is a symbolic link, which is not followed"),
            ("e", predict % "" + "slpublish name=e location=%s" % work("socket"), "cannot be opened for writing: No such device or address"),
            ("e", predict % "" + "slpublish name=e location=%s" % work("clips"), "cannot be opened for writing: Is a directory: expected a file in a folder that exists and may be written to"),
            ("e", predict % "" + "slpublish name=e location=file://%s/lines" % work("nowhere"), "cannot be opened for writing: No such file or directory"),
            ("e", lines + "application/x-json ! slpublish name=e location=- events=entered", "events=entered: the input is lines: expected video with slanalyze upstream"),
            ("e", lines + "text/x-raw ! slpublish name=e location=- classes=person", "classes=person: the input is lines, which go out as they are"),
            ("e", lines + "text/x-raw ! slpublish name=e location=- on-change=true", "on-change needs predictions as JSON, and the input is text"),
            ("e", predict % "" + "slpublish name=e location=- file-mode=0999", "file-mode=0999: expected permissions in octal, 0600 to 0666"),
            ("e", predict % "" + "slpublish name=e location=- password-file=%s" % work("none"), "password-file=%s: " % work("none")),
            ("e", predict % "" + "slpublish name=e location=- control=true", "control=true: expected location=mqtt[s]://HOST/TOPIC")):
        has(check(described(launch), status=1), "problem", about, sentence)
    check(described(predict % "" + "slpublish name=e location=%s" % work("lines")))
    assert not os.path.exists(work("lines")), "check made the file"
    good = check(described(predict % "inference-region=0,0,10,10" + "slanalyze regions=\"[zone door] points=0,0 1,0 1,1\" ! " + clips + "on=entered ! fakesink"))
    assert not [f for f in good if f[0] == "problem"], good
    coded = "appsrc caps=video/x-h264,stream-format=byte-stream,alignment=au,width=16,height=16,framerate=25/1 ! e.encoded"
    findings = check(described(predict % "" + clips + "encoder=nosuch ! fakesink " + coded))
    assert not [f for f in findings if "nosuch" in f[2]], findings
    for element, properties, sentence in (
            ("slrestream", "rtsp=:8554/door encoder=nosuch", "encoder=nosuch: unknown"), ("slrestream", "", "rtsp is not set: expected [ADDR]:PORT/NAME"),
            ("slrestream", "rtsp=door", "rtsp=door: expected ADDR:PORT/NAME with an address in numbers"),
            ("slrestream", "rtsp=:8554/door user=me", "user is set and password-file is not"),
            ("slread", "reader=nobody", "reader=nobody: there is no such reader of codes here")):
        if subprocess.run(["gst-inspect-1.0", "--exists", element]).returncode == 0:
            launch = predict % "" + "%s name=e %s ! fakesink" % (element, properties)
            has(check(described(launch), status=1), "problem", "e", sentence)


def test_published_input():
    """What slpublish cannot have with its input is a problem, in the words of the start; without caps before it, it gets what it needs."""
    launch = SOURCE.replace("name=s", "name=s num-buffers=3") + " ! slpredict model=${model} ! %s slpublish name=e location=%s %s"
    for caps, settings, sentence in (
            ("text/x-raw !", "classes=red", "classes=red: the input is lines, which go out as they are"),
            ("application/x-json ! queue !", "events=all", "events=all: the input is lines: expected video with slanalyze upstream"),
            ("application/x-json !", "picture-interval=1", "picture-interval=1: the input is lines, which have no pictures: expected video with slpredict upstream"),
            ("video/x-raw !", "on-change=true format=text", "on-change needs predictions as JSON, and format is text: expected format=json"),
            ("", "on-change=true format=text classes=red", "on-change needs predictions as JSON, and format is text: expected format=json")):
        has(check(described(launch % (caps, work("refused"), settings)), status=1), "problem", "e", sentence)
        run("run", work("check.pipeline")).expect(1, sentence)
    assert not os.path.exists(work("refused"))
    for settings, lines in (("classes=red", 3), ("picture-interval=1", 3), ("on-change=true format=text", 1)):
        lost = work("lines of " + settings)
        check(described(launch % ("", '"%s"' % lost, settings)))
        result = run("run", work("check.pipeline"))
        assert result.status == 0, result
        with open(lost, encoding="utf-8") as file:
            assert len(file.readlines()) == lines, settings


def test_part_of_frames():
    """A part outside of frames whose size is stated is a problem; of frames that are assumed it may be inside."""
    text = "%s ! slpredict name=p model=${model} inference-region=300,0,100,100 ! fakesink"
    has(check(described(text % SOURCE), status=1), "problem", "p", "crop-x=300", "is not inside the frame of 320x240")
    check(described(text.replace("300,0", "3000,0") % "videotestsrc"))


def test_interval():
    """A model that runs on one of a million frames has the time of a million frames."""
    findings = check(described(SOURCE.replace("25/1", "1000000/1") + " ! slpredict name=p model=${model} inference-interval=1000000 ! application/x-json ! fakesink"))
    assert not [f for f in findings if f[0] != "fact"], findings
    has(findings, "fact", "budget", "p: 1000.0 ms between frames at 1 frames/s, one of 1000000 of the source; ")


def test_camera_advice():
    findings = check(described("v4l2src name=cam device=/dev/null ! image/jpeg ! jpegdec name=j ! queue name=q ! " + TAIL), status=1)
    has(findings, "problem", "cam", "/dev/null")
    has(findings, "advice", "j", "where cam gives YUV")
    has(findings, "advice", "q", "set max-size-buffers=1 max-size-bytes=0 max-size-time=0 leaky=downstream")
    findings = check(described("v4l2src name=cam device=%s ! " % work("video9") + TAIL), status=1)
    has(findings, "problem", "cam", work("video9") + ": no such device; is the camera plugged in?")
    findings = check(described("v4l2src name=cam device=%s ! " % write("file", b"") + TAIL), status=1)
    has(findings, "problem", "cam", "expected a camera's device, got another kind of file")


def test_camera_by_uri():
    text = described("slcamera name=cam uri=v4l2://%s ! %s" % (work("video9"), TAIL))
    if 'no element "' in run("check", write("uri.pipeline", text.encode())).out:
        raise Skip("slcamera is missing")
    has(check(text, status=1), "problem", "cam", work("video9") + ": no such device; is the camera plugged in?")
    has(check(text.replace("video9 ", "video9?width=640 "), status=1), "problem", "cam", work("video9") + ": no such device; is the camera plugged in?")
    has(check(text.replace(" uri=", " user="), status=1), "problem", "cam", "no camera: set uri=")


def test_camera_size():
    """What slcamera is set to is what is measured."""
    text = described("slcamera name=cam uri=test:// width=640 height=480 framerate=10 ! " + TAIL)
    if 'no element "' in run("check", write("size.pipeline", text.encode())).out:
        raise Skip("slcamera is missing")
    findings = check(text)
    has(findings, "fact", "frames", "width=(int)640, height=(int)480, framerate=(fraction)10/1")
    has(findings, "fact", "budget", "100.0 ms between frames at 10 frames/s")
    has(findings, "fact", "caps", "width=(int)640, height=(int)480, framerate=(fraction)10/1")
    for other in (text.replace("test://", "rtsp://127.0.0.1/door"), text.replace(" ! slnormalize", " ! videoscale ! videorate ! slnormalize")):
        has(check(other), "fact", "frames", "width=(int)1280, height=(int)720, framerate=(fraction)30/1 (assumed where the source leaves it open)")


def test_camera_ignores():
    """Properties that a camera has no use for are told, and so they are, once, when it runs."""
    text = described("slcamera name=cam uri=%s max-attempts=1 %s ! " + TAIL)
    if 'no element "' in run("check", write("unused.pipeline", (text % ("test://", "")).encode())).out:
        raise Skip("slcamera is missing")
    file = write("no-video", b"x")
    for uri, settings, said in (
            ("rtsp://me:secret@127.0.0.1:1/door", "width=640 framerate=10", "width, framerate: ignored, since rtsp://me:***@127.0.0.1:1/door has its own size and rate: change them in the camera"),
            ("file://" + file, "height=480", "height: ignored, since file://%s has its own size and rate" % file),
            ("rtsp://127.0.0.1:1/door", "height=480 loop=true realtime=true", "height: ignored, since rtsp://127.0.0.1:1/door has its own size and rate: change them in the camera; "
             "loop, realtime: ignored, since rtsp://127.0.0.1:1/door is no file://"),
            ("test://?frames=3", "loop=true", "loop: ignored, since test://?frames=3 is no file://"),
            ("test://?frames=3", "width=640 height=480", None), ("file://" + file, "loop=true realtime=true", None)):
        advice = about(check(text % (uri, settings)), "cam")
        assert advice == ([("advice", said)] if said else []), advice
        told = run("run", work("check.pipeline"))
        assert told.err.count("ignored, since") == (said or "").count("ignored, since") and (said is None or "warning: cam: " + said in told.err), told


def test_problems():
    findings = check("[pipeline]\nlaunch=fakesrc ! fakesnk\n", status=1)
    has(findings, "problem", "description", "check.pipeline:2: [pipeline] launch: no element")
    findings = check(described(SOURCE + " ! " + TAIL), "--set", "model=" + work("gone.tflite"), status=1)
    has(findings, "problem", "m", work("gone.tflite") + ": no such file")
    has(findings, "fact", "parameter", "model=" + work("gone.tflite") + " (--set)")
    findings = check(described(SOURCE + " ! slnormalize ! slinfer name=m ! fakesink"))
    has(findings, "fact", "m", "codes.tflite: ")
    findings = check(described(SOURCE + " ! " + TAIL.replace("model=${model}", "model=${model} labels=" + work("no.txt"))), status=1)
    has(findings, "problem", "m", work("no.txt"))
    findings = check(described("filesrc name=f location=%s ! fakesink" % work("gone")), status=1)
    has(findings, "problem", "f", work("gone") + ": cannot be read; no such file, or no permission")
    findings = check(described("filesrc name=f ! fakesink"), status=1)
    has(findings, "problem", "f", "no file: set location=FILE")
    findings = check(described("fakesrc ! filesink name=f location=%s" % work("no/such/folder")), status=1)
    has(findings, "problem", "f", work("no/such/folder") + ": cannot be written")
    findings = check(described("fakesrc ! filesink name=f location=" + harness.WORK.name), status=1)
    has(findings, "problem", "f", harness.WORK.name + ": is a directory; expected a file")
    findings = check(described("filesrc name=f location=%s ! fakesink" % harness.WORK.name), status=1)
    has(findings, "problem", "f", harness.WORK.name + ": is a directory; expected a file")
    findings = check(described("fakesrc ! filesink name=f"), status=1)
    has(findings, "problem", "f", "no file: set location=FILE")


LOOKS = SOURCE + " ! slpredict name=p model=${model} ! "


def about(findings, element):
    return [(kind, text) for kind, a, text in findings if a == element and kind != "fact"]


def test_order():
    """Trackers need a model, who counts needs a tracker."""
    nothing = "no model is before it, so there is nothing to track but what elements of others find; put slpredict before it"
    untracked = "no tracker is before it, which gives objects the numbers that it counts by; put sltrack, or slpredict with track=true, before it"
    zone = "slanalyze name=a regions=\"[zone z] points=0,0 1,0 1,1\" ! fakesink"
    for launch in (SOURCE + " ! sltrack name=t ! fakesink", SOURCE + " ! videoconvert ! queue ! tee ! identity ! sltrack name=t ! fakesink"):
        assert about(check("[pipeline]\nlaunch=%s\n" % launch, status=1), "t") == [("problem", nothing)], launch
    assert about(check(described(LOOKS + "sltrack name=t ! " + zone)), "t") == []
    assert about(check(described(LOOKS + "sltrack name=t ! " + zone)), "a") == []
    assert about(check(described(LOOKS.replace("name=p", "name=p track=true") + zone)), "a") == []
    assert about(check(described(LOOKS + "videoconvert ! " + zone), status=1), "a") == [("problem", untracked)]
    if subprocess.run(["gst-inspect-1.0", "--exists", "videoanalyse"], check=False).returncode == 0:  # as far as anybody knows it may detect
        assert about(check("[pipeline]\nlaunch=%s ! videoanalyse ! sltrack name=t ! %s\n" % (SOURCE.replace("NV12", "I420"), zone)), "t") == [("advice", nothing)]


def test_nothing_happens():
    """Settings that wait for what no element before makes; a run says so, too, once."""
    tail = SOURCE.replace("name=s", "name=s num-buffers=3") + " ! slpredict name=p model=${model} %s ! sltrack ! %s "
    zone = "slanalyze regions=\"[zone z] points=0,0 1,0 1,1\" ! "
    os.makedirs(work("clips"), exist_ok=True)
    record, publish = "slrecord name=e location=%s %%s ! fakesink" % work("clips"), "slpublish name=e location=%s %%s" % work("events.json")
    for about_whom, kind, options, launch, said, told in (
            ("p", "advice", "tiles=motion", "fakesink", "tiles=motion: no slmotion is before it, so the model looks at whole frames; put slmotion before it",
             "tiles=motion: frames come without regions of motion; expected slmotion upstream: the model looks at whole frames"),
            ("e", "problem", "", record % "on=entered,object", "on=entered,object: no slanalyze is before it, whose events these are; put slanalyze before it, or set on=object",
             "on=entered,object: frames come without events; expected slanalyze upstream: its events begin no clip"),
            ("e", "advice", "", record % "", "no slanalyze is before it, whose events begin clips: only the signal record does; put slanalyze before it, or set on=object", None),
            ("e", "problem", "", publish % "events=entered", "events=entered: no slanalyze is before it, whose events these are, so nothing is published; put slanalyze before it",
             "events: frames come without events; expected slanalyze upstream: nothing is published"),
            ("e", "advice", "", publish % "zones=z", "zones is for messages about events, and no events are published; set events=, or remove it", None),
            ("e", "advice", "", publish % "attach-picture=true", "attach-picture is for messages about events, and no events are published; set events=, or remove it", None)):
        assert about(check(described(tail % (options, launch)), status=1 if kind == "problem" else 0), about_whom) == [(kind, said)], launch
        result = run("run", work("check.pipeline"))
        assert result.status == 0 and result.err.count("warning: ") == (told is not None) and (told or "") in result.err, result
    for options, launch in (("", record % "on=object"), ("", record % 'on=""'), ("", zone + record % "on=entered"), ("", zone + record % ""), ("", zone + publish % "events=entered zones=z")):
        assert about(check(described(tail % (options, launch))), "e") == [], launch
        result = run("run", work("check.pipeline"))
        assert result.status == 0 and "warning: " not in result.err, result
    assert about(check(described("videotestsrc num-buffers=3 ! slmotion ! slpredict name=p model=${model} tiles=motion ! fakesink")), "p") == []


def test_appearance():
    """The model of a tracker is loaded, with its settings."""
    text = described(SOURCE + " ! slpredict model=${model} ! sltrack name=t appearance=%s ! fakesink" % model("looks.onnx"))
    has(check(text, status=1), "problem", "t", "appearance: ", "looks.onnx: input 'picture' is float32[1,3,16,8] and nothing states which values")
    text += "[element t]\nappearance-settings=mean=127.5 std=127.5\n"
    has(check(text), "fact", "t", "looks.onnx: an embedding of 24 numbers for each object in doubt")
    has(check(text.replace("std=", "size="), status=1), "problem", "t", 'appearance: appearance-settings: "size=127.5": expected NAME=VALUE')


def test_privacy():
    """slredact needs a model, and privacy=strict is proved or refused with the name of what is open."""
    blind = "no model is before it, so every frame is hidden whole; put slpredict before it, or set objects=false for zones alone"
    assert about(check("[pipeline]\nlaunch=%s ! slredact name=r ! fakesink\n" % SOURCE, status=1), "r") == [("problem", blind)]
    assert about(check(described(LOOKS + "slredact name=r ! fakesink")), "r") == []
    strict = "[pipeline]\nprivacy=strict\n"
    proved = check(described(LOOKS + "slredact ! fakesink", strict))
    assert ("fact", "privacy", "strict: every element that shows pictures gets them through slredact") in [tuple(f) for f in proved], proved
    refused = check(described(LOOKS + "tee name=t ! slredact ! fakesink t. ! filesink name=f location=" + work("open.raw"), strict), status=1)
    assert any("f (filesink) shows the open picture" in text for _, _, text in refused), refused
    assert not os.path.exists(work("open.raw"))


def test_classes():
    """Classes that the model does not have, wherever they are named."""
    wrong = "the model has no class 'blu'; did you mean 'blue'?"
    tail = "sltrack ! slanalyze name=a ! fakesink"
    assert about(check(described(LOOKS.replace("name=p", "name=p classes=blu") + "fakesink"), status=1), "postprocess") == [("problem", "classes: " + wrong)]
    for kind, points in (("zone", "0,0 1,0 1,1"), ("line", "0,0 1,1")):
        for classes, status in (("blu", 1), ("!blu", 1), ("blue,red", 0)):
            findings = about(check(described(LOOKS + tail, "[%s way]\npoints=%s\nclasses=%s\n" % (kind, points, classes)), status=status), "a")
            assert findings == ([("problem", "[%s way] classes: %s" % (kind, wrong))] if status else []), findings
    os.makedirs(work("clips"), exist_ok=True)
    clips = "[record]\nlocation=%s\non=object\nclasses=blu\n" % work("clips")
    findings = check(described(LOOKS + "sltrack ! slrecord name=r ! fakesink", clips), status=1)
    assert about(findings, "r") == [("problem", "classes: " + wrong)], findings


def test_clips():
    """The folder of clips is there, and can be written into."""
    for location, says in ((work("nowhere"), "location=%s: expected a folder that this process may write into: make it, or change its owner" % work("nowhere")),
                           (write("file", b""), "location=%s: expected a folder" % work("file"))):
        has(check(described(LOOKS + "sltrack name=t ! fakesink", "[record]\nlocation=%s\n" % location), status=1), "problem", "slrecord0", says)
    has(check(described(LOOKS + "slrecord name=r ! fakesink"), status=1), "problem", "r", "no folder for clips: set location=FOLDER")
    os.makedirs(work("clips"), exist_ok=True)
    assert about(check(described(LOOKS + "sltrack ! fakesink", "[record]\nlocation=%s\non=object\n" % work("clips"))), "slrecord0") == []


def test_black_box():
    """A folder in which no black box can be written, and a limit that no inference fits; a check records nothing."""
    boxes, file = work("boxes"), write("no-boxes", b"")
    os.mkdir(boxes)
    frames = "[pipeline]\nblack-box=%s\nlaunch=" + SOURCE + " ! slpredict name=p model=%s ! fakesink\n"
    for folder, reason in ((work("none"), "No such file or directory"), (file, "")):
        said = "black-box=%s: expected a folder that can be written to, got: %s" % (folder, reason)
        has(check(frames % (folder, model("brightest_channel.tflite")), status=1), "problem", "p", said)
    own = SOURCE + " ! slnormalize ! slinfer name=m model=${model} black-box=%s ! slpostprocess ! fakesink"
    has(check(described(own % work("none")), status=1), "problem", "m", "black-box=%s: expected a folder" % work("none"))
    check(described(own % boxes))
    large = own % boxes + "\n[element m]\nblack-box-limit=1\nmean=0\nstd=255\n"
    said = "expected at least 12582992 bytes for the black box, what an inference of this model takes, got 1048576: set black-box-limit"
    has(check(described(large), "--set", "model=" + model("many_pixels.tflite"), status=1), "problem", "m", said)
    assert os.listdir(boxes) == []


def test_displaced():
    """Boxes that elements behind the model move."""
    says = "behind the model it moves what is in the picture: the boxes that %s gets may not fit any more; put it before the model"
    for element, moved in (("videocrop left=8", True), ("videocrop", False), ("videoflip method=horizontal-flip", True), ("videoflip", True),
                           ("videobox top=-8", True), ("videobox", False), ("aspectratiocrop aspect-ratio=1/1", True), ("videoscale add-borders=false", False),
                           ("videoscale", True), ("videoconvert", False)):
        word, _, rest = element.partition(" ")
        launch = "%s name=mover %s ! videoconvert ! sloverlay name=o ! fakesink" % (word, rest)
        assert about(check(described(LOOKS + launch)), "mover") == ([("advice", says % "o")] if moved else []), element
        assert about(check(described(LOOKS + "sloverlay ! %s name=mover %s ! fakesink" % (word, rest))), "mover") == [], element
        before = SOURCE.replace("NV12", "I420") + " ! %s name=mover %s ! slpredict model=${model} ! sloverlay ! fakesink" % (word, rest)
        assert not [text for _, text in about(check(described(before)), "mover") if "boxes" in text], element


def test_ranges():
    """Values that a property does not take are no values: GObject would go on with the default."""
    others = "check.pipeline:4: [pipeline] launch: num-buffers: expected an integer in -1..2147483647, got -5"
    env = dict(os.environ, G_DEBUG="")  # what was a warning is critical in GLib 2.84, and would end the program
    for launch, who, says in ((LOOKS.replace("name=p", "name=p threshold=7") + "fakesink", "postprocess", "threshold=7: expected a number in -1..1"),
                              ("videotestsrc num-buffers=-5 ! fakesink", "description", others)):
        has(check(described(launch), status=1, env=env), "problem", who, says)
        result = run("run", work("check.pipeline"), env=env)
        assert result.status == 1 and says in result.err and "GLib" not in result.err, result


def test_loose_ends():
    findings = check(described("videotestsrc ! slpredict name=p model=${model}"), status=1)
    has(findings, "problem", "p", "nothing is behind it, so its first frame ends the pipeline with an error; expected '! ELEMENT' and at last a sink, such as fakesink")
    findings = check(described("fakesrc ! fakesink fakesink name=f"), status=1)
    has(findings, "problem", "f", "nothing is before it, so no frame ever comes; expected a source and '!' before it, such as videotestsrc")
    check(described("fakesrc ! tee name=t t. ! fakesink t. ! fakesink"))
    check(described("filesrc location=%s ! decodebin ! videoconvert ! fakesink" % write("any", b"x")))


def test_published():
    launch = SOURCE + " ! " + TAIL.replace("fakesink", "slpublish name=p ")
    text = described(launch + "location=" + work("no/such/folder"))
    if 'no element "' in run("check", write("publish.pipeline", text.encode())).out:
        raise Skip("slpublish is missing")
    has(check(text, status=1), "problem", "p", "location=%s: " % work("no/such/folder"), "cannot be opened for writing: No such file or directory")
    for scheme in "file://", "File://":
        has(check(described(launch + "location=" + scheme + harness.WORK.name), status=1), "problem", "p", "cannot be opened for writing: Is a directory")
    has(check(described(launch), status=1), "problem", "p", "location is not set: expected a path, \"-\" for standard output")
    for location in "-", work("lines.json"), "file://" + work("lines.json"), "FILE://" + work("lines.json"), "tcp://localhost:1", "unix:/no/where":
        check(described(launch + "location=" + location))
    assert not os.path.exists(work("lines.json"))


def test_caps_that_disagree():
    findings = check(described(SOURCE + " ! slnormalize ! slinfer name=m model=${model} ! capsfilter name=c caps=other/tensors,types=float64 ! fakesink"), status=1)
    has(findings, "problem", "caps", "m ! c: they have no format in common: m gives other/tensors", "types=(string)uint8", "c takes other/tensors", "float64")


def test_text():
    path = write("text.pipeline", described(SOURCE + " ! videoconvert ! " + TAIL).encode())
    out = run("check", path).expect(0).out.splitlines()
    assert out[-1] == path + ": 0 problems (!), 1 piece of advice (*)", out
    assert len([line for line in out if line.startswith("* videoconvert0 unnecessary")]) == 1, out


harness.main(globals())
