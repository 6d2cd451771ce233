#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Builds Sightline for 64-bit Arm on a Debian of another architecture, with the packages that it asks apt for, in build-arm64, and runs the
# tests of base and core under qemu-user, as a processor with dot products and as one without. Called by .ci/run arm64 in a chroot; changes
# the machine that it runs on: it adds the architecture arm64 to dpkg's.
set -eu
cd "$(dirname "$0")/../.."
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
dpkg --add-architecture arm64
apt-get -q update
# shellcheck disable=SC2046
apt-get -q -y --no-install-recommends install gcc libc6-dev meson ninja-build pkg-config python3 crossbuild-essential-arm64 qemu-user-static \
  $(printf '%s-dev:arm64 ' libglib2.0 libgstreamer1.0 libgstreamer-plugins-base1.0 libxnnpack libpthreadpool libyuv libpango1.0 libmosquitto librdkafka libzbar liblz4 libjpeg libgdk-pixbuf-2.0) zlib1g-dev:arm64
[ -f build-arm64/build.ninja ] || meson setup build-arm64 --cross-file scripts/packaging/arm64.cross -Dwerror=true -Dbench=disabled
ninja -C build-arm64
for cpu in max cortex-a53; do
  echo "as $cpu:"
  QEMU_CPU=$cpu scripts/test.sh build-arm64 --no-rebuild --suite base --suite core --timeout-multiplier 10
done
