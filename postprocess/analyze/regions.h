/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Zones and lines as people describe them, read and checked. The grammar is docs/analytics.md's: groups [zone NAME] and [line NAME] with
 * keys, an entry a line, or with ";" between.
 */
#ifndef SL_ANALYZE_REGIONS_H
#define SL_ANALYZE_REGIONS_H

#include "postprocess/predictions/analysis.h"
#include "postprocess/predictions/class_filter.h"

G_BEGIN_DECLS

#define SL_REGIONS_MOST 64
#define SL_REGION_MAX_POINTS 32
/** Longest name of a region, in bytes. */
#define SL_REGION_NAME_MAX 64

/** Which point of an object's box is where the object is. */
typedef enum
{
  SL_ANCHOR_BOTTOM,
  SL_ANCHOR_CENTRE,
  SL_ANCHOR_TOP,
  SL_ANCHOR_LEFT,
  SL_ANCHOR_RIGHT,
  SL_ANCHOR_DEFAULT /* that of the analyzer */
} SlAnchor;
/** Their names, SL_ANCHOR_DEFAULT's left out. */
extern const char *const sl_anchor_names[SL_ANCHOR_DEFAULT];

/**
 * SlRegion:
 * @name: interned
 * @classes: (nullable): which objects count
 * @dwell_after, @left_behind_after, @empty_after: of zones, milliseconds after which these events come; 0 = never
 */
typedef struct
{
  SlRegionKind kind;
  const char *name;
  guint n_points;
  SlRegionPoint points[SL_REGION_MAX_POINTS];
  SlClassFilter *classes;
  SlAnchor anchor;
  guint dwell_after, left_behind_after, empty_after;
} SlRegion;

typedef struct
{
  GArray *list; /* of SlRegion */
} SlRegions;

SlRegions *sl_regions_new (void);
/** sl_regions_free: NULL is legal. */
void sl_regions_free (SlRegions *regions);
/** sl_regions_is_group: whether @group, what stands between brackets, is a zone's or a line's. */
gboolean sl_regions_is_group (const char *group);
/** sl_region_is_of: whether @group is that of @region. */
gboolean sl_region_is_of (const SlRegion *region, const char *group);
/** sl_regions_open: @group is there, with keys or without. FALSE with @error set (SL_ERROR_ARGUMENT), which names it. */
gboolean sl_regions_open (SlRegions *regions, const char *group, GError **error);
/** sl_regions_set: takes one key of @group; a later value of the same key wins. FALSE with @error set (SL_ERROR_ARGUMENT), without group
 *  and key in its message. */
gboolean sl_regions_set (SlRegions *regions, const char *group, const char *key, const char *value, GError **error);
/** sl_regions_find_fault: (transfer none) (nullable): what can be said only when all keys are there: the first region that is wrong, with
 *  @error set (SL_ERROR_ARGUMENT), which names it. */
const SlRegion *sl_regions_find_fault (const SlRegions *regions, GError **error);
/** sl_regions_parse: (transfer full): @text whole, checked; NULL with @error set. */
SlRegions *sl_regions_parse (const char *text, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlRegions, sl_regions_free)

G_END_DECLS

#endif
