# SPDX-License-Identifier: LGPL-2.1-or-later
"""Links between pages lead somewhere, source files that pages name exist, each page of docs/ is in the index and is installed,
and its links lead to what is installed.

Called by meson: links.py. A heading's anchor is what GitHub makes of it: lower case, punctuation dropped, blanks as dashes.
"""
import glob
import os
import re

ROOT = os.path.normpath(os.path.join(os.path.dirname(__file__), "..", ".."))
# Names that stand for any file.
PLACEHOLDERS = {"postprocess/decoders/X.c", "models/X.c", "core/ops/ROW.c", "tests/ops/ROW.c", "tests/postprocess/decode_X.c"}


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def anchors(page):
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in re.findall(r"^#+ (.*)$", read(page), re.M)}


def wrong_links(page):
    """Links of @page to a file or an anchor that is not there."""
    for link in re.findall(r"\]\(([^)\s]+)\)", read(page)):
        path, _, anchor = link.partition("#")
        target = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        if re.match(r"[a-z]+:", link):
            continue
        if not os.path.exists(os.path.join(ROOT, target)) or (anchor and anchor not in anchors(target)):
            yield link


def installed():
    """Files that meson.build installs beside the pages, as they lie in the sources."""
    files = set()
    for call in re.findall(r"install_data\(([^)]*install_dir: docs_dir[^)]*)\)", read("meson.build")):
        folder = "docs/" + "".join(re.findall(r"docs_dir / '([^']*)'", call))
        for name in re.findall(r"'(docs/[^']*)'", call):
            assert os.path.dirname(name) == os.path.normpath(folder), name
            files.add(name)
    return files


def lost_links(page):
    """Links of @page to files that are not where the link leads once the pages are installed."""
    files = installed()
    for link in re.findall(r"\]\(([^)\s#]+)", read(page)):
        if not re.match(r"[a-z]+:", link) and os.path.normpath(os.path.join("docs", link)) not in files:
            yield link


def wrong_names(page):
    """Source files that @page names in backticks with their folder, of which there is none."""
    for name in re.findall(r"`((?:[\w.-]+/)+[\w.-]+\.[ch])`", read(page)):
        if name not in PLACEHOLDERS and not os.path.exists(os.path.join(ROOT, name)):
            yield name


def main():
    pages = sorted(os.path.relpath(path, ROOT) for path in glob.glob(os.path.join(ROOT, "docs", "*.md")))
    index, meson = read("docs/README.md"), read("meson.build")
    tests = []
    for page in pages + ["README.md", "CONTRIBUTING.md", "SECURITY.md"]:
        tests.append(("links of " + page, list(wrong_links(page))))
        tests.append(("files that %s names" % page, list(wrong_names(page))))
    for page in pages:
        tests.append(("links of " + page + " where it is installed", list(lost_links(page))))
        name = os.path.basename(page)
        tests.append((page + " is installed", [] if "'%s'" % page in meson else ["meson.build does not install it"]))
        tests.append((page + " is in the index", [] if name == "README.md" or "](%s" % name in index else ["docs/README.md lacks it"]))
    print("TAP version 13\n1..%d" % len(tests))
    for number, (name, wrong) in enumerate(tests, 1):
        print("%sok %d %s%s" % ("not " if wrong else "", number, name, "".join("\n# " + line for line in wrong)))


main()
