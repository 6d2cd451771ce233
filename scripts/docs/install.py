#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes the manual pages and the completions of the program into an installation. Called by meson when it installs:

    install.py PROGRAM tools/data/sightline.1 MANDIR DATADIR

Folders are below the prefix, or absolute.
"""
import os
import sys
import tempfile

import completion
import manual

# Where shells look for completions of packages, below DATADIR.
SHELLS = {"bash": "bash-completion/completions", "zsh": "zsh/site-functions", "fish": "fish/vendor_completions.d"}


def place(folder):
    """@folder in what is being installed."""
    if os.path.isabs(folder):
        return os.environ.get("DESTDIR", "") + folder
    return os.path.join(os.environ["MESON_INSTALL_DESTDIR_PREFIX"], folder)


def copy_all(source, target):
    os.makedirs(target, exist_ok=True)
    for name in sorted(os.listdir(source)):
        path = os.path.join(target, name)
        with open(os.path.join(source, name), encoding="utf-8") as file, open(path, "w", encoding="utf-8") as copy:
            copy.write(file.read())
        os.chmod(path, 0o644)


def main(program, source, mandir, datadir):
    with tempfile.TemporaryDirectory(prefix="sightline-install-") as work:
        manual.write_pages(program, source, os.path.join(work, "man"))
        completion.write_completions(program, work)
        copy_all(os.path.join(work, "man"), os.path.join(place(mandir), "man1"))
        for shell, folder in SHELLS.items():
            copy_all(os.path.join(work, shell), os.path.join(place(datadir), folder))


main(*sys.argv[1:])
