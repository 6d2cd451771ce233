/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Choosing a format. Devices list many sizes in many formats, some as ranges; each structure is
 * narrowed to the size and rate nearest to the wish from above, format by format, and the cheapest
 * candidate wins. Costs are bytes-like weights: a raw pixel is read once, a converted one written
 * and read again, a JPEG pixel decoded.
 */
#include "plugins/camera/format.h"

#include <gst/video/video.h>

#include "plugins/tensor/caps.h"

#define RAW_COST 1.0
#define CONVERTED_COST 2.5
#define JPEG_COST 6.0
#define MAX_DEPTH 32

typedef struct
{
  gint missing_pixels;
  gdouble missing_rate, cost;
} Score;

static gboolean
better (const Score *a, const Score *b)
{
  if (a->missing_pixels != b->missing_pixels)
    return a->missing_pixels < b->missing_pixels;
  if (a->missing_rate != b->missing_rate)
    return a->missing_rate < b->missing_rate;
  return a->cost < b->cost;
}

static gdouble
weight (const GstStructure *fixed, const GstCaps *downstream)
{
  if (gst_structure_has_name (fixed, "image/jpeg"))
    return JPEG_COST;
  GstCaps *caps = gst_caps_new_full (gst_structure_copy (fixed), NULL);
  const gboolean taken = gst_caps_can_intersect (caps, downstream);
  gst_caps_unref (caps);
  return taken ? RAW_COST : CONVERTED_COST;
}

static Score
score (const GstStructure *fixed, const GstCaps *downstream, const SlCameraWish *wish)
{
  gint width = 0, height = 0, n = 0, d = 1;
  gst_structure_get_int (fixed, "width", &width);
  gst_structure_get_int (fixed, "height", &height);
  gst_structure_get_fraction (fixed, "framerate", &n, &d);
  const gdouble rate = d > 0 ? (gdouble) n / d : 0;
  /* 29.97 is 30. */
  const gdouble missing = wish->framerate - rate;
  return (Score){ .missing_pixels = MAX (wish->width - width, 0) + MAX (wish->height - height, 0),
                  .missing_rate = missing > 0.02 * wish->framerate ? missing : 0,
                  .cost = weight (fixed, downstream) * width * height * MAX (rate, 1) };
}

/* The smallest value that is not below @wanted, else the largest. */
static gint
nearest_int (const GValue *value, gint wanted)
{
  if (G_VALUE_HOLDS_INT (value))
    return g_value_get_int (value);
  if (GST_VALUE_HOLDS_INT_RANGE (value)) {
    const gint low = gst_value_get_int_range_min (value),
               high = gst_value_get_int_range_max (value);
    const gint step = MAX (gst_value_get_int_range_step (value), 1);
    if (wanted <= low)
      return low;
    return wanted >= high ? high : low + (wanted - low + step - 1) / step * step;
  }
  gint best = 0;
  for (guint i = 0; GST_VALUE_HOLDS_LIST (value) && i < gst_value_list_get_size (value); i++) {
    const gint each = nearest_int (gst_value_list_get_value (value, i), wanted);
    if (best == 0 || (best < wanted ? each > best : each >= wanted && each < best))
      best = each;
  }
  return best;
}

static void
fix_size (GstStructure *structure, const char *field, gint wanted)
{
  const GValue *value = gst_structure_get_value (structure, field);
  if (value != NULL)
    gst_structure_set (structure, field, G_TYPE_INT, nearest_int (value, wanted), NULL);
}

static void
consider_rates (const GstStructure *sized, const GstCaps *downstream, const SlCameraWish *wish,
                Score *best, GstStructure **chosen)
{
  const GValue *rates = gst_structure_get_value (sized, "framerate");
  const guint n =
    rates != NULL && GST_VALUE_HOLDS_LIST (rates) ? gst_value_list_get_size (rates) : 1;
  for (guint i = 0; i < n; i++) {
    GstStructure *fixed = gst_structure_copy (sized);
    if (rates != NULL && GST_VALUE_HOLDS_LIST (rates))
      gst_structure_set_value (fixed, "framerate", gst_value_list_get_value (rates, i));
    gint rate_n, rate_d;
    gst_util_double_to_fraction (wish->framerate, &rate_n, &rate_d);
    gst_structure_fixate_field_nearest_fraction (fixed, "framerate", rate_n, rate_d);
    gst_structure_fixate (fixed);
    const Score its = score (fixed, downstream, wish);
    if (*chosen == NULL || better (&its, best)) {
      g_clear_pointer (chosen, gst_structure_free);
      *chosen = g_steal_pointer (&fixed);
      *best = its;
    }
    g_clear_pointer (&fixed, gst_structure_free);
  }
}

static void
consider (const GstStructure *offered, const GstCaps *downstream, const SlCameraWish *wish,
          Score *best, GstStructure **chosen)
{
  const GValue *formats = gst_structure_get_value (offered, "format");
  const guint n =
    formats != NULL && GST_VALUE_HOLDS_LIST (formats) ? gst_value_list_get_size (formats) : 1;
  for (guint i = 0; i < n; i++) {
    GstStructure *sized = gst_structure_copy (offered);
    if (formats != NULL && GST_VALUE_HOLDS_LIST (formats))
      gst_structure_set_value (sized, "format", gst_value_list_get_value (formats, i));
    fix_size (sized, "width", wish->width);
    fix_size (sized, "height", wish->height);
    consider_rates (sized, downstream, wish, best, chosen);
    gst_structure_free (sized);
  }
}

/* @device as far as it has sizes and rates that @downstream takes; all of it if that leaves
 * nothing. */
static GstCaps *
restrict_sizes (const GstCaps *device, const GstCaps *downstream)
{
  static const char *const kept[] = { "width", "height", "framerate", NULL };
  GstCaps *limits = gst_caps_new_empty ();
  for (guint i = 0; i < gst_caps_get_size (downstream); i++) {
    const GstStructure *wanted = gst_caps_get_structure (downstream, i);
    GstStructure *raw = gst_structure_new_empty ("video/x-raw");
    for (guint k = 0; kept[k] != NULL; k++)
      if (gst_structure_has_field (wanted, kept[k]))
        gst_structure_set_value (raw, kept[k], gst_structure_get_value (wanted, kept[k]));
    GstStructure *jpeg = gst_structure_copy (raw);
    gst_structure_set_name (jpeg, "image/jpeg");
    gst_caps_append_structure (limits, raw);
    gst_caps_append_structure (limits, jpeg);
  }
  GstCaps *limited = gst_caps_intersect_full ((GstCaps *) device, limits, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref (limits);
  if (!gst_caps_is_empty (limited))
    return limited;
  gst_caps_unref (limited);
  return gst_caps_copy (device);
}

GstCaps *
sl_camera_choose_caps (const GstCaps *device, const GstCaps *downstream, const SlCameraWish *wish)
{
  g_autoptr (GstCaps) limited = restrict_sizes (device, downstream);
  Score best = { 0 };
  GstStructure *chosen = NULL;
  for (guint i = 0; i < gst_caps_get_size (limited); i++) {
    const GstStructure *offered = gst_caps_get_structure (limited, i);
    const char *format = gst_structure_get_string (offered, "format");
    const gboolean raw =
      gst_structure_has_name (offered, "video/x-raw")
      && (format == NULL || gst_video_format_from_string (format) != GST_VIDEO_FORMAT_UNKNOWN);
    if (raw || gst_structure_has_name (offered, "image/jpeg"))
      consider (offered, downstream, wish, &best, &chosen);
  }
  return chosen != NULL ? gst_caps_new_full (chosen, NULL) : NULL;
}

static gboolean
size_of_tensors (GstPad *pad, gint *width, gint *height)
{
  g_autoptr (GstCaps) caps = gst_pad_peer_query_caps (pad, NULL);
  for (guint i = 0; i < gst_caps_get_size (caps) && !gst_caps_is_any (caps); i++) {
    g_autoptr (GstCaps) one = gst_caps_copy_nth (caps, i);
    const SlContract *contract = sl_tensor_caps_contract (one);
    if (contract != NULL && contract->image.valid) {
      *width = MAX (*width, contract->image.width);
      *height = MAX (*height, contract->image.height);
      return TRUE;
    }
  }
  return FALSE;
}

/* From a source pad to the source pads behind its peer, until tensors come out of one. */
static void
walk (GstPad *src, gint *width, gint *height, guint depth)
{
  g_autoptr (GstPad) peer = gst_pad_get_peer (src);
  GstIterator *links =
    peer != NULL && depth < MAX_DEPTH ? gst_pad_iterate_internal_links (peer) : NULL;
  GValue item = G_VALUE_INIT;
  while (links != NULL && gst_iterator_next (links, &item) == GST_ITERATOR_OK) {
    GstPad *next = g_value_get_object (&item);
    if (!size_of_tensors (next, width, height))
      walk (next, width, height, depth + 1);
    g_value_reset (&item);
  }
  if (G_IS_VALUE (&item))
    g_value_unset (&item);
  g_clear_pointer (&links, gst_iterator_free);
}

gboolean
sl_camera_model_size (GstPad *src, gint *width, gint *height)
{
  *width = *height = 0;
  walk (src, width, height, 0);
  return *width > 0 && *height > 0;
}
