/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Properties on a message bus. The bus decides who may call; the log has the user of each change.
 */
#include "tools/run/dbus.h"

#include <gio/gio.h>
#include <string.h>

#include "core/base/fail.h"
#include "tools/run/change.h"

#define BUS_NAME "org.sightline.Run"
#define INTERFACE "org.sightline.Pipeline"
#define FOLDER "/org/sightline/pipelines/"

static const char interface_xml[] =
  "<node><interface name='" INTERFACE "'>"
  "<property name='Name' type='s' access='read'/><property name='State' type='s' access='read'/>"
  "<property name='Threshold' type='d' access='readwrite'/>"
  "<property name='Classes' type='s' access='readwrite'/>"
  "<property name='Rate' type='d' access='readwrite'/>"
  "<property name='Recording' type='b' access='readwrite'/>"
  "<property name='Redaction' type='b' access='readwrite'/></interface></node>";

/* @workers: (element-type SlWorker) */
struct _SlRunDbus
{
  GPtrArray *workers;
  SlRunHttp *http; /* (nullable) */
  GDBusConnection *connection;
  GDBusNodeInfo *info;
  GArray *objects; /* of guint: registrations */
};

/* (transfer full): letters and digits stay, the rest is "_XX" as in names of systemd's units. */
static char *
path_of (const char *name)
{
  GString *path = g_string_new (FOLDER);
  for (const char *at = name; *at != '\0'; at++)
    if (g_ascii_isalnum (*at))
      g_string_append_c (path, *at);
    else
      g_string_append_printf (path, "_%02x", (guchar) *at);
  return g_string_free (path, FALSE);
}

static SlWorker *
worker_of (const SlRunDbus *dbus, const char *path)
{
  for (guint i = 0; i < dbus->workers->len; i++) {
    g_autofree char *own = path_of (sl_worker_name (dbus->workers->pdata[i]));
    if (strcmp (own, path) == 0)
      return dbus->workers->pdata[i];
  }
  g_assert_not_reached (); /* these are the objects that are offered */
}

/* FALSE: @property is no setting. */
static gboolean
kind_of (const char *property, SlLiveKind *kind)
{
  g_autofree char *key = g_ascii_strdown (property, -1);
  return sl_live_kind_of (key, kind);
}

static GstElement *
find (SlWorker *worker, SlLiveKind kind)
{
  GstElement *pipeline = sl_worker_pipeline (worker);
  return pipeline != NULL ? sl_live_find (pipeline, kind) : NULL;
}

/* What is not stated, or not known, is "", -1 and 0. */
static GVariant *
value_of (SlWorker *worker, SlLiveKind kind)
{
  g_autoptr (GstElement) element = find (worker, kind);
  g_autofree char *text = element != NULL ? sl_live_text (element, kind) : g_strdup ("");
  const gdouble number = g_ascii_strtod (text, NULL);
  if (kind == SL_LIVE_CLASSES)
    return g_variant_new_string (text);
  if (kind == SL_LIVE_RECORDING || kind == SL_LIVE_REDACTION)
    return g_variant_new_boolean (strcmp (text, "true") == 0);
  if (kind == SL_LIVE_RATE)
    return g_variant_new_double (
      element != NULL && number >= 1 ? sl_live_frame_rate (element) / number : 0);
  return g_variant_new_double (*text != '\0' ? number : -1);
}

static GVariant *
on_get (GDBusConnection *connection, const char *sender, const char *path, const char *interface,
        const char *property, GError **error, gpointer data)
{
  SlWorker *worker = worker_of (data, path);
  SlLiveKind kind;
  if (kind_of (property, &kind))
    return value_of (worker, kind);
  return g_variant_new_string (strcmp (property, "Name") == 0
                                 ? sl_worker_name (worker)
                                 : sl_worker_state_name (sl_worker_state (worker)));
}

/* @text: of @value, which must live as long */
static SlLiveWish
wish_of (SlLiveKind kind, GVariant *value)
{
  SlLiveWish wish = { .kind = SL_LIVE_NOTHING };
  if (g_variant_is_of_type (value, G_VARIANT_TYPE_BOOLEAN)) {
    wish.kind = g_variant_get_boolean (value) ? SL_LIVE_ON : SL_LIVE_OFF;
  } else if (g_variant_is_of_type (value, G_VARIANT_TYPE_STRING)) {
    wish.text = (char *) g_variant_get_string (value, NULL);
    wish.kind = *wish.text != '\0' ? SL_LIVE_TEXT : SL_LIVE_NOTHING;
  } else {
    wish.number = g_variant_get_double (value);
    if (kind == SL_LIVE_RATE ? wish.number != 0 : wish.number != -1)
      wish.kind = SL_LIVE_NUMBER;
  }
  return wish;
}

/* (transfer full): "user 1000", as the bus knows it. */
static char *
user_of (GDBusConnection *connection, const char *sender)
{
  guint32 user = 0;
  g_autoptr (GVariant) answer = g_dbus_connection_call_sync (
    connection, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
    "GetConnectionUnixUser", g_variant_new ("(s)", sender), G_VARIANT_TYPE ("(u)"),
    G_DBUS_CALL_FLAGS_NONE, 1000, NULL, NULL);
  if (answer == NULL)
    return g_strdup (sender);
  g_variant_get (answer, "(u)", &user);
  return g_strdup_printf ("user %u", user);
}

static gboolean
on_set (GDBusConnection *connection, const char *sender, const char *path, const char *interface,
        const char *property, GVariant *value, GError **error, gpointer data)
{
  SlRunDbus *dbus = data;
  SlLiveKind kind = SL_LIVE_THRESHOLD;
  kind_of (property, &kind);
  const SlLiveWish wish = wish_of (kind, value);
  g_autofree char *user = user_of (connection, sender);
  g_autofree char *who = g_strconcat (user, " of the message bus", NULL);
  gboolean changed;
  return sl_change_setting (worker_of (dbus, path), kind, &wish, dbus->http, who, "dbus", &changed,
                            error);
}

static const GDBusInterfaceVTable interface_table = { .get_property = on_get,
                                                      .set_property = on_set };

static gboolean
offer (SlRunDbus *dbus, GError **error)
{
  dbus->info = g_dbus_node_info_new_for_xml (interface_xml, error);
  for (guint i = 0; dbus->info != NULL && i < dbus->workers->len; i++) {
    g_autofree char *path = path_of (sl_worker_name (dbus->workers->pdata[i]));
    const guint object = g_dbus_connection_register_object (
      dbus->connection, path, dbus->info->interfaces[0], &interface_table, dbus, NULL, error);
    if (object == 0)
      return FALSE;
    g_array_append_val (dbus->objects, object);
  }
  return dbus->info != NULL;
}

/* FALSE where the bus does not give the name, or another program has it. */
static gboolean
take_name (SlRunDbus *dbus, GError **error)
{
  guint32 reply = 0;
  g_autoptr (GVariant) answer = g_dbus_connection_call_sync (
    dbus->connection, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
    "RequestName", g_variant_new ("(su)", BUS_NAME, 4), G_VARIANT_TYPE ("(u)"),
    G_DBUS_CALL_FLAGS_NONE, 5000, NULL, error);
  if (answer == NULL)
    return FALSE;
  g_variant_get (answer, "(u)", &reply);
  return reply == 1
         || sl_fail (error, SL_ERROR_OPEN,
                     "another program has the name " BUS_NAME ": expected one that runs alone");
}

static GBusType
type_of (const char *bus)
{
  return strcmp (bus, "session") == 0  ? G_BUS_TYPE_SESSION
         : strcmp (bus, "system") == 0 ? G_BUS_TYPE_SYSTEM
                                       : G_BUS_TYPE_NONE;
}

gboolean
sl_run_dbus_check (const char *bus, GError **error)
{
  return bus == NULL || type_of (bus) != G_BUS_TYPE_NONE
         || sl_fail (error, SL_ERROR_ARGUMENT, "--dbus: expected session or system, got '%s'", bus);
}

SlRunDbus *
sl_run_dbus_new (const char *bus, GPtrArray *workers, SlRunHttp *http, GError **error)
{
  SlRunDbus *dbus = g_new0 (SlRunDbus, 1);
  dbus->workers = workers;
  dbus->http = http;
  dbus->objects = g_array_new (FALSE, FALSE, sizeof (guint));
  dbus->connection = g_bus_get_sync (type_of (bus), NULL, error);
  if (dbus->connection != NULL)
    g_dbus_connection_set_exit_on_close (dbus->connection, FALSE);
  if (dbus->connection != NULL && offer (dbus, error) && take_name (dbus, error))
    return dbus;
  g_prefix_error (error, "--dbus %s: ", bus);
  sl_run_dbus_free (dbus);
  return NULL;
}

void
sl_run_dbus_changed (SlRunDbus *dbus, SlWorker *worker, SlLiveKind kind)
{
  GDBusPropertyInfo **property = dbus->info->interfaces[0]->properties;
  g_autofree char *path = path_of (sl_worker_name (worker));
  GVariantBuilder changed;
  while (g_ascii_strcasecmp ((*property)->name, sl_live_rows[kind].key) != 0)
    property++;
  g_variant_builder_init (&changed, G_VARIANT_TYPE ("a{sv}"));
  g_variant_builder_add (&changed, "{sv}", (*property)->name, value_of (worker, kind));
  g_dbus_connection_emit_signal (dbus->connection, NULL, path, "org.freedesktop.DBus.Properties",
                                 "PropertiesChanged",
                                 g_variant_new ("(sa{sv}as)", INTERFACE, &changed, NULL), NULL);
}

void
sl_run_dbus_free (SlRunDbus *dbus)
{
  if (dbus == NULL)
    return;
  for (guint i = 0; i < dbus->objects->len; i++)
    g_dbus_connection_unregister_object (dbus->connection, g_array_index (dbus->objects, guint, i));
  g_array_unref (dbus->objects);
  g_clear_pointer (&dbus->info, g_dbus_node_info_unref);
  g_clear_object (&dbus->connection);
  g_free (dbus);
}
