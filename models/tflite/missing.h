/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages of the TFLite reader about unsupported operators: which, where, why, and what to do. */
#pragma once

#include <glib.h>

/** An operator without a row in the import table: its first node, and its number or, of a custom
 * one, its name. */
typedef struct
{
  guint node;
  gint32 builtin;
  const char *custom; /* (nullable) */
} TflMissing;

/** tfl_missing_choose: index of the one of @missing, @n of them and at least 1, that tells most
 * about the file. */
guint tfl_missing_choose (const TflMissing *missing, guint n);
/** tfl_missing_report: sets SL_ERROR_UNSUPPORTED: @chosen with its place and what to do, the others
 * by name. @name: of its node. */
void tfl_missing_report (const TflMissing *missing, guint n, guint chosen, const char *name,
                         GError **error);
