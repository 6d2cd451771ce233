/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What nearly every file includes, compiled once a target (`pch` in meson.build). Files do not rely
 * on it: each includes what it uses, and builds with -Db_pch=false.
 */
#include <glib.h>
#include <math.h>
#include <string.h>
