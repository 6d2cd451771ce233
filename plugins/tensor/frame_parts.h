/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SlFrameParts: which parts of a frame slnormalize makes tensors of: the objects on it, its tiles,
 * or none, which is the whole frame.
 */
#pragma once

#include "plugins/meta/predictions.h"
#include "plugins/meta/regions/choose.h"

typedef enum
{
  SL_FRAME_PARTS_NONE,
  SL_FRAME_PARTS_OBJECTS,
  SL_FRAME_PARTS_TILES
} SlFramePartsKind;

/**
 * SlFrameParts:
 * @objects, @object_class, @object_alignment, @follows, @max_objects, @tiles: slnormalize's
 * properties, under its object lock
 * @followed: of SlFollowed: of the last frame that landmarks came of; under its object lock
 * @chosen: of SlObjectRegion: of the frame at hand; after the tiles the whole part that they divide
 * @following: @follows, of the frame at hand
 */
typedef struct
{
  gboolean objects;
  char *object_class, *object_alignment;
  gboolean follows;
  gint max_objects;
  char *tiles;
  GArray *followed;
  GArray *chosen;
  gboolean following;
  /*< private >*/
  guint columns, rows; /* of tiles */
  gboolean aligns;     /* objects are looked at as @alignment says */
  SlAlignment alignment;
  SlRegionPoints points;
  char *split; /* (nullable): object_class when @classes were made of it */
  GStrv classes;
  SlPredictionReader reader; /* for objects without a region */
} SlFrameParts;

/** sl_frame_parts_init, sl_frame_parts_clear: all but the properties. */
void sl_frame_parts_init (SlFrameParts *parts);
void sl_frame_parts_clear (SlFrameParts *parts);
/** sl_frame_parts_start: reads object-alignment. FALSE with @error set when it is wrong. @owner:
 * the element, whose object lock is free */
gboolean sl_frame_parts_start (SlFrameParts *parts, gpointer owner, GError **error);
/** sl_frame_parts_divide: reads tiles, under the object lock. FALSE with @error set when it is
 * wrong, or objects are looked at, too. */
gboolean sl_frame_parts_divide (SlFrameParts *parts, GError **error);
/** sl_frame_parts_forget: forgets followed objects. @owner: as above */
void sl_frame_parts_forget (SlFrameParts *parts, gpointer owner);
/** sl_frame_parts_choose: chooses parts of *@frame, of @video, whose part @crop is looked at, for
 * tensors of @aspect. With objects, *@frame has a region for each of them then; a writable copy
 * replaces it where it must. @owner: as above */
SlFramePartsKind sl_frame_parts_choose (SlFrameParts *parts, gpointer owner, GstBuffer **frame,
                                        const GstVideoInfo *video, const SlRect *crop,
                                        double aspect);
