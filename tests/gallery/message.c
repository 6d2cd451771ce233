/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages of galleries: what is written is read again, and what nobody has written is refused. */
#include "pipelines/gallery/message.h"

#include <math.h>
#include <string.h>

#include "tests/gallery/support.h"
#include "tests/support/program.h"

#define TOPIC "person/1000000001"
#define HEAD 4

static const SlIdentityWho who = { TEST_MODEL, TEST_LENGTH };

static SlIdentityState *
new_state (void)
{
  SlIdentityState *state = g_new0 (SlIdentityState, 1);
  state->n_views = 2;
  state->n_seen = 1;
  for (guint i = 0; i < state->n_views; i++) {
    g_strlcpy (state->cameras[i], i == 0 ? "gate" : "h\303\266f", sizeof state->cameras[i]);
    state->times[i] = 1000 + i;
  }
  for (guint i = 0; i < state->n_views * TEST_LENGTH; i++)
    state->rows[i] = (gint8) (i * 37);
  state->seen[0] = (SlIdentitySeen){ "gate", 900, 1000, 0.75, 0.5 };
  return state;
}

static GBytes *
write_state (const SlIdentityWho *whose, const SlIdentityState *state, const SlSeal *seal)
{
  g_autoptr (GError) error = NULL;
  GBytes *bytes = sl_identity_state_write (whose, state, seal, TOPIC, &error);
  g_assert_no_error (error);
  return bytes;
}

static gboolean
read_state (GBytes *bytes, const SlSeal *seal, const char *topic, SlIdentityState *state,
            GError **error)
{
  gsize n;
  const void *data = g_bytes_get_data (bytes, &n);
  return sl_identity_state_read (&who, seal, topic, data, n, state, error);
}

static void
check_refused (GBytes *bytes, const SlSeal *seal, const char *topic, const char *sentence)
{
  g_autoptr (GError) error = NULL;
  g_autofree SlIdentityState *state = g_new0 (SlIdentityState, 1);
  g_assert_false (read_state (bytes, seal, topic, state, &error));
  g_assert_cmpstr (error->message, ==, sentence);
}

static SlSeal *
new_seal (char digit)
{
  g_autoptr (GError) error = NULL;
  char *folder = test_folder ();
  g_autofree char *path = test_key (folder, "key", digit);
  SlSeal *seal = sl_seal_new (path, &error);
  g_assert_no_error (error);
  test_folder_remove (folder);
  return seal;
}

static void
test_state (void)
{
  g_autofree SlIdentityState *state = new_state (), *read = g_new0 (SlIdentityState, 1);
  g_autoptr (SlSeal) seal = new_seal ('a');
  for (guint i = 0; i < 2; i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (GBytes) bytes = write_state (&who, state, i == 0 ? NULL : seal);
    memset (read, 0, sizeof *read);
    g_assert_true (read_state (bytes, i == 0 ? NULL : seal, TOPIC, read, &error));
    g_assert_no_error (error);
    g_assert_cmpmem (read, sizeof *read, state, sizeof *state);
    gsize n;
    const void *data = g_bytes_get_data (bytes, &n);
    g_assert_true ((memmem (data, n, state->rows, TEST_LENGTH) != NULL) == (i == 0));
  }
}

static void
test_others (void)
{
  g_autoptr (GError) error = NULL;
  const SlIdentityErasure erasure = { 7, 55, 0, 66, "gate" };
  const SlIdentityHello hello = { "0123456789abcdef0123456789abcdef", 77 };
  SlIdentityErasure read = { 0 };
  SlIdentityHello heard = { { 0 }, 0 };
  gsize n;
  g_autoptr (GBytes) bytes = sl_identity_erasure_write (&who, &erasure, NULL, "erased/a", &error);
  const void *data = g_bytes_get_data (bytes, &n);
  g_assert_true (sl_identity_erasure_read (&who, NULL, "erased/a", data, n, &read, &error));
  g_assert_cmpint (read.person, ==, 7);
  g_assert_cmpint (read.before, ==, 55);
  g_assert_cmpint (read.same, ==, 0);
  g_assert_cmpint (read.made, ==, 66);
  g_assert_cmpstr (read.camera, ==, "gate");
  g_autoptr (GBytes) more = sl_identity_hello_write (&who, &hello, NULL, "machine/1", &error);
  data = g_bytes_get_data (more, &n);
  g_assert_true (sl_identity_hello_read (&who, NULL, "machine/1", data, n, &heard, &error));
  g_assert_cmpstr (heard.origin, ==, hello.origin);
  g_assert_cmpint (heard.made, ==, 77);
  g_assert_no_error (error);
}

/* Everybody and everything, for ever, is not possible; nor is somebody who is herself. */
static void
test_erasures (void)
{
  static const SlIdentityErasure bad[] = { { 0, G_MAXINT64, 0, 1, "" }, { -1, 5, 0, 1, "" },
                                           { 1, 0, 0, 1, "" },          { 1, 5, 0, 0, "" },
                                           { 0, 1, 2, 1, "" },          { 2, 1, 2, 1, "" },
                                           { 1, 5, 0, 1, "a,b" } };
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (GBytes) bytes = sl_identity_erasure_write (&who, &bad[i], NULL, "erased/a", &error);
    SlIdentityErasure read;
    gsize n;
    const void *data = g_bytes_get_data (bytes, &n);
    g_assert_false (sl_identity_erasure_read (&who, NULL, "erased/a", data, n, &read, &error));
    g_assert_cmpstr (error->message, ==,
                     "a message in which what is erased is not possible, expected one that "
                     "slgallery has sent: let nobody else write to this topic");
  }
}

static void
test_sentences (void)
{
  g_autofree SlIdentityState *state = new_state ();
  g_autoptr (SlSeal) seal = new_seal ('a'), other = new_seal ('b');
  g_autoptr (GBytes) plain = write_state (&who, state, NULL),
                     sealed = write_state (&who, state, seal);
  const SlIdentityWho longer = { TEST_MODEL, TEST_LENGTH + 1 }, strange = { "x", TEST_LENGTH };
  g_autoptr (GBytes) more = write_state (&longer, state, NULL),
                     model = write_state (&strange, state, NULL);
  g_autoptr (GBytes) words = g_bytes_new_static ("hello", 5);
  g_autoptr (GBytes) later = g_bytes_new_static ("SLg\x20", HEAD);
  check_refused (words, NULL, TOPIC,
                 "5 bytes that are no message of a gallery, expected those of slgallery alone on "
                 "this topic: take another topic");
  check_refused (later, NULL, TOPIC,
                 "a message of version 2, expected version 1: run the same sightline on all "
                 "machines");
  check_refused (sealed, NULL, TOPIC,
                 "an encrypted message, expected a plain one: state the same key-file on all "
                 "machines");
  check_refused (plain, seal, TOPIC,
                 "a message that is not encrypted, expected an encrypted one: state the same "
                 "key-file on all machines");
  for (guint i = 0; i < 2; i++)
    check_refused (sealed, i == 0 ? other : seal, i == 0 ? TOPIC : "person/1000000002",
                   "a message that another key encrypted, or that was changed, expected one of the "
                   "same key: state the same key-file on all machines");
  check_refused (more, NULL, TOPIC,
                 "embeddings of another model (" TEST_MODEL ", 65 numbers), expected those "
                 "of " TEST_MODEL ", 64 numbers: take the same model on all machines, or another "
                 "topic");
  check_refused (model, NULL, TOPIC,
                 "embeddings of another model (x, 64 numbers), expected those of " TEST_MODEL
                 ", 64 numbers: take the same model on all machines, or another topic");
  state->seen[0].confidence = NAN;
  g_autoptr (GBytes) odd = write_state (&who, state, NULL);
  check_refused (odd, NULL, TOPIC,
                 "a message in which a sighting is not possible, expected one that slgallery has "
                 "sent: let nobody else write to this topic");
  state->times[1] = 0;
  g_autoptr (GBytes) early = write_state (&who, state, NULL);
  check_refused (early, NULL, TOPIC,
                 "a message in which an embedding is not possible, expected one that slgallery has "
                 "sent: let nobody else write to this topic");
}

/* Cut anywhere, and changed anywhere: refused, or read within the bounds. */
static void
test_hostile (void)
{
  g_autofree SlIdentityState *state = new_state (), *read = g_new0 (SlIdentityState, 1);
  g_autoptr (GBytes) bytes = write_state (&who, state, NULL);
  GRand *rand = g_rand_new_with_seed (5);
  gsize n;
  const guint8 *data = g_bytes_get_data (bytes, &n);
  for (guint i = 0; i < 4000; i++) {
    const gsize size = i < n ? i : n;
    g_autofree guint8 *copy = g_memdup2 (data, MAX (size, 1));
    for (guint k = 0; i >= n && k < 1 + i % 3; k++)
      copy[g_rand_int_range (rand, 0, (gint) n)] = (guint8) g_rand_int (rand);
    if (!sl_identity_state_read (&who, NULL, TOPIC, copy, size, read, NULL))
      continue;
    g_assert_cmpuint (size, ==, n);
    g_assert_cmpuint (read->n_views, <=, SL_IDENTITY_VIEWS);
    g_assert_cmpuint (read->n_seen, <=, SL_IDENTITY_CAMERAS);
    for (guint k = 0; k < read->n_views; k++)
      g_assert_true (sl_identity_camera_check (read->cameras[k], NULL));
  }
  g_rand_free (rand);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/message/state", test_state);
  g_test_add_func ("/message/others", test_others);
  g_test_add_func ("/message/erasures", test_erasures);
  g_test_add_func ("/message/sentences", test_sentences);
  g_test_add_func ("/message/hostile", test_hostile);
  return g_test_run ();
}
