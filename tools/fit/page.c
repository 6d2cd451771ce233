/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* `sightline predict --draw` draws (tools/quantize/drawn.h), so the pictures look as they do anywhere else. */
#include "tools/fit/page.h"

#include <glib/gstdio.h>

#include "core/base/picture.h"
#include "core/base/printable.h"
#include "sightline/error.h"
#include "tools/interrupt.h"
#include "tools/quantize/drawn.h"

/* Readings and pictures on the page. */
#define READINGS 3
#define PICTURES 6

static const char head[] =
  "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
  "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'\">\n"
  "<meta name=\"viewport\" content=\"width=device-width\">\n<title>sightline fit</title>\n<style>\n"
  "body{font:15px/1.5 sans-serif;max-width:80rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}\n"
  "h1{font-size:1.4rem}h2{font-size:1.1rem;margin-top:2rem}code{overflow-wrap:anywhere}\n"
  ".sheet{display:grid;grid-template-columns:repeat(auto-fill,minmax(14rem,1fr));gap:.5rem}.sheet img{width:100%}figure{margin:0}\n"
  "figcaption{font-size:.85rem;color:#555;overflow-wrap:anywhere}\n</style></head><body>\n";

static void
append_text (GString *out, const char *text)
{
  g_autofree char *shown = sl_printable (text, SL_PRINTABLE_MESSAGE), *escaped = g_markup_escape_text (shown, -1);
  g_string_append (out, escaped);
}

static void
append_option (GPtrArray *more, const char *option, const char *value)
{
  if (value == NULL)
    return;
  g_ptr_array_add (more, g_strdup (option));
  g_ptr_array_add (more, g_strdup (value));
}

/* (transfer full): the options of `sightline predict` for @reading. */
static GPtrArray *
options_of (const SlReading *reading, const SlModelOptions *options)
{
  GPtrArray *more = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *mean = sl_reading_mean (reading), *std = sl_reading_std (reading);
  if (!sl_reading_is_bytes (reading)) {
    append_option (more, "--mean", mean);
    append_option (more, "--std", std);
  }
  append_option (more, "--colour", sl_colour_name (reading->colour));
  append_option (more, "--fit", sl_fit_name (reading->fit));
  append_option (more, "--labels", options->labels);
  append_option (more, "--decoder", options->decoder);
  append_option (more, "--layout", options->layout);
  append_option (more, "--input-shape", options->limits.input_shape);
  append_option (more, "--fixed-inputs", options->limits.fixed_inputs);
  g_ptr_array_add (more, NULL);
  return more;
}

static void
append_picture (GString *out, const char *model, const SlModelOptions *options, const char *const *more, const SlInput *input,
                const char *folder)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *file = input->uri != NULL ? g_filename_from_uri (input->uri, NULL, &error) : NULL;
  g_autofree char *image = file != NULL ? sl_drawn_new_with (model, &options->limits, more, file, folder, &error) : NULL;
  g_string_append (out, "<figure>");
  if (image != NULL)
    g_string_append_printf (out, "<img alt=\"\" src=\"data:image/jpeg;base64,%s\">", image);
  g_string_append (out, "<figcaption>");
  append_text (out, input->name);
  if (image == NULL && error != NULL) {
    g_string_append (out, ": ");
    append_text (out, error->message);
  }
  g_string_append (out, "</figcaption></figure>\n");
}

static void
append_reading (GString *out, const SlReading *reading, const char *model, const SlModelOptions *options, const GPtrArray *inputs,
                const char *folder)
{
  g_autoptr (GPtrArray) more = options_of (reading, options);
  g_autofree char *text = sl_reading_options (reading);
  const guint n = MIN (inputs->len, PICTURES);
  g_string_append_printf (out, "<h2>%s, %s, %s: score %.2f</h2>\n<p><code>", reading->convention->name, sl_colour_name (reading->colour),
                          sl_fit_name (reading->fit), reading->score);
  append_text (out, text);
  g_string_append (out, "</code></p>\n<div class=\"sheet\">\n");
  for (guint i = 0; i < n && !sl_interrupted (); i++)
    append_picture (out, model, options, (const char *const *) more->pdata, inputs->pdata[(guint64) i * inputs->len / n], folder);
  g_string_append (out, "</div>\n");
}

gboolean
sl_fit_page_write (const SlFinding *finding, const char *model, const SlModelOptions *options, const GPtrArray *inputs, const char *path,
                   GError **error)
{
  g_autofree char *folder = g_dir_make_tmp ("sightline-XXXXXX", error), *verdict = sl_finding_verdict (finding);
  g_autoptr (GString) out = g_string_new (head);
  if (folder == NULL)
    return FALSE;
  g_string_append (out, "<h1>");
  append_text (out, model);
  g_string_append (out, "</h1>\n<p>");
  append_text (out, verdict);
  g_string_append (out, "</p>\n");
  for (guint i = 0; i < MIN (finding->readings->len, READINGS) && !sl_interrupted (); i++)
    append_reading (out, finding->readings->pdata[i], model, options, inputs, folder);
  g_string_append (out, "</body></html>\n");
  g_rmdir (folder);
  return !sl_interrupted () && g_file_set_contents (path, out->str, (gssize) out->len, error);
}
