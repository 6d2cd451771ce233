#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""TAP: the site that scripts/docs/site.py makes has each page with all its headings, tables and code, no dead link, and in the pages of elements
all that gst-inspect-1.0 shows.

Called by meson: site.py BUILD
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
BUILD = os.path.abspath(sys.argv[1])
WORK = tempfile.TemporaryDirectory(prefix="sightline-site-test-")
SITE = os.path.join(WORK.name, "site")


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def pages_are_whole():
    """What the site's HTML has against what the Markdown has, counted by its own marks."""
    for path in sorted(glob.glob(os.path.join(ROOT, "docs", "*.md"))):
        name = os.path.basename(path)
        text = re.sub(r"(?ms)^```.*?^```$", "", read(path))
        page = read(SITE, "index.html" if name == "README.md" else name[:-3] + ".html")
        for what, mark, tag in (("headings", r"(?m)^#+ ", r"<h[1-6]"), ("tables", r"(?m)^\|[-:| ]+\|$", "<table>"),
                                ("rows", r"(?m)^\|(?![-:| ]+\|$).*\|$", "<tr>")):
            wanted, got = len(re.findall(mark, text)), len(re.findall(tag, page.split("<main>")[1]))
            assert wanted == got, "docs/%s has %d %s, its page %d" % (name, wanted, what, got)


def search_finds_pages():
    index = read(SITE, "search-index.js")
    for path in glob.glob(os.path.join(SITE, "**", "*.html"), recursive=True):
        assert '["%s", ' % os.path.relpath(path, SITE) in index, "search-index.js lacks " + path
    assert "zero point" in index


def inspected(file, element):
    """(properties, pad templates, signals) that gst-inspect-1.0 shows of the element's own."""
    environment = dict(os.environ, GST_PLUGIN_PATH=os.path.dirname(file), GST_REGISTRY=os.path.join(WORK.name, "registry"),
                       GST_REGISTRY_UPDATE="yes", GST_INSPECT_NO_COLORS="1")
    text = subprocess.run(["gst-inspect-1.0", element], capture_output=True, text=True, check=True, env=environment).stdout
    parts = dict(re.findall(r"(?ms)^(Pad Templates|Element Properties|Element Signals|Element Actions):\n(.*?)(?=^\S|\Z)", text))
    names = set(re.findall(r"(?m)^  ([\w-]+) +: ", parts.get("Element Properties", "")))
    pads = set(re.findall(r"template: '(\S+)'", parts.get("Pad Templates", "")))
    signals = set(re.findall(r'(?m)^  "([\w-]+)"', parts.get("Element Signals", "") + parts.get("Element Actions", "")))
    return names, pads, signals


# Properties and signals of GStreamer's base classes, which its own reference describes.
BASE = {"name", "parent", "qos", "async-handling", "message-forward", "max-lateness", "sync", "async", "ts-offset", "enable-last-sample", "last-sample",
        "blocksize", "render-delay", "throttle-time", "max-bitrate", "processing-deadline", "stats", "preroll-queue-len", "num-buffers", "typefind",
        "do-timestamp", "automatic-eos", "disable-passthrough", "latency", "min-upstream-latency", "start-time", "start-time-selection", "emit-signals"}
BASE_SIGNALS = {"pad-added", "pad-removed", "no-more-pads", "element-added", "element-removed", "deep-element-added", "deep-element-removed", "do-latency"}


def elements_are_whole():
    if shutil.which("gst-inspect-1.0") is None:
        return "no gst-inspect-1.0"
    files = glob.glob(os.path.join(BUILD, "plugins", "**", "libgst*.so"), recursive=True)
    for path in sorted(glob.glob(os.path.join(SITE, "elements", "*.html"))):
        element = os.path.basename(path)[:-len(".html")]
        if element == "index":
            continue
        page = read(path).split("<main>")[1]
        file = next(file for file in files if element.encode() in open(file, "rb").read() and element in plugin_elements(file))
        properties, pads, signals = inspected(file, element)
        assert pads, element
        for name in (properties - BASE) | pads | (signals - BASE_SIGNALS):
            assert "<code>%s</code>" % name in page, "elements/%s.html lacks %s" % (element, name)
        empty = re.findall(r"<td><code>([\w-]+)</code></td>\s*<td>[^\n]*</td>\s*<td></td>", page)
        assert not empty, "properties of %s have no blurb, which is their documentation: %s" % (element, empty)
        known = "\n".join(read(path) for path in glob.glob(os.path.join(ROOT, "docs", "*.md")))
        assert "`%s`" % element in known, "no page of docs/ names `%s`; describe the element where its readers look" % element


def plugin_elements(file):
    environment = dict(os.environ, GST_REGISTRY=os.path.join(WORK.name, "registry"))
    text = subprocess.run(["gst-inspect-1.0", file], capture_output=True, text=True, check=True, env=environment).stdout
    return re.findall(r"(?m)^  ([\w-]+): ", text)


def main():
    done = subprocess.run([sys.executable, "-B", os.path.join(ROOT, "scripts", "docs", "site.py"), BUILD, SITE, "--without-reference"], capture_output=True, text=True)
    if "install python3-markdown" in done.stderr:
        print("TAP version 13\n1..0 # SKIP " + done.stderr.strip())
        return 0
    print("TAP version 13\n1..4\n%sok 1 no link is dead%s" % ("not " if done.returncode else "", "".join("\n# " + line for line in done.stderr.splitlines())))
    good = done.returncode == 0
    for number, check in enumerate((pages_are_whole, search_finds_pages, elements_are_whole), 2):
        try:
            skipped = check()
            print("ok %d %s%s" % (number, check.__name__, " # SKIP " + skipped if skipped else ""))
        except AssertionError as error:
            good = False
            print("not ok %d %s\n# %s" % (number, check.__name__, error))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
