/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The index of one folder of clips, and the history of pipelines, in a database beside the clips.
 * What is in it of clips can be made again from their notes; one that is damaged is put aside, and
 * a new one begins.
 */
#pragma once

#include "core/sql/sql.h"
#include "tools/run/events/notes.h"

#define SL_STORE_FILE ".sightline-events.sqlite"
/** Microseconds between a message of slanalyze and what slrecord takes for the time of its frame.
 */
#define SL_STORE_LATE (2 * G_USEC_PER_SEC)
/** What a damaged file is renamed to. */
#define SL_STORE_DAMAGED ".sightline-events.damaged"

/**
 * SlStore:
 * @folder: (nullable): of clips; NULL = in memory, where there is no folder for it
 * @newest: microseconds since 1970: of what was in it when it was opened, at @opened of the
 * monotonic clock; 0 = it was empty
 * @write, @read: connections, each used under its lock. In memory there is
 * @write alone: see sl_store_reader()
 */
typedef struct
{
  gint refs; /* atomic */
  char *folder;
  SlSql write, read;
  gint64 newest, opened;
  gboolean has_clips;
} SlStore;

/** sl_store_new: @damaged: (out) (transfer full) (nullable): why the file that was there was put
 * aside. NULL with @error set. */
SlStore *sl_store_new (const char *folder, char **damaged, GError **error);
/** sl_store_open: one that is there, for questions alone: its damage is found when it is asked, and
 * nothing is put aside. NULL with @error set. */
SlStore *sl_store_open (const char *folder, GError **error);
SlStore *sl_store_ref (SlStore *store);
void sl_store_unref (SlStore *store);
/** sl_store_reader: the connection for questions: to be locked. */
SlSql *sl_store_reader (SlStore *store);

/** SlStoreClip: @stem: of its files (plugins/record/names.h); @bytes: of all of them; @color:
 * (nullable): a name, "" = none, NULL = not looked at yet */
typedef struct
{
  const char *stem, *pipeline, *color;
  gboolean kept;
  guint64 bytes;
} SlStoreClip;

/* Writing: under the lock of @write. */

/** sl_store_has: whether the event or clip @stem is there. */
gboolean sl_store_has (SlStore *store, const char *stem);
/** sl_store_add_clip: takes the place of the same clip, and of events of the pipeline that happened
 * while it was recorded, and keeps the newest mark that somebody has looked at one of them. */
gboolean sl_store_add_clip (SlStore *store, const SlStoreClip *clip, const SlNotes *notes,
                            GError **error);
/** sl_store_add_event: one without a clip. */
gboolean sl_store_add_event (SlStore *store, const char *pipeline, const SlNotes *notes,
                             GError **error);
gboolean sl_store_remove (SlStore *store, const char *stem, GError **error);
gboolean sl_store_set_kept (SlStore *store, const char *stem, gboolean kept, GError **error);
gboolean sl_store_set_pipeline (SlStore *store, const char *stem, const char *pipeline,
                                GError **error);
/** sl_store_get_review: who has looked at the event, and when. @user: (out) (transfer full)
 * (nullable): NULL = nobody. FALSE with @error set. */
gboolean sl_store_get_review (SlStore *store, const char *stem, char **user, gint64 *us,
                              GError **error);
/** sl_store_set_review: who has looked at the event, and when. @user: (nullable): NULL = nobody */
gboolean sl_store_set_review (SlStore *store, const char *stem, const char *user, gint64 us,
                              GError **error);
gboolean sl_store_set_color (SlStore *store, const char *stem, const char *color, GError **error);
/** sl_store_expire: deletes what is older than its retention: events without clips and hours after
 * 400 days, minutes after 14. @now: microseconds since 1970; a clock that is months ahead of what
 * was in the index deletes nothing for that */
gboolean sl_store_expire (SlStore *store, gint64 now, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlStore, sl_store_unref)
