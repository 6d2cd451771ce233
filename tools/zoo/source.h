/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where the file of a row is: the address of its source, by the settings of npm and of the
 * environment.
 *
 *   SIGHTLINE_ZOO_MIRROR   an address or a folder in place of all servers: packages are below it as
 *                          a registry has them, NAME/-/NAME-VERSION.tgz, and other files as
 *                          HOST/PATH
 *   npm_config_registry, npm_config_cafile, and the lines registry=, @SCOPE:registry= and cafile=
 *   of ~/.npmrc
 */
#pragma once

#include "models/zoo/row.h"

/**
 * SlZooSource:
 * @place: the file's address, or its path on this machine; it has no password
 * @is_local: it is a path
 * @path: (nullable): the file's path in the archive that lies there; NULL = it is no archive
 */
typedef struct
{
  char *place, *path;
  gboolean is_local;
} SlZooSource;

/** sl_zoo_source_new: SL_ERROR_ARGUMENT for settings that are no address. */
SlZooSource *sl_zoo_source_new (const SlZooRow *row, GError **error);
void sl_zoo_source_free (SlZooSource *source);
/** sl_zoo_npm_setting: (transfer full) (nullable): @key as npm_config_@key or ~/.npmrc state it. */
char *sl_zoo_npm_setting (const char *key);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlZooSource, sl_zoo_source_free)
