# SPDX-License-Identifier: LGPL-2.1-or-later
"""Searches of the console: [search] makes embeddings of clips as they come, and events are found by words and by another event, in the API and on the page."""
import os
import shutil
import signal
import threading
import urllib.parse

import harness
import openapi
from browser import Browser
from coloured import CLIPS, clips, put_clip, ranked, tokenizer
from harness import model, run, work, write
from running import eventually
from served import Served

GROUP = "[search]\nmodel=%s\ntext-model=%s\ntokenizer=%s\n"


def group():
    return GROUP % (model("brightest_channel.tflite"), model("colour_words.onnx"), tokenizer())


def describe(name, folder, more):
    text = ("[pipeline]\nlaunch=videotestsrc is-live=true ! video/x-raw,format=RGB,width=64,height=48,framerate=10/1 ! "
            "slrecord location=%s source=door on=\"\" ! fakesink\n%s" % (folder, more))
    return write(name + ".pipeline", text.encode())


def ask(served, **query):
    return openapi.check("GET", "/api/v1/events", served.get("/api/v1/events?" + urllib.parse.urlencode(query)))


def found(served, **query):
    answer = ask(served, **query)
    assert answer.status == 200, answer.text
    assert answer.json["total"] == len(answer.json["events"]) and answer.json["next"] is None, answer.json
    return answer.json["events"]


def refused(answer, status, text):
    assert answer.status == status and text in answer.json["error"], (answer.status, answer.text)


def scores(events):
    return [(e["id"], e["score"]) for e in events]


def compare(events, wanted):
    assert [e["id"] for e in events] == [stem for stem, _ in wanted], (events, wanted)
    assert all(abs(e["score"] - score) < 0.012 for e, (_, score) in zip(events, wanted)), (events, wanted)


def stems(served, **query):
    answer = ask(served, **query)
    return [e["id"] for e in answer.json["events"]] if answer.status == 200 else None


def search(served, folder):
    first = list(CLIPS)[0]
    eventually(lambda: stems(served, words="red") == [s for s, _ in ranked((1, 0, 0))])
    for words, colour in (("red", (1, 0, 0)), ("a photo of blue", (0, 0, 1)), ("red|green", (1, 1, 0)), ("red;blue", (1, 0, 1))):
        compare(found(served, words=words), ranked(colour))
    assert found(served, words="red")[0]["found"] == "person" and found(served, words="red", limit=1)[0]["id"] == first
    assert [e["id"] for e in found(served, words="red", label="car")] == [s for s, _ in ranked((1, 0, 0)) if CLIPS[s][0] == "car"]
    assert [e["id"] for e in found(served, words="red", pipeline="gate", to="2026-11-23T00:00:00Z")] == [list(CLIPS)[2]]
    compare(found(served, similar=first), [(s, score) for s, score in ranked((1, 0, 0)) if s != first])
    refused(ask(served, words="photo"), 400, "the embedding of 'photo' has no direction")
    refused(ask(served, words=" "), 400, "?words=: expected 1 to 1000 bytes of text")
    refused(ask(served, words="x" * 1001), 400, "?words=: expected 1 to 1000 bytes of text")
    for stem in ("nothing", "../../x"):
        refused(ask(served, similar=stem), 404, stem + ": its picture has no embedding yet, or the event has none, or there is no such event")
    refused(ask(served, similar=""), 400, "?similar=: expected the id of an event")
    refused(ask(served, similar=first, words="red"), 400, "?words= and ?similar=: expected one of them, not both")
    refused(ask(served, words=b"red\xff"), 400, "?words=: expected UTF-8")
    refused(ask(served, similar=b"\xff"), 400, "?similar=: expected UTF-8")
    assert served.get("/api/v1/session").json["search"] == "words"
    new, dark = "yard-2026-11-24T10-00-00.000Z-in", "yard-2026-11-25T10-00-00.000Z-in"
    put_clip(folder, dark, "dog", "black", "black")
    assert "%s: its picture, or an object in it, has no embedding: " % dark in served.wait_for("search")["message"]
    put_clip(folder, new, "dog", "red", "red")
    eventually(lambda: (stems(served, words="red") or [""])[0] == new)
    for stem in (new, dark):
        for ending in (".mkv", ".json", ".jpg"):
            os.unlink(os.path.join(folder, stem + ending))
    eventually(lambda: new not in stems(served, words="red"))


def lost(served, folder):
    """A file of embeddings that is gone is made again; the thread that makes them has the lowest priority."""
    os.unlink(os.path.join(folder, ".sightline-search.vectors"))
    assert "the file of its embeddings is gone or damaged; all are made again" in served.wait_for("search", 2)["message"]
    eventually(lambda: stems(served, words="red") == [s for s, _ in ranked((1, 0, 0))])
    tasks, nice = "/proc/%d/task" % served.child.pid, []
    for task in os.listdir(tasks):
        with open(os.path.join(tasks, task, "stat"), encoding="ascii") as file:
            name, rest = file.read().split("(", 1)[1].rsplit(") ", 1)
        if name == "sl-search":
            nice.append(rest.split()[16])
    assert nice == ["19"], nice


def one_at_a_time(served):
    """A user's searches that begin while another one goes on are refused with a sentence; all others are answered."""
    answers = []
    threads = [threading.Thread(target=lambda i=i: answers.append(ask(served, words="|".join(["red"] + ["green"] * 40 + ["blue"] * (i % 2))))) for i in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {a.status for a in answers} <= {200, 429} and any(a.status == 200 for a in answers), [a.text for a in answers]
    for answer in answers:
        if answer.status == 429:
            refused(answer, 429, "another search of this user goes on: expected one at a time; try again")


def page(served):
    """In Chromium: words are typed, the best event is first, and its button finds the ones that are like it."""
    browser = Browser("http://127.0.0.1:%d/#/events" % served.port, 1200, 900)
    try:
        browser.wait_for("document.querySelector('input[name=words]') && document.querySelectorAll('.eventcard').length == 4")
        browser.value("(i => { i.value = 'red'; i.dispatchEvent(new Event('change')); })(document.querySelector('input[name=words]'))")
        browser.wait_for("document.querySelector('.eventcard')?.hash.includes('%s')" % list(CLIPS)[0])
        browser.wait_for("document.querySelector('.eventcard .score')?.textContent == '1'")
        browser.value("document.querySelector('.eventcard').click()")
        browser.wait_for("document.querySelector('a.similar') !== null")
        browser.value("document.querySelector('a.similar').click()")
        browser.wait_for("document.querySelectorAll('.eventcard').length == 3 && document.querySelector('.eventcard').hash.includes('%s')" % ranked((1, 0, 0))[1][0])
    finally:
        browser.close()


def test_searches():
    folder = clips("console")
    with Served(describe("console", folder, group())) as served:
        search(served, folder)
        lost(served, folder)
        one_at_a_time(served)
        page(served)


def test_without_words():
    """Without [search] events are not searched; without a text model not by words; and what was made by another program is used."""
    folder = clips("plain")
    with Served(describe("plain", folder, "")) as served:
        refused(ask(served, words="red"), 409, "expected a group [search] with model=FILE in the description")
        assert served.get("/api/v1/session").json["search"] == "none"
    run("search", "--index", folder, "--model", model("brightest_channel.tflite"), "--text-model", model("colour_words.onnx"), "--tokenizer", tokenizer()).expect(0)
    with Served(describe("plain", folder, "[search]\nmodel=%s\n" % model("brightest_channel.tflite"))) as served:
        first = list(CLIPS)[0]
        eventually(lambda: stems(served, similar=first) == [s for s, _ in ranked((1, 0, 0)) if s != first])
        assert stems(served, pipeline="plain", limit=10) == sorted((s for s in CLIPS if s.startswith("door")), reverse=True)  # whose source is the pipeline's
        refused(ask(served, words="red"), 409, "there is no text model here: expected text-model=FILE and tokenizer=FILE in the group [search]")
        assert served.get("/api/v1/session").json["search"] == "pictures"
    run("search", "red", folder).expect(0)  # whose text model the index knows as before
    with Served(describe("plain", folder, "[search]\nmodel=%s\n" % work("nothing.onnx"))) as served:
        assert "nothing.onnx" in served.wait_for("search")["message"]


def test_reload():
    """A changed group [search] waits for the next start, and the log says so; the pipeline goes on."""
    folder = clips("reload")
    with Served(describe("reload", folder, group())) as served:
        served.wait_for("running")
        path = describe("reload", folder, group() + "templates=a {}\n")
        served.child.send_signal(signal.SIGHUP)
        assert served.wait_for("search")["message"] == "%s: [search] changed; it is read when the program starts: start it again" % path
        assert served.wait_for("reloaded")["message"] == "%s: the same pipeline; it goes on" % path


def test_refused():
    folder = work("refused")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    with_http = ["--http", "127.0.0.1:%d" % harness.reserve_port()]
    for more, options, text in (("[search]\nmodel=x\n", [], "[search] is for events of the console: expected an address in [http] listen, or --http ADDR:PORT"),
                                ("[search]\nmodle=x\n", with_http, "refused.pipeline:4: [search] modle: unknown key; did you mean 'model'?"),
                                ("[search]\nprompts=x\n", with_http, "refused.pipeline:4: [search] prompts: unknown key"),
                                ("[search]\nfit=tight\n", with_http, "refused.pipeline:4: [search] fit=tight: expected "),
                                ("[search]\nmean=x\n", with_http, "refused.pipeline:4: [search] mean: expected 1 or 3 finite numbers"),
                                ("[search]\ntext-model=x\n", with_http, "refused.pipeline:4: [search]: expected model=FILE, a picture model")):
        path = describe("refused", folder, more)
        run("run", path, *options).expect(1, text)
        if options:
            assert text in run("check", path).out, text
    one, two = describe("refused", folder, "[search]\nmodel=x\n"), describe("other", folder, "[search]\nmodel=y\n")
    run("run", one, two, *with_http).expect(1, "other.pipeline: [search] states something else than that of %s; expected the same for all that run together" % one)


def test_check():
    """sightline check loads the models of [search], and looks for what records."""
    folder = work("checked")
    os.makedirs(folder)
    run("check", describe("checked", folder, group())).expect(0)
    picture, text, words = model("brightest_channel.tflite"), model("colour_words.onnx"), tokenizer()
    nothing, wrong = work("nothing.onnx"), write("wrong.onnx", b"no model")
    for files, told in (((nothing, text, words), nothing), ((wrong, text, words), wrong), ((picture, nothing, words), nothing),
                        ((picture, wrong, words), wrong), ((picture, text, nothing), nothing), ((picture, text, wrong), wrong)):
        result = run("check", describe("checked", folder, GROUP % files))
        found = [line for line in result.out.splitlines() if line.startswith("! search ")]
        assert result.status == 1 and len(found) == 1 and told in found[0], result
    said = run("check", describe("checked", folder, "[search]\nmodel=%s\ntokenizer=%s\n" % (picture, words)))
    assert said.status == 1 and "! search       words need a text model: state text-model=FILE and tokenizer=FILE" in said.out, said
    plain = write("plain.pipeline", ("[pipeline]\nlaunch=videotestsrc ! fakesink\n[search]\nmodel=%s\n" % picture).encode())
    said = run("check", plain)
    assert ("* search       [search] finds clips, and nothing here records any; add the group [record], or run it together with a description "
            "that has one") in said.out and said.status == 0, said


harness.main(globals())
