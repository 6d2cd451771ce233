# SPDX-License-Identifier: LGPL-2.1-or-later
"""[budget]: cameras that share a processor, in sightline run --http and sightline check."""
import datetime
import json
import re
import signal

import harness
from harness import model, run, work, write
from openapi import Client
from running import eventually
from served import Served

FRAMES = "videotestsrc is-live=true ! video/x-raw,format=RGB,width=320,height=240,framerate=30/1"
MODEL = "slpredict name=%s model=${model} ! application/x-json ! fakesink"


def describe(name, budget):
    text = "[parameters]\nmodel=%s\n[pipeline]\nlaunch=%s ! %s\n%s" % (model("brightest_channel.tflite"), FRAMES, MODEL % name, budget)
    return write(name + ".pipeline", text.encode())


# A machine that is busy with other things drops frames of the camera, too.
SHORT = r"(the camera sends less than is promised, )?[0-9.]+ of 200 frames a second"


def test_served():
    """A promise that is kept, and one that the camera does not let be kept."""
    with Served(describe("door", "[budget]\ncores=0.5\nrate=2\npriority=2\n"), describe("yard", "[budget]\nrate=200\n")) as served:
        client = Client(served)
        samples = '{pipeline="%s",element="%s"}'

        def ready():
            rows = {row["name"]: row for row in client.get("pipelines").json["pipelines"]}
            yard = rows["yard"]["models"][0]
            return rows if yard.get("delivered", 0) > 20 and rows["door"]["models"][0].get("delivered", 0) >= 2 else None
        rows = eventually(ready)
        door, yard = rows["door"], rows["yard"]
        assert door["words"] == "running" and door["level"] == "good", door
        assert yard["level"] == "warning" and re.fullmatch(SHORT, yard["words"]), yard
        assert yard["models"][0]["promised"] == 200 and yard["models"][0]["offered"] < 60, yard
        page = served.get("/pipelines").json["pipelines"]
        assert [row["models"][0]["promised"] for row in page] == [2, 200], page
        text = served.get("/metrics").text
        assert "sightline_promised_frames_per_second" + samples % ("yard", "yard") + " 200" in text, text
        for name in ("delivered_frames_per_second", "turn_skipped_frames_total"):
            assert "sightline_" + name + samples % ("door", "door") + " " in text, text
        for quantile in ("0.5", "0.99"):
            assert 'sightline_turn_wait_seconds{pipeline="door",element="door",quantile="%s"} ' % quantile in text, text
        broken = served.wait_for("promise")
        began, told = (datetime.datetime.strptime(event["time"], "%Y-%m-%dT%H:%M:%S.%fZ") for event in (
            next(event for event in served.events() if event["event"] == "running" and event["pipeline"] == "yard"), broken))
        assert told - began > datetime.timedelta(seconds=9), (began, told)  # two looks of 5 seconds
        assert broken["pipeline"] == "yard" and broken["level"] == "warning", broken
        assert re.fullmatch("yard: " + SHORT, broken["message"]), broken
    with Served(describe("free", "")) as served:
        free = Client(served).get("pipelines").json["pipelines"][0]
        assert "promised" not in free["models"][0], free
        assert "sightline_promised_frames_per_second{" not in served.get("/metrics").text


def test_reload():
    """Another number of cores is taken as the pipeline runs; another promise starts it anew."""
    path = describe("again", "[budget]\ncores=1\nrate=5\n")
    with Served(path) as served:
        describe("again", "[budget]\ncores=0.5\nrate=5\n")
        served.child.send_signal(signal.SIGHUP)
        assert served.wait_for("reloaded")["message"].endswith(": the same pipeline; it goes on")
        describe("again", "[budget]\ncores=0.5\nrate=6\n")
        served.child.send_signal(signal.SIGHUP)
        assert served.wait_for("reloaded", 2)["message"].endswith(": changed; starting the new pipeline")
        eventually(lambda: 'sightline_promised_frames_per_second{pipeline="again",element="again"} 6\n' in served.get("/metrics").text)


def test_contradictory_reload():
    """Files that contradict each other are not taken; a number that changes in all of them is."""
    one, two = describe("left", "[budget]\ncores=1\nrate=5\n"), describe("right", "[budget]\ncores=1\nrate=5\n")
    with Served(one, two) as served:
        describe("left", "[budget]\ncores=0.5\nrate=6\n")
        served.child.send_signal(signal.SIGHUP)
        failed = served.wait_for("reload-failed")
        assert failed["message"] == (two + ": [budget] cores is 1, " + one + " has 0.5: expected one number for all that run together;"
                                     " going on with the descriptions before"), failed
        describe("right", "[budget]\ncores=0.5\nrate=5\n")
        served.child.send_signal(signal.SIGHUP)
        served.wait_for("reloaded", 2)
        reloaded = [event["message"] for event in served.events() if event["event"] == "reloaded"]
        assert reloaded == [one + ": changed; starting the new pipeline", two + ": the same pipeline; it goes on"], reloaded


def test_contradiction():
    one, two = describe("one", "[budget]\ncores=1\nrate=5\n"), describe("two", "[budget]\ncores=1.5\nrate=5\n")
    run("run", one, two).expect(1, two + ": [budget] cores is 1.5, " + one + " has 1: expected one number for all that run together")
    run("run", describe("bad", "[budget]\nrate=0\n")).expect(1, work("bad.pipeline") + ":6: [budget] rate: expected a number from 0.01 to 1000, got '0'")


def findings(path, status=0):
    result = run("check", "--json", path)
    assert result.status == status, result
    return [(f["kind"], f["text"]) for f in json.loads(result.out)["findings"] if f["about"] == "budget"]


def test_check():
    found = findings(describe("kept", "[budget]\nrate=5\ncores=1\n"))
    assert any(kind == "fact" and text.startswith("kept: 5 frames/s promised need ") and text.endswith(" of 1 cores") for kind, text in found), found
    assert not [text for kind, text in found if kind == "advice"], found
    found = findings(describe("slow", "[budget]\nrate=60\ncores=1\n"))
    assert ("advice", "slow: 60 frames/s promised, but the model gets 30; promise 30") in found, found
    assert any(text.startswith("slow: 33.3 ms between frames at 30 frames/s; ") for _, text in found), found  # by the name of its slpredict
    launch = " ".join(FRAMES.replace("30/1", "120/1") + " ! slpredict name=%s ! fakesink" % name for name in ("gate", "yard"))  # the code finder
    path = write("much.pipeline", ("[pipeline]\nlaunch=%s\n[budget]\nrate=120\ncores=0.1\n[budget gate]\npriority=3\n" % launch).encode())
    advice, = [text for kind, text in findings(path) if kind == "advice"]
    match = re.match("promises need (.*) cores, the budget has 0.1; expected frames/s: gate (.*) of 120, yard (.*) of 120; ", advice)
    assert match and float(match[1]) > 0.1 and float(match[2]) > 1.5 * float(match[3]) > 0, advice
    assert advice.endswith("; promise less, take a smaller model, or state more cores in [budget]"), advice
    launch = "videotestsrc ! video/x-raw,format=RGB,width=320,height=240,framerate=500/1 ! slpredict name=gate ! fakesink"
    path = write("more.pipeline", ("[pipeline]\nlaunch=%s\n[budget]\nrate=1000\ncores=0.1\n" % launch).encode())
    advice = [text for kind, text in findings(path) if kind == "advice"]
    assert advice[0] == "gate: 1000 frames/s promised, but the model gets 500; promise 500", advice
    assert re.match(r"promises need .* cores \(gate at the 500 frames/s that its source sends\), the budget has 0.1; expected frames/s: gate ", advice[1]), advice


def test_together():
    """Descriptions of one run share the budget: what each of them gets of it."""
    launch = FRAMES.replace("30/1", "120/1") + " ! slpredict name=%s ! fakesink"  # the code finder
    gate, yard = (write(name + ".pipeline", ("[pipeline]\nlaunch=%s\n[budget]\nrate=120\ncores=0.1\npriority=%d\n" % (launch % name, priority)).encode())
                  for name, priority in (("gate", 3), ("yard", 1)))
    result = run("check", "--json", gate, yard)
    assert result.status == 0, result
    rows = [json.loads(line) for line in result.out.splitlines()]
    assert [row["file"] for row in rows] == [gate, yard, "all together"], rows
    texts = {f["kind"]: f["text"] for f in rows[2]["findings"]}
    match = re.match("promises need (.*) cores, the budget has 0.1; expected frames/s: gate/gate (.*) of 120, yard/yard (.*) of 120; ", texts["advice"])
    assert match and float(match[2]) > 1.5 * float(match[3]) > 0, texts
    assert texts["fact"] == "2 models with a promise need %s of 0.1 cores" % match[1], texts
    one, two = describe("one", "[budget]\ncores=1\nrate=5\n"), describe("two", "[budget]\ncores=1.5\nrate=5\n")
    result = run("check", one, two)
    assert result.status == 1, result
    assert two + ": [budget] cores is 1.5, " + one + " has 1: expected one number for all that run together" in result.out, result
    assert "all together: 1 problem (!), 0 pieces of advice (*)" in result.out, result
    plain = run("check", describe("free", ""), describe("other", ""))
    assert plain.status == 0 and "all together" not in plain.out, plain


harness.main(globals())
