/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Complains about paths early and in plain words; GStreamer's own come late and vary with the
 * version. A folder is its pictures, told by their names: what a file says it is and is not, is an
 * error of that file; what has another name is none of ours.
 */
#include "tools/predict/inputs.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <gst/gst.h>
#include <string.h>
#include <unistd.h>

#include "core/base/file_uri.h"
#include "core/base/redact.h"
#include "core/base/fail.h"
#include "models/model.h"

/* Folders inside of folders, from the one that is named on. */
#define MAX_DEPTH 64

static const char *const picture_endings[] = { ".jpg", ".jpeg", ".jpe",  ".jfif", ".png",
                                               ".bmp", ".gif",  ".webp", ".tif",  ".tiff",
                                               ".ppm", ".pgm",  ".pbm",  ".pnm" };
static const char *const model_endings[] = { ".tflite", ".onnx", ".pt2",  ".pt",
                                             ".pth",    ".h5",   ".keras" };

static gboolean
ends_in (const char *name, const char *const *endings, guint n)
{
  g_autofree char *lower = g_ascii_strdown (name, -1);
  for (guint i = 0; i < n; i++)
    if (g_str_has_suffix (lower, endings[i]))
      return TRUE;
  return FALSE;
}

gboolean
sl_input_is_picture (const char *name)
{
  return ends_in (name, picture_endings, G_N_ELEMENTS (picture_endings));
}

static void
input_free (gpointer data)
{
  SlInput *input = data;
  g_free (input->name);
  g_free (input->uri);
  g_clear_error (&input->error);
  g_free (input);
}

/* Devices of Video4Linux are recognised by their names, so that an unplugged one is reported as a
 * camera. */
static gboolean
is_camera (const char *text)
{
  static const char *const starts[] = { "v4l2://", "rtsp://",      "rtsps://",
                                        "test://", "libcamera://", "pipewire://",
                                        "csi://",  "/dev/video",   "/dev/v4l/" };
  for (guint i = 0; i < G_N_ELEMENTS (starts); i++)
    if (g_ascii_strncasecmp (text, starts[i], strlen (starts[i])) == 0)
      return TRUE;
  return FALSE;
}

static gboolean
check_scheme (const char *uri, GError **error)
{
  g_autofree char *scheme = gst_uri_get_protocol (uri);
  if (gst_uri_protocol_is_supported (GST_URI_SRC, scheme))
    return TRUE;
  return sl_fail (
    error, SL_ERROR_UNSUPPORTED,
    "GStreamer has no element that reads '%s://'; expected a path, file://, http://, https://, "
    "rtsp://, v4l2://, libcamera://, pipewire://, csi:// or test://, and for http:// and https:// "
    "that their plugins are installed (Debian: gstreamer1.0-plugins-good)",
    scheme);
}

/* The path of @text, which may be a file:// URI; NULL for other URIs, and with @error set where
 * there is nothing to be found. */
static char *
local_path (const char *text, GStatBuf *status, GError **error)
{
  g_autofree char *path = NULL;
  if (g_stat (text, status) == 0)
    return g_strdup (text);
  const int reason = errno;
  if (gst_uri_is_valid (text) && strstr (text, ":/") != NULL) {
    if (!gst_uri_has_protocol (text, "file"))
      return NULL;
    path = sl_file_uri_path (text, error);
    return path != NULL && g_str_has_prefix (path, "/") ? local_path (path, status, error) : NULL;
  }
  return sl_fail_null (error, SL_ERROR_OPEN, "%s; expected a picture, a video or a URI%s",
                       reason == ENOENT ? "no such file, check the path" : g_strerror (reason),
                       g_str_equal (text, "-") ? "; standard input is /dev/stdin" : "");
}

static char *
file_uri (const char *path, const GStatBuf *status, GError **error)
{
  if (S_ISREG (status->st_mode) && status->st_size == 0)
    sl_fail (error, SL_ERROR_OPEN, "the file is empty; expected a picture or video");
  else if (g_access (path, R_OK) != 0)
    sl_fail (error, SL_ERROR_OPEN, "%s; expected a file that may be read", g_strerror (errno));
  else
    return gst_filename_to_uri (path, error);
  return NULL;
}

static SlInput *
add (GPtrArray *inputs, SlInputKind kind, const char *name)
{
  SlInput *input = g_new0 (SlInput, 1);
  input->kind = kind;
  input->name = g_strdup (name);
  g_ptr_array_add (inputs, input);
  return input;
}

/* Not of a file that is there: what looks like a secret in the name of one is its name, and tells
 * it from others. */
static SlInput *
add_uri (GPtrArray *inputs, SlInputKind kind, const char *uri)
{
  g_autofree char *shown = sl_redact_uri (uri, NULL);
  return add (inputs, kind, shown);
}

static void
add_file (GPtrArray *inputs, const char *name, const char *path, const GStatBuf *status)
{
  SlInput *input = add (inputs, S_ISREG (status->st_mode) ? SL_INPUT_FILE : SL_INPUT_STREAM, name);
  if (input->kind == SL_INPUT_FILE) {
    input->device = status->st_dev;
    input->inode = status->st_ino;
  }
  input->uri = file_uri (path, status, &input->error);
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  g_autofree char *first = g_utf8_collate_key_for_filename (*(char *const *) a, -1);
  g_autofree char *second = g_utf8_collate_key_for_filename (*(char *const *) b, -1);
  const int order = strcmp (first, second);
  return order != 0 ? order : strcmp (*(char *const *) a, *(char *const *) b);
}

/* (element-type filename): the names of pictures and of folders in @path, each sorted with 2
 * before 10. Hidden files, as some systems leave beside each picture, are left out. A folder behind
 * a symbolic link is left out too, because it may lead back to where it lies. */
static GPtrArray *
pictures_in (const char *path, GPtrArray *folders, GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GDir) folder = g_dir_open (path, 0, error);
  const char *name;
  if (folder == NULL)
    return NULL;
  while ((name = g_dir_read_name (folder)) != NULL) {
    g_autofree char *full = g_build_filename (path, name, NULL);
    if (name[0] == '.')
      continue;
    if (!g_file_test (full, G_FILE_TEST_IS_DIR) && sl_input_is_picture (name))
      g_ptr_array_add (names, g_strdup (name));
    else if (g_file_test (full, G_FILE_TEST_IS_DIR) && !g_file_test (full, G_FILE_TEST_IS_SYMLINK))
      g_ptr_array_add (folders, g_strdup (name));
  }
  g_ptr_array_sort (names, compare_names);
  g_ptr_array_sort (folders, compare_names);
  return g_steal_pointer (&names);
}

static void
add_picture (GPtrArray *inputs, const char *shown, const char *path)
{
  GStatBuf status;
  if (g_stat (path, &status) == 0)
    add_file (inputs, shown, path, &status);
  else
    add (inputs, SL_INPUT_FILE, shown)->error =
      g_error_new_literal (SL_ERROR, SL_ERROR_OPEN, g_strerror (errno));
}

/* Adds the pictures of a folder, and with @depth > 0 those of the folders in it. FALSE where it can
 * be read and has no sub-folder. */
static gboolean
add_pictures (GPtrArray *inputs, const char *name, const char *path, guint depth)
{
  g_autoptr (GPtrArray) folders = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) unreadable = NULL;
  g_autoptr (GPtrArray) names = pictures_in (path, folders, &unreadable);
  if (names == NULL)
    add (inputs, SL_INPUT_FILE, name)->error = g_steal_pointer (&unreadable);
  for (guint i = 0; names != NULL && i < names->len; i++) {
    g_autofree char *shown = g_build_filename (name, names->pdata[i], NULL),
                    *full = g_build_filename (path, names->pdata[i], NULL);
    add_picture (inputs, shown, full);
  }
  for (guint i = 0; depth > 0 && i < folders->len; i++) {
    g_autofree char *shown = g_build_filename (name, folders->pdata[i], NULL),
                    *full = g_build_filename (path, folders->pdata[i], NULL);
    add_pictures (inputs, shown, full, depth - 1);
  }
  return folders->len > 0;
}

static void
add_folder (GPtrArray *inputs, const char *name, const char *path, gboolean recursive)
{
  const guint before = inputs->len;
  const gboolean folders = add_pictures (inputs, name, path, recursive ? MAX_DEPTH : 0);
  if (inputs->len == before)
    add (inputs, SL_INPUT_FILE, name)->error = g_error_new (
      SL_ERROR, SL_ERROR_OPEN,
      "the folder has no pictures in it (files named .jpg, .png, .bmp, .gif, .webp, .tif or "
      ".ppm)%s; videos are named one by one",
      folders && !recursive
        ? ", and its sub-folders are not searched (sightline predict --recursive does)"
        : "");
}

static void
add_argument (GPtrArray *inputs, const char *text, gboolean recursive)
{
  GStatBuf status;
  GError *error = NULL;
  if (is_camera (text)) {
    add_uri (inputs, SL_INPUT_CAMERA, text)->uri = g_strdup (text);
    return;
  }
  g_autofree char *path = local_path (text, &status, &error);
  if (path != NULL && S_ISDIR (status.st_mode)) {
    add_folder (inputs, path, path, recursive);
  } else if (path != NULL) {
    add_file (inputs, text, path, &status);
  } else {
    SlInput *input = add_uri (inputs, SL_INPUT_STREAM, text);
    input->error = error;
    if (error == NULL && check_scheme (text, &input->error))
      input->uri = g_strdup (text);
  }
}

GPtrArray *
sl_inputs_new (char **arguments, gboolean recursive)
{
  GPtrArray *inputs = g_ptr_array_new_with_free_func (input_free);
  for (guint i = 0; arguments[i] != NULL; i++)
    add_argument (inputs, arguments[i], recursive);
  return inputs;
}

const SlInput *
sl_inputs_find_file (GPtrArray *inputs, const char *path)
{
  GStatBuf status;
  if (g_stat (path, &status) != 0 || !S_ISREG (status.st_mode))
    return NULL;
  for (guint i = 0; i < inputs->len; i++) {
    const SlInput *input = inputs->pdata[i];
    if (input->inode == status.st_ino && input->device == status.st_dev)
      return input;
  }
  return NULL;
}

const char *
sl_inputs_find_model (char **arguments)
{
  for (guint i = 0; arguments[i] != NULL; i++)
    if (sl_model_probe (arguments[i])
        || (ends_in (arguments[i], model_endings, G_N_ELEMENTS (model_endings))
            && g_file_test (arguments[i], G_FILE_TEST_IS_REGULAR)))
      return arguments[i];
  return NULL;
}
