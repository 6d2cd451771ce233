#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""TAP: the software bill of materials of scripts/sbom.py has what SPDX 2.3 asks for, the digests of what was built, and each library that objdump
sees in it.

Called by meson: sbom.py BUILD
"""
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys

ROOT = os.environ["SIGHTLINE_SOURCE_ROOT"]
BUILD = os.path.abspath(sys.argv[1])
ASKED = {
    "document": {"spdxVersion", "dataLicense", "SPDXID", "name", "documentNamespace", "creationInfo"},
    "packages": {"SPDXID", "name", "downloadLocation"},
    "files": {"SPDXID", "fileName", "checksums"},
    "relationships": {"spdxElementId", "relationshipType", "relatedSpdxElement"},
}


def problems(bill):
    known = {"SPDXRef-DOCUMENT"}
    for missing in ASKED["document"] - set(bill):
        yield "the document has no " + missing
    for kind in ("packages", "files", "relationships"):
        for row in bill[kind]:
            if not ASKED[kind] <= set(row):
                yield "%s: %s lacks %s" % (kind, row, ASKED[kind] - set(row))
            if "SPDXID" in row:
                if row["SPDXID"] in known or not re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", row["SPDXID"]):
                    yield "%s is no identifier, or twice there" % row["SPDXID"]
                known.add(row["SPDXID"])
    for row in bill["relationships"]:
        if not {row["spdxElementId"], row["relatedSpdxElement"]} <= known:
            yield "a relationship of what is not there: %s" % row
    linked = {(row["spdxElementId"], row["comment"]) for row in bill["relationships"] if row["relationshipType"] == "DYNAMIC_LINK"}
    with open(os.path.join(BUILD, "meson-info", "intro-installed.json"), encoding="utf-8") as file:
        installed = {target: path for path, target in json.load(file).items()}
    if not bill["files"]:
        yield "no file is listed"
    for row in bill["files"]:
        path = installed[row["fileName"][1:]]
        with open(path, "rb") as file:
            if row["checksums"] != [{"algorithm": "SHA256", "checksumValue": hashlib.sha256(file.read()).hexdigest()}]:
                yield "the digest of %s is another" % path
        text = subprocess.run(["objdump", "-p", path], capture_output=True, text=True, check=True).stdout
        for soname in re.findall(r"NEEDED +(\S+)", text):
            if "sightline" not in soname and (row["SPDXID"], soname) not in linked:
                yield "%s loads %s, which is not listed" % (path, soname)


def main():
    if shutil.which("objdump") is None:
        print("1..0 # SKIP no objdump")
        return 0
    command = [sys.executable, "-B", os.path.join(ROOT, "scripts", "sbom.py"), BUILD]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = list(problems(json.loads(text)))
    print("1..1\n%s 1 /sbom%s" % ("not ok" if found else "ok", "".join("\n# " + line for line in found)))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
