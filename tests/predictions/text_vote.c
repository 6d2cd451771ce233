/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Votes on texts: sums worked out by hand, readings with missing and added characters, and random
 * readings with errors, whose majority is known.
 */
#include "postprocess/predictions/text_vote.h"

#include <math.h>
#include <string.h>

#include "tests/support/program.h"

typedef struct
{
  SlTextVoter *voter;
  SlTextVotes votes;
} Vote;

static void
add (Vote *vote, const char *text, gfloat share, guint memory)
{
  gunichar characters[SL_MAX_TEXT];
  gfloat shares[SL_MAX_TEXT];
  guint n = 0;
  for (; text[n] != '\0'; n++) {
    characters[n] = (guchar) text[n];
    shares[n] = share;
  }
  sl_text_voter_add (vote->voter, &vote->votes, characters, shares, n, memory);
}

static SlTextView
result (const Vote *vote, const char *text)
{
  SlTextView view;
  g_assert_true (sl_text_votes_result (&vote->votes, &view));
  g_assert_cmpstr (view.text, ==, text);
  g_assert_cmpuint (view.n, ==, strlen (text));
  return view;
}

static void
test_weights (void)
{
  Vote vote = { .voter = sl_text_voter_new () };
  SlTextView view;
  g_assert_false (sl_text_votes_result (&vote.votes, &view));
  add (&vote, "AB1", 0.9f, 30);
  view = result (&vote, "AB1");
  g_assert_cmpfloat_with_epsilon (view.confidence, 0.9, 1e-6);
  add (&vote, "A81", 0.5f, 30);
  view = result (&vote, "AB1");
  g_assert_cmpuint (view.votes, ==, 2);
  g_assert_cmpfloat_with_epsilon ((double) view.characters[0].confidence, 1.4 / 2, 1e-6);
  g_assert_cmpfloat_with_epsilon ((double) view.characters[1].confidence, 0.9 / 2, 1e-6);
  add (&vote, "A81", 0.6f, 30);
  view = result (&vote, "A81");
  g_assert_cmpfloat_with_epsilon ((double) view.characters[1].confidence, 1.1 / 3, 1e-6);
  g_assert_cmpfloat_with_epsilon (view.confidence, (2.0 + 1.1 + 2.0) / 9, 1e-6);
  sl_text_voter_free (vote.voter);
}

static void
test_lengths (void)
{
  static const char *const rows[][5] = {
    { "AB12CD", "AB2CD", "AB12CD", "AB12", "AB12CD" },
    { "B12CD", "AB12CD", "AB12CDX", "AAB12CD", "AB12CD" },
    { "1", "AB12CD", "AB12CD", "AB12C", "AB12CD" },
    { "AB12CD", "XYZ", "AB12CD", "", "AB12CD" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    Vote vote = { .voter = sl_text_voter_new () };
    for (guint k = 0; k < 4; k++)
      if (rows[i][k][0] != '\0')
        add (&vote, rows[i][k], 0.8f, 30);
    result (&vote, rows[i][4]);
    sl_text_voter_free (vote.voter);
  }
}

/* With a memory of one, the last reading; of ten, a text that changes is the new one soon. */
static void
test_memory (void)
{
  Vote one = { .voter = sl_text_voter_new () }, ten = { .voter = sl_text_voter_new () };
  for (guint i = 0; i < 100; i++) {
    add (&one, i % 2 == 0 ? "ABC" : "1234", 0.9f, 1);
    result (&one, i % 2 == 0 ? "ABC" : "1234");
    add (&ten, "OPEN", 0.9f, 10);
  }
  for (guint i = 0; i < 12; i++)
    add (&ten, "SHUT", 0.9f, 10);
  const SlTextView view = result (&ten, "SHUT");
  g_assert_cmpuint (view.votes, ==, 112);
  g_assert_cmpfloat (view.confidence, <=, 0.9 + 1e-6);
  sl_text_voter_free (one.voter);
  sl_text_voter_free (ten.voter);
}

/* Each character is replaced, left out or doubled now and then: of many readings the text remains,
 * except where two equal neighbours and their errors cannot be told apart. */
static void
test_noise (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (9);
  guint right = 0;
  for (guint run = 0; run < 50; run++) {
    Vote vote = { .voter = sl_text_voter_new () };
    char text[9] = "";
    for (guint i = 0; i < 8; i++)
      text[i] = (char) g_rand_int_range (rand, 'A', 'Z' + 1);
    for (guint i = 0; i < 41; i++) {
      g_autoptr (GString) read = g_string_new (NULL);
      for (guint k = 0; k < 8; k++) {
        const double luck = g_rand_double (rand);
        if (luck < 0.05)
          continue;
        g_string_append_c (read,
                           luck < 0.25 ? (char) g_rand_int_range (rand, 'A', 'Z' + 1) : text[k]);
        if (luck > 0.95)
          g_string_append_c (read, (char) g_rand_int_range (rand, '0', '9' + 1));
      }
      add (&vote, read->str, 0.7f, 100);
    }
    SlTextView view;
    g_assert_true (sl_text_votes_result (&vote.votes, &view));
    right += strcmp (view.text, text) == 0;
    sl_text_voter_free (vote.voter);
  }
  g_assert_cmpuint (right, >=, 48);
}

/* The longest readings, with nothing in common, some with NaN confidences. */
static void
test_hostile (void)
{
  Vote vote = { .voter = sl_text_voter_new () };
  g_autoptr (GRand) rand = g_rand_new_with_seed (2);
  SlTextView view;
  for (guint i = 0; i < 60; i++) {
    gunichar characters[SL_MAX_TEXT];
    gfloat shares[SL_MAX_TEXT];
    for (guint k = 0; k < SL_MAX_TEXT; k++) {
      characters[k] = (gunichar) g_rand_int_range (rand, 0x4e00, 0x9fff);
      shares[k] = i % 3 == 0 ? NAN : (gfloat) g_rand_double (rand);
    }
    sl_text_voter_add (vote.voter, &vote.votes, characters, shares,
                       (guint) g_rand_int_range (rand, 1, SL_MAX_TEXT + 1), 1000);
    g_assert_cmpuint (vote.votes.n, <=, SL_MAX_TEXT);
    if (sl_text_votes_result (&vote.votes, &view)) {
      g_assert_true (g_utf8_validate (view.text, -1, NULL));
      g_assert_cmpfloat (view.confidence, <=, 1);
    }
  }
  sl_text_voter_free (vote.voter);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/text_vote/weights", test_weights);
  g_test_add_func ("/text_vote/lengths", test_lengths);
  g_test_add_func ("/text_vote/memory", test_memory);
  g_test_add_func ("/text_vote/noise", test_noise);
  g_test_add_func ("/text_vote/hostile", test_hostile);
  return g_test_run ();
}
