#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Builds Sightline for 64-bit Arm on a Debian of another architecture, with the packages that it asks apt for, in build-arm64, and tests it under
# qemu-user: as a processor with dot products (Cortex-A76), without them (A53, A72), and with everything (max). Called by .ci/run arm64 in a
# chroot; changes the machine that it runs on: it adds the architecture arm64 to dpkg's.
#   ARM64_CPUS     processors (default: cortex-a76 cortex-a53 max cortex-a72)
#   ARM64_SUITES   suites of the first one (default: those that run without servers and a browser)
#   ARM64_KERNELS  suites of the others (default: the programs whose kernels differ between processors)
# QEMU executes the same instructions as a Cortex-A53 and as an A72, so as the latter only the choice of the kernels is tested, and a program
# of some. Tests of the suite once are the same in every tree, and those of no-qemu measure memory, of which QEMU has its own. All but A72 also run
# `sightline bench field --check`. On a core of AMD's Zen 4, as a Cortex-A76, that takes 200 seconds and the tests take 700, of which a third are the
# suite cpu.
set -eu
cd "$(dirname "$0")/../.."
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
dpkg --add-architecture arm64
apt-get -q update
# shellcheck disable=SC2046
apt-get -q -y --no-install-recommends install ccache gcc libc6-dev meson ninja-build pkg-config python3 crossbuild-essential-arm64 qemu-user-static \
  $(printf '%s-dev:arm64 ' libglib2.0 libgstreamer1.0 libgstreamer-plugins-base1.0 libxnnpack libpthreadpool libyuv libpango1.0 libmosquitto librdkafka libzbar liblz4 libjpeg libgdk-pixbuf-2.0) zlib1g-dev:arm64 \
  $(printf 'gstreamer1.0-%s:arm64 ' plugins-base plugins-good) libsoup-3.0-0:arm64
# A tree that stays has the compiler's cache of the last run.
export PATH="/usr/lib/ccache:$PATH" CCACHE_SLOPPINESS=pch_defines,time_macros
[ -f build-arm64/build.ninja ] || meson setup build-arm64 --cross-file scripts/packaging/arm64.cross -Dwerror=true -Dbench=disabled
ninja -C build-arm64

# Programs that start themselves, or others, need a kernel that runs programs for Arm by QEMU: until this script ends, if it did not before.
binfmt=/proc/sys/fs/binfmt_misc
[ -e $binfmt/register ] || mount -t binfmt_misc binfmt_misc $binfmt
if [ ! -e $binfmt/qemu-aarch64 ]; then
  cat /usr/lib/binfmt.d/qemu-aarch64.conf >$binfmt/register
  trap 'echo -1 >$binfmt/qemu-aarch64' EXIT
fi

suites=${ARM64_SUITES:-base core ops preprocess models postprocess quantize elements}
kernels=${ARM64_KERNELS:-cpu}
status=0
# passes NAME COMMAND...: a check that counts as one test case.
passes ()
{
  name=$1
  shift
  if "$@"; then
    echo "1 passed, 0 failed, 0 skipped"
  else
    echo "not ok $name"
    echo "0 passed, 1 failed, 0 skipped"
    status=1
  fi
}

# None of them waits much, and XNNPACK's threads spin.
MESON_TESTTHREADS=$(($(nproc) + 1))
export MESON_TESTTHREADS
# shellcheck disable=SC2086
chosen=$(printf -- '--suite %s ' $suites)
for cpu in ${ARM64_CPUS:-cortex-a76 cortex-a53 max cortex-a72}; do
  echo "as $cpu:"
  export QEMU_CPU="$cpu"
  [ "$cpu" != cortex-a72 ] || chosen="base-cpu core-int8-gemm core-simd_loops"
  # shellcheck disable=SC2086
  scripts/test.sh build-arm64 --no-rebuild $chosen --no-suite once --no-suite no-qemu --timeout-multiplier 20 || status=1
  # shellcheck disable=SC2086
  chosen=$(printf -- '--suite %s ' $kernels)
  [ "$cpu" = cortex-a72 ] || passes "made networks give what they must as $cpu" sh -c 'qemu-aarch64-static build-arm64/tools/sightline bench field --check >/dev/null'
done
exit $status
