#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# `make train-codes`: from nothing to models/codes/codes.tflite and its samples. Everything between lies in the folder given.
#   train.sh FOLDER LIBSIGHTLINE.so [MINUTES]
# START=WEIGHTS.pt goes on from weights instead of from none, START=MODEL.tflite from those of a model that export.py wrote. The same
# command after an interruption goes on where it was.
# Debian: apt-get install python3-torch python3-opencv python3-pil zint fonts-dejavu fonts-liberation
set -eu

here=$(cd "$(dirname "$0")" && pwd)
shipped=$here/../../codes
work=${1:?usage: train.sh FOLDER LIBSIGHTLINE.so [MINUTES]}
library=${2:?usage: train.sh FOLDER LIBSIGHTLINE.so [MINUTES]}
minutes=${3:-90}
start=${START:-}
python=${PYTHON:-/usr/bin/python3}

if ! "$python" -c 'import cv2, numpy, PIL, torch' || ! command -v zint >/dev/null; then
  echo "train-codes: needs python3-torch python3-opencv python3-pil zint, and fonts in /usr/share/fonts/truetype" >&2
  exit 1
fi
# glibc gives large blocks back and takes them again at every step, which costs a third of the time.
export MALLOC_ARENA_MAX=1 MALLOC_MMAP_MAX_=0 MALLOC_TRIM_THRESHOLD_=100000000000 MALLOC_TOP_PAD_=268435456

if [ -n "$start" ] && [ ! -f "$start" ]; then
  echo "train-codes: START=$start: no such file; expected weights (.pt) or a model that export.py wrote (.tflite)" >&2
  exit 1
fi
start=${start:+$(cd "$(dirname "$start")" && pwd)/$(basename "$start")}

mkdir -p "$work"
work=$(cd "$work" && pwd)
cd "$here"

# scenes NAME SEED COUNT: unless they are there.
scenes ()
{
  [ -f "$work/$1.codes.npz" ] || "$python" scenes.py "$work/$1" "$work/symbols.npz" "$2" "$3"
}

[ -f "$work/symbols.npz" ] || "$python" symbols.py "$work/symbols.npz" 1
scenes val 202 800
scenes test 909 2000
scenes train-707 707 8000
scenes train-808 808 12000
scenes train-1010 1010 8000
case $start in
  *.tflite)
    # Once: what is shipped changes below, and an interrupted training goes on from what it began with.
    [ -f "$work/weights.pt.resume" ] || "$python" restore.py "$start" "$work/val" "$work/restored.pt"
    start=$work/restored.pt ;;
esac
"$python" train.py "$work/train-*" "$work/val" "$work/weights.pt" --minutes "$minutes" ${start:+--start "$start"}
said=$("$python" export.py "$work/weights.pt" "$work/val" "$shipped/codes.tflite")
echo "$said"
"$python" eval.py "$work/test" "$shipped/codes.tflite" "$library" --weights "$work/weights.pt" --shift "${said##*--shift }"
"$python" samples.py "$shipped/codes.tflite" "$library" "$work/symbols.npz" "$shipped/samples"
rm "$work/weights.pt.resume"
