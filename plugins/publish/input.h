/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which inputs slpublish can take with its settings. The sink pad offers these, so that slpredict
 * chooses one of them; the start, the caps and `sightline check` refuse others.
 */
#pragma once

#include <gst/gst.h>

#include "plugins/publish/values.h"

/** SlPublishInput: frames, or lines that others have made. */
typedef enum
{
  SL_INPUT_FRAMES,
  SL_INPUT_JSON_LINES,
  SL_INPUT_TEXT_LINES,
  SL_N_INPUTS
} SlPublishInput;

/** sl_publish_input_of: the input that caps of @structure bring. */
SlPublishInput sl_publish_input_of (const GstStructure *structure);
/** sl_publish_input_reads: whether lines are read again before they go out. */
gboolean sl_publish_input_reads (const SlPublishValues *settings);
/** sl_publish_input_fits: whether @settings are possible with @input. */
gboolean sl_publish_input_fits (const SlPublishValues *settings, SlPublishInput input,
                                GError **error);
/** sl_publish_input_check: whether @settings are possible with some of @offered, caps that upstream
 * may give. ANY and empty caps say nothing of it. */
gboolean sl_publish_input_check (const SlPublishValues *settings, GstCaps *offered, GError **error);
/** sl_publish_input_caps: (transfer full): those of @all with which @settings are possible. */
GstCaps *sl_publish_input_caps (const SlPublishValues *settings, GstCaps *all);
