/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The file that predictions are written to, and which sources it is done with: a run that was
 * killed goes on where its file ends.
 */
#pragma once

#include "tools/predict/printing.h"

typedef struct _SlOutput SlOutput;

typedef enum
{
  SL_OUTPUT_DUE,
  SL_OUTPUT_DONE,
  SL_OUTPUT_TAKEN /* another source is written under this name */
} SlOutputState;

/** sl_output_open: @resume: what @path has is kept, less what is torn at its end; else it must be
 * new or empty. Nobody else may write to it meanwhile. Nothing of it is changed before
 * sl_output_begin(). */
SlOutput *sl_output_open (const char *path, SlReportFormat format, gboolean resume, GError **error);
/** sl_output_close: FALSE with @error set: not all could be written. NULL is legal. */
gboolean sl_output_close (SlOutput *output, GError **error);
/** sl_output_begin: cuts off what is torn, and writes the heading of a file that is empty; once is
 * enough. FALSE with @error set. */
gboolean sl_output_begin (SlOutput *output, GError **error);
/** sl_output_look_up: of the source that is written as @name and is @uri in full. */
SlOutputState sl_output_look_up (SlOutput *output, const char *name, const char *uri);
/** sl_output_write: all of that source, which is done then. FALSE with @error set: it could not be
 * written. */
gboolean sl_output_write (SlOutput *output, const char *name, const char *uri, const char *text,
                          gsize bytes, GError **error);
/** sl_output_resumed: sources that the file had when it was opened. */
guint64 sl_output_resumed (const SlOutput *output);
