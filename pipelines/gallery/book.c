/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The thread takes the lock to look into the queue, and never while it reads or writes the file.
 * Its own changes are in memory before they are in the file; a change of another program makes it
 * read all people again, and repeat what waits in the queue on these.
 */
#include <string.h>

#include "core/base/fail.h"
#include "pipelines/gallery/book_private.h"

/* Changes of a transaction. */
#define BATCH 64
/* Numbers that are reserved at once, and from how few on. */
#define NUMBERS 256
#define FEW_NUMBERS 128
/* How often another program may have changed the file, and where other machines do. Reading it
 * again takes at most a fifth of the time. */
#define LOOK_US G_USEC_PER_SEC
#define SHARED_LOOK_US (G_USEC_PER_SEC / 5)
#define READ_SHARE 4
#define EXPIRE_US (60 * G_USEC_PER_SEC)

static GMutex books_lock;
static GHashTable *books; /* by path */

void
sl_identity_book_add (SlIdentityBook *book, const SlIdentityEntry *entry)
{
  if (book->n == SL_BOOK_QUEUE) {
    book->lost++;
    return;
  }
  const guint at = (book->first + book->n++) % SL_BOOK_QUEUE;
  gint8 *row = book->rows + (gsize) at * book->table->stride;
  book->entries[at] = *entry;
  book->entries[at].row = row;
  if (entry->row != NULL)
    memcpy (row, entry->row, book->table->stride);
  if (entry->jpeg != NULL)
    g_bytes_ref (entry->jpeg);
  g_cond_signal (&book->wake);
}

/* Under the lock. */
static void
note_trouble (SlIdentityBook *book, const GError *error)
{
  book->failed++;
  g_free (book->trouble);
  book->trouble = g_strdup (error->message);
}

/* Under the lock, which it leaves meanwhile. Returns whether something was written. */
static gboolean
write_some (SlIdentityBook *book)
{
  g_autoptr (GError) error = NULL;
  SlIdentityEntry batch[BATCH];
  const guint n = MIN (book->n, BATCH);
  for (guint i = 0; i < n; i++)
    batch[i] = book->entries[(book->first + i) % SL_BOOK_QUEUE];
  if (n == 0)
    return FALSE;
  g_mutex_unlock (&book->lock);
  const gboolean good = sl_identity_store_write (book->store, &book->cameras, batch, n, &error);
  g_mutex_lock (&book->lock);
  if (!good) {
    note_trouble (book, error);
    return FALSE;
  }
  for (guint i = 0; i < n; i++)
    g_clear_pointer (&book->entries[(book->first + i) % SL_BOOK_QUEUE].jpeg, g_bytes_unref);
  book->first = (book->first + n) % SL_BOOK_QUEUE;
  book->n -= n;
  book->written += n;
  return TRUE;
}

/* What waits in the queue is not in the file yet. */
static void
repeat (const SlIdentityBook *book, SlIdentityTable *table)
{
  for (guint i = 0; i < book->n; i++) {
    const SlIdentityEntry *entry = &book->entries[(book->first + i) % SL_BOOK_QUEUE];
    const SlIdentityView view = { entry->person, entry->time, entry->camera };
    if (entry->kind == SL_IDENTITY_NEW)
      sl_identity_table_add_person (table, entry->person);
    if (entry->kind == SL_IDENTITY_SEEN)
      sl_identity_table_saw (table, entry->person, entry->camera, entry->time);
    else if (entry->kind == SL_IDENTITY_PICTURE)
      sl_identity_table_picture (table, entry->person, entry->time, entry->confidence);
    else
      sl_identity_table_add_view (table, &view, entry->replaces, entry->row,
                                  sl_identity_table_scale (table, entry->row));
  }
}

/* Under the lock, which it leaves meanwhile. */
static void
read_again (SlIdentityBook *book)
{
  g_autoptr (GError) error = NULL;
  g_autofree SlCalibration *evidence = g_new0 (SlCalibration, 1);
  g_mutex_unlock (&book->lock);
  g_autoptr (SlIdentityTable) table =
    sl_identity_store_load (book->store, &book->cameras, g_get_real_time (), &error);
  const gboolean good =
    table != NULL
    && sl_identity_store_read_evidence (book->store, &book->cameras, evidence, &error);
  g_mutex_lock (&book->lock);
  if (!good) {
    note_trouble (book, error);
    return;
  }
  memcpy (book->calibration->merged, evidence->merged, sizeof evidence->merged);
  repeat (book, table);
  sl_identity_table_free (book->table);
  book->table = g_steal_pointer (&table);
}

/* Likewise. */
static void
reserve (SlIdentityBook *book)
{
  g_autoptr (GError) error = NULL;
  gint64 first = 0;
  g_mutex_unlock (&book->lock);
  const gboolean good = sl_identity_store_reserve (book->store, NUMBERS, &first, &error);
  g_mutex_lock (&book->lock);
  if (!good) {
    note_trouble (book, error);
    return;
  }
  /* Those before go on, where no other program took numbers meanwhile. */
  book->left = first == book->next + book->left ? book->left + NUMBERS : NUMBERS;
  book->next = first + NUMBERS - book->left;
}

/* Likewise: what is not allowed any longer goes, and what was learned is kept. */
static void
tidy (SlIdentityBook *book)
{
  g_autoptr (GError) error = NULL;
  guint gone = 0;
  const gint64 now = g_get_real_time ();
  g_autofree SlCalibration *evidence =
    book->has_evidence ? g_memdup2 (book->calibration, sizeof *evidence) : NULL;
  book->has_evidence = book->has_other_rules = FALSE;
  sl_identity_table_expire (book->table, now, &book->rules);
  book->store->rules = book->rules;
  g_mutex_unlock (&book->lock);
  const gboolean good =
    sl_identity_store_expire (book->store, now, &gone, &error)
    && (evidence == NULL
        || sl_identity_store_write_evidence (book->store, &book->cameras, evidence, &error));
  g_mutex_lock (&book->lock);
  if (!good)
    note_trouble (book, error);
}

/* Likewise: what another program changed is read. Returns when that is to be done again. */
static gint64
look (SlIdentityBook *book)
{
  const gint64 start = g_get_monotonic_time ();
  g_mutex_unlock (&book->lock);
  const gboolean changed = sl_identity_store_has_changed (book->store);
  g_mutex_lock (&book->lock);
  if (!changed)
    return 0;
  read_again (book);
  const gint64 end = g_get_monotonic_time ();
  return end + READ_SHARE * (end - start);
}

static gpointer
work (gpointer data)
{
  SlIdentityBook *book = data;
  const gint64 wait = book->share != NULL ? SHARED_LOOK_US : LOOK_US;
  gint64 tidied = g_get_monotonic_time (), next_look = 0;
  gboolean failed = FALSE;
  g_mutex_lock (&book->lock);
  while (!book->stop) {
    const gint64 now = g_get_monotonic_time ();
    if ((book->n == 0 && !book->has_other_rules) || failed)
      g_cond_wait_until (&book->wake, &book->lock, now + wait);
    failed = book->n > 0 && !write_some (book);
    if (book->left < FEW_NUMBERS)
      reserve (book);
    if (book->has_other_rules || g_get_monotonic_time () - tidied >= EXPIRE_US) {
      tidy (book);
      tidied = g_get_monotonic_time ();
    }
    if (g_get_monotonic_time () >= next_look)
      next_look = look (book);
  }
  while (write_some (book))
    continue;
  book->lost += book->n;
  tidy (book);
  sl_identity_store_give_back (book->store, book->next, book->next + book->left);
  g_mutex_unlock (&book->lock);
  return NULL;
}

static void
book_free (SlIdentityBook *book)
{
  for (guint i = 0; i < book->n; i++)
    g_clear_pointer (&book->entries[(book->first + i) % SL_BOOK_QUEUE].jpeg, g_bytes_unref);
  sl_identity_share_free (book->share);
  sl_identity_store_free (book->store);
  sl_identity_table_free (book->table);
  sl_identity_cameras_clear (&book->cameras);
  g_free (book->calibration);
  g_aligned_free (book->rows);
  g_ptr_array_unref (book->users);
  g_mutex_clear (&book->lock);
  g_cond_clear (&book->wake);
  g_free (book->path);
  g_free (book->key_file);
  g_free (book->location);
  g_free (book->trouble);
  g_free (book);
}

/* All that is known is read, and what the rules do not allow is erased before that. */
static gboolean
read_all (SlIdentityBook *book, const SlIdentityUse *use, GError **error)
{
  guint gone = 0;
  SlIdentityHello hello;
  const gint64 now = g_get_real_time ();
  book->store =
    sl_identity_store_new (use->path, use->model, use->length, &use->rules, use->key_file, error);
  if (book->store == NULL || !sl_identity_store_expire (book->store, now, &gone, error)
      || (use->share != NULL
          && !sl_identity_shared_prepare (book->store, use->machine, &hello, error)))
    return FALSE;
  book->table = sl_identity_store_load (book->store, &book->cameras, now, error);
  if (book->table == NULL
      || !sl_identity_store_read_evidence (book->store, &book->cameras, book->calibration, error)
      || !sl_identity_store_reserve (book->store, NUMBERS, &book->next, error))
    return FALSE;
  book->left = NUMBERS;
  book->rows = g_aligned_alloc0 (SL_BOOK_QUEUE, book->table->stride, 64);
  if (use->share != NULL)
    book->share = sl_identity_share_new (use, &hello, error);
  return use->share == NULL || book->share != NULL;
}

static SlIdentityBook *
book_new (char *path, const SlIdentityUse *use, GError **error)
{
  SlIdentityBook *book = g_new0 (SlIdentityBook, 1);
  book->path = path;
  book->key_file = g_strdup (use->key_file);
  book->location = g_strdup (use->share);
  book->machine = use->machine;
  book->users = g_ptr_array_new ();
  book->rules = use->rules;
  book->calibration = g_new0 (SlCalibration, 1);
  g_mutex_init (&book->lock);
  g_cond_init (&book->wake);
  sl_identity_cameras_init (&book->cameras);
  if (read_all (book, use, error)) {
    book->thread = g_thread_new ("sl-gallery", work, book);
    return book;
  }
  book_free (book);
  return NULL;
}

/* Whether a gallery that is open is the one that @use means. */
static gboolean
check_use (const SlIdentityBook *book, const SlIdentityUse *use, GError **error)
{
  if (g_strcmp0 (book->key_file, use->key_file) != 0)
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "%s: a camera of this process has it open with another key-file; expected the "
                    "same one",
                    use->path);
  if (g_strcmp0 (book->location, use->share) != 0 || book->machine != use->machine)
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "%s: a camera of this process has it open with another share or machine; "
                    "expected the same ones",
                    use->path);
  return (strcmp (book->store->model, use->model) == 0 && book->store->length == use->length)
         || sl_fail (error, SL_ERROR_CONTRACT,
                     "%s: a camera of this process has it open with embeddings of another model "
                     "(%s, %u numbers), expected those of %s, %u numbers: take that model, or "
                     "another file",
                     use->path, book->store->model, book->store->length, use->model, use->length);
}

SlIdentityBook *
sl_identity_book_open (const SlIdentityUse *use, GError **error)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&books_lock);
  char *path = g_canonicalize_filename (use->path, NULL);
  if (books == NULL)
    books = g_hash_table_new (g_str_hash, g_str_equal);
  SlIdentityBook *book = g_hash_table_lookup (books, path);
  if (book != NULL) {
    g_free (path);
    if (!check_use (book, use, error))
      return NULL;
    book->refs++;
    return book;
  }
  book = book_new (path, use, error);
  if (book == NULL)
    return NULL;
  book->refs = 1;
  g_hash_table_insert (books, book->path, book);
  return book;
}

char *
sl_identity_book_close (SlIdentityBook *book)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&books_lock);
  char *trouble = NULL;
  if (--book->refs > 0)
    return NULL;
  g_hash_table_remove (books, book->path);
  if (g_hash_table_size (books) == 0)
    g_clear_pointer (&books, g_hash_table_unref);
  g_mutex_lock (&book->lock);
  book->stop = TRUE;
  g_cond_signal (&book->wake);
  g_mutex_unlock (&book->lock);
  g_thread_join (book->thread);
  if (book->lost > 0)
    trouble = g_strdup_printf ("%s: %" G_GUINT64_FORMAT " changes of it are lost%s%s", book->path,
                               book->lost, book->trouble != NULL ? ": " : "",
                               book->trouble != NULL ? book->trouble : "");
  else
    trouble = g_steal_pointer (&book->trouble);
  book_free (book);
  return trouble;
}

/* Under the lock: of all users, the strictest rules. */
static void
meet_rules (SlIdentityBook *book)
{
  SlIdentityRules rules = *sl_identity_camera_rules (g_ptr_array_index (book->users, 0));
  for (guint i = 1; i < book->users->len; i++)
    sl_identity_rules_meet (&rules, sl_identity_camera_rules (g_ptr_array_index (book->users, i)));
  book->has_other_rules |= rules.keep != book->rules.keep || rules.most != book->rules.most;
  book->rules = rules;
  g_cond_signal (&book->wake);
}

void
sl_identity_book_enter (SlIdentityBook *book, SlIdentityCamera *user)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&book->lock);
  g_ptr_array_add (book->users, user);
  meet_rules (book);
}

void
sl_identity_book_leave (SlIdentityBook *book, SlIdentityCamera *user)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&book->lock);
  g_ptr_array_remove (book->users, user);
  if (book->users->len > 0)
    meet_rules (book);
}
