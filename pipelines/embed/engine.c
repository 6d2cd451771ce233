/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The bus is read where messages are posted, so nothing waits for a main loop and nothing piles up.
 * Handlers are taken off before the pipeline is let go.
 */
#include "pipelines/embed/engine.h"

#include "core/base/printable.h"
#include "pipelines/description/build.h"
#include "pipelines/supervise/bus.h"
#include "pipelines/supervise/emitters.h"
#include "pipelines/supervise/elements.h"

struct _SlEngine
{
  GstElement *pipeline;
  GPtrArray *emitters;
  SlFrameSource *source; /* (nullable) */
  const SlEngineEvents *events;
  gpointer owner;
};

gboolean
sl_engine_init (GError **error)
{
  static gsize looked;
  if (!gst_init_check (NULL, NULL, error))
    return FALSE;
  if (g_once_init_enter (&looked)) {
    sl_find_installed_elements ("slpostprocess");
    g_once_init_leave (&looked, 1);
  }
  return TRUE;
}

static void
take_predictions (GstElement *element, SlPredictions *predictions, SlEngine *engine)
{
  engine->events->predictions (engine->owner, predictions);
}

static void
take_error (gpointer data, const char *element, const GError *error)
{
  SlEngine *engine = data;
  g_autoptr (GError) shown = g_error_copy (error);
  g_prefix_error (&shown, "%s: ", element);
  sl_printable_error (&shown);
  engine->events->failed (engine->owner, shown, element);
}

static void
take_state (gpointer data, GstState state)
{
  SlEngine *engine = data;
  engine->events->reached (engine->owner, state);
}

static void
take_end (gpointer data)
{
  SlEngine *engine = data;
  engine->events->ended (engine->owner);
}

static void
add_text (GVariantBuilder *builder, const char *key, const char *text)
{
  if (text != NULL)
    g_variant_builder_add (builder, "{sv}", key, g_variant_new_string (text));
}

/* slanalyze's messages, without the fields that say nothing: an id of 0, less than 0 seconds. */
static void
take_posted (gpointer data, GstMessage *message)
{
  static const char *const texts[] = { "event", "region", "label", "json" };
  SlEngine *engine = data;
  const GstStructure *structure = gst_message_get_structure (message);
  GVariantBuilder builder;
  gint id;
  gdouble seconds;
  guint64 timestamp;
  if (!gst_structure_has_name (structure, "slanalyze")
      || gst_structure_get_string (structure, "event") == NULL)
    return;
  g_variant_builder_init (&builder, G_VARIANT_TYPE_VARDICT);
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    add_text (&builder, texts[i], gst_structure_get_string (structure, texts[i]));
  add_text (&builder, "element", GST_MESSAGE_SRC_NAME (message));
  if (gst_structure_get_int (structure, "id", &id) && id > 0)
    g_variant_builder_add (&builder, "{sv}", "id", g_variant_new_int32 (id));
  if (gst_structure_get_double (structure, "seconds", &seconds) && seconds >= 0)
    g_variant_builder_add (&builder, "{sv}", "seconds", g_variant_new_double (seconds));
  if (gst_structure_get_uint64 (structure, "timestamp", &timestamp) && timestamp != G_MAXUINT64)
    g_variant_builder_add (&builder, "{sv}", "timestamp", g_variant_new_uint64 (timestamp));
  g_autoptr (GVariant) analysis = g_variant_ref_sink (g_variant_builder_end (&builder));
  engine->events->analysed (engine->owner, analysis);
}

static const SlBusEvents bus_events = {
  .failed = take_error, .posted = take_posted, .reached = take_state, .ended = take_end
};

static GstBusSyncReply
take_message (GstBus *bus, GstMessage *message, gpointer data)
{
  SlEngine *engine = data;
  sl_bus_handle (engine->pipeline, message, &bus_events, engine);
  gst_message_unref (message);
  return GST_BUS_DROP;
}

SlEngine *
sl_engine_new (const SlDescription *description, const SlEngineEvents *events, gpointer owner,
               GError **error)
{
  GstElement *pipeline = sl_description_build (description, error);
  if (pipeline == NULL)
    return NULL;
  SlEngine *engine = g_new0 (SlEngine, 1);
  engine->pipeline = pipeline;
  engine->events = events;
  engine->owner = owner;
  engine->source = sl_frame_source_new (GST_BIN (pipeline));
  engine->emitters = sl_emitters_find (GST_BIN (pipeline));
  for (guint i = 0; i < engine->emitters->len; i++)
    g_signal_connect (g_ptr_array_index (engine->emitters, i), "predictions",
                      G_CALLBACK (take_predictions), engine);
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  gst_bus_set_sync_handler (bus, take_message, engine, NULL);
  return engine;
}

gboolean
sl_engine_go_to (SlEngine *engine, GstState state)
{
  return gst_element_set_state (engine->pipeline, state) != GST_STATE_CHANGE_FAILURE;
}

void
sl_engine_interrupt (SlEngine *engine)
{
  sl_pipeline_interrupt (GST_BIN (engine->pipeline));
}

void
sl_engine_stop (SlEngine *engine)
{
  gst_element_set_state (engine->pipeline, GST_STATE_NULL);
}

void
sl_engine_free (SlEngine *engine)
{
  if (engine == NULL)
    return;
  sl_engine_stop (engine);
  g_autoptr (GstBus) bus = gst_element_get_bus (engine->pipeline);
  gst_bus_set_sync_handler (bus, NULL, NULL, NULL);
  for (guint i = 0; i < engine->emitters->len; i++)
    g_signal_handlers_disconnect_by_data (g_ptr_array_index (engine->emitters, i), engine);
  g_ptr_array_unref (engine->emitters);
  sl_frame_source_free (engine->source);
  gst_object_unref (engine->pipeline);
  g_free (engine);
}

GstElement *
sl_engine_find (SlEngine *engine, const char *name)
{
  return gst_bin_get_by_name (GST_BIN (engine->pipeline), name);
}

SlFrameSource *
sl_engine_source (SlEngine *engine)
{
  return engine->source;
}
