# SPDX-License-Identifier: LGPL-2.1-or-later
"""sightline tokenize: tokens against implementations of this file, written from the definitions, and against lists of other libraries.

Lists are in $SIGHTLINE_TEST_DATA/words, a folder for each tokenizer: the file that is named in "file", "sentences.txt", a text a line,
and "ids.txt", a JSON list a line.
"""
import gzip
import json
import os
import random
import struct

import harness
from harness import data, run, work, write

LETTERS = "abcde"
random.seed(5)


def tokenize(path, texts, *options):
    """Objects that the command prints for each of the texts."""
    lines = run("tokenize", "--json", *options, "--", path, *texts).expect(0).out.splitlines()
    assert len(lines) == len(texts), "%d lines for %d texts" % (len(lines), len(texts))
    return [json.loads(line) for line in lines]


def words(n, longest=14):
    return ["".join(random.choice(LETTERS + "f") for _ in range(random.randint(1, longest))) for _ in range(n)]


def compare(path, texts, encode):
    for text, got in zip(texts, tokenize(path, texts)):
        want = encode(text)
        assert got["ids"] == want, "%s: '%s': expected %s, got %s" % (path, text, want, got["ids"])


def bpe(word, ranks, symbols):
    """The merge of the lowest rank, the leftmost one first, until there is none."""
    symbols = list(symbols)
    while True:
        pairs = [(ranks[p], i) for i, p in enumerate(zip(symbols, symbols[1:])) if p in ranks]
        if not pairs:
            return symbols
        i = min(pairs)[1]
        symbols[i:i + 2] = [symbols[i] + symbols[i + 1]]


def random_merges(n):
    tokens, merges = list(LETTERS + "f"), []
    while len(merges) < n:
        pair = random.choice(tokens), random.choice(tokens)
        if "".join(pair) not in tokens and len("".join(pair)) < 9:
            merges.append(pair)
            tokens.append("".join(pair))
    return tokens, merges


def test_bpe():
    tokens, merges = random_merges(60)
    ids = {t: i for i, t in enumerate(tokens)}
    path = write("bpe.json", json.dumps({"model": {"type": "BPE", "vocab": ids, "merges": [" ".join(m) for m in merges]}}).encode())
    ranks = {m: i for i, m in enumerate(merges)}
    compare(path, words(300), lambda w: [ids[t] for t in bpe(w, ranks, w)])


def test_wordpiece():
    pieces = ["[UNK]"] + list(LETTERS) + ["##" + c for c in LETTERS] + [p + w for w in words(60, 4) for p in ("", "##")]
    ids = {t: i for i, t in enumerate(dict.fromkeys(pieces))}
    path = write("wordpiece.json", json.dumps({"model": {"type": "WordPiece", "unk_token": "[UNK]", "vocab": ids}}).encode())

    def encode(word):
        found, at = [], 0
        while at < len(word):
            ends = [e for e in range(len(word), at, -1) if ("##" if at else "") + word[at:e] in ids]
            if not ends:
                return [0]
            found.append(ids[("##" if at else "") + word[at:ends[0]]])
            at = ends[0]
        return found
    compare(path, words(300), encode)


def segmentations(word, scores, unknown):
    """Every division of a word into pieces, with its score; a character that is no piece is unknown."""
    if not word:
        yield 0.0, []
        return
    for n in range(1, len(word) + 1):
        piece = word[:n]
        if piece in scores or n == 1:
            for score, rest in segmentations(word[n:], scores, unknown):
                yield scores.get(piece, unknown) + score, [piece if piece in scores else None] + rest


def test_unigram():
    pieces = list(dict.fromkeys(list(LETTERS) + words(50, 4)))
    vocab = [["<unk>", 0.0]] + [[p, -random.uniform(1, 12)] for p in pieces if p != "f"]
    ids, scores = {p: i for i, (p, _) in enumerate(vocab)}, dict(vocab)
    path = write("unigram.json", json.dumps({"model": {"type": "Unigram", "unk_id": 0, "vocab": vocab}}).encode())
    lowest = min(score for _, score in vocab)

    def encode(word):
        best = max(segmentations(word, scores, lowest - 10), key=lambda s: s[0])[1]
        return [0 if p is None else ids[p] for i, p in enumerate(best) if p is not None or i == 0 or best[i - 1] is not None]
    compare(path, words(200, 10), encode)


def byte_names():
    """GPT-2's characters of bytes, by the order in which its program makes them."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [b for b in range(256) if b not in shown]
    return dict([(b, chr(b)) for b in shown] + [(b, chr(256 + i)) for i, b in enumerate(hidden)])


def test_clip():
    """CLIP's file, packed and not, and the pair of files that says the same."""
    names = byte_names()
    merges, tokens = [], {n + e for n in names.values() for e in ("", "</w>")}
    while len(merges) < 200:
        a, b = random.choice([t for t in sorted(tokens) if t[0] in LETTERS and "<" not in t]), random.choice(list(LETTERS)) + random.choice(["", "</w>"])
        if a + b not in tokens:
            merges.append((a, b))
            tokens.add(a + b)
    text = '"bpe_simple_vocab_16e6.txt#version: 0.2\n' + "".join("%s %s\n" % m for m in merges)
    vocabulary = list(names.values()) + [n + "</w>" for n in names.values()] + [a + b for a, b in merges] + ["<|startoftext|>", "<|endoftext|>"]
    ids, ranks = {t: i for i, t in enumerate(vocabulary)}, {m: i for i, m in enumerate(merges)}
    os.makedirs(work("pair"))
    paths = [write("clip.txt", text.encode()), write("clip.txt.gz", gzip.compress(text.encode())), write("pair/vocab.json", json.dumps(ids).encode())]
    write("pair/merges.txt", ("#version: 0.2\n" + "".join("%s %s\n" % m for m in merges)).encode())

    def encode(sentence):
        found = [ids["<|startoftext|>"]]
        for word in sentence.lower().split():
            symbols = [names[b] for b in word.encode()]
            found += [ids[t] for t in bpe(word, ranks, symbols[:-1] + [symbols[-1] + "</w>"])]
        return found + [ids["<|endoftext|>"]]
    texts = [" ".join(words(4)) for _ in range(100)] + ["Abc  DÉ é", "日本"]
    for path in paths:
        compare(path, texts, encode)
    assert len(tokenize(paths[0], ["a " * 100])[0]["ids"]) == 77
    padded = tokenize(paths[0], ["a"], "--length", "8")[0]
    assert padded["ids"][3:] == [0] * 5 and padded["count"] == 3, padded


def test_output():
    path = write("vocab.txt", b"[PAD]\n[UNK]\n[CLS]\n[SEP]\nhand\n##s\n\x01\n")
    result = run("tokenize", path, "Hands x", "-n", "6").expect(0)
    assert result.out == "      2  [CLS]\n      4  hand\n      5  ##s\n      1  [UNK]\n      3  [SEP]\n      0  [PAD]  (padding)\n", result.out
    got = tokenize(path, ["Hands"])[0]
    assert got == {"format": "vocab.txt, WordPiece", "text": "Hands", "ids": [2, 4, 5, 3], "tokens": ["[CLS]", "hand", "##s", "[SEP]"], "first": 0, "count": 4}
    run("tokenize").expect(2, "expected a FILE, such as tokenizer.json, and texts")
    run("tokenize", path, "-n", "0", "x").expect(2, "--length: expected")
    run("tokenize", work("missing.json"), "x").expect(1, "missing.json: ")
    run("tokenize", path, "x" * 40000).expect(1, "the text is longer than 32768 bytes; expected a shorter text")
    assert run("tokenize", "--json", path).expect(0).out == ""  # no line, no text


def test_lists():
    """Tokens of whole tokenizers, as other libraries make them."""
    folder = data("words")
    compared = 0
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name, "file"), encoding="utf-8") as file:
            path = os.path.join(folder, name, file.read().strip())
        with open(os.path.join(folder, name, "sentences.txt"), encoding="utf-8", newline="\n") as file:
            texts = file.read().rstrip("\n").split("\n")
        with open(os.path.join(folder, name, "ids.txt"), encoding="utf-8") as file:
            wanted = [json.loads(line) for line in file]
        assert len(texts) == len(wanted), name
        for start in range(0, len(texts), 2000):
            for text, want, got in zip(texts[start:], wanted[start:], tokenize(path, texts[start:start + 2000])):
                assert got["ids"] == want, "%s: %r: expected %s, got %s" % (name, text, want, got["ids"])
                compared += 1
    print("# %d texts" % compared)


harness.main(globals())
