/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The smaller pages: logging in, the log with who changed what, figures for engineers, and what a telephone has no room for in its bar. */

import { address, json, logIn, logOut, may, session, why } from "./api.js";
import { el, icon, keyed, labelled, say, setText } from "./dom.js";
import { bytes, dateTime, exactClock, number, span, t } from "./text.js";
import { chip, stateWords } from "./wall.js";

const LINES = 200;

/** A form that is there stays, with what was typed: requests that are refused at once each show it. */
export async function showLogin(main, life, done) {
  if (main.querySelector("form.login")) return;
  const user = el("input", { type: "text", autocomplete: "username", autocapitalize: "none", spellcheck: "false", required: session.users }), password = el("input", { type: "password", autocomplete: "current-password", required: true });
  const error = el("p.error", { role: "alert", hidden: true }), button = el("button.primary", {}, t("login.button"));
  button.type = "submit";
  const form = el("form.login.card", { onsubmit: async event => {
    event.preventDefault();
    button.disabled = true;
    error.hidden = true;
    try {
      await logIn(user.value, password.value);
      await done();
    } catch (reason) {
      error.hidden = false;
      setText(error, reason.status === 401 ? t("login.wrong") : reason.status === 429 ? t("login.slow") : why(reason));
      password.value = "";
      password.focus();
    }
    button.disabled = false;
  } }, el("h1", {}, t("login.title")), session.users ? labelled(t("login.user"), user) : null, labelled(t("login.password"), password), error, button);
  main.replaceChildren(session.login === false ? el("p.card", {}, t("login.none")) : form);
  (session.users ? user : password).focus();
}

function logTable(caption, who) {
  const body = el("tbody"), columns = ["log.time", who, "log.message"];
  return { body, node: el("div.scroll", { tabindex: 0, role: "region", "aria-label": caption }, el("table.log", {}, el("thead", {}, el("tr", {}, columns.map(key => el("th", { scope: "col" }, t(key))))), body)) };
}
async function fill(table, kind) {
  const answer = await json(address(kind) + "?lines=" + LINES), list = (answer.lines || answer.entries || answer[kind] || []).slice();
  list.sort((a, b) => new Date(b.time) - new Date(a.time));
  keyed(table.body, list.map((line, i) => ({ ...line, i })), l => l.time + "|" + (l.message || l.text || "") + "|" + l.i, l => el("tr.level-" + (l.level || "info"), {}, el("td", {}, el("time", { datetime: l.time }, dateTime(l.time))), el("td", {}, l.user || l.pipeline || ""), el("td", {}, l.message || l.text || l.what || "")));
  if (!list.length) table.body.replaceChildren(el("tr", {}, el("td", { colspan: 3 }, t("log.empty"))));
}
export async function showLog(main, life) {
  const log = logTable(t("log.log"), "events.camera"), audit = logTable(t("log.audit"), "log.who");
  main.replaceChildren(el("div.head", {}, el("h1", {}, t("nav.log"))), el("section.card", {}, el("h2", {}, t("log.audit")), audit.node), el("section.card", {}, el("h2", {}, t("log.log")), log.node));
  for (const [table, kind] of [[audit, "audit"], [log, "log"]])
    life.every(3000, async () => {
      try { await fill(table, kind); } catch (error) {
        if (error.status) table.body.replaceChildren(el("tr", {}, el("td", { colspan: 3 }, why(error))));
        throw error;
      }
    });
}

function pair(key, value) { return [el("dt", {}, t(key)), el("dd", {}, value)]; }
const total = dropped => typeof dropped === "number" ? dropped : Object.values(dropped || {}).reduce((a, b) => a + b, 0);
function causes(dropped) {
  const list = Object.entries(typeof dropped === "object" && dropped || {}).filter(([, n]) => n > 0);
  return number(total(dropped)) + (list.length ? " (" + list.map(([cause, n]) => cause + " " + number(n)).join(", ") + ")" : "");
}
function part(what) {
  if (typeof what === "string") return what;
  const name = what.name || what.element || "", said = { string: (key, value) => value, number: (key, value) => key.replaceAll("_", " ") + " " + number(value, 1), boolean: (key, value) => (value ? "" : "not ") + key };
  const rest = Object.entries(what).filter(([key, value]) => !["name", "element"].includes(key) && said[typeof value]).map(([key, value]) => said[typeof value](key, value));
  return [name, ...rest].filter(Boolean).join(" · ");
}
function parts(key, list) { return list && list.length ? [el("dt", {}, t(key)), el("dd", {}, el("ul.plain", {}, list.map(one => el("li", {}, part(one)))))] : []; }

function detail(node, p) {
  node.state.set(p.level, stateWords(p));
  const milliseconds = value => value === null || value === undefined ? "–" : number(value, 1) + " ms";
  const stages = Object.entries(p.stages).flatMap(([stage, times]) => pair("stage." + stage, t("details.times", { p50: milliseconds(times.p50_ms), p95: milliseconds(times.p95_ms) })));
  node.facts.replaceChildren(...pair("details.fps", number(p.frames_per_second, 1)), ...pair("details.age", milliseconds(p.frame_age_ms)), ...stages, ...pair("details.dropped", causes(p.dropped)),
    ...pair("details.restarts", t("details.starts", { restarts: p.restarts, recoveries: p.recoveries })), ...pair("details.size", p.width ? p.width + " × " + p.height : "–"),
    ...parts("details.reasons", p.reasons), ...parts("details.cameras", p.cameras), ...parts("details.models", p.models), ...parts("details.outputs", p.outputs), ...parts("details.recorders", p.recorders));
}
export async function showDetails(main, life) {
  const grid = el("div.detailgrid"), time = el("p.soft");
  const links = el("div.row.wrap", {}, el("a.button", { href: "metrics" }, t("details.metrics")), el("a.button", { href: "pipelines" }, t("details.json")));
  main.replaceChildren(el("div.head", {}, el("h1", {}, t("nav.details"))), time, grid, links);
  life.every(1000, async () => {
    const told = await json(address("pipelines")), process = told.process;
    setText(time, t("details.time", { time: exactClock(Date.now()), version: process.version, uptime: span(process.uptime_seconds), processor: number(process.cpu_percent, 1), memory: bytes(process.rss_bytes), threads: process.threads }));
    keyed(grid, told.pipelines, p => p.name, p => {
      const node = el("section.card", {}, el("h2", {}, p.name));
      node.state = chip();
      node.facts = el("dl.facts");
      node.append(node.state, node.facts);
      return node;
    }, detail);
  });
}

export function logOutButton(done) {
  return el("button.navlink", { onclick: async () => {
    try { await logOut(); } catch (error) { say(why(error), "bad"); }
    done();
  } }, icon("out"), el("span", {}, t("nav.out")));
}
export async function showMore(main, life, done) {
  main.replaceChildren(el("div.head", {}, el("h1", {}, t("nav.more"))), el("nav.card.morelist", { "aria-label": t("nav.more") }, el("a.navlink", { href: "#/details" }, icon("details"), el("span", {}, t("nav.details"))),
    may("configure") ? el("a.navlink", { href: "#/log" }, icon("log"), el("span", {}, t("nav.log"))) : null, session.user && session.login ? logOutButton(done) : null),
    ...(session.user ? [el("p.soft", {}, t("nav.as", { user: session.user, role: t("role." + session.role) }))] : []));
}
