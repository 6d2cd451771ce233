/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What was posted: a picture as it is, a form with pictures and texts, or a form of texts alone. On
 * the server's thread, once all of it is there.
 */
#include <string.h>

#include "core/base/plain_name.h"
#include "core/base/prefix.h"
#include "core/base/printable.h"
#include "pipelines/gallery/rules.h"
#include "tools/serve/http_request.h"

/* Bytes of a form without files. */
#define MAX_TEXTS 65536

char *
sl_http_body_field (const SlHttpRequest *request, const SlHttpBody *body, const char *key)
{
  const SlFormPart *part = sl_form_find (&body->form, key);
  const char *value = body->texts != NULL ? g_hash_table_lookup (body->texts, key) : NULL;
  if (value == NULL && request->query != NULL)
    value = g_hash_table_lookup (request->query, key);
  if (part != NULL) /* a text with a byte 0 is none */
    return g_strndup (part->data, memchr (part->data, 0, part->size) == NULL ? part->size : 0);
  return g_strdup (value);
}

void
sl_http_body_clear (SlHttpBody *body)
{
  g_clear_pointer (&body->texts, g_hash_table_unref);
}

static void
add_picture (SlHttpRequest *request, const char *name, gconstpointer data, gsize size)
{
  SlHttpPicture *picture = &request->pictures[request->n_pictures];
  if (size == 0)
    return;
  g_strlcpy (picture->name, name, sizeof picture->name);
  picture->data = data;
  picture->size = size;
  request->n_pictures++;
}

/* The pictures of a person: image, image1, image2, or whatever has the name of a file. FALSE once
 * it is refused. */
static gboolean
add_pictures (SlHttpRequest *request, const SlForm *form)
{
  for (guint i = 0; i < form->n; i++) {
    const SlFormPart *part = &form->parts[i];
    if (!part->is_file && !sl_has_prefix (part->name, "image"))
      continue;
    if (request->n_pictures == SL_FACE_PICTURES) {
      sl_http_request_refuse (request, SOUP_STATUS_BAD_REQUEST,
                              "expected at most %d pictures of a person, got more",
                              SL_FACE_PICTURES);
      return FALSE;
    }
    add_picture (request, part->name, part->data, part->size);
  }
  return TRUE;
}

/* FALSE once it is refused. */
static gboolean
read_form (SlHttpRequest *request, const char *boundary, SlForm *form)
{
  g_autoptr (GError) error = NULL;
  if (!sl_form_read (boundary, (const char *) request->body->data, request->body->len, form,
                     &error)) {
    sl_http_request_refuse (request, SOUP_STATUS_BAD_REQUEST, "%s", error->message);
    return FALSE;
  }
  if (request->asked.form == SL_HTTP_REGISTER)
    return add_pictures (request, form);
  const SlFormPart *image = sl_form_picture (form);
  if (image != NULL)
    add_picture (request, image->name, image->data, image->size);
  return TRUE;
}

/* FALSE once it is refused. */
static gboolean
read_texts (SlHttpRequest *request, SlHttpBody *body)
{
  if (request->body->len > MAX_TEXTS) {
    sl_http_request_refuse (request, SOUP_STATUS_REQUEST_ENTITY_TOO_LARGE,
                            "the form has %u bytes, expected at most %d: send pictures as "
                            "multipart/form-data",
                            request->body->len, MAX_TEXTS);
    return FALSE;
  }
  const char *data = request->body->len > 0 ? (const char *) request->body->data : "";
  g_autofree char *text = g_strndup (data, request->body->len);
  body->texts = soup_form_decode (text);
  return TRUE;
}

/* Whether it goes without a picture. */
static gboolean
is_bare (const SlHttpRequest *request)
{
  return request->is_list || request->asked.form > SL_HTTP_REGISTER;
}

gboolean
sl_http_body_read (SlHttpRequest *request, SlHttpBody *body)
{
  g_autoptr (GHashTable) parameters = NULL;
  SoupMessageHeaders *headers = soup_server_message_get_request_headers (request->message);
  const char *type = soup_message_headers_get_content_type (headers, &parameters);
  body->form.n = 0;
  body->texts = NULL;
  if (type != NULL && g_ascii_strcasecmp (type, "multipart/form-data") == 0)
    return read_form (request, g_hash_table_lookup (parameters, "boundary"), &body->form);
  if (type != NULL && is_bare (request)
      && g_ascii_strcasecmp (type, "application/x-www-form-urlencoded") == 0)
    return read_texts (request, body);
  const gboolean is_picture = type == NULL || g_ascii_strncasecmp (type, "image/", 6) == 0
                              || g_ascii_strcasecmp (type, "application/octet-stream") == 0;
  if (!is_picture && !is_bare (request)) {
    g_autofree char *shown = sl_printable (type, SL_PRINTABLE_NAME);
    sl_http_request_refuse (
      request, SOUP_STATUS_UNSUPPORTED_MEDIA_TYPE,
      "Content-Type: expected multipart/form-data with a part \"image\", or image/jpeg, "
      "image/png, image/webp or image/bmp, got %s",
      shown);
    return FALSE;
  }
  add_picture (request, "", request->body->data, request->body->len);
  return TRUE;
}

/* FALSE once it is refused. */
static gboolean
read_confidence (SlHttpRequest *request, const SlHttpBody *body)
{
  g_autofree char *confidence = sl_http_body_field (request, body, "min_confidence");
  char *end = NULL;
  if (confidence == NULL || confidence[0] == '\0')
    return TRUE;
  const gdouble value = g_ascii_strtod (confidence, &end);
  g_autofree char *shown = sl_printable (confidence, SL_PRINTABLE_NAME);
  if (*end != '\0' || !(value >= 0 && value <= 1)) {
    sl_http_request_refuse (request, SOUP_STATUS_BAD_REQUEST,
                            "min_confidence: expected 0..1, got %s", shown);
    return FALSE;
  }
  request->asked.min_confidence = value;
  return TRUE;
}

/* FALSE once it is refused. */
static gboolean
read_user (SlHttpRequest *request, const SlHttpBody *body)
{
  request->user = sl_http_body_field (request, body, "userid");
  const char *name = request->user != NULL ? request->user : "";
  if (sl_is_plain_name (name, SL_IDENTITY_NAME) && strpbrk (name, "/\\") == NULL && name[0] != '@'
      && name[0] != '.' && strcmp (name, "unknown") != 0)
    return TRUE;
  g_autofree char *shown = sl_printable (name, SL_PRINTABLE_LABEL);
  sl_http_request_refuse (
    request, SOUP_STATUS_BAD_REQUEST,
    "userid: expected a name of 1 to %d bytes without control characters, / and \\, that does not "
    "begin with . or @ and is not 'unknown', got '%s'",
    SL_IDENTITY_NAME, shown);
  return FALSE;
}

gboolean
sl_http_body_fields (SlHttpRequest *request, const SlHttpBody *body)
{
  const SlHttpForm form = request->asked.form;
  g_autofree char *model = sl_http_body_field (request, body, "model");
  if ((form == SL_HTTP_REGISTER || form == SL_HTTP_FORGET) && !read_user (request, body))
    return FALSE;
  if (request->name == NULL && form == SL_HTTP_PREDICTIONS && model != NULL && model[0] != '\0')
    request->name = g_steal_pointer (&model);
  return read_confidence (request, body);
}
