#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Looks for tests that fail now and then: runs the suite several times, in turn while a busy loop keeps each core
# occupied and with threads that are held up at random (tests/support/hold_up.c; not with a sanitizer, and without the
# suite faults), and lists the programs that failed with the number of failures. The exit status is 1 if any did.
#   scripts/flakes.sh ROUNDS [BUILD [meson test options]]     BUILD: the build folder, default build
set -euo pipefail

rounds=${1:?usage: scripts/flakes.sh ROUNDS [BUILD [meson test options]]}
build=${2:-build}
shift $(($# < 2 ? $# : 2))
failures=$(mktemp)
spinners=()
stop ()
{
  rest
  rm -f "$failures"
}
trap stop EXIT

# spin: a busy loop for each core.
spin ()
{
  for _ in $(seq "$(nproc)"); do
    nice -n 5 sh -c 'while :; do :; done' &
    spinners+=($!)
  done
}

# rest: no more of them.
rest ()
{
  [ ${#spinners[@]} -eq 0 ] || kill "${spinners[@]}" 2>/dev/null || true
  spinners=()
}

held=$(realpath "$build")/tests/support/libhold-up.so
for round in $(seq "$rounds"); do
  log=$build/meson-logs/flakes-$round.txt
  how=()
  threads=()
  if [ $((round % 2)) -eq 0 ] && [ -e "$held" ]; then
    how=(--wrapper "env LD_PRELOAD=$held")
    # Faults are tried in thousands of processes, each of which would be held up anew.
    [ $# -gt 0 ] || how+=(--no-suite faults)
    # Threads that are held up take no processor time.
    threads=("MESON_TESTTHREADS=$(($(nproc) * 16))")
  else
    spin
  fi
  env ${threads[@]+"${threads[@]}"} "$(dirname "$0")/test.sh" "$build" --timeout-multiplier 4 ${how[@]+"${how[@]}"} "$@" >"$log" 2>&1 || true
  rest
  sed -nE 's/^ *[0-9]+\/[0-9]+ (.*[^ ]) +(FAIL|TIMEOUT|ERROR|INTERRUPT) .*/\1/p' "$log" | sort -u | tee -a "$failures" | sed 's/^/failed: /'
  echo "round $round of $rounds: $(tail -n 1 "$log")"
done
if [ -s "$failures" ]; then
  echo "failures by program, in $rounds rounds (outputs: $build/meson-logs/flakes-*.txt):"
  sort "$failures" | uniq -c | sort -rn
  exit 1
fi
echo "no failure in $rounds rounds"
