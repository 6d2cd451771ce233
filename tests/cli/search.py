# SPDX-License-Identifier: LGPL-2.1-or-later
"""sightline search: embeddings of clips' pictures by made models whose numbers are colours, so that words and pictures have answers that can be computed."""
import json
import math
import os
import shutil

import harness
from coloured import CLIPS, COLOURS, clips, put_clip, ranked, stated, tokenizer
from harness import model, png, run, work, write


def indexed(name, some=None):
    folder = clips(name, some)
    result = run("search", "--index", folder, *stated()).expect(0)
    n = len(some or CLIPS)
    assert result.out == "%s: %d embeddings of %d new clips\n" % (folder, 2 * n, n), result
    return folder


def search(*words):
    return [json.loads(line) for line in run("search", "--json", *words).expect(0).out.splitlines()]


def compare(found, wanted):
    assert [f["id"] for f in found] == [stem for stem, _ in wanted], (found, wanted)
    for f, (_, score) in zip(found, wanted):
        assert abs(f["score"] - score) < 0.012, (f, score)  # 8 bits of the model, and 8 of what is kept


def test_words():
    """Scores are the cosines of colours, in order; filters; what is printed; templates and synonyms."""
    folder = indexed("words")
    for words, colour in (("red", (1, 0, 0)), ("blue", (0, 0, 1)), ("a photo of yellow", (1, 1, 0)), ("red green", (1, 1, 0)), ("red|green", (1, 1, 0)),
                          ("red = blue", (1, 0, 1)), ("! red", (1, 0, 0)), ("red =", (1, 0, 0)), ("= blue|= red", (1, 0, 1)),
                          ("red;blue", (1, 0, 1)), ("; red ;", (1, 0, 0)), ("red;|green", (1, 1, 0)), ("!red;=blue", (1, 0, 1))):
        compare(search(words, folder), ranked(colour))
    link = work("words-link")
    os.symlink(folder, link)
    compare(search("red", folder, folder + "/", link), ranked((1, 0, 0)))  # one folder, by three names
    first = search("red", folder)[0]
    stem = "door-2026-11-20T10-00-00.000Z-in"
    assert {k: first[k] for k in ("time", "camera", "class", "event", "region", "clip", "at", "picture")} == {
        "time": "2026-11-20T10:00:00.000Z", "camera": "door", "class": "person", "event": "in", "region": "way", "clip": os.path.join(folder, stem + ".mkv"), "at": 1.5,
        "picture": os.path.join(folder, stem + ".jpg")}, first
    table = run("search", "red", folder, "-n", "1").expect(0).out.splitlines()
    assert table == [" score  time                      camera  class   clip", " 1.000  2026-11-20T10:00:00.000Z  door    person  %s/%s.mkv at 1.5 s" % (folder, stem)], table
    stems = list(CLIPS)
    for options, wanted in ((["--camera", "gate"], stems[2:]), (["--class", "car"], stems[2:]), (["--class", "person", "--until", "2026-11-21T00:00:00Z"], stems[:1]),
                            (["--since", "2026-11-22T10:00:00Z"], stems[2:]), (["--since", "2026-11-22T10:00:00.001Z"], stems[3:]), (["--class", "dog"], [])):
        found = [json.loads(line) for line in run("search", "--json", "red", folder, *options).expect(0, *([] if wanted else ["nothing found"])).out.splitlines()]
        assert sorted(f["id"] for f in found) == wanted, (options, found)
    templates = run("search", "--index", folder, *stated("--templates", "{} green;a photo of {}")).expect(0)
    assert templates.out.endswith(": 0 embeddings of 0 new clips\n"), templates
    compare(search("red", folder), ranked([1 / math.sqrt(2) + 1, 1 / math.sqrt(2), 0]))
    compare(search("red", folder, "--templates", "{}"), ranked((1, 0, 0)))


def test_pictures():
    folder = indexed("pictures")
    for name, colour in COLOURS.items():
        if name == "black":
            run("search", png("black.png", 40, 30, colour), folder).expect(1, "with a direction, got 3 numbers that are all 0 or not finite")
            continue
        compare(search(png(name + ".png", 40, 30, colour), folder), ranked(colour))
    page = work("found.html")
    run("search", png("red.png", 40, 30, COLOURS["red"]), folder, "--page", page).expect(0)
    with open(page, encoding="utf-8") as file:
        text = file.read()
    assert text.startswith("<!DOCTYPE html>") and text.count("<figure>") == 4 and "<script" not in text and "door-2026-11-20T10-00-00.000Z-in.mkv" in text
    run("search", "red", folder, "--page", write("mine.html", b"my own page")).expect(1, "--page")
    other = indexed("others", {"yard-2026-11-24T10-00-00.000Z-in": ("dog", "red", "red")})
    both = search(work("red.png"), folder, other)
    assert [f["camera"] for f in both[:2]] == ["yard", "door"] and len(both) == 5, both


def test_no_folder():
    """Without a folder there is nothing to make an index of."""
    run("search", "--index", *stated()).expect(2, "--index: expected a FOLDER of clips")
    run("search", "blue").expect(2, "expected WORDS or a PICTURE, and a FOLDER of clips")


def test_without_direction():
    """Of black the model makes zeros: such a picture, or such an object, has no embedding, is named once, and the others go on."""
    dark, half = "door-2026-11-25T10-00-00.000Z-in", "door-2026-11-24T10-00-00.000Z-in"
    folder = clips("dark", dict(CLIPS, **{dark: ("person", "black", "black"), half: ("person", "black", "blue")}))
    first = run("search", "--index", folder, *stated()).expect(
        0, "dark: pictures of 2 clips, or objects in them, have no embedding: %s: %s: expected an embedding of 3 numbers with a direction, got 3 numbers that are all 0 or not finite"
        % (dark, model("brightest_channel.tflite")))
    assert first.out == "%s: 9 embeddings of 6 new clips\n" % folder, first
    again = run("search", "--index", folder, *stated()).expect(0)
    assert again.out == "%s: 0 embeddings of 0 new clips\n" % folder and again.err == "", again
    found = [f["id"] for f in search("blue", folder)]
    assert half in found and dark not in found, found


def test_changes():
    """Embeddings leave with their clips, their places are used again, and what is lost is made again."""
    folder = indexed("changes")
    file, stems = os.path.join(folder, ".sightline-search.vectors"), list(CLIPS)
    size = os.path.getsize(file)
    for ending in (".mkv", ".json", ".jpg"):
        os.unlink(os.path.join(folder, stems[0] + ending))
    run("search", "--index", folder, *stated()).expect(0)
    assert stems[0] not in [f["id"] for f in search("red", folder)]
    with open(file, "rb") as vectors:
        vectors.seek(4096 + 6 * 64)  # of the oldest clip
        assert vectors.read(128) == bytes(128), "the numbers of a deleted event are still there"
    put_clip(folder, stems[0], *CLIPS[stems[0]])
    assert run("search", "--index", folder, *stated()).expect(0).out.endswith(": 2 embeddings of 1 new clips\n")
    compare(search("red", folder), ranked((1, 0, 0)))
    assert os.path.getsize(file) == size
    newest = stems[-1]
    with open(file, "r+b") as vectors:  # of the newest clip, which was the first one
        vectors.seek(4096)
        byte = vectors.read(1)[0]
        vectors.seek(4096)
        vectors.write(bytes([byte ^ 0x40]))
    found = search("green", folder)[0]
    assert (found["id"], found["class"]) == (newest, None), found  # the other one of the clip
    mended = run("search", "--index", folder, *stated()).expect(0, "changes: 1 of its embeddings are damaged; those of their clips are made again")
    assert mended.out.endswith(": 2 embeddings of 1 new clips\n"), mended
    compare(search("red", folder), ranked((1, 0, 0)))
    assert search("green", folder)[0]["class"] == "car"
    assert run("search", "--index", folder, *stated()).expect(0).out.endswith(": 0 embeddings of 0 new clips\n")
    os.unlink(file)
    run("search", "red", folder).expect(1, ".sightline-search.vectors: No such file or directory; sightline search --index %s makes embeddings again" % folder)
    again = run("search", "--index", folder, *stated()).expect(0, "the file of its embeddings is gone or damaged; all are made again")
    assert again.out.endswith(": 8 embeddings of 4 new clips\n"), again
    compare(search("red", folder), ranked((1, 0, 0)))
    with open(os.path.join(folder, ".sightline-events.sqlite"), "wb") as index:
        index.write(b"no database" * 1000)
    run("search", "red", folder).expect(1, ".sightline-events.sqlite: file is not a database; make embeddings of its pictures: sightline search --index")
    run("search", "--index", folder, *stated()).expect(0, "the index is damaged: it is %s/.sightline-events.damaged now, and made again" % folder)
    compare(search("red", folder), ranked((1, 0, 0)))


def test_models_known():
    """What is not stated is what the index knows; a text model of no use is refused before it is kept; another picture model has none."""
    folder, fresh = indexed("known"), clips("fresh")
    picture, other = model("brightest_channel.tflite"), model("float_range.tflite")
    for options in ([], ["--model", picture]):
        again = run("search", "--index", folder, *options).expect(0)
        assert again.out.endswith(": 0 embeddings of 0 new clips\n"), again
        compare(search("red", folder), ranked((1, 0, 0)))
    run("search", "--index", folder, "--templates", "{} green").expect(0)
    compare(search("red", folder), ranked((1, 1, 0)))
    run("search", "--index", folder, "--templates", "{}").expect(0)
    run("search", "--index", folder, "--text-model", work("none.onnx")).expect(1, "text-model: ", "none.onnx")
    run("search", "--index", folder, "--tokenizer", work("none.json")).expect(1, "tokenizer: ", "none.json")
    run("search", "--index", folder, "--text-model", model("colour_words_wide.onnx")).expect(
        1, "colour_words_wide.onnx: it makes embeddings of 4 numbers, and %s of 3; expected the text model that belongs to it" % picture)
    compare(search("red", folder), ranked((1, 0, 0)))
    run("search", "--index", fresh).expect(1, "fresh: no index here knows a model; expected --model FILE, a picture model")
    run("search", "--index", fresh, "--model", picture, "--tokenizer", tokenizer()).expect(1, "text-model is not stated; expected text-model=FILE and tokenizer=FILE together")
    run("search", "--index", fresh, "--model", picture, "--text-model", model("colour_words.onnx")).expect(1, "tokenizer is not stated; expected text-model=FILE and tokenizer=FILE together")
    assert run("search", "--index", folder, "--model", other, "--mean", "0", "--std", "255").expect(
        0, "known: %s belongs to another picture model and is not used any more; state --text-model and --tokenizer" % model("colour_words.onnx")).out.endswith("of 4 new clips\n")
    words = work("words_that_go.onnx")
    shutil.copy(model("colour_words.onnx"), words)
    run("search", "--index", folder, "--model", picture, "--text-model", words, "--tokenizer", tokenizer()).expect(0)
    os.unlink(words)
    run("search", "--index", folder).expect(0, "known: words will not be found: text-model: ", "words_that_go.onnx")


def test_refused():
    folder = indexed("refused")
    os.makedirs(work("empty"), exist_ok=True)
    run("search", "red", work("nowhere")).expect(1, "nowhere: expected a folder of clips")
    run("search", "red", work("empty")).expect(1, "empty: there is no index of its clips; make embeddings of its pictures: sightline search --index %s --model FILE" % work("empty"))
    run("search", "--index", work("empty"), *stated()).expect(1, "empty: there are no clips in it; expected a folder that slrecord writes into")
    assert os.listdir(work("empty")) == []
    run("search", "--index", work("nowhere"), *stated()).expect(1, "nowhere: expected a folder of clips")
    run("search", "red", folder, "--text-model", model("colour_words_wide.onnx")).expect(
        1, "colour_words_wide.onnx: it makes embeddings of 4 numbers, and those of %s have 3; expected the text model that belongs to" % folder)
    run("search", "red", folder, "--model", model("float_range.tflite"), "--mean", "0", "--std", "255").expect(1, "are of another model, of another version of it, or of other settings")
    run("search", "red", folder, "--fit", "crop").expect(1, "are of another model, of another version of it, or of other settings")
    run("search", "photo", folder).expect(1, "the embedding of 'photo' has no direction")
    run("search", " ", folder).expect(1, 'expected words, such as "a red jacket"')
    for words in ("|", "red|", "|red", "red| |blue"):
        run("search", words, folder).expect(1, "'%s': expected words before and after each '|', which sentences have between them" % words)
    run("search", "|".join(["red"] * 65), folder).expect(1, "expected at most 64 sentences with '|' between, got 65")
    run("search", os.fsdecode(b"red\xff"), folder).expect(1, "expected words in UTF-8")
    for name in ("nothere.png", "a cat.JPG", work("nowhere.webp")):
        run("search", name, folder).expect(1, name + ": no such file; expected a picture, or words")
    run("search", write("no.png", b"\x89PNG\r\n\x1a\n"), folder).expect(1, "no.png: ")
    run("search", "--index", folder, "--model", model("one_box.tflite")).expect(1, "one_box.tflite")
    plain = clips("plain")
    run("search", "--index", plain, "--model", model("brightest_channel.tflite")).expect(0)
    run("search", "red", plain).expect(1, "words need a text model: state text-model=FILE and tokenizer=FILE, which come with the picture model")
    other = clips("other")
    run("search", "--index", other, "--model", model("float_range.tflite"), "--mean", "0", "--std", "255").expect(0)
    run("search", "red", folder, other).expect(1, "its embeddings are of another model than those of")
    os.unlink(os.path.join(plain, list(CLIPS)[0] + ".jpg"))
    write("refused/" + list(CLIPS)[1] + ".jpg", b"no picture")
    os.unlink(os.path.join(folder, ".sightline-events.sqlite"))
    run("search", "--index", folder, *stated()).expect(
        0, "pictures of 1 clips, or objects in them, have no embedding: %s: the picture cannot be decoded: " % list(CLIPS)[1])
    assert len(search("red", folder)) == 3


harness.main(globals())
