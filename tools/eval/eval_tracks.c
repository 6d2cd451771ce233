/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/eval/eval_tracks.h"

#include <stdio.h>

#include "core/base/fail.h"
#include "core/base/json.h"
#include "core/base/printable.h"
#include "tools/eval/track_file.h"
#include "tools/evaluate/tracks.h"
#include "tools/terminal.h"

#define DIGITS 6

static gboolean
measure (GArray *truth, const char *truth_path, const char *path, gdouble least,
         SlTrackFigures *figures, GError **error)
{
  g_autoptr (GArray) found = sl_track_file_read (path, FALSE, least, error);
  if (found == NULL)
    return FALSE;
  if (!sl_track_figures (truth, found, figures))
    return sl_fail (
      error, SL_ERROR_LIMIT,
      "%s: %u objects in the file and %u in %s; expected a product of at most %u: state a higher "
      "--threshold",
      path, figures->tracks, figures->objects, truth_path, SL_TRACK_PAIRS_MOST);
  return TRUE;
}

static void
append_figures (GString *out, const char *path, const SlTrackFigures *figures)
{
  const struct
  {
    const char *key;
    gdouble value;
  } shares[] = { { "hota", figures->hota },     { "det_a", figures->det_a },
                 { "ass_a", figures->ass_a },   { "det_re", figures->det_re },
                 { "det_pr", figures->det_pr }, { "ass_re", figures->ass_re },
                 { "ass_pr", figures->ass_pr }, { "loc_a", figures->loc_a },
                 { "mota", figures->mota },     { "motp", figures->motp },
                 { "idf1", figures->idf1 },     { "id_precision", figures->id_p },
                 { "id_recall", figures->id_r } };
  const struct
  {
    const char *key;
    guint count;
  } counts[] = { { "boxes", figures->found },
                 { "ids", figures->tracks },
                 { "matched", figures->matched },
                 { "switches", figures->switches },
                 { "fragments", figures->fragments },
                 { "mostly_tracked", figures->mostly_tracked },
                 { "mostly_lost", figures->mostly_lost } };
  g_string_append (out, out->str[out->len - 1] == '[' ? "{" : ",{");
  sl_json_append_text (out, "path", path);
  for (guint i = 0; i < G_N_ELEMENTS (shares); i++)
    sl_json_append_number (out, shares[i].key, shares[i].value, DIGITS);
  for (guint i = 0; i < G_N_ELEMENTS (counts); i++)
    sl_json_append_count (out, counts[i].key, counts[i].count);
  g_string_append_c (out, '}');
}

static void
print_json (const char *truth, char **files, const SlTrackFigures *figures, guint n)
{
  g_autoptr (GString) out = g_string_new ("{");
  sl_json_append_text (out, "truth", truth);
  sl_json_append_count (out, "boxes", figures->truths);
  sl_json_append_count (out, "objects", figures->objects);
  sl_json_append_key (out, "tracks");
  g_string_append_c (out, '[');
  for (guint i = 0; i < n; i++)
    append_figures (out, files[i], &figures[i]);
  puts (g_string_append (out, "]}")->str);
}

static void
print_table (const char *truth, char **files, const SlTrackFigures *figures, guint n)
{
  g_autofree char *shown = sl_printable (truth, SL_PRINTABLE_NAME);
  int width = 6;
  printf ("%s: %u boxes, objects: %u\n", shown, figures->truths, figures->objects);
  for (guint i = 0; i < n; i++) {
    g_autofree char *path = sl_printable (files[i], SL_PRINTABLE_NAME);
    width = MAX (width, (int) g_utf8_strlen (path, -1));
  }
  printf ("%s%-*s  %6s  %6s  %6s  %6s  %7s  %8s  %9s%s\n",
          sl_terminal_style (stdout, SL_STYLE_HEADING), width, "tracks", "HOTA", "DetA", "AssA",
          "IDF1", "MOTA", "switches", "fragments", sl_terminal_style (stdout, SL_STYLE_PLAIN));
  for (guint i = 0; i < n; i++) {
    g_autofree char *path = sl_printable (files[i], SL_PRINTABLE_NAME);
    const SlTrackFigures *f = &figures[i];
    printf ("%s%*s  %6.4f  %6.4f  %6.4f  %6.4f  %7.4f  %8u  %9u\n", path,
            width - (int) g_utf8_strlen (path, -1), "", f->hota, f->det_a, f->ass_a, f->idf1,
            f->mota, f->switches, f->fragments);
  }
}

gboolean
sl_eval_tracks (const char *truth, char **files, gdouble least, gboolean json, GError **error)
{
  const guint n = g_strv_length (files);
  g_autofree SlTrackFigures *figures = g_new0 (SlTrackFigures, n);
  g_autoptr (GArray) boxes = sl_track_file_read (truth, TRUE, 0, error);
  for (guint i = 0; i < n && boxes != NULL; i++) {
    g_autoptr (GArray) copy = g_array_copy (boxes);
    if (!measure (copy, truth, files[i], least, &figures[i], error))
      return FALSE;
    if (figures[i].truths == 0)
      return sl_fail (error, SL_ERROR_ARGUMENT,
                      "%s: no box in it counts; expected boxes with ids, the true ones", truth);
  }
  if (boxes == NULL)
    return FALSE;
  if (json)
    print_json (truth, files, figures, n);
  else
    print_table (truth, files, figures, n);
  return TRUE;
}
