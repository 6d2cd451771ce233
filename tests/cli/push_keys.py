# SPDX-License-Identifier: LGPL-2.1-or-later
"""Keys of Web Push, made as docs/console.md says."""
import os
import subprocess

from harness import Skip, work


def openssl(*args):
    try:
        subprocess.run(["openssl", *args], check=True, capture_output=True, timeout=200)
    except FileNotFoundError:
        raise Skip("openssl is not installed") from None


def key_file(name="vapid.pem", curve="P-256"):
    path = work(name)
    openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:" + curve, "-out", path)
    os.chmod(path, 0o600)
    return path
