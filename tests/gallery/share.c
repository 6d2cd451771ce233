/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Machines that share a gallery through a real broker, mosquitto, on the loopback. */
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>

#include "sightline/error.h"
#include "tests/elements/process.h"
#include "tests/elements/support.h"
#include "pipelines/gallery/shared.h"
#include "tests/gallery/support.h"

#define TRIES 30000 /* of a millisecond: then it is an error */

typedef struct
{
  char *folder, *config, *location;
  guint port;
  GPid broker;
} Net;

typedef struct
{
  char *path;
  SlIdentityCamera *camera;
  gint32 track;
} Machine;

static void
start_broker (Net *net)
{
  const char *argv[] = { "mosquitto", "-c", net->config, NULL };
  net->broker = test_spawn (argv, NULL);
  test_wait_listening (net->port);
}

/* FALSE, the test skipped, without a broker's program. */
static gboolean
open_net (Net *net)
{
  g_autofree char *program = g_find_program_in_path ("mosquitto");
  if (program == NULL) {
    g_test_skip ("needs the program mosquitto");
    return FALSE;
  }
  *net = (Net){ .folder = test_folder (), .port = test_reserve_port () };
  net->config = test_path (net->folder, "mosquitto.conf");
  net->location = g_strdup_printf ("mqtt://127.0.0.1:%u/people", net->port);
  g_autofree char *text =
    g_strdup_printf ("listener %u 127.0.0.1\nuser root\nallow_anonymous true\n", net->port);
  g_assert_true (g_file_set_contents (net->config, text, -1, NULL));
  start_broker (net);
  return TRUE;
}

static void
close_net (Net *net)
{
  if (net->broker != 0)
    test_kill (&net->broker, SIGKILL);
  test_folder_remove (net->folder);
  g_free (net->config);
  g_free (net->location);
}

static SlIdentityUse
use_of (const Net *net, const char *path, guint number)
{
  SlIdentityUse use = test_use (path, number == 1 ? "gate" : "hall");
  use.share = net->location;
  use.machine = number;
  return use;
}

static Machine
open_use (const Net *net, const SlIdentityUse *use)
{
  g_autoptr (GError) error = NULL;
  Machine machine = { g_strdup (use->path), sl_identity_camera_new (use, &error), 0 };
  g_assert_no_error (error);
  return machine;
}

static Machine
open_machine (const Net *net, const char *name, guint number)
{
  g_autofree char *path = test_path (net->folder, name);
  const SlIdentityUse use = use_of (net, path, number);
  return open_use (net, &use);
}

static void
close_machine (Machine *machine)
{
  g_free (sl_identity_camera_free (machine->camera));
  g_free (machine->path);
}

/* A new track of @person; returns who that is. */
static gint64
show (Machine *machine, guint person)
{
  gfloat look[TEST_LENGTH];
  SlIdentityObject object = { .track = ++machine->track, .look = look };
  test_look (person, 0, (guint) machine->track, 0.02, look);
  sl_identity_camera_frame (machine->camera, &object, 1, g_get_real_time ());
  return object.person;
}

static SlIdentityStats
stats_of (Machine *machine)
{
  SlIdentityStats stats;
  sl_identity_camera_stats (machine->camera, &stats);
  return stats;
}

static void
wait_people (Machine *machine, guint64 people)
{
  for (guint i = 0; stats_of (machine).people != people; i++) {
    g_assert_cmpuint (i, <, TRIES);
    g_usleep (1000);
  }
}

/* Until the machine tells of trouble. */
static char *
wait_trouble (Machine *machine)
{
  char *trouble;
  for (guint i = 0; (trouble = sl_identity_camera_trouble (machine->camera)) == NULL; i++) {
    g_assert_cmpuint (i, <, TRIES);
    g_usleep (1000);
  }
  return trouble;
}

static void
forget (const Machine *machine, gint64 person)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlIdentityStore) store = sl_identity_store_open (machine->path, NULL, &error);
  const SlIdentityChoice choice = { .person = person };
  guint n;
  /* The log is not cut where another connection reads at this moment. */
  sl_identity_store_forget (store, &choice, &n, &error);
  g_assert_cmpuint (n, >, 0);
}

static void
publish (const Net *net, const char *topic, const char *file, gboolean retain)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *port = g_strdup_printf ("%u", net->port);
  const char *argv[] = {
    "mosquitto_pub",      "-h", "127.0.0.1", "-p", port, "-q", "1", "-t", topic, "-f", file,
    retain ? "-r" : NULL, NULL
  };
  g_assert_true (g_spawn_sync (NULL, (char **) argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL,
                               NULL, NULL, &error));
  g_assert_no_error (error);
}

/* A person whom one machine saw is known on the other one, by a number that only one has. A person
 * who is forgotten is forgotten on both, and a machine that comes later learns of both. */
static void
test_people (void)
{
  Net net;
  if (!open_net (&net))
    return;
  Machine one = open_machine (&net, "one", 1), two = open_machine (&net, "two", 2);
  const gint64 anna = show (&one, 1), berta = show (&two, 2);
  g_assert_cmpint (anna, ==, SL_IDENTITY_NUMBERS + 1);
  g_assert_cmpint (berta, ==, 2 * SL_IDENTITY_NUMBERS + 1);
  wait_people (&one, 2);
  wait_people (&two, 2);
  g_assert_cmpint (show (&two, 1), ==, anna);
  g_assert_cmpint (show (&one, 2), ==, berta);
  forget (&one, anna);
  wait_people (&one, 1);
  wait_people (&two, 1);
  Machine three = open_machine (&net, "three", 3);
  wait_people (&three, 1);
  g_assert_cmpint (show (&three, 2), ==, berta);
  const gint64 again = show (&two, 1);
  g_assert_cmpint (again, !=, anna);
  wait_people (&three, 2);
  g_assert_cmpint (show (&three, 1), ==, again);
  g_assert_cmpuint (stats_of (&one).refused + stats_of (&two).refused, ==, 0);
  g_assert_cmpuint (stats_of (&two).sent, >, 0);
  close_machine (&one);
  close_machine (&two);
  close_machine (&three);
  close_net (&net);
}

/* Without a broker people are recognised, and a sentence says what is wrong. What was seen and
 * erased meanwhile travels later. */
static void
test_broker_gone (void)
{
  Net net;
  if (!open_net (&net))
    return;
  Machine one = open_machine (&net, "one", 1), two = open_machine (&net, "two", 2);
  const gint64 anna = show (&one, 1);
  wait_people (&two, 1);
  test_kill (&net.broker, SIGKILL);
  g_autofree char *trouble = wait_trouble (&one);
  g_autofree char *start =
    g_strdup_printf ("%s: MQTT broker 127.0.0.1:%u: ", net.location, net.port);
  g_assert_true (g_str_has_prefix (trouble, start));
  g_assert_cmpint (show (&one, 1), ==, anna);
  const gint64 berta = show (&one, 2);
  forget (&two, anna);
  wait_people (&two, 0);
  start_broker (&net);
  wait_people (&one, 1);
  wait_people (&two, 1);
  g_assert_cmpint (show (&two, 2), ==, berta);
  close_machine (&one);
  close_machine (&two);
  close_net (&net);
}

/* Two machines with one number: the second one shares nothing, and says so. */
static void
test_same_number (void)
{
  Net net;
  if (!open_net (&net))
    return;
  Machine one = open_machine (&net, "one", 1), two = open_machine (&net, "two", 2);
  show (&one, 1);
  wait_people (&two, 1);
  Machine other = open_machine (&net, "other", 1);
  g_autofree char *trouble = wait_trouble (&other);
  g_autofree char *sentence =
    g_strdup_printf ("%s: another machine has number 1, and nothing is shared; expected a number "
                     "that no other machine has: state another machine= with a new file",
                     net.location);
  g_assert_cmpstr (trouble, ==, sentence);
  show (&one, 2);
  wait_people (&two, 2);
  g_assert_cmpuint (stats_of (&other).sent, <=, 1);
  close_machine (&one);
  close_machine (&two);
  close_machine (&other);
  close_net (&net);
}

/* Another model is refused with one sentence; and so is what nobody of ours has sent. */
static void
test_refused (void)
{
  Net net;
  if (!open_net (&net))
    return;
  g_autofree char *path = test_path (net.folder, "other"), *bytes = test_path (net.folder, "bytes");
  SlIdentityUse use = use_of (&net, path, 2);
  use.model = "another";
  Machine one = open_machine (&net, "one", 1);
  show (&one, 1);
  Machine other = open_use (&net, &use);
  g_autofree char *trouble = wait_trouble (&one);
  g_autofree char *sentence =
    g_strdup_printf ("%s: machine/2: got embeddings of another model (another, 64 numbers), "
                     "expected those of " TEST_MODEL ", 64 numbers: take the same model on all "
                     "machines, or another topic",
                     net.location);
  g_assert_cmpstr (trouble, ==, sentence);
  close_machine (&other);
  const guint64 before = stats_of (&one).refused;
  static const char *const topics[] = { "people/person/5/1000000009", "people/person/5/1",
                                        "people/person/5/x",          "people/erased/5/x",
                                        "people/machine/9",           "people/machine/1" };
  g_assert_true (g_file_set_contents (bytes, "SLg\x10garbage", -1, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (topics); i++)
    publish (&net, topics[i], bytes, TRUE);
  g_autofree char *large = g_malloc0 (SL_IDENTITY_MESSAGE_BYTES * 4);
  g_assert_true (g_file_set_contents (bytes, large, SL_IDENTITY_MESSAGE_BYTES * 4, NULL));
  publish (&net, topics[0], bytes, FALSE);
  for (guint i = 0; stats_of (&one).refused < before + G_N_ELEMENTS (topics); i++) {
    g_assert_cmpuint (i, <, TRIES);
    g_usleep (1000);
  }
  g_assert_cmpuint (stats_of (&one).people, ==, 1);
  Machine two = open_machine (&net, "two", 2);
  wait_people (&two, 1);
  close_machine (&one);
  close_machine (&two);
  close_net (&net);
}

/* With a key, no message shows embeddings, and messages without it are refused. */
static void
test_key_needed (void)
{
  Net net;
  if (!open_net (&net))
    return;
  g_autofree char *key = test_key (net.folder, "key", 'a');
  Machine machines[3];
  for (guint i = 0; i < 3; i++) {
    g_autofree char *name = g_strdup_printf ("machine%u", i);
    g_autofree char *path = test_path (net.folder, name);
    SlIdentityUse use = use_of (&net, path, i + 1);
    use.key_file = i < 2 ? key : NULL;
    machines[i] = open_use (&net, &use);
  }
  const gint64 anna = show (&machines[0], 1);
  wait_people (&machines[1], 1);
  g_assert_cmpint (show (&machines[1], 1), ==, anna);
  g_autofree char *trouble = wait_trouble (&machines[2]);
  g_assert_true (g_str_has_suffix (trouble,
                                   "got an encrypted message, expected a plain one: state the same "
                                   "key-file on all machines"));
  g_assert_cmpuint (stats_of (&machines[2]).people, ==, 0);
  for (guint i = 0; i < 3; i++)
    close_machine (&machines[i]);
  close_net (&net);
}

static void
test_settings (void)
{
  static const struct
  {
    const char *share;
    guint machine;
    const char *sentence;
  } cases[] = {
    { "http://me:secret@host/x", 1,
      "share: location=http://me:***@host/x: expected mqtt://[user[:password]@]host[:port]/topic, "
      "such as mqtt://localhost/people" },
    { "mqtt://host/a/+", 1,
      "share: location=mqtt://host/a/+: expected a topic without + and #, such as "
      "mqtt://localhost/people" },
    { "mqtt://me:secret@host/people", 0,
      "machine: missing; expected a number from 1 to 999 that no other machine of "
      "mqtt://me:***@host/people has, such as machine=1" },
  };
  char *folder = test_folder ();
  g_autofree char *path = test_path (folder, "one");
  SlIdentityUse use = test_use (path, "gate");
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    use.share = cases[i].share;
    use.machine = cases[i].machine;
    g_assert_null (sl_identity_camera_new (&use, &error));
    g_assert_cmpstr (error->message, ==, cases[i].sentence);
  }
  g_autoptr (GError) error = NULL;
  use.share = NULL;
  SlIdentityCamera *camera = sl_identity_camera_new (&use, &error);
  g_assert_no_error (error);
  use.share = "mqtt://127.0.0.1:1/people";
  use.machine = 1;
  g_assert_null (sl_identity_camera_new (&use, &error));
  g_autofree char *sentence =
    g_strdup_printf ("%s: a camera of this process has it open with another share or machine; "
                     "expected the same ones",
                     path);
  g_assert_cmpstr (error->message, ==, sentence);
  g_assert_null (sl_identity_camera_free (camera));
  test_folder_remove (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/share/settings", test_settings);
  g_test_add_func ("/share/people", test_people);
  g_test_add_func ("/share/broker-gone", test_broker_gone);
  g_test_add_func ("/share/same-number", test_same_number);
  g_test_add_func ("/share/refused", test_refused);
  g_test_add_func ("/share/key", test_key_needed);
  return g_test_run ();
}
