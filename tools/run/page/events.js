/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What happened: a list with filters, and a timeline of days and of the hours of one day. */

import { address, json, may, query, session, why, zoned } from "./api.js";
import { bars } from "./bars.js";
import { confirmed, el, icon, keyed, labelled, say, setText } from "./dom.js";
import { pipelines } from "./pictures.js";
import { dayName, dayShort, happened, hourName, localDay, number, span, t, when } from "./text.js";

const PAGE = 48, DAYS = 14, TYPING_MS = 300, BUSY_MS = 1000, BUSY = 429, MANY = 200;
const EVENTS = ["entered", "left", "in", "out", "dwell", "left-behind", "empty", "object", "record"];
const COLOUR_NAMES = ["black", "white", "grey", "red", "orange", "yellow", "green", "blue", "purple", "pink", "brown"];

function option(value, text) { return el("option", { value }, text); }

/** The address of the list that was seen last: a way back from one event. */
export let listAddress = "#/events";

/** What is asked for, as it stands in the address of the page: a list of events has an address of its own. */
class Filter {
  constructor(values, changed) {
    this.values = values;
    this.changed = changed;
  }
  set(values) {
    this.values = Object.fromEntries(Object.entries({ ...this.values, ...values }).filter(([, v]) => v !== "" && v !== null));
    listAddress = "#/events" + query(this.values);
    history.replaceState(null, "", listAddress);
    this.changed();
  }
  /** For the API: the day (and hour) as from and to. */
  asked(withTime = true) {
    const { day, hour, ...rest } = this.values;
    if (!withTime || !day) return rest;
    const from = new Date(day + "T00:00:00"), to = new Date(from);
    if (hour !== undefined) {
      from.setHours(Number(hour));
      to.setHours(Number(hour) + 1);
    } else to.setDate(to.getDate() + 1);
    return { ...rest, from: from.toISOString(), to: to.toISOString() };
  }
  /** For the timeline, which counts whatever the words are. */
  counted(withTime) {
    const { words, similar, ...rest } = this.asked(withTime);
    return rest;
  }
}

function chooser(filter, key, label, options) {
  const select = el("select", {}, option("", t("events.any")), options);
  select.value = filter.values[key] || "";
  select.addEventListener("change", () => filter.set({ [key]: select.value }));
  return labelled(label, select);
}
/* @choices: a promise of texts that are offered */
function typed(filter, key, label, type, life, choices) {
  const list = el("datalist", { id: "known-" + key }), input = el("input", { type, value: filter.values[key] || "", autocomplete: "off", list: choices && list.id });
  choices?.then(texts => list.append(...texts.map(value => el("option", { value }))), () => {});
  let timer;
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = life.after(TYPING_MS, () => filter.set({ [key]: input.value.trim() }));
  });
  const field = labelled(label, input);
  if (choices) field.append(list);
  return field;
}

/* Asked for when the words are complete: a search takes longer than a list. */
function wordsField(filter) {
  const input = el("input", { type: "search", name: "words", value: filter.values.words || "", autocomplete: "off" });
  input.addEventListener("change", () => filter.set({ words: input.value.trim(), similar: "" }));
  return labelled(t("events.words"), input);
}

function filterForm(filter, life, cameras) {
  const camera = el("select"), day = el("input", { type: "date", value: filter.values.day || "", max: dayKey(new Date()) }), kept = el("input", { type: "checkbox", checked: filter.values.kept === "1" });
  const fresh = el("input", { type: "checkbox", checked: filter.values.reviewed === "0" }), words = json(address("events", "words"), { signal: life.signal });
  camera.append(option("", t("events.any")));
  camera.addEventListener("change", () => filter.set({ pipeline: camera.value }));
  cameras.then(list => {
    camera.append(...list.map(p => option(p.name, p.name)));
    camera.value = filter.values.pipeline || "";
  }, () => {});
  day.addEventListener("change", () => filter.set({ day: day.value, hour: "" }));
  kept.addEventListener("change", () => filter.set({ kept: kept.checked ? "1" : "" }));
  fresh.addEventListener("change", () => filter.set({ reviewed: fresh.checked ? "0" : "" }));
  const form = el("form.filters", { role: "search", onsubmit: event => event.preventDefault() }, session.search === "words" ? wordsField(filter) : null, typed(filter, "text", t("events.text"), "search", life), labelled(t("events.camera"), camera),
    chooser(filter, "event", t("events.event"), EVENTS.map(e => option(e, t("eventname." + e)))), typed(filter, "region", t("events.region"), "text", life, words.then(w => w.regions)),
    typed(filter, "label", t("events.label"), "text", life, words.then(w => w.labels)), chooser(filter, "color", t("events.color"), COLOUR_NAMES.map(c => option(c, t("color." + c)))),
    labelled(t("events.day"), day), el("label.check", {}, kept, el("span", {}, t("events.kept"))), el("label.check", {}, fresh, el("span", {}, t("events.fresh"))));
  const open = matchMedia("(min-width: 48rem)").matches || Object.keys(filter.values).some(k => !["day", "hour"].includes(k));
  return el("details.card.filterbox", { open }, el("summary", {}, icon("search"), t("events.filters")), form);
}

export function dayKey(date) {
  return date.getFullYear() + "-" + String(date.getMonth() + 1).padStart(2, "0") + "-" + String(date.getDate()).padStart(2, "0");
}
/* Counts of buckets by what @slot makes of their time. */
function slots(buckets, count, slot) {
  const values = new Array(count).fill(0);
  for (const bucket of buckets) {
    const i = slot(new Date(bucket.from));
    if (i >= 0 && i < count) values[i] += bucket.count;
  }
  return values;
}
async function days(filter, signal) {
  const first = localDay(new Date());
  first.setDate(first.getDate() - DAYS + 1);
  const dates = Array.from({ length: DAYS }, (_, i) => { const date = new Date(first); date.setDate(date.getDate() + i); return date; });
  const { buckets } = await zoned(address("events", "timeline"), { ...filter.counted(false), from: first.toISOString(), to: new Date(Date.now() + 60000).toISOString(), bucket: "day" }, { signal });
  const keys = dates.map(dayKey), values = slots(buckets, DAYS, date => keys.indexOf(dayKey(date)));
  return bars(t("events.days"), dates.map(dayShort), [{ name: t("nav.events"), values }], { height: 120, chosen: keys.indexOf(filter.values.day),
    choose: i => filter.set({ day: filter.values.day === keys[i] ? "" : keys[i], hour: "" }), tell: i => t("events.onDay", { day: dayName(dates[i]), n: values[i] }) });
}
async function hours(filter, signal) {
  const { hour, ...day } = filter.values, asked = new Filter(day).counted();
  const { buckets } = await zoned(address("events", "timeline"), { ...asked, bucket: "hour" }, { signal });
  const values = slots(buckets, 24, date => date.getHours()), label = i => hourName(new Date(2000, 0, 1, i));
  return bars(t("events.hours"), values.map((_, i) => label(i)), [{ name: t("nav.events"), values }], { height: 120, chosen: hour === undefined ? -1 : Number(hour),
    choose: i => filter.set({ hour: hour === String(i) ? "" : String(i) }), tell: i => t("events.atHour", { hour: label(i), n: values[i] }) });
}

function card(event) {
  const picture = event.picture ? el("img", { alt: "", loading: "lazy", src: address("events", event.id, "thumbnail.jpg") }) : el("span.none", {}, icon("events"));
  return el("a.eventcard", { href: "#/events/" + encodeURIComponent(event.id) }, el("div.frame", {}, picture, event.clip && event.seconds ? el("span.length", {}, span(event.seconds)) : null, el("span.keptmark", {}, icon("keep")), el("span.seenmark", {}, icon("good"))),
    el("div.body", {}, el("b", {}, [event.label, happened(event)].filter(Boolean).join(" ")), el("span.soft", {}, event.pipeline), el("time.soft", { datetime: event.time }, when(event.time)), el("span.soft.score")));
}

/* Many events at once: a choice of cards, and what to do with them. */
class Chosen {
  constructor(grid, done) {
    this.grid = grid;
    this.ids = new Set();
    this.on = false;
    this.told = el("span.grow", { role: "status" });
    const act = (what, text, symbol, kind = "") => el("button" + kind, { onclick: () => this.act(what).catch(error => say(why(error), "bad")) }, icon(symbol), t(text));
    this.bar = el("div.row.wrap.savebar", { hidden: true }, this.told, act("keep", "player.keep", "keep"), act("release", "events.release", "undo"), act("review", "player.reviewed", "good"), act("delete", "player.delete", "bin", ".danger"));
    this.button = el("button.toggle", { "aria-pressed": "false", onclick: () => this.turn(!this.on) }, t("events.select"));
    this.done = done;
    grid.addEventListener("click", event => this.pick(event), true);
    grid.addEventListener("keydown", event => { if (event.key === " ") this.pick(event); });
  }
  turn(on) {
    this.on = on;
    this.ids.clear();
    this.button.setAttribute("aria-pressed", String(on));
    this.show();
  }
  pick(event) {
    const card = this.on && event.target.closest(".eventcard");
    if (!card) return;
    event.preventDefault();
    const id = card.dataset.key;
    if (!this.ids.delete(id)) this.ids.add(id);
    this.show();
  }
  show() {
    const cards = [...this.grid.children], shown = new Set(cards.map(card => card.dataset.key));
    for (const id of this.ids) if (!shown.has(id)) this.ids.delete(id);
    for (const card of cards) {
      const chosen = this.ids.has(card.dataset.key);
      card.classList.toggle("chosen", chosen);
      for (const [name, value] of [["role", "checkbox"], ["aria-checked", String(chosen)]]) if (this.on) card.setAttribute(name, value); else card.removeAttribute(name);
    }
    this.bar.hidden = !this.ids.size;
    setText(this.told, t("events.chosen", { n: this.ids.size }));
  }
  async act(what) {
    const ids = [...this.ids];
    if (what === "delete" && !(await confirmed(t("events.deleteTitle", { n: ids.length }), t("events.deleteText"), t("player.delete"), t("cancel")))) return;
    let done = 0, failed = [];
    for (let i = 0; i < ids.length; i += MANY) {
      const answer = await json(address("events"), { method: "POST", body: { do: what, ids: ids.slice(i, i + MANY) } });
      done += answer.done;
      failed = [...failed, ...answer.failed];
    }
    say([t("events.did." + what, { n: done }), failed[0]?.error].filter(Boolean).join(" "), failed.length ? "bad" : "good");
    this.turn(false);
    this.done();
  }
}

export async function showEvents(main, life, values) {
  const grid = el("div.eventgrid"), count = el("p.soft", { role: "status" }), more = el("button", { hidden: true }, t("events.more")), time = el("div.timeline"), clear = el("button.quiet", {}, t("events.clear"));
  let shown = [], next = null, turn = new AbortController();
  const filter = new Filter(values, () => load()), chosen = new Chosen(grid, () => load());
  listAddress = "#/events" + query(values);
  const list = async (before, signal) => {
    const answer = await json(address("events") + query({ ...filter.asked(), limit: PAGE, before }), { signal });
    shown = before ? [...shown, ...answer.events] : answer.events;
    next = answer.next;
    keyed(grid, shown, e => e.id, card, (node, e) => {
      node.classList.toggle("kept", Boolean(e.kept));
      node.classList.toggle("seen", Boolean(e.reviewed));
      setText(node.querySelector(".score"), e.score === undefined ? "" : number(e.score, 2));
    });
    chosen.show();
    setText(count, shown.length ? t("events.found", { n: answer.total ?? shown.length }) : t("events.none"));
    more.hidden = !next;
  };
  const load = async () => {
    turn.abort();
    turn = new AbortController();
    const signal = turn.signal;
    clear.hidden = !Object.keys(filter.values).length;
    try {
      const [, first, second] = await Promise.all([list(null, signal), days(filter, signal), filter.values.day ? hours(filter, signal) : null]);
      if (signal.aborted) return;
      const held = document.activeElement?.closest?.(".column") ? [...time.querySelectorAll(".column")].indexOf(document.activeElement) : -1;
      time.replaceChildren(first, ...(second ? [second] : []));
      if (held >= 0) requestAnimationFrame(() => requestAnimationFrame(() => time.querySelectorAll(".column")[held]?.focus()));
    } catch (error) {
      if (!signal.aborted && error.status === BUSY) life.after(BUSY_MS, () => { if (!signal.aborted) load(); });
      else if (!signal.aborted && error.status) setText(count, why(error));
      if (!error.status) throw error;
    }
  };
  more.onclick = () => list(next, turn.signal).catch(error => say(why(error), "bad"));
  clear.onclick = () => { location.hash = "#/events"; };
  main.replaceChildren(el("div.head", {}, el("h1", {}, t("nav.events"))), el("section.card", { "aria-label": t("events.days") }, time), filterForm(filter, life, pipelines()), el("div.row", {}, el("div.grow", {}, count), clear, may("review") ? chosen.button : null), grid, el("div.row.mid", {}, more), chosen.bar);
  life.signal.addEventListener("abort", () => turn.abort(), { once: true });
  life.every(15000, async () => { if (shown.length <= PAGE && !grid.contains(document.activeElement)) await load(); });
}
