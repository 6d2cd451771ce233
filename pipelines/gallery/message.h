/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What galleries of several machines tell each other, as bytes: who a person is, what was erased or
 * merged, and which machine has which number. No disk, no network. Bytes may come from anybody.
 */
#pragma once

#include "pipelines/gallery/cameras.h"
#include "pipelines/gallery/seal.h"
#include "pipelines/gallery/table.h"

/** Bytes of a message, at most. */
#define SL_IDENTITY_MESSAGE_BYTES 65536

/** SlIdentityWho: whose embeddings these are: @length numbers of @model. */
typedef struct
{
  const char *model;
  guint length;
} SlIdentityWho;

/** SlIdentitySeen: when @camera saw somebody last. */
typedef struct
{
  char camera[SL_IDENTITY_CAMERA_NAME + 1];
  gint64 first, last;
  gdouble confidence, cosine;
} SlIdentitySeen;

/** SlIdentityState: all that is known of a person. @rows: @n_views of length numbers each */
typedef struct
{
  guint n_views, n_seen;
  char cameras[SL_IDENTITY_VIEWS][SL_IDENTITY_CAMERA_NAME + 1];
  gint64 times[SL_IDENTITY_VIEWS];
  gint8 rows[SL_IDENTITY_VIEWS * SL_IDENTITY_LONGEST];
  SlIdentitySeen seen[SL_IDENTITY_CAMERAS];
} SlIdentityState;

/**
 * SlIdentityErasure: @same: 0, or who @person is. Else what @camera ("" = any) saw of @person (0 =
 * anybody) before @before is erased. @made: when that was said
 */
typedef struct
{
  gint64 person, before, same, made;
  char camera[SL_IDENTITY_CAMERA_NAME + 1];
} SlIdentityErasure;

/** SlIdentityHello: a machine. @origin: of its file; @made: when that was shared first */
typedef struct
{
  char origin[33];
  gint64 made;
} SlIdentityHello;

/** sl_identity_state_write and the like: (transfer full): a message for @topic, without the prefix
 * of topics; encrypted with @seal (nullable). NULL with @error set. */
GBytes *sl_identity_state_write (const SlIdentityWho *who, const SlIdentityState *state,
                                 const SlSeal *seal, const char *topic, GError **error);
GBytes *sl_identity_erasure_write (const SlIdentityWho *who, const SlIdentityErasure *erasure,
                                   const SlSeal *seal, const char *topic, GError **error);
GBytes *sl_identity_hello_write (const SlIdentityWho *who, const SlIdentityHello *hello,
                                 const SlSeal *seal, const char *topic, GError **error);
/** sl_identity_state_read and the like: of @n bytes at @data. FALSE with @error set: it is of
 * another version, another key, another model than @who, or is no such message. */
gboolean sl_identity_state_read (const SlIdentityWho *who, const SlSeal *seal, const char *topic,
                                 const void *data, gsize n, SlIdentityState *state, GError **error);
gboolean sl_identity_erasure_read (const SlIdentityWho *who, const SlSeal *seal, const char *topic,
                                   const void *data, gsize n, SlIdentityErasure *erasure,
                                   GError **error);
gboolean sl_identity_hello_read (const SlIdentityWho *who, const SlSeal *seal, const char *topic,
                                 const void *data, gsize n, SlIdentityHello *hello, GError **error);
