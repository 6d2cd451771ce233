/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a model learns from or is compared on: pictures of a folder, or frames of a video or camera.
 */
#pragma once

#include "tools/quantize/pictures.h"

/** SlSource: a picture: @input to be read or, where that is NULL, @frame. */
typedef struct
{
  const SlInput *input;
  GstSample *frame;
} SlSource;

/** SlSources: @all: (element-type SlSource): of @inputs or of @frames. */
typedef struct
{
  GPtrArray *inputs, *frames, *all;
} SlSources;

/** sl_sources_new: (transfer full): the pictures of the folder @argument, or @most frames of what
 * else it names. NULL with @error set, and without when the program was interrupted. */
SlSources *sl_sources_new (SlSpawner *spawner, const char *argument, guint most, GError **error);
void sl_sources_free (SlSources *sources);
/** sl_source_load: see sl_pictures_load(). */
const void *sl_source_load (const SlSource *source, SlPictures *pictures);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlSources, sl_sources_free)
