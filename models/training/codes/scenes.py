# SPDX-License-Identifier: LGPL-2.1-or-later
# Sets of scenes on disk: NAME.npy, the pictures, and NAME.codes.npz, the codes on them. A scene depends on (seed, number)
# alone, whatever the number of processes.
#   scenes.py NAME SYMBOLS.npz SEED COUNT
import multiprocessing
import os
import sys

import cv2
import numpy as np

import render
from net import CLASSES

renderer = None


def start(store, seed):
    global renderer
    cv2.setNumThreads(1)
    renderer = render.Renderer(store, seed)


def one(job):
    seed, number = job
    picture, codes = renderer.scene((seed, number))
    return number, picture, codes


def make(name, store, seed, count):
    pictures = np.lib.format.open_memmap(name + '.npy', 'w+', np.uint8, (count, render.SIDE, render.SIDE, 3))
    scene, label, counts, points = [], [], [], []
    with multiprocessing.Pool(os.cpu_count(), start, (store, seed)) as pool:
        for number, picture, codes in pool.imap(one, ((seed, i) for i in range(count)), 16):
            pictures[number] = picture
            for c, p, ok in codes:
                scene.append(number)
                label.append(CLASSES.index(c))
                counts.append(ok)
                points.append(p)
    pictures.flush()
    np.savez(name + '.codes.npz', scene=np.array(scene), label=np.array(label), counts=np.array(counts), points=np.array(points, np.float32))
    print(f'{name}: {count} scenes, {int(np.sum(counts))} codes')


def load(name):
    """Pictures (mapped) and for each scene its (labels, counts, outlines)."""
    pictures = np.load(name + '.npy', mmap_mode='r')
    with np.load(name + '.codes.npz') as data:
        scene, label, counts, points = data['scene'], data['label'], data['counts'], data['points']
    first = np.searchsorted(scene, np.arange(len(pictures) + 1))
    return pictures, [(label[a:b], counts[a:b], points[a:b]) for a, b in zip(first[:-1], first[1:])]


if __name__ == '__main__':
    make(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
