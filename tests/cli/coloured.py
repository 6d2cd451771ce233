# SPDX-License-Identifier: LGPL-2.1-or-later
"""Clips whose pictures have colours, and the embeddings that made models give of them: colours, so that answers of searches can be computed."""
import json
import math
import os
import shutil

from harness import model, png_of, work, write

WORDS = ["[pad]", "[begin]", "[end]", "red", "green", "blue", "yellow", "a", "photo", "of"]
COLOURS = {"red": (255, 0, 0), "green": (0, 255, 0), "blue": (0, 0, 255), "orange": (255, 128, 0), "gray": (128, 128, 128), "black": (0, 0, 0)}


HALF = (0.5, 0.25, 1, 1)  # the place of the object


def tokenizer():
    special = [{"id": i, "content": WORDS[i], "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True} for i in (1, 2)]
    parts = [{"SpecialToken": {"id": WORDS[1], "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": WORDS[2], "type_id": 0}}]
    frame = {"type": "TemplateProcessing", "pair": [], "single": parts, "special_tokens": {WORDS[i]: {"id": WORDS[i], "ids": [i], "tokens": [WORDS[i]]} for i in (1, 2)}}
    vocabulary = {w: i if i < 7 else 0 for i, w in enumerate(WORDS)}
    return write("tokenizer.json", json.dumps({"added_tokens": special, "pre_tokenizer": {"type": "Whitespace"}, "post_processor": frame,
                                               "model": {"type": "WordPiece", "unk_token": WORDS[0], "vocab": vocabulary}}).encode())


def stated(*more):
    return ["--model", model("brightest_channel.tflite"), "--text-model", model("colour_words.onnx"), "--tokenizer", tokenizer(), *more]


def put_clip(folder, stem, label, inside, around):
    """A clip whose picture has an object of the colour @inside at HALF. Its file is a PNG, which decoders tell by its bytes."""
    name, event = stem + ".jpg", stem.rsplit("Z-", 1)[1]
    row = [bytes(COLOURS[around]) * 64, bytes(COLOURS[around]) * 32 + bytes(COLOURS[inside]) * 32]
    shutil.copy(png_of("picture.png", 64, 64, [row[y >= 16] for y in range(64)]), os.path.join(folder, name))
    found = {"id": 7, "detection": {"bounding_box": dict(zip(("x_min", "y_min", "x_max", "y_max"), HALF)), "confidence": 0.75, "label": label}}
    notes = {"picture": name, "event": event, "at": 1.5, "seconds": 2, "events": [{"at": 1, "what": {"event": event, "line": "way", "id": 7, "label": label}}],
             "predictions": {"objects": [found]}, "trail": None}
    with open(os.path.join(folder, stem + ".json"), "w", encoding="ascii") as file:
        json.dump(notes, file)
    with open(os.path.join(folder, stem + ".mkv"), "wb") as file:
        file.write(b"a clip")


CLIPS = {"door-2026-11-20T10-00-00.000Z-in": ("person", "red", "gray"), "door-2026-11-21T10-00-00.000Z-in": ("person", "blue", "gray"),
         "gate-2026-11-22T10-00-00.000Z-out": ("car", "orange", "blue"), "gate-2026-11-23T10-00-00.000Z-out": ("car", "green", "green")}


def clips(name, some=None):
    folder = work(name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for stem, clip in (some or CLIPS).items():
        put_clip(folder, stem, *clip)
    return folder


def cosine(a, b):
    return sum(x * y for x, y in zip(a, b)) / math.sqrt(sum(x * x for x in a) * sum(y * y for y in b))


def embeddings_of(clip):
    """Colours of the object and of the whole picture."""
    inside, around = COLOURS[clip[1]], COLOURS[clip[2]]
    share = 0.5 * 0.75
    return inside, [share * i + (1 - share) * a for i, a in zip(inside, around)]


def ranked(colour):
    scores = {stem: max(cosine(e, colour) for e in embeddings_of(clip)) for stem, clip in CLIPS.items()}
    return sorted(sorted(scores.items(), reverse=True), key=lambda item: -round(item[1], 6))  # of equal ones the newer
