#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Runs `meson test`, which builds what the chosen tests need, in a build folder and ends with one line: "N passed, N failed,
# N skipped", counted test case by test case (each program reports several). The exit status is meson's.
#   scripts/test.sh BUILD [meson test options]
set -eu

build=${1:?usage: scripts/test.sh BUILD [meson test options]}
shift
logs=$build/meson-logs
rm -f "$logs"/testlog*

status=0
meson test -C "$build" --print-errorlogs "$@" </dev/null || status=$?
python3 "$(dirname "$0")/count_tests.py" "$logs" || status=1
exit "$status"
