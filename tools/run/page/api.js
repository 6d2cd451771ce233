/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Requests to /api/v1: who is logged in, whether the server answers, and requests that are repeated. */

import { t } from "./text.js";

const BASE = "api/v1/";
const ROLES = ["none", "look", "review", "configure"];
const MOST_WAIT = 30000;

export let session = { user: null, role: "none", csrf: null, users: false, login: false, search: "none" };
/** connection.since: when the server last answered, null while it does. */
export const connection = { since: null, watchers: new Set(), login: null };

export class Refused extends Error {
  constructor(status, data, text) {
    super(text);
    this.status = status;
    this.data = data;
  }
}

export const may = role => ROLES.indexOf(session.role) >= ROLES.indexOf(role);
export const address = (...parts) => BASE + parts.map(encodeURIComponent).join("/");
/** "?a=1&b=2" of what is not empty. */
export function query(values) {
  const text = new URLSearchParams(Object.entries(values).filter(([, value]) => value !== "" && value !== null && value !== undefined)).toString();
  return text && "?" + text;
}

function heard(good) {
  if (good === (connection.since === null)) return;
  connection.since = good ? null : Date.now();
  for (const watcher of connection.watchers) watcher(good);
}

async function sentence(answer) {
  const text = await answer.text();
  try {
    const data = JSON.parse(text);
    return [data, data.error || answer.statusText];
  } catch {
    return [null, text.trim().slice(0, 300) || answer.statusText];
  }
}

/** The answer of the server, which throws Refused for a status of 400 and more, and TypeError when there is none. */
export async function ask(path, { method = "GET", body, signal } = {}) {
  const headers = {};
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (method !== "GET" && session.csrf) headers["X-CSRF-Token"] = session.csrf;
  let answer;
  try {
    answer = await fetch(path, { method, headers, signal, credentials: "same-origin", cache: "no-store", body: body === undefined ? undefined : JSON.stringify(body) });
  } catch (error) {
    if (error.name !== "AbortError" && error.name !== "TimeoutError") heard(false);
    throw error;
  }
  heard(true);
  if (answer.ok) return answer;
  const [data, text] = await sentence(answer);
  if (answer.status === 401 && !path.startsWith(BASE + "session")) connection.login?.();
  throw new Refused(answer.status, data, text);
}
export async function json(path, how) {
  const answer = await ask(path, how);
  return answer.status === 204 ? null : answer.json();
}

/** Whose days and hours are asked for: the browser's, by its name, or by its offset where the server does not know that. */
export let zone = Intl.DateTimeFormat().resolvedOptions().timeZone || offset();
function offset() {
  const ahead = -new Date().getTimezoneOffset(), two = n => String(Math.floor(n)).padStart(2, "0");
  return (ahead < 0 ? "-" : "+") + two(Math.abs(ahead) / 60) + ":" + two(Math.abs(ahead) % 60);
}
export async function zoned(path, values, how) {
  try {
    return await json(path + query({ ...values, zone }), how);
  } catch (error) {
    if (error.status !== 400 || zone === offset()) throw error;
    zone = offset();
    return json(path + query({ ...values, zone }), how);
  }
}

let asked = 0;
/* Several requests may be on their way; only the last one's answer counts. */
async function setSession(answer) {
  const mine = ++asked, data = await answer;
  if (mine === asked) session = data;
}
export async function readSession() {
  await setSession(json(address("session")));
}
export async function logIn(user, password) {
  await setSession(json(address("session"), { method: "POST", body: { user, password } }));
}
export async function logOut() {
  await json(address("session"), { method: "DELETE" });
  await readSession();
}

/** What a failed request says to a person. */
export function why(error) {
  if (error instanceof Refused) return error.message;
  return error instanceof TypeError ? t("lost.short") : String(error.message || error);
}

/** Time of a view: what it started ends with it. */
export class Life {
  constructor() {
    this.end = new AbortController();
    this.signal = this.end.signal;
  }
  over() { this.end.abort(); }
  on(target, kind, listener, options = {}) { target.addEventListener(kind, listener, { signal: this.signal, ...options }); }
  after(ms, work) {
    const timer = setTimeout(work, ms);
    this.signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
    return timer;
  }
  tick(ms, work) {
    const timer = setInterval(work, ms);
    this.signal.addEventListener("abort", () => clearInterval(timer), { once: true });
  }
  /** Repeats @work while the view and the page are seen, less often while it fails. Returns a function that asks at once. */
  every(ms, work) {
    let wait = ms, wake = () => {};
    const loop = async () => {
      while (!this.signal.aborted) {
        if (!document.hidden) {
          try {
            await work();
            wait = ms;
          } catch (error) {
            if (this.signal.aborted) return;
            wait = Math.min(MOST_WAIT, Math.max(1000, wait * 2));
          }
        }
        await new Promise(done => {
          wake = () => { clearTimeout(timer); done(); };
          const timer = setTimeout(done, document.hidden ? 1000 : wait);
          this.signal.addEventListener("abort", wake, { once: true });
        });
      }
    };
    loop();
    const now = () => { wait = ms; wake(); };
    this.on(document, "visibilitychange", () => { if (!document.hidden) now(); });
    return now;
  }
}
