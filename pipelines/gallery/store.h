/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * The file of a gallery: a database of SQLite. What is deleted is overwritten, and gone from the
 * log beside the file, too. Embeddings and pictures are encrypted where there is a key; times,
 * cameras and numbers of people are not. One thread at a time.
 */
#pragma once

#include "core/sql/sql.h"
#include "pipelines/gallery/seal.h"
#include "pipelines/gallery/table.h"

/** What is wrong without a key, of a path. */
#define SL_IDENTITY_NEEDS_KEY                                                          \
  "%s: it is encrypted; expected the file of its key: state key-file= (--key-file of " \
  "sightline gallery, --gallery-key-file of sightline serve)"

/** What is wrong with a picture, of a path and a person. */
#define SL_IDENTITY_OTHER_PICTURE               \
  "%s: the picture of person %" G_GINT64_FORMAT \
  " is not what was written: forget that person, or put a copy back"

/** What the embedding of a view is for the seal. */
#define SL_IDENTITY_LOOK "look"

/**
 * SlIdentityStore:
 * @model: SHA-256 of the model's file, @length numbers an embedding
 * @rules: what the file says is kept: keep and most
 * @is_shared: with other machines, so what is erased is noted for these
 * @vacuumed: monotonic time at which the file was written anew; @has_traces: rows were deleted
 * since
 */
typedef struct
{
  SlSql sql;
  SlSeal *seal; /* (nullable) */
  char *model;
  guint length;
  SlIdentityRules rules;
  gint64 version, vacuumed;
  gboolean has_traces, is_shared;
} SlIdentityStore;

typedef enum
{
  SL_IDENTITY_NEW,  /* a person, with a first view */
  SL_IDENTITY_VIEW, /* a view of a person who is there */
  SL_IDENTITY_SEEN, /* from when to when a camera saw the person */
  SL_IDENTITY_PICTURE
} SlIdentityKind;

/**
 * SlIdentityEntry: one change.
 * @first: of SL_IDENTITY_SEEN
 * @replaces: of SL_IDENTITY_VIEW: the time of the view that goes; 0 = none
 * @cosine, @confidence: of SL_IDENTITY_SEEN: how sure it is that it was this person; of
 * SL_IDENTITY_PICTURE @confidence is how good it is
 * @row: of a view: the store's length of numbers
 * @jpeg: of SL_IDENTITY_PICTURE
 */
typedef struct
{
  SlIdentityKind kind;
  gint64 person, first, time, replaces;
  guint camera;
  gdouble confidence, cosine;
  const gint8 *row;
  GBytes *jpeg;
} SlIdentityEntry;

/** sl_identity_store_new: opens @path, or makes it. @rules: are written into it. A file with
 * embeddings of another model, or of another key, is refused. NULL with @error set. */
SlIdentityStore *sl_identity_store_new (const char *path, const char *model, guint length,
                                        const SlIdentityRules *rules, const char *key_file,
                                        GError **error);
/** sl_identity_store_open: opens a file that is there; rules, model and length are its own.
 * @key_file: (nullable): where it is NULL, embeddings and pictures of an encrypted file stay
 * closed */
SlIdentityStore *sl_identity_store_open (const char *path, const char *key_file, GError **error);
/** sl_identity_store_look: the same, of a file that stays as it is. Nothing may be written. */
SlIdentityStore *sl_identity_store_look (const char *path, const char *key_file, GError **error);
/** sl_identity_store_is_sealed: whether embeddings in the file are encrypted. */
gboolean sl_identity_store_is_sealed (SlIdentityStore *store);
/** sl_identity_store_check_model: FALSE with SL_ERROR_CONTRACT where embeddings in the file are not
 * of @model (nullable) with @length numbers. */
gboolean sl_identity_store_check_model (const SlIdentityStore *store, const char *model,
                                        guint length, GError **error);
/** sl_identity_store_free: NULL is legal. */
void sl_identity_store_free (SlIdentityStore *store);
/** sl_identity_store_reserve: @n numbers for people, which no other program gets: from @first on.
 */
gboolean sl_identity_store_reserve (SlIdentityStore *store, guint n, gint64 *first, GError **error);
/** sl_identity_store_give_back: numbers from @next on, of those before @end, nobody got; they are
 * reserved again where no other program has reserved more meanwhile. */
void sl_identity_store_give_back (SlIdentityStore *store, gint64 next, gint64 end);
/** sl_identity_store_write: @n entries together, or none of them. Entries of people who were
 * forgotten change nothing. */
gboolean sl_identity_store_write (SlIdentityStore *store, SlIdentityCameras *cameras,
                                  const SlIdentityEntry *entries, guint n, GError **error);
/** sl_identity_store_write_evidence, sl_identity_store_read_evidence: what cosines mean. What
 * merges say is read, too, and written by sl_identity_store_learn_merge(). @calibration: zeroed
 * before it is read. */
gboolean sl_identity_store_write_evidence (SlIdentityStore *store, SlIdentityCameras *cameras,
                                           const SlCalibration *calibration, GError **error);
gboolean sl_identity_store_read_evidence (SlIdentityStore *store, SlIdentityCameras *cameras,
                                          SlCalibration *calibration, GError **error);
/** sl_identity_store_load: (transfer full): all people, but what the rules do not allow at @now. */
SlIdentityTable *sl_identity_store_load (SlIdentityStore *store, SlIdentityCameras *cameras,
                                         gint64 now, GError **error);
/** sl_identity_store_has_changed: whether another connection changed the file since this was asked
 * last. */
gboolean sl_identity_store_has_changed (SlIdentityStore *store);

/* People with names, in named.c. */

/** The camera whose views the pictures are that a person was registered with. */
#define SL_IDENTITY_REGISTERED "registered"

/** SlIdentityLooks: @n embeddings, 1 to SL_IDENTITY_VIEWS, @stride bytes apart. */
typedef struct
{
  const gint8 *rows;
  gsize stride;
  guint n;
} SlIdentityLooks;

/** sl_identity_store_register: @name has these embeddings in place of those that it was registered
 * with before. @known: (out): whether somebody was called so. */
gboolean sl_identity_store_register (SlIdentityStore *store, const char *name,
                                     const SlIdentityLooks *looks, gint64 now, gboolean *known,
                                     GError **error);
/** sl_identity_store_unregister: forgets all who are called @name. @known: (out) */
gboolean sl_identity_store_unregister (SlIdentityStore *store, const char *name, gboolean *known,
                                       GError **error);
/** sl_identity_store_names: (transfer full): the first to be registered comes first. NULL with
 * @error set. */
GStrv sl_identity_store_names (SlIdentityStore *store, GError **error);
/** sl_identity_store_name: (transfer full) (nullable): of @person; NULL: there is none, or it is
 * encrypted and there is no key. */
char *sl_identity_store_name (SlIdentityStore *store, gint64 person);
/** sl_identity_store_load_names: of people in @table. */
gboolean sl_identity_store_load_names (SlIdentityStore *store, SlIdentityTable *table,
                                       GError **error);
/** sl_identity_store_take_numbers: as sl_identity_store_reserve(), in a transaction of the
 * caller's. */
gboolean sl_identity_store_take_numbers (SlIdentityStore *store, guint n, gint64 *first,
                                         GError **error);

/* Pictures, in pictures.c. */

/** sl_identity_store_write_picture: in a transaction of the caller's: in place of the one before.
 */
gboolean sl_identity_store_write_picture (SlIdentityStore *store, const char *camera,
                                          const SlIdentityEntry *entry, GError **error);
/** sl_identity_store_read_picture: (transfer full): JPEG of @person; NULL with @error set where
 * there is none, or where it cannot be read. */
GBytes *sl_identity_store_read_picture (SlIdentityStore *store, gint64 person, GError **error);
/** sl_identity_store_load_pictures: how good those of people in @table are. */
gboolean sl_identity_store_load_pictures (SlIdentityStore *store, SlIdentityTable *table,
                                          GError **error);

/* Merges as evidence, in merged.c. */

/** What rows of evidence may say: a file may come from anybody. */
#define SL_IDENTITY_EVIDENCE \
  "n BETWEEN 0 AND 1e6 AND mean BETWEEN -1.01 AND 1.01 AND squares BETWEEN 0 AND 4e6"

/** sl_identity_store_learn_merge: in a transaction of the caller's, before @from becomes @into. An
 * encrypted file without its key teaches nothing. */
gboolean sl_identity_store_learn_merge (SlIdentityStore *store, gint64 from, gint64 into,
                                        GError **error);

/** sl_identity_store_join_merges: likewise, once @person has the evidence of another: a row for
 * each pair of cameras is left, so the file does not grow with each merge. */
gboolean sl_identity_store_join_merges (SlIdentityStore *store, gint64 person, GError **error);

/* Erasing, in erase.c. */

/**
 * SlIdentityChoice: what is forgotten.
 * @person: 0 = anybody
 * @before: what was seen before this time, in microseconds since 1970; 0 = always
 * @camera: (nullable): what this camera saw; NULL = any
 */
typedef struct
{
  gint64 person, before;
  const char *camera;
} SlIdentityChoice;

/** sl_identity_store_forget: @n: (out): people, views and sightings that are gone. A person of whom
 * no view is left goes whole. */
gboolean sl_identity_store_forget (SlIdentityStore *store, const SlIdentityChoice *choice, guint *n,
                                   GError **error);
/** sl_identity_store_expire: erases what the rules do not allow at @now. @n: (out) */
gboolean sl_identity_store_expire (SlIdentityStore *store, gint64 now, guint *n, GError **error);
/** sl_identity_store_merge: all that is known of @from is of @into; @from is gone. */
gboolean sl_identity_store_merge (SlIdentityStore *store, gint64 from, gint64 into, GError **error);
/** sl_identity_store_check_person: FALSE with @error set where nobody has the number @id. */
gboolean sl_identity_store_check_person (SlIdentityStore *store, gint64 id, GError **error);
/* Parts of these, inside a transaction of the caller's. */
gboolean sl_identity_store_forget_rows (SlIdentityStore *store, const SlIdentityChoice *choice,
                                        guint *n, GError **error);
/** sl_identity_store_drop_empty: people without a view go, and their sightings. */
gboolean sl_identity_store_drop_empty (SlIdentityStore *store, guint *n, GError **error);
gboolean sl_identity_store_merge_rows (SlIdentityStore *store, gint64 from, gint64 into,
                                       GError **error);
/** sl_identity_store_trim_views: the newest SL_IDENTITY_VIEWS of @person stay. */
gboolean sl_identity_store_trim_views (SlIdentityStore *store, gint64 person, GError **error);
/** sl_identity_store_wipe: nothing that was deleted is left in the file, or beside it. */
gboolean sl_identity_store_wipe (SlIdentityStore *store, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlIdentityStore, sl_identity_store_free)
