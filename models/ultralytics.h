/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The description that Ultralytics' exporters put into models: a dictionary with names, task,
 * stride and imgsz, printed by Python or as JSON.
 */
#pragma once

#include "models/reader.h"

/**
 * sl_ultralytics_read:
 * @origin: name of the text, for messages
 *
 * Fills labels, normalisation (byte / 255), colour, fit, the decoder for the task, its "task",
 * "stride", "imgsz" and "kpt_shape". A dictionary without a task is not Ultralytics' and changes
 * nothing. Errors: not a dictionary, damaged names.
 */
gboolean sl_ultralytics_read (const char *text, gsize length, const char *origin,
                              SlModelMetadata *metadata, GError **error);
