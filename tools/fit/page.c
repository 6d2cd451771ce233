/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* `sightline predict --draw` draws (tools/quantize/drawn.h), so the pictures look as they do
 * anywhere else. */
#include "tools/fit/page.h"

#include <glib/gstdio.h>

#include "core/base/picture.h"
#include "sightline/error.h"
#include "tools/html_page.h"
#include "tools/interrupt.h"
#include "tools/quantize/drawn.h"

/* Readings and pictures on the page. */
#define READINGS 3
#define PICTURES 6

static void
append_picture (GString *out, const char *model, const SlModelSettings *settings,
                const SlInput *input, const char *folder)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *file =
    input->uri != NULL ? g_filename_from_uri (input->uri, NULL, &error) : NULL;
  g_autofree char *image =
    file != NULL ? sl_drawn_new (model, settings, file, folder, &error) : NULL;
  g_string_append (out, "<figure>");
  if (image != NULL)
    g_string_append_printf (out, "<img alt=\"\" src=\"data:image/jpeg;base64,%s\">", image);
  g_string_append (out, "<figcaption>");
  sl_html_append_text (out, input->name);
  if (image == NULL && error != NULL) {
    g_string_append (out, ": ");
    sl_html_append_text (out, error->message);
  }
  g_string_append (out, "</figcaption></figure>\n");
}

static void
append_reading (GString *out, const SlReading *reading, const char *model,
                const SlModelOptions *options, const GPtrArray *inputs, const char *folder)
{
  g_autofree char *text = sl_reading_options (reading);
  g_auto (SlModelSettings) settings = { 0 };
  sl_reading_settings (reading, &options->settings, &settings);
  const guint n = MIN (inputs->len, PICTURES);
  g_string_append_printf (out, "<h2>%s, %s, %s: score %.2f</h2>\n<p><code>",
                          reading->convention->name, sl_colour_name (reading->colour),
                          sl_fit_name (reading->fit), reading->score);
  sl_html_append_text (out, text);
  g_string_append (out, "</code></p>\n<div class=\"sheet\">\n");
  for (guint i = 0; i < n && !sl_interrupted (); i++)
    append_picture (out, model, &settings, inputs->pdata[(guint64) i * inputs->len / n], folder);
  g_string_append (out, "</div>\n");
}

gboolean
sl_fit_page_write (const SlFinding *finding, const char *model, const SlModelOptions *options,
                   const GPtrArray *inputs, const char *path, GError **error)
{
  g_autofree char *folder = g_dir_make_tmp ("sightline-XXXXXX", error),
                  *verdict = sl_finding_verdict (finding);
  g_autoptr (GString) out = sl_html_page_new ("sightline fit", 80);
  if (folder == NULL)
    return FALSE;
  sl_html_append (out, "h1", model);
  sl_html_append (out, "p", verdict);
  for (guint i = 0; i < MIN (finding->readings->len, READINGS) && !sl_interrupted (); i++)
    append_reading (out, finding->readings->pdata[i], model, options, inputs, folder);
  sl_html_page_end (out);
  g_rmdir (folder);
  return !sl_interrupted () && sl_options_write_text ("--html", path, out, error);
}
