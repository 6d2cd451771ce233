# SPDX-License-Identifier: LGPL-2.1-or-later
"""Manual pages and completions, which scripts/docs/ makes of --describe-options, against --help: the same commands, and in each the same
options, values and short names; and what tools/data/sightline.1 says of options is of options that there are."""
import functools
import os
import re
import shutil
import subprocess
import sys

import harness
from harness import Skip, run

SOURCE = os.path.join(harness.ROOT, "tools", "data", "sightline.1")
SCRIPTS = os.path.join(harness.ROOT, "scripts", "docs")


def make(script, *args):
    """The folder that @script filled."""
    folder = harness.work(script)
    if not os.path.isdir(folder):
        subprocess.run([sys.executable, "-B", os.path.join(SCRIPTS, script + ".py"), harness.PROGRAM, *args, folder], check=True)
    return folder


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


@functools.lru_cache(maxsize=None)
def commands():
    """{"bench model": summary or None} of all commands, as --help lists them."""
    listed = dict(re.findall(r"^  (\w+) +(\w.*)$", run("--help").expect(0).out, flags=re.M))
    for name in list(listed):
        parts = re.findall(r"^  sightline (%s \w+)" % name, run(name, "--help").expect(0).out, flags=re.M)
        if parts:
            del listed[name]
            listed.update((part, None) for part in parts)
    return listed


@functools.lru_cache(maxsize=None)
def help_options(command):
    """{long name: (short name, value)}"""
    text = run(*command.split(), "--help").expect(0).out
    found = re.findall(r"^  (?:-(\w), )?--([\w-]+)(?:=(\S+))?", text, flags=re.M)
    options = {name: (short or None, value or None) for short, name, value in found}
    assert len(options) == len(found), "%s --help has an option twice: %s" % (command, sorted(name for _, name, _ in found))
    return options


def page_options(page):
    options = {}
    for line in re.findall(r"^\.TP\n(.*)$", page.split(".SH OPTIONS")[1], flags=re.M):
        found = re.fullmatch(r"(?:-(\w), )?--([\w-]+)(?:=(.*))?", re.sub(r"\\f[BIR]", "", line).replace("\\-", "-"))
        assert found, line
        options[found[2]] = (found[1], found[3])
    return options


def test_pages():
    folder, overview = make("manual", SOURCE), read(make("manual", SOURCE), "sightline.1")
    wanted = {"sightline.1"}
    for command, summary in commands().items():
        name = "sightline-" + command.replace(" ", "-")
        wanted.add(name + ".1")
        page = read(folder, name + ".1")
        shown, told = page_options(page), help_options(command)
        assert shown == told, "%s.1 differs from sightline %s --help: %s" % (name, command, set(shown.items()) ^ set(told.items()))
        assert summary is None or ".SH NAME\n%s \\- %s\n" % (name.replace("-", "\\-"), summary.replace("-", "\\-")) in page, page[:300]
        assert overview.count(".BR %s (1)\n" % name.replace("-", "\\-")) == 1, name
        empty = re.findall(r"^\.TP\n(.*)\n(?=\.TP|\.SH)", page, flags=re.M)
        assert not empty, "%s.1: %s has no text; give its GOptionEntry a description" % (name, empty)
    assert set(os.listdir(folder)) == wanted, wanted ^ set(os.listdir(folder))


def test_source():
    """What is written by hand is of what there is, or it would be lost without a word."""
    known = {command: help_options(command) for command in commands()}
    for command, body in re.findall(r"^\.SS ([\w ]+): .*\n((?:(?!\.S[SH]).*\n)*)", read(SOURCE), flags=re.M):
        assert command in known, "tools/data/sightline.1 has a section '%s': the program has no such command; remove it" % command
        for name in re.findall(r"^\.TP\n.*?\\-\\-((?:\w|\\-)+)", body, flags=re.M):
            name = name.replace("\\-", "-")
            assert name in known[command], "tools/data/sightline.1 describes --%s of %s: there is no such option; remove its .TP" % (name, command)


def test_typesetting():
    man = shutil.which("groff")
    if man is None:
        raise Skip("no groff")
    for name in sorted(os.listdir(make("manual", SOURCE))):
        done = subprocess.run([man, "-man", "-Tutf8", "-ww", "-z", os.path.join(make("manual", SOURCE), name)], capture_output=True)
        assert done.returncode == 0 and done.stderr == b"", done.stderr.decode()


def bash_completes(words):
    """What bash offers for the last of @words, split as readline does at =."""
    split = [part for word in words for part in (re.split(r"(=)", word) if "=" in word else [word])]
    script = '. "$0/bash/sightline"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _sightline; printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(["bash", "-c", script, make("completion"), *split], capture_output=True, text=True, check=True)
    assert done.stderr == "", done.stderr
    return set(done.stdout.splitlines()) - {""}


def test_bash():
    if shutil.which("bash") is None:
        raise Skip("no bash")
    parts = list(commands())
    assert bash_completes(["sightline", ""]) == {name.split()[0] for name in parts} | {"--help", "--version"}
    assert bash_completes(["sightline", "bench", ""]) == {name.split()[1] for name in parts if " " in name} | {"--help"}
    for command in parts:
        wanted = {"--" + name + ("=" if value else "") for name, (_, value) in help_options(command).items()}
        assert bash_completes(["sightline", *command.split(), "--"]) == wanted, command
    assert bash_completes(["sightline", "inspect", "--fit="]) == {"stretch", "letterbox", "crop"}
    assert bash_completes(["sightline", "inspect", "--fit", "c"]) == {"crop"}
    assert bash_completes(["sightline", "predict", "--model=%s/no" % harness.ROOT]) == set()
    assert harness.ROOT + "/LICENSE" in bash_completes(["sightline", "predict", harness.ROOT + "/LIC"])


def test_fish():
    fish, path = shutil.which("fish"), os.path.join(make("completion"), "fish", "sightline.fish")
    names = set(re.findall(r" -l ([\w-]+)", read(path)))
    wanted = {name for command in commands() for name in help_options(command)} | {"version"}
    assert names == wanted, names ^ wanted
    if fish is None:
        raise Skip("no fish")
    for command in commands():
        line = "sightline %s --" % command
        done = subprocess.run([fish, "--no-config", "-c", "source $argv[1]; complete -C $argv[2]", path, line], capture_output=True, text=True, check=True,
                              env=dict(os.environ, HOME=harness.WORK.name))
        assert done.stderr == "", done.stderr
        offered = {row.split("\t")[0].lstrip("-").rstrip("=") for row in done.stdout.splitlines()}
        assert offered == set(help_options(command)), (command, offered)


def test_zsh():
    path = os.path.join(make("completion"), "zsh", "_sightline")
    for command in commands():
        for name in help_options(command):
            assert re.search(r"--%s[=,\[}]" % name, read(path)), (command, name)
    if shutil.which("zsh") is None:
        raise Skip("no zsh")
    done = subprocess.run(["zsh", "-n", path], capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == "", done.stderr


def test_names_of_models():
    """Each shell offers the rows of the zoo to get and zoo."""
    wanted = {name[:-4] for name in os.listdir(os.path.join(harness.ROOT, "models", "zoo", "rows"))}
    fish = re.search(r"'__fish_seen_subcommand_from get zoo' -f -a '([^']*)'", read(make("completion"), "fish", "sightline.fish"))
    assert set(fish[1].split()) == wanted, fish
    for command in ("get", "zoo"):
        zsh = re.search(r"^    %s\)\n.*?'\*:[^:']*:\(([^)]*)\)'" % command, read(make("completion"), "zsh", "_sightline"), flags=re.M | re.S)
        assert set(zsh[1].split()) == wanted, zsh
        if shutil.which("bash") is not None:
            assert bash_completes(["sightline", command, ""]) == wanted, command


def test_decoders():
    """Each shell offers the decoders of the page, in each command that has --decoder."""
    table = read(harness.ROOT, "docs", "predictions.md").split("\n## Decoders\n")[1].split("\n## ")[0]
    wanted = set(re.findall(r"`([a-z0-9-]+)`", " ".join(line.split("|")[1] for line in table.splitlines() if line.startswith("| `"))))
    assert len(wanted) > 20, wanted
    for command in commands():
        if "decoder" not in help_options(command):
            continue
        assert set(offered_by_zsh(command)) == wanted, (command, wanted ^ set(offered_by_zsh(command)))
        fish = re.search(r"'__fish_seen_subcommand_from %s' -l decoder -x -a '([^']*)'" % command, read(make("completion"), "fish", "sightline.fish"))
        assert set(fish[1].split()) == wanted, (command, fish)
        if shutil.which("bash") is not None:
            assert bash_completes(["sightline", command, "--decoder", ""]) == wanted, command
            assert bash_completes(["sightline", command, "--decoder=yolo"]) == {name for name in wanted if name.startswith("yolo")}, command


def offered_by_zsh(command):
    part = re.search(r"^    %s\)\n(.*?);;" % command, read(make("completion"), "zsh", "_sightline"), flags=re.M | re.S)[1]
    return re.search(r"--decoder=\[.*\]:[^(]*\((.*?)\)'", part)[1].split()


harness.main(globals())
