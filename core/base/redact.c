/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * No URI parser finds the password here. People write '@', '#' and '/' into passwords and mistype
 * schemes, and errors show just those texts that no parser accepts. So the rules are simple, and
 * hide too much rather than too little.
 */
#include "core/base/redact.h"

#include <string.h>

#include "core/base/prefix.h"

#define MIN_SECRET 3
/* What ends a part of a sentence, and is no end of what stands before it. */
#define PUNCTUATION ":,;.)]"

/* name=value in path and query, where the name tells a secret: a path ends the value at '/', a
 * query does not. */
#define URI_NAME "((?:pas|pwd|token|secret|key|auth)[a-z0-9_-]*=|\\bpw=)"
#define PATH_SECRET URI_NAME "([^&;/?#]+)"
#define QUERY_SECRET URI_NAME "([^&;#]+)"
/* The same in sentences and launch lines, where "key=" and "pass=" mean other things. */
#define TEXT_NAME \
  "(?:password|passwd|passphrase|pwd|secret|token|api[_-]?key|(?:\\b|[_-])pw)(?:=| = )"
/* Schemes whose URIs are paths. */
static const char *const local_schemes[] = { "file",      "v4l2",     "test", "unix",
                                             "libcamera", "pipewire", "csi" };

/* @text with the values that @pattern finds hidden. */
static char *
hide_values (const char *text, const char *pattern, GPtrArray *secrets)
{
  g_autoptr (GRegex) regex = g_regex_new (pattern, G_REGEX_CASELESS | G_REGEX_RAW, 0, NULL);
  g_autoptr (GMatchInfo) match = NULL;
  for (g_regex_match (regex, text, 0, &match); secrets != NULL && g_match_info_matches (match);
       g_match_info_next (match, NULL))
    g_ptr_array_add (secrets, g_match_info_fetch (match, 2));
  return g_regex_replace (regex, text, -1, 0, "\\1" SL_HIDDEN, 0, NULL);
}

static char *
hide_parameters (const char *uri, GPtrArray *secrets)
{
  const char *query = strchr (uri, '?');
  g_autofree char *path = query != NULL ? g_strndup (uri, (gsize) (query - uri)) : g_strdup (uri);
  g_autofree char *shown_path = hide_values (path, PATH_SECRET, secrets);
  g_autofree char *shown_query =
    query != NULL ? hide_values (query, QUERY_SECRET, secrets) : g_strdup ("");
  return g_strconcat (shown_path, shown_query, NULL);
}

/* Bytes of "scheme:" at @uri; 0 where there is none. */
static gsize
scheme_length (const char *uri)
{
  gsize n = 0;
  if (!g_ascii_isalpha (uri[0]))
    return 0;
  while (g_ascii_isalnum (uri[n]) || strchr ("+-.", uri[n]) != NULL)
    if (uri[n++] == '\0')
      return 0;
  return uri[n] == ':' ? n + 1 : 0;
}

static gboolean
is_path (const char *uri)
{
  const gsize scheme = scheme_length (uri);
  if (uri[0] == '/')
    return uri[1] != '/';
  if (uri[0] == '.')
    return uri[1] == '/' || (uri[1] == '.' && uri[2] == '/');
  for (guint i = 0; scheme > 0 && i < G_N_ELEMENTS (local_schemes); i++)
    if (strlen (local_schemes[i]) == scheme - 1
        && g_ascii_strncasecmp (uri, local_schemes[i], scheme - 1) == 0)
      return TRUE;
  return FALSE;
}

/* A ':' before @end, not one within the brackets of an IPv6 address, also as "%3A"; @width: its
 * bytes. NULL: none. */
static const char *
find_colon (const char *at, const char *end, gsize *width)
{
  const char *bracket = *at == '[' ? memchr (at, ']', (gsize) (end - at)) : NULL;
  for (at = bracket != NULL ? bracket : at; at < end; at++) {
    *width = *at == ':' ? 1 : g_ascii_strncasecmp (at, "%3a", 3) == 0 ? 3 : 0;
    if (*width > 0)
      return at;
  }
  return NULL;
}

/* Of @uri, whose userinfo ends at @at: where the password begins, NULL where there is none. */
static const char *
find_password (const char *uri, const char *at)
{
  gsize width = 0;
  const gsize scheme = scheme_length (uri);
  const char *slashes = g_strstr_len (uri, at - uri, "://");
  const char *user = slashes != NULL ? slashes + 3 : uri + scheme;
  user += strspn (user, "/");
  const char *colon = user < at ? find_colon (user, at, &width) : NULL;
  if (colon != NULL)
    return colon + width;
  /* "joe:secret@host": what looked like a scheme is a user. */
  return slashes == NULL && scheme > 0 && uri[scheme] != '/' ? uri + scheme : NULL;
}

/* Whether it is a word that stands for something in an example. */
static gboolean
is_word (const char *start, const char *end, const char *word)
{
  return (gsize) (end - start) == strlen (word) && strncmp (start, word, strlen (word)) == 0;
}

/* Of one host, which ends at @end: what follows its ':', where that is no port; NULL where it is
 * one, or there is none. "*" is all addresses of this machine, and never a user. */
static const char *
find_no_port (const char *host, const char *end)
{
  gsize width = 0;
  const char *colon = find_colon (host, end, &width);
  const char *port = colon != NULL ? colon + width : end;
  gsize digits = 0;
  while (port + digits < end && g_ascii_isdigit (port[digits]))
    digits++;
  return port + digits == end || is_word (port, end, "port") || is_word (port, end, "PORT")
             || (colon != NULL && is_word (host, colon, "*"))
           ? NULL
           : port;
}

/* What follows a host's ':' where that is no port: a password whose '@' was cut off. @end: behind
 * it. Kafka's URIs have several hosts. */
static const char *
find_cut_password (const char *uri, const char **end)
{
  const char *slashes = strstr (uri, "://");
  if (slashes == NULL)
    return NULL;
  const gboolean several =
    g_ascii_strncasecmp (uri, "kafka://", 8) == 0 || g_ascii_strncasecmp (uri, "kafkas://", 9) == 0;
  const char *host = slashes + 3, *last = host + strcspn (host, "/?#"), *password = NULL;
  while (password == NULL && host <= last) {
    const char *comma = several ? memchr (host, ',', (gsize) (last - host)) : NULL;
    const char *stop = comma != NULL ? comma : last;
    password = find_no_port (host, stop);
    host = stop + 1;
  }
  *end = uri + strlen (uri);
  return password;
}

char *
sl_redact_uri (const char *uri, GPtrArray *secrets)
{
  if (is_path (uri))
    return g_strdup (uri);
  g_autofree char *shown = hide_parameters (uri, secrets);
  const char *end = strrchr (shown, '@');
  const char *start = end != NULL ? find_password (shown, end) : find_cut_password (shown, &end);
  if (start == NULL || start >= end || is_word (start, end, "PASSWORD"))
    return g_steal_pointer (&shown);
  if (secrets != NULL && end > start)
    g_ptr_array_add (secrets, g_strndup (start, (gsize) (end - start)));
  return g_strdup_printf ("%.*s" SL_HIDDEN "%s", (int) (start - shown), shown, end);
}

static gboolean
ends_word (char c)
{
  return c == '\0' || g_ascii_isspace (c) || strchr ("\"'<>\\", c) != NULL;
}

/* The end of what may be a URI at @word. A password with a blank or a quote in it is not there in
 * full: as far as the '@' then. */
static const char *
find_end (const char *word)
{
  const char *end = word;
  while (!ends_word (*end))
    end++;
  const char *slashes = g_strstr_len (word, end - word, "://");
  if (slashes == NULL || memchr (word, '@', (gsize) (end - word)) != NULL)
    return end;
  /* The next word too, where it has one; all of the line, where what is here of the password is no
   * port. */
  g_autofree char *uri = g_strndup (word, (gsize) (end - word));
  const char *cut_end = NULL;
  gsize last = strlen (uri);
  while (last > 0 && strchr (PUNCTUATION, uri[last - 1]) != NULL)
    uri[--last] = '\0';
  const gboolean cut = !is_path (uri) && find_cut_password (uri, &cut_end) != NULL;
  const gsize rest =
    cut ? strcspn (end, "\r\n") : strcspn (end + (*end != '\0'), " \t\r\n") + (*end != '\0');
  const gboolean port =
    !is_path (uri) && strchr (slashes + 3, ':') != NULL && strchr (slashes + 3, ':') < end;
  const char *next = g_strstr_len (end, (gssize) rest, "://");
  const char *at =
    cut || port ? g_strrstr_len (end, next != NULL ? next - end : (gssize) rest, "@") : NULL;
  if (at == NULL)
    return end;
  while (!ends_word (*at))
    at++;
  return at;
}

/* Punctuation behind a URI is not its own: "rtsp://cam:554: no answer". */
static void
append_word (GString *out, const char *word, gsize length)
{
  gsize own = length;
  while (own > 0 && strchr (PUNCTUATION, word[own - 1]) != NULL)
    own--;
  g_autofree char *uri = g_strndup (word, own);
  g_autofree char *shown = sl_redact_uri (uri, NULL);
  g_string_append (out, shown);
  g_string_append_len (out, word + own, (gssize) (length - own));
}

/* Whether secrets may be in a word: it has "://", or a ':' and an '@' behind it. */
static gboolean
is_suspect (const char *word, const char *end)
{
  const char *colon = memchr (word, ':', (gsize) (end - word));
  return g_strstr_len (word, end - word, "://") != NULL
         || (colon != NULL && memchr (colon, '@', (gsize) (end - colon)) != NULL);
}

/* The quote that closes what begins behind @text, a quote of @width bytes (an escaped one has 2);
 * NULL where none does. */
static const char *
closing_quote (const char *text, gsize width)
{
  const char quote = text[width - 1];
  for (const char *c = strchr (text + width, quote); c != NULL; c = strchr (c + 1, quote)) {
    gsize slashes = 0;
    while (c - slashes > text + width && c[-1 - (gssize) slashes] == '\\')
      slashes++;
    if (width == 2 ? slashes % 4 == 1 : slashes % 2 == 0)
      return c - (width - 1);
  }
  return NULL;
}

/* A URI in quotes, which may have blanks in it: appended up to its closing quote, behind which is
 * returned. NULL: no such thing is here. */
static const char *
append_quoted (GString *out, const char *text)
{
  const gsize width = *text == '\\' ? 2 : 1;
  const char quote = text[width - 1];
  if (quote != '"' && quote != '\'')
    return NULL;
  const char *inside = text + width, *end = closing_quote (text, width);
  if (end == NULL || scheme_length (inside) == 0 || !is_suspect (inside, end)
      || memchr (inside, '\n', (gsize) (end - inside)) != NULL)
    return NULL;
  g_string_append_len (out, text, (gssize) width);
  append_word (out, inside, (gsize) (end - inside));
  return end;
}

static char *
redact_uris (const char *text)
{
  GString *out = g_string_new (NULL);
  while (*text != '\0') {
    const char *end = append_quoted (out, text);
    if (end == NULL && ends_word (*text)) {
      g_string_append_c (out, *text);
      end = text + 1;
    } else if (end == NULL) {
      /* "location=mqtt://..." begins behind the '='. */
      const char *stop = find_end (text), *equals = memchr (text, '=', strcspn (text, ":/?&@\"' "));
      const char *word = equals != NULL && equals + 1 < stop ? equals + 1 : text;
      g_string_append_len (out, text, word - text);
      if (is_suspect (word, stop))
        append_word (out, word, (gsize) (stop - word));
      else
        g_string_append_len (out, word, stop - word);
      end = stop;
    }
    text = end;
  }
  return g_string_free (out, FALSE);
}

/* Bytes of the value at @text, and of the quote around it; what is unset is no secret. */
static gsize
value_length (const char *text, gsize *quote)
{
  const gsize width = text[0] == '\\' && text[1] == '"' ? 2 : 1;
  *quote = 0;
  if (text[width - 1] == '"' || text[width - 1] == '\'') {
    const char *end = closing_quote (text, width);
    *quote = width;
    return end != NULL ? (gsize) (end - text) - width : strcspn (text + width, "\r\n");
  }
  gsize length = strcspn (text, " \t\r\n\"'\\");
  while (length > 0 && strchr (PUNCTUATION, text[length - 1]) != NULL)
    length--;
  return length == strlen ("NULL") && sl_has_prefix (text, "NULL") ? 0 : length;
}

char *
sl_redact (const char *text)
{
  g_autofree char *uris = redact_uris (text);
  g_autoptr (GRegex) regex = g_regex_new (TEXT_NAME, G_REGEX_CASELESS | G_REGEX_RAW, 0, NULL);
  g_autoptr (GMatchInfo) match = NULL;
  GString *out = g_string_new (NULL);
  const char *done = uris;
  for (g_regex_match (regex, uris, 0, &match); g_match_info_matches (match);
       g_match_info_next (match, NULL)) {
    gint behind = 0;
    gsize quote = 0;
    g_match_info_fetch_pos (match, 0, NULL, &behind);
    if (uris + behind < done)
      continue;
    const gsize length = value_length (uris + behind, &quote);
    g_string_append_len (out, done, uris + behind + quote - done);
    g_string_append (out, length > 0 ? SL_HIDDEN : "");
    done = uris + behind + quote + length;
  }
  g_string_append (out, done);
  return g_string_free (out, FALSE);
}

char *
sl_redact_secrets (const char *text, const GPtrArray *secrets)
{
  g_autoptr (GString) clean = g_string_new (text);
  for (guint i = 0; i < secrets->len; i++) {
    const char *secret = g_ptr_array_index (secrets, i);
    if (strlen (secret) >= MIN_SECRET)
      g_string_replace (clean, secret, SL_HIDDEN, 0);
  }
  return g_string_free (g_steal_pointer (&clean), FALSE);
}
