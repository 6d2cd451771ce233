#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""pictures.py BUILD [NAME...]: writes pictures of docs/pictures anew: motion, gallery, text, budget and appearance. --check: fails if a chart is not what its table says.

Scenes are drawn here. Boxes, texts and numbers of people are what the program in the folder BUILD says of them. It needs GStreamer's rsvgdec,
and text.jpg the models zoo:ppocr_find and zoo:ppocr_read. budget.svg and appearance.svg are made of the tables in these pages.
"""
import base64
import html
import json
import os
import random
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PICTURES = os.path.join(ROOT, "docs", "pictures")
FONT = 'font-family="sans-serif"'


def svg(width, height, *parts):
    return '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="%d" height="%d" viewBox="0 0 %d %d">%s</svg>' % (
        width, height, width, height, "".join(parts))


def rect(x, y, width, height, colour, more=""):
    return '<rect x="%g" y="%g" width="%g" height="%g" fill="%s" %s/>' % (x, y, width, height, colour, more)


def text(x, y, size, colour, words, more=""):
    return '<text x="%g" y="%g" font-size="%g" fill="%s" %s %s>%s</text>' % (x, y, size, colour, FONT, more, html.escape(words))


def embed(path, x, y, width, height, part):
    """The part (x, y, width, height) of the PNG file at @path. rsvgdec takes the first </svg> for the end, so none is nested."""
    with open(path, "rb") as file:
        data = base64.b64encode(file.read()).decode()
    across, down, name = width / part[2], height / part[3], "c%d-%d" % (x, y)
    full = size_of(path)
    return '<clipPath id="%s">%s</clipPath><g clip-path="url(#%s)"><image x="%g" y="%g" width="%g" height="%g" preserveAspectRatio="none" xlink:href="data:image/png;base64,%s"/></g>' % (
        name, rect(x, y, width, height, "#000"), name, x - part[0] * across, y - part[1] * down, full[0] * across, full[1] * down, data)


def size_of(path):
    """Of a PNG file: its IHDR."""
    with open(path, "rb") as file:
        head = file.read(24)
    return int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")


class Work:
    """A folder for what is between drawing and picture, and the program that looks at it."""

    def __init__(self, build, folder):
        self.build, self.folder = os.path.abspath(build), folder

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, words):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(words)
        return self.path(name)

    def run(self, *command):
        """What a command prints, run in the folder with the elements of the build."""
        return subprocess.run(["meson", "devenv", "-C", self.build, "--workdir", self.folder, *command], check=True, stdout=subprocess.PIPE, text=True).stdout

    def launch(self, line):
        return self.run("gst-launch-1.0", "-q", *line.split())

    def render(self, drawing, name, encoder="pngenc"):
        """Draws an SVG to a file of that name."""
        self.write("drawing.svg", drawing)
        self.launch("filesrc location=drawing.svg ! rsvgdec ! videoconvert ! video/x-raw,format=RGB ! %s ! filesink location=%s" % (encoder, name))
        return self.path(name)

    def finish(self, drawing, name):
        self.render(drawing, os.path.join(PICTURES, name), "jpegenc quality=75")


def code(x, y, module, seed):
    """The look of a QR code of 25 modules in a margin."""
    rand, parts = random.Random(seed), [rect(x - 3 * module, y - 3 * module, 31 * module, 31 * module, "#fff")]
    corners = ((0, 0), (18, 0), (0, 18))
    for row in range(25):
        for column in range(25):
            if rand.random() < 0.5 and not any(a - 1 <= column < a + 8 and b - 1 <= row < b + 8 for a, b in corners):
                parts.append(rect(x + column * module, y + row * module, module, module, "#000"))
    for a, b in corners:
        for inset, colour in ((0, "#000"), (1, "#fff"), (2, "#000")):
            parts.append(rect(x + (a + inset) * module, y + (b + inset) * module, (7 - 2 * inset) * module, (7 - 2 * inset) * module, colour))
    return "".join(parts)


def parcel(x, y, size, seed):
    return (rect(x, y, size * 1.3, size, "#c39a62", 'stroke="#7d5f37" stroke-width="3"') + rect(x + size * 0.56, y, size * 0.18, size * 0.3, "#ddc79c")
            + code(x + size * 0.18, y + size * 0.32, size / 52, seed))


def hall(moved):
    """A hall of 1920x1080 with parcels; two of them have moved so many steps."""
    parts = [rect(0, 0, 1920, 1080, "#c9cfd4"), rect(0, 620, 1920, 460, "#8f979d")]
    parts += [rect(x, 60, 230, 330, "#aab8c4", 'stroke="#7c8892" stroke-width="10"') + rect(x + 110, 60, 10, 330, "#7c8892") for x in range(90, 1900, 380)]
    for y, colour in ((470, "#56606a"), (860, "#4a535c")):
        parts.append(rect(0, y, 1920, 34, colour))
        parts += ['<circle cx="%d" cy="%d" r="11" fill="#2c3238"/>' % (x, y + 17) for x in range(20, 1920, 60)]
        parts += [rect(x, y + 34, 26, 90, "#6d7780") for x in range(160, 1920, 520)]
    parts += [parcel(x, 470 - 92, 92, x) for x in (60, 1640)] + [parcel(x, 860 - 110, 110, x) for x in (640, 1250)]
    parts += [parcel(420 + 9 * moved, 470 - 92, 92, 5), parcel(1560 - 10 * moved, 860 - 110, 110, 8)]
    return svg(1920, 1080, *parts)


def motion(work):
    steps = 14
    for n in range(steps):
        work.render(hall(max(n - 3, 0)), "hall%02d.png" % n)
    source = "multifilesrc location=hall%02d.png caps=image/png,framerate=5/1 ! pngdec ! videoconvert ! video/x-raw,format=I420 ! "
    for name, elements in (("whole", "slpredict"), ("tiles", "slmotion ! slpredict tiles=motion")):
        work.launch(source + elements + " ! tee name=t ! queue ! sloverlay thickness=3 font-size=22 ! videoconvert ! pngenc ! multifilesink location=" + name + "%02d.png t. ! queue ! slpublish location=" + name + ".jsonl")
    found = {name: json.loads(open(work.path(name + ".jsonl"), encoding="utf-8").readlines()[-1])["objects"] for name in ("whole", "tiles")}
    part, parts = (330, 330, 480, 200), [rect(0, 0, 970, 786, "#fff")]
    last = "%02d.png" % (steps - 1)
    parts.append(embed(work.path("tiles" + last), 0, 0, 970, 545, (0, 0, 1920, 1080)))
    for x, name, words in ((0, "whole", "whole frames"), (490, "tiles", "tiles=motion")):
        parts.append(embed(work.path(name + last), x, 551, 480, 200, part))
        parts.append(text(x + 4, 776, 20, "#1f2328", "%s: %s" % (words, ", ".join("%s %.2f" % (thing["roi_type"], thing["detection"]["confidence"]) for thing in found[name]) or "nothing is found")))
    work.finish(svg(970, 786, *parts), "motion.jpg")


def person(x, y, coat, trousers):
    """Of 110x250 pixels."""
    return ("".join(rect(x + at, y + 150, 34, 100, trousers, 'rx="8"') for at in (18, 58)) + rect(x + 8, y + 48, 94, 120, coat, 'rx="22"')
            + rect(x - 8, y + 58, 24, 96, coat, 'rx="12"') + rect(x + 94, y + 58, 24, 96, coat, 'rx="12"')
            + '<circle cx="%d" cy="%d" r="25" fill="#d9a884"/><path d="M%d %d a26 26 0 0 1 52 0 z" fill="#4a3526"/>' % (x + 55, y + 25, x + 29, y + 22))


def gate():
    return rect(0, 0, 320, 520, "#bfd3e2") + rect(0, 380, 320, 140, "#9aa39a") + "".join(rect(x, 150, 10, 230, "#5b6670") for x in range(190, 320, 30)) + rect(180, 190, 140, 10, "#5b6670")


def passage():
    return rect(0, 0, 320, 520, "#d8d2c4") + rect(0, 400, 320, 120, "#8d8577") + rect(205, 130, 90, 270, "#a98f6b", 'stroke="#6e5b40" stroke-width="5"') + '<circle cx="222" cy="270" r="6" fill="#3c3222"/>'


def yard():
    return rect(0, 0, 320, 520, "#c6d7c0") + rect(0, 370, 320, 150, "#8f9a7d") + '<circle cx="255" cy="200" r="62" fill="#5f8a4d"/>' + rect(247, 250, 16, 130, "#6b5138")


# Cameras, in the order in which people come by.
CAMERAS = (("gate", gate, "#2f7d4f", "#2b3550"), ("hall", passage, "#2f7d4f", "#2b3550"), ("yard", yard, "#b4472f", "#50452b"))


def gallery(work):
    work.run(os.path.join(work.build, "tests", "support", "make_models"), work.folder)
    parts = [rect(0, 0, 970, 590, "#fff")]
    for n, (name, place, coat, trousers) in enumerate(CAMERAS):
        path = work.render(svg(320, 520, place(), person(22, 146, coat, trousers)), name + ".png")
        work.write(name + ".pipeline", (
            "[pipeline]\nlaunch=filesrc location=%s.png ! pngdec ! imagefreeze num-buffers=30 ! videoconvert ! video/x-raw,format=RGB,framerate=25/1 ! slpredict model=one_box.tflite ! "
            "sltrack appearance=looks.onnx appearance-batch=1 appearance-settings=\"mean=127.5 std=127.5\" ! slpublish location=%s.jsonl\n[gallery]\nlocation=people.gallery\nkeep=7d\n") % (name, name))
        work.run(os.path.join(work.build, "tools", "sightline"), "run", name + ".pipeline")
        thing = json.loads(open(work.path(name + ".jsonl"), encoding="utf-8").readlines()[-1])["objects"][0]
        who = thing["identity"]
        x = n * 325
        parts.append(embed(path, x, 0, 320, 520, (0, 0, 320, 520)))
        parts.append(rect(x + thing["x"] + 2, thing["y"], thing["w"] - 4, thing["h"], "none", 'stroke="#00a2ff" stroke-width="4"'))
        parts.append(text(x + 4, 546, 21, "#1f2328", "camera %s: person %d" % (name, who["id"])))
        parts.append(text(x + 4, 574, 18, "#59636e", "seen by " + ", ".join(who["cameras"])))
    work.finish(svg(970, 590, *parts), "gallery.jpg")


def plate(x, y, words, turn, slant, colour):
    return '<g transform="translate(%g %g) rotate(%g) skewX(%g)">%s%s</g>' % (
        x, y, turn, slant, rect(0, 0, 300, 64, colour, 'stroke="#333" stroke-width="3" rx="7"'),
        text(150, 48, 46, "#151515", words, 'text-anchor="middle" font-weight="bold" letter-spacing="3"'))


def car(x, y, colour):
    """Of 420x300 pixels, from behind."""
    return (rect(x + 70, y, 280, 120, colour, 'rx="34"') + rect(x + 95, y + 18, 230, 84, "#27333d", 'rx="20"') + rect(x, y + 96, 420, 160, colour, 'rx="30"')
            + "".join(rect(x + at, y + 120, 58, 34, "#c23b2e", 'rx="8"') for at in (14, 348)) + "".join(rect(x + at, y + 236, 70, 62, "#1c1f22", 'rx="14"') for at in (30, 320)))


def read_text(work):
    scene = svg(970, 480, rect(0, 0, 970, 480, "#b9c6cf"), rect(0, 300, 970, 180, "#767d82"), car(30, 90, "#7f97ab"), car(520, 110, "#a8a093"),
                plate(98, 256, "LN58 KXB", -3, 4, "#f2d14b"), plate(572, 266, "GV07 MRT", 5, -9, "#f4f4ee"))
    work.render(scene, "cars.png")
    formats = os.path.join(ROOT, "pipelines", "ready", "plates.formats")
    found = json.loads(work.run(os.path.join(work.build, "tools", "sightline"), "predict", "--json", "--model", "zoo:ppocr_find", "--text", "zoo:ppocr_read", "--text-formats", formats, "cars.png"))
    parts = [embed(work.path("cars.png"), 0, 0, 970, 480, (0, 0, 970, 480))]
    for thing in found["objects"]:
        points = [(970 * point["x"], 480 * point["y"]) for point in thing["keypoints"]]
        parts.append('<polygon points="%s" fill="none" stroke="#d6007f" stroke-width="4"/>' % " ".join("%.1f,%.1f" % point for point in points))
        x, y, words = min(x for x, _ in points), max(y for _, y in points) + 36, "%(text)s  %(confidence).2f  %(format)s" % thing["text"]
        parts.append(rect(x - 6, y - 24, 15 * len(words), 32, "#d6007f") + text(x, y, 24, "#fff", words))
    work.finish(svg(970, 480, *parts), "text.jpg")


STYLE = """.paper{fill:#fff}text{font:14px sans-serif;fill:#1f2328}.soft{fill:#59636e}.bar{fill:#0a69da}.old{fill:#8c959f}.promise{stroke:#bc4c00;stroke-width:3}
@media(prefers-color-scheme:dark){.paper{fill:#0d1117}text{fill:#e6edf3}.soft{fill:#9aa4af}.bar{fill:#4493f8}.promise{stroke:#f0883e}}"""


def bars():
    """An SVG of the table in the page: what was promised, and what came."""
    with open(os.path.join(ROOT, "docs", "budget.md"), encoding="utf-8") as file:
        rows = re.findall(r"^\| `(\w+)` \| (\d+) \| (\d+) \| ([\d.]+) \|", file.read(), re.M)
    height = 58 + 52 * len(rows)
    parts = ["<title>Frames a second that cameras were promised, and that they got</title><style>%s</style>" % STYLE, '<rect class="paper" width="760" height="%d"/>' % height]
    for n, (name, promised, priority, came) in enumerate(rows):
        y, end = 16 + 52 * n, 120 + 25 * float(came)
        parts.append('<text x="16" y="%d">%s</text><text class="soft" x="16" y="%d">priority %s</text>' % (y + 16, name, y + 34, priority))
        parts.append('<rect class="bar" x="120" y="%d" width="%.1f" height="30"/><text x="%.1f" y="%d">%s</text>' % (y + 4, end - 120, end + 8, y + 24, came))
        parts.append('<path class="promise" d="M%.1f %d v38"/>' % (120 + 25 * float(promised), y))
    y = height - 22
    parts.append('<rect class="bar" x="120" y="%d" width="22" height="12"/><text class="soft" x="150" y="%d">frames a second</text>' % (y, y + 12))
    parts.append('<path class="promise" d="M300 %d v18"/><text class="soft" x="312" y="%d">what was promised</text>' % (y - 3, y + 12))
    return svg(760, height, *parts) + "\n"


def changes():
    """An SVG of the table of sequences in docs/appearance.md: ids that change without appearance, and with it."""
    with open(os.path.join(ROOT, "docs", "appearance.md"), encoding="utf-8") as file:
        rows = re.findall(r"^\| ([a-z ,]+) \|(?: 0\.\d+ \|){4} ([\d.]+) \| ([\d.]+) \| [\d.]+ of \d+ \|$", file.read(), re.M)
    height = 58 + 48 * len(rows)
    parts = ["<title>Ids that change in a sequence, without appearance and with it</title><style>%s</style>" % STYLE, '<rect class="paper" width="760" height="%d"/>' % height]
    for n, (name, without, with_it) in enumerate(rows):
        y = 14 + 48 * n
        parts.append('<text x="16" y="%d">%s</text>' % (y + 24, name))
        for at, kind, count in ((0, "old", without), (18, "bar", with_it)):
            parts.append('<rect class="%s" x="290" y="%d" width="%.1f" height="15"/><text class="soft" x="%.1f" y="%d">%s</text>' % (
                kind, y + at, 20 * float(count), 298 + 20 * float(count), y + at + 13, count))
    y = height - 22
    for x, kind, words in ((290, "old", "ids that change without appearance"), (620, "bar", "with it")):
        parts.append('<rect class="%s" x="%d" y="%d" width="22" height="12"/><text class="soft" x="%d" y="%d">%s</text>' % (kind, x, y, x + 30, y + 12, words))
    return svg(760, height, *parts) + "\n"


# Charts that are made of a table of the page of that name.
CHARTS = {"budget": bars, "appearance": changes}


def write_chart(name):
    with open(os.path.join(PICTURES, name + ".svg"), "w", encoding="utf-8") as file:
        file.write(CHARTS[name]())


WRITERS = {"motion": motion, "gallery": gallery, "text": read_text, "budget": lambda work: write_chart("budget"), "appearance": lambda work: write_chart("appearance")}


def check():
    for name, chart in CHARTS.items():
        with open(os.path.join(PICTURES, name + ".svg"), encoding="utf-8") as file:
            if file.read() != chart():
                sys.exit("docs/pictures/%s.svg is not what the table in docs/%s.md says: run scripts/docs/pictures.py BUILD %s" % (name, name, name))


def main():
    if sys.argv[1:] == ["--check"]:
        return check()
    if len(sys.argv) < 2 or any(name not in WRITERS for name in sys.argv[2:]):
        sys.exit(__doc__.splitlines()[0])
    with tempfile.TemporaryDirectory() as folder:
        for name in sys.argv[2:] or WRITERS:
            WRITERS[name](Work(sys.argv[1], folder))
    return None


if __name__ == "__main__":
    main()
