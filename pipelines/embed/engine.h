/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SlEngine: a GstPipeline made from a description, for one run. Its owner gets messages and
 * predictions in the threads that post them. It needs no main loop.
 */
#pragma once

#include <gst/gst.h>

#include "pipelines/description/description.h"
#include "pipelines/embed/frame_source.h"
#include "sightline/predictions.h"

/** What an engine tells its owner: from any thread, until sl_engine_stop() returns. None of them
 * may call the engine. */
typedef struct
{
  void (*predictions) (gpointer owner, SlPredictions *predictions);
  void (*analysed) (gpointer owner,
                    GVariant *analysis); /* an event of an slanalyze, as SlEvent has it */
  void (*failed) (gpointer owner, const GError *error, const char *element);
  void (*reached) (gpointer owner, GstState state); /* PAUSED or PLAYING, as a whole */
  void (*ended) (gpointer owner);
} SlEngineEvents;

typedef struct _SlEngine SlEngine;

/** sl_engine_init: initialises GStreamer and finds Sightline's elements. */
gboolean sl_engine_init (GError **error);
/** sl_engine_new: builds, starts nothing. @events must stay. */
SlEngine *sl_engine_new (const SlDescription *description, const SlEngineEvents *events,
                         gpointer owner, GError **error);
/** sl_engine_go_to: FALSE when an element refuses; SlEngineEvents.failed has been called then, if
 * it said why. */
gboolean sl_engine_go_to (SlEngine *engine, GstState state);
/** sl_engine_interrupt: what waits in sl_engine_go_to() fails; the engine must be stopped then. Any
 * thread. */
void sl_engine_interrupt (SlEngine *engine);
/** sl_engine_stop: ends its threads, waits for them. */
void sl_engine_stop (SlEngine *engine);
/** sl_engine_free: stops it, too. */
void sl_engine_free (SlEngine *engine);
/** sl_engine_find: (transfer full) (nullable): the element called @name. */
GstElement *sl_engine_find (SlEngine *engine, const char *name);
/** sl_engine_source: (transfer none) (nullable): where frames are pushed into. */
SlFrameSource *sl_engine_source (SlEngine *engine);
