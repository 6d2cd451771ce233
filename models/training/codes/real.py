# SPDX-License-Identifier: LGPL-2.1-or-later
# What the program finds and reads on real pictures:
#   real.py LIST [SIGHTLINE] [-- OPTIONS OF PREDICT]
# A line of LIST is a kind, such as photographs, a space and a picture's path. Files of one content count once. For each kind: pictures, how many of
# them have a box of any kind, how many a code that was read, and the boxes by label. In a build folder, under `meson devenv`.
import collections
import hashlib
import json
import os
import subprocess
import sys
import tempfile


def distinct(path):
    """{kind: [picture, ...]}, of each content the first."""
    kinds, seen = {}, set()
    with open(path) as file:
        for line in filter(str.strip, file):
            kind, picture = line.rstrip('\n').split(' ', 1)
            with open(picture, 'rb') as data:
                content = hashlib.sha256(data.read()).digest()
            if content not in seen:
                seen.add(content)
                kinds.setdefault(kind, []).append(picture)
    return kinds


def predict(program, options, pictures):
    """{picture: its objects}"""
    with tempfile.NamedTemporaryFile('w') as names:
        names.write(''.join(p + '\n' for p in pictures))
        names.flush()
        done = subprocess.run([program, 'predict', '--json', '--list', names.name, *options], stdout=subprocess.PIPE, text=True)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    if not lines:
        raise SystemExit(f'real.py: {program} said nothing of {len(pictures)} pictures (exit status {done.returncode})')
    return {o['source']: o['objects'] for o in lines}


def main():
    cut = sys.argv.index('--') if '--' in sys.argv else len(sys.argv)
    given, options = sys.argv[1:cut], sys.argv[cut + 1:]
    if len(given) not in (1, 2) or not os.path.exists(given[0]):
        raise SystemExit('usage: real.py LIST [SIGHTLINE] [-- OPTIONS OF PREDICT]; a line of LIST is a kind and the path of a picture')
    print('| kind | pictures | with a box | with a code that reads | boxes |')
    print('|---|---|---|---|---|')
    for kind, pictures in distinct(given[0]).items():
        found = predict(given[1] if len(given) > 1 else 'sightline', options, pictures)
        objects = [found.get(p, []) for p in pictures]
        boxed, read = sum(map(bool, objects)), sum(any('code' in o for o in each) for each in objects)
        labels = collections.Counter(o['roi_type'] for each in objects for o in each)
        said = ', '.join(f'{label} {n}' for label, n in labels.most_common())
        print(f'| {kind} | {len(pictures)} | {boxed} ({boxed / len(pictures):.1%}) | {read} ({read / len(pictures):.1%}) | {said} |', flush=True)


if __name__ == '__main__':
    main()
