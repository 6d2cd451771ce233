/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Recording a model that runs: what black boxes hold, what is left by a process that was killed,
 * and disks that are full. */
#include "models/replay/recorder.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "models/replay/folder.h"
#include "models/replay/replay.h"
#include "models/replay/ring.h"
#include "tests/models/helpers.h"
#include "tests/models/tiny.h"

#define PATIENCE (200 * G_USEC_PER_SEC)

/* A disk that takes its time: nothing is on it until the gate opens. */
static GMutex gate_lock;
static GCond gate_changed;
static gboolean closed;

static void
set_gate (gboolean now)
{
  g_mutex_lock (&gate_lock);
  closed = now;
  g_cond_broadcast (&gate_changed);
  g_mutex_unlock (&gate_lock);
}

/* In place of the C library's. */
int
fsync (int fd)
{
  g_mutex_lock (&gate_lock);
  while (closed)
    g_cond_wait (&gate_changed, &gate_lock);
  g_mutex_unlock (&gate_lock);
  return fdatasync (fd);
}

#define FRAME G_GUINT64_CONSTANT (40000000)

/* A model that runs, a folder for its black boxes, and the callback that got them. */
typedef struct
{
  SlModel *model;
  SlSession *session;
  SlReplayBuffers buffers;
  char *folder;
  GMutex lock;
  GCond changed;
  guint written, failed, inferences; /* @inferences: of the last one */
  guint freed;                       /* how many recorders no longer tell of any */
  char *message;                     /* (nullable): of the last one */
} Fixture;

static Fixture *
setup (void)
{
  g_autoptr (GError) error = NULL;
  Fixture *f = g_new0 (Fixture, 1);
  SlTfliteWriter *writer = tiny_channels ();
  g_autofree char *path = sl_tflite_writer_save_temp (writer, "model.tflite", NULL);
  sl_tflite_writer_free (writer);
  f->model = sl_model_load (path, NULL, &error);
  g_assert_no_error (error);
  sl_tflite_remove_temp (path);
  f->session = sl_session_new (sl_model_graph (f->model), 1, &error);
  g_assert_no_error (error);
  f->folder = g_dir_make_tmp ("recorder-XXXXXX", NULL);
  g_autoptr (SlBlackBoxInfo) info = sl_black_box_info_new (f->model, f->session, NULL, &error);
  g_assert_true (sl_replay_buffers_init (&f->buffers, info, &error));
  g_mutex_init (&f->lock);
  g_cond_init (&f->changed);
  return f;
}

static gint
by_name (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/* (transfer full): names in the folder, in their order. */
static GPtrArray *
list (const Fixture *f)
{
  GPtrArray *paths = g_ptr_array_new_with_free_func (g_free);
  GDir *dir = g_dir_open (f->folder, 0, NULL);
  for (const char *name = g_dir_read_name (dir); name != NULL; name = g_dir_read_name (dir))
    g_ptr_array_add (paths, g_build_filename (f->folder, name, NULL));
  g_dir_close (dir);
  g_ptr_array_sort (paths, by_name);
  return paths;
}

/* Waits for all that recorders write. */
static void
let_go (SlRecorder *recorder)
{
  sl_recorder_unref (recorder);
  g_assert_true (sl_recorders_wait (g_get_monotonic_time () + PATIENCE));
}

static void
teardown (Fixture *f)
{
  g_assert_true (sl_recorders_wait (g_get_monotonic_time () + PATIENCE));
  g_autoptr (GPtrArray) paths = list (f);
  for (guint i = 0; i < paths->len; i++)
    g_unlink (paths->pdata[i]);
  g_assert_cmpint (g_rmdir (f->folder), ==, 0);
  sl_replay_buffers_clear (&f->buffers);
  sl_session_free (f->session);
  sl_model_unref (f->model);
  g_mutex_clear (&f->lock);
  g_cond_clear (&f->changed);
  g_free (f->folder);
  g_free (f->message);
  g_free (f);
}

static void
note (const char *path, guint inferences, const GError *error, gpointer data)
{
  Fixture *f = data;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&f->lock);
  f->written += error == NULL;
  f->failed += error != NULL;
  f->inferences = inferences;
  g_free (f->message);
  f->message = error != NULL ? g_strdup (error->message) : NULL;
  g_cond_broadcast (&f->changed);
}

static void
note_freed (gpointer data)
{
  Fixture *f = data;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&f->lock);
  f->freed++;
}

static void
forget (gpointer held)
{
  *(guint *) held = 0;
}

static void
wait_for (Fixture *f, guint written, guint failed)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&f->lock);
  while (f->written < written || f->failed < failed)
    g_cond_wait (&f->changed, &f->lock);
}

static SlRecorder *
start (Fixture *f, guint seconds, guint64 limit, guint files)
{
  g_autoptr (GError) error = NULL;
  const SlRecorderSettings settings = { .folder = f->folder,
                                        .seconds = seconds,
                                        .limit = limit,
                                        .files = files,
                                        .written = note,
                                        .data = f,
                                        .free_data = note_freed };
  SlRecorder *recorder = sl_recorder_new (f->model, f->session, NULL, &settings, &error);
  g_assert_no_error (error);
  return recorder;
}

/* With the input that only this @n has; FALSE when it could not be recorded. */
static gboolean
run_one (Fixture *f, SlRecorder *recorder, guint n, gboolean finish, GError **error)
{
  const void *const *inputs = (const void *const *) f->buffers.inputs;
  memset (f->buffers.inputs[0], (int) n, sl_model_contract (f->model)->inputs[0].bytes);
  if (!sl_recorder_begin (recorder, n * FRAME, inputs, error))
    return FALSE;
  g_assert_cmpint (sl_session_run (f->session, inputs, f->buffers.outputs), ==, SL_STATUS_OK);
  return !finish || sl_recorder_end (recorder, (const void *const *) f->buffers.outputs, error);
}

static void
run_some (Fixture *f, SlRecorder *recorder, guint from, guint to)
{
  g_autoptr (GError) error = NULL;
  for (guint n = from; n <= to; n++)
    g_assert_true (run_one (f, recorder, n, TRUE, &error));
  g_assert_no_error (error);
}

static void
never (guint64 number, const SlReplayDifference *difference, const char *failure, gpointer data)
{
  g_assert_null (failure);
  g_assert_null (difference);
}

/* The box has inferences @from..@to, which a session that computes them again agrees with. */
static void
check_box (Fixture *f, const char *path, guint from, guint to, guint unfinished, const char *reason)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlBlackBox) box = sl_black_box_open (path, &error);
  g_assert_no_error (error);
  SlReplaySum sum;
  g_assert_nonnull (strstr (sl_black_box_info (box)->reason, reason));
  g_assert_true (sl_black_box_check_model (sl_black_box_info (box), f->model, FALSE, &error));
  g_assert_true (sl_replay_run (box, f->session, never, NULL, &sum, &error));
  g_assert_cmpuint (sum.equal, ==, to - from + 1 - unfinished);
  g_assert_cmpuint (sum.unfinished, ==, unfinished);
  for (guint i = 0; i < sl_black_box_n_inferences (box); i++) {
    SlBlackBoxInference inference;
    sl_black_box_inference (box, i, &inference);
    g_assert_cmpuint (inference.number, ==, from + i);
    g_assert_cmpuint (inference.pts, ==, (from + i) * FRAME);
    g_assert_cmpuint (*(const guint8 *) inference.inputs[0], ==, (guint8) (from + i));
  }
}

static void
test_dump (void)
{
  Fixture *f = setup ();
  SlRecorder *recorder = start (f, 3600, 1 << 20, 10);
  g_assert_null (sl_recorder_dump (recorder, "too early", NULL, NULL));
  run_some (f, recorder, 1, 20);
  g_autofree char *path = sl_recorder_dump (recorder, "a test", NULL, NULL),
                  *name = g_path_get_basename (path);
  run_some (f, recorder, 21, 40);
  wait_for (f, 1, 0);
  g_assert_cmpuint (f->inferences, ==, 20);
  g_assert_true (g_regex_match_simple (
    "^blackbox-[0-9]{8}T[0-9]{6}\\.[0-9]{6}Z-[0-9]+-[0-9a-f]{8}\\.slbox$", name, 0, 0));
  check_box (f, path, 1, 20, 0, "a test");
  GStatBuf info;
  g_assert_cmpint (g_stat (path, &info), ==, 0);
  g_assert_cmpint (info.st_mode & 0777, ==, 0600);
  let_go (recorder);
  g_autoptr (GPtrArray) paths = list (f);
  g_assert_cmpuint (paths->len, ==, 1);
  teardown (f);
}

/* The newest that fit the bytes; the last one, which runs, has no outputs yet. */
static void
test_limit (void)
{
  Fixture *f = setup ();
  const guint most = 7;
  g_autoptr (SlBlackBoxInfo) info = sl_black_box_info_new (f->model, f->session, NULL, NULL);
  g_autoptr (GError) error = NULL;
  const SlRecorderSettings none = {
    .folder = f->folder, .seconds = 1, .limit = 8, .files = 1, .written = note, .data = f
  };
  g_assert_null (sl_recorder_new (f->model, f->session, NULL, &none, &error));
  expect_error (
    &error, SL_ERROR_LIMIT, "expected at least ",
    " bytes for the black box, what an inference of this model takes, got 8: set black-box-limit",
    NULL);
  /* Head of 7 numbers, a hash of the output, the output and the input, rounded to a number of 8
   * bytes. */
  const gsize slot = (7 * 8 + 8 + info->outputs[0].bytes + info->inputs[0].bytes + 7) / 8 * 8;
  SlRecorder *recorder = start (f, 3600, most * slot, 10);
  run_some (f, recorder, 1, 49);
  g_assert_true (run_one (f, recorder, 50, FALSE, NULL));
  g_autofree char *path = sl_recorder_dump (recorder, "limit", NULL, NULL);
  let_go (recorder);
  check_box (f, path, 44, 50, 1, "limit");
  teardown (f);
}

/* What is older than the seconds is not written. A busy machine may need some tries. */
static void
test_seconds (void)
{
  Fixture *f = setup ();
  SlRecorder *recorder = start (f, 1, 1 << 20, 10);
  guint last = 0;
  for (gint64 took = G_USEC_PER_SEC; took >= G_USEC_PER_SEC; last += 8) {
    run_some (f, recorder, last + 1, last + 5);
    g_usleep (1200000);
    const gint64 begun = g_get_monotonic_time ();
    run_some (f, recorder, last + 6, last + 8);
    took = g_get_monotonic_time () - begun;
  }
  g_autofree char *path = sl_recorder_dump (recorder, "seconds", NULL, NULL);
  let_go (recorder);
  check_box (f, path, last - 2, last, 0, "seconds");
  teardown (f);
}

static char *
put (const Fixture *f, const char *name)
{
  char *path = g_build_filename (f->folder, name, NULL);
  g_assert_true (g_file_set_contents (path, "x", 1, NULL));
  return path;
}

/* What could be a black box of the fixture's model, of @time. */
static char *
put_box (const Fixture *f, const char *time)
{
  g_autoptr (SlBlackBoxInfo) info = sl_black_box_info_new (f->model, f->session, NULL, NULL);
  gint64 created;
  g_autofree char *any = sl_black_box_path (f->folder, info->model, &created),
                  *name = g_strconcat ("blackbox-", time, "-1", strrchr (any, '-'), NULL);
  return put (f, name);
}

/* So many of each model: what many of one push out is theirs. */
static void
test_models_apart (void)
{
  Fixture *f = setup ();
  g_autofree char *other = put (f, "blackbox-20200101T000000.000000Z-1-01234567.slbox");
  g_autofree char *old = put (f, "blackbox-20190101T000000.000000Z-1-01234567.slbox");
  g_autofree char *own = put_box (f, "20200102T000000.000000Z"),
                  *newest = put_box (f, "20200103T000000.000000Z");
  sl_black_box_prune (f->folder, 1, NULL);
  g_assert_true (g_file_test (other, G_FILE_TEST_EXISTS)
                 && g_file_test (newest, G_FILE_TEST_EXISTS));
  g_assert_false (g_file_test (old, G_FILE_TEST_EXISTS) || g_file_test (own, G_FILE_TEST_EXISTS));
  teardown (f);
}

/* Names of older versions tell no model: they are ours, too, and what was left unfinished of them.
 */
static void
test_without_model (void)
{
  Fixture *f = setup ();
  g_autofree char *oldest = put (f, "blackbox-20200101T000000.000000Z-1.slbox"),
                  *part = put (f, "blackbox-20200101T000000.000000Z-1.slbox.part");
  g_autofree char *older = put (f, "blackbox-20200102T000000.000000Z-123.slbox"),
                  *other = put_box (f, "20200103T000000.000000Z");
  sl_black_box_prune (f->folder, 1, NULL);
  g_assert_false (g_file_test (oldest, G_FILE_TEST_EXISTS)
                  || g_file_test (part, G_FILE_TEST_EXISTS));
  g_assert_true (g_file_test (older, G_FILE_TEST_EXISTS)
                 && g_file_test (other, G_FILE_TEST_EXISTS));
  teardown (f);
}

/* The newest are kept, and all that only looks like a black box. */
static void
test_files (void)
{
  static const char *const others[] = { "blackbox-of-mine.slbox",
                                        "blackbox-2026-11-23.slbox",
                                        "blackbox-1.slbox.part",
                                        "blackbox-20200101T000000.000000Z-1-01234567.slbox.old",
                                        "blackbox-20200101T000000.000000Z-1-2.slbox",
                                        "blackbox-20200101T000000.000000Z.slbox",
                                        "blackbox-20200101T000000.000000Z-1-0123456g.slbox",
                                        "blackbox-20200101T000000.000000Z-1-012345678.slbox",
                                        "blackbox-20200101T000000.000000Z--01234567.slbox",
                                        "blackbox-20200101T000000Z-1-01234567.slbox" };
  Fixture *f = setup ();
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    g_free (put (f, others[i]));
  g_free (put (f, "blackbox-20200101T000000.000000Z-1-01234567.slbox.part"));
  g_free (put_box (f, "20200101T000000.000000Z"));
  SlRecorder *recorder = start (f, 3600, 1 << 20, 3);
  g_autofree char *last = NULL;
  for (guint i = 1; i <= 5; i++) {
    run_some (f, recorder, i, i);
    g_free (last);
    last = sl_recorder_dump (recorder, "files", NULL, NULL);
    wait_for (f, i, 0);
  }
  let_go (recorder);
  g_autoptr (GPtrArray) paths = list (f);
  g_assert_cmpuint (paths->len, ==, 3 + G_N_ELEMENTS (others));
  g_assert_true (g_file_test (last, G_FILE_TEST_EXISTS));
  for (guint i = 0; i < G_N_ELEMENTS (others); i++) {
    g_autofree char *path = g_build_filename (f->folder, others[i], NULL);
    g_assert_true (g_file_test (path, G_FILE_TEST_EXISTS));
  }
  teardown (f);
}

/* Black boxes of the years to come are there: a board starts without its clock. New ones go on from
 * them. */
static void
test_clock_behind (void)
{
  Fixture *f = setup ();
  g_autofree char *first = put_box (f, "20990101T000000.000000Z"),
                  *second = put_box (f, "20990102T235959.999999Z");
  g_autofree char *never = put_box (f, "99999999T999999.999999Z"),
                  *never_again = put_box (f, "99991231T235959.999999Z");
  SlRecorder *recorder = start (f, 3600, 1 << 20, 3);
  run_some (f, recorder, 1, 1);
  g_autofree char *one = sl_recorder_dump (recorder, "clock", NULL, NULL);
  wait_for (f, 1, 0);
  run_some (f, recorder, 2, 2);
  g_autofree char *other = sl_recorder_dump (recorder, "clock", NULL, NULL);
  let_go (recorder);
  g_assert_nonnull (strstr (one, "blackbox-20990103T000000.000000Z-"));
  g_assert_nonnull (strstr (other, "blackbox-20990103T000000.000001Z-"));
  g_assert_false (g_file_test (first, G_FILE_TEST_EXISTS)
                  || g_file_test (second, G_FILE_TEST_EXISTS));
  g_assert_true (g_file_test (never, G_FILE_TEST_EXISTS)
                 && g_file_test (never_again, G_FILE_TEST_EXISTS));
  check_box (f, other, 1, 2, 0, "clock");
  g_autoptr (SlBlackBox) box = sl_black_box_open (other, NULL);
  g_assert_cmpint (sl_black_box_info (box)->created, <=, g_get_real_time ());
  teardown (f);
}

/* A file that is being written stays when another process tidies up. A replaced file belongs to no
 * process. */
static void
test_locked (void)
{
  Fixture *f = setup ();
  g_autoptr (GError) error = NULL;
  g_autoptr (SlBlackBoxInfo) info = sl_black_box_info_new (f->model, f->session, NULL, NULL);
  gint64 created;
  g_autofree char *path = sl_black_box_path (f->folder, info->model, &created),
                  *part = g_strconcat (path, ".part", NULL);
  g_autoptr (SlBlackBoxWriter) writer = sl_black_box_writer_new (path, info, &error);
  sl_black_box_prune (f->folder, 1, NULL);
  g_assert_true (sl_black_box_writer_finish (writer, &error));
  g_assert_no_error (error);
  const int fd = g_open (path, O_RDONLY | O_CLOEXEC, 0);
  g_clear_pointer (&writer, sl_black_box_writer_free);
  g_assert_true (sl_black_box_lock (fd, path, FALSE));
  g_assert_false (sl_black_box_lock (fd, part, FALSE));
  g_assert_true (g_file_set_contents (part, "x", 1, NULL));
  g_assert_false (sl_black_box_lock (fd, part, FALSE));
  close (fd);
  teardown (f);
}

/* Dumps while the model runs as fast as it can: each is whole, and lacks at most what was
 * overwritten meanwhile. */
static void
test_dump_while_running (void)
{
  Fixture *f = setup ();
  SlRecorder *recorder = start (f, 3600, 1 << 20, 100);
  guint n = 0, asked = 0;
  for (; asked < 20; n++) {
    run_some (f, recorder, n + 1, n + 1);
    g_autofree char *path = n % 50 == 49 ? sl_recorder_dump (recorder, "busy", NULL, NULL) : NULL;
    asked += path != NULL;
  }
  let_go (recorder);
  g_assert_cmpuint (f->written, ==, 20);
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) paths = list (f);
  for (guint i = 0; i < paths->len; i++) {
    g_autoptr (SlBlackBox) box = sl_black_box_open (paths->pdata[i], &error);
    g_assert_no_error (error);
    SlReplaySum sum;
    guint64 before = 0;
    g_assert_true (sl_replay_run (box, f->session, never, NULL, &sum, &error));
    g_assert_cmpuint (sum.equal, ==, sl_black_box_n_inferences (box));
    for (guint k = 0; k < sum.equal; k++) {
      SlBlackBoxInference inference;
      sl_black_box_inference (box, k, &inference);
      g_assert_cmpuint (inference.number, >, before);
      before = inference.number;
    }
  }
  teardown (f);
}

/* A process that is killed while it computes inference 10. */
static pid_t
fork_recorder (Fixture *f)
{
  const pid_t child = fork ();
  if (child != 0)
    return child;
  SlRecorder *recorder = start (f, 3600, 1 << 20, 10);
  run_some (f, recorder, 1, 9);
  run_one (f, recorder, 10, FALSE, NULL);
  kill (getpid (), SIGKILL);
  return 0;
}

static void
expect_recovery (Fixture *f, pid_t child)
{
  int status = 0;
  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  g_assert_true (WIFSIGNALED (status));
  SlRecorder *recorder = start (f, 3600, 1 << 20, 10);
  wait_for (f, 1, 0);
  let_go (recorder);
  g_autoptr (GPtrArray) paths = list (f);
  g_assert_cmpuint (paths->len, ==, 1);
  check_box (f, paths->pdata[0], 1, 10, 1,
             "the process that recorded is no more: it crashed or was killed");
  sl_ring_recover (f->folder, 10, note, f); /* once */
  g_assert_cmpuint (f->written, ==, 1);
}

/* Where a service manager gave a folder, the recording is there. ThreadSanitizer wants no threads
 * where a process is forked. */
static void
test_killed (void)
{
  Fixture *f = setup (), *service = setup ();
  g_autofree char *given = g_dir_make_tmp ("recorder-run-XXXXXX", NULL),
                  *two = g_strconcat (given, ":/nowhere", NULL);
  const pid_t child = fork_recorder (f);
  g_setenv ("RUNTIME_DIRECTORY", two, TRUE);
  const pid_t in_service = fork_recorder (service);
  expect_recovery (service, in_service);
  g_assert_cmpint (g_rmdir (given), ==, 0); /* it is empty */
  g_unsetenv ("RUNTIME_DIRECTORY");
  expect_recovery (f, child);
  teardown (service);
  teardown (f);
}

/* Freeing a recorder does not wait for the disk. Requested files are written, and the callback's
 * data lives until then. */
static void
test_slow_disk (void)
{
  Fixture *f = setup ();
  guint held = 1;
  SlRecorder *old = start (f, 3600, 1 << 20, 10), *next = start (f, 3600, 1 << 20, 10);
  run_some (f, old, 1, 20);
  set_gate (TRUE);
  g_autofree char *first = sl_recorder_dump (old, "of the old one", &held, forget);
  sl_recorder_unref (old);
  run_some (f, next, 1, 5);
  g_autofree char *second = sl_recorder_dump (next, "of the next one", NULL, NULL);
  sl_recorder_unref (next);
  g_assert_false (sl_recorders_wait (0));
  g_assert_false (g_file_test (first, G_FILE_TEST_EXISTS)
                  || g_file_test (second, G_FILE_TEST_EXISTS));
  g_assert_cmpuint (f->written + f->freed, ==, 0);
  set_gate (FALSE);
  g_assert_true (sl_recorders_wait (g_get_monotonic_time () + PATIENCE));
  g_assert_cmpuint (held, ==, 0);
  g_assert_cmpuint (f->written, ==, 2);
  g_assert_cmpuint (f->freed, ==, 2);
  check_box (f, first, 1, 20, 0, "of the old one");
  check_box (f, second, 1, 5, 0, "of the next one");
  teardown (f);
}

/* Where nothing is written, the recording is gone at once, though the program may end before its
 * threads. */
static void
test_let_go (void)
{
  Fixture *f = setup ();
  g_autofree char *given = g_dir_make_tmp ("recorder-run-XXXXXX", NULL);
  g_setenv ("RUNTIME_DIRECTORY", given, TRUE);
  SlRecorder *recorder = start (f, 3600, 1 << 20, 10);
  run_some (f, recorder, 1, 5);
  g_assert_cmpint (g_rmdir (given), !=, 0);
  sl_recorder_unref (recorder);
  g_assert_cmpint (g_rmdir (given), ==, 0);
  g_unsetenv ("RUNTIME_DIRECTORY");
  teardown (f);
}

/* What a black box is still to have is not overwritten, however long its disk takes; meanwhile new
 * inferences find no room. */
static void
test_wanted (void)
{
  Fixture *f = setup ();
  g_autoptr (GError) error = NULL;
  g_autoptr (SlBlackBoxInfo) info = sl_black_box_info_new (f->model, f->session, NULL, NULL);
  g_autoptr (SlRing) ring = sl_ring_new (info, f->folder, 3600, 4096, &error);
  const void *const *inputs = (const void *const *) f->buffers.inputs;
  g_assert_no_error (error);
  for (guint i = 0; i < 100; i++)
    g_assert_true (sl_ring_begin (ring, 0, inputs, &error));
  SlRingView *view = sl_ring_view (ring);
  for (guint i = 0; i < 100; i++)
    g_assert_true (sl_ring_begin (ring, 0, inputs, &error));
  gint64 created;
  guint n = 0;
  g_autofree char *path = sl_black_box_path (f->folder, info->model, &created);
  g_autoptr (SlBlackBoxWriter) writer = sl_black_box_writer_new (path, info, &error);
  g_assert_true (sl_ring_write (view, writer, &n, &error));
  g_assert_cmpuint (n, >, 2);
  /* Nobody needs them now. */
  for (guint i = 0; i < 100; i++)
    g_assert_true (sl_ring_begin (ring, 0, inputs, &error));
  g_assert_false (sl_ring_write (view, writer, &n, &error));
  expect_error (&error, SL_ERROR_OPEN, ".ring: none of its inferences could be read", NULL);
  sl_ring_view_free (view);
  teardown (f);
}

/* What @name of a ring holds, beside @ring, which another process may have left. */
static char *
put_beside (const char *ring, const char *suffix, gconstpointer data, gsize size)
{
  g_autofree char *begin = g_strndup (ring, strlen (ring) - strlen (".ring"));
  char *path = g_strconcat (begin, suffix, ".ring", NULL);
  g_assert_true (g_file_set_contents (path, data, (gssize) size, NULL));
  return path;
}

/* Files that are named like a ring and are not one, or of another version, or of a process that
 * lives. */
static void
test_other_rings (void)
{
  Fixture *f = setup ();
  g_autoptr (GError) error = NULL;
  g_autoptr (SlBlackBoxInfo) info = sl_black_box_info_new (f->model, f->session, NULL, NULL);
  g_autoptr (SlRing) ring = sl_ring_new (info, f->folder, 10, 1 << 20, &error);
  gboolean in_memory;
  g_assert_no_error (error);
  g_assert_true (sl_ring_begin (ring, 0, (const void *const *) f->buffers.inputs, &error));
  const char *path = sl_ring_path (ring, &in_memory);
  g_autofree guint64 *head = NULL;
  gsize size = 0;
  g_assert_true (g_file_get_contents (path, (char **) &head, &size, NULL));
  g_autofree char *garbage = put_beside (path, "g", "garbage", 7),
                  *empty = put_beside (path, "e", "", 0);
  head[1] = 7; /* the version */
  g_autofree char *other = put_beside (path, "v", head, size),
                  *link = put_beside (path, "l", "", 0), *fifo = put_beside (path, "f", "", 0);
  g_assert_cmpint (g_unlink (link) + g_unlink (fifo), ==, 0);
  g_assert_cmpint (symlink ("/etc/passwd", link) + mkfifo (fifo, 0600), ==, 0);
  sl_ring_recover (f->folder, 10, note, f);
  g_autoptr (GPtrArray) paths = list (f);
  g_assert_cmpuint (f->written, ==, 0);
  g_assert_cmpuint (f->failed, ==, 1);
  g_assert_nonnull (strstr (
    f->message,
    "v.ring: what another process recorded: expected version 1, got 7: start the Sightline that "
    "recorded it once, or delete the file"));
  g_assert_true (g_file_test (path, G_FILE_TEST_EXISTS) && g_file_test (other, G_FILE_TEST_EXISTS)
                 && g_file_test (empty, G_FILE_TEST_EXISTS));
  g_assert_true (g_file_test (link, G_FILE_TEST_IS_SYMLINK)
                 && g_file_test (fifo, G_FILE_TEST_EXISTS));
  for (guint i = 0; i < paths->len; i++)
    g_assert_true (g_str_has_suffix (paths->pdata[i], ".ring"));
  const char *const left[] = { other, empty, link, fifo, garbage };
  for (guint i = 0; i < G_N_ELEMENTS (left); i++)
    g_assert_cmpint (g_unlink (left[i]) == 0, ==, i < 4);
  teardown (f);
}

/* Nothing is recorded, which is told once, and all else goes on. */
static void
test_no_folder (void)
{
  Fixture *f = setup ();
  g_autoptr (GError) error = NULL;
  gboolean in_memory;
  const SlRecorderSettings nowhere = {
    .folder = "/nowhere", .seconds = 1, .limit = 1 << 20, .files = 1, .written = note, .data = f
  };
  SlRecorder *recorder = sl_recorder_new (f->model, f->session, NULL, &nowhere, &error);
  g_assert_no_error (error);
  g_assert_null (sl_recorder_place (recorder, &in_memory));
  g_assert_false (run_one (f, recorder, 1, TRUE, &error));
  expect_error (
    &error, SL_ERROR_OPEN,
    "black-box=/nowhere: expected a folder that can be written to, got: No such file or directory",
    NULL);
  run_some (f, recorder, 2, 3);
  g_assert_null (sl_recorder_dump (recorder, "nothing", NULL, NULL));
  let_go (recorder);
  teardown (f);
}

/* A folder that turns read-only, as a disk with errors does: the model runs and is recorded on, and
 * a black box is written when that is over. */
static void
test_read_only (void)
{
  Fixture *f = setup ();
  if (mount ("none", f->folder, "tmpfs", 0, "size=1m") != 0) {
    g_test_skip ("no file system can be mounted here");
    teardown (f);
    return;
  }
  SlRecorder *recorder = start (f, 3600, 1 << 20, 10);
  run_some (f, recorder, 1, 5);
  g_assert_cmpint (mount ("none", f->folder, "tmpfs", MS_REMOUNT | MS_RDONLY, NULL), ==, 0);
  g_free (sl_recorder_dump (recorder, "read-only", NULL, NULL));
  wait_for (f, 0, 1);
  g_assert_nonnull (strstr (f->message, ".slbox.part: cannot be written: Read-only file system"));
  run_some (f, recorder, 6, 10);
  g_assert_cmpint (mount ("none", f->folder, "tmpfs", MS_REMOUNT, NULL), ==, 0);
  g_autofree char *path = sl_recorder_dump (recorder, "again", NULL, NULL);
  let_go (recorder);
  check_box (f, path, 1, 10, 0, "again");
  umount2 (f->folder, MNT_DETACH);
  teardown (f);
}

/* No file may grow beyond some inferences: those are kept in turn, and a black box of them is
 * written as far as it can be. */
static void
test_no_room (void)
{
  Fixture *f = setup ();
  struct rlimit before, less;
  g_autoptr (GError) error = NULL;
  g_assert_cmpint (getrlimit (RLIMIT_FSIZE, &before), ==, 0);
  less = before;
  less.rlim_cur = 72 * 1024;
  void (*was) (int) = signal (SIGXFSZ, SIG_IGN);
  SlRecorder *recorder = start (f, 3600, 1 << 20, 10);
  g_assert_cmpint (setrlimit (RLIMIT_FSIZE, &less), ==, 0);
  guint short_of = 0;
  for (guint i = 1; i <= 200; i++) {
    if (run_one (f, recorder, i, TRUE, &error))
      continue;
    short_of++;
    expect_error (&error, SL_ERROR_LIMIT, ".ring: there is room for ",
                  " inferences, fewer than in 3600 seconds", NULL);
    g_assert_true (sl_recorder_end (recorder, (const void *const *) f->buffers.outputs, &error));
  }
  g_assert_cmpuint (short_of, ==, 1);
  setrlimit (RLIMIT_FSIZE, &before);
  g_autofree char *path = sl_recorder_dump (recorder, "room", NULL, NULL);
  let_go (recorder);
  g_autoptr (SlBlackBox) box = sl_black_box_open (path, &error);
  g_assert_no_error (error);
  const guint n = sl_black_box_n_inferences (box);
  g_assert_cmpuint (n, >, 1);
  g_assert_cmpuint (n, <, 100);
  check_box (f, path, 201 - n, 200, 0, "room");
  /* And none at all. */
  less.rlim_cur = 68 * 1024;
  recorder = start (f, 3600, 1 << 20, 10);
  setrlimit (RLIMIT_FSIZE, &less);
  g_assert_false (run_one (f, recorder, 1, TRUE, &error));
  expect_error (&error, SL_ERROR_OPEN, ".ring: cannot be written: File too large", NULL);
  g_assert_true (run_one (f, recorder, 2, TRUE, &error)); /* told once */
  g_assert_null (sl_recorder_dump (recorder, "nothing", NULL, NULL));
  /* With room it grows after a while. */
  setrlimit (RLIMIT_FSIZE, &before);
  g_usleep (1100000);
  run_some (f, recorder, 3, 20);
  g_autofree char *later = sl_recorder_dump (recorder, "later", NULL, NULL);
  let_go (recorder);
  check_box (f, later, 3, 20, 0, "later");
  /* A black box that does not fit leaves nothing. */
  recorder = start (f, 3600, 1 << 20, 10);
  run_some (f, recorder, 1, 10);
  less.rlim_cur = 256;
  setrlimit (RLIMIT_FSIZE, &less);
  g_free (sl_recorder_dump (recorder, "no room", NULL, NULL));
  wait_for (f, 0, 1);
  setrlimit (RLIMIT_FSIZE, &before);
  g_assert_nonnull (strstr (f->message, ".slbox.part: cannot be written: File too large"));
  let_go (recorder);
  g_autoptr (GPtrArray) paths = list (f);
  g_assert_cmpuint (paths->len, ==, 2);
  signal (SIGXFSZ, was);
  teardown (f);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_unsetenv ("RUNTIME_DIRECTORY");
  g_test_add_func ("/recorder/killed", test_killed); /* first */
  g_test_add_func ("/recorder/dump", test_dump);
  g_test_add_func ("/recorder/limit", test_limit);
  g_test_add_func ("/recorder/seconds", test_seconds);
  g_test_add_func ("/recorder/files", test_files);
  g_test_add_func ("/recorder/models-apart", test_models_apart);
  g_test_add_func ("/recorder/without-model", test_without_model);
  g_test_add_func ("/recorder/clock-behind", test_clock_behind);
  g_test_add_func ("/recorder/locked", test_locked);
  g_test_add_func ("/recorder/dump-while-running", test_dump_while_running);
  g_test_add_func ("/recorder/slow-disk", test_slow_disk);
  g_test_add_func ("/recorder/let-go", test_let_go);
  g_test_add_func ("/recorder/wanted", test_wanted);
  g_test_add_func ("/recorder/other-rings", test_other_rings);
  g_test_add_func ("/recorder/no-folder", test_no_folder);
  g_test_add_func ("/recorder/read-only", test_read_only);
  g_test_add_func ("/recorder/no-room", test_no_room);
  return g_test_run ();
}
