# SPDX-License-Identifier: LGPL-2.1-or-later
# Code symbols: a few thousand of each kind from the program zint, one pixel a module, kept in one .npz. The renderer draws
# them at any size. Each row of `KINDS` is (class, symbology of zint, share, options, generator of its text).
import concurrent.futures
import os
import subprocess
import sys
import tempfile

import cv2
import numpy as np

LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
HOSTS = ['example.org', 'shop.example.com', 'www.example.net', 'menu.example', 'tickets.example.com', 'id.example.org']


def digits(rng, n):
    return ''.join(str(d) for d in rng.integers(0, 10, n))


def upper(rng, n):
    return ''.join(rng.choice(list(LETTERS + '0123456789'), n))


def mixed(rng, n):
    return ''.join(rng.choice(list(LETTERS + LETTERS.lower() + '0123456789-_./'), n))


def between(make, low, high):
    return lambda rng: make(rng, int(rng.integers(low, high + 1)))


def address(rng):
    kind = rng.integers(0, 5)
    if kind == 0:
        return 'https://' + rng.choice(HOSTS) + '/' + mixed(rng, int(rng.integers(0, 60))).replace('//', '/')
    if kind == 1:
        return f'WIFI:T:WPA;S:{upper(rng, 8)};P:{mixed(rng, 12)};;'
    if kind == 2:
        return f'BEGIN:VCARD VERSION:3.0 N:{upper(rng, 7)} TEL:{digits(rng, 11)} EMAIL:{mixed(rng, 8)} END:VCARD ' + mixed(rng, int(rng.integers(0, 120)))
    if kind == 3:
        return mixed(rng, int(rng.integers(100, 420)))
    return mixed(rng, int(rng.integers(1, 20)))


def gs1(rng):
    return f'[01]0{digits(rng, 12)}0[10]{upper(rng, int(rng.integers(3, 9)))}'


def vehicle(rng):
    """A vehicle's identification number."""
    return ''.join(rng.choice(list('ABCDEFGHJKLMNPRSTUVWXYZ0123456789'), 17))


def add_on(rng):
    return digits(rng, 12) + '+' + digits(rng, int(rng.choice([2, 5])))


KINDS = [
    ('qr', 58, 10, (), address), ('qr', 97, 2, (), between(digits, 1, 18)), ('qr', 97, 1, (), between(upper, 1, 10)),
    ('qr', 58, 2, (), between(mixed, 420, 1270)),
    ('matrix', 71, 5, (), between(mixed, 1, 60)), ('matrix', 71, 2, (), between(mixed, 60, 200)), ('matrix', 71, 1, ('--dmre',), between(upper, 4, 30)),
    ('matrix', 71, 2, (), between(mixed, 200, 1200)),
    ('matrix', 92, 4, (), between(mixed, 1, 80)), ('matrix', 92, 1, (), between(mixed, 80, 200)), ('matrix', 92, 1, (), between(mixed, 200, 1200)),
    ('matrix', 57, 1, (), between(upper, 10, 60)), ('matrix', 145, 1, (), between(mixed, 1, 60)),
    ('linear', 13, 6, (), between(digits, 12, 12)), ('linear', 13, 2, (), between(digits, 7, 7)), ('linear', 13, 1, (), add_on),
    ('linear', 34, 3, (), between(digits, 11, 11)), ('linear', 37, 3, (), between(digits, 6, 6)), ('linear', 20, 5, (), between(mixed, 3, 24)),
    ('linear', 20, 2, (), between(digits, 6, 30)), ('linear', 8, 3, (), between(upper, 2, 14)), ('linear', 3, 2, (), between(digits, 4, 20)),
    ('linear', 89, 1, (), between(digits, 13, 13)), ('linear', 25, 1, (), between(upper, 4, 14)), ('linear', 18, 1, (), lambda rng: 'A' + digits(rng, 8) + 'B'),
    ('linear', 29, 2, (), between(digits, 13, 13)), ('linear', 72, 1, (), between(digits, 13, 13)), ('linear', 8, 2, (), vehicle),
    ('linear', 79, 1, (), between(digits, 13, 13)), ('linear', 80, 1, (), between(digits, 13, 13)),
    ('stacked', 55, 8, (), between(mixed, 5, 200)), ('stacked', 55, 3, ('--cols=COLS',), between(mixed, 20, 300)), ('stacked', 56, 2, (), between(mixed, 5, 100)),
    ('stacked', 84, 2, (), between(mixed, 4, 40)),
]


def zint(job):
    """One symbol as a boolean picture, True = dark; None when zint refuses the text."""
    symbology, options, text, folder, name = job
    path = os.path.join(folder, f'{name}.png')
    command = ['zint', f'--barcode={symbology}', '--notext', '--scale=0.5', *options, '-o', path, '-d', text]
    if subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode > 4 or not os.path.exists(path):
        return None
    picture = cv2.imread(path, cv2.IMREAD_GRAYSCALE) < 128
    os.unlink(path)
    rows, columns = np.flatnonzero(picture.any(1)), np.flatnonzero(picture.any(0))
    return picture[rows[0]:rows[-1] + 1, columns[0]:columns[-1] + 1]


def make(path, seed, per_share=70):
    rng = np.random.default_rng(seed)
    jobs, classes = [], []
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        for label, symbology, share, options, text in KINDS:
            for _ in range(share * per_share):
                filled = [o.replace('COLS', str(rng.integers(2, 14))) for o in options]
                if symbology == 58:
                    filled += [f'--secure={rng.integers(1, 5)}']
                jobs.append((symbology, filled, text(rng), folder, len(jobs)))
                classes.append(label)
        pictures = list(pool.map(zint, jobs))
    store = {f'{label}_{job[0]}_{i}': np.packbits(p, axis=1) for i, (label, job, p) in enumerate(zip(classes, jobs, pictures)) if p is not None}
    widths = {f'w_{k}': np.array(p.shape) for k, p in zip([f'{l}_{j[0]}_{i}' for i, (l, j) in enumerate(zip(classes, jobs))], pictures) if p is not None}
    np.savez(path, **store, **widths)
    print(f'{path}: {len(store)} symbols of {len(jobs)}')


def load(path):
    """{class: [(symbology, boolean picture), ...]}"""
    found = {}
    with np.load(path) as data:
        for key in data.files:
            if key.startswith('w_'):
                continue
            label, symbology, _ = key.split('_')
            height, width = data['w_' + key]
            found.setdefault(label, []).append((int(symbology), np.unpackbits(data[key], axis=1)[:, :width].astype(bool)))
    return found


if __name__ == '__main__':
    make(sys.argv[1], int(sys.argv[2]))
