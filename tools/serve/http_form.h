/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The body of a POST: a picture as it is, or a form (multipart/form-data, RFC 7578) with a picture
 * and text. Bytes stay where they are; nothing is copied.
 */
#pragma once

#include <glib.h>

/** Parts of a form at most, and bytes of a part's headers. */
#define SL_FORM_PARTS 32
#define SL_FORM_HEADERS 4096
#define SL_FORM_NAME 64

/** SlFormPart: @name: "" where none is stated, or a longer one; @data: inside the body */
typedef struct
{
  char name[SL_FORM_NAME];
  gboolean is_file; /* it states a file name */
  const char *data;
  gsize size;
} SlFormPart;

typedef struct
{
  guint n;
  SlFormPart parts[SL_FORM_PARTS];
} SlForm;

/** sl_form_read: @body: NULL where it is empty; @boundary: of the header Content-Type. FALSE with
 * @error set. */
gboolean sl_form_read (const char *boundary, const char *body, gsize size, SlForm *form,
                       GError **error);
/** sl_form_find: (nullable): the first part of @name. */
const SlFormPart *sl_form_find (const SlForm *form, const char *name);
/** sl_form_picture: (nullable): the part "image", else the first with a file name. */
const SlFormPart *sl_form_picture (const SlForm *form);
