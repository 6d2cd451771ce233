/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/quantize/sources.h"

#include "tools/command.h"
#include "tools/quantize/recording.h"

static void
add (SlSources *sources, const SlInput *input, GstSample *frame)
{
  const SlSource source = { input, frame };
  g_ptr_array_add (sources->all, g_memdup2 (&source, sizeof source));
}

SlSources *
sl_sources_new (SlSpawner *spawner, const char *argument, guint most, GError **error)
{
  char *arguments[] = { (char *) argument, NULL };
  g_autoptr (SlSources) sources = g_new0 (SlSources, 1);
  sources->all = g_ptr_array_new_with_free_func (g_free);
  sources->inputs = sl_inputs_new (arguments, FALSE);
  if (g_file_test (argument, G_FILE_TEST_IS_DIR)) {
    for (guint i = 0; i < sources->inputs->len; i++)
      add (sources, sources->inputs->pdata[i], NULL);
    return g_steal_pointer (&sources);
  }
  sources->frames = sl_recording_new (spawner, sources->inputs->pdata[0], most, error);
  for (guint i = 0; sources->frames != NULL && i < sources->frames->len; i++)
    add (sources, NULL, sources->frames->pdata[i]);
  return sources->frames != NULL ? g_steal_pointer (&sources) : NULL;
}

void
sl_sources_free (SlSources *sources)
{
  if (sources == NULL)
    return;
  g_ptr_array_unref (sources->all);
  g_ptr_array_unref (sources->inputs);
  g_clear_pointer (&sources->frames, g_ptr_array_unref);
  g_free (sources);
}

const void *
sl_source_load (const SlSource *source, SlPictures *pictures)
{
  g_autoptr (GError) error = NULL;
  if (source->input != NULL)
    return sl_pictures_load (pictures, source->input);
  const void *tensor = sl_pictures_load_frame (pictures, source->frame, &error);
  if (tensor == NULL)
    sl_complain ("quantize", "%s", error->message);
  return tensor;
}
