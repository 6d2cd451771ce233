# SPDX-License-Identifier: LGPL-2.1-or-later
"""The console as a person uses it, in a real browser: a zone is drawn with the mouse over a running camera, a figure walks through it, the count
is seen, the event found and its clip played. And what a person must not see: old pictures that look live, buttons that do nothing, names that
run as scripts."""
import contextlib
import json
import os
import re
import subprocess
import time
import urllib.parse

import harness
from browser import Browser
from camera import Camera
from harness import Skip, model, run, work, write
from media import encode_png, launch
from posting import read
from running import PATIENCE, eventually
from served import Served

with open(os.path.join(harness.ROOT, "tests", "cli", "page_checks.js"), encoding="utf-8") as script:
    CHECKS = script.read()
SIZES = ((1280, 800), (390, 844))
EVIL = "<img src=x onerror=document.title='owned'>"
DRAWING = "svg.drawing"


class Walk(Camera):
    """A camera that sees a figure, whose feet are at 0.35 of the height until it walks down. moving_box.tflite finds it there."""

    WIDTH, HEIGHT = 160, 120

    def __init__(self):
        drawn = [write("walk%d.png" % i, self.draw(feet / 100)) for i, feet in enumerate(range(35, 90, 5))]
        launch("multifilesrc", "location=" + work("walk%d.png"), "caps=image/png,framerate=1/1", "!", "pngdec", "!", "videoconvert", "!", "jpegenc", "quality=95", "!",
               "multifilesink", "location=" + work("walk%d.jpg"))
        self.pictures = [read(work("walk%d.jpg" % i)) for i in range(len(drawn))]
        super().__init__(self.pictures[0], [10 ** 6] * 99, rate=20)

    def draw(self, feet):
        """The model's box has half the height and width; how bright the picture is says where."""
        mean = 255 * (0.45 + (feet - 0.75) / 8)
        top, bottom = max(0, round((feet - 0.5) * self.HEIGHT)), min(self.HEIGHT, round(feet * self.HEIGHT))
        figure = (bottom - top) * self.WIDTH // 4
        back = round((mean * self.WIDTH * self.HEIGHT - 30 * figure) / (self.WIDTH * self.HEIGHT - figure))
        return encode_png([[(30 if top <= y < bottom and self.WIDTH * 3 <= x * 8 < self.WIDTH * 5 else back,) * 3 for x in range(self.WIDTH)] for y in range(self.HEIGHT)])

    def walk(self):
        """Down, through whatever is there."""
        for self.picture in self.pictures:
            time.sleep(0.1)  # two frames each, so that a tracker keeps up


def describe(name, more="", launch_line=None):
    line = launch_line or "videotestsrc is-live=true pattern=smpte ! video/x-raw,format=I420,width=160,height=120,framerate=10/1 ! slpredict model=%s track=true ! " \
        "slanalyze name=look confirm=1 ! fakesink" % model("one_box.tflite")
    return write(name + ".pipeline", ("[pipeline]\nlaunch=%s\n%s" % (line, more)).encode())


def zone(name="door", points="0.1,0.4 0.4,0.4 0.4,0.9 0.1,0.9"):
    return "[zone %s]\npoints=%s\n" % (name, points)


@contextlib.contextmanager
def looking(served, view="", width=1280, height=800):
    browser = Browser("http://127.0.0.1:%d/#/%s" % (served.port, view), width, height)
    try:
        browser.wait_for("!!document.querySelector('#nav a, form.login')", PATIENCE)
        yield browser
        assert browser.problems == [], browser.problems
    finally:
        if "SIGHTLINE_SCREENSHOTS" in os.environ:
            browser.screenshot(os.path.join(os.environ["SIGHTLINE_SCREENSHOTS"], "console-%s-%d.png" % (re.sub(r"\W+", "-", view), width)))
        browser.close()


def go(browser, view, shown):
    browser.value("location.hash = '#/%s'" % view)
    browser.wait_for("!!document.querySelector(%s)" % json.dumps(shown), int(os.environ.get("PAT", PATIENCE)))


def text_of(selector):
    return "document.querySelector(%s)?.textContent" % json.dumps(selector)


def configure(more=""):
    return "[http]\nrole=configure\n" + more


def h264_encoder():
    return next((name for name in ("x264enc", "openh264enc") if subprocess.run(["gst-inspect-1.0", "--exists", name], check=False).returncode == 0), None)


ZONES = "a[href^='#/zones/']"
WATCH = """window.places = []; (function look() {
  const node = document.querySelector("%s"), y = node && Math.round(node.getBoundingClientRect().y);
  if (node && y !== places.at(-1)) places.push(y);
  requestAnimationFrame(look);
})()"""


def learn_size(browser):
    """Waits until the page was told the size of the camera's frames."""
    browser.wait_for("fetch('api/v1/pipelines').then(answer => answer.json()).then(answer => answer.pipelines[0].width > 0)")
    asked = "performance.getEntriesByType('resource').filter(entry => /pipelines$/.test(entry.name)).length"
    count = browser.value(asked)
    browser.wait_for("%s >= %d" % (asked, count + 2))


def test_first_count():
    """From opening the page to the first count, in at most 8 actions; then the event, its clip and a setting."""
    camera, clips = Walk(), work("clips")
    os.makedirs(clips)
    line = "slcamera name=eye uri=%s ! slpredict name=predict model=%s mean=0 std=255 track=true ! slanalyze name=look confirm=1 ! fakesink" % (camera.uri, model("moving_box.tflite"))
    record = "[record]\nlocation=%s\non=entered\npre-roll=1\npost-roll=0\nmin-free=0\n%s" % (clips, "encoder=%s\n" % h264_encoder() if h264_encoder() else "")
    path = describe("shop", configure() + record, line)
    with Served(path) as served, looking(served) as browser:  # 1: open
        learn_size(browser)
        browser.value(WATCH % ZONES)
        browser.click("a.tile")  # 2
        browser.wait_for("document.querySelector('.stage .picture')?.width > 0 && window.places.length")
        assert browser.value("window.places.length") == 1, "what is below the picture moved: %s" % browser.value("window.places")
        browser.click(ZONES)  # 3
        browser.wait_for("document.querySelector('.stage .picture').width > 0 && !document.querySelector('[data-tool=zone]').disabled")
        browser.click("[data-tool=zone]")  # 4
        browser.drag(DRAWING, (0.3, 0.5), (0.7, 0.97))  # 5
        browser.wait_for("document.querySelectorAll('.drawing .corner').length == 4")
        browser.click(".savebar .primary")  # 6
        browser.wait_for(text_of("#said") + ".startsWith('Saved')")
        with open(path, encoding="utf-8") as file:
            assert re.search(r"^\[zone Zone 1\]\npoints=0\.3,0\.5 ", file.read(), re.M), path
        browser.click(".head a")  # 7: back to the picture, which shows the count
        camera.walk()
        took = browser.wait_for(text_of("main") + ".includes('1 entered')")
        print("# the first count was seen %.1f s after the page was opened, by 7 actions" % took)
        assert took < 60 or harness.SANITIZED, took
        find_event(browser)
        change_threshold(browser, served)


def find_event(browser):
    go(browser, "events", "a.eventcard")
    browser.click("a.eventcard")
    browser.wait_for("!!document.querySelector('.facts')")
    assert "Zone 1" in browser.value(text_of(".facts"))
    if h264_encoder() is None:  # the page says why it plays nothing, and shows the picture
        browser.wait_for("document.querySelector('.stage + .told, .player + .told').textContent.includes('H.264')")
        return
    browser.wait_for("!!document.querySelector('video')?.videoWidth", PATIENCE)
    browser.click(".player button")
    browser.wait_for("document.querySelector('video').currentTime > 0 && document.querySelector('video').paused == false || document.querySelector('video').ended")
    browser.value("document.querySelector('video').pause()")
    before = browser.value("document.querySelector('video').currentTime")
    browser.press(",")
    browser.wait_for("document.querySelector('video').currentTime < %g" % before)


def change_threshold(browser, served):
    go(browser, "settings", ".setting input[type=range]")
    browser.value("(input => { input.focus(); input.value = 0.9; input.dispatchEvent(new Event('input')); })(document.querySelector('.setting input[type=range]'))")
    browser.wait_for(text_of(".setting .told") + " == 'Changed'", PATIENCE)
    name = json.loads(served.get("/api/v1/pipelines").body)["pipelines"][0]["name"]
    settings = {s["key"]: s["value"] for s in served.get("/api/v1/pipelines/%s/settings" % name).json["settings"]}
    assert abs(settings["threshold"] - 0.9) < 1e-6, settings


def test_editor():
    """With a finger, the mouse and keys: corners, undo, names, the arrow of a line. And two who edit at once: nothing is overwritten."""
    path = describe("edit", configure() + zone())
    with Served(path) as served, looking(served, "zones/edit", 390, 844) as browser:
        browser.wait_for("!!document.querySelector('.drawing .region')")
        browser.tap("[data-tool=line]")
        browser.touch_drag(DRAWING, (0.5, 0.3), (0.9, 0.3))
        browser.wait_for("document.querySelectorAll('.drawing .corner').length == 2")
        browser.touch_drag(DRAWING, (0.9, 0.3), (0.9, 0.6))
        corner = "document.querySelectorAll('.drawing .corner')[1].getAttribute('aria-label')"
        browser.wait_for(corner + ".includes('90 % across and 60 % down')")
        browser.value("document.querySelectorAll('.drawing .corner')[1].focus()")
        browser.press("ArrowLeft")
        browser.wait_for(corner + ".includes('89 % across') && document.activeElement.matches('.corner')")
        browser.press("z", modifiers=2)
        browser.wait_for(corner + ".includes('90 % across')")
        browser.value("(input => { input.value = 'way in'; input.dispatchEvent(new Event('input')); })(document.querySelector('.form input'))")
        browser.wait_for("[...document.querySelectorAll('.regionrow')].some(row => row.textContent.includes('way in'))")
        with looking(served, "zones/edit") as other:
            other.click(".regionrow")
            other.value("document.querySelectorAll('.drawing .corner')[2].focus()")
            other.press("ArrowDown")
            other.press("s", modifiers=2)
            other.wait_for(text_of("#said") + ".startsWith('Saved')")
        with open(path, encoding="utf-8") as file:
            assert "0.4,0.91" in file.read()
        browser.click(".savebar .primary")
        browser.wait_for("!!document.querySelector('dialog')")
        with open(path, encoding="utf-8") as file:
            assert "way in" not in file.read(), "a conflict was overwritten"
        assert "In the file" in browser.value(text_of("dialog")) and "Yours" in browser.value(text_of("dialog"))
        browser.click("dialog .primary")
        browser.wait_for("!document.querySelector('dialog')")
        browser.click(".savebar .primary")
        browser.wait_for(text_of("#said") + ".startsWith('Saved')")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        assert "[line way in]" in text and "0.4,0.91" in text, text


def test_first_minute():
    """What has just begun is told as it is: an event waits for its clip, the preview has counted for seconds, and one value of a chart is a dot."""
    clips = work("early")
    os.makedirs(clips)
    path = describe("early", configure(zone("all", "0,0 1,0 1,1 0,1")) + "[record]\nlocation=%s\non=entered\npre-roll=0\npost-roll=600\nmin-free=0\n" % clips)
    with Served(path) as served:
        listed = lambda: served.get("/api/v1/events").json["events"]
        eventually(lambda: len(listed()) == 1)
        event = listed()[0]["id"]
        with looking(served, "events/" + urllib.parse.quote(event), 390, 844) as browser:
            browser.wait_for("document.querySelector('.told')?.textContent.includes('appears here')")
            assert not browser.value("[...document.querySelectorAll('main .toggle')].some(b => b.textContent == 'Keep')"), "keep: there is nothing to keep yet"
            assert browser.value(CHECKS) == [], browser.value(CHECKS)
            go(browser, "zones/early", ".regionrow")
            browser.wait_for("/ in [\\d.]+ s$/.test(document.querySelector('.regionrow').textContent)")
            go(browser, "settings/early", ".setting output")
            assert browser.value(text_of(".setting output")) == "the model's" and browser.value("!!document.querySelector('.setting .unset')")
            browser.click(".setting input[type=range]")  # where the thumb stands already
            browser.wait_for("document.querySelector('.setting output').textContent == '0.5' && !document.querySelector('.setting .unset') && document.querySelector('.setting .told').textContent == 'Changed'")
            browser.value("import('/page/bars.js').then(m => { document.querySelector('main').append(m.lines('x', ['a', 'b'], [{ name: 'n', values: [null, 1] }])); })")
            browser.wait_for("!!document.querySelector(\"path.curve[d*='h6']\")")
            go(browser, "events/" + urllib.parse.quote(event), ".facts")
            assert not browser.value("!!document.querySelector('main .danger')"), "delete: the clip would bring the event back"
            clip = "early" + re.sub(r"\d\.\d{3}Z", "0.000Z", event[event.index("-"):])  # began at most ten seconds before
            write("early/%s.json" % clip, b'{"event":"entered","at":10,"seconds":60}')
            write("early/%s.mkv" % clip, b"no video")
            browser.wait_for("location.hash == '#/events/%s'" % urllib.parse.quote(clip))
            browser.wait_for("!!document.querySelector('main .danger') && [...document.querySelectorAll('main .toggle')].some(b => b.textContent == 'Keep')")


def test_many_events():
    """Several events are chosen, reviewed and deleted, days are the browser's, and a name that turns its text around is seen as it is written."""
    clips, evil = work("many"), "\u202efdp.exe"
    os.makedirs(clips)
    stems = [time.strftime("yard-%Y-%m-%dT%H-%M-%S.000Z-in", time.gmtime(time.time() - 60 * i)) for i in (1, 2, 3)]
    for stem in stems:
        write("many/%s.json" % stem, json.dumps({"event": "in", "events": [{"at": 1, "what": {"event": "in", "line": "way", "id": 7, "label": evil}}]}).encode())
        write("many/%s.mkv" % stem, b"no video")
    with Served(describe("many", configure() + "[record]\nlocation=%s\non=in\nmin-free=0\n" % clips)) as served, looking(served, "settings/many") as browser:
        browser.call("Emulation.setTimezoneOverride", timezoneId="Pacific/Auckland")
        browser.call("Page.reload")
        go(browser, "events", "a.eventcard")
        browser.wait_for("document.querySelectorAll('a.eventcard').length == 3")
        assert browser.value("performance.getEntriesByType('resource').some(r => r.name.includes('bucket=day&zone=Pacific%2FAuckland'))")
        assert browser.value("document.body.textContent.includes('\\\\u202efdp.exe') && !document.body.outerHTML.includes('\\u202e')"), browser.value(text_of("a.eventcard"))
        browser.wait_for("[...document.querySelectorAll('#known-label option')].length == 1")
        browser.click(".toggle[aria-pressed=false]")
        browser.click("a.eventcard:nth-child(1)")
        browser.click("a.eventcard:nth-child(2)")
        assert browser.value(text_of(".savebar") + ".startsWith('2 events selected')") and browser.value(CHECKS) == [], browser.value(CHECKS)
        browser.click(".savebar button:nth-of-type(3)")
        browser.wait_for("document.querySelectorAll('.eventcard.seen').length == 2 && document.querySelector('.savebar').hidden")
        assert served.get("/api/v1/events?reviewed=1").json["total"] == 2
        browser.click(".toggle[aria-pressed=false]")
        browser.click("a.eventcard:nth-child(3)")
        browser.click(".savebar .danger")
        browser.click("dialog .danger")
        browser.wait_for("document.querySelectorAll('a.eventcard').length == 2")
        assert not os.path.exists(os.path.join(clips, stems[2] + ".mkv"))
        browser.click("a.eventcard:nth-child(1)")
        browser.wait_for(text_of("main") + "?.includes('Reviewed by (no login)')")
        browser.value("[...document.querySelectorAll('main .toggle')].find(b => b.textContent == 'Reviewed').click()")
        browser.wait_for("!%s.includes('Reviewed by')" % text_of("main"))
        assert browser.value(CHECKS) == [] and served.get("/api/v1/events?reviewed=1").json["total"] == 1, browser.value(CHECKS)


def users(name):
    """A file of three users, each named after the role."""
    path = work(name)
    for role in ("look", "review", "configure"):
        done = subprocess.run([harness.PROGRAM, "user", "add", path, role, "--role", role], input="secret %s\n" % role, capture_output=True, text=True, timeout=PATIENCE, check=False)
        if done.returncode != 0:
            raise Skip(done.stderr.strip())
    return path


def log_in(browser, role, password=None):
    browser.wait_for("!!document.querySelector('form.login')", PATIENCE)
    for field, text in (("[autocomplete=username]", role), ("[type=password]", password or "secret " + role)):
        browser.value("document.querySelector('form.login %s').value = ''; document.querySelector('form.login %s').focus()" % (field, field))
        browser.write(text)
    browser.press("Enter")


def test_roles():
    """Nobody sees anything before the login; then each what the role allows, and no more."""
    path = describe("roles", "[http]\nusers=%s\n" % users("shop.users") + zone())
    with Served(path) as served, looking(served) as browser:
        assert browser.value("document.getElementById('nav').hidden && document.querySelectorAll('form.login input').length == 2")
        browser.value("document.querySelector('[autocomplete=username]').focus()")
        browser.write("half a na")
        browser.value("location.hash = '#/events'")
        browser.wait_for("document.body.dataset.view == 'events'")
        assert browser.value("document.querySelector('[autocomplete=username]').value") == "half a na", "what was typed stays"
        browser.value("location.hash = '#/'")
        log_in(browser, "look", "not this one")
        browser.wait_for("!document.querySelector('form.login .error').hidden")
        assert browser.value(CHECKS) == [], browser.value(CHECKS)
        for role in ("look", "review", "configure"):
            log_in(browser, role)
            browser.wait_for("!!document.querySelector('.tile')", PATIENCE)
            assert browser.value("!!document.querySelector('#nav a[href=\"#/log\"]')") == (role == "configure"), role
            go(browser, "camera/roles", ".stage")
            assert browser.value("!!document.querySelector('a[href^=\"#/zones\"]')") == (role == "configure"), role
            go(browser, "zones/roles", "svg.drawing" if role == "configure" else "[data-view=zones] main > p.card")
            go(browser, "settings/roles", ".setting")
            assert browser.value("document.querySelector('.setting input').disabled") == (role != "configure"), role
            browser.value("location.hash = '#/'")
            browser.click("#nav button.last")
        browser.wait_for("!!document.querySelector('form.login') && document.getElementById('nav').hidden")


def test_broken_network():
    """A picture that is not live says how old it is; when the network is back, the page goes on by itself."""
    with Served(describe("net", configure())) as served, looking(served) as browser:
        browser.wait_for("document.querySelector('.tile .picture').width > 0 && document.querySelector('.age').hidden")
        browser.offline(True)
        browser.wait_for("!document.getElementById('lost').hidden && document.getElementById('lost').textContent.includes('No connection')")
        browser.wait_for("document.querySelector('.frame').matches('.stale') && document.querySelector('.age').textContent.includes('s old')")
        browser.offline(False)
        browser.value("document.querySelector('#lost button').click()")  # the page may have found the network already, and hidden it
        browser.wait_for("document.getElementById('lost').hidden && !document.querySelector('.frame').matches('.stale')", PATIENCE)
        browser.wait_for("!!navigator.serviceWorker.controller", PATIENCE)
        served.stop()
        browser.call("Page.reload")
        browser.wait_for("document.querySelector('main p.card')?.textContent == 'Sightline does not answer.'", PATIENCE)
        kept = browser.value("caches.open('sightline-page').then(store => store.keys()).then(keys => keys.map(key => new URL(key.url).pathname))")
        assert len(kept) > 20 and not [path for path in kept if path != "/" and not path.startswith("/page/")], kept


def test_checks():
    """Contrast, names, tap size, focus order and width of each view; and names from elsewhere are text."""
    path = describe("evil", configure(zone(EVIL) + "[line way in]\npoints=0.5,0.2 0.9,0.2\n"))
    views = [("", ".tile"), ("camera/evil", ".stage"), ("zones/evil", ".regionrow"), ("events", ".timeline"), ("charts/evil", ".charts .card"), ("settings/evil", ".setting, .settings .soft"),
             ("details", ".facts"), ("log", "tbody tr"), ("more", ".morelist")]
    with Served(path) as served:
        for width, height in SIZES:
            with looking(served, "", width, height) as browser:
                for view, shown in views:
                    go(browser, view, shown)
                    leaked = browser.value("[...document.querySelectorAll('body, body *')].flatMap(e => [...e.childNodes]).filter(n => n.nodeType === 3 && /^(null|undefined|NaN|\\[object)/.test(n.data)).map(n => n.data)")
                    assert leaked == [], (view, leaked)
                    if view.startswith("zones"):
                        browser.click(".regionrow")
                    for dark in (False, True):
                        browser.colours(dark)
                        found = browser.value(CHECKS)
                        assert found == [], (width, dark, view, found)
                check_focus(browser)
                go(browser, "", ".counts li")
                assert EVIL in browser.value(text_of(".counts")) and browser.value("document.title") != "owned"
                # The checks see what is wrong.
                browser.value("document.body.insertAdjacentHTML('beforeend', '<button></button><input><p id=main>x</p>'); document.body.lastChild.style.color = '#888'")
                assert len(browser.value(CHECKS)) >= 3, browser.value(CHECKS)


def check_focus(browser):
    """Tab goes through the page in its order, and each stop is seen."""
    browser.value("document.getElementById('skip').focus()")
    order = "[...document.querySelectorAll('button, a[href], input, select')].indexOf(document.activeElement)"
    stops = []
    for _ in range(4):
        browser.press("Tab")
        stops.append(browser.value(order))
        assert browser.value("getComputedStyle(document.activeElement).outlineStyle") != "none", stops
    assert stops == sorted(stops) and len(set(stops)) == len(stops), stops


def check_joining(browser):
    """What two people made of the same zones is joined as they choose, and nothing else changes."""
    told = browser.value("""(async () => {
      const s = await import('/page/shapes.js'), zone = (name, x) => ({ kind: 'zone', name, points: [[x, 0], [1, 0], [1, 1]] });
      const base = [zone('a', 0), zone('b', 0), zone('c', 0)], mine = [zone('a', 0.1), zone('b', 0.2), zone('c', 0), zone('new', 0)], theirs = [zone('a', 0), zone('b', 0.3)];
      const found = s.differences(base, mine, theirs), choices = new Map(found.map(f => [f.key, f.mineChanged && !f.both ? 'mine' : 'theirs']));
      return [found.map(f => f.key + (f.both ? '!' : '')).join(' '), s.merged(mine, theirs, choices).map(r => r.name + r.points[0][0]).join(' '),
        s.moved([[0.1, 0.1], [0.3, 0.2]], -0.5, 0.9).join(' '), s.inserted([[0, 0], [1, 0], [1, 1]], 2).length, s.withoutCorner([[0, 0], [1, 0], [1, 1]], 1).length];
    })()""")
    assert told == ["zone:a zone:b! zone:c zone:new", "a0.1 b0.3 new0", "0,0.9 0.2,1", 4, 2], told


def check_trail(browser):
    """The objects of a clip's frame are those of the last entry that is not later."""
    told = browser.value("""(async () => {
      const { predictionsAt } = await import('/page/player.js'), trail = { labels: ['cup'], frames: [[0.2, [0, 7, 0.9, 0.1, 0.2, 0.3, 0.5]], [0.4], [0.8, [null, null, 0.5, 0, 0, 1, 1], [0, 8, 1, 0, 0, 1, 1]]] };
      const at = seconds => predictionsAt({ trail }, seconds)?.objects.map(o => o.detection.label + o.id + ' ' + Object.values(o.detection.bounding_box).map(v => v.toFixed(1)).join(' ')).join(',');
      return [at(0) === undefined, at(0.3), at(0.7), at(9), predictionsAt({ at: 1, predictions: 'p' }, 1.1), predictionsAt({ at: 1, predictions: 'p' }, 3)];
    })()""")
    assert told == [True, "cup7 0.1 0.2 0.4 0.7", "", "null 0.0 0.0 1.0 1.0,cup8 0.0 0.0 1.0 1.0", "p", None], told


def test_modules():
    """Labels stand over no head and over no other label, however many boxes there are; and pieces of a stream are pictures however they come."""
    with Served(describe("modules")) as served, looking(served) as browser:
        check_joining(browser)
        check_trail(browser)
        wrong = browser.value("""(async () => {
          const { place } = await import('/page/labels.js'), { part } = await import('/page/pictures.js'), over = (a, b) => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
          let seed = 1, placed = 0, boxes = 0;
          const chance = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
          for (let round = 0; round < 300; round++) {
            const list = Array.from({ length: 1 + round % 12 }, () => ({ x: chance() * 300, y: chance() * 160, w: 20 + chance() * 60, h: 20 + chance() * 90 }));
            const spots = place(list, list.map(() => [80, 20]), 390, 260);
            boxes += list.length;
            placed += spots.filter(Boolean).length;
            spots.forEach((spot, i) => {
              if (!spot) return;
              if (spot.x < 0 || spot.y < 0 || spot.x + 80 > 390 || spot.y + 20 > 260) throw 'outside';
              if (list.some(box => over(spot, { ...box, h: box.h / 3 }))) throw 'over a head';
              if (spots.some((other, k) => other && k !== i && over(spot, other))) throw 'over a label';
            });
          }
          const piece = text => new TextEncoder().encode(text), head = '--frame\\r\\nContent-Type: image/jpeg\\r\\nContent-Length: 5\\r\\n\\r\\n';
          const all = piece(head + 'abcde\\r\\n' + head + 'fghij');
          let data = new Uint8Array(0), got = '';
          for (const byte of all) {
            data = new Uint8Array([...data, byte]);
            const [picture, rest] = part(data);
            data = rest;
            if (picture) got += new TextDecoder().decode(picture) + ' ';
          }
          return [placed / boxes > 0.7, got];
        })()""")
        assert wrong == [True, "abcde fghij "], wrong




if "serves no HTTP" in run("run", "--http", "127.0.0.1:0", describe("probe", launch_line="fakesrc num-buffers=1 ! fakesink")).err:
    raise SystemExit(print("1..0 # SKIP this build serves no HTTP"))
harness.main(globals())
