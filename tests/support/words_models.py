# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes models of open-vocabulary architectures with random weights, and what torch computes with them, into FOLDER.

Usage: words_models.py FOLDER. It needs torch with onnx; without them it ends with status 77. For each architecture, expected.json has
the file, the options of sightline predict, and all results of the picture picture.bin, [3,64,64] bytes.
"""
import json
import os
import sys

try:
    import onnx  # noqa: F401: torch exports with it
    import torch
    from torch import nn
    from torch.nn import functional as F
except ImportError as error:
    print("no torch with onnx: %s" % error)
    sys.exit(77)

SIDE, DIM, LONGEST, HEADS = 64, 32, 24, 4
WORDS = ["[pad]", "[begin]", ".", "a", "photo", "of", "person", "with", "bag", "empty", "shelf", "open", "door", "[end]"]
CLASSES = ["person with a bag", "empty shelf", "an open door"]


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x, mask=None):
        b, n, d = x.shape
        q, k, v = self.qkv(self.first(x)).reshape(b, n, 3, HEADS, d // HEADS).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-1, -2) * (d // HEADS) ** -0.5
        shares = (scores if mask is None else scores + mask).softmax(-1)
        x = x + self.out((shares @ v).transpose(1, 2).reshape(b, n, d))
        y = self.up(self.second(x))
        return x + self.down(y * torch.sigmoid(1.702 * y))


class Text(nn.Module):
    """CLIP's: causal, the embedding of the token with the highest number. SigLIP's: no mask, the last token."""

    def __init__(self, causal):
        super().__init__()
        self.causal = causal
        self.tokens, self.places = nn.Embedding(len(WORDS), DIM), nn.Parameter(torch.randn(LONGEST, DIM) * 0.3)
        self.blocks, self.norm = nn.ModuleList([Block(DIM), Block(DIM)]), nn.LayerNorm(DIM)
        self.register_buffer("mask", torch.triu(torch.full((LONGEST, LONGEST), -1e9), 1))

    def forward(self, ids):
        n = ids.shape[1]
        x = self.tokens(ids) + self.places[:n]
        for block in self.blocks:
            x = block(x, self.mask[:n, :n] if self.causal else None)
        x = self.norm(x)
        return x[torch.arange(1), ids.argmax(-1)] if self.causal else x[:, -1]


class Picture(nn.Module):
    """A picture encoder; with boxes, OWL-ViT's heads: each patch has an embedding, a shift, a scale and a box."""

    def __init__(self, patch, boxes):
        super().__init__()
        self.boxes, n = boxes, SIDE // patch
        self.patches, self.whole = nn.Conv2d(3, DIM, patch, patch), nn.Parameter(torch.randn(1, 1, DIM))
        self.places = nn.Parameter(torch.randn(n * n + 1, DIM) * 0.1)
        self.blocks, self.norm = nn.ModuleList([Block(DIM), Block(DIM)]), nn.LayerNorm(DIM)
        self.project, self.shift, self.scale, self.box = nn.Linear(DIM, DIM), nn.Linear(DIM, 1), nn.Linear(DIM, 1), nn.Linear(DIM, 4)
        grid = torch.stack(torch.meshgrid(torch.arange(1, n + 1), torch.arange(1, n + 1), indexing="xy"), -1).float().reshape(-1, 2) / n
        self.register_buffer("bias", torch.cat([torch.log(grid / (1 - grid + 1e-4) + 1e-4), torch.full_like(grid, -2.0)], -1))

    def forward(self, x, queries=None):
        x = torch.cat([self.whole, self.patches(x).flatten(2).transpose(1, 2)], 1) + self.places
        for block in self.blocks:
            x = block(x)
        x = self.norm(x)
        if not self.boxes:
            return self.project(x[:, 0])
        patches = x[:, 1:] * x[:, :1]
        own = self.project(patches)
        own, queries = own / (own.norm(dim=-1, keepdim=True) + 1e-6), queries / (queries.norm(dim=-1, keepdim=True) + 1e-6)
        logits = (torch.einsum("bpd,nd->bpn", own, queries) + self.shift(x[:, 1:])) * (F.elu(self.scale(x[:, 1:])) + 1) * 3
        return logits, (self.box(patches) + self.bias).sigmoid()


class Attention(nn.Module):
    """YOLO-World's neck: the classes decide which cells pass."""

    def __init__(self, width):
        super().__init__()
        self.guide, self.bias, self.project = nn.Linear(DIM, width), nn.Parameter(torch.randn(HEADS) * 0.3), nn.Conv2d(width, width, 3, 1, 1)

    def forward(self, x, classes):
        b, c, h, w = x.shape
        guide, cells = self.guide(classes).reshape(b, -1, HEADS, c // HEADS), x.reshape(b, HEADS, c // HEADS, h, w)
        weights = torch.einsum("bmchw,bnmc->bmhwn", cells, guide).max(-1)[0] / (c // HEADS) ** 0.5 + self.bias[None, :, None, None]
        return (self.project(x).reshape(b, HEADS, -1, h, w) * weights.sigmoid().unsqueeze(2)).reshape(b, c, h, w)


class YoloWorld(nn.Module):
    def __init__(self):
        super().__init__()

        def step(i, o):
            return nn.Sequential(nn.Conv2d(i, o, 3, 2, 1), nn.SiLU())

        self.steps = nn.ModuleList([nn.Sequential(step(3, 16), step(16, 32), step(32, 32)), step(32, 32), step(32, 32)])
        self.necks = nn.ModuleList([Attention(32) for _ in range(3)])
        self.boxes, self.cells = nn.ModuleList([nn.Conv2d(32, 4, 1) for _ in range(3)]), nn.ModuleList([nn.Conv2d(32, DIM, 1) for _ in range(3)])
        self.bias, self.scale = nn.Parameter(torch.tensor([-1.0, -0.5, 0.0])), nn.Parameter(torch.tensor([1.2, 1.0, 0.9]))

    def forward(self, x, classes):
        rows, classes = [], F.normalize(classes, dim=-1)
        for i in range(3):
            x = self.steps[i](x)
            cells = self.necks[i](x, classes)
            n = cells.shape[2]
            y, x0 = torch.meshgrid(torch.arange(n).float() + 0.5, torch.arange(n).float() + 0.5, indexing="ij")
            sides = self.boxes[i](cells).flatten(2).sigmoid() * 2
            grid = torch.stack([x0.flatten(), y.flatten()])[None]
            low, high = grid - sides[:, :2], grid + sides[:, 2:]
            own = F.normalize(self.cells[i](cells), dim=1)
            logits = torch.einsum("bchw,bkc->bkhw", own, classes) * self.scale[i].exp() * 2 + self.bias[i]
            rows.append(torch.cat([(low + high) / 2 * (SIDE / n), (high - low) * (SIDE / n), logits.flatten(2).sigmoid()], 1))
        return torch.cat(rows, 2)


class Rows(nn.Module):
    """A text model for a row of tokens of each sentence, with a mask."""

    def __init__(self, text):
        super().__init__()
        self.text = text

    def forward(self, ids, attention_mask):
        n = ids.shape[1]
        y = self.text.tokens(ids) + self.text.places[:n]
        mask = self.text.mask[:n, :n] + (1 - attention_mask[:, None, None, :].float()) * -1e9
        for block in self.text.blocks:
            y = block(y, mask)
        return self.text.norm(y)[torch.arange(ids.shape[0]), ids.argmax(-1)]


class OneFile(nn.Module):
    """OWL-ViT with its text model in one file."""

    def __init__(self, text, owl):
        super().__init__()
        self.rows, self.owl = Rows(text), owl

    def forward(self, ids, x, attention_mask):
        y = self.rows(ids, attention_mask)
        logits, boxes = self.owl(x, y)
        return logits, boxes, y[None]


class OneClip(nn.Module):
    """CLIP in one file, with the outputs that it has in Hugging Face's library."""

    def __init__(self, text, picture):
        super().__init__()
        self.rows, self.picture, self.scale = Rows(text), picture, nn.Parameter(torch.tensor(2.3))

    def forward(self, ids, x, attention_mask):
        texts, pictures = F.normalize(self.rows(ids, attention_mask), dim=-1), F.normalize(self.picture(x), dim=-1)
        logits = texts @ pictures.T * self.scale.exp()
        return logits.T, logits, texts, pictures


class Chosen(nn.Module):
    """The embeddings alone."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, ids, x, attention_mask):
        return self.model(ids, x, attention_mask)[2:]


class Baked(nn.Module):
    """A detector whose file has the classes."""

    def __init__(self, model, classes):
        super().__init__()
        self.model = model
        self.register_buffer("classes", classes)

    def forward(self, x):
        return self.model(x, self.classes)


class Grounding(nn.Module):
    """Grounding DINO's parts: one caption, a text model like BERT, queries that look at text and picture, logits for each token."""

    def __init__(self):
        super().__init__()
        self.tokens, self.parts, self.places = nn.Embedding(len(WORDS), DIM), nn.Embedding(2, DIM), nn.Parameter(torch.randn(LONGEST, DIM) * 0.3)
        self.text, self.picture = nn.ModuleList([Block(DIM), Block(DIM)]), Picture(8, True)
        self.queries, self.looks = nn.Parameter(torch.randn(100, DIM)), nn.ModuleList([Block(DIM), Block(DIM)])
        self.box = nn.Linear(DIM, 4)

    def forward(self, x, ids, token_type_ids, attention_mask):
        n = ids.shape[1]
        hidden = (1 - attention_mask[:, None, None, :].float()) * -1e9
        text = self.tokens(ids) + self.parts(token_type_ids) + self.places[:n]
        for block in self.text:
            text = block(text, hidden)
        cells = self.picture.patches(x).flatten(2).transpose(1, 2) + self.picture.places[1:]
        y = torch.cat([self.queries[None], text, cells], 1)
        for block in self.looks:
            y = block(y)
        y = y[:, :100]
        logits = (y @ text.transpose(1, 2)).masked_fill(attention_mask[:, None, :] == 0, float("-inf"))
        return F.pad(logits / 4, (0, 32 - n), value=float("-inf")), self.box(y).sigmoid()


def tokens_of(text):
    return [1] + [WORDS.index(w) if w in WORDS else 0 for w in text.replace(".", " . ").split()] + [len(WORDS) - 1]


def export(folder, name, model, inputs, names, outputs, axes):
    torch.onnx.export(model, inputs, os.path.join(folder, name), input_names=names, output_names=outputs, opset_version=14, dynamic_axes=axes)
    return name


def embed(model, text, pad):
    ids = tokens_of(text)
    if pad:
        ids += [0] * (LONGEST - len(ids))
    return F.normalize(model(torch.tensor([ids])), dim=-1)


def corners(box):
    x, y, w, h = (float(n) for n in box)
    return [x - w / 2, y - h / 2, x + w / 2, y + h / 2]


def main(folder):
    torch.manual_seed(5)
    clip, siglip, picture = Text(True).eval(), Text(False).eval(), Picture(16, False).eval()
    owl, yolo = Picture(8, True).eval(), YoloWorld().eval()
    pixels = torch.randint(0, 256, (3, SIDE, SIDE))
    ids, x, some = torch.tensor([[1, 5, 6, 12]]), torch.randn(1, 3, SIDE, SIDE), torch.randn(3, DIM)
    lengths = {"input_ids": {0: "batch", 1: "length"}}
    texts = [export(folder, name, model, (ids,), ["input_ids"], ["text_embeds"], lengths) for name, model in (("clip-text.onnx", clip), ("siglip-text.onnx", siglip))]
    export(folder, "picture.onnx", picture, (x,), ["pixel_values"], ["image_embeds"], {})
    export(folder, "owl.onnx", owl, (x, some), ["pixel_values", "query_embeds"], ["logits", "pred_boxes"], {"query_embeds": {0: "n"}, "logits": {2: "n"}})
    export(folder, "yolo.onnx", yolo, (x, some[None]), ["images", "txt_feats"], ["output0"], {"txt_feats": {1: "n"}, "output0": {1: "c"}})
    by_clip, by_siglip = torch.cat([embed(clip, c, False) for c in CLASSES]), torch.cat([embed(siglip, c, True) for c in CLASSES])
    signed, unit = (pixels[None].float() - 127.5) / 127.5, pixels[None].float() / 255
    cosines = [F.normalize(picture(signed), dim=-1) @ e.T for e in (by_clip, by_siglip)]
    logits, boxes = owl(signed, by_clip)
    rows = yolo(unit, by_clip[None])[0].T
    of_rows = [[CLASSES[int(r[4:].argmax())], float(r[4:].max()), corners(r[:4] / SIDE)] for r in rows]
    of_queries = [[CLASSES[c], float(s), corners(b)] for q, b in zip(logits[0].sigmoid(), boxes[0]) for c, s in enumerate(q)]
    one, grounding = OneFile(clip, owl).eval(), Grounding().eval()
    export(folder, "clip-text-fixed.onnx", clip, (torch.tensor([tokens_of("a photo") + [0] * (LONGEST - 4)]),), ["input_ids"], ["text_embeds"], {})
    export(folder, "yolo-baked.onnx", Baked(yolo, by_clip[None]), (x,), ["images"], ["output0"], {})
    n = max(len(tokens_of(c)) for c in CLASSES)
    rows_of = torch.tensor([tokens_of(c) + [0] * (n - len(tokens_of(c))) for c in CLASSES])
    masks = torch.tensor([[1] * len(tokens_of(c)) + [0] * (n - len(tokens_of(c))) for c in CLASSES])
    export(folder, "one.onnx", one, (rows_of, x, masks), ["input_ids", "pixel_values", "attention_mask"], ["logits", "pred_boxes", "text_embeds"],
           {"input_ids": {0: "n", 1: "l"}, "attention_mask": {0: "n", 1: "l"}, "logits": {2: "n"}, "text_embeds": {1: "n"}})
    own, own_boxes, _ = one(rows_of, signed, masks)
    of_one = [[CLASSES[c], float(s), corners(b)] for q, b in zip(own[0].sigmoid(), own_boxes[0]) for c, s in enumerate(q)]
    clip_one = OneClip(clip, picture).eval()
    for name, kept in (("clip-one.onnx", 4), ("clip-embeds.onnx", 0)):
        names = ["logits_per_image", "logits_per_text", "text_embeds", "image_embeds"]
        parts = clip_one if kept else Chosen(clip_one)
        export(folder, name, parts, (rows_of, x, masks), ["input_ids", "pixel_values", "attention_mask"], names if kept else names[2:],
               {k: {0: "texts", 1: "length"} for k in ("input_ids", "attention_mask")} | {"pixel_values": {0: "pictures", 2: "height", 3: "width"}})
    of_clip = clip_one(rows_of, signed, masks)
    caption = torch.tensor([tokens_of(". ".join(CLASSES) + ".")])
    ones, zeros = torch.ones_like(caption), torch.zeros_like(caption)
    export(folder, "grounding.onnx", grounding, (x, caption, zeros, ones), ["pixel_values", "input_ids", "token_type_ids", "attention_mask"], ["logits", "pred_boxes"],
           {k: {1: "l"} for k in ("input_ids", "token_type_ids", "attention_mask")})
    own, own_boxes = grounding(signed, caption, zeros, ones)
    spans, at = [], 1
    for c in CLASSES:
        spans.append((at, at + len(tokens_of(c)) - 2))
        at = spans[-1][1] + 1
    of_tokens = [[c, float(q[a:b].max()), corners(box)] for q, box in zip(own[0].sigmoid(), own_boxes[0]) for c, (a, b) in zip(CLASSES, spans)]
    cases = [
        {"name": "CLIP", "model": "picture.onnx", "text": texts[0], "options": ["--mean", "127.5", "--std", "127.5", "--decoder", "words,scale=10"],
         "labels": dict(zip(CLASSES, (cosines[0][0] * 10).softmax(-1).tolist())), "cosines": cosines[0][0].tolist()},
        {"name": "SigLIP", "model": "picture.onnx", "text": texts[1], "options": ["--mean", "127.5", "--std", "127.5", "--decoder", "words,activation=sigmoid,scale=9,bias=-1"],
         "labels": dict(zip(CLASSES, (cosines[1][0] * 9 - 1).sigmoid().tolist())), "cosines": cosines[1][0].tolist()},
        {"name": "OWL-ViT", "model": "owl.onnx", "text": texts[0], "options": ["--mean", "127.5", "--std", "127.5", "--decoder", "detr,iou-threshold=1"], "objects": of_queries},
        {"name": "YOLO-World", "model": "yolo.onnx", "text": texts[0], "options": ["--mean", "0", "--std", "255", "--decoder", "yolo,preset=v8,iou-threshold=1"], "objects": of_rows},
        {"name": "CLIP of fixed length", "model": "picture.onnx", "text": "clip-text-fixed.onnx", "options": ["--mean", "127.5", "--std", "127.5", "--decoder", "words,scale=10"],
         "labels": dict(zip(CLASSES, (cosines[0][0] * 10).softmax(-1).tolist()))},
        {"name": "CLIP in one file", "model": "clip-one.onnx", "options": ["--mean", "127.5", "--std", "127.5", "--input-shape", ";1,3,%d,%d" % (SIDE, SIDE)],
         "labels": dict(zip(CLASSES, of_clip[0][0].softmax(-1).tolist()))},
        {"name": "CLIP's embeddings in one file", "model": "clip-embeds.onnx", "options": ["--mean", "127.5", "--std", "127.5", "--input-shape", ";1,3,%d,%d" % (SIDE, SIDE), "--decoder", "words,scale=10"],
         "labels": dict(zip(CLASSES, (cosines[0][0] * 10).softmax(-1).tolist()))},
        {"name": "YOLO-World with its classes", "model": "yolo-baked.onnx", "alone": True, "options": ["--mean", "0", "--std", "255", "--decoder", "yolo,preset=v8,iou-threshold=1"],
         "objects": of_rows},
        {"name": "OWL-ViT in one file", "model": "one.onnx", "options": ["--mean", "127.5", "--std", "127.5", "--decoder", "detr,iou-threshold=1"], "objects": of_one},
        {"name": "Grounding DINO", "model": "grounding.onnx", "options": ["--mean", "127.5", "--std", "127.5"], "objects": of_tokens},
    ]
    with open(os.path.join(folder, "expected.json"), "w") as file:
        json.dump({"classes": CLASSES, "cases": cases}, file)
    with open(os.path.join(folder, "picture.bin"), "wb") as file:
        file.write(bytes(pixels.flatten().tolist()))
    begin, end = (1, WORDS[1]), (len(WORDS) - 1, WORDS[-1])
    special = [{"id": i, "content": w, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True} for i, w in (begin, end)]
    frame = {"type": "TemplateProcessing", "pair": [], "single": [{"SpecialToken": {"id": begin[1], "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": end[1], "type_id": 0}}],
             "special_tokens": {w: {"id": w, "ids": [i], "tokens": [w]} for i, w in (begin, end)}}
    with open(os.path.join(folder, "tokenizer.json"), "w") as file:
        json.dump({"added_tokens": special, "pre_tokenizer": {"type": "Whitespace"}, "post_processor": frame,
                   "padding": {"strategy": {"Fixed": LONGEST}, "pad_id": 0}, "truncation": {"max_length": LONGEST},
                   "model": {"type": "WordPiece", "unk_token": WORDS[0], "vocab": {w: i for i, w in enumerate(WORDS)}}}, file)


main(sys.argv[1])
