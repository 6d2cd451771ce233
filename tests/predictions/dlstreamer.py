# SPDX-License-Identifier: LGPL-2.1-or-later
"""Our lines, read as consumers of DL Streamer's gvametaconvert read theirs. Arguments: PROGRAM, which prints lines. TAP.

SCHEMA is written from the lines that DL Streamer's pages and the Pipeline Server's show: which keys each of them has, and of which type.
Where a line of ours has null, theirs lack the key (docs/predictions.md).
"""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from schema import problems  # noqa: E402

NUMBER, INTEGER, TEXT = {"type": "number"}, {"type": "integer"}, {"type": "string"}
SHARE = {"type": "number", "minimum": 0, "maximum": 1}
DETECTION = {
    "type": "object", "required": ["bounding_box", "confidence", "label", "label_id"],
    "properties": {
        "bounding_box": {"type": "object", "required": ["x_min", "x_max", "y_min", "y_max"], "additionalProperties": False,
                         "properties": {"x_min": SHARE, "x_max": SHARE, "y_min": SHARE, "y_max": SHARE}},
        "confidence": NUMBER, "label": TEXT, "label_id": INTEGER},
    "additionalProperties": False}
SCHEMA = {
    "type": "object", "required": ["objects", "resolution"],
    "properties": {
        "objects": {"type": "array", "items": {
            "type": "object", "required": ["detection", "x", "y", "w", "h", "roi_type"],
            "properties": {"detection": DETECTION, "x": INTEGER, "y": INTEGER, "w": INTEGER, "h": INTEGER, "roi_type": TEXT, "id": INTEGER}}},
        "resolution": {"type": "object", "required": ["width", "height"], "properties": {"width": INTEGER, "height": INTEGER},
                       "additionalProperties": False},
        "source": TEXT, "timestamp": INTEGER}}

# A line as it stands on one of those pages.
THEIRS = ('{"objects":[{"detection":{"bounding_box":{"x_max":0.8810903429985046,"x_min":0.77934330701828,"y_max":0.8930767178535461,'
          '"y_min":0.3040514588356018},"confidence":0.5735679268836975,"label":"bottle","label_id":5},"h":213,"roi_type":"bottle","w":65,'
          '"x":499,"y":109}],"resolution":{"height":360,"width":640},"source":"file:///bottles.mp4","timestamp":972067039}')


def read(line):
    """What a client prints of a line: timestamp, and label, confidence and box of each object."""
    found = json.loads(line)
    rows = []
    for item in found["objects"]:
        box = item["detection"]["bounding_box"]
        rows.append((item["detection"]["label"], item["detection"]["confidence"], box["x_min"], box["y_min"], box["x_max"], box["y_max"]))
    return found.get("timestamp"), rows


def main():
    lines = subprocess.check_output(sys.argv[1:], text=True).splitlines()
    checks = [("a line of theirs fits", problems(json.loads(THEIRS), SCHEMA, SCHEMA))]
    for number, line in enumerate(lines, 1):
        value = {key: item for key, item in json.loads(line).items() if item is not None}
        # What no number is, theirs cannot say; ours say null.
        value["objects"] = [item for item in value["objects"] if item["detection"]["confidence"] is not None]
        checks.append(("line %d" % number, problems(value, SCHEMA, SCHEMA)))
    objects = [row for line in lines for row in read(line)[1]]
    checks.append(("objects are read of ours", [] if len(objects) > 5 and ("person", 0.83) in [row[:2] for row in objects] else ["%r" % objects]))
    broken = json.loads(THEIRS)
    del broken["objects"][0]["detection"]["label"]
    checks.append(("a line without a label is found", [] if problems(broken, SCHEMA, SCHEMA) else ["it passes"]))
    print("1..%d" % len(checks))
    for number, (name, found) in enumerate(checks, 1):
        print("%s %d %s %s" % ("not ok" if found else "ok", number, name, "; ".join(found)))
    return 1 if any(found for _, found in checks) else 0


if __name__ == "__main__":
    sys.exit(main())
