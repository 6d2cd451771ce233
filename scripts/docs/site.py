#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The documentation as a static site with search: the pages of docs/, a page for each element and command as they are built, and the reference of
both libraries where gi-docgen is installed.

    scripts/docs/site.py BUILD FOLDER [--without-reference]

BUILD is a build folder with the program, the plugin files and the GIR files. Needs Debian's python3-markdown and python3-gi. Fails on a link
that leads nowhere.
"""
import glob
import html
import html.parser
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import commands
import elements

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
PARTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "site")
LIST_ITEM = re.compile(r"\s*(?:[-*]|\d+\.) ")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def slug(heading, separator="-"):
    """GitHub's anchor of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", separator)


def plain_markdown(text):
    """@text with what GitHub takes and python3-markdown does not: indented code as fences, and lists right after a paragraph."""
    out, block, in_list, fenced = [], [], False, False
    for line in text.splitlines() + [""]:
        if not fenced and not in_list and (line.startswith("    ") or (block and not line.strip())) and (block or not out or not out[-1].strip()):
            block.append(line[4:])
            continue
        if block:
            tail = []
            while block and not block[-1].strip():
                tail.append(block.pop())
            out += ["```"] + block + ["```"] + tail if block else tail
            block = []
        if line.startswith("```"):
            fenced = not fenced
        elif line.strip() and not fenced:
            item = LIST_ITEM.match(line)
            if item and not in_list and out and out[-1].strip():
                out.append("")
            in_list = bool(item) or (in_list and (line.startswith(" ") or bool(out and out[-1].strip())))
        out.append(line)
    return "\n".join(out)


def links_to_html(text, pages):
    """Links to pages of Markdown lead to their HTML, README.md is index.html; a link called by the page's file gets its title."""
    def change(found):
        path, _, anchor = found[1].partition("#")
        if re.match(r"[a-z]+:", path) or not path.endswith(".md"):
            return found[0]
        path = re.sub(r"(^|/)README\.html$", r"\1index.html", path[:-3] + ".html")
        return 'href="%s"' % (path + ("#" + anchor if anchor else ""))
    text = re.sub(r">([\w-]+\.md)</a>", lambda found: ">%s</a>" % html.escape(title_of(pages[found[1]])) if found[1] in pages else found[0], text)
    return re.sub(r'href="([^"]*)"', change, text)


def command_pages(program):
    """{path: Markdown} of the commands."""
    names, parts = commands.read(program)
    pages = {"commands/README.md": "# Commands\n\nThe options of each command, as the program has them; [what they are for](../cli.md).\n\n| command | what it does |\n|---|---|\n"}
    for part in parts:
        words = " ".join(part.words)
        name = "-".join(part.words) + ".md"
        pages["commands/README.md"] += "| [sightline %s](%s) | %s |\n" % (words, name, elements.cell(part.summary))
        rows = ["# sightline " + words, "", part.sentence, "", "```", "sightline %s [OPTION...] %s" % (words, part.arguments), "```", "",
                "| option | what it does |", "|---|---|"]
        for option in part.options:
            spelt = ("-%s, " % option["short"] if option["short"] else "") + "--" + option["long"] + ("=" + option["value"] if option["value"] else "")
            rows.append("| %s | %s |" % (elements.code(spelt), elements.cell(option["help"])))
        pages["commands/" + name] = "\n".join(rows + ["", elements.cell(part.details or ""), ""])
    return pages


def element_pages(build):
    files = sorted(path for path in glob.glob(os.path.join(build, "plugins", "**", "libgst*.so"), recursive=True))
    with tempfile.TemporaryDirectory(prefix="sightline-site-") as work:
        elements.write_pages(files, work)
        return {"elements/" + name: read(os.path.join(work, name)) for name in sorted(os.listdir(work))}


def title_of(text):
    return re.search(r"(?m)^# (.*)$", text)[1].replace("`", "")


def navigation(pages, here, reference):
    """Links to all pages, those of docs/ in the order of its index."""
    up = "../" * here.count("/")
    order = [name for name in re.findall(r"\]\(([\w-]+\.md)", pages["README.md"]) if name in pages]
    guides = list(dict.fromkeys(["README.md"] + order + sorted(name for name in pages if "/" not in name)))
    groups = [("Guides", guides)] + [(label, [folder + "/README.md"] + sorted(name for name in pages if name.startswith(folder + "/") and not name.endswith("README.md")))
                                     for label, folder in (("Elements", "elements"), ("Commands", "commands"))]
    out = []
    for label, names in groups:
        is_open = label == "Guides" or here.split("/")[0] == label.lower()
        out.append("<details%s><summary>%s</summary><ul>" % (" open" if is_open else "", label))
        for name in names:
            target = re.sub(r"README\.html$", "index.html", name[:-3] + ".html")
            mark = ' aria-current="page"' if name == here else ""
            out.append('<li><a href="%s"%s>%s</a></li>' % (up + target, mark, html.escape(title_of(pages[name]))))
        out.append("</ul></details>")
    if reference:
        out.append("<details open><summary>Reference</summary><ul>")
        out += ['<li><a href="%sreference/%s/index.html">%s</a></li>' % (up, folder, folder) for folder in reference]
        out.append("</ul></details>")
    return "\n".join(out)


class Links(html.parser.HTMLParser):
    """What a page links to, the anchors that it has, and its words."""

    def __init__(self, text):
        super().__init__()
        self.links, self.anchors, self.words, self.skipped = [], set(), [], 0
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.skipped += tag in ("script", "style", "nav")
        self.links += [values[name] for name in ("href", "src") if values.get(name)]
        if values.get("id"):
            self.anchors.add(values["id"])

    def handle_endtag(self, tag):
        self.skipped -= tag in ("script", "style", "nav")

    def handle_data(self, data):
        if not self.skipped:
            self.words.append(data)


def dead_links(folder):
    """"PAGE: LINK" of each link of our own pages to a file or an anchor that is not there."""
    pages = {}
    for path in glob.glob(os.path.join(folder, "**", "*.html"), recursive=True):
        if not os.path.relpath(path, folder).startswith("reference/"):
            pages[os.path.relpath(path, folder)] = Links(read(path))
    for page, found in sorted(pages.items()):
        for link in found.links:
            path, _, anchor = link.partition("#")
            target = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
            if re.match(r"[a-z]+:", link):
                continue
            if not os.path.isfile(os.path.join(folder, target)) or (anchor and target in pages and anchor not in pages[target].anchors):
                yield "%s: %s" % (page, link)


def make_reference(build, folder):
    """Names of the libraries whose reference could be made by gi-docgen."""
    tool, made = shutil.which("gi-docgen"), []
    files = [os.path.join(build, "Sightline-1.0.gir"), os.path.join(build, "pipelines", "SightlinePipeline-1.0.gir")]
    if tool is None or not all(map(os.path.exists, files)):
        print("site.py: no reference of the libraries: %s" % ("gi-docgen is not installed" if tool is None else "the build has no GIR files"), file=sys.stderr)
        return made
    version = re.search(r"version: '([\d.]+)'", read(os.path.join(ROOT, "meson.build")))[1]
    for path in files:
        name = os.path.basename(path).split("-")[0]
        with tempfile.NamedTemporaryFile("w", suffix=".toml", encoding="utf-8") as config:
            config.write(read(os.path.join(PARTS, "reference.toml")).replace("@NAME@", name).replace("@VERSION@", version))
            config.flush()
            subprocess.run([tool, "generate", "--quiet", "--no-namespace-dir", "--add-include-path", build, "-C", config.name, "--output-dir",
                            os.path.join(folder, "reference", name), path], check=True)
        made.append(name)
    return made


def write_site(build, folder, reference):
    import markdown
    pages = {os.path.basename(path): read(path) for path in sorted(glob.glob(os.path.join(ROOT, "docs", "*.md")))}
    pages.update(element_pages(build))
    pages.update(command_pages(os.path.join(build, "tools", "sightline")))
    shutil.rmtree(folder, ignore_errors=True)
    made = make_reference(build, folder) if reference else []
    template, index = read(os.path.join(PARTS, "page.html")), []
    for name, text in pages.items():
        body = markdown.markdown(plain_markdown(text), tab_length=2, extensions=["tables", "fenced_code", "sane_lists", "toc"],
                                 extension_configs={"toc": {"slugify": slug}})
        target = re.sub(r"README\.html$", "index.html", name[:-3] + ".html")
        title = title_of(text)
        up = "../" * name.count("/")
        values = {"TITLE": html.escape(title), "UP": up, "NAV": navigation(pages, name, made), "BODY": links_to_html(body, pages)}
        write(os.path.join(folder, target), re.sub(r"@(TITLE|UP|NAV|BODY)@", lambda found: values[found[1]], template))
        index.append([target, title, " ".join(" ".join(Links(body).words).split())])
    write(os.path.join(folder, "search-index.js"), "var pages = %s;\n" % json.dumps(index, ensure_ascii=False).replace("</", "<\\/"))
    for name in ("style.css", "search.js"):
        shutil.copyfile(os.path.join(PARTS, name), os.path.join(folder, name))
    for path in glob.glob(os.path.join(ROOT, "docs", "*.json")):
        shutil.copyfile(path, os.path.join(folder, os.path.basename(path)))
    shutil.copytree(os.path.join(ROOT, "docs", "pictures"), os.path.join(folder, "pictures"))
    return list(dead_links(folder))


def main(arguments):
    reference = "--without-reference" not in arguments
    arguments = [argument for argument in arguments if argument != "--without-reference"]
    if len(arguments) != 2:
        sys.exit("usage: site.py BUILD FOLDER [--without-reference]")
    try:
        dead = write_site(*arguments, reference)
    except ImportError as error:
        sys.exit("site.py: %s; install python3-markdown and python3-gi" % error)
    for line in dead:
        print("site.py: a link leads nowhere: " + line, file=sys.stderr)
    sys.exit(1 if dead else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
