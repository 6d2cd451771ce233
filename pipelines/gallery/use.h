/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How a camera uses a gallery, and what is counted meanwhile. */
#pragma once

#include "pipelines/gallery/rules.h"

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
/** sl_identity_use_check: whether camera, paths, share and machine of @use are possible; none need
 * be set. FALSE with @error set. */
gboolean sl_identity_use_check (const SlIdentityUse *use, GError **error);
