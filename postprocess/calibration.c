/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parsed when a decoder is opened; a class is then a row of four numbers. */
#include "postprocess/calibration.h"

#include <math.h>

#include "core/base/fail.h"
#include "postprocess/params.h"

/* Scores are kept this far from 0 and 1, where the logarithms end. */
#define MIN_SCORE 1e-16

typedef enum
{
  TRANSFORM_IDENTITY,
  TRANSFORM_LOG,
  TRANSFORM_INVERSE_LOGISTIC
} Transform;

static const char *const transforms[] = { "identity", "log", "inverse-logistic", NULL };

typedef struct
{
  gboolean known;
  double scale, slope, offset, lowest;
} Row;

struct _SlCalibration
{
  Transform transform;
  double fallback;
  GArray *rows;
};

static gboolean
malformed (GError **error, guint line, const char *expected, const char *got)
{
  return sl_fail (error, SL_ERROR_ARGUMENT,
                  "decoder parameter " SL_CALIBRATION_PARAM ", line %u: expected %s, got '%.80s'",
                  line, expected, got);
}

/* Numbers with ',' between into @values, NAN where there is none; how many, 0 when one is not a
 * finite number or there are more than @most.
 * */
static guint
read_numbers (char **words, double *values, guint most)
{
  const guint n = g_strv_length (words);
  for (guint i = 0; i < n && n <= most; i++) {
    char *end = NULL;
    const char *word = g_strstrip (words[i]);
    values[i] = g_ascii_strtod (word, &end);
    if (end == word || *end != '\0' || !isfinite (values[i]))
      return 0;
  }
  return n <= most ? n : 0;
}

static gboolean
read_head (SlCalibration *calibration, const char *line, GError **error)
{
  g_auto (GStrv) words = g_strsplit (line, ",", -1);
  for (guint i = 0; transforms[i] != NULL && g_strv_length (words) == 2; i++) {
    if (g_strcmp0 (g_strstrip (words[0]), transforms[i]) != 0)
      continue;
    calibration->transform = (Transform) i;
    if (read_numbers (&words[1], &calibration->fallback, 1) == 1)
      return TRUE;
  }
  return malformed (error, 1, "identity, log or inverse-logistic, ',' and the default score", line);
}

static gboolean
read_row (SlCalibration *calibration, const char *line, guint number, GError **error)
{
  g_auto (GStrv) words = g_strsplit (line, ",", -1);
  double values[4] = { 0, 0, 0, -INFINITY };
  Row row = { .known = line[0] != '\0' };
  const guint n = row.known ? read_numbers (words, values, 4) : 0;
  if (row.known && (n < 3 || values[0] < 0))
    return malformed (error, number,
                      "scale,slope,offset or scale,slope,offset,lowest, the scale not below 0",
                      line);
  row.scale = values[0];
  row.slope = values[1];
  row.offset = values[2];
  row.lowest = values[3];
  g_array_append_val (calibration->rows, row);
  return TRUE;
}

gboolean
sl_calibration_new (const SlDecoderConfig *config, guint classes, SlCalibration **calibration,
                    GError **error)
{
  const char *text = sl_decoder_param (config, SL_CALIBRATION_PARAM);
  *calibration = NULL;
  if (text == NULL || g_strcmp0 (text, "none") == 0)
    return TRUE;
  g_autoptr (SlCalibration) made = g_new0 (SlCalibration, 1);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  made->rows = g_array_new (FALSE, TRUE, sizeof (Row));
  if (!read_head (made, lines[0] != NULL ? lines[0] : "", error))
    return FALSE;
  guint last = 0;
  for (guint i = 1; lines[i] != NULL; i++) {
    if (!read_row (made, g_strstrip (lines[i]), i + 1, error))
      return FALSE;
    last = lines[i][0] != '\0' ? i : last;
  }
  if (classes > 0 && last > classes)
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "decoder parameter " SL_CALIBRATION_PARAM
                    ": %u lines for %u classes; expected one a class",
                    last, classes);
  *calibration = g_steal_pointer (&made);
  return TRUE;
}

void
sl_calibration_free (SlCalibration *calibration)
{
  if (calibration == NULL)
    return;
  g_clear_pointer (&calibration->rows, g_array_unref);
  g_free (calibration);
}

static double
transformed (Transform transform, double score)
{
  const double inside = CLAMP (score, MIN_SCORE, 1 - MIN_SCORE);
  switch (transform) {
    case TRANSFORM_LOG:
      return log (fmax (score, MIN_SCORE));
    case TRANSFORM_INVERSE_LOGISTIC:
      return log (inside) - log1p (-inside);
    default:
      return score;
  }
}

double
sl_calibration_apply (const SlCalibration *calibration, gint32 label_id, double score)
{
  const gboolean there = label_id >= 0 && (guint) label_id < calibration->rows->len;
  const Row *row = there ? &g_array_index (calibration->rows, Row, label_id) : NULL;
  if (isnan (score))
    return score;
  if (row == NULL || !row->known || score < row->lowest)
    return fmin (calibration->fallback, 1);
  return fmin (
    row->scale
      / (1 + exp (-(row->slope * transformed (calibration->transform, score) + row->offset))),
    1);
}
