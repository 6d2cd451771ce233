/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where and how to serve: by options of the program, else by [http] of the descriptions. */
#pragma once

#include "tools/run/http/listen.h"

/**
 * sl_http_choose:
 * @descriptions: (element-type SlDescription): at least one; settings that no option states are the
 * first's that has [http]
 * @settings: (out): to be cleared; listen is NULL when nothing is to be served
 * @origin: (out) (transfer full): what states the address, for messages
 *
 * FALSE with SL_ERROR_ARGUMENT set when descriptions contradict each other, or when something is
 * said of a server that there is not.
 */
gboolean sl_http_choose (const SlHttpOptions *options, const GPtrArray *descriptions,
                         SlHttpSettings *settings, char **origin, GError **error);

/** sl_http_agree: FALSE with SL_ERROR_ARGUMENT set when @descriptions (element-type SlDescription),
 * of which there is one at least, state different addresses. */
gboolean sl_http_agree (const GPtrArray *descriptions, GError **error);
/** sl_http_check: FALSE with SL_ERROR_ARGUMENT set when [http] of @description asks for what cannot
 * be served, options of the program apart. */
gboolean sl_http_check (const SlDescription *description, GError **error);
