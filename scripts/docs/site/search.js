/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pages that have all words of the search, those with a word in their title first; `pages` comes from search-index.js. */
(function () {
  "use strict";
  const field = document.getElementById("search"), results = document.getElementById("results");

  function find (text) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const found = [];
    for (const [url, title, body] of pages) {
      const low = body.toLowerCase(), name = title.toLowerCase();
      if (words.length === 0 || !words.every(word => low.includes(word) || name.includes(word)))
        continue;
      const count = words.reduce((sum, word) => sum + low.split(word).length - 1, 0);
      const at = Math.max(low.indexOf(words[0]), 0);
      const score = count + 1000 * words.filter(word => name.includes(word)).length;
      found.push({ url, title, score, text: body.slice(Math.max(at - 40, 0), at + 100) });
    }
    return found.sort((a, b) => b.score - a.score).slice(0, 20);
  }

  function show () {
    const found = find(field.value);
    results.hidden = field.value.trim() === "";
    results.replaceChildren(...found.map(({ url, title, text }) => {
      const item = document.createElement("li"), link = document.createElement("a"), part = document.createElement("p");
      link.href = up + url;
      link.textContent = title;
      part.textContent = "..." + text + "...";
      item.append(link, part);
      return item;
    }));
    if (found.length === 0)
      results.textContent = "No page has these words.";
  }

  field.addEventListener("input", show);
  const asked = new URLSearchParams(location.search).get("q");
  if (asked) {
    field.value = asked;
    show();
  }
})();
