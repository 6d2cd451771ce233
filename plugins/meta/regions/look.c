/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plugins/meta/regions/look.h"

#define LOOK "look"
#define NUMBERS "numbers"
#define QUESTION "sightline-looks"
#define HASH "hash"
#define LENGTH "length"

void
sl_region_set_look (GstVideoRegionOfInterestMeta *region, SlBytePool *pool, const gfloat *look,
                    guint length)
{
  g_autoptr (GstBuffer) numbers = sl_byte_pool_take (pool, look, length * sizeof *look);
  gst_video_region_of_interest_meta_add_param (
    region, gst_structure_new (LOOK, NUMBERS, GST_TYPE_BUFFER, numbers, NULL));
}

GstBuffer *
sl_region_take_look (GstVideoRegionOfInterestMeta *region, guint length)
{
  GstStructure *look = gst_video_region_of_interest_meta_get_param (region, LOOK);
  GstBuffer *numbers = NULL;
  if (look == NULL)
    return NULL;
  if (!gst_structure_get (look, NUMBERS, GST_TYPE_BUFFER, &numbers, NULL)
      || gst_buffer_get_size (numbers) != length * sizeof (gfloat))
    gst_clear_buffer (&numbers);
  region->params = g_list_remove (region->params, look);
  gst_structure_free (look);
  return numbers;
}

GstQuery *
sl_looks_query (void)
{
  return gst_query_new_custom (GST_QUERY_CUSTOM, gst_structure_new_empty (QUESTION));
}

gboolean
sl_looks_is_asked (GstQuery *query)
{
  return GST_QUERY_TYPE (query) == GST_QUERY_CUSTOM
         && gst_structure_has_name (gst_query_get_structure (query), QUESTION);
}

void
sl_looks_answer (GstQuery *query, const char *hash, guint length)
{
  gst_structure_set (gst_query_writable_structure (query), HASH, G_TYPE_STRING, hash, LENGTH,
                     G_TYPE_UINT, length, NULL);
}

const char *
sl_looks_read (GstQuery *query, guint *length)
{
  const GstStructure *structure = gst_query_get_structure (query);
  return gst_structure_get_uint (structure, LENGTH, length) && *length > 0
           ? gst_structure_get_string (structure, HASH)
           : NULL;
}
