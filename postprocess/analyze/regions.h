/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Reads and checks the descriptions of zones, lines and masks. docs/analytics.md has the grammar:
 * groups [zone NAME], [line NAME] and [mask NAME] with keys. Each entry is on its own line, or
 * entries are separated by ";".
 */
#pragma once

#include "postprocess/predictions/analysis.h"
#include "postprocess/predictions/class_filter.h"

/** Most zones, lines and masks together. */
#define SL_REGIONS_MOST 64
#define SL_REGION_MAX_POINTS 32
/** Longest name of a region, in bytes. */
#define SL_REGION_NAME_MAX 64

/** The anchor: the point of an object's box that counts as its position. */
typedef enum
{
  SL_ANCHOR_BOTTOM,
  SL_ANCHOR_CENTRE,
  SL_ANCHOR_TOP,
  SL_ANCHOR_LEFT,
  SL_ANCHOR_RIGHT,
  SL_ANCHOR_DEFAULT /* the anchor of the analyzer */
} SlAnchor;
/** Names of the anchors, without SL_ANCHOR_DEFAULT. */
extern const char *const sl_anchor_names[SL_ANCHOR_DEFAULT];
/** sl_anchor_name: (nullable): NULL for SL_ANCHOR_DEFAULT. */
const char *sl_anchor_name (SlAnchor anchor);
/** sl_anchor_parse: FALSE when @name is none. */
gboolean sl_anchor_parse (const char *name, SlAnchor *anchor);

/**
 * SlRegion:
 * @name: interned
 * @classes: (nullable): the classes of the objects that count, or that a mask hides
 * @classes_text: (nullable): as it was stated
 * @dwell_after, @left_behind_after, @empty_after: only zones: milliseconds after which these events
 * come; 0 = never
 */
typedef struct
{
  SlRegionKind kind;
  const char *name;
  guint n_points;
  SlRegionPoint points[SL_REGION_MAX_POINTS];
  SlClassFilter *classes;
  char *classes_text;
  SlAnchor anchor;
  guint dwell_after, left_behind_after, empty_after;
} SlRegion;

typedef struct
{
  GArray *list;  /* of SlRegion: zones and lines */
  GArray *masks; /* of SlRegion */
} SlRegions;

SlRegions *sl_regions_new (void);
/** sl_regions_free: NULL is legal. */
void sl_regions_free (SlRegions *regions);
/** sl_regions_is_group: whether @group, the text between the brackets, is the group of a zone, a
 * line or a mask. */
gboolean sl_regions_is_group (const char *group);
/** sl_region_is_of: whether @group is the group of @region. */
gboolean sl_region_is_of (const SlRegion *region, const char *group);
/** sl_regions_open: adds the region of @group with default values, unless it exists already. FALSE
 * with @error set (SL_ERROR_ARGUMENT); the message names the group. */
gboolean sl_regions_open (SlRegions *regions, const char *group, GError **error);
/** sl_regions_set: sets one key of @group; a later value of the same key wins. FALSE with @error
 * set (SL_ERROR_ARGUMENT); the message does not have group and key. */
gboolean sl_regions_set (SlRegions *regions, const char *group, const char *key, const char *value,
                         GError **error);
/** sl_regions_find_fault: (transfer none) (nullable): checks all regions once all keys are set.
 * Returns the first invalid region with @error set (SL_ERROR_ARGUMENT); the message names it. */
const SlRegion *sl_regions_find_fault (const SlRegions *regions, GError **error);
/** sl_regions_parse: (transfer full): reads and checks the whole @text; NULL with @error set. */
SlRegions *sl_regions_parse (const char *text, GError **error);
/** sl_regions_parse_zones: the same for a property that takes zones with points alone. *@zones is
 * NULL where @text (nullable) is empty. @property begins the message. */
gboolean sl_regions_parse_zones (const char *text, const char *property, SlRegions **zones,
                                 GError **error);
/** sl_region_append_points: appends the points, "x,y x,y", with at most four decimals. */
void sl_region_append_points (GString *text, const SlRegionPoint *points, guint n);
/** sl_region_append: appends a group of @region's name and points, as @kind. */
void sl_region_append (GString *text, SlRegionKind kind, const SlRegion *region);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlRegions, sl_regions_free)
