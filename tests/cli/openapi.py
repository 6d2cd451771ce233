# SPDX-License-Identifier: LGPL-2.1-or-later
"""Answers of /api/v1, held against docs/openapi.json: every test of them gets its answers here."""
import json
import os
import re
import sys

import harness

sys.path.insert(0, os.path.join(harness.ROOT, "tests", "support"))
import schema  # noqa: E402

with open(os.path.join(harness.ROOT, "docs", "openapi.json"), encoding="utf-8") as file:
    DOCUMENT = json.load(file)
ROOT = {"$defs": DOCUMENT["components"]["schemas"]}


def find_path(path):
    """The row of an address; one that has no placeholder comes first."""
    path = path.split("?")[0]
    rows = sorted(DOCUMENT["paths"], key=lambda row: "{" in row)
    return next((row for row in rows if re.fullmatch(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(row)), path)), None)


def check(method, path, answer):
    """Returns the answer, of which status, type and JSON are as the document says."""
    row = find_path(path)
    operation = DOCUMENT["paths"].get(row, {}).get(method.lower().replace("head", "get"))
    if operation is None:
        assert answer.status in (401, 403, 404, 405), "%s %s is not in docs/openapi.json: %d" % (method, path, answer.status)
        response = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}}
    else:
        response = operation["responses"].get(str(answer.status), operation["responses"]["default"])
        assert answer.status == 200 or answer.status >= 400, "%s %s: %d" % (method, path, answer.status)
    assert "sandbox" in answer.headers.get("content-security-policy", ""), "%s %s: no Content-Security-Policy" % (method, path)
    kind = answer.headers.get("content-type", "").split(";")[0]
    kinds = response.get("content", {})
    assert not kinds or kind in kinds or answer.status == 503, "%s %s: %d is %s, expected %s" % (method, path, answer.status, kind, list(kinds))
    rule = kinds.get(kind, {}).get("schema")
    if rule and method != "HEAD":
        found = schema.problems(answer.json, rule, ROOT)
        assert not found, "%s %s: %s" % (method, path, found[:5])
    return answer


class Client:
    """A browser or a program that uses the API of a Served."""

    def __init__(self, served, host=None, **headers):
        self.served, self.headers, self.host = served, headers, host or "127.0.0.1:%d" % served.port

    def ask(self, method, path, body=None, **more):
        """An answer, which is as the document says. @body: JSON, or bytes."""
        path = path if path.startswith("/") else "/api/v1/" + path
        headers = {"Host": self.host, **self.headers, **more}
        data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        if body is not None:
            headers = {"Content-Type": "application/json", "Content-Length": len(data), **headers}
        lines = "".join("%s: %s\r\n" % (key.replace("_", "-"), value) for key, value in headers.items())
        answer = self.served.answer(("%s %s HTTP/1.1\r\n%s\r\n" % (method, path, lines)).encode() + data)
        return check(method, path, answer) if path.startswith("/api/v1/") else answer

    def get(self, path, **more):
        return self.ask("GET", path, **more)

    def login(self, user, password):
        """The answer; where it is 200, what follows has the session's cookie and token."""
        answer = self.ask("POST", "session", {"user": user, "password": password})
        if answer.status == 200:
            self.headers["Cookie"] = answer.headers["set-cookie"].split(";")[0]
            self.headers["X-CSRF-Token"] = answer.json["csrf"]
        return answer
