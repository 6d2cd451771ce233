/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What `sightline predict` was asked to look at: files, folders of pictures, URIs and cameras of
 * the command line, one entry each that can be opened.
 */
#pragma once

#include <glib.h>

typedef enum
{
  SL_INPUT_FILE,   /* a regular file: its bytes are there */
  SL_INPUT_STREAM, /* a pipe, a device, a URI: bytes come when they come */
  SL_INPUT_CAMERA  /* what slcamera opens */
} SlInputKind;

/**
 * SlInput:
 * @name: as it is shown: the argument, or folder and file; of a URI without secrets
 * @uri: (nullable): to open; for a camera as slcamera takes it; NULL when @error is set
 * @device, @inode: of a regular file, which tell it whatever its name is; else 0
 */
typedef struct
{
  SlInputKind kind;
  char *name, *uri;
  dev_t device;
  ino_t inode;
  GError *error;
} SlInput;

/** sl_inputs_new: (transfer full) (element-type SlInput): of @arguments, in their order, folders as
 * their pictures; with @recursive also those of their sub-folders. Call it after gst_init(). */
GPtrArray *sl_inputs_new (char **arguments, gboolean recursive);
/** sl_inputs_find_file: (nullable): the first of @inputs that is the regular file at @path, by
 * whatever name. */
const SlInput *sl_inputs_find_file (GPtrArray *inputs, const char *path);
/** sl_input_is_picture: whether a file of this @name in a folder is one of its pictures. */
gboolean sl_input_is_picture (const char *name);
/** sl_inputs_find_model: (nullable): the first of @arguments that is a model and no picture. */
const char *sl_inputs_find_model (char **arguments);
