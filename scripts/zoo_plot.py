# SPDX-License-Identifier: LGPL-2.1-or-later
"""A plot of the zoo's detectors with 8 bits, for scripts/zoo.py: time against the loss of agreement, as SVG for light and dark screens."""
import html
import math

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 440, 64, 24, 36, 52
LIMIT = 1.5
STYLE = """.paper{fill:#fff}text{font:13px sans-serif;fill:#1f2328}.soft{fill:#59636e}.grid{stroke:#d9dee3}.tail{stroke:#0a69da;stroke-width:2;stroke-opacity:.45}
.dot{fill:#0a69da}.bad .dot{fill:#bc4c00}.bad .tail{stroke:#bc4c00}.limit{stroke:#59636e;stroke-dasharray:5 4}
@media(prefers-color-scheme:dark){.paper{fill:#0d1117}text{fill:#e6edf3}.soft{fill:#9aa4af}.grid{stroke:#363d46}.tail{stroke:#4493f8}.dot{fill:#4493f8}
.bad .dot{fill:#f0883e}.bad .tail{stroke:#f0883e}.limit{stroke:#9aa4af}}"""


class Axis:
    """A logarithmic axis from @low to @high at the places @first to @last."""

    def __init__(self, values, first, last):
        self.low, self.high = 10 ** math.floor(math.log10(min(values))), 10 ** math.ceil(math.log10(max(values)))
        self.first, self.last = first, last

    def at(self, value):
        return self.first + (self.last - self.first) * math.log(value / self.low) / math.log(self.high / self.low)

    def ticks(self):
        decade = self.low
        while decade <= self.high * 1.001:
            yield from (step * decade for step in (1, 2, 5) if step * decade <= self.high * 1.001)
            decade *= 10


def text(x, y, words, **more):
    attributes = "".join(' %s="%s"' % (key.rstrip("_").replace("_", "-"), value) for key, value in more.items())
    return '<text x="%.1f" y="%.1f"%s>%s</text>' % (x, y, attributes, html.escape(words))


def grid(across, up):
    for tick in across.ticks():
        x = across.at(tick)
        yield '<path class="grid" d="M%.1f %d V%d"/>' % (x, TOP, HEIGHT - BOTTOM)
        yield text(x, HEIGHT - BOTTOM + 18, "%g" % tick, class_="soft", text_anchor="middle")
    for tick in up.ticks():
        y = up.at(tick)
        yield '<path class="grid" d="M%d %.1f H%d"/>' % (LEFT, y, WIDTH - RIGHT)
        yield text(LEFT - 8, y + 4, "%g" % tick, class_="soft", text_anchor="end")
    yield '<path class="limit" d="M%d %.1f H%d"/>' % (LEFT, up.at(LIMIT), WIDTH - RIGHT)
    yield text(LEFT + 6, up.at(LIMIT) - 5, "%g %%: what a recipe may lose" % LIMIT, class_="soft")


def places(points, across, up):
    """Where names stand: right of their dots, or left of what is drawn where that is taken or outside."""
    spans = [sorted((across.at(floats), across.at(ms))) for _, floats, ms, _ in points]
    taken = [(first - 6, up.at(point[3]) + 4, last - first + 12) for (first, last), point in zip(spans, points)]
    for name, floats, ms, loss in points:
        y, right, width = up.at(loss) + 4, across.at(max(floats, ms)) + 10, 7.2 * len(name)
        left = across.at(min(floats, ms)) - 10 - width
        spots = [(right, y), (left, y), (right, y + 14), (left, y + 14), (right, y - 14), (left, y - 14), (left + width / 2, y - 14)]
        free = [spot for spot in spots if LEFT < spot[0] < WIDTH - width and all(abs(spot[1] - b) > 13 or spot[0] + width < a or a + w < spot[0] for a, b, w in taken)]
        spot = (free or spots)[0]
        taken.append((*spot, width))
        yield spot


def svg(points):
    """@points: (name, milliseconds with floats, with 8 bits, loss in percent)."""
    across = Axis([ms for point in points for ms in point[1:3]], LEFT, WIDTH - RIGHT)
    up = Axis([point[3] for point in points] + [LIMIT], HEIGHT - BOTTOM, TOP)
    yield '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d">' % (WIDTH, HEIGHT, WIDTH, HEIGHT)
    yield "<title>Detectors of the zoo with 8 bits: milliseconds against the loss of agreement</title><style>%s</style>" % STYLE
    yield '<rect class="paper" width="%d" height="%d"/>' % (WIDTH, HEIGHT)
    yield text(LEFT, 18, "Loss of AP50 against the float model, percent; a line begins at the time with floats", font_weight="bold")
    yield from grid(across, up)
    for (name, floats, ms, loss), spot in zip(points, places(points, across, up)):
        yield '<g class="%s"><path class="tail" d="M%.1f %.1f H%.1f"/>' % ("bad" if loss > LIMIT else "good", across.at(floats), up.at(loss), across.at(ms))
        yield '<circle class="dot" cx="%.1f" cy="%.1f" r="5"/>%s</g>' % (across.at(ms), up.at(loss), text(*spot, name))
    yield text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, "milliseconds of a run on one thread", text_anchor="middle")
    yield "</svg>"
