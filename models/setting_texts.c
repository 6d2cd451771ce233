/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "models/setting_texts.h"

#include <math.h>
#include <string.h>

#include "core/base/picture.h"
#include "core/base/fail.h"
#include "core/base/printable.h"
#include "core/graph/precision.h"
#include "core/graph/tensor.h"
#include "models/numbers.h"
#include "models/zoo/row.h"
#include "sightline/error.h"

static gboolean
refuse (GError **error, const char *name, const char *expected, const char *text)
{
  g_autofree char *shown = sl_printable (text, SL_PRINTABLE_MESSAGE);
  return sl_fail (error, SL_ERROR_ARGUMENT, "%s: expected %s, got '%s'", name, expected, shown);
}

gboolean
sl_mean_parse (const char *text, gdouble mean[3], guint *n, GError **error)
{
  *n = sl_numbers_parse (text, mean, 3);
  return *n == 1 || *n == 3
         || refuse (error, "mean", "1 or 3 finite numbers with ',' between", text);
}

gboolean
sl_std_parse (const char *text, gdouble std[3], guint *n, GError **error)
{
  *n = sl_numbers_parse (text, std, 3);
  gboolean good = *n == 1 || *n == 3;
  for (guint i = 0; i < *n; i++)
    good = good && sl_std_is_valid (std[i]);
  return good || refuse (error, "std", "1 or 3 finite numbers above 0 with ',' between", text);
}

gboolean
sl_crop_share_parse (const char *text, gdouble *share, GError **error)
{
  return (sl_numbers_parse (text, share, 1) == 1 && *share >= SL_LEAST_SHARE && *share <= 1)
         || refuse (error, "crop-share", "a number 0.01..1, such as 0.875 for 224 of 256 pixels",
                    text);
}

gboolean
sl_mean_check (const char *text, GError **error)
{
  gdouble mean[3];
  guint n;
  return sl_mean_parse (text, mean, &n, error);
}

gboolean
sl_std_check (const char *text, GError **error)
{
  gdouble std[3];
  guint n;
  return sl_std_parse (text, std, &n, error);
}

gboolean
sl_crop_share_check (const char *text, GError **error)
{
  gdouble share;
  return sl_crop_share_parse (text, &share, error);
}

static gboolean
is_shape (const char *text)
{
  gdouble numbers[SL_MAX_RANK];
  const char *colon = strchr (text, ':');
  const guint n = sl_numbers_parse (colon != NULL ? colon + 1 : text, numbers, SL_MAX_RANK);
  for (guint i = 0; i < n; i++)
    if (numbers[i] < 1 || numbers[i] > G_MAXINT32 || numbers[i] != floor (numbers[i]))
      return FALSE;
  return n > 0;
}

gboolean
sl_input_shape_check (const char *text, GError **error)
{
  g_auto (GStrv) parts = g_strsplit (text, ";", -1);
  for (guint i = 0; parts[i] != NULL; i++)
    if (g_strstrip (parts[i])[0] != '\0' && !is_shape (parts[i]))
      return refuse (error, "input-shape",
                     "whole numbers with ',' between, as in 1,3,224,224, and ';' between inputs",
                     text);
  return TRUE;
}

gboolean
sl_precision_check (const char *text, GError **error)
{
  SlPrecision precision;
  return sl_precision_parse (text, &precision, error);
}

gboolean
sl_sha256_check (const char *text, GError **error)
{
  return sl_zoo_is_hash (text)
         || refuse (error, "sha256", "64 digits 0-9 and a-f, as sha256sum prints them", text);
}
