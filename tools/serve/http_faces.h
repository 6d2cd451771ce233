/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Faces in pictures that were posted, and the people that they belong to: recognize, register, list
 * and delete, as DeepStack has them.
 */
#pragma once

#include "core/base/affine.h"
#include "tools/picture_load.h"
#include "tools/serve/http_request.h"

/** sl_http_faces_open: sets @door's faces: they are found by its model "face", and told apart by
 * the one of @settings. FALSE with @error set where one of these, or the gallery, is not what it
 * has to be. */
gboolean sl_http_faces_open (SlHttpDoor *door, const SlServeFaces *settings, GError **error);
/** sl_http_faces_answer: a thread of the pool: does what @request asks for, and answers it. */
void sl_http_faces_answer (SlHttpDoor *door, SlHttpRequest *request);
/** sl_http_errand_take: a computing thread: takes what a model found for @request, or @refusal
 * (nullable). Returns whether it was of use. */
gboolean sl_http_errand_take (SlHttpRequest *request, const SlWork *work, void *const *outputs,
                              const char *refusal, gint64 duration);

/** sl_http_picture_decode: (transfer full): NULL with @error and the answer's @status set; else
 * @status is that of an error that follows. */
GdkPixbuf *sl_http_picture_decode (const SlHttpPicture *picture, guint *status, GError **error);
/** sl_http_work_new: (transfer full): @model's tensor of @pixels, or of a @part (nullable) of them.
 * NULL with @error set. */
SlWork *sl_http_work_new (const SlHttpRequest *request, const SlHttpModel *model,
                          const GdkPixbuf *pixels, const SlTurnedRect *part, GError **error);
