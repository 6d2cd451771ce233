/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SlFrameParts: which parts of a frame slnormalize makes tensors of: the objects on it, its tiles,
 * or none, which is the whole frame.
 */
#pragma once

#include "plugins/meta/frame_meta.h"
#include "plugins/meta/predictions.h"
#include "plugins/meta/regions/choose.h"
#include "preprocess/normalize.h"

typedef enum
{
  SL_FRAME_PARTS_NONE,
  SL_FRAME_PARTS_OBJECTS,
  SL_FRAME_PARTS_TILES,
  SL_FRAME_PARTS_MOTION, /* tiles around motion */
  SL_FRAME_PARTS_STILL   /* tiles=motion, and nothing moves: no tensor */
} SlFramePartsKind;

/**
 * SlFrameParts:
 * @objects, @object_class, @object_alignment, @follows, @max_objects, @tiles, @full_interval:
 * slnormalize's properties, under its object lock
 * @followed: of SlFollowed: of the last frame that landmarks came of; under its object lock
 * @chosen: of SlObjectRegion: of the frame at hand; after the tiles the whole part that they divide
 * @following: @follows, of the frame at hand
 * @motion: tiles=motion
 * @unseen: a frame came that no slmotion has seen
 */
typedef struct
{
  gboolean objects;
  char *object_class, *object_alignment;
  gboolean follows;
  gint max_objects;
  char *tiles;
  gdouble full_interval;
  GArray *followed;
  GArray *chosen;
  gboolean following, motion, unseen;
  /*< private >*/
  guint columns, rows; /* of tiles */
  GstClockTime full;   /* with motion: when the whole frame was looked at */
  SlRect turn;         /* with motion: where tiles go on, as sl_tiles_around() has it */
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
/** sl_frame_parts_forget: forgets followed objects, and when a whole frame was looked at. @owner:
 * as above */
void sl_frame_parts_forget (SlFrameParts *parts, gpointer owner);
/** sl_frame_parts_choose: chooses parts of *@frame, of @video, for tensors of @spec. With objects,
 * *@frame has a region for each of them then; a writable copy replaces it where it must. @owner: as
 * above */
SlFramePartsKind sl_frame_parts_choose (SlFrameParts *parts, gpointer owner, GstBuffer **frame,
                                        const GstVideoInfo *video, const SlNormalizeSpec *spec);
/** sl_frame_parts_content: what the tensor of part @i of @chosen holds, which has these parts of
 * @kind. */
SlFrameContent sl_frame_parts_content (const SlFrameParts *parts, SlFramePartsKind kind, guint i);
