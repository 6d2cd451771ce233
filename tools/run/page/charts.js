/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Charts of one camera: counts of each hour or day, how long people stay, where they are, and how fast the program is. Each also as CSV. */

import { address, json, query, why, zone, zoned } from "./api.js";
import { bars, lines } from "./bars.js";
import { stage } from "./camera.js";
import { el, icon, labelled } from "./dom.js";
import { drawHeat } from "./overlay.js";
import { pipelines } from "./pictures.js";
import { dayShort, hourName, localDay, span, t } from "./text.js";

const RANGES = { today: [0, "hour"], week: [6, "day"], month: [29, "day"] };

function asked(name, range) {
  const [back, bucket] = RANGES[range], from = localDay(new Date()), to = localDay(new Date());
  from.setDate(from.getDate() - back);
  to.setDate(to.getDate() + 1);
  return { pipeline: name, from: from.toISOString(), to: to.toISOString(), bucket };
}
/* The hours or days of the range, with what happened in each. */
function slotted(buckets, range) {
  const [back, bucket] = RANGES[range], first = localDay(new Date());
  first.setDate(first.getDate() - back);
  const count = bucket === "hour" ? 24 : back + 1, parts = Array.from({ length: count }, () => []);
  const dates = parts.map((_, i) => { const date = new Date(first); if (bucket === "hour") date.setHours(i); else date.setDate(date.getDate() + i); return date; });
  for (const one of buckets) {
    const date = new Date(one.from);
    let i = dates.length - 1;
    while (i >= 0 && dates[i] > date) i--;
    if (i >= 0) parts[i].push(one);
  }
  return { labels: dates.map(bucket === "hour" ? hourName : dayShort), parts };
}
function panel(title, csv, ...content) {
  return el("section.card", {}, el("div.row", {}, el("h2.grow", {}, title), el("a.button.quiet", { href: csv, download: "" }, icon("download"), t("charts.csv"), el("span.unseen", {}, " " + title))), ...content);
}

async function counts(what, range) {
  const { buckets } = await zoned(address("charts", "counts"), what), csv = address("charts", "counts") + query({ ...what, zone, format: "csv" });
  const { labels, parts } = slotted(buckets, range), known = new Map();
  for (const bucket of buckets) for (const region of bucket.regions) known.set(region.kind + ":" + region.name, region);
  if (!known.size) return panel(t("charts.counts"), csv, el("p.soft", {}, t("charts.empty")));
  const sum = (key, field) => parts.map(part => part.reduce((all, bucket) => all + (bucket.regions.find(r => r.kind + ":" + r.name === key)?.[field] || 0), 0));
  return panel(t("charts.counts"), csv, ...[...known].map(([key, region]) => {
    const fields = region.kind === "line" ? ["in", "out"] : ["entered", "left"], series = fields.map(f => ({ name: t("charts." + f), values: sum(key, f) }));
    return el("div", {}, el("h3", {}, region.name), bars(region.name, labels, series));
  }));
}
async function dwell(what) {
  const url = address("charts", "dwell"), answer = await json(url + query(what)), csv = url + query({ ...what, format: "csv" });
  const { limits, regions } = answer, labels = [...limits.map(limit => "< " + span(limit)), "> " + span(limits[limits.length - 1])];
  if (!regions.length) return panel(t("charts.dwell"), csv, el("p.soft", {}, t("charts.empty")));
  return panel(t("charts.dwell"), csv, ...regions.map(region => el("div", {}, el("h3", {}, region.name), bars(region.name, labels, [{ name: t("charts.visits"), values: region.counts }], { height: 160 }))));
}
/* Hours of the last 14 days are kept, and fit days of any zone. */
const by = what => (Date.now() - new Date(what.from) < 13 * 86400000 ? { ...what, bucket: "hour" } : what);
async function heat(what, name) {
  const url = address("charts", "occupancy"), answer = await json(url + query(by(what))), csv = url + query({ ...by(what), format: "csv" });
  if (!answer.cells.some(Boolean)) return panel(t("charts.heat"), csv, el("p.soft", {}, t("charts.empty")));
  const img = el("img", { alt: t("charts.heatAlt", { name }), src: address("pipelines", name, "snapshot.jpg") + "?boxes=0&width=960" }), { frame, canvas } = stage(img);
  const draw = () => {
    if (!canvas.clientWidth) return;
    canvas.width = canvas.clientWidth;
    canvas.height = canvas.clientHeight;
    drawHeat(canvas.getContext("2d"), answer, canvas.width, canvas.height);
  };
  new ResizeObserver(draw).observe(canvas);
  return panel(t("charts.heat"), csv, frame);
}
async function latency(what, range) {
  const url = address("charts", "latency"), answer = await zoned(url, { ...what, bucket: "hour" }), csv = url + query({ ...what, zone, format: "csv" });
  const { labels, parts } = slotted(answer.buckets, range), mean = field => parts.map(part => {
    const values = part.map(b => b[field]).filter(v => v !== null && v !== undefined);
    return values.length ? values.reduce((a, b) => a + b) / values.length : null;
  });
  const drops = parts.map(part => part.reduce((all, b) => all + b.dropped, 0));
  return panel(t("charts.latency"), csv, lines(t("charts.latency"), labels, [{ name: t("charts.p50"), values: mean("p50") }, { name: t("charts.p95"), values: mean("p95") }]),
    el("h3", {}, t("charts.drops")), bars(t("charts.drops"), labels, [{ name: t("charts.drops"), values: drops }], { height: 120 }));
}

/** Where objects were today, as a heat map of @name. */
export const heatToday = name => json(address("charts", "occupancy") + query(asked(name, "today")));

export async function showCharts(main, life, name, values) {
  const list = await pipelines(), range = RANGES[values.range] ? values.range : "today", chosen = name || list[0]?.name, body = el("div.charts");
  const go = (pipeline, span) => { location.hash = "#/charts/" + encodeURIComponent(pipeline) + "?range=" + span; };
  const camera = el("select", {}, list.map(p => el("option", { value: p.name }, p.name)));
  camera.value = chosen;
  camera.addEventListener("change", () => go(camera.value, range));
  const buttons = Object.keys(RANGES).map(key => el("button.toggle", { "aria-pressed": String(key === range), onclick: () => go(chosen, key) }, t("charts." + key)));
  main.replaceChildren(el("div.head", {}, el("h1.grow", {}, t("nav.charts"))), el("div.row.wrap.choices", {}, labelled(t("events.camera"), camera), el("div.row", { role: "group", "aria-label": t("charts.range") }, buttons)), body);
  const what = asked(chosen, range);
  const makers = { counts: () => counts(what, range), dwell: () => dwell(what), heat: () => heat(what, chosen), latency: () => latency(what, range) };
  life.every(60000, async () => {
    const parts = await Promise.all(Object.entries(makers).map(([key, make]) => make().catch(error => el("section.card", {}, el("h2", {}, t("charts." + key)), el("p.soft", {}, why(error))))));
    if (!life.signal.aborted) body.replaceChildren(...parts);
  });
}
