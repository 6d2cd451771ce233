/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The texts of settings that are numbers. Each FALSE sets SL_ERROR_ARGUMENT, "NAME: expected ...,
 * got 'TEXT'".
 */
#pragma once

#include <glib.h>

gboolean sl_mean_parse (const char *text, gdouble mean[3], guint *n, GError **error);
gboolean sl_std_parse (const char *text, gdouble std[3], guint *n, GError **error);
gboolean sl_crop_share_parse (const char *text, gdouble *share, GError **error);

/** Checks of the table of settings (SlSetting.check). */
gboolean sl_mean_check (const char *text, GError **error);
gboolean sl_std_check (const char *text, GError **error);
gboolean sl_crop_share_check (const char *text, GError **error);
/** sl_input_shape_check: shapes with ';' between, each with or without a type before it; an empty
 * one states nothing. */
gboolean sl_input_shape_check (const char *text, GError **error);
gboolean sl_precision_check (const char *text, GError **error);
gboolean sl_sha256_check (const char *text, GError **error);
