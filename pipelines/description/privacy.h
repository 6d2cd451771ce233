/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The proof that no branch of a pipeline shows an open picture: each element that shows, stores or
 * sends pictures gets them through slredact alone.
 */
#pragma once

#include <gst/gst.h>

/** sl_privacy_prove: walks upstream from each such element of @pipeline, which is in NULL. FALSE
 * with @error set (SL_ERROR_ARGUMENT) when one of them has a way to a source without slredact; the
 * message names all of them. FALSE, too, when an element between a model and an slredact may lose
 * objects, when an slredact hides neither objects nor zones, and without any slredact: the page
 * takes its pictures from behind the first one. */
gboolean sl_privacy_prove (GstElement *pipeline, GError **error);
