/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Golden files are made with the model loaded as slinfer loads it, and run by Sightline. */
#include "tools/check/golden.h"

#include <stdio.h>

#include "core/base/printable.h"
#include "models/replay/golden.h"
#include "tools/command.h"

static gboolean
make (const char *path, const SlModelOptions *options, GError **error)
{
  SlModelLoadOptions how = sl_model_options_load (options, TRUE);
  how.any_backend = TRUE; /* for the key file's precision */
  how.backend.backend = SL_BACKEND_OURS;
  g_autoptr (SlModel) model = sl_model_load_with (path, NULL, &how, error);
  g_autoptr (SlSession) session =
    model != NULL ? sl_session_new (sl_model_graph (model), 1, error) : NULL;
  if (session == NULL || !sl_golden_make (model, session, options->settings.input_shape, error))
    return FALSE;
  g_autoptr (SlSession) other = sl_session_new (sl_model_graph (model), 2, error);
  if (other == NULL || !sl_golden_check (model, other, error))
    return FALSE;
  g_autofree char *golden = sl_golden_path (model),
                  *shown = sl_printable (golden, SL_PRINTABLE_MESSAGE),
                  *backends = sl_black_box_backends (session);
  printf ("%s: made with %s\n", shown, backends);
  return TRUE;
}

gboolean
sl_check_make_golden (const char *model, const SlModelOptions *options)
{
  g_autoptr (GError) error = NULL;
  if (make (model, options, &error))
    return TRUE;
  sl_complain ("check", "%s", error->message);
  return FALSE;
}
