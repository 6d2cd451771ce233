/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * The zones, lines and masks of a description file, changed as a person would change them:
 * comments, order, blank lines, includes and line ends stay, and a group is changed in the file in
 * which it stands. It does not use GStreamer. Main thread, or one thread at a time.
 */
#pragma once

#include "pipelines/description/description.h"

/**
 * SlEditRegion: a region as texts and numbers
 * @was: (nullable): its name before, where it was renamed
 * @classes: (nullable): as after "classes="
 * @anchor: SL_ANCHOR_DEFAULT = none is stated
 */
typedef struct
{
  SlRegionKind kind;
  char *name, *was, *classes;
  guint n_points;
  SlRegionPoint points[SL_REGION_MAX_POINTS];
  SlAnchor anchor;
  guint dwell_after, left_behind_after, empty_after; /* milliseconds; 0 = not stated */
} SlEditRegion;

/** sl_edit_regions_new: (transfer full): of SlEditRegion */
GPtrArray *sl_edit_regions_new (void);
/** sl_edit_regions_of: (transfer full): of SlEditRegion */
GPtrArray *sl_edit_regions_of (const SlRegions *regions);
/** sl_edit_regions_to_text: (transfer full): as slanalyze takes it. NULL with @error set
 * (SL_ERROR_ARGUMENT) for a name or classes that no text can state; the rest is not checked. */
char *sl_edit_regions_to_text (const GPtrArray *regions, GError **error);

typedef struct _SlEdit SlEdit;

typedef enum
{
  SL_EDIT_SAVED,
  SL_EDIT_CONFLICT, /* a file has changed since it was opened */
  SL_EDIT_FAILED
} SlEditResult;

/** sl_edit_open: reads the description at @path, with @parameters as sl_description_load() takes
 * them. NULL with @error set as there. */
SlEdit *sl_edit_open (const char *path, GHashTable *parameters, GError **error);
void sl_edit_free (SlEdit *edit);
/** sl_edit_revision: (transfer none): a hash over all files of the description, with their names.
 */
const char *sl_edit_revision (const SlEdit *edit);
/** sl_edit_regions: (transfer none): of SlEditRegion, as the files state them */
const GPtrArray *sl_edit_regions (const SlEdit *edit);
/** sl_edit_description: (transfer none): of the files, since sl_edit_set_regions() as they would
 * be. */
const SlDescription *sl_edit_description (const SlEdit *edit);
/** sl_edit_share: @name is another pipeline that has @files (of char *), which are not changed
 * then.
 */
void sl_edit_share (SlEdit *edit, const GPtrArray *files, const char *name);
/** sl_edit_check_writable: whether the description's own file can be changed. FALSE with
 * SL_ERROR_OPEN; the message says what to do. */
gboolean sl_edit_check_writable (const SlEdit *edit, GError **error);
/** sl_edit_set_regions: changes texts in memory, so that the description has @regions (of
 * SlEditRegion) and no others. FALSE with @error set: SL_ERROR_ARGUMENT for a wrong region,
 * SL_ERROR_OPEN for a file that may not be changed. Once. */
gboolean sl_edit_set_regions (SlEdit *edit, const GPtrArray *regions, GError **error);
/** sl_edit_save: writes the files that changed, each whole or not at all, with a copy of it before.
 * @error is set for all but SL_EDIT_SAVED. */
SlEditResult sl_edit_save (SlEdit *edit, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlEdit, sl_edit_free)
