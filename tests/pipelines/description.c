/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Description files: what they say, every sentence about what is wrong with them, and files nobody
 * would write.
 */
#include "pipelines/description/description.h"

#include <glib/gstdio.h>
#include <string.h>

#include "sightline/error.h"
#include "pipelines/description/key_text.h"
#include "tests/support/program.h"

#define MINIMAL "[pipeline]\nlaunch=a ! b\n"

static char *folder;

static SlDescription *
parse (const char *text, GHashTable *values, GError **error)
{
  return sl_description_new_from_string (text, -1, "t.pipeline", values, error);
}

static char *
save (const char *name, const char *text)
{
  char *path = g_build_filename (folder, name, NULL);
  g_autofree char *parent = g_path_get_dirname (path);
  g_assert_cmpint (g_mkdir_with_parents (parent, 0700), ==, 0);
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  return path;
}

static void
test_defaults (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlDescription) d =
    parse ("# a comment\n\n [ pipeline ] \r\n  launch =  a !  b  \r\n", NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (d->name, ==, "t");
  g_assert_cmpstr (d->launch, ==, "a !  b");
  g_assert_cmpuint (d->launch_line, ==, 4);
  g_assert_cmpint (d->restart, ==, SL_RESTART_NO);
  g_assert_cmpuint (d->backoff_min, ==, 500);
  g_assert_cmpuint (d->backoff_max, ==, 30000);
  g_assert_cmpuint (d->watchdog, ==, 10000);
  g_assert_cmpuint (d->start_timeout, ==, 30000);
  g_assert_null (d->description);
  g_assert_cmpuint (d->parameters->len + d->overrides->len, ==, 0);
}

static void
test_http (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlDescription) plain = parse (MINIMAL, NULL, &error);
  g_assert_no_error (error);
  g_assert_null (plain->http.listen);
  g_assert_null (plain->http.file);
  g_assert_cmpuint (plain->http.stall, ==, 2000);
  g_assert_cmpuint (plain->http.width, ==, 640);
  g_assert_cmpuint (plain->http.viewers, ==, 4);
  g_assert_cmpfloat (plain->http.frame_rate, ==, 10);
  g_autoptr (SlDescription) d =
    parse ("[parameters]\nport=8080\n" MINIMAL
           "[http]\nlisten=[::1]:${port}\npassword-file=/p\ncertificate=/c\nprivate-key=/k\n"
           "stall=5s\nframe-rate=2.5\nwidth=320\nviewers=64\n",
           NULL, &error);
  g_assert_no_error (error);
  SlHttpSettings copy;
  sl_http_settings_copy (&copy, &d->http);
  g_assert_cmpstr (copy.listen, ==, "[::1]:8080");
  g_assert_cmpstr (copy.password_file, ==, "/p");
  g_assert_cmpstr (copy.certificate, ==, "/c");
  g_assert_cmpstr (copy.private_key, ==, "/k");
  g_assert_cmpuint (copy.stall, ==, 5000);
  g_assert_cmpfloat (copy.frame_rate, ==, 2.5);
  g_assert_cmpuint (copy.width, ==, 320);
  g_assert_cmpuint (copy.viewers, ==, 64);
  g_assert_cmpstr (copy.file, ==, "t.pipeline");
  g_assert_cmpuint (copy.line, ==, 13);
  sl_http_settings_clear (&copy);
}

static void
test_all_keys (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlDescription) d =
    parse ("[pipeline]\nname=Door\ndescription=Who is at the door\n"
           "launch=a \\\n# why\n  ! b \\\n\n"
           "restart=always\nbackoff-min=250ms\nbackoff-max=1.5 min\nwatchdog=0\nstart-timeout=1h\n"
           "[element b]\nlocation=x y\\n\nlocation-2=\n",
           NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (d->name, ==, "Door");
  g_assert_cmpstr (d->description, ==, "Who is at the door");
  g_assert_cmpstr (d->launch, ==, "a ! b");
  g_assert_cmpint (d->restart, ==, SL_RESTART_ALWAYS);
  g_assert_cmpuint (d->backoff_min, ==, 250);
  g_assert_cmpuint (d->backoff_max, ==, 90000);
  g_assert_cmpuint (d->watchdog, ==, 0);
  g_assert_cmpuint (d->start_timeout, ==, 3600000);
  g_assert_cmpuint (d->overrides->len, ==, 2);
  const SlElementOverride *override = &g_array_index (d->overrides, SlElementOverride, 0);
  g_assert_cmpstr (override->element, ==, "b");
  g_assert_cmpstr (override->property, ==, "location");
  g_assert_cmpstr (override->value, ==, "x y\\n");
  g_assert_cmpstr (override->file, ==, "t.pipeline");
  g_assert_cmpuint (override->line, ==, 14);
}

static GHashTable *
values (const char *name, const char *value)
{
  GHashTable *table = g_hash_table_new (g_str_hash, g_str_equal);
  g_hash_table_insert (table, (gpointer) name, (gpointer) value);
  return table;
}

static void
test_parameters (void)
{
  const char *text =
    "[parameters]\nhost=camera\nuri=rtsp://${host}/$${x}$\n[parameter n]\ntype=integer\ndefault=4\n"
    "minimum=1\nmaximum=8\n"
    "description=Threads\n[pipeline]\nname=cam-${host}\nlaunch=src location=${uri} ! q n=${n}\n"
    "[element q]\ntext=${host} ${n}\n";
  g_autoptr (GError) error = NULL;
  g_autoptr (GHashTable) given = values ("host", "a b");
  g_autoptr (SlDescription) d = parse (text, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (d->launch, ==, "src location=rtsp://camera/\\$\\{x\\}\\$ ! q n=4");
  g_assert_cmpstr (d->name, ==, "cam-camera");
  g_assert_cmpstr (g_array_index (d->overrides, SlElementOverride, 0).value, ==, "camera 4");
  const SlParameter *n = sl_description_find (d, "n");
  g_assert_cmpint (n->type, ==, SL_PARAMETER_INTEGER);
  g_assert_cmpstr (n->description, ==, "Threads");
  g_assert_true (n->is_default && n->minimum == 1 && n->maximum == 8);
  g_autoptr (SlDescription) changed = parse (text, given, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (changed->launch, ==, "src location=rtsp://a\\ b/\\$\\{x\\}\\$ ! q n=4");
  g_assert_cmpstr (g_array_index (changed->overrides, SlElementOverride, 0).value, ==, "a b 4");
  g_assert_false (sl_description_find (changed, "host")->is_default);
  g_assert_null (sl_description_find (d, "absent"));
}

/* Groups of regions become one text, parameters and all; the later of two values wins where it is
 * read. */
static void
test_regions (void)
{
  const char *text =
    "[parameters]\nwho=person\n" MINIMAL
    "[zone door]\npoints=0,0 1,0 1,1\nclasses=${who}\n[line way in]\npoints=0,0 1,1\n";
  g_autoptr (GError) error = NULL;
  g_autoptr (SlDescription) d = parse (text, NULL, &error), plain = parse (MINIMAL, NULL, NULL);
  g_assert_no_error (error);
  g_assert_cmpstr (
    d->regions, ==,
    "[zone door] points=0,0 1,0 1,1\n[zone door] classes=person\n[line way in] points=0,0 1,1\n");
  g_assert_cmpstr (d->regions_file, ==, "t.pipeline");
  g_assert_cmpuint (d->regions_line, ==, 6);
  g_assert_null (plain->regions);
}

/* What the caller gives is literal; what is empty stays a word of its own. */
static void
test_values_are_words (void)
{
  const struct
  {
    const char *value, *launch;
  } cases[] = {
    { "x ! filesink location=/etc/passwd", "a p=x\\ \\!\\ filesink\\ location\\=/etc/passwd ! b" },
    { "${v}", "a p=\\$\\{v\\} ! b" },
    { "", "a p=\"\" ! b" },
    { "\"'\\;x", "a p=\\\"\\'\\\\\\;x ! b" },
    { "\303\266", "a p=\303\266 ! b" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (GHashTable) given = values ("v", cases[i].value);
    g_autoptr (SlDescription) d =
      parse ("[parameters]\nv=1\n[pipeline]\nlaunch=a p=${v} ! b\n", given, &error);
    g_assert_no_error (error);
    g_assert_cmpstr (d->launch, ==, cases[i].launch);
  }
}

static void
expect (const char *text, const char *name, const char *value, const char *message)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GHashTable) given = name != NULL ? values (name, value) : NULL;
  SlDescription *d = parse (text, given, &error);
  g_assert_null (d);
  g_assert_nonnull (error);
  g_assert_true (error->domain == SL_ERROR);
  g_assert_cmpstr (error->message, ==, message);
}

/* Each is also a sentence of docs/pipelines.md. */
/* --set first, then the environment, then the file; the environment's value is taken literally and
 * checked as the caller's is. */
static void
test_environment (void)
{
  const char *text =
    "[parameter a]\ndefault=1\ntype=integer\nenvironment=SL_TEST_A\n[pipeline]\nlaunch=b p=${a}\n";
  g_autoptr (GHashTable) given = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GError) error = NULL;
  const struct
  {
    const char *variable, *set, *launch;
  } rows[] = { { NULL, NULL, "b p=1" }, { "2", NULL, "b p=2" }, { "2", "3", "b p=3" } };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_hash_table_remove_all (given);
    g_unsetenv ("SL_TEST_A");
    if (rows[i].variable != NULL)
      g_setenv ("SL_TEST_A", rows[i].variable, TRUE);
    if (rows[i].set != NULL)
      g_hash_table_insert (given, (gpointer) "a", (gpointer) rows[i].set);
    g_autoptr (SlDescription) d = parse (text, given, &error);
    g_assert_no_error (error);
    g_assert_cmpstr (d->launch, ==, rows[i].launch);
    g_assert_cmpint (sl_description_find (d, "a")->from_environment, ==, i == 1);
    g_assert_cmpint (sl_description_find (d, "a")->is_default, ==, i == 0);
  }
  g_hash_table_remove_all (given);
  g_setenv ("SL_TEST_A", "${x}", TRUE);
  g_assert_null (parse (text, given, &error));
  g_assert_cmpstr (
    error->message, ==,
    "t.pipeline: parameter a, from the environment's SL_TEST_A: expected an integer, got '${x}'");
  g_unsetenv ("SL_TEST_A");
}

static const struct
{
  const char *text, *message;
} mistakes[] = {
  { "", "t.pipeline: [pipeline] launch: missing; expected launch=SOURCE ! ... ! SINK" },
  { "[pipeline]\nlaunch=\n", "t.pipeline:2: [pipeline] launch: expected a value, got ''" },
  { "launch=a\n", "t.pipeline:1: launch: expected a [GROUP] before the first key" },
  { "\n[pipeline\n",
    "t.pipeline:2: expected [GROUP] with ']' at the end of the line, got '[pipeline'" },
  { "[]\n", "t.pipeline:1: expected a group's name of 1 to 128 bytes without brackets, got '[]'" },
  { "[pipeline]\nlaunch\n",
    "t.pipeline:2: expected KEY=VALUE, [GROUP] or # comment, got 'launch'" },
  { "[pipeline]\nla unch=a\n",
    "t.pipeline:2: expected a key of 1 to 128 bytes without blanks before '=', got 'la unch=a'" },
  { "[pipeline]\nlaunch=a\n\nlaunch=b\n",
    "t.pipeline:4: [pipeline] launch: stated on line 2 already; expected it once" },
  { "[pipeline]\nlaunch=\001\n", "t.pipeline:2: control character 0x01; expected a text file" },
  { "[pipeline]\nlaunch=\377\n", "t.pipeline:2: byte 0xff is no UTF-8; expected a text file" },
  { "[pipline]\nlaunch=a\n",
    "t.pipeline:2: [pipline] launch: unknown group; did you mean [pipeline]?" },
  { "[elment x]\nlaunch=a\n",
    "t.pipeline:2: [elment x] launch: unknown group; did you mean [element NAME]?" },
  { "[graph]\nlaunch=a\n",
    "t.pipeline:2: [graph] launch: unknown group; expected [pipeline], [parameters], [http], "
    "[record], [redact], [publish], [notify], [push], [budget], [search], [gallery], "
    "[budget NAME], [parameter NAME], [element NAME], "
    "[zone NAME], [line NAME] or [mask NAME]" },
  { "[htpt]\nlisten=a\n", "t.pipeline:2: [htpt] listen: unknown group; did you mean [http]?" },
  { MINIMAL "[http]\nport=80\n",
    "t.pipeline:4: [http] port: unknown key; expected one of listen, password-file, certificate, "
    "private-key, users, role, audit, proxy, stall, frame-rate, width, viewers" },
  { MINIMAL "[http]\nstall=0s\n",
    "t.pipeline:4: [http] stall: expected a time longer than 0, such as 2s, got '0s'" },
  { MINIMAL "[http]\nframe-rate=1000\n",
    "t.pipeline:4: [http] frame-rate: expected a number from 0.1 to 60, got '1000'" },
  { MINIMAL "[http]\nwidth=-1\n",
    "t.pipeline:4: [http] width: expected a whole number from 64 to 3840, got '-1'" },
  { MINIMAL "[http]\nviewers=1.5\n",
    "t.pipeline:4: [http] viewers: expected a whole number from 1 to 64, got '1.5'" },
  { "[pipeline]\nlauch=a\n",
    "t.pipeline:2: [pipeline] lauch: unknown key; did you mean 'launch'?" },
  { "[pipeline]\nzzzzzz=a\n",
    "t.pipeline:2: [pipeline] zzzzzz: unknown key; expected one of include, name, description, "
    "launch, restart, backoff-min, backoff-max, watchdog, start-timeout, black-box, state, "
    "privacy" },
  { MINIMAL "restart=never\n",
    "t.pipeline:3: [pipeline] restart: expected no, on-failure or always, got 'never'" },
  { MINIMAL "watchdog=5 parsecs\n",
    "t.pipeline:3: [pipeline] watchdog: expected a time such as 500ms, 2s or 1min, at most 24h, "
    "got '5 parsecs'" },
  { MINIMAL "watchdog=-1\n",
    "t.pipeline:3: [pipeline] watchdog: expected a time such as 500ms, 2s or 1min, at most 24h, "
    "got '-1'" },
  { MINIMAL "watchdog=25h\n",
    "t.pipeline:3: [pipeline] watchdog: expected a time such as 500ms, 2s or 1min, at most 24h, "
    "got '25h'" },
  { MINIMAL "backoff-min=2s\nbackoff-max=1s\n",
    "t.pipeline: [pipeline] backoff-min: 2000 ms is more than backoff-max, 1000 ms" },
  { "[pipeline]\nlaunch=a ${b\n",
    "t.pipeline:2: [pipeline] launch: expected '}' behind '${' (write '$${' for '${' itself)" },
  { "[pipeline]\nlaunch=a ${b c}\n",
    "t.pipeline:2: [pipeline] launch: expected a parameter's name (letters, digits, _ and -) in "
    "'${...}', got 'b c'" },
  { "[pipeline]\nlaunch=a ${b}\n",
    "t.pipeline:2: [pipeline] launch: unknown parameter 'b'; the description declares none" },
  { "[parameters]\nsource=1\n[pipeline]\nlaunch=a ${sorce}\n",
    "t.pipeline:4: [pipeline] launch: unknown parameter 'sorce'; did you mean 'source'?" },
  { "[parameters]\n1x=1\n" MINIMAL,
    "t.pipeline:2: [parameters] 1x: '1x' is no name for a parameter; expected letters, digits, _ "
    "and -, at most 64" },
  { "[parameters]\na=${b}\nb=${a}\n" MINIMAL,
    "t.pipeline:2: [parameters] a: t.pipeline:3: [parameters] b: ${a} stands for itself" },
  { "[parameter a]\ntype=int\n" MINIMAL,
    "t.pipeline:2: [parameter a] type: expected string, integer, number, boolean or path, got "
    "'int'" },
  { "[parameter a]\ndefalt=1\n" MINIMAL,
    "t.pipeline:2: [parameter a] defalt: unknown key; did you mean 'default'?" },
  { "[parameter a]\ntype=integer\n" MINIMAL,
    "t.pipeline:2: parameter a has no default and no value: give one with --set a=VALUE" },
  { "[parameter a]\nenvironment=DOOR\n" MINIMAL,
    "t.pipeline:2: parameter a has no default and no value: give one with --set a=VALUE, or in the "
    "environment as DOOR" },
  { "[parameter a]\nenvironment=1 x\n" MINIMAL,
    "t.pipeline:2: [parameter a] environment: expected the name of a variable (letters, digits and "
    "_), got '1 x'" },
  { "[parameter a]\ntype=integer\ndefault=1.5\n" MINIMAL,
    "t.pipeline:3: [parameter a] default: expected an integer, got '1.5'" },
  { "[parameter a]\ntype=number\ndefault=x\n" MINIMAL,
    "t.pipeline:3: [parameter a] default: expected a number, got 'x'" },
  { "[parameter a]\ntype=integer\ndefault=1\nminimum=2\n" MINIMAL,
    "t.pipeline:3: [parameter a] default: expected at least 2, got '1'" },
  { "[parameter a]\ntype=integer\ndefault=9\nmaximum=8\n" MINIMAL,
    "t.pipeline:3: [parameter a] default: expected at most 8, got '9'" },
  { "[parameter a]\ntype=boolean\ndefault=yes\n" MINIMAL,
    "t.pipeline:3: [parameter a] default: expected true or false, got 'yes'" },
  { "[parameter a]\ntype=path\ndefault=\n" MINIMAL,
    "t.pipeline:3: [parameter a] default: expected a path, got ''" },
  { "[parameter a]\nchoices=x;y\ndefault=z\n" MINIMAL,
    "t.pipeline:3: [parameter a] default: expected one of x, y, got 'z'" },
  { "[parameter a]\nchoices=x;;y\n" MINIMAL,
    "t.pipeline:2: [parameter a] choices: expected words with ';' between, got 'x;;y'" },
  { "[parameter a]\nchoices=\n" MINIMAL,
    "t.pipeline:2: [parameter a] choices: expected words with ';' between, got ''" },
  { "[parameter a]\nchoices=x;y\ntype=path\n" MINIMAL,
    "t.pipeline:2: [parameter a] choices: only without type; this parameter is a path" },
  { "[parameter a]\nminimum=x\n" MINIMAL,
    "t.pipeline:2: [parameter a] minimum: expected a number, got 'x'" },
  { "[parameter a]\nminimum=1\ndefault=1\n" MINIMAL,
    "t.pipeline:2: [parameter a] minimum: only for type=integer and type=number; this parameter is "
    "a string" },
  { "[parameters]\na=x\\\\\n[pipeline]\nlaunch=b p=${a} ! c\n",
    "t.pipeline:4: [pipeline] launch: ${a}: ends with a backslash; a launch line cannot hold that, "
    "state it in [element NAME]" },
  { "[parameters]\na=file:///x\n[pipeline]\nlaunch=b ! ${a}\n",
    "t.pipeline:4: [pipeline] launch: ${a}: expected the name of an element (letters, digits, _ "
    "and -), got 'file:///x': in this place a parameter chooses the element, nothing more" },
  { "[parameters]\na=x\ty\n[pipeline]\nlaunch=b p=${a} ! c\n",
    "t.pipeline:4: [pipeline] launch: ${a}: control character 0x09; a launch line cannot hold it" },
  { "[zne a]\npoints=0,0 1,1\n" MINIMAL,
    "t.pipeline:2: [zne a] points: unknown group; did you mean [zone NAME]?" },
  { "[zone a]\npoint=0,0 1,1\n" MINIMAL,
    "t.pipeline:2: [zone a] point: unknown key of a zone; did you mean 'points'?" },
  { "[line a]\npoints=0,0 1,2\n" MINIMAL,
    "t.pipeline:2: [line a] points: expected points x,y of numbers from 0 to 1, such as 0.1,0.2 "
    "0.5,0.2 0.5,0.9, got '2' in '0,0 1,2'" },
  { MINIMAL "[zone a]\nclasses=x\n",
    "t.pipeline:3: [zone a] points: expected at least 3 corners x,y of 0..1, got 0" },
  { MINIMAL "[zone a]\npoints=0,0 1,0 1,1\n\n[zone b]\nclasses=x\npoints=0,0 1,1\n",
    "t.pipeline:8: [zone b] points: expected at least 3 corners x,y of 0..1, got 2" },
  { MINIMAL "[zone door]\n",
    "t.pipeline:3: [zone door] points: expected at least 3 corners x,y of 0..1, got 0" },
  { MINIMAL "[zone a;b]\npoints=0,0 1,0 1,1\n",
    "t.pipeline:3: [zone a;b]: expected a name of 1 to 64 bytes of UTF-8 without ';' behind "
    "'zone'" },
  { "[zone a]\nclasses=x;y\n" MINIMAL,
    "t.pipeline:2: [zone a] classes: expected a value without ';', got 'x;y'" },
  { "[pipeline]\ninclude=\n",
    "t.pipeline:2: [pipeline] include: expected the path of a file, got ''" },
  { "[pipeline]\ninclude=/no/such.conf\n",
    "t.pipeline:2: [pipeline] include: /no/such.conf: no such file" },
  { "[pipeline]\ninclude=/\n",
    "t.pipeline:2: [pipeline] include: /: expected a pipeline description, got a directory" },
  { "[pipeline]\ninclude=/dev/zero\n",
    "t.pipeline:2: [pipeline] include: /dev/zero: expected a regular file" },
};

static void
test_mistakes (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (mistakes); i++)
    expect (mistakes[i].text, NULL, NULL, mistakes[i].message);
}

/* Whether a launch line takes @value for ${a}; any other error than that of an element's place is
 * the test's. */
static gboolean
takes (const char *launch, const char *value)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GHashTable) values = g_hash_table_new (g_str_hash, g_str_equal);
  g_autofree char *text =
    g_strdup_printf ("[pipeline]\nlaunch=%s\n[parameters]\na=x\nb=\n", launch);
  g_hash_table_insert (values, (gpointer) "a", (gpointer) value);
  g_autoptr (SlDescription) d = parse (text, values, &error);
  if (d == NULL)
    g_assert_nonnull (strstr (
      error->message,
      "t.pipeline:2: [pipeline] launch: ${a}: expected the name of an element (letters, digits, _ "
      "and -), got '"));
  return d != NULL;
}

/* In the place of an element a value is a name; elsewhere it is what it likes. */
static void
test_element_names (void)
{
  const char *const elements[] = { "s ! ${a}",
                                   "s ! ${a} name=b",
                                   "${a} ! t",
                                   "s ! x${a}",
                                   "s p=1 ! q=\"two words\" ! ${a}",
                                   "s !${a}",
                                   "s ! \"${a}\"",
                                   "s ! video/x-raw, width=3, list={ 1, 2 } ! ${a}",
                                   "s p=${b} ${a}",
                                   "s p=\\  ${a}",
                                   "s p = 3 ${a} ! t",
                                   "( s ! ${a} )",
                                   "s p=a/b ! ${a} name=c" };
  const char *const others[] = { "s ! t p=${a}",
                                 "s ! t p=\"${a}\"",
                                 "s ! t p='b ${a}'",
                                 "s ! t p = ${a}",
                                 "s ! video/x-raw,width=3,${a} ! t",
                                 "s ! video/x-raw(memory:${a}), list={ ${a}, ${a} } ! t",
                                 "s ! t p=/b/${a}",
                                 "file:///b/${a} ! t",
                                 "s ! t p={ x, ${a} }" };
  const char *const bad[] = {
    "file:///tmp/x", "rtsp://h/x", "t.",  "video/x-raw", "fakesink sync=false",
    "a ! b",         "",           "a=b", "(",           "\"a\"",
    "a/b",           "x:y",        "ä",   "-.-"
  };
  for (guint i = 0; i < G_N_ELEMENTS (elements); i++) {
    g_assert_true (takes (elements[i], "fake-Sink_2"));
    for (guint k = 0; k < G_N_ELEMENTS (bad); k++)
      if (takes (elements[i], bad[k]))
        g_error ("'%s' is taken for an element in '%s'", bad[k], elements[i]);
  }
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    for (guint k = 0; k < G_N_ELEMENTS (bad); k++)
      if (!takes (others[i], bad[k]))
        g_error ("'%s' is not taken in '%s'", bad[k], others[i]);
}

/* Passwords in the wrong place are in no message. */
static void
test_secrets (void)
{
  static const struct
  {
    const char *text, *message;
  } rows[] = {
    { "[pipeline]\nmqtt://joe:hush@h/t\n",
      "t.pipeline:2: expected KEY=VALUE, [GROUP] or # comment, got 'mqtt://joe:***@h/t'" },
    { "[pipeline]\nlaunch mqtt://joe:hush-is-very-long-and-goes-on-beyond-sixty-characters-of-the-l"
      "ine@h/t\n",
      "t.pipeline:2: expected KEY=VALUE, [GROUP] or # comment, got 'launch mqtt://joe:***@h/t'" },
    { "[pipeline]\nwatchdog=mqtt://joe:a hush@h/t\nlaunch=a\n",
      "t.pipeline:2: [pipeline] watchdog: expected a time such as 500ms, 2s or 1min, at most 24h, "
      "got 'mqtt://joe:***@h/t'" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    expect (rows[i].text, NULL, NULL, rows[i].message);
}

/* The manual's list of messages is the list above. */
static void
test_documented (void)
{
  const char *root = g_getenv ("SIGHTLINE_SOURCE_ROOT");
  g_autofree char *path =
                    g_build_filename (root != NULL ? root : ".", "docs", "pipelines.md", NULL),
                  *text = NULL;
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  const char *list = strstr (text, "## Messages");
  g_assert_nonnull (list);
  for (guint i = 0; i < G_N_ELEMENTS (mistakes); i++) {
    g_autofree char *line = g_strdup_printf ("\n    %s\n", mistakes[i].message);
    if (strstr (list, line) == NULL)
      g_error ("%s lacks:%s", path, line);
  }
  g_auto (GStrv) lines = g_strsplit (list, "\n", -1);
  for (guint l = 0; lines[l] != NULL; l++) {
    gboolean known = !g_str_has_prefix (lines[l], "    ");
    for (guint i = 0; !known && i < G_N_ELEMENTS (mistakes); i++)
      known = strcmp (lines[l] + 4, mistakes[i].message) == 0;
    if (!known)
      g_error ("%s has a message that no test produces: %s", path, lines[l]);
  }
}

static void
test_given_values (void)
{
  const char *text = "[parameters]\nwidth=1\n[parameter width]\ntype=integer\nminimum=1\n" MINIMAL;
  expect (text, "wdith", "2", "t.pipeline: unknown parameter 'wdith'; did you mean 'width'?");
  expect (text, "width", "wide", "t.pipeline: parameter width: expected an integer, got 'wide'");
  expect (text, "width", "0", "t.pipeline: parameter width: expected at least 1, got '0'");
  expect (text, "width", "\377", "t.pipeline: parameter width: expected UTF-8");
}

static void
expect_file (const char *path, const char *message)
{
  g_autoptr (GError) error = NULL;
  SlDescription *d = sl_description_load (path, NULL, &error);
  g_assert_null (d);
  g_assert_nonnull (error);
  g_assert_nonnull (strstr (error->message, message));
}

static void
test_includes (void)
{
  g_autoptr (GError) error = NULL;
  g_free (
    save ("sub/base.conf",
          "[parameters]\na=1\nb=1\nc=1\n[parameter m]\ntype=path\ndefault=m.tflite\n[pipeline]\n"
          "launch=base ${a}\nwatchdog=1s\n[element e]\np=base\nq=base\n"));
  g_autofree char *main_file =
    save ("main.pipeline",
          "[pipeline]\ninclude=sub/base.conf\nlaunch=main ${a}${b}${c}\n[parameters]\nb=2\nc=2\n"
          "[element e]\np=main\n");
  g_free (save ("main.pipeline.d/90-late.conf", "[parameters]\nc=4\n"));
  g_free (save ("main.pipeline.d/10-early.conf", "[parameters]\nc=3\n[element e]\nq=early\n"));
  g_free (save ("main.pipeline.d/.hidden.conf", "nonsense"));
  g_free (save ("main.pipeline.d/README", "nonsense"));
  g_autofree char *model = g_build_filename (folder, "sub", "m.tflite", NULL);
  g_autoptr (SlDescription) d = sl_description_load (main_file, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (d->launch, ==, "main 124");
  g_assert_cmpstr (d->name, ==, "main");
  g_assert_cmpuint (d->watchdog, ==, 1000);
  g_assert_cmpstr (sl_description_find (d, "m")->value, ==, model);
  g_assert_cmpuint (d->overrides->len, ==, 2);
  g_assert_cmpstr (g_array_index (d->overrides, SlElementOverride, 0).value, ==, "main");
  g_assert_cmpstr (g_array_index (d->overrides, SlElementOverride, 1).value, ==, "early");
  g_assert_cmpuint (d->files->len, ==, 5);
  g_autoptr (GHashTable) declared = sl_description_declared (main_file, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (g_hash_table_size (declared), ==, 4);
  g_assert_true (g_hash_table_contains (declared, "m") && g_hash_table_contains (declared, "c"));
}

static void
test_include_limits (void)
{
  g_autofree char *self = save ("self.pipeline", "[pipeline]\ninclude=self.pipeline\nlaunch=a\n");
  g_autofree char *there = save ("there.pipeline", "[pipeline]\ninclude=back.pipeline\nlaunch=a\n");
  g_free (save ("back.pipeline", "[pipeline]\ninclude=./there.pipeline\n"));
  g_autofree char *bad = save ("bad.pipeline", "[pipeline]\ninclude=worse.conf\nlaunch=a\n");
  g_free (save ("worse.conf", "[pipeline]\nname=x\nlaunhc=a\n"));
  g_autofree char *many = save ("many.pipeline", "[pipeline]\ninclude=double0.conf\nlaunch=a\n");
  expect_file (self, "self.pipeline:2: [pipeline] include: ");
  expect_file (self, "self.pipeline: includes itself");
  expect_file (there, "there.pipeline: includes itself");
  expect_file (bad, "worse.conf:3: [pipeline] launhc: unknown key; did you mean 'launch'?");
  for (guint i = 0; i < 12; i++) {
    g_autofree char *name = g_strdup_printf ("deep%u.pipeline", i),
                    *text = g_strdup_printf ("[pipeline]\ninclude=deep%u.pipeline\n", i + 1);
    g_autofree char *twice = g_strdup_printf ("double%u.conf", i);
    g_autofree char *both =
      i < 7 ? g_strdup_printf ("[pipeline]\ninclude=double%u.conf\ninclude=double%u.conf\n", i + 1,
                               i + 1)
            : g_strdup ("");
    g_free (save (name, text));
    g_free (save (twice, both));
  }
  g_autofree char *deep = g_build_filename (folder, "deep0.pipeline", NULL),
                  *missing = g_build_filename (folder, "missing", NULL);
  expect_file (deep, "deep9.pipeline: included more than 8 deep");
  expect_file (many, "more than 64 files make one description");
  expect_file (folder, "expected a pipeline description, got a directory");
  expect_file (missing, "missing: no such file");
}

static void
test_sizes (void)
{
  g_autoptr (GString) big = g_string_new (MINIMAL);
  g_autoptr (GString) bomb = g_string_new ("[parameters]\np0=x\n");
  while (big->len <= SL_KEY_TEXT_MAX)
    g_string_append (big, "# comment\n");
  g_autofree char *path = save ("big.pipeline", big->str);
  expect_file (path, "expected a text file of at most 1048576 bytes, got more");
  g_string_assign (big, "[pipeline]\nlaunch=e");
  while (big->len <= 262144 + 20)
    g_string_append (big, " p=1");
  g_autoptr (GError) long_line = NULL;
  g_assert_null (parse (big->str, NULL, &long_line));
  g_assert_nonnull (
    strstr (long_line->message,
            "t.pipeline:2: [pipeline] launch: expected at most 262144 bytes, got 2621"));
  for (guint i = 1; i < 16; i++)
    g_string_append_printf (bomb, "p%u=${p%u}${p%u}${p%u}${p%u}${p%u}\n", i, i - 1, i - 1, i - 1,
                            i - 1, i - 1);
  g_string_append (bomb, MINIMAL);
  g_autoptr (GError) error = NULL;
  g_assert_null (parse (bomb->str, NULL, &error));
  g_assert_nonnull (strstr (error->message, "the text grows beyond 1048576 bytes"));
  g_autoptr (GString) nested = g_string_new ("[parameters]\n");
  for (guint i = 0; i < 30; i++)
    g_string_append_printf (nested, "p%u=${p%u}\n", i, i + 1);
  g_string_append (nested, "p30=x\n" MINIMAL);
  g_clear_error (&error);
  g_assert_null (parse (nested->str, NULL, &error));
  g_assert_nonnull (strstr (error->message, "parameters within parameters too deep"));
  g_autoptr (GString) crowd = g_string_new ("[parameters]\n");
  for (guint i = 0; i < 300; i++)
    g_string_append_printf (crowd, "p%u=x\n", i);
  g_string_append (crowd, MINIMAL);
  g_clear_error (&error);
  g_assert_null (parse (crowd->str, NULL, &error));
  g_assert_nonnull (strstr (error->message, "more than 256 parameters"));
  g_string_assign (crowd, MINIMAL "[element e]\n");
  for (guint i = 0; i < 5000; i++)
    g_string_append_printf (crowd, "p%u=x\n", i);
  g_clear_error (&error);
  g_assert_null (parse (crowd->str, NULL, &error));
  g_assert_nonnull (strstr (error->message, "more than 4096 properties of elements"));
}

/* Elements are counted, however they are written, and nothing else is. */
static void
test_many_elements (void)
{
  static const struct
  {
    const char *piece;
    guint pieces; /* that are just too many */
  } rows[] = {
    { " ! e", 1000 },      { " e", 1000 }, { " e p=1 q=\"a b ! c\" r=x", 1000 },
    { " ( e ! e )", 334 }, { "!e", 1000 }, { " ! a/b,c=d", 1000 },
    { "( ", 1000 },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    for (guint less = 0; less < 2; less++) {
      g_autoptr (GError) error = NULL;
      g_autoptr (GString) text = g_string_new ("[pipeline]\nlaunch=e");
      for (guint k = 0; k < rows[i].pieces - less; k++)
        g_string_append (text, rows[i].piece);
      g_string_append_c (text, '\n');
      g_autoptr (SlDescription) d = parse (text->str, NULL, &error);
      if ((d != NULL) != (less == 1))
        g_error ("%u times '%s': %s", rows[i].pieces - less, rows[i].piece,
                 error != NULL ? error->message : "taken");
      if (d == NULL)
        g_assert_cmpstr (
          error->message, ==,
          "t.pipeline:2: [pipeline] launch: more than 1000 elements, caps among them; expected "
          "several descriptions");
    }
}

/* A file that uses everything, broken at random: an answer or a sentence, never anything else
 * (sanitizers and valgrind watch). */
static void
test_mutations (void)
{
  static const char whole[] =
    "[parameters]\nsource=videotestsrc\nuri=${source}/x\n[parameter w]\ntype=integer\nminimum=1\n"
    "maximum=9\n"
    "default=4\n[parameter c]\nchoices=a;b\ndefault=a\n[pipeline]\nname=n\ndescription=d \xc3\xa4\n"
    "launch=${source} \\\n"
    "  ! a w=${w} x=\"${uri}\" \\\n# c\n ! b $${\nrestart=always\nbackoff-min=1s\nwatchdog=2min\n"
    "[element a]\nx=1\ny=${c}\n";
  static const char salt[] = "[]=#$${}\\\n\r\t\"'!;, \0\377\200ab0-.";
  g_autoptr (GRand) random = g_rand_new_with_seed (7);
  guint good = 0;
  for (guint round = 0; round < 20000; round++) {
    g_autoptr (GString) text = g_string_new_len (whole, sizeof whole - 1);
    const gint changes = g_rand_int_range (random, 1, 6);
    for (gint i = 0; i < changes && text->len > 0; i++) {
      const gint at = g_rand_int_range (random, 0, (gint) text->len);
      const gint wanted = g_rand_int_range (random, 1, 20), n = MIN (wanted, (gint) text->len - at);
      const char c = salt[g_rand_int_range (random, 0, sizeof salt - 1)];
      switch (g_rand_int_range (random, 0, 4)) {
        case 0:
          text->str[at] = c;
          break;
        case 1:
          g_string_erase (text, at, n);
          break;
        case 2:
          g_string_insert_c (text, at, c);
          break;
        default:
          g_string_insert_len (text, g_rand_int_range (random, 0, (gint) text->len), text->str + at,
                               n);
      }
    }
    g_autofree char *exact = g_memdup2 (text->str, MAX (text->len, 1)); /* no NUL behind it */
    g_autoptr (GError) error = NULL;
    g_autoptr (SlDescription) d =
      sl_description_new_from_string (exact, (gssize) text->len, "t.pipeline", NULL, &error);
    g_assert_true ((d == NULL) == (error != NULL));
    g_assert_true (error == NULL || g_str_has_prefix (error->message, "t.pipeline:"));
    good += d != NULL;
  }
  g_assert_cmpuint (good, >, 100);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  folder = g_dir_make_tmp ("sightline-description-XXXXXX", NULL);
  g_test_add_func ("/description/defaults", test_defaults);
  g_test_add_func ("/description/all-keys", test_all_keys);
  g_test_add_func ("/description/http", test_http);
  g_test_add_func ("/description/parameters", test_parameters);
  g_test_add_func ("/description/environment", test_environment);
  g_test_add_func ("/description/values-are-words", test_values_are_words);
  g_test_add_func ("/description/element-names", test_element_names);
  g_test_add_func ("/description/regions", test_regions);
  g_test_add_func ("/description/mistakes", test_mistakes);
  g_test_add_func ("/description/secrets", test_secrets);
  g_test_add_func ("/description/documented", test_documented);
  g_test_add_func ("/description/given-values", test_given_values);
  g_test_add_func ("/description/includes", test_includes);
  g_test_add_func ("/description/include-limits", test_include_limits);
  g_test_add_func ("/description/sizes", test_sizes);
  g_test_add_func ("/description/many-elements", test_many_elements);
  g_test_add_func ("/description/mutations", test_mutations);
  const int status = g_test_run ();
  g_autofree char *command = g_strdup_printf ("rm -rf '%s'", folder);
  g_assert_cmpint (system (command), ==, 0);
  g_free (folder);
  return status;
}
