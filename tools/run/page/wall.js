/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The wall: every camera with its picture, its state in words, the counts of today and its last event; below, what happened last. */

import { address, connection, json, query, why } from "./api.js";
import { el, icon, keyed, plain, say, setClass, setText } from "./dom.js";
import { STALE, Screen, pipelines, snapshot } from "./pictures.js";
import { counted, happened, span, t, when } from "./text.js";

const EVERY = 1000, RECENT = 6;

export const camera = name => "#/camera/" + encodeURIComponent(name);

/** The state as a symbol, a colour and words. */
export function chip() {
  const node = el("span.chip");
  node.set = (level, words) => {
    if (node.level !== level) {
      node.level = level;
      setClass(node, "chip " + level);
      node.replaceChildren(icon(level), el("span"));
    }
    setText(node.lastChild, words);
  };
  return node;
}

export function stateWords(pipeline) {
  return pipeline.words || t("state." + pipeline.state, { or: pipeline.state });
}

/** "Picture is 12 s old" over a picture that is not live; @screen's picture turns grey. */
export function ageBadge(frame, screen) {
  const node = el("span.age", { hidden: true });
  node.update = (frozen = 0) => {
    const age = screen.age(), old = age === null ? null : Math.max(age, frozen);
    node.hidden = old !== null && old <= STALE;
    if (!node.hidden) setText(node, old === null ? t("picture.none") : t("picture.old", { age: span(Math.round(old / 1000)) }));
    frame.classList.toggle("stale", !node.hidden);
  };
  node.update();
  return node;
}

class Tile {
  constructor(pipeline, life, watch) {
    this.name = pipeline.name;
    this.screen = new Screen(null);
    this.state = chip();
    this.frame = el("div.frame");
    this.age = ageBadge(this.frame, this.screen);
    this.frame.append(this.screen.node, el("div.over", {}, this.state), this.age);
    this.counts = el("ul.counts");
    this.last = el("p.soft.last");
    this.node = el("a.tile", { href: camera(pipeline.name) }, this.frame, el("div.body", {}, el("h2", {}, pipeline.name), this.counts, this.last));
    this.life = life;
    this.seen = false;
    this.node.tile = this;
    watch.observe(this.node);
    this.next = 0;
    this.asking = false;
    this.pause = EVERY;
  }
  update(pipeline) {
    const words = stateWords(pipeline);
    this.state.set(pipeline.level, words);
    keyed(this.counts, (pipeline.today || []).slice(0, 4), r => r.kind + r.name, () => el("li", {}, el("b"), el("span")), (node, region) => {
      setText(node.firstChild, region.name);
      setText(node.lastChild, counted(region) + (region.kind === "zone" && region.inside ? ", " + t("count.inside", { n: region.inside }) : ""));
    });
    const event = pipeline.last_event;
    setText(this.last, event ? when(event.time) + " · " + [event.label, happened(event)].filter(Boolean).join(" ") : t("wall.quiet"));
    this.node.setAttribute("aria-label", plain([pipeline.name, words, ...(pipeline.today || []).map(r => r.name + ": " + counted(r))].join(". ")));
  }
  /** Asks for a picture where the tile is seen and the last one came. */
  async refresh() {
    this.age.update();
    if (!this.seen || this.asking || document.hidden || Date.now() < this.next) return;
    this.asking = true;
    this.next = Date.now() + this.pause;
    try {
      await this.screen.show(await snapshot(this.name, 480, 0, this.life.signal));
      this.pause = EVERY;
    } catch {
      this.pause = Math.min(15000, this.pause * 2);
    }
    this.next = Math.max(this.next, Date.now() + (this.pause > EVERY ? this.pause : 0));
    this.asking = false;
    if (!this.life.signal.aborted) this.age.update();
  }
}

/** A row that leads to an event. */
export function eventRow(event) {
  const small = event.picture ? el("img.thumb", { alt: "", loading: "lazy", width: 64, height: 40, src: address("events", event.id, "thumbnail.jpg") }) : el("span.thumb.none", {}, icon("events"));
  return el("li", {}, el("a.event", { href: "#/events/" + encodeURIComponent(event.id) }, small,
    el("span.grow", {}, el("b", {}, [event.label, happened(event)].filter(Boolean).join(" ")), el("span.soft", {}, event.pipeline)),
    el("time.soft", { datetime: event.time }, when(event.time))));
}

/* What a screen reader hears is that cameras joined or left the list, not each second of it. */
function alarm(node, list) {
  const bad = list.filter(p => p.level !== "good");
  setClass(node, "alarm " + (bad.some(p => p.level === "bad") ? "bad" : bad.length ? "warning" : "good"));
  const key = JSON.stringify(bad.map(p => [p.name, stateWords(p).replace(/\d+/g, ""), p.level])) + list.length;
  if (node.dataset.shown === key) {
    bad.forEach((p, i) => setText(node.querySelectorAll("li span")[i], stateWords(p)));
    return;
  }
  if (node.dataset.shown) say(bad.length ? t("wall.attention", { n: bad.length }) + ": " + bad.map(p => p.name).join(", ") : t("wall.allGood", { n: list.length }), bad.length ? "warning" : "good", false);
  node.dataset.shown = key;
  if (!bad.length) {
    node.replaceChildren(icon("good"), el("span", {}, t("wall.allGood", { n: list.length })));
    return;
  }
  node.replaceChildren(icon(bad[0].level === "bad" ? "bad" : "warning"), el("div", {}, el("strong", {}, t("wall.attention", { n: bad.length })),
    el("ul", {}, bad.map(p => el("li", {}, el("a", { href: camera(p.name) }, el("b", {}, p.name), " ", el("span", {}, stateWords(p))))))));
}

export async function showWall(main, life) {
  const tiles = new Map(), top = el("div.alarm"), grid = el("div.wall"), recent = el("ul.events");
  const more = el("section.card", { "aria-labelledby": "recent" }, el("div.row", {}, el("h2.grow", { id: "recent" }, t("wall.recent")), el("a.button.quiet", { href: "#/events" }, t("wall.allEvents"))), recent);
  main.replaceChildren(el("h1.unseen", {}, t("nav.cameras")), top, grid, more);
  const watch = new IntersectionObserver(entries => {
    for (const entry of entries) entry.target.tile.seen = entry.isIntersecting;
  }, { rootMargin: "80px" });
  /* After a break every tile asks at once. */
  const back = good => { if (good) for (const tile of tiles.values()) Object.assign(tile, { next: 0, pause: EVERY }); };
  connection.watchers.add(back);
  life.signal.addEventListener("abort", () => { watch.disconnect(); connection.watchers.delete(back); }, { once: true });
  life.every(2000, async () => {
    const list = await pipelines();
    if (life.signal.aborted) return;
    keyed(grid, list, p => p.name, p => {
      const tile = new Tile(p, life, watch);
      tiles.set(p.name, tile);
      return tile.node;
    }, (node, p) => node.tile.update(p));
    grid.classList.toggle("few", list.length < 3);
    alarm(top, list);
  });
  life.tick(200, () => { for (const tile of tiles.values()) if (tile.node.isConnected) tile.refresh(); });
  life.every(5000, async () => {
    try {
      const { events } = await json(address("events") + query({ limit: RECENT }));
      keyed(recent, events, e => e.id, eventRow);
      if (!events.length) recent.replaceChildren(el("li.soft.pad", {}, t("events.none")));
    } catch (error) {
      if (error.status) recent.replaceChildren(el("li.soft.pad", {}, why(error)));
      throw error;
    }
  });
}
