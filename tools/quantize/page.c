/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pictures are drawn once for each model (drawn.h), in a folder that goes away again. Frames of a
 * video or a camera are put there as pictures first.
 */
#include "tools/quantize/page.h"

#include <glib/gstdio.h>
#include <math.h>

#include "tools/html_page.h"
#include "tools/interrupt.h"
#include "tools/predict/drawing.h"
#include "tools/quantize/drawn.h"
#include "tools/quantize/sources.h"

/* Longest of the page's bars, dB. */
#define BAR_DB 60.0

static void
append_figures (GString *out, const SlPage *page)
{
  const SlQuantizeReport *report = page->report;
  g_string_append (out, "<table>\n");
  sl_html_append_row (out, "float model", "%s", page->source);
  sl_html_append_row (out, "file", "%s", page->output);
  if (report->what == SL_QUANTIZE_ALL)
    sl_html_append_row (out, "learned from", "%u pictures", page->calibrated);
  sl_html_append_row (out, "nodes", "%u, of them %u quantised", report->nodes, report->quantized);
  if (report->dynamic > 0)
    sl_html_append_row (out, "rows", "%u layers round each row of their input while the model runs",
                        report->dynamic);
  sl_html_append_row (out, "size", "%.2f MB, was %.2f MB", (double) report->quantized_bytes / 1e6,
                      (double) report->float_bytes / 1e6);
  if (report->measure != NULL && !isnan (report->agreement))
    sl_html_append_row (out, "agreement", "%.3f %s, on %u pictures", report->agreement,
                        report->measure, report->compared);
  if (report->compared > 0) {
    sl_html_append_row (out, "time", "%.2f ms, was %.2f ms, %u thread%s", report->quantized_ms,
                        report->float_ms, page->threads, page->threads != 1 ? "s" : "");
    sl_html_append_row (out, "outputs", "%.1f dB signal to noise", report->output_snr);
  }
  for (guint i = 0; i < MIN (report->n_kept, SL_QUANTIZE_KEPT); i++)
    sl_html_append_row (out, i == 0 ? "kept float" : "", "%s", report->kept[i]);
  g_string_append (out, "</table>\n");
}

static void
append_worst (GString *out, const SlQuantizeReport *report)
{
  if (report->n_worst == 0)
    return;
  g_string_append (
    out, "<h2>Noisiest layers</h2>\n<div class=\"scroll\"><table><tr "
         "class=\"head\"><th>operator</th><th>name</th><th class=\"n\">dB</th><th></th></tr>\n");
  for (guint i = 0; i < report->n_worst; i++) {
    const SlLayerNoise *one = &report->worst[i];
    g_autofree char *noise = g_strdup_printf ("%.1f", one->snr);
    g_string_append (out, "<tr>");
    sl_html_append (out, "td", one->op);
    sl_html_append (out, "td", one->name);
    sl_html_append (out, "td class=\"n\"", noise);
    sl_html_append_bar (out, one->snr / BAR_DB);
    g_string_append (out, "</tr>\n");
  }
  g_string_append (out, "</table></div>\n");
}

static void
append_figure (GString *out, const char *image, const char *model, const char *picture)
{
  g_autofree char *name = g_path_get_basename (picture);
  g_string_append_printf (
    out, "<figure><img alt=\"\" src=\"data:image/jpeg;base64,%s\"><figcaption>%s: ", image, model);
  sl_html_append_text (out, name);
  g_string_append (out, "</figcaption></figure>\n");
}

/* (transfer full): a file with the picture of @source: its own or, of a frame, a new one in
 * @folder. */
static char *
picture_file (const SlSource *source, guint number, const char *folder, GError **error)
{
  if (source->input != NULL && source->input->uri != NULL)
    return g_filename_from_uri (source->input->uri, NULL, error);
  g_autofree char *name = g_strdup_printf ("frame-%u.png", number),
                  *path = g_build_filename (folder, name, NULL);
  g_autoptr (SlDrawer) drawer = sl_drawer_new (path, NULL, error);
  return drawer != NULL && sl_drawer_write (drawer, source->frame, FALSE, error)
           ? g_steal_pointer (&path)
           : NULL;
}

/* What both models see in @source, or why that cannot be shown. */
static void
append_pair (GString *out, const SlPage *page, const SlSource *source, guint number,
             const char *floats, const char *folder)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = picture_file (source, number, folder, &error);
  g_autofree char *one =
    path != NULL ? sl_drawn_new (floats, &page->limits, path, folder, &error) : NULL;
  g_autofree char *two =
    one != NULL ? sl_drawn_new (page->output, &page->limits, path, folder, &error) : NULL;
  if (two != NULL) {
    g_string_append (out, "<div class=\"pair\">\n");
    append_figure (out, one, "float", path);
    append_figure (out, two, "quantised", path);
    g_string_append (out, "</div>\n");
  } else if (error != NULL) {
    g_autofree char *text =
      g_strdup_printf ("%s cannot be shown: %s", path != NULL ? path : "a frame", error->message);
    sl_html_append (out, "p", text);
  }
}

static void
append_pictures (GString *out, const SlPage *page, const char *floats, const char *folder)
{
  const guint n = MIN (page->compared->len, SL_PAGE_PICTURES);
  if (n > 0)
    g_string_append (out, "<h2>Pictures</h2>\n");
  for (guint i = 0; i < n && !sl_interrupted (); i++)
    append_pair (out, page, page->compared->pdata[(guint64) i * page->compared->len / n], i + 1,
                 floats, folder);
}

/* Removes @folder with the files in it, some of which a process that was ended may have left. */
static void
remove_folder (const char *path)
{
  GDir *folder = g_dir_open (path, 0, NULL);
  const char *name;
  while (folder != NULL && (name = g_dir_read_name (folder)) != NULL) {
    g_autofree char *file = g_build_filename (path, name, NULL);
    g_unlink (file);
  }
  g_clear_pointer (&folder, g_dir_close);
  g_rmdir (path);
}

gboolean
sl_page_write (const SlPage *page, const char *path, GError **error)
{
  gsize size;
  g_autofree char *folder = g_dir_make_tmp ("sightline-XXXXXX", error);
  if (folder == NULL)
    return FALSE;
  g_autofree char *floats = g_build_filename (folder, "float.tflite", NULL);
  const char *data = g_bytes_get_data (page->floats, &size);
  g_autoptr (GString) out = sl_html_page_new ("sightline quantize", 70);
  sl_html_append (out, "h1", page->output);
  append_figures (out, page);
  append_worst (out, page->report);
  const gboolean good = g_file_set_contents (floats, data, (gssize) size, error);
  if (good)
    append_pictures (out, page, floats, folder);
  remove_folder (folder);
  sl_html_page_end (out);
  return good && !sl_interrupted () && sl_options_write_text ("--html", path, out, error);
}
