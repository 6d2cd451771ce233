# SPDX-License-Identifier: LGPL-2.1-or-later
"""TAP: scripts/models_page.py still reads the tables of the test data, and docs/models.md has each of their models;
skipped without the data. docs/zoo.md has the rows of the zoo as they are."""
import os
import subprocess
import sys

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
SHARED = os.environ.get("SIGHTLINE_TEST_DATA", os.path.join(ROOT, "..", "shared"))


def check_models():
    """TAP of docs/models.md; whether it is good."""
    if not os.path.isdir(os.path.join(SHARED, "wild")):
        print("ok 1 models # SKIP no " + SHARED)
        return True
    done = subprocess.run([sys.executable, "-B", os.path.join(ROOT, "scripts", "models_page.py"), "--check", SHARED], stdout=subprocess.PIPE,
                          text=True, check=False)
    names = done.stdout.split("\n")[:-1]
    with open(os.path.join(ROOT, "docs", "models.md"), encoding="utf-8") as file:
        page = file.read()
    missing = [name for name in names if "| %s |" % name not in page]
    good = done.returncode == 0 and len(names) > 50 and not missing
    for name in missing:
        print("# not in docs/models.md, run scripts/models_page.py: " + name)
    print(("" if good else "not ") + "ok 1 models")
    return good


def check_zoo():
    """TAP of docs/zoo.md; whether it is good."""
    done = subprocess.run([sys.executable, "-B", os.path.join(ROOT, "scripts", "zoo.py"), "--check"], stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        print("# " + done.stderr.strip())
    print(("" if done.returncode == 0 else "not ") + "ok 2 zoo")
    return done.returncode == 0


def main():
    print("1..2", flush=True)
    results = [check_models(), check_zoo()]
    sys.exit(0 if all(results) else 1)


main()
