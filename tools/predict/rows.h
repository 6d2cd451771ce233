/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Predictions as CSV (RFC 4180) of one flat table: a row an object or label, and a row without one
 * for a frame on which nothing was found.
 */
#pragma once

#include <glib.h>

#include "postprocess/predictions/prediction.h"

#define SL_ROWS_HEADING \
  "path,index,rows,frame,time,width,height,label,label_id,score,x,y,w,h,symbology,code\n"

/** SlRowPlace: the row's name has @name_bytes, with its quotes; it is the @index-th, from 0 on, of
 * its frame's @rows. */
typedef struct
{
  gsize name_bytes;
  guint index, rows;
} SlRowPlace;

/** sl_rows_append: appends all rows of @prediction. FALSE with @error set where it has results
 * other than objects and labels. */
gboolean sl_rows_append (GString *out, const SlPredictionView *prediction, GError **error);
/** sl_rows_append_text: one value, quoted where it has to be. It is one line: control characters
 * are written as spaces. */
void sl_rows_append_text (GString *out, const char *text);
/** sl_rows_parse: FALSE: @line is no row. */
gboolean sl_rows_parse (const char *line, SlRowPlace *place);
