/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * A gallery that cameras of this process share. Frames are answered from memory; a thread writes
 * the file, erases what the rules do not allow, and reads what other programs changed in it. Frames
 * never wait for the disk: what does not fit into the queue of the thread is lost and counted.
 */
#pragma once

#include <glib.h>

#include "pipelines/gallery/rules.h"

/** Objects of a frame. */
#define SL_IDENTITY_OBJECTS 256

/** SlIdentityCamera: a camera that uses a gallery. */
typedef struct _SlIdentityCamera SlIdentityCamera;

/**
 * SlIdentityUse: how a camera uses a gallery.
 * @path: of the file
 * @key_file: (nullable): of its key; NULL = it is not encrypted
 * @camera: its name
 * @paths: (nullable): how people go from camera to camera, such as "gate>hall:5-60s"
 * @model: SHA-256 of the model, @length numbers an embedding
 * @share: (nullable): location of a broker and prefix of topics, through which other machines have
 * the gallery, too; @machine: this one's number there, 1..999; @ca_file: (nullable): whose
 * certificates the broker may have
 * @rules: of all cameras that use the file, the strictest count
 */
typedef struct
{
  const char *path, *key_file, *camera, *model, *paths, *share, *ca_file;
  guint length, machine;
  SlIdentityRules rules;
} SlIdentityUse;

/**
 * SlIdentityObject: an object of a frame.
 * @track: its id, from 1 on
 * @look: (nullable): its embedding, where the model looked at it
 * @person: (out): 0 = not known yet
 * @confidence: (out): 0..1
 * @cameras: (out) (nullable): which saw the person, with commas between; until the next frame
 */
typedef struct
{
  gint32 track;
  const gfloat *look;
  gint64 person;
  gdouble confidence;
  const char *cameras;
} SlIdentityObject;

/**
 * SlIdentityStats: of the gallery: @people and @views in memory; @written changes; @lost changes
 * that had no place in the queue, or could not be written at the end; @failed attempts to write;
 * messages that were @sent to and @received from other machines, and those that were @refused
 */
typedef struct
{
  guint64 people, views, written, lost, failed, sent, received, refused;
} SlIdentityStats;

/** sl_identity_share_check: whether share and machine of @use are possible. */
gboolean sl_identity_share_check (const SlIdentityUse *use, GError **error);
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
/** sl_identity_camera_stats: any thread. */
void sl_identity_camera_stats (SlIdentityCamera *camera, SlIdentityStats *stats);
/** sl_identity_camera_trouble: (transfer full) (nullable): once: why something was not written, or
 * not shared. */
char *sl_identity_camera_trouble (SlIdentityCamera *camera);
