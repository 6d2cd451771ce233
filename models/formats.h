/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The formats of this build by name; reader.c has their table. */
#pragma once

#include <glib.h>

/** sl_reader_endings: (transfer full): the endings of all formats of this build, ", " between. */
char *sl_reader_endings (void);
