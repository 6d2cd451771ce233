/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The model's inputs and outputs by name and by number. */
#include "models/io_names.h"

#include "core/base/fail.h"

gint
sl_io_names_find (const SlGraph *graph, gboolean outputs, const char *stated, const char *key,
                  GError **error)
{
  const guint n = outputs ? sl_graph_n_outputs (graph) : sl_graph_n_inputs (graph);
  const SlTensor *(*const get) (const SlGraph *, guint) =
    outputs ? sl_graph_output_tensor : sl_graph_input_tensor;
  g_autoptr (GString) list = g_string_new (NULL);
  guint64 number = 0;
  for (guint i = 0; i < n && stated[0] != '#'; i++)
    if (g_strcmp0 (get (graph, i)->name, stated) == 0)
      return (gint) i;
  if (g_ascii_string_to_unsigned (stated + (stated[0] == '#'), 10, 0, n - 1, &number, NULL))
    return (gint) number;
  for (guint i = 0; i < n; i++) {
    g_autofree char *text = sl_tensor_describe (get (graph, i));
    g_string_append_printf (list, "%s%u '%s' %s", i > 0 ? ", " : "", i, get (graph, i)->name, text);
  }
  sl_fail (error, SL_ERROR_ARGUMENT, "%s: no %s '%s'; the model has %s", key,
           outputs ? "output" : "input", stated, list->str);
  return -1;
}
