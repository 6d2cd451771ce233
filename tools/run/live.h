/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Settings of a pipeline that act at the next frame: over its description, and kept over restarts
 * and, in the state folder, over the end of the process. Main thread.
 */
#pragma once

#include "core/base/json_reader.h"
#include "pipelines/description/description.h"
#include "tools/run/keep.h"

typedef enum
{
  SL_LIVE_THRESHOLD,
  SL_LIVE_CLASSES,
  SL_LIVE_RATE,
  SL_LIVE_RECORDING,
  SL_LIVE_REDACTION,
  SL_N_LIVE
} SlLiveKind;

/**
 * SlLiveRow:
 * @key, @title: for clients
 * @factory, @property: of the element that has it; the first one in the launch line
 * @part: (nullable): the element that has it where there is no @factory
 */
typedef struct
{
  const char *key, *title, *factory, *property, *part;
} SlLiveRow;

extern const SlLiveRow sl_live_rows[SL_N_LIVE];

typedef enum
{
  SL_LIVE_NOTHING, /* the description's value */
  SL_LIVE_NUMBER,
  SL_LIVE_TEXT,
  SL_LIVE_ON,
  SL_LIVE_OFF,
  SL_LIVE_OTHER /* what no setting can be */
} SlLiveWishKind;

/** SlLiveWish: what a client asks for. @text: (nullable) */
typedef struct
{
  SlLiveWishKind kind;
  gdouble number;
  char *text;
} SlLiveWish;

/** SL_LIVE_UNKNOWN: a format: of a name that no setting has. */
#define SL_LIVE_UNKNOWN \
  "%s: there is no such setting; expected threshold, classes, rate, recording or redaction"

typedef struct _SlLive SlLive;

/** sl_live_new: @keep must live as long. */
SlLive *sl_live_new (SlKeep *keep);
void sl_live_free (SlLive *live);
/** sl_live_set_listener: @changed is called after each change by sl_live_set(). */
void sl_live_set_listener (SlLive *live, void (*changed) (SlLiveKind kind, gpointer data),
                           gpointer data);
/** sl_live_kind_of: FALSE: no setting has that name, in small letters. */
gboolean sl_live_kind_of (const char *name, SlLiveKind *kind);
/** sl_live_read_wish: from JSON. @wish: zeroed, or read before; its text is the caller's. FALSE
 * with the reader's error. */
gboolean sl_live_read_wish (SlJsonReader *reader, SlLiveWish *wish);
/** sl_live_apply: to @pipeline, which has not started. @name: for the log. Classes are forgotten
 * when @launch is another than the one that they were set for, whose model may not have them. */
void sl_live_apply (SlLive *live, GstElement *pipeline, const char *name, const char *launch);
/** sl_live_find: (transfer full) (nullable): the element that has the setting. */
GstElement *sl_live_find (GstElement *pipeline, SlLiveKind kind);
/** sl_live_text: (transfer full): the value of the setting at @element; "" = none is stated. */
char *sl_live_text (GstElement *element, SlLiveKind kind);
/** sl_live_stated: whether @text, a value of @element, states something. @number: in the terms of
 * clients, of settings that are numbers. */
gboolean sl_live_stated (GstElement *element, SlLiveKind kind, const char *text, gdouble *number);
/** sl_live_default: (transfer none): the value of the description. */
const char *sl_live_default (const SlLive *live, SlLiveKind kind);
/** sl_live_set: at @element, from the next frame on. @text: (nullable): NULL = the description's.
 * FALSE with SL_ERROR_ARGUMENT. */
gboolean sl_live_set (SlLive *live, GstElement *element, SlLiveKind kind, const char *text,
                      GError **error);
/** sl_live_told: (transfer full) (nullable): what changed at @element, such as "rate: 5 instead of
 * 20"; NULL = nothing did. @before: its value then. */
char *sl_live_told (const SlLive *live, GstElement *element, SlLiveKind kind, const char *before);
/** sl_live_frame_rate: frames a second at @element; 0 = unknown. */
gdouble sl_live_frame_rate (GstElement *element);
/** sl_live_why_not: (transfer full) (nullable): why the setting cannot be changed. @element:
 * (nullable) */
char *sl_live_why_not (SlLiveKind kind, GstElement *element, const SlDescription *description);
/** sl_live_check: whether @wish is one for the setting of @element. @text: (out) (nullable): for
 * sl_live_set(). FALSE with SL_ERROR_ARGUMENT. */
gboolean sl_live_check (SlLiveKind kind, GstElement *element, const SlLiveWish *wish, char **text,
                        GError **error);
