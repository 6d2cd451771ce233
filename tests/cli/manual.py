# SPDX-License-Identifier: LGPL-2.1-or-later
"""The manual page against --help: the same commands, and in each the same options, values and short names."""
import os
import re
import subprocess
import shutil

import harness
from harness import Skip, run

PAGE = os.path.join(harness.ROOT, "data", "sightline.1")
COMMANDS = ("predict", "inspect", "infer", "convert", "quantize", "calibrate", "eval", "bench model", "bench preprocess", "run", "check", "replay")


def sections():
    """Text of each command's .SS section."""
    with open(PAGE, encoding="utf-8") as file:
        text = file.read().split(".SH EXIT STATUS")[0]
    parts = re.split(r"^\.SS ([a-z ]+): .*$", text, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def manual_options(section):
    """{long name: (short name, value)} of the tagged paragraphs."""
    options = {}
    for line in re.findall(r"^\.TP\n(.*)$", section, flags=re.M):
        line = re.sub(r"^\.B[RI]? |\\f[A-Z]|[ \",]", "", line.replace("\\-", "-"))
        found = re.fullmatch(r"(?:-(\w))?--([\w-]+)(?:=(.*))?", line)
        assert found, line
        options[found[2]] = (found[1], None if found[3] is None else found[3].replace(",", ""))
    return options


def help_options(command):
    text = run(*command.split(), "--help").expect(0).out
    found = re.findall(r"^  (?:-(\w), )?--([\w-]+)(?:=(\S+))?", text, flags=re.M)
    return {name: (short or None, value.replace(",", "") or None) for short, name, value in found if name != "help"}


def test_commands():
    listed = re.findall(r"^  (\w+) +(\w.*)$", run("--help").expect(0).out, flags=re.M)
    assert {name for name, _ in listed} == {name.split()[0] for name in COMMANDS}, listed
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    for name, summary in listed:
        assert name == "bench" or ".SS %s: %s\n" % (name, summary) in page, (name, summary)


def test_options():
    by_command = {name: manual_options(text) for name, text in sections().items()}
    assert set(by_command) == set(COMMANDS), by_command.keys()
    shared = {name: value for name, value in by_command["inspect"].items() if name not in ("json", "nodes", "operators", "passes")}
    by_command["predict"].update(shared)
    for command in COMMANDS:
        assert by_command[command] == help_options(command), (command, by_command[command], help_options(command))


def test_typesetting():
    man = shutil.which("groff")
    if man is None:
        raise Skip("no groff")
    done = subprocess.run([man, "-man", "-Tutf8", "-ww", "-z", PAGE], capture_output=True)
    assert done.returncode == 0 and done.stderr == b"", done.stderr.decode()


harness.main(globals())
