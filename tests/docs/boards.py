# SPDX-License-Identifier: LGPL-2.1-or-later
"""TAP: docs/boards.md has the tables of the files in docs/boards, which are as docs/board.schema.json has them; and what is found if not."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))


def check(root):
    done = subprocess.run([sys.executable, "-B", os.path.join(root, "scripts", "boards.py"), "--check"], stderr=subprocess.PIPE, text=True, check=False)
    return done.stderr.strip()


def copy(folder):
    """What the script reads, in @folder."""
    for path in ("scripts/boards.py", "tests/support/schema.py", "docs/boards.md", "docs/board.schema.json"):
        os.makedirs(os.path.join(folder, os.path.dirname(path)), exist_ok=True)
        shutil.copy(os.path.join(ROOT, path), os.path.join(folder, path))
    shutil.copytree(os.path.join(ROOT, "docs", "boards"), os.path.join(folder, "docs", "boards"))


def change(folder, change_board):
    """What is said of the first board once @change_board has changed it."""
    path = sorted(os.listdir(os.path.join(folder, "docs", "boards")))[0]
    with open(os.path.join(folder, "docs", "boards", path), encoding="utf-8") as file:
        board = json.load(file)
    change_board(board)
    with open(os.path.join(folder, "docs", "boards", path), "w", encoding="utf-8") as file:
        json.dump(board, file)
    return check(folder)


def main():
    results = [("the page is of the files as they are", check(ROOT) == "")]
    with tempfile.TemporaryDirectory() as folder:
        copy(folder)
        results.append(("a copy is, too", check(folder) == ""))
        told = change(folder, lambda board: board["machine"].update(memory_mb=1 << 20))
        results.append(("another board is another page", "run scripts/boards.py --page" in told))
        told = change(folder, lambda board: board["machine"].update(hostname="mine"))
        results.append(("a member that is not in the schema is refused", "hostname is unknown" in told))
    print("1..%d" % len(results))
    for number, (name, good) in enumerate(results, 1):
        print("%sok %d %s" % ("" if good else "not ", number, name))
    sys.exit(0 if all(good for _, good in results) else 1)


main()
