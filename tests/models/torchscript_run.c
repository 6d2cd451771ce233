/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See torchscript_run.h. */
#include "tests/models/torchscript_run.h"

#include <math.h>

#include "core/runtime/session.h"
#include "tests/models/helpers.h"
#include "tests/support/torchscript_writer.h"

#define ELEMENTS 24

/* A model file of class Net with such a forward(); @more: (nullable): text behind the class, and
 * torchvision's of regions. */
static char *
write_program (const char *signature, const char *body, const char *more)
{
  SlTorchscriptWriter *writer = sl_torchscript_writer_new ();
  g_autoptr (GString) text = g_string_new (NULL);
  g_auto (GStrv) lines = g_strsplit (body, "\n", -1);
  g_string_append_printf (
    text,
    "class Net(Module):\n  factor : Final[int] = 3\n  def forward(self: __torch__.Net,\n    %s:\n",
    signature);
  for (guint i = 0; lines[i] != NULL; i++)
    g_string_append_printf (text, "    %s\n", lines[i]);
  g_string_append (text, more != NULL ? more : "");
  sl_torchscript_writer_text (writer, "code/__torch__.py", text->str);
  if (more != NULL)
    sl_torchscript_writer_text (writer, "code/__torch__/torchvision/models/detection/roi_heads.py",
                                more);
  g_autoptr (GBytes) bytes = sl_torchscript_writer_finish (writer);
  return write_temp ("model.pt", g_bytes_get_data (bytes, NULL), (gssize) g_bytes_get_size (bytes));
}

SlModel *
load_program (const char *signature, const char *body, const char *more, const char *shape,
              GError **error)
{
  g_autofree char *path = write_program (signature, body, more);
  const SlModelLoadOptions options = { .input_shape = shape };
  SlModel *model = sl_model_load_with (path, NULL, &options, error);
  sl_tflite_remove_temp (path);
  return model;
}

static void
test_row (gconstpointer data)
{
  const ProgramRow *row = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (SlModel) model =
    load_program ("x: Tensor) -> Tensor", row->body, NULL, PROGRAM_SHAPE, &error);
  g_assert_no_error (error);
  const SlTensor *output = sl_graph_output_tensor (sl_model_graph (model), 0);
  g_autoptr (SlSession) session = sl_session_new (sl_model_graph (model), 1, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (output->bytes, ==, row->n * sizeof (gfloat));
  gfloat *x = sl_tensor_buffer_new (ELEMENTS * sizeof x[0]),
         *y = sl_tensor_buffer_new (output->bytes);
  for (gint i = 0; i < ELEMENTS; i++)
    x[i] = (gfloat) (i * 7 % 11 - 5) / 4;
  g_assert_cmpint (sl_session_run (session, (const void *[]){ x }, (void *[]){ y }), ==,
                   SL_STATUS_OK);
  for (guint i = 0; i < row->n; i++)
    if (!(fabsf (y[i] - row->results[i]) <= 1e-5f * MAX (1, fabsf (row->results[i]))))
      g_error ("%s: element %u is %g; expected %g", row->name, i, (gdouble) y[i],
               (gdouble) row->results[i]);
  sl_tensor_buffer_free (x);
  sl_tensor_buffer_free (y);
}

void
add_program_rows (const char *prefix, const ProgramRow *rows, guint n)
{
  for (guint i = 0; i < n; i++) {
    g_autofree char *path = g_strdup_printf ("%s/%s", prefix, rows[i].name);
    g_test_add_data_func (path, &rows[i], test_row);
  }
}
