/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which embeddings a folder of clips has: those of one model, of the pictures of events and of the
 * objects in them. Rows of the index say whose each is and leave with their event; the numbers are
 * in a file beside it (vector_file.h). Any thread; each call waits for the disk.
 */
#pragma once

#include "tools/run/events/query.h"
#include "tools/run/events/vector_file.h"

/** Objects that one search looks at. */
#define SL_VECTORS_HITS SL_SEARCH_MAX_HITS

/**
 * SlVectorModel: what made the embeddings.
 * @id: of this index; another model gets another one
 * @hash: of the model and of what was stated of it: embeddings of another hash are not compared
 * @settings: (not nullable): lines NAME=VALUE, to make embeddings of questions with
 * @places: of the file
 */
typedef struct
{
  gint64 id;
  char *hash, *settings;
  guint length;
  gint64 places;
} SlVectorModel;

void sl_vector_model_clear (SlVectorModel *model);
/** sl_vectors_get_model: FALSE with SL_ERROR_OPEN where the folder has no embeddings yet, and with
 * @error set. @model is zeroed or cleared before. */
gboolean sl_vectors_get_model (SlStore *store, SlVectorModel *model, GError **error);
/** sl_vectors_begin: embeddings of @model are added from now on; those of another model leave.
 * @lost: (out): the numbers were gone, and all are to be made again. @model's id is set. */
gboolean sl_vectors_begin (SlStore *store, SlVectorModel *model, gboolean *lost, GError **error);
/** sl_vectors_pending: (transfer full) (element-type utf8): clips with a picture and without
 * embeddings, the newest first. @after: (inout): rows up to this one are passed over: 0 = none; the
 * last row, where nothing is pending. NULL with @error set, as where another model took the folder.
 */
GPtrArray *sl_vectors_pending (SlStore *store, const SlVectorModel *model, guint most,
                               gint64 *after, GError **error);

/** SlVectorPart: an embedding of a picture, or of an object in it. @label: (nullable); @own: it is
 * the event's object, or the whole picture of an event without one */
typedef struct
{
  const char *label;
  gboolean own;
  const gfloat *numbers;
} SlVectorPart;

/** sl_vectors_add: @parts (element-type SlVectorPart), which may be none, of the clip @stem;
 * nothing where that is gone or has some. */
gboolean sl_vectors_add (SlStore *store, const SlVectorModel *model, const char *stem,
                         const GArray *parts, GError **error);
/** sl_vectors_wipe: the numbers of deleted events leave the file, at most @most. */
gboolean sl_vectors_wipe (SlStore *store, const SlVectorModel *model, guint most, GError **error);
/** sl_vectors_check: embeddings of clips of which the file has other bytes than were written leave,
 * so that they are pending. @after: (inout): at most @most of those behind this one are read: 0 =
 * all; as it was, where there are no more. @damaged: (inout): how many were, is added. FALSE with
 * @error set. */
gboolean sl_vectors_check (SlStore *store, const SlVectorModel *model, guint most, gint64 *after,
                           guint *damaged, GError **error);

/** SlVectorHit: @label: (nullable): of the object; @row: the event */
typedef struct
{
  gfloat score;
  char *label;
  SlEventRow *row;
} SlVectorHit;

void sl_vector_hit_free (gpointer hit);
/** sl_vectors_search: (transfer full) (element-type SlVectorHit): events whose picture or objects
 * are most like @numbers, best first, each by its best object: at most query->limit. query->label
 * is that of the object. NULL with @error set. */
GPtrArray *sl_vectors_search (SlStore *store, const SlVectorModel *model, const SlEventQuery *query,
                              const gfloat *numbers, GError **error);
/** sl_vectors_of_event: (transfer full) (nullable): the embedding of the event's own object; NULL
 * with @error set. */
gfloat *sl_vectors_of_event (SlStore *store, const SlVectorModel *model, const char *stem,
                             GError **error);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SlVectorModel, sl_vector_model_clear)
