/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SlPipelineState as a GType, and by name. */
#include "pipelines/embed/events.h"

GType
sl_pipeline_state_get_type (void)
{
  static gsize type;
  static const GEnumValue values[] = {
    { SL_PIPELINE_STATE_STOPPED, "SL_PIPELINE_STATE_STOPPED", "stopped" },
    { SL_PIPELINE_STATE_STARTING, "SL_PIPELINE_STATE_STARTING", "starting" },
    { SL_PIPELINE_STATE_RUNNING, "SL_PIPELINE_STATE_RUNNING", "running" },
    { SL_PIPELINE_STATE_PAUSED, "SL_PIPELINE_STATE_PAUSED", "paused" },
    { SL_PIPELINE_STATE_ENDED, "SL_PIPELINE_STATE_ENDED", "ended" },
    { SL_PIPELINE_STATE_FAILED, "SL_PIPELINE_STATE_FAILED", "failed" },
    { 0, NULL, NULL },
  };
  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_enum_register_static ("SlPipelineState", values));
  return type;
}

const char *
sl_pipeline_state_name (SlPipelineState state)
{
  g_autoptr (GEnumClass) names = g_type_class_ref (SL_TYPE_PIPELINE_STATE);
  return g_enum_get_value (names, (gint) state)->value_nick;
}
