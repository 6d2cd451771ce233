/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Names of the files of a clip: SOURCE-2026-11-23T19-56-34.123Z-entered.mkv, with the same name a
 * .jpg and a .json; while they are written,
 * ".", that name and ".part". What is deleted has such a name, of the same source. An empty file
 * with the same name and .keep marks a clip that retention does not delete, and one with .reviewed
 * says who has looked at the clip, and when.
 */
#pragma once

#include <glib.h>

/** SlClipFile: the files of a clip, in the order in which they get their names. */
typedef enum
{
  SL_CLIP_PICTURE,
  SL_CLIP_NOTES,
  SL_CLIP_VIDEO,
  SL_CLIP_KEEP,    /* marks, which no recorder writes */
  SL_CLIP_REVIEWED /* JSON: "user" and "time" */
} SlClipFile;

/** Files that a recorder writes; and names that a clip's files have. */
#define SL_CLIP_FILES 3
#define SL_CLIP_NAMES 5

/** sl_clip_source: (transfer full): @text as it stands in names: letters, digits, "." and "_" of
 * ASCII, all else "_", at most 64 bytes, no "." at the beginning; behind a text that this changes,
 * "_" and six digits that tell it from others; "clip" of nothing. */
char *sl_clip_source (const char *text);
/** sl_clip_stem: (transfer full): a name without its ending. @source: of sl_clip_source(); @us:
 * microseconds since 1970, UTC; @event: a word of lower case letters and "-" */
char *sl_clip_stem (const char *source, gint64 us, const char *event);
/** sl_clip_name: (transfer full): of a whole file. */
char *sl_clip_name (const char *stem, SlClipFile file);
/** sl_clip_part_name: (transfer full): of a file that is being written. */
char *sl_clip_part_name (const char *stem, SlClipFile file);
/** sl_clip_time: (transfer full): 2026-11-23T19:56:34.123Z. */
char *sl_clip_time (gint64 us);

/** sl_clip_name_source: (transfer full) (nullable): the source in @name, if @name begins as such a
 * name does: with what sl_clip_source() gives, which has no "-", and a "-". */
char *sl_clip_name_source (const char *name);
/**
 * sl_clip_name_read: whether @name is exactly such a name of @source.
 * @part: (out): whether it is that of a file that is being written
 * @stem: (out) (transfer full): the name without ending
 * @us: (out): the time in it
 */
gboolean sl_clip_name_read (const char *name, const char *source, gboolean *part, char **stem,
                            SlClipFile *file, gint64 *us);
