/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A row's model into the cache (models/zoo/cache.h): downloaded, compared, and put there as a
 * whole. */
#pragma once

#include "models/zoo/row.h"

/**
 * sl_zoo_fetch:
 * @sha256: (nullable): of the model, where the row states none
 * @keep: the download stays for the next row, of the same package
 * @moved: (out): whether something was fetched; FALSE = it was here
 *
 * Blocks; another process that fetches the same is waited for. Returns: (transfer full): the path
 * of the model; NULL with a sentence
 */
char *sl_zoo_fetch (const SlZooRow *row, const char *sha256, gboolean keep, gboolean *moved,
                    GError **error);
