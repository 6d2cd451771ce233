#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# What `make demo` runs, inside `meson devenv`, so that the program and the plugin of the build folder are found.
# With MODEL and INPUT: predictions for them. Without: the test models and pictures where they are
# ($SIGHTLINE_TEST_DATA, else ../shared); else a generated model on a test picture, so that a lone clone shows
# something too.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
data=${SIGHTLINE_TEST_DATA:-$root/../shared}
models=$data/models
images=$data/images

# say WORDS...: shows a command before it runs.
say ()
{
  echo "\$ $*"
  "$@"
}

if [ -n "${MODEL-}" ] && [ -n "${INPUT-}" ]; then
  # INPUT may name several files.
  # shellcheck disable=SC2086
  say sightline predict --model "$MODEL" $INPUT
  exit
fi
if [ -n "${MODEL-}${INPUT-}" ]; then
  echo "demo: give both: make demo MODEL=model.tflite INPUT=picture-or-video" >&2
  exit 2
fi

if [ -r "$models/mobilenet_v2_1.0_224_quant.tflite" ] && [ -r "$images/grace_hopper.bmp" ]; then
  say sightline predict --model "$models/mobilenet_v2_1.0_224_quant.tflite" --labels "$models/imagenet_labels.txt" \
    "$images/grace_hopper.bmp" "$images/cat.bmp"
  if [ -r "$models/ssd_mobilenet_v1.tflite" ]; then
    say sightline predict --model "$models/ssd_mobilenet_v1.tflite" "$images/bus.jpg"
  fi
  exit
fi

maker=${1:?usage: scripts/demo.sh BUILD}/tests/support/make_models
echo "No model given, and none in $models: a generated one says which colour a picture is."
echo "Yours: make demo MODEL=model.tflite INPUT=picture-or-video"
if [ ! -x "$maker" ]; then
  echo "demo: $maker is not built (-Dtests=disabled?), so this is all." >&2
  exit
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$maker" "$work"
for colour in red green blue; do
  say gst-launch-1.0 -q videotestsrc num-buffers=1 "pattern=$colour" ! video/x-raw,format=I420,width=320,height=240 \
    ! slnormalize ! slinfer model="$work/brightest_channel.tflite" ! slpostprocess ! text/x-raw ! fdsink
done
