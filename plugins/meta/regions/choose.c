/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Choosing regions by label. Metas may be anyone's: sizes are checked against the frame. */
#include "plugins/meta/regions/choose.h"

#include <string.h>

#include "plugins/meta/frame_meta.h"
#include "plugins/meta/regions/object.h"
#include "plugins/meta/relations/read.h"

/* Whether @label is @wanted, spaces around the latter left out. */
static gboolean
is_class (const char *label, const char *wanted)
{
  while (g_ascii_isspace (*wanted))
    wanted++;
  gsize length = strlen (wanted);
  while (length > 0 && g_ascii_isspace (wanted[length - 1]))
    length--;
  return strlen (label) == length && strncmp (label, wanted, length) == 0;
}

static gboolean
is_wanted (const GstVideoRegionOfInterestMeta *region, const char *const *classes)
{
  const char *label = g_quark_to_string (region->roi_type);
  if (classes == NULL || classes[0] == NULL)
    return TRUE;
  for (guint i = 0; classes[i] != NULL; i++)
    if (label != NULL && is_class (label, classes[i]))
      return TRUE;
  return FALSE;
}

/* What of @region is inside the frame; FALSE when nothing is. */
static gboolean
clip (const GstVideoRegionOfInterestMeta *region, const GstVideoInfo *video, SlRect *part)
{
  const guint width = (guint) GST_VIDEO_INFO_WIDTH (video),
              height = (guint) GST_VIDEO_INFO_HEIGHT (video);
  if (region->x >= width || region->y >= height || region->w == 0 || region->h == 0)
    return FALSE;
  *part = (SlRect){ (int) region->x, (int) region->y, (int) MIN (region->w, width - region->x),
                    (int) MIN (region->h, height - region->y) };
  return TRUE;
}

gboolean
sl_object_region_find (GstBuffer *frame, const GstVideoInfo *video, guint index, SlRect *part)
{
  gpointer state = NULL;
  GstVideoRegionOfInterestMeta *region;
  for (guint i = 0; (region = sl_next_region (frame, &state)) != NULL; i++)
    if (i == index)
      return clip (region, video, part);
  return FALSE;
}

void
sl_object_regions_choose (GstBuffer *frame, const GstVideoInfo *video, const char *const *classes,
                          guint most, GArray *chosen)
{
  gpointer state = NULL;
  GstVideoRegionOfInterestMeta *region;
  g_array_set_size (chosen, 0);
  for (guint i = 0; chosen->len < most && (region = sl_next_region (frame, &state)) != NULL; i++) {
    SlObjectRegion object = { .index = i };
    if (clip (region, video, &object.part)
        && !sl_region_is_label (region, GST_VIDEO_INFO_WIDTH (video), GST_VIDEO_INFO_HEIGHT (video))
        && is_wanted (region, classes))
      g_array_append_val (chosen, object);
  }
}

static gboolean
align (GstVideoRegionOfInterestMeta *region, const GstVideoInfo *video,
       const SlAlignment *alignment, double aspect, SlRegionPoints *points, SlObjectRegion *chosen)
{
  const gint width = GST_VIDEO_INFO_WIDTH (video), height = GST_VIDEO_INFO_HEIGHT (video);
  SlObjectView object = { 0 };
  if (!sl_region_read_object (region, width, height, &object))
    return FALSE;
  g_array_set_size (points->points, 0);
  object.n_points = sl_region_read_points (region, &object, points->points, &points->skeleton);
  object.points = (const SlPoint *) (gpointer) points->points->data;
  chosen->is_flat = alignment->corners;
  if (alignment->corners)
    return sl_alignment_find_corners (alignment, &object, width, height, &chosen->corners);
  return sl_alignment_place (alignment, &object, &points->skeleton.skeleton, width, height, aspect,
                             &chosen->turned);
}

void
sl_object_regions_align (GstBuffer *frame, const GstVideoInfo *video, const SlAlignment *alignment,
                         double aspect, SlRegionPoints *points, GArray *chosen)
{
  gpointer state = NULL;
  GstVideoRegionOfInterestMeta *region;
  guint n = 0, next = 0;
  for (guint i = 0; next < chosen->len && (region = sl_next_region (frame, &state)) != NULL; i++) {
    SlObjectRegion object = g_array_index (chosen, SlObjectRegion, next);
    if (object.index != i)
      continue;
    next++;
    if (align (region, video, alignment, aspect, points, &object))
      g_array_index (chosen, SlObjectRegion, n++) = object;
  }
  g_array_set_size (chosen, n);
}

gboolean
sl_buffer_has_objects (GstBuffer *buffer, gint width, gint height)
{
  gpointer state = NULL;
  GstVideoRegionOfInterestMeta *region;
  while ((region = sl_next_region (buffer, &state)) != NULL)
    if (!sl_region_is_label (region, width, height))
      return TRUE;
  return sl_buffer_has_related (buffer, TRUE) || sl_buffer_was_looked_at (buffer);
}
