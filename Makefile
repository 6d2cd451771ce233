# SPDX-License-Identifier: LGPL-2.1-or-later
# A thin front for meson; everything it does is in scripts/ and meson.build.
#   make demo [MODEL=model.tflite] [INPUT=picture-or-video]  predict, from a release build
#   make train-codes [MINUTES=90 START=FILE]  make the model that comes with Sightline again (models/codes/README.md)
#   make format                        clang-format over the C files
#   make test | bench | install [PREFIX=/usr/local DESTDIR=] | setup | clean
#   make deb                            Debian packages of this release of Debian, in build-deb/
#   make docs                           the documentation as a site with search, in build-docs/
# Variables: BUILD (build folder), MESONFLAGS (for `meson setup`), SETUP=: (leave packages alone)
# The build of `make test` has line numbers and no local variables, and -O1 for all but kernels: that saves a third of the compiler's time. For a
# debugger: make test CFLAGS=-g

BUILD ?= build
PREFIX ?= /usr/local
DESTDIR ?=
MESONFLAGS ?=
MODEL ?=
INPUT ?=
MINUTES ?= 90
SETUP ?= scripts/setup.sh
RELEASE = $(BUILD)-release

export MODEL INPUT DESTDIR
# Has ccache cache what uses precompiled headers.
export CCACHE_SLOPPINESS ?= pch_defines,time_macros

.PHONY: all train-codes demo deb docs format test bench install setup clean release

all: release

demo: release
	@meson devenv -C $(RELEASE) --workdir $(CURDIR) scripts/demo.sh $(RELEASE)

train-codes: release
	@models/training/codes/train.sh build-codes $(CURDIR)/$(RELEASE)/libsightline-1.0.so.0 $(MINUTES)

format:
	@scripts/format.sh

test: setup
	@test -f $(BUILD)/build.ninja || CFLAGS="-g1 $$CFLAGS" meson setup $(BUILD) -Doptimization=1 $(MESONFLAGS)
	@ninja -C $(BUILD)
	@scripts/test.sh $(BUILD)

bench: release
	@meson test -C $(RELEASE) --benchmark --logbase benchmarklog --verbose --num-processes 1; status=$$?; scripts/bench_file.py $(RELEASE) && exit $$status

install: release
	@meson configure $(RELEASE) -Dprefix=$(PREFIX)
	@meson install -C $(RELEASE)

deb:
	@scripts/deb.sh $(BUILD)-deb

docs: release
	@scripts/docs/site.py $(RELEASE) $(BUILD)-docs
	@echo "$(BUILD)-docs/index.html"

setup:
	@$(SETUP)

release: setup
	@test -f $(RELEASE)/build.ninja || meson setup $(RELEASE) --buildtype=release --prefix=$(PREFIX) -Dtests=disabled $(MESONFLAGS)
	@ninja -C $(RELEASE)

clean:
	rm -rf $(BUILD) $(RELEASE) $(BUILD)-deb $(BUILD)-docs
