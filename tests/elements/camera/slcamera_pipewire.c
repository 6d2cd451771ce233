/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slcamera and a PipeWire daemon of the test's own, whose camera is PipeWire's test source: frames
 * come, and come again after the daemon was killed. pw-link stands for the session manager, which
 * would need D-Bus.
 */
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/un.h>

#include "tests/elements/camera/support.h"
#include "tests/elements/process.h"
#include "tests/elements/support.h"
#include "tests/support/program.h"

static const char configuration[] =
  "context.properties = { core.daemon = true core.name = pipewire-0 mem.allow-mlock = false "
  "support.dbus = false }\n"
  "context.spa-libs = { support.* = support/libspa-support videotestsrc = "
  "videotestsrc/libspa-videotestsrc }\n"
  "context.modules = [ { name = libpipewire-module-protocol-native } { name = "
  "libpipewire-module-spa-node-factory }\n"
  "  { name = libpipewire-module-client-node } { name = libpipewire-module-metadata } { name = "
  "libpipewire-module-access }\n"
  "  { name = libpipewire-module-adapter } { name = libpipewire-module-link-factory } ]\n"
  "context.objects = [ { factory = spa-node-factory args = { factory.name = videotestsrc node.name "
  "= test-camera\n"
  "  media.class = Video/Source } } ]\n";

static gboolean
is_missing (void)
{
  static const char *const programs[] = { "pipewire", "pw-link" };
  g_autoptr (GstElementFactory) factory = gst_element_factory_find ("pipewiresrc");
  gboolean missing = factory == NULL;
  for (guint i = 0; i < G_N_ELEMENTS (programs); i++) {
    g_autofree char *path = g_find_program_in_path (programs[i]);
    missing |= path == NULL;
  }
  return missing;
}

/* Links the test source to whatever wants frames. */
static void
link_all (void)
{
  g_autofree char *ports = NULL;
  if (!g_spawn_command_line_sync ("pw-link -i", &ports, NULL, NULL, NULL) || ports == NULL)
    return;
  g_auto (GStrv) lines = g_strsplit (ports, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++) {
    if (strchr (lines[i], ':') == NULL)
      continue;
    const char *const argv[] = { "pw-link", "test-camera:out_0", lines[i], NULL };
    g_spawn_sync (NULL, (char **) argv, NULL,
                  G_SPAWN_SEARCH_PATH | G_SPAWN_STDOUT_TO_DEV_NULL | G_SPAWN_STDERR_TO_DEV_NULL,
                  NULL, NULL, NULL, NULL, NULL, NULL);
  }
}

static gpointer
keep_linking (gpointer data)
{
  for (gint *stop = data; !g_atomic_int_get (stop); g_usleep (G_USEC_PER_SEC / 5))
    link_all ();
  return NULL;
}

static GSubprocess *
start_daemon (const char *path)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GSubprocessLauncher) launcher = g_subprocess_launcher_new (
    G_SUBPROCESS_FLAGS_STDOUT_SILENCE | G_SUBPROCESS_FLAGS_STDERR_SILENCE);
  g_subprocess_launcher_set_child_setup (launcher, test_die_with_parent, NULL, NULL);
  GSubprocess *daemon =
    g_subprocess_launcher_spawn (launcher, &error, "pipewire", "-c", path, NULL);
  g_assert_no_error (error);
  return daemon;
}

static void
stop_daemon (GSubprocess *daemon)
{
  g_subprocess_force_exit (daemon);
  g_subprocess_wait (daemon, NULL, NULL);
  g_object_unref (daemon);
}

/* Frames of the test source, which may give none to a client that comes while another one leaves:
 * then the daemon starts again. */
static void
wait_frames (TestCamera *camera, GSubprocess **daemon, const char *path)
{
  for (guint try = 0; try < 5; try++) {
    const gint64 deadline = g_get_monotonic_time () + 15 * G_USEC_PER_SEC;
    gboolean came = TRUE;
    g_mutex_lock (&camera->lock);
    for (const guint goal = camera->frames + 3; came && camera->frames < goal;)
      came = g_cond_wait_until (&camera->cond, &camera->lock, deadline);
    g_mutex_unlock (&camera->lock);
    if (came)
      return;
    stop_daemon (*daemon);
    *daemon = start_daemon (path);
  }
  test_camera_wait_frames (camera, 3);
}

static void
test_frames (void)
{
  struct sockaddr_un address;
  if (is_missing () || test_is_slow ()) { /* PipeWire's libraries are not what is tested */
    g_test_skip ("needs pipewire, pw-link and pipewiresrc, and no checker of memory");
    return;
  }
  gint stop = 0;
  g_autofree char *path = test_text_file ("camera.conf", configuration),
                  *folder = g_path_get_dirname (path);
  if (strlen (folder) + strlen ("/pipewire-0-manager.lock") >= sizeof address.sun_path) {
    test_remove_file (path);
    g_test_skip ("the folder for temporary files has a name that is too long for sockets");
    return;
  }
  static const char *const theirs[] = { "PIPEWIRE_REMOTE", "PIPEWIRE_CORE", "PIPEWIRE_CONFIG_DIR",
                                        "PIPEWIRE_CONFIG_NAME" };
  for (guint i = 0; i < G_N_ELEMENTS (theirs); i++)
    g_unsetenv (theirs[i]);
  g_assert_true (g_setenv ("XDG_RUNTIME_DIR", folder, TRUE)
                 && g_setenv ("PIPEWIRE_RUNTIME_DIR", folder, TRUE));
  GSubprocess *daemon = start_daemon (path);
  GThread *linker = g_thread_new ("linker", keep_linking, &stop);
  g_autoptr (TestCamera) camera =
    test_camera_new ("pipewire://test-camera", "reconnect-min=50 reconnect-max=500", NULL);
  test_camera_play (camera, GST_STATE_PLAYING);
  wait_frames (camera, &daemon, path);
  g_assert_cmpint (camera->width, ==, 320);
  g_assert_cmpint (camera->height, ==, 240);
  stop_daemon (daemon);
  gst_structure_free (test_camera_wait (camera, "reconnecting"));
  daemon = start_daemon (path);
  wait_frames (camera, &daemon, path);
  g_assert_false (camera->backwards);
  test_camera_stop (camera);
  g_atomic_int_set (&stop, 1);
  g_thread_join (linker);
  stop_daemon (daemon);
  const char *const left[] = { "pipewire-0", "pipewire-0.lock", "pipewire-0-manager",
                               "pipewire-0-manager.lock" };
  for (guint i = 0; i < G_N_ELEMENTS (left); i++) {
    g_autofree char *file = g_build_filename (folder, left[i], NULL);
    g_unlink (file);
  }
  test_remove_file (path);
}

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  g_test_add_func ("/slcamera/pipewire/frames", test_frames);
  return test_elements_run ();
}
