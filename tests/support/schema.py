# SPDX-License-Identifier: LGPL-2.1-or-later
"""Validates against the part of JSON Schema that docs/predictions.schema.json uses, and refuses any other word.

As a script, schema.py SCHEMA PROGRAM...: validates each line that PROGRAM prints, and that damaged lines fail. TAP.
"""
import json
import re
import subprocess
import sys

TYPES = {"object": dict, "array": list, "string": str, "null": type(None), "integer": int, "number": (int, float), "boolean": bool}
WORDS = {"$schema", "title", "$defs", "$ref", "type", "required", "properties", "additionalProperties", "items", "minimum", "maximum", "pattern",
         "description", "enum", "anyOf", "minItems", "maxItems"}

OPTIONAL = ("mask", "vector", "outputs", "latency", "analysis", "utc")


def problems(value, rule, root, where="$"):
    """Sentences about what is wrong with @value."""
    assert set(rule) <= WORDS, "schema words not known here: %s" % (set(rule) - WORDS)
    if "$ref" in rule:
        rule = root["$defs"][rule["$ref"].rsplit("/", 1)[1]]
    if "anyOf" in rule:
        return min((problems(value, one, root, where) for one in rule["anyOf"]), key=len)
    if "enum" in rule and value not in rule["enum"]:
        return ["%s: %r is none of %s" % (where, value, rule["enum"])]
    kinds = rule.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(isinstance(value, TYPES[kind]) and isinstance(value, bool) == (kind == "boolean") for kind in kinds):
        return ["%s: %r is no %s" % (where, value, " or ".join(kinds))]
    found = []
    if isinstance(value, str) and not re.search(rule.get("pattern", ""), value):
        found.append("%s: %r is not of %s" % (where, value, rule["pattern"]))
    if isinstance(value, (int, float)):
        found += ["%s: %r below %r" % (where, value, rule["minimum"])] if value < rule.get("minimum", value) else []
        found += ["%s: %r above %r" % (where, value, rule["maximum"])] if value > rule.get("maximum", value) else []
    if isinstance(value, dict):
        known = rule.get("properties", {})
        found += ["%s: %s missing" % (where, key) for key in rule.get("required", []) if key not in value]
        for key, item in value.items():
            if key in known:
                found += problems(item, known[key], root, where + "." + key)
            elif rule.get("additionalProperties") is False:
                found.append("%s: %s is unknown" % (where, key))
            elif rule.get("additionalProperties"):
                found += problems(item, rule["additionalProperties"], root, where + "." + key)
    if isinstance(value, list) and not rule.get("minItems", 0) <= len(value) <= rule.get("maxItems", len(value)):
        found.append("%s: %d items" % (where, len(value)))
    for i, item in enumerate(value if isinstance(value, list) and "items" in rule else []):
        found += problems(item, rule["items"], root, "%s[%d]" % (where, i))
    return found


def damaged(value):
    """Copies of @value with one thing wrong in each."""
    for key in value:
        yield {k: v for k, v in value.items() if k != key or key in OPTIONAL} | ({key: "x"} if key in OPTIONAL else {})
    yield value | {"more": 1}
    yield value | {"frame": -1}
    yield value | {"frame": True}
    yield value | {"objects": [{}]}


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        schema = json.load(file)
    lines = subprocess.check_output(sys.argv[2:], text=True).splitlines()
    print("1..%d" % (len(lines) + 1))
    failed = 0
    for number, line in enumerate(lines, 1):
        found = problems(json.loads(line), schema, schema)
        failed += bool(found)
        print("%s %d line %s" % ("not ok" if found else "ok", number, "; ".join(found)))
    good = all(problems(bad, schema, schema) for line in lines for bad in damaged(json.loads(line)))
    print("%s %d damaged lines are found" % ("ok" if good and lines else "not ok", len(lines) + 1))
    return 0 if good and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
