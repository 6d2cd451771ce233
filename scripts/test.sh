#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Runs `meson test`, which builds what the chosen tests need, in a build folder. Ends with the time of each suite and one line: "N passed,
# N failed, N skipped", counted test case by test case (each program reports several). The exit status is meson's.
# Many tests wait for cameras, servers and clocks, so more of them run at once than there are cores: with three for each core, cores were idle for an
# eighth of the time. MESON_TESTTHREADS says how many. SIGHTLINE_KEEP_REGISTRIES keeps the registries of GStreamer of the previous run.
#   scripts/test.sh BUILD [meson test options]
set -eu

build=${1:?usage: scripts/test.sh BUILD [meson test options]}
shift
logs=$build/meson-logs
export MESON_TESTTHREADS="${MESON_TESTTHREADS:-$(($(nproc) * 5))}"
rm -f "$logs"/testlog*
# Plugins stay as they are while tests run: programs that find a registry do not look at every plugin file of the system again.
export GST_REGISTRY_UPDATE=no
[ -n "${SIGHTLINE_KEEP_REGISTRIES:-}" ] || find "$build" -name registry.bin -delete

status=0
meson test -C "$build" --print-errorlogs "$@" </dev/null || status=$?
python3 "$(dirname "$0")/count_tests.py" "$logs" || status=1
exit "$status"
