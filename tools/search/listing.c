/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/search/listing.h"

#include <stdio.h>

#include "core/base/json.h"
#include "core/base/printable.h"
#include "core/base/utc.h"
#include "tools/html_page.h"
#include "tools/run/events/colors.h"
#include "tools/run/events/folder.h"
#include "tools/search/index.h"

#define PAGE_WIDTH 80

/* Seconds from the beginning of the clip. */
static gdouble
find_offset (const SlVectorHit *hit)
{
  g_auto (SlNotes) notes;
  sl_search_read_notes (hit->row->store->folder, hit->row->stem, &notes);
  return CLAMP (notes.at, 0, 1e9);
}

/* (transfer full) */
static char *
make_path (const SlVectorHit *hit, SlClipFile file)
{
  g_autofree char *name = sl_clip_name (hit->row->stem, file);
  return g_build_filename (hit->row->store->folder, name, NULL);
}

static const char *
class_of (const SlVectorHit *hit)
{
  return hit->label != NULL ? hit->label : hit->row->label != NULL ? hit->row->label : "-";
}

static void
print_json (const SlVectorHit *hit)
{
  const SlEventRow *row = hit->row;
  g_autoptr (GString) line = g_string_new ("{");
  g_autofree char *clip = make_path (hit, SL_CLIP_VIDEO),
                  *picture = make_path (hit, SL_CLIP_PICTURE);
  sl_json_append_number (line, "score", (gdouble) hit->score, 6);
  sl_json_append_key (line, "time");
  g_string_append_c (line, '"');
  sl_utc_append (line, row->us);
  g_string_append_c (line, '"');
  sl_json_append_text (line, "camera", row->pipeline);
  sl_json_append_text (line, "class", hit->label);
  sl_json_append_text (line, "event", row->event);
  sl_json_append_text (line, "region", row->region);
  sl_json_append_text (line, "id", row->stem);
  sl_json_append_text (line, "clip", clip);
  sl_json_append_number (line, "at", find_offset (hit), 6);
  sl_json_append_text (line, "picture", picture);
  printf ("%s}\n", line->str);
}

static void
print_row (const SlVectorHit *hit, int camera, int class)
{
  g_autoptr (GString) time = g_string_new (NULL);
  g_autofree char *clip = make_path (hit, SL_CLIP_VIDEO),
                  *path = sl_printable (clip, SL_PRINTABLE_MESSAGE),
                  *name = sl_printable (hit->row->pipeline, SL_PRINTABLE_LABEL),
                  *label = sl_printable (class_of (hit), SL_PRINTABLE_LABEL);
  sl_utc_append (time, hit->row->us);
  printf ("%6.3f  %s  %-*s  %-*s  %s at %.1f s\n", (double) hit->score, time->str, camera, name,
          class, label, path, find_offset (hit));
}

void
sl_search_print (const GPtrArray *hits, gboolean json)
{
  glong camera = 6, class = 5;
  for (guint i = 0; i < hits->len; i++) {
    const SlVectorHit *hit = hits->pdata[i];
    camera = MAX (camera, g_utf8_strlen (hit->row->pipeline, -1));
    class = MAX (class, g_utf8_strlen (class_of (hit), -1));
  }
  camera = MIN (camera, SL_PRINTABLE_LABEL);
  class = MIN (class, SL_PRINTABLE_LABEL);
  if (!json && hits->len > 0)
    printf ("%6s  %-24s  %-*s  %-*s  %s\n", "score", "time", (int) camera, "camera", (int) class,
            "class", "clip");
  for (guint i = 0; i < hits->len; i++)
    if (json)
      print_json (hits->pdata[i]);
    else
      print_row (hits->pdata[i], (int) camera, (int) class);
}

static void
append_figure (GString *page, const SlVectorHit *hit)
{
  g_autoptr (GBytes) picture = sl_clip_file_read (hit->row->store->folder, hit->row->stem,
                                                  SL_CLIP_PICTURE, SL_PICTURE_BYTES, NULL);
  g_autoptr (GBytes) small = picture != NULL ? sl_thumbnail (picture, NULL) : NULL;
  g_autofree char *clip = make_path (hit, SL_CLIP_VIDEO);
  g_autoptr (GString) what = g_string_new (NULL);
  g_string_append_printf (what, "%.3f  ", (double) hit->score);
  sl_utc_append (what, hit->row->us);
  g_string_append_printf (what, "  %s  %s", hit->row->pipeline, class_of (hit));
  g_string_append (page, "<figure>");
  if (small != NULL) {
    gsize size;
    const guchar *bytes = g_bytes_get_data (small, &size);
    g_autofree char *text = g_base64_encode (bytes, size);
    g_string_append_printf (page, "<img alt=\"\" src=\"data:image/jpeg;base64,%s\">", text);
  }
  g_string_append (page, "<figcaption>");
  sl_html_append (page, "p", what->str);
  sl_html_append (page, "p", clip);
  g_string_append (page, "</figcaption></figure>\n");
}

GString *
sl_search_page (const GPtrArray *hits, const char *title)
{
  GString *page = sl_html_page_new (title, PAGE_WIDTH);
  sl_html_append (page, "h1", title);
  for (guint i = 0; i < hits->len; i++)
    append_figure (page, hits->pdata[i]);
  sl_html_page_end (page);
  return page;
}
