/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * `sightline serve --http`: how the worker is, for browsers and for programs that watch machines,
 * and the door for pictures (http_posts.h). A
 * build without libsoup has these functions, too, and refuses to serve.
 */
#pragma once

#include "tools/run/http/listen.h"
#include "tools/serve/report.h"

typedef struct _SlServeHttp SlServeHttp;

/** SlServePictures: @body_most: bytes of a request's body; @keyed: clients state the password,
 * which is the key, in a field of the form */
typedef struct
{
  gsize body_most;
  gboolean keyed;
} SlServePictures;

/** sl_serve_http_new: listens where @options say, and takes up the lines of the log; answers once
 * it has a report. @pictures: (nullable): takes pictures, too. NULL with @error set. */
SlServeHttp *sl_serve_http_new (const SlHttpOptions *options, const SlServePictures *pictures,
                                GError **error);
/** sl_serve_http_pictures: (transfer none) (nullable): the door for pictures. */
SlHttpDoor *sl_serve_http_pictures (const SlServeHttp *http);
void sl_serve_http_free (SlServeHttp *http);
/** sl_serve_http_report: @report (transfer none): what is told from now on. The first one starts
 * the server's thread, and its address is logged. */
void sl_serve_http_report (SlServeHttp *http, SlServeReport *report);
