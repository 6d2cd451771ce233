/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Values of description files: times and words, with the errors that name file, line, group and
 * key.
 */
#pragma once

#include "pipelines/description/key_text.h"

/** sl_key_fail: sets "FILE:LINE: [group] key: ..." and returns FALSE. */
gboolean sl_key_fail (const SlKeyEntry *entry, GError **error, const char *format, ...)
  G_GNUC_PRINTF (3, 4);
/** sl_key_prefix: puts "FILE:LINE: [group] key: " before @error's message and returns FALSE. */
gboolean sl_key_prefix (const SlKeyEntry *entry, GError **error);
/** sl_value_time: a time as core/base/duration.h has it, as milliseconds. */
gboolean sl_value_time (const SlKeyEntry *entry, const char *text, guint *ms, GError **error);
/** sl_value_choice: the index of @text in @names. */
gboolean sl_value_choice (const SlKeyEntry *entry, const char *text, const char *const *names,
                          guint n, guint *index, GError **error);
/** sl_value_number: a finite number, all of @text. */
gboolean sl_value_number (const char *text, gdouble *number);
