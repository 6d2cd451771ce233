/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "pipelines/push/phones.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fail.h"
#include "core/base/json.h"
#include "core/base/json_reader.h"
#include "core/base/utc.h"

/* Bytes of a file at most: of SL_PHONES_MOST of the longest lines. */
#define FILE_MOST (SL_PHONES_MOST * 4096)
#define ID_DIGITS 16

static const struct
{
  const char *key;
  gsize offset;
} members[] = {
  { "id", G_STRUCT_OFFSET (SlPhone, id) },
  { "user", G_STRUCT_OFFSET (SlPhone, user) },
  { "login", G_STRUCT_OFFSET (SlPhone, login) },
  { "name", G_STRUCT_OFFSET (SlPhone, name) },
  { "added", G_STRUCT_OFFSET (SlPhone, added) },
  { "endpoint", G_STRUCT_OFFSET (SlPhone, endpoint) },
  { "p256dh", G_STRUCT_OFFSET (SlPhone, p256dh) },
  { "auth", G_STRUCT_OFFSET (SlPhone, auth) },
};

static char **
member_of (SlPhone *phone, guint i)
{
  return (char **) ((guint8 *) phone + members[i].offset);
}

void
sl_phone_free (SlPhone *phone)
{
  for (guint i = 0; i < G_N_ELEMENTS (members); i++)
    g_free (*member_of (phone, i));
  g_free (phone);
}

char *
sl_phone_id (const char *endpoint)
{
  char *id = g_compute_checksum_for_string (G_CHECKSUM_SHA256, endpoint, -1);
  id[ID_DIGITS] = '\0';
  return id;
}

/* (nullable): NULL unless @line is an object with all members. */
static SlPhone *
read_line (const char *line)
{
  SlPhone *phone = g_new0 (SlPhone, 1);
  SlJsonReader reader;
  sl_json_reader_init (&reader, line, strlen (line));
  if (sl_json_reader_enter (&reader, SL_JSON_OBJECT))
    while (sl_json_reader_next (&reader)) {
      char **into = NULL;
      for (guint i = 0; i < G_N_ELEMENTS (members); i++)
        if (strcmp (reader.key->str, members[i].key) == 0)
          into = member_of (phone, i);
      if (into == NULL || *into != NULL)
        sl_json_reader_skip (&reader);
      else if (sl_json_reader_string (&reader))
        *into = g_strdup (reader.text->str);
    }
  gboolean whole = sl_json_reader_end (&reader);
  for (guint i = 0; i < G_N_ELEMENTS (members); i++)
    whole = whole && *member_of (phone, i) != NULL;
  sl_json_reader_clear (&reader);
  if (!whole)
    g_clear_pointer (&phone, sl_phone_free);
  return phone;
}

/* (transfer full) (nullable): "" where there is no file. */
static char *
read_text (const char *path, GError **error)
{
  struct stat about;
  const int fd = open (path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0 && errno == ENOENT)
    return g_strdup ("");
  if (fd < 0 || fstat (fd, &about) != 0) {
    const int why = errno;
    if (fd >= 0)
      close (fd);
    return sl_fail_null (error, SL_ERROR_OPEN, "subscriptions=%s: %s", path, g_strerror (why));
  }
  char *text = NULL;
  if (!S_ISREG (about.st_mode) || about.st_size > FILE_MOST)
    sl_fail (error, SL_ERROR_OPEN, "subscriptions=%s: expected a regular file of at most %d bytes",
             path, FILE_MOST);
  else if ((about.st_mode & 077) != 0)
    sl_fail (error, SL_ERROR_OPEN,
             "subscriptions=%s: other users may read or change it (mode %04o): chmod 600", path,
             about.st_mode & 07777);
  else {
    text = g_malloc (FILE_MOST + 1);
    const gssize got = pread (fd, text, FILE_MOST, 0);
    text[MAX (got, 0)] = '\0';
  }
  close (fd);
  return text;
}

GPtrArray *
sl_phones_read (const char *path, GError **error)
{
  g_autofree char *text = read_text (path, error);
  if (text == NULL)
    return NULL;
  g_autoptr (GPtrArray) phones = g_ptr_array_new_with_free_func ((GDestroyNotify) sl_phone_free);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++) {
    SlPhone *phone = *lines[i] != '\0' ? read_line (lines[i]) : NULL;
    if (*lines[i] != '\0' && phone == NULL)
      return sl_fail_null (
        error, SL_ERROR_FORMAT,
        "subscriptions=%s:%u: expected an object with id, user, login, name, added, "
        "endpoint, p256dh and auth; remove the line",
        path, i + 1);
    if (phone != NULL)
      g_ptr_array_add (phones, phone);
  }
  return g_steal_pointer (&phones);
}

static gboolean
write_all (const char *path, GPtrArray *phones, GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GError) cause = NULL;
  for (guint i = 0; i < phones->len; i++) {
    g_string_append_c (text, '{');
    for (guint m = 0; m < G_N_ELEMENTS (members); m++)
      sl_json_append_text (text, members[m].key, *member_of (phones->pdata[i], m));
    g_string_append (text, "}\n");
  }
  return g_file_set_contents_full (path, text->str, (gssize) text->len,
                                   G_FILE_SET_CONTENTS_CONSISTENT | G_FILE_SET_CONTENTS_DURABLE,
                                   0600, &cause)
         || sl_fail (error, SL_ERROR_OPEN, "subscriptions=%s: %s", path, cause->message);
}

/* -1 with @error set. The file itself is replaced, so the lock is another one. */
static int
lock (const char *path, GError **error)
{
  g_autofree char *name = g_strconcat (path, ".lock", NULL);
  const int fd = open (name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  int got = fd;
  while (fd >= 0 && (got = flock (fd, LOCK_EX)) != 0 && errno == EINTR)
    continue;
  if (got >= 0)
    return fd;
  sl_fail (error, SL_ERROR_OPEN, "subscriptions=%s: %s", name, g_strerror (errno));
  if (fd >= 0)
    close (fd);
  return -1;
}

static SlPhone *
copy (const SlPhone *phone)
{
  SlPhone *own = g_new0 (SlPhone, 1);
  GString *now = g_string_new (NULL);
  sl_utc_append (now, g_get_real_time ());
  own->id = sl_phone_id (phone->endpoint);
  own->user = g_strdup (phone->user);
  own->login = g_strdup (phone->login);
  own->name = g_strdup (phone->name);
  own->added = g_string_free (now, FALSE);
  own->endpoint = g_strdup (phone->endpoint);
  own->p256dh = g_strdup (phone->p256dh);
  own->auth = g_strdup (phone->auth);
  return own;
}

static gboolean
put (GPtrArray *phones, SlPhone *phone, GError **error)
{
  guint own = 0;
  for (guint i = phones->len; i > 0; i--) {
    const SlPhone *other = phones->pdata[i - 1];
    if (strcmp (other->endpoint, phone->endpoint) == 0)
      g_ptr_array_remove_index (phones, i - 1);
    else
      own += strcmp (other->user, phone->user) == 0;
  }
  if (phones->len >= SL_PHONES_MOST || own >= SL_PHONES_OF_USER_MOST) {
    sl_phone_free (phone);
    return sl_fail (error, SL_ERROR_LIMIT,
                    "expected at most %d browsers, and %d of one user: remove one first",
                    SL_PHONES_MOST, SL_PHONES_OF_USER_MOST);
  }
  g_ptr_array_add (phones, phone);
  return TRUE;
}

gboolean
sl_phones_add (const char *path, const SlPhone *phone, GError **error)
{
  const int fd = lock (path, error);
  if (fd < 0)
    return FALSE;
  g_autoptr (GPtrArray) phones = sl_phones_read (path, error);
  const gboolean good =
    phones != NULL && put (phones, copy (phone), error) && write_all (path, phones, error);
  close (fd);
  return good;
}

gboolean
sl_phones_keep (const char *path, SlPhoneFilter stays, gpointer data, guint *removed,
                GError **error)
{
  *removed = 0;
  if (!g_file_test (path, G_FILE_TEST_EXISTS))
    return TRUE;
  const int fd = lock (path, error);
  if (fd < 0)
    return FALSE;
  g_autoptr (GPtrArray) phones = sl_phones_read (path, error);
  for (guint i = phones != NULL ? phones->len : 0; i > 0; i--)
    if (!stays (phones->pdata[i - 1], data)) {
      g_ptr_array_remove_index (phones, i - 1);
      ++*removed;
    }
  const gboolean good = phones != NULL && (*removed == 0 || write_all (path, phones, error));
  close (fd);
  return good;
}

typedef struct
{
  const char *id, *user;
} Wanted;

static gboolean
is_other (const SlPhone *phone, gpointer data)
{
  const Wanted *wanted = data;
  return strcmp (phone->id, wanted->id) != 0
         || (wanted->user != NULL && strcmp (phone->user, wanted->user) != 0);
}

gboolean
sl_phones_remove (const char *path, const char *id, const char *user, guint *removed,
                  GError **error)
{
  Wanted wanted = { id, user };
  return sl_phones_keep (path, is_other, &wanted, removed, error);
}
