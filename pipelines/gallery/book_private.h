/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The state of a gallery that cameras share, for its files: book.c opens, closes and writes it,
 * camera.c answers frames. */
#pragma once

#include "pipelines/gallery/book.h"
#include "pipelines/gallery/share.h"
#include "pipelines/gallery/store.h"

/** Changes that wait for the disk. */
#define SL_BOOK_QUEUE 1024

/**
 * SlIdentityBook:
 * @store: the thread's, once that runs
 * @entries, @rows: the queue, a ring: @n from @first on
 * @next, @left: numbers for new people that no other program has
 */
typedef struct
{
  guint refs;                       /* under the lock of all books */
  char *path, *key_file, *location; /* the latter of the share (nullable) */
  SlIdentityShare *share;           /* (nullable) */
  guint machine;
  SlIdentityStore *store;
  SlIdentityCameras cameras;
  GThread *thread;
  GMutex lock;
  GCond wake;
  /* The rest is under the lock. */
  gboolean stop, has_other_rules, has_evidence;
  GPtrArray *users; /* of SlIdentityCamera */
  SlIdentityRules rules;
  SlIdentityTable *table;
  SlCalibration *calibration;
  SlIdentityEntry entries[SL_BOOK_QUEUE];
  gint8 *rows;
  guint first, n;
  gint64 next, left;
  guint64 written, lost, failed;
  char *trouble; /* (nullable) */
} SlIdentityBook;

/** sl_identity_book_add: under the lock: @entry waits for the disk; its row is copied. */
void sl_identity_book_add (SlIdentityBook *book, const SlIdentityEntry *entry);
/** sl_identity_book_open: (nullable) */
SlIdentityBook *sl_identity_book_open (const SlIdentityUse *use, GError **error);
/** sl_identity_book_close: see sl_identity_camera_free(). */
char *sl_identity_book_close (SlIdentityBook *book);
/** sl_identity_book_enter, sl_identity_book_leave: @user counts for the rules, or does not any
 * longer. */
void sl_identity_book_enter (SlIdentityBook *book, SlIdentityCamera *user);
void sl_identity_book_leave (SlIdentityBook *book, SlIdentityCamera *user);
/** sl_identity_camera_rules: of the user. */
const SlIdentityRules *sl_identity_camera_rules (const SlIdentityCamera *camera);
