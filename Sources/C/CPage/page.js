// SPDX-License-Identifier: Apache-2.0
// Brings the page up to date: the relay says what has changed, and the parts that show it are fetched and exchanged. The page works
// without this script, too.
"use strict";
(() => {
  // Only what this server rendered is ever made markup (Trusted Types, section 2.2).
  const rules = { createHTML: (text) => text };
  const policy = window.trustedTypes?.createPolicy("upgrade-relay", rules) ?? rules;
  const { events, stale, signedOut, zone: chosen } = document.body.dataset;
  // The month as a word: 11/12 is another day on the other side of an ocean.
  const format = new Intl.DateTimeFormat(document.documentElement.lang.startsWith("zh") ? "zh-Hans" : "en-GB", {
    year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit",
    hourCycle: "h23", timeZoneName: "short", timeZone: chosen,
  });

  // Times in the chosen zone, else the browser's, with its name.
  const localize = (root) => root.querySelectorAll("time[datetime]").forEach((time) => {
    time.title = time.dateTime;
    time.textContent = format.format(new Date(time.dateTime));
  });
  localize(document);
  document.querySelectorAll("#zone, input[data-zone]").forEach(
    (one) => { one[one.id ? "textContent" : "value"] = format.resolvedOptions().timeZone; });

  // A form that is not sent yet outlives Back and the session's end, in this tab, until it is sent or its writer signs out.
  const form = document.querySelector("form[data-keep]");
  const written = form ? [...form.querySelectorAll("input:not([type=hidden])")] : [];
  const value = (one) => one.type === "checkbox" ? "checked" : "value";
  const saved = JSON.parse((form && sessionStorage.getItem(form.dataset.keep)) ?? "{}");
  if (!written.some((one) => one[value(one)])) for (const one of written) one[value(one)] = saved[one.name] ?? "";
  form?.addEventListener("input", () => sessionStorage.setItem(
    form.dataset.keep, JSON.stringify(Object.fromEntries(written.map((one) => [one.name, one[value(one)]])))));
  document.querySelectorAll("button[value=raise], form[action$='/session/end'] button").forEach(
    (one) => one.addEventListener("click", () => sessionStorage.clear()));

  if (!events || !window.EventSource) return;
  const connection = document.getElementById("connection"), [line, signIn] = connection.children;
  const say = (text) => {
    if (line.textContent !== text) line.textContent = text;
    [connection.hidden, signIn.hidden, signIn.href] = [!text, text !== signedOut, location.pathname + location.search];
  };

  // Nothing is exchanged under a pressed button or a selection: the click or the copy would be lost. Both have an end.
  let [pressedAt, selectedAt] = [0, 0];
  addEventListener("pointerdown", () => { pressedAt = Date.now(); });
  for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => setTimeout(() => { pressedAt = 0; }));
  document.addEventListener("selectionchange", () => { selectedAt = Date.now(); });
  const isInUse = (part) => Date.now() - pressedAt < 10000 || Date.now() - selectedAt < 60000
    && !getSelection().isCollapsed && getSelection().containsNode(part, true);

  // Where the reader is in a part, to be there in its successor, too.
  const places = "a, button, input, select, summary, [tabindex]";
  const name = (one) =>
    one.id || one.getAttribute("href") || one.getAttribute("aria-label") || one.parentElement.id || one.textContent;
  const keep = (part) => {
    const active = part.contains(document.activeElement) ? document.activeElement : null;
    const scroll = [...part.querySelectorAll(".scroll")].map((one) => [one.scrollLeft, one.scrollTop]);
    return { focus: active && name(active), open: [...part.querySelectorAll("details[open]")].map(name), scroll };
  };
  const restore = (part, old) => {
    part.querySelectorAll("details").forEach((one) => { one.open = old.open.includes(name(one)); });
    part.querySelectorAll(".scroll").forEach((one, n) => { [one.scrollLeft, one.scrollTop] = old.scroll[n] ?? [0, 0]; });
    if (!old.focus) return;
    const next = [...part.querySelectorAll(places)].find((one) => name(one) === old.focus);
    // What they were at is gone: the next best place is its part.
    if (!next) part.tabIndex = -1;
    (next ?? part).focus({ preventScroll: true });
  };

  let [source, timer] = [null, 0];
  const wanted = new Set();
  const everything = () => document.querySelectorAll("[data-live]").forEach(
    (part) => part.dataset.live.split(" ").forEach((topic) => wanted.add(topic)));
  const stop = (text) => {
    say(text);
    source = source?.close();
    clearInterval(timer);
  };

  // The part stays, and what is in it is exchanged where it has changed: who listens to the part hears of it once.
  const known = new Map();
  const renew = async (part) => {
    const url = new URL(location.href);
    url.searchParams.set("part", part.id);
    const answer = await fetch(url, { credentials: "same-origin", redirect: "error" });
    if (answer.status === 401 || answer.status === 403) return stop(signedOut);
    if (!answer.ok) throw new Error(answer.statusText);
    const text = await answer.text();
    if (known.get(part.id) === text) return;
    if (isInUse(part)) return part.dataset.live.split(" ").forEach((topic) => wanted.add(topic));
    known.set(part.id, text);
    const made = document.createElement("template");
    made.innerHTML = policy.createHTML(text);
    const next = made.content.firstElementChild;
    if (next?.id !== part.id) return;
    localize(next);
    const old = keep(part);
    part.replaceChildren(...next.childNodes);
    restore(part, old);
  };

  // Once a second at most, one part after the other; nothing while nobody looks.
  let isBusy = false;
  const work = async () => {
    if (isBusy || document.hidden || !wanted.size) return;
    isBusy = true;
    const topics = [...wanted];
    wanted.clear();
    try {
      for (const part of document.querySelectorAll("[data-live]")) {
        if (source && part.dataset.live.split(" ").some((topic) => topics.includes(topic))) await renew(part);
      }
      if (source) say("");
    } catch {
      topics.forEach((topic) => wanted.add(topic));
      if (source) say(stale);
    }
    isBusy = false;
  };

  // Where the stream breaks, or nothing comes through it (it says every 15 s that it is alive), all parts are asked for.
  let [heard, isBroken, ticks] = [0, false, 0];
  const hear = () => { heard = Date.now(); isBroken = false; };
  const open = () => {
    source?.close();
    const mine = source = new EventSource(events);
    mine.onopen = () => { hear(); if (!wanted.size) say(""); };
    mine.onerror = async () => {
      isBroken = true;
      const answer = await fetch("/v1/apps", { credentials: "same-origin", method: "HEAD" }).catch(() => null);
      if (source !== mine) return;
      if (answer?.status === 401 || answer?.status === 403) return stop(signedOut);
      if (!answer?.ok) say(stale);
      if (mine.readyState === EventSource.CLOSED) setTimeout(() => source === mine && open(), 3000);
    };
    mine.addEventListener("alive", hear);
    ["campaign", "version", "approvals", "readiness"].forEach(
      (topic) => mine.addEventListener(topic, () => { hear(); wanted.add(topic); }));
  };
  open();
  timer = setInterval(() => {
    if (++ticks % 10 === 0 && (isBroken || Date.now() - heard > 40000)) everything();
    work();
  }, 1000);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) work(); });
  addEventListener("pagehide", () => source?.close());
  // Back from the browser's own memory: it may be old, or somebody signed out meanwhile.
  addEventListener("pageshow", (event) => { if (event.persisted && source) { everything(); open(); } });
})();
