/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The signals of slinfer: dump, dumped and reset-state.
 */
#ifndef SL_PLUGINS_TENSOR_INFER_SIGNALS_H
#define SL_PLUGINS_TENSOR_INFER_SIGNALS_H

#include <glib-object.h>

/** sl_infer_signals_add: for slinfer's class. @dump: char *(element, reason); @reset_state: void
 * (element). */
void sl_infer_signals_add (GType type, GCallback dump, GCallback reset_state);
/** sl_infer_signals_dumped: emits dumped; @error (nullable). */
void sl_infer_signals_dumped (gpointer element, const char *path, guint inferences,
                              const GError *error);

#endif
