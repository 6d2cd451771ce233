/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The frame of the page: which view the address names, the bar to the others, who is logged in, and whether the server answers. */

import { Life, connection, may, readSession, session, why } from "./api.js";
import { el, icon, say, setText } from "./dom.js";
import { loadWords, span, t } from "./text.js";
import { showWall } from "./wall.js";

const main = document.getElementById("main"), nav = document.getElementById("nav"), top_ = document.getElementById("top"), lost = document.getElementById("lost");

/* A view: the role it needs, and show (main, life, the second part of the address, the query). */
const VIEWS = {
  "": { role: "look", title: "nav.cameras", show: (m, l) => showWall(m, l) },
  camera: { role: "look", title: "nav.cameras", show: async (m, l, name) => (await import("./camera.js")).showCamera(m, l, name) },
  zones: { role: "configure", title: "zones.list", show: async (m, l, name) => (await import("./editor.js")).showZones(m, l, name) },
  settings: { role: "look", title: "nav.settings", show: async (m, l, name) => (await import("./settings.js")).showSettings(m, l, name) },
  events: { role: "look", title: "nav.events", show: async (m, l, id, q) => id ? (await import("./player.js")).showEvent(m, l, id) : (await import("./events.js")).showEvents(m, l, q) },
  charts: { role: "look", title: "nav.charts", show: async (m, l, name, q) => (await import("./charts.js")).showCharts(m, l, name, q) },
  details: { role: "look", title: "nav.details", show: async (m, l) => (await import("./pages.js")).showDetails(m, l) },
  log: { role: "configure", title: "nav.log", show: async (m, l) => (await import("./pages.js")).showLog(m, l) },
  more: { role: "look", title: "nav.more", show: async (m, l) => (await import("./pages.js")).showMore(m, l, restart) },
};
const BAR = [["", "cameras"], ["events", "events"], ["charts", "charts"], ["settings", "settings"], ["details", "details", "wide"], ["log", "log", "wide"], ["more", "more", "narrow"]];

let life = new Life(), leave = null, current = location.hash, turn = 0;

export function route(hash) {
  const [path, query] = hash.replace(/^#\/?/, "").split("?"), parts = path.split("/").map(part => { try { return decodeURIComponent(part); } catch { return part; } });
  return { view: parts[0] || "", name: parts[1] || "", query: Object.fromEntries(new URLSearchParams(query || "")) };
}

function bar() {
  const links = BAR.filter(([view]) => may(VIEWS[view].role)).map(([view, symbol, only]) => el("a.navlink" + (only ? "." + only : ""), { href: "#/" + view, "data-view": view }, icon(symbol), el("span", {}, t("nav." + symbol))));
  nav.replaceChildren(...links);
  nav.hidden = session.role === "none";
  if (session.user && session.login) import("./pages.js").then(({ logOutButton }) => { const out = logOutButton(restart); out.classList.add("wide", "last"); nav.append(out); });
}
function mark(view) {
  const owner = { camera: "", zones: "" }[view] ?? view;
  for (const link of nav.querySelectorAll("[data-view]")) {
    const here = link.dataset.view === owner || (link.dataset.view === "more" && ["details", "log"].includes(view));
    if (here) link.setAttribute("aria-current", "page"); else link.removeAttribute("aria-current");
  }
}

async function show(focus = true) {
  const mine = ++turn, { view, name, query } = route(location.hash), wanted = VIEWS[view] || VIEWS[""];
  life.over();
  life = new Life();
  leave = null;
  current = location.hash;
  document.body.dataset.view = view;
  mark(view);
  document.title = [name, t(wanted.title), "Sightline"].filter(Boolean).join(" · ");
  try {
    if (session.role === "none") await (await import("./pages.js")).showLogin(main, life, restart);
    else if (!may(wanted.role)) main.replaceChildren(el("p.card", {}, t("role.missing", { role: t("role." + wanted.role) })));
    else {
      const result = await wanted.show(main, life, name, query);
      if (mine === turn) leave = result?.leave || null;
    }
  } catch (error) {
    if (mine !== turn || error.name === "AbortError") return;
    if (!error.status && !(error instanceof TypeError && connection.since)) console.error(error);
    main.replaceChildren(el("div.card", { role: "alert" }, el("h1", {}, t("failed")), el("p", {}, why(error)), el("button", { onclick: () => show() }, t("again"))));
    if (!error.status) life.after(3000, () => { if (mine === turn) show(false); }); // no answer came
    return;
  }
  if (focus && mine === turn && session.role !== "none") { main.focus({ preventScroll: true }); scrollTo(0, 0); }
}
async function go() {
  if (location.hash === current) return;
  if (leave) {
    const wanted = location.hash;
    history.replaceState(null, "", current);
    if (!(await leave())) return;
    leave = null;
    history.replaceState(null, "", wanted);
  }
  show();
}

async function restart() {
  try { await readSession(); } catch { /* the banner says it */ }
  bar();
  await show();
}

/* A banner while there is no connection, with the seconds since then; asking again is what the views do. */
function watchConnection() {
  const text = el("span.grow"), again = el("button", { onclick: () => document.dispatchEvent(new Event("visibilitychange")) }, t("again"));
  lost.append(icon("offline"), text, again);
  const tell = () => { if (connection.since !== null) setText(text, t("lost.long", { time: span(Math.round((Date.now() - connection.since) / 1000)) })); };
  connection.watchers.add(good => {
    lost.hidden = good;
    document.body.classList.toggle("offline", !good);
    tell();
    if (good) say(t("lost.back")); else say(t("lost.short"), "bad", false);
  });
  setInterval(tell, 1000);
  let asked = false;
  connection.login = async () => {
    if (asked || session.role === "none") return;
    asked = true;
    await restart();
    asked = false;
  };
}

async function begin() {
  await loadWords();
  top_.append(el("a.brand", { href: "#/", "aria-label": t("nav.home") }, el("img", { src: "page/icon.svg", alt: "", width: 28, height: 28 }), el("b", {}, "Sightline")));
  nav.setAttribute("aria-label", t("nav.label"));
  const skip = document.getElementById("skip");
  skip.textContent = t("skip");
  skip.addEventListener("click", () => main.focus());
  watchConnection();
  for (let wait = 1000; ; wait = Math.min(15000, wait * 2)) {
    try { await readSession(); break; } catch (error) {
      main.replaceChildren(el("p.card", { role: "status" }, why(error)));
      await new Promise(done => setTimeout(done, wait));
    }
  }
  bar();
  /* The address of one camera's page. */
  const asked = new URLSearchParams(location.search).get("pipeline");
  if (asked && !location.hash) history.replaceState(null, "", location.pathname + "#/camera/" + encodeURIComponent(asked));
  addEventListener("hashchange", go);
  await show(false);
  if (!("serviceWorker" in navigator)) return;
  navigator.serviceWorker.addEventListener("message", event => { if (typeof event.data?.show === "string" && event.data.show.startsWith("#/")) location.hash = event.data.show; });
  navigator.serviceWorker.register("sw.js").catch(() => {});
}
begin();
