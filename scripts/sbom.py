#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a build is made of, as a software bill of materials: SPDX 2.3, JSON.

    scripts/sbom.py BUILD [>sightline.spdx.json]

Lists the files that BUILD installs, by their SHA-256, and the shared libraries that these load themselves, as the linker wrote it into them. Where
dpkg knows a library, it gives the package and its version. Equal builds give equal files: the time is that of the commit, or SOURCE_DATE_EPOCH.
"""
import datetime
import functools
import hashlib
import json
import os
import re
import subprocess
import sys

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
LICENSE = "LGPL-2.1-or-later"


def output(*command, whole=True):
    """What a command prints; "" where it is missing or, if all of it is wanted, fails."""
    try:
        return subprocess.run(command, capture_output=True, check=whole, encoding="utf-8", stdin=subprocess.DEVNULL).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""


def built_files(build):
    """{where it is installed: path in the build} of ELF files, from meson's own list."""
    with open(os.path.join(build, "meson-info", "intro-installed.json"), encoding="utf-8") as file:
        installed = json.load(file)
    found = {}
    for path, target in installed.items():
        if os.path.isfile(path) and not os.path.islink(path):
            with open(path, "rb") as file:
                if file.read(4) == b"\x7fELF":
                    found[target] = path
    return found


def needed(path):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-d", path))


@functools.lru_cache(maxsize=None)
def cached_libraries():
    """{soname: path} as the dynamic linker has them."""
    return dict(re.findall(r"^\t(\S+) \(.*\) => (\S+)$", output("/sbin/ldconfig", "-p"), flags=re.M)[::-1])


def packages_of(sonames):
    """{soname: (name, version, supplier, purl, source)} of what libraries come in. dpkg reads all its lists each time, so it is asked once for all."""
    real = {soname: os.path.realpath(cached_libraries().get(soname, "")) for soname in sonames}
    paths = {soname: (path, path.replace("/usr/lib", "/lib", 1)) for soname, path in real.items() if path.startswith(("/lib", "/usr"))}
    asked = sorted({path for both in paths.values() for path in both})
    owners = {}
    for line in output("dpkg", "-S", *asked, whole=False).splitlines() if asked else []:
        owner, _, path = line.partition(": ")
        owners[path] = owner.split(",")[0]
    found = sorted(set(owners.values()))
    listed = output("dpkg-query", "-W", "-f", "${binary:Package}|${Package}|${Version}|${source:Package}\n", *found).splitlines() if found else []
    known = {}
    for line in listed:
        key, package_name, version, source = line.split("|")
        purl = "pkg:deb/debian/%s@%s" % (package_name, version.replace("+", "%2B").replace(":", "%3A"))
        known[key] = known[key.split(":")[0]] = (package_name, version, "Organization: Debian", purl, source)
    own = {soname: next((owners[path] for path in paths.get(soname, ()) if path in owners), None) for soname in sonames}
    return {soname: known.get(own[soname], (soname, None, "NOASSERTION", None, None)) for soname in sonames}


def spdx_id(kind, name):
    return "SPDXRef-%s-%s" % (kind, re.sub(r"[^A-Za-z0-9.]", "-", name))


def package(name, version, supplier, purl, source):
    row = {"SPDXID": spdx_id("Package", name), "name": name, "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "supplier": supplier,
           "licenseConcluded": "NOASSERTION", "licenseDeclared": "NOASSERTION", "copyrightText": "NOASSERTION"}
    if version:
        row["versionInfo"] = version
    if source:
        row["sourceInfo"] = "built from Debian's source package " + source
    if purl:
        row["externalRefs"] = [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}]
    return row


def created():
    seconds = os.environ.get("SOURCE_DATE_EPOCH") or output("git", "-C", ROOT, "log", "-1", "--format=%ct").strip() or "0"
    return datetime.datetime.fromtimestamp(int(seconds), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def bill(build):
    files = built_files(build)
    with open(os.path.join(build, "meson-info", "intro-projectinfo.json"), encoding="utf-8") as file:
        version = json.load(file)["version"]
    own = {os.path.basename(target) for target in files}
    loaded = {target: [soname for soname in needed(path) if not any(name.startswith(soname) for name in own)] for target, path in files.items()}
    found_in = packages_of({soname for sonames in loaded.values() for soname in sonames})
    rows, relations, packages = [], [], {}
    for target, path in sorted(files.items()):
        with open(path, "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
        row = {"SPDXID": spdx_id("File", target.lstrip("/")), "fileName": "." + target, "fileTypes": ["BINARY"], "licenseConcluded": LICENSE,
               "licenseInfoInFiles": [LICENSE], "copyrightText": "NOASSERTION", "checksums": [{"algorithm": "SHA256", "checksumValue": digest}]}
        rows.append(row)
        relations.append({"spdxElementId": "SPDXRef-Sightline", "relationshipType": "CONTAINS", "relatedSpdxElement": row["SPDXID"]})
        for soname in loaded[target]:
            found = found_in[soname]
            packages.setdefault(found[0], package(*found))
            relations.append({"spdxElementId": row["SPDXID"], "relationshipType": "DYNAMIC_LINK", "relatedSpdxElement": spdx_id("Package", found[0]),
                              "comment": soname})
    main = {"SPDXID": "SPDXRef-Sightline", "name": "sightline", "versionInfo": version, "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "licenseConcluded": LICENSE, "licenseDeclared": LICENSE, "copyrightText": "NOASSERTION", "supplier": "NOASSERTION"}
    commit = output("git", "-C", ROOT, "rev-parse", "HEAD").strip()
    if commit:
        main["sourceInfo"] = "built from commit " + commit
    relations.insert(0, {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-Sightline"})
    content = {"packages": [main] + [packages[name] for name in sorted(packages)], "files": rows, "relationships": relations}
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": "sightline-" + version,
            "documentNamespace": "https://sightline.example/spdx/sightline-%s-%s" % (version, digest[:32]),
            "creationInfo": {"created": created(), "creators": ["Tool: sightline-sbom"]}, **content}


if __name__ == "__main__":
    if len(sys.argv) != 2 or not os.path.exists(os.path.join(sys.argv[1], "meson-info", "intro-installed.json")):
        sys.exit("usage: sbom.py BUILD: a folder that meson has set up")
    json.dump(bill(sys.argv[1]), sys.stdout, indent=1)
    print()
