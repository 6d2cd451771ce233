/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A message is four bytes, which say version and whether it is encrypted, and a GVariant in little
 * endian. Its type has no variants, so bytes from anybody cannot nest. The topic is authenticated
 * with an encrypted one: nobody without the key can send it on another topic.
 */
#include "pipelines/gallery/message.h"

#include <math.h>
#include <string.h>

#include "core/base/fail.h"
#include "core/base/printable.h"

#define MAGIC "SLg"
#define MAGIC_SIZE 3
#define HEAD 4
/* Version 1: plain, and encrypted. */
#define PLAIN 0x10
#define SEALED 0x11
#define STATE "(sua(sxay)a(sxxdd))"
#define ERASURE "(suxxsxx)"
#define HELLO "(susx)"

static GVariant *
swap (GVariant *value)
{
  if (G_BYTE_ORDER == G_LITTLE_ENDIAN)
    return value;
  GVariant *swapped = g_variant_byteswap (value);
  g_variant_unref (value);
  return swapped;
}

/* Takes @value, which may float. */
static GBytes *
wrap (GVariant *value, const SlSeal *seal, const char *topic, GError **error)
{
  g_autoptr (GVariant) little = swap (g_variant_ref_sink (value));
  const gsize n = g_variant_get_size (little);
  g_autofree guint8 *plain = g_malloc0 (MAX (n, 1));
  g_variant_store (little, plain);
  g_autoptr (GBytes) body = sl_seal_close (seal, topic, plain, n, error);
  if (body == NULL)
    return NULL;
  GByteArray *whole = g_byte_array_new ();
  const guint8 head[HEAD] = { 'S', 'L', 'g', seal != NULL ? SEALED : PLAIN };
  g_byte_array_append (whole, head, HEAD);
  g_byte_array_append (whole, g_bytes_get_data (body, NULL), (guint) g_bytes_get_size (body));
  return g_byte_array_free_to_bytes (whole);
}

static gboolean
check_head (const SlSeal *seal, const guint8 *data, gsize n, GError **error)
{
  if (n < HEAD || n > SL_IDENTITY_MESSAGE_BYTES || memcmp (data, MAGIC, MAGIC_SIZE) != 0)
    return sl_fail (error, SL_ERROR_FORMAT,
                    "%" G_GSIZE_FORMAT " bytes that are no message of a gallery, expected those of "
                    "slgallery alone on this topic: take another topic",
                    n);
  const guint8 kind = data[MAGIC_SIZE];
  if (kind != PLAIN && kind != SEALED)
    return sl_fail (error, SL_ERROR_UNSUPPORTED,
                    "a message of version %u, expected version 1: run the same sightline on all "
                    "machines",
                    kind >> 4);
  return (kind == SEALED) == (seal != NULL)
         || sl_fail (error, SL_ERROR_ARGUMENT,
                     kind == SEALED
                       ? "an encrypted message, expected a plain one: state the same key-file on "
                         "all machines"
                       : "a message that is not encrypted, expected an encrypted one: state the "
                         "same key-file on all machines");
}

static gboolean
check_who (const SlIdentityWho *who, GVariant *value, GError **error)
{
  const char *model;
  guint32 length;
  g_variant_get_child (value, 0, "&s", &model);
  g_variant_get_child (value, 1, "u", &length);
  if (strcmp (model, who->model) == 0 && length == who->length)
    return TRUE;
  g_autofree char *shown = sl_printable (model, SL_PRINTABLE_NAME);
  return sl_fail (error, SL_ERROR_CONTRACT,
                  "embeddings of another model (%s, %u numbers), expected those of %s, %u numbers: "
                  "take the same model on all machines, or another topic",
                  shown, length, who->model, who->length);
}

static gboolean
refuse (const char *what, GError **error)
{
  return sl_fail (error, SL_ERROR_FORMAT,
                  "a message in which %s is not possible, expected one that slgallery has sent: "
                  "let nobody else write to this topic",
                  what);
}

/* (transfer full): a value that is whole, of the same model. */
static GVariant *
unwrap (const char *type, const SlIdentityWho *who, const SlSeal *seal, const char *topic,
        const void *data, gsize n, GError **error)
{
  if (!check_head (seal, data, n, error))
    return NULL;
  g_autoptr (GBytes) plain = sl_seal_open (seal, topic, (const guint8 *) data + HEAD, n - HEAD);
  if (plain == NULL)
    return sl_fail_null (error, SL_ERROR_ARGUMENT,
                         "a message that another key encrypted, or that was changed, expected one "
                         "of the same key: state the same key-file on all machines");
  GVariant *raw = g_variant_new_from_bytes (G_VARIANT_TYPE (type), plain, FALSE);
  g_autoptr (GVariant) value = swap (g_variant_ref_sink (raw));
  if (!g_variant_is_normal_form (value)) {
    refuse ("the form", error);
    return NULL;
  }
  return check_who (who, value, error) ? g_steal_pointer (&value) : NULL;
}

static gboolean
take_camera (char to[SL_IDENTITY_CAMERA_NAME + 1], const char *name)
{
  if (!sl_identity_camera_check (name, NULL))
    return FALSE;
  g_strlcpy (to, name, SL_IDENTITY_CAMERA_NAME + 1);
  return TRUE;
}

GBytes *
sl_identity_state_write (const SlIdentityWho *who, const SlIdentityState *state, const SlSeal *seal,
                         const char *topic, GError **error)
{
  GVariantBuilder views, seen;
  g_variant_builder_init (&views, G_VARIANT_TYPE ("a(sxay)"));
  g_variant_builder_init (&seen, G_VARIANT_TYPE ("a(sxxdd)"));
  for (guint i = 0; i < state->n_views; i++)
    g_variant_builder_add (&views, "(sx@ay)", state->cameras[i], state->times[i],
                           g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE,
                                                      state->rows + (gsize) i * who->length,
                                                      who->length, 1));
  for (guint i = 0; i < state->n_seen; i++) {
    const SlIdentitySeen *one = &state->seen[i];
    g_variant_builder_add (&seen, "(sxxdd)", one->camera, one->first, one->last, one->confidence,
                           one->cosine);
  }
  return wrap (g_variant_new (STATE, who->model, who->length, &views, &seen), seal, topic, error);
}

static gboolean
read_views (const SlIdentityWho *who, GVariant *views, SlIdentityState *state)
{
  state->n_views = (guint) g_variant_n_children (views);
  for (guint i = 0; i < state->n_views; i++) {
    const char *camera;
    gsize n;
    g_autoptr (GVariant) row = NULL;
    g_variant_get_child (views, i, "(&sx@ay)", &camera, &state->times[i], &row);
    const void *numbers = g_variant_get_fixed_array (row, &n, 1);
    if (n != who->length || state->times[i] < 1 || !take_camera (state->cameras[i], camera))
      return FALSE;
    memcpy (state->rows + (gsize) i * who->length, numbers, n);
  }
  return TRUE;
}

static gboolean
read_seen (GVariant *seen, SlIdentityState *state)
{
  state->n_seen = (guint) g_variant_n_children (seen);
  for (guint i = 0; i < state->n_seen; i++) {
    SlIdentitySeen *one = &state->seen[i];
    const char *camera;
    g_variant_get_child (seen, i, "(&sxxdd)", &camera, &one->first, &one->last, &one->confidence,
                         &one->cosine);
    if (one->first < 1 || one->last < one->first || !(one->confidence >= 0 && one->confidence <= 1)
        || !(fabs (one->cosine) <= 2) || !take_camera (one->camera, camera))
      return FALSE;
  }
  return TRUE;
}

gboolean
sl_identity_state_read (const SlIdentityWho *who, const SlSeal *seal, const char *topic,
                        const void *data, gsize n, SlIdentityState *state, GError **error)
{
  g_autoptr (GVariant) value = unwrap (STATE, who, seal, topic, data, n, error);
  if (value == NULL)
    return FALSE;
  g_autoptr (GVariant) views = g_variant_get_child_value (value, 2);
  g_autoptr (GVariant) seen = g_variant_get_child_value (value, 3);
  if (g_variant_n_children (views) > SL_IDENTITY_VIEWS || !read_views (who, views, state))
    return refuse ("an embedding", error);
  return (g_variant_n_children (seen) <= SL_IDENTITY_CAMERAS && read_seen (seen, state))
         || refuse ("a sighting", error);
}

GBytes *
sl_identity_erasure_write (const SlIdentityWho *who, const SlIdentityErasure *erasure,
                           const SlSeal *seal, const char *topic, GError **error)
{
  return wrap (g_variant_new (ERASURE, who->model, who->length, erasure->person, erasure->before,
                              erasure->camera, erasure->same, erasure->made),
               seal, topic, error);
}

gboolean
sl_identity_erasure_read (const SlIdentityWho *who, const SlSeal *seal, const char *topic,
                          const void *data, gsize n, SlIdentityErasure *erasure, GError **error)
{
  const char *camera;
  g_autoptr (GVariant) value = unwrap (ERASURE, who, seal, topic, data, n, error);
  if (value == NULL)
    return FALSE;
  g_variant_get_child (value, 2, "x", &erasure->person);
  g_variant_get_child (value, 3, "x", &erasure->before);
  g_variant_get_child (value, 4, "&s", &camera);
  g_variant_get_child (value, 5, "x", &erasure->same);
  g_variant_get_child (value, 6, "x", &erasure->made);
  erasure->camera[0] = '\0';
  const gboolean merge = erasure->same != 0;
  return ((*camera == '\0' || take_camera (erasure->camera, camera)) && erasure->person >= 0
          && erasure->made > 0
          && (merge ? erasure->same > 0 && erasure->person > 0 && erasure->same != erasure->person
                    : erasure->before > 0 && (erasure->before < G_MAXINT64 || erasure->person > 0)))
         || refuse ("what is erased", error);
}

GBytes *
sl_identity_hello_write (const SlIdentityWho *who, const SlIdentityHello *hello, const SlSeal *seal,
                         const char *topic, GError **error)
{
  return wrap (g_variant_new (HELLO, who->model, who->length, hello->origin, hello->made), seal,
               topic, error);
}

gboolean
sl_identity_hello_read (const SlIdentityWho *who, const SlSeal *seal, const char *topic,
                        const void *data, gsize n, SlIdentityHello *hello, GError **error)
{
  const char *origin;
  g_autoptr (GVariant) value = unwrap (HELLO, who, seal, topic, data, n, error);
  if (value == NULL)
    return FALSE;
  g_variant_get_child (value, 2, "&s", &origin);
  g_variant_get_child (value, 3, "x", &hello->made);
  return g_strlcpy (hello->origin, origin, sizeof hello->origin) < sizeof hello->origin
         || refuse ("its machine", error);
}
