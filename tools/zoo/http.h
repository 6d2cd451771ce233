/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Downloads one file into a part file, and continues what an earlier attempt left. Certificates are
 * verified. Proxies are those of https_proxy, http_proxy and no_proxy, else the system's. A build
 * without libsoup has http_none.c.
 */
#pragma once

#include <glib.h>

/**
 * SlZooDownload:
 * @uri: http:// or https://
 * @part: the file that gets the bytes; what is in it is what an earlier attempt got
 * @most: bytes that the file may have
 * @name: of the model, shown with the progress
 */
typedef struct
{
  const char *uri, *part, *name;
  guint64 most;
} SlZooDownload;

/** sl_zoo_download: all of the file. FALSE with a sentence; what was downloaded stays in the part
 * file. Blocks. */
gboolean sl_zoo_download (const SlZooDownload *download, GError **error);
