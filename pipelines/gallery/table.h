/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The people of a gallery in memory: who an embedding is of. A person has up to
 * SL_IDENTITY_VIEWS embeddings, which differ. No clock, no disk, no lock. Known people cost no
 * memory.
 */
#pragma once

#include "core/search/search.h"
#include "pipelines/gallery/calibrate.h"
#include "pipelines/gallery/paths.h"

/** Embeddings of a person. */
#define SL_IDENTITY_VIEWS 6

/** SlIdentityPerson: @seen: microseconds since 1970, the last time; @last: which camera that was;
 * @cameras: bits of numbers; @name: (nullable): who was registered so; @pictured: time of the
 * picture, which is as good as @picture says; 0 = there is none */
typedef struct
{
  char *name;
  gint64 pictured;
  gdouble picture;
  gint64 id, seen;
  guint64 cameras;
  guint n_views, last;
} SlIdentityPerson;

/** SlIdentityView: an embedding of person @person, of @camera at @time. */
typedef struct
{
  gint64 person, time;
  guint camera;
} SlIdentityView;

typedef struct
{
  guint length;
  gsize n, room, stride; /* of views */
  gint8 *numbers;        /* in one block, aligned */
  gfloat *scales;
  SlIdentityView *views;
  GHashTable *people; /* of SlIdentityPerson, by id */
} SlIdentityTable;

/**
 * SlIdentityQuestion: an embedding.
 * @row, @scale: of @camera
 * @held: @n_held people who it is not
 * @paths: (nullable): how people can have come to @camera until @now
 */
typedef struct
{
  guint camera, n_held;
  const gint8 *row;
  gfloat scale;
  const gint64 *held;
  const SlIdentityPaths *paths;
  gint64 now;
} SlIdentityQuestion;

/**
 * SlIdentityMatch:
 * @person: 0 = nobody of the gallery, or it is not clear who
 * @is_unclear: two persons are as likely
 * @confidence: 0..1, that it is @person; that it is nobody of the gallery, where that is 0
 * @best: who is most likely, whether it is that person or not; @best_confidence: 0..1, that it is
 * @cosine, @second: of the best person and of the next one; -1 = there is none
 * @threshold: that @cosine was compared with; @is_calibrated: by the cameras' own evidence
 */
typedef struct
{
  gint64 person, best;
  gboolean is_unclear, is_calibrated;
  gdouble confidence, best_confidence, cosine, second, threshold;
} SlIdentityMatch;

/** sl_identity_table_new: of embeddings with @length numbers, 1..SL_IDENTITY_LONGEST. */
SlIdentityTable *sl_identity_table_new (guint length);
/** sl_identity_table_free: NULL is legal. */
void sl_identity_table_free (SlIdentityTable *table);
/** sl_identity_table_pack: @look as a row of @table->stride bytes; returns its scale, 0 where it
 * has no direction: zeros, or numbers that are not finite. */
gfloat sl_identity_table_pack (const SlIdentityTable *table, const gfloat *look, gint8 *row);
/** sl_identity_table_scale: of a row that was stored; 0 for zeros. */
gfloat sl_identity_table_scale (const SlIdentityTable *table, const gint8 *row);
/** sl_identity_table_cosine: of two rows. */
gdouble sl_identity_table_cosine (const SlIdentityTable *table, const gint8 *a, gfloat scale_a,
                                  const gint8 *b, gfloat scale_b);
/** sl_identity_table_person: (transfer none) (nullable) */
SlIdentityPerson *sl_identity_table_person (const SlIdentityTable *table, gint64 id);
/** sl_identity_table_add_person: the person @id, who may be there. */
SlIdentityPerson *sl_identity_table_add_person (SlIdentityTable *table, gint64 id);
/** sl_identity_table_name: of the person @id; of nobody: nothing. */
void sl_identity_table_name (SlIdentityTable *table, gint64 id, const char *name);
/** sl_identity_table_picture: there is one of the person @id; of nobody: nothing. */
void sl_identity_table_picture (SlIdentityTable *table, gint64 id, gint64 time, gdouble score);
/** sl_identity_table_keep_named: all others go. */
void sl_identity_table_keep_named (SlIdentityTable *table);
void sl_identity_table_remove_person (SlIdentityTable *table, gint64 id);
/** sl_identity_table_saw: person @id was seen by @camera at @time; of nobody: nothing. */
void sl_identity_table_saw (SlIdentityTable *table, gint64 id, guint camera, gint64 time);
/** sl_identity_table_add_view: of a person who is there; takes the place of the view of @replaces,
 * where that is one. FALSE: the person is not there, or has SL_IDENTITY_VIEWS. */
gboolean sl_identity_table_add_view (SlIdentityTable *table, const SlIdentityView *view,
                                     gint64 replaces, const gint8 *row, gfloat scale);
/** sl_identity_table_expire: people and views that the rules do not allow at @now go. */
void sl_identity_table_expire (SlIdentityTable *table, gint64 now, const SlIdentityRules *rules);
/** sl_identity_table_oldest: who was seen least recently; 0 = the table is empty. */
gint64 sl_identity_table_oldest (const SlIdentityTable *table);
/** sl_identity_table_match: who an embedding is of. */
SlIdentityMatch sl_identity_table_match (const SlIdentityTable *table,
                                         const SlCalibration *calibration,
                                         const SlIdentityRules *rules,
                                         const SlIdentityQuestion *question);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlIdentityTable, sl_identity_table_free)
