/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The file that predictions are written to, and which sources it is done with: a run that was killed goes on where its file ends.
 */
#ifndef SL_TOOLS_PREDICT_OUTPUT_H
#define SL_TOOLS_PREDICT_OUTPUT_H

#include <stdio.h>

#include "tools/predict/printing.h"

G_BEGIN_DECLS

typedef struct _SlOutput SlOutput;

/** sl_output_open: @resume: what @path has is kept, less what is torn at its end; else it must be new or empty. Nobody else may write to it
 *  meanwhile. */
SlOutput *sl_output_open (const char *path, SlReportFormat format, gboolean resume, GError **error);
/** sl_output_close: FALSE with @error set: not all could be written. NULL is legal. */
gboolean sl_output_close (SlOutput *output, GError **error);
FILE *sl_output_file (SlOutput *output);
/** sl_output_begin: FALSE: the source @name is done, or its frames are written already. */
gboolean sl_output_begin (SlOutput *output, const char *name);
/** sl_output_done: all of the source @name is written. FALSE with @error set: it could not be. */
gboolean sl_output_done (SlOutput *output, const char *name, GError **error);
/** sl_output_resumed: sources that the file had when it was opened. */
guint64 sl_output_resumed (const SlOutput *output);

G_END_DECLS

#endif
