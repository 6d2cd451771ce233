/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counting what was read. */
#include "postprocess/read/votes.h"

#include <string.h>

gboolean
sl_votes_takes (const SlReadCode *code)
{
  static const char *const symbologies[] = { "ean-13", "ean-8", "upc-a", "upc-e", NULL };
  return g_strv_contains (symbologies, code->symbology)
         && code->n_bytes < sizeof ((SlVote *) NULL)->text;
}

/* A UPC-A code is an EAN-13 code that begins with a zero. */
static const char *
plain_text (const SlReadCode *code)
{
  const char *text = (const char *) code->bytes;
  return code->n_bytes == 13 && text[0] == '0' ? text + 1 : text;
}

void
sl_votes_add (SlVotes *votes, guint reader, const SlReadCode *code)
{
  const char *text = plain_text (code);
  guint i = 0;
  while (i < votes->n && strcmp (votes->votes[i].text, text) != 0)
    i++;
  if (i == SL_VOTES_MOST)
    return;
  SlVote *vote = &votes->votes[i];
  if (i == votes->n) {
    votes->n++;
    *vote = (SlVote){ .symbology = code->symbology };
    g_strlcpy (vote->text, text, sizeof vote->text);
    memcpy (vote->corners, code->corners, sizeof vote->corners);
  }
  vote->readers |= 1u << reader;
  vote->pictures++;
  vote->lines = MAX (vote->lines, code->quality);
}

static gboolean
has_two_readers (const SlVote *vote)
{
  return (vote->readers & (vote->readers - 1)) != 0;
}

gboolean
sl_votes_agree (const SlVotes *votes)
{
  return votes->n == 1 && has_two_readers (&votes->votes[0]);
}

/* (nullable): the vote whose bars fit, where those of no other do. */
static const SlVote *
find_fitting (const SlVotes *votes)
{
  const SlVote *found = NULL;
  for (guint i = 0; i < votes->n; i++)
    if (votes->votes[i].bars_fit) {
      if (found != NULL)
        return NULL;
      found = &votes->votes[i];
    }
  return found;
}

void
sl_votes_choose (const SlVotes *votes, SlReadCode *code)
{
  const SlVote *fitting = find_fitting (votes),
               *best = fitting != NULL ? fitting : &votes->votes[0];
  for (guint i = 0; fitting == NULL && i < votes->n; i++) {
    const SlVote *vote = &votes->votes[i];
    const gboolean more = has_two_readers (vote), most = has_two_readers (best);
    if (more != most ? more : vote->lines > best->lines)
      best = vote;
  }
  if (strcmp (best->text, plain_text (code)) != 0) {
    code->symbology = best->symbology;
    code->n_bytes = (guint) g_strlcpy ((char *) code->bytes, best->text, sizeof code->bytes);
    memcpy (code->corners, best->corners, sizeof code->corners);
  }
  code->quality = best->lines;
  code->is_checked = fitting != NULL || sl_votes_agree (votes);
}
