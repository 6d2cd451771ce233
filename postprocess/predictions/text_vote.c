/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Votes, as ROVER takes them (J. Fiscus, "A post-processing system to yield reduced word error
 * rates", 1997): columns, one a place of the text, with the weight of each character, or of none.
 * Each reading is aligned with the columns by the least edit distance. A character costs the less
 * the more votes it has in the column.
 */
#include "postprocess/predictions/text_vote.h"

#include <string.h>

/* Of a character without a column, and of a column without a character. */
#define GAP 0.7f
/* Of a character in a column that no reading has one for: of one that was there before, and by how
 * much less than 1 of another. */
#define NONE_SAME 0.3f
#define NONE_OTHER 0.4f
/* Votes of a character that the model is not sure of at all still count a little. */
#define LEAST_SHARE 0.01f
/* Columns whose characters have less than this share go, once there are some readings. */
#define RARE 0.05f
#define SOME 8

typedef enum
{
  STEP_MATCH,
  STEP_SKIP,  /* a column without a character */
  STEP_INSERT /* a character without a column */
} Step;

struct _SlTextVoter
{
  gfloat cost[SL_MAX_TEXT + 1][SL_MAX_TEXT + 1]; /* of so many columns and characters */
  guint8 step[SL_MAX_TEXT + 1][SL_MAX_TEXT + 1]; /* the last of them */
};

SlTextVoter *
sl_text_voter_new (void)
{
  return g_new0 (SlTextVoter, 1);
}

void
sl_text_voter_free (SlTextVoter *voter)
{
  g_free (voter);
}

static gfloat
weight_of (const SlVoteColumn *column, gunichar character)
{
  for (guint i = 0; i < column->n; i++)
    if (column->choices[i].character == character)
      return column->choices[i].weight;
  return 0;
}

static void
add_weight (SlVoteColumn *column, gunichar character, gfloat weight)
{
  guint least = 0;
  for (guint i = 0; i < column->n; i++) {
    if (column->choices[i].character == character) {
      column->choices[i].weight += weight;
      return;
    }
    if (column->choices[i].weight < column->choices[least].weight)
      least = i;
  }
  if (column->n < SL_VOTE_CHOICES)
    column->choices[column->n++] = (SlVoteChoice){ character, weight };
  else if (column->choices[least].weight < weight)
    column->choices[least] = (SlVoteChoice){ character, weight };
}

/* 0..1: of all weight in @column. */
static gfloat
share_of (const SlVoteColumn *column, gunichar character)
{
  gfloat sum = 0;
  for (guint i = 0; i < column->n; i++)
    sum += column->choices[i].weight;
  return sum > 0 ? weight_of (column, character) / sum : 0;
}

/* Of @character in @column. In a column that most readings have no character for, another one costs
 * less than a column of its own, so that errors do not make more and more columns. */
static gfloat
match_cost (const SlVoteColumn *column, gunichar character)
{
  const gfloat none = share_of (column, 0),
               same = share_of (column, character) / MAX (1 - none, 1e-6f);
  return same * NONE_SAME * none + (1 - same) * (1 - NONE_OTHER * none);
}

static void
fade (SlTextVotes *votes, gfloat factor)
{
  votes->count *= factor;
  votes->weight *= factor;
  for (guint i = 0; i < votes->n; i++)
    for (guint k = 0; k < votes->columns[i].n; k++)
      votes->columns[i].choices[k].weight *= factor;
}

static void
align (SlTextVoter *voter, const SlTextVotes *votes, const gunichar *characters, guint n)
{
  for (guint i = 0; i <= votes->n; i++)
    for (guint k = 0; k <= n; k++) {
      gfloat best = i == 0 && k == 0 ? 0 : G_MAXFLOAT;
      guint8 step = STEP_MATCH;
      if (i > 0 && k > 0)
        best = voter->cost[i - 1][k - 1] + match_cost (&votes->columns[i - 1], characters[k - 1]);
      if (i > 0) {
        const gfloat skip =
          voter->cost[i - 1][k] + GAP * (1 - share_of (&votes->columns[i - 1], 0));
        step = skip < best ? STEP_SKIP : step;
        best = MIN (best, skip);
      }
      if (k > 0 && voter->cost[i][k - 1] + GAP < best) {
        best = voter->cost[i][k - 1] + GAP;
        step = STEP_INSERT;
      }
      voter->cost[i][k] = best;
      voter->step[i][k] = step;
    }
}

/* A column before the one at @at, in which all readings so far have no character. */
static void
insert_column (SlTextVotes *votes, guint at, gunichar character, gfloat weight)
{
  if (votes->n == SL_MAX_TEXT)
    return;
  memmove (&votes->columns[at + 1], &votes->columns[at], (votes->n - at) * sizeof *votes->columns);
  votes->n++;
  votes->columns[at] = (SlVoteColumn){ 0 };
  if (votes->weight > 0)
    add_weight (&votes->columns[at], 0, votes->weight);
  add_weight (&votes->columns[at], character, weight);
}

/* Removes columns that nearly all readings have no character for. */
static void
drop_rare (SlTextVotes *votes)
{
  guint kept = 0;
  for (guint i = 0; i < votes->n; i++) {
    const SlVoteColumn *column = &votes->columns[i];
    if (votes->count < SOME || share_of (column, 0) < 1 - RARE)
      votes->columns[kept++] = *column;
  }
  votes->n = kept;
}

void
sl_text_voter_add (SlTextVoter *voter, SlTextVotes *votes, const gunichar *characters,
                   const gfloat *shares, guint n, guint memory)
{
  gfloat mean = 0;
  if (votes->count + 1 > (gfloat) memory)
    fade (votes, (gfloat) (memory - 1) / votes->count);
  for (guint k = 0; k < n; k++)
    mean += MAX (shares[k], LEAST_SHARE) / (gfloat) n;
  if (memory == 1)
    votes->n = 0;
  align (voter, votes, characters, n);
  for (guint i = votes->n, k = n; i > 0 || k > 0;) {
    const guint8 step = voter->step[i][k];
    const gfloat weight = k > 0 ? MAX (shares[k - 1], LEAST_SHARE) : 0;
    if (step == STEP_MATCH)
      add_weight (&votes->columns[i - 1], characters[k - 1], weight);
    else if (step == STEP_SKIP)
      add_weight (&votes->columns[i - 1], 0, mean);
    else
      insert_column (votes, i, characters[k - 1], weight);
    i -= step != STEP_INSERT;
    k -= step != STEP_SKIP;
  }
  votes->count++;
  votes->weight += mean;
  votes->readings++;
  drop_rare (votes);
}

static SlVoteChoice
heaviest (const SlVoteColumn *column)
{
  SlVoteChoice best = column->choices[0];
  for (guint i = 1; i < column->n; i++)
    if (column->choices[i].weight > best.weight)
      best = column->choices[i];
  return best;
}

gboolean
sl_text_votes_result (const SlTextVotes *votes, SlTextView *text)
{
  gsize bytes = 0;
  *text = (SlTextView){ .votes = votes->readings };
  for (guint i = 0; i < votes->n; i++) {
    const SlVoteChoice best = heaviest (&votes->columns[i]);
    if (best.character == 0)
      continue;
    const gfloat confidence = MIN (best.weight / votes->count, 1);
    text->characters[text->n++] = (SlTextCharacter){ best.character, 0, confidence };
    bytes += (gsize) g_unichar_to_utf8 (best.character, text->text + bytes);
    text->confidence += (double) confidence;
  }
  text->text[bytes] = '\0';
  text->confidence /= MAX (text->n, 1);
  return text->n > 0;
}
