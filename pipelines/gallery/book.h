/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * A gallery that cameras of this process share. Frames are answered from memory; a thread writes
 * the file, erases what the rules do not allow, and reads what other programs changed in it. Frames
 * never wait for the disk: what does not fit into the queue of the thread is lost and counted.
 */
#pragma once

#include <glib.h>

#include "pipelines/gallery/use.h"

/** Objects of a frame. */
#define SL_IDENTITY_OBJECTS 256

/** SlIdentityCamera: a camera that uses a gallery. */
typedef struct _SlIdentityCamera SlIdentityCamera;

/**
 * SlIdentityObject: an object of a frame.
 * @track: its id, from 1 on
 * @look: (nullable): its embedding, where the model looked at it
 * @person: (out): 0 = not known yet
 * @confidence: (out): 0..1
 * @cameras: (out) (nullable): which saw the person, with commas between; until the next frame
 * @name: (out) (nullable): that the person was registered with; until the next frame
 */
typedef struct
{
  gint32 track;
  const gfloat *look;
  gint64 person;
  gdouble confidence;
  const char *cameras, *name;
} SlIdentityObject;

/** sl_identity_camera_new: opens the gallery, where no camera of this process has it open. NULL
 * with @error set. */
SlIdentityCamera *sl_identity_camera_new (const SlIdentityUse *use, GError **error);
/** sl_identity_camera_free: the last camera of a gallery waits until all is written. NULL is legal.
 * (transfer full) (nullable): a sentence where something was not. */
char *sl_identity_camera_free (SlIdentityCamera *camera);
/** sl_identity_camera_frame: fills what is known of the @n objects (up to SL_IDENTITY_OBJECTS) of a
 * frame at @now, microseconds since 1970. One thread at a time for each camera. */
void sl_identity_camera_frame (SlIdentityCamera *camera, SlIdentityObject *objects, guint n,
                               gint64 now);
/** sl_identity_camera_wants_picture: whether a picture of @person that is as good as @score at @now
 * takes the place of the one that is known. */
gboolean sl_identity_camera_wants_picture (SlIdentityCamera *camera, gint64 person, gdouble score,
                                           gint64 now);
/** sl_identity_camera_keep_picture: it does. */
void sl_identity_camera_keep_picture (SlIdentityCamera *camera, gint64 person, gdouble score,
                                      gint64 now, GBytes *jpeg);
/** sl_identity_camera_stats: any thread. */
void sl_identity_camera_stats (SlIdentityCamera *camera, SlIdentityStats *stats);
/** sl_identity_camera_trouble: (transfer full) (nullable): once: why something was not written, or
 * not shared. */
char *sl_identity_camera_trouble (SlIdentityCamera *camera);
