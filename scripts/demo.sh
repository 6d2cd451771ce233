#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# What `make demo` runs, inside `meson devenv`, so that the program, the plugin and the model of the build folder are found:
# pictures to predictions, and to pictures with the predictions drawn on them.
# MODEL and INPUT, each or both, take the place of the model that comes with Sightline and of its sample pictures.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
out=${1:?usage: scripts/demo.sh BUILD}/demo

# say WORDS...: shows a command before it runs.
say ()
{
  echo "\$ $*"
  "$@"
}

samples=$root/models/codes/samples
samples=${samples#"$PWD"/}

rm -rf "$out"
mkdir -p "$out"
# INPUT may name several files.
# shellcheck disable=SC2086
if [ -n "${MODEL-}" ]; then
  say sightline predict --model "$MODEL" --draw "$out/annotated.png" ${INPUT:-"$samples"/*.jpg}
else
  say sightline predict --draw "$out/annotated.png" ${INPUT:-"$samples"/*.jpg}
fi
echo
echo "The same with the predictions drawn:"
ls "$out"/annotated*
