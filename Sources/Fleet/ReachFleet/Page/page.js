// The page of a fleet: shows what is in the element "data". Everything from hosts becomes text, never markup.
(() => {
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const text = data.strings;
const $ = (id) => document.getElementById(id);
const WORDS = ["online", "limited", "silent", "left", "unseen"];
const WORD_HELP = ["connected and reachable", "connected, with trouble", "gone without a word", "said goodbye", "never connected"];
// Trouble first.
const WORD_ORDER = [2, 1, 0, 3, 4];
// The columns of a host's row in the data.
const ID = 0, NAME = 1, WORD = 2, SINCE = 3, WHY = 4, CLASS = 5, LABELS = 6, SEEN = 7, BEHIND = 8, PRESUMED = 9, NOTE = 10, STRIP = 11, QUIET = 12, AWAY = 13, KNOWN = 14, UNCOUNTED = 15, DEGRADED = 16, LINE = 17, INDEX = 18;
data.hosts.forEach((host, index) => { host[INDEX] = index; });
const HEAD = 36;
// A narrow screen has the reason below the host.
const narrow = matchMedia("screen and (max-width:760px)");
let ROW = narrow.matches ? 58 : 38;
narrow.addEventListener("change", () => { ROW = narrow.matches ? 58 : 38; apply(true); });

function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const name in attributes || {}) {
    if (name === "class") element.className = attributes[name];
    else element.setAttribute(name, attributes[name]);
  }
  element.append(...children.filter((child) => child !== null && child !== ""));
  return element;
}
const SVG = "http://www.w3.org/2000/svg";
function icon(word) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("aria-hidden", "true");
  svg.append(document.createElementNS(SVG, "use"));
  svg.firstChild.setAttribute("href", "#w" + word);
  return svg;
}

// Times -------------------------------------------------------------------------------------------------------------
const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
const day = new Intl.DateTimeFormat(undefined, { weekday: "short", year: "numeric", month: "short", day: "numeric" });
const dayKey = (ms) => new Date(ms).toDateString();
const today = dayKey(data.asOf);
const moment = (ms) => (dayKey(ms) === today ? "" : day.format(ms) + ", ") + clock.format(ms);
const full = (ms) => new Date(ms).toISOString().replace("T", " ").replace(/(\.\d+)?Z/, " UTC");
function span(ms) {
  const s = Math.max(0, Math.round(ms / 1000));
  if (s < 60) return s + " s";
  if (s < 3600) return Math.floor(s / 60) + " min";
  if (s < 86400) return Math.floor(s / 3600) + " h " + Math.floor(s / 60) % 60 + " min";
  return Math.floor(s / 86400) + " d " + Math.floor(s / 3600) % 24 + " h";
}
const ago = (ms) => (ms ? span(data.asOf - ms) : "");
const number = new Intl.NumberFormat();

// State: what is filtered, sorted and open. It is in the address, so that a link shows the same -----------------------------
const state = { words: new Set(), text: "", class: "", label: "", outage: -1, sort: "word", down: false, open: "", paused: false,
  from: 0, to: 0, during: false };
let chosen = 0, list = [];

function readState() {
  const hash = new URLSearchParams(location.hash.slice(1));
  for (const word of (hash.get("word") || "").split(",")) {
    // Links of earlier versions say "here".
    const index = word === "here" ? 0 : WORDS.indexOf(word);
    if (index >= 0) state.words.add(index);
  }
  state.text = hash.get("find") || "";
  state.class = hash.get("class") || "";
  state.label = hash.get("label") || "";
  state.open = hash.get("host") || "";
  state.outage = data.outages.findIndex((outage) => outage.id === hash.get("outage"));
  state.paused = hash.get("paused") === "1";
  const [from, to] = (hash.get("time") || "").split("-").map(Number);
  if (from > 0 && to > from) [state.from, state.to] = [Math.max(from, DAY_BEGIN), Math.min(to, data.asOf)];
  if (state.to <= state.from) [state.from, state.to] = [DAY_BEGIN, data.asOf];
  state.during = hash.get("away") === "1";
  const sort = hash.get("sort") || "";
  if (COLUMNS.some((column) => column.key && column.key === sort.replace("-", ""))) {
    state.sort = sort.replace("-", "");
    state.down = sort.startsWith("-");
  }
}
function writeState() {
  const hash = new URLSearchParams();
  if (state.words.size) hash.set("word", [...state.words].map((word) => WORDS[word]).join());
  if (state.text) hash.set("find", state.text);
  if (state.class) hash.set("class", state.class);
  if (state.label) hash.set("label", state.label);
  if (state.outage >= 0) hash.set("outage", data.outages[state.outage].id);
  if (state.sort !== "word" || state.down) hash.set("sort", (state.down ? "-" : "") + state.sort);
  if (state.open) hash.set("host", state.open);
  if (state.paused) hash.set("paused", "1");
  if (isZoomed()) hash.set("time", state.from + "-" + state.to);
  if (state.during) hash.set("away", "1");
  $("link").hidden = !hash.toString();
  $("link").href = "#" + hash;
  const next = hash.toString() ? "#" + hash : " ";
  try { history.replaceState(null, "", next === " " ? location.pathname + location.search : next); } catch { /* a file that may not */ }
}

// When hosts were away --------------------------------------------------------------------------------------------------
// The day, or what is known of it.
const DAY_BEGIN = Math.max(data.asOf - 86400e3, data.known || 0);
const isZoomed = () => state.from > DAY_BEGIN || state.to < data.asOf;
// Since when a host is known: one that is new today was not away before.
const knownFrom = (index) => Math.max(DAY_BEGIN, data.hosts[index][KNOWN] || 0);
const shownWord = (host) => (host[DEGRADED] ? "degraded" : WORDS[host[WORD]]);
// Calls `body` with the begin and the end of each absence within a time.
function eachAbsence(index, from, to, body, column = AWAY) {
  const away = data.hosts[index][column] || [];
  from = Math.max(from, knownFrom(index));
  for (let at = 0; at + 1 < away.length; at += 2) {
    const begin = Math.max(from, data.asOf - away[at] * 1000), end = Math.min(to, away[at + 1] ? data.asOf - away[at + 1] * 1000 : data.asOf);
    if (begin < end) body(begin, end);
  }
}
function isAwayIn(index, from, to) {
  let found = false;
  eachAbsence(index, from, to, () => { found = true; });
  return found;
}
// The share of the known day in which hosts were reachable; -1 if nothing is known.
function available(indexes) {
  let away = 0, whole = 0;
  for (const index of indexes) {
    if (data.hosts[index][WORD] === 4) continue;
    whole += data.asOf - knownFrom(index);
    // What nobody knows counts neither for it nor against it, as in a report.
    eachAbsence(index, DAY_BEGIN, data.asOf, (begin, end) => { whole -= end - begin; }, UNCOUNTED);
    eachAbsence(index, DAY_BEGIN, data.asOf, (begin, end) => { away += end - begin; });
  }
  return whole > 0 ? 1 - away / whole : -1;
}
// Rounded down, so that only what was never away has 100 %.
const percent = (share) => (share < 0 ? "" : share >= 1 ? "100 %" : (Math.floor(share * 1e4) / 100).toFixed(2) + " %");

function showDay() {
  $("day").hidden = data.asOf <= DAY_BEGIN || !data.hosts.length;
  if ($("day").hidden) return;
  const indexes = filtered(true, true), [from, to] = [state.from, state.to];
  const steps = [];
  const hosts = new Set();
  for (const index of indexes) eachAbsence(index, from, to, (begin, end) => { steps.push([begin, 1], [end, -1]); hosts.add(index); });
  steps.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  let count = 0, most = 0, when = 0;
  const levels = [];
  for (const [time, change] of steps) {
    count += change;
    levels.push([time, count]);
    if (count > most) [most, when] = [count, time];
  }
  const x = (time) => ((time - from) / (to - from) * 1000).toFixed(2), top = Math.max(most, 1);
  let d = "M0 78";
  for (const [time, level] of levels) d += "H" + x(time) + "V" + (78 - level / top * 74).toFixed(1);
  const shape = (name, attributes) => {
    const element = document.createElementNS(SVG, name);
    for (const key in attributes) element.setAttribute(key, attributes[key]);
    return element;
  };
  $("day-chart").replaceChildren(shape("path", { class: "area", d: d + "H1000V78Z" }), shape("line", { class: "ground", x1: 0, x2: 1000, y1: 78.5, y2: 78.5 }));
  const words = most ? "at most " + number.format(most) + " of " + number.format(indexes.length) + " at once, at " + moment(when) + "; " +
    number.format(hosts.size) + (hosts.size === 1 ? " host was" : " hosts were") + " away in this time" : "no host was away in this time";
  $("day-text").textContent = moment(from) + " to " + (dayKey(from) === dayKey(to) ? clock.format(to) : day.format(to) + ", " + clock.format(to)) + ": " + words;
  $("day-chart").setAttribute("aria-label", "Hosts away over time");
  $("day-out").disabled = $("day-back").disabled = $("day-on").disabled = !isZoomed();
  $("day-in").disabled = to - from <= 120e3;
  $("day-only").setAttribute("aria-pressed", state.during);
}
function zoom(from, to) {
  const length = Math.max(60e3, Math.min(to - from, data.asOf - DAY_BEGIN));
  state.from = Math.round(Math.min(Math.max(from, DAY_BEGIN), data.asOf - length));
  state.to = Math.round(state.from + length);
  apply(false);
}
function makeDay() {
  const half = (factor) => {
    const middle = (state.from + state.to) / 2, length = (state.to - state.from) * factor / 2;
    zoom(middle - length, middle + length);
  };
  const move = (share) => zoom(state.from + (state.to - state.from) * share, state.to + (state.to - state.from) * share);
  $("day-in").onclick = () => half(0.5);
  $("day-out").onclick = () => half(2);
  $("day-back").onclick = () => move(-0.5);
  $("day-on").onclick = () => move(0.5);
  $("day-only").onclick = () => { state.during = !state.during; apply(false); };
  // A drag over the chart shows that time.
  const chart = $("day-chart");
  let start = 0;
  const at = (event) => {
    const box = chart.getBoundingClientRect();
    return state.from + Math.min(1, Math.max(0, (event.clientX - box.left) / box.width)) * (state.to - state.from);
  };
  chart.addEventListener("pointerdown", (event) => { start = at(event); chart.setPointerCapture(event.pointerId); });
  chart.addEventListener("pointerup", (event) => {
    const end = at(event);
    if (start && Math.abs(end - start) > (state.to - state.from) / 50) zoom(Math.min(start, end), Math.max(start, end));
    start = 0;
  });
}

// A site: all hosts with the label that is filtered by ----------------------------------------------------------------------
function showSite() {
  const site = $("site");
  site.hidden = !state.label;
  if (!state.label) return;
  const label = text.indexOf(state.label);
  const indexes = [];
  for (let index = 0; index < data.hosts.length; index++) if (data.hosts[index][LABELS].includes(label)) indexes.push(index);
  $("site-title").textContent = state.label;
  const counts = [0, 0, 0, 0, 0];
  for (const index of indexes) counts[data.hosts[index][WORD]]++;
  const facts = [["Hosts", number.format(indexes.length)]];
  WORDS.forEach((word, index) => { if (counts[index]) facts.push([word, number.format(counts[index])]); });
  facts.push(["available since " + moment(DAY_BEGIN), percent(available(indexes)) || "not known"]);
  $("site-facts").replaceChildren(...facts.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))));
  const members = new Set(indexes);
  const outages = data.outages.filter((outage) => outage.hosts.some((host) => members.has(host)));
  $("site-outages").replaceChildren(...outages.slice(0, 5).map((outage) => make("li", {}, sentence(outage))));
}
const sentence = (outage) => outage.text.map((piece) => (typeof piece === "number" ? moment(piece) : piece)).join("");

// The table ---------------------------------------------------------------------------------------------------------
const COLUMNS = [
  { title: "State", key: "word", order: (a, b) => WORD_ORDER.indexOf(a[WORD]) - WORD_ORDER.indexOf(b[WORD]) || b[SINCE] - a[SINCE] },
  { title: "Host", key: "host", order: (a, b) => compare(a[NAME] || a[ID], b[NAME] || b[ID]) },
  { title: "Since", key: "since", order: (a, b) => b[SINCE] - a[SINCE] },
  { title: "Why" },
  { title: "Link", key: "class", order: (a, b) => compare(text[a[CLASS]], text[b[CLASS]]) },
  { title: "Labels" },
  { title: "Last seen", key: "seen", order: (a, b) => b[SEEN] - a[SEEN] },
  { title: "Behind", key: "behind", number: true, order: (a, b) => b[BEHIND] - a[BEHIND] },
  { title: "Available", key: "available", number: true, order: (a, b) => availability(a) - availability(b) },
  { title: "Last 24 hours" },
];
const shares = [];
const availability = (host) => shares[host[INDEX]] ??= available([host[INDEX]]);
const collator = new Intl.Collator(undefined, { numeric: true });
const compare = (a, b) => (a === b ? 0 : collator.compare(a, b));
// What the search looks through, in lower case, made when it is first needed.
let haystacks = null;
function haystack(index) {
  haystacks = haystacks || new Array(data.hosts.length);
  return haystacks[index] = haystacks[index] || [data.hosts[index][ID], data.hosts[index][NAME], text[data.hosts[index][WHY]],
    text[data.hosts[index][CLASS]], text[data.hosts[index][LINE]], text[data.hosts[index][NOTE]], text[data.hosts[index][QUIET]] && "quiet: " + text[data.hosts[index][QUIET]], ...data.hosts[index][LABELS].map((label) => text[label])].join("\n").toLowerCase();
}

function filtered(withWords, atAnyTime) {
  const needles = state.text.toLowerCase().split(/\s+/).filter(Boolean);
  const label = state.label ? text.indexOf(state.label) : -1;
  const outage = state.outage >= 0 ? new Set(data.outages[state.outage].hosts) : null;
  const result = [];
  for (let index = 0; index < data.hosts.length; index++) {
    const host = data.hosts[index];
    if (withWords && state.words.size && !state.words.has(host[WORD])) continue;
    if (state.class && text[host[CLASS]] !== state.class) continue;
    if (state.label && !host[LABELS].includes(label)) continue;
    if (outage && !outage.has(index)) continue;
    if (state.during && !atAnyTime && !isAwayIn(index, state.from, state.to)) continue;
    if (needles.length && !needles.every((needle) => haystack(index).includes(needle))) continue;
    result.push(index);
  }
  return result;
}

function apply(keepScroll) {
  const kept = list[chosen];
  list = filtered(true);
  const column = COLUMNS.find((each) => each.key === state.sort);
  const sign = state.down ? -1 : 1;
  list.sort((a, b) => sign * column.order(data.hosts[a], data.hosts[b]) || a - b);
  chosen = Math.max(0, list.indexOf(kept));
  if (!keepScroll) { $("grid").scrollTop = 0; chosen = 0; }
  showCounts();
  showHead();
  const grid = $("grid");
  grid.setAttribute("aria-rowcount", list.length + 1);
  $("rows").style.height = list.length * ROW + "px";
  $("rows").hidden = !list.length;
  $("none").hidden = list.length > 0;
  $("none").textContent = data.hosts.length ? "No host matches. Clear the filters to see all " + number.format(data.hosts.length) + "."
    : "No host has connected yet. A host appears here once its agent reaches the engine.";
  $("shown").textContent = list.length === data.hosts.length ? number.format(list.length) + (list.length === 1 ? " host" : " hosts")
    : number.format(list.length) + " of " + number.format(data.hosts.length) + " hosts";
  $("clear").hidden = !(state.words.size || state.text || state.class || state.label || state.outage >= 0 || state.during || isZoomed());
  showSite();
  showDay();
  showOutageChoice();
  rendered = new Map();
  $("rows").replaceChildren();
  render();
  writeState();
}

let rendered = new Map();
function render() {
  const grid = $("grid");
  const first = isPrinting ? 0 : Math.max(0, Math.floor(grid.scrollTop / ROW) - 8);
  const last = isPrinting ? Math.min(list.length, PRINTED) : Math.min(list.length, first + Math.ceil(grid.clientHeight / ROW) + 16);
  for (const [position, row] of rendered) {
    if (position < first || position >= last) { row.remove(); rendered.delete(position); }
  }
  const fresh = document.createDocumentFragment();
  for (let position = first; position < last; position++) {
    if (!rendered.has(position)) {
      const row = makeRow(position);
      rendered.set(position, row);
      fresh.append(row);
    }
  }
  if (fresh.childNodes.length) $("rows").append(fresh);
  for (const [position, row] of rendered) {
    row.setAttribute("aria-selected", position === chosen);
    row.classList.toggle("open", data.hosts[list[position]][ID] === state.open);
  }
  if (rendered.has(chosen)) grid.setAttribute("aria-activedescendant", "r" + chosen);
  else grid.removeAttribute("aria-activedescendant");
}

function makeRow(position) {
  const host = data.hosts[list[position]];
  const word = make("span", { role: "gridcell", class: "word k" + host[WORD] }, icon(host[WORD]), shownWord(host));
  const name = make("span", { role: "gridcell", class: "host", title: host[ID] }, host[NAME] || host[ID]);
  const since = make("span", { role: "gridcell" }, ago(host[SINCE]));
  if (host[SINCE]) since.title = full(host[SINCE]);
  const presumed = host[PRESUMED] && host[WHY];
  const why = make("span", { role: "gridcell", class: "why" + (presumed ? " p" : "") }, reason(host),
    presumed ? make("span", { class: "sr" }, " (presumed)") : "");
  why.title = why.textContent;
  const labels = make("span", { role: "gridcell", class: "dim" }, host[LABELS].map((label) => text[label]).join(", "));
  labels.title = labels.textContent;
  const seen = make("span", { role: "gridcell" }, ago(host[SEEN]));
  if (host[SEEN]) seen.title = full(host[SEEN]);
  const row = make("div", { role: "row", class: "row", id: "r" + position, "aria-rowindex": position + 2 }, word, name, since, why,
    make("span", { role: "gridcell" }, text[host[CLASS]]), labels, seen,
    make("span", { role: "gridcell", class: "num" }, host[BEHIND] ? number.format(host[BEHIND]) : ""),
    make("span", { role: "gridcell", class: "num" }, percent(availability(host))), strip(host));
  row.style.transform = "translateY(" + position * ROW + "px)";
  return row;
}
const reason = (host) => [text[host[NOTE]], text[host[QUIET]] && "quiet: " + text[host[QUIET]], text[host[WHY]]].filter(Boolean).join("; ");

// Each bar is half an hour. Its height says the same as its colour: high is here, half is partly away, a dot is away.
const STRIP_CELLS = 48;
function strip(host) {
  const cells = text[host[STRIP]] || (host[WORD] === 4 ? "3" : "0").repeat(STRIP_CELLS);
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "strip");
  svg.setAttribute("viewBox", "0 0 " + STRIP_CELLS * 3.2 + " 18");
  const paths = ["", "", "", ""];
  const height = [14, 8, 3, 1];
  let away = 0;
  for (let cell = 0; cell < cells.length; cell++) {
    const kind = +cells[cell];
    if (kind === 1 || kind === 2) away++;
    paths[kind] += "M" + (cell * 3.2 + 1.6).toFixed(1) + " 16v-" + height[kind];
  }
  paths.forEach((d, kind) => {
    if (!d) return;
    const path = document.createElementNS(SVG, "path");
    path.setAttribute("d", d);
    path.setAttribute("class", "s" + kind);
    svg.append(path);
  });
  svg.setAttribute("role", "img");
  const known = [...cells].filter((kind) => kind !== "3").length;
  svg.setAttribute("aria-label", host[WORD] === 4 ? "never here" : (away ? "away in " + away : "not away in any") + " of the last " + known + " half-hours");
  return make("span", { role: "gridcell" }, svg);
}

function showHead() {
  $("head").replaceChildren(...COLUMNS.map((column) => {
    const cell = make("span", { role: "columnheader", class: column.number ? "num" : "" });
    if (!column.key) { cell.textContent = column.title; return cell; }
    const sorted = state.sort === column.key;
    cell.setAttribute("aria-sort", sorted ? (state.down ? "descending" : "ascending") : "none");
    const button = make("button", { type: "button", id: "sort-" + column.key }, column.title);
    button.onclick = () => {
      state.down = sorted && !state.down;
      state.sort = column.key;
      apply(false);
      $("sort-" + column.key).focus();
    };
    cell.append(button);
    return cell;
  }));
}

// Counts, filters, outages --------------------------------------------------------------------------------------------
function showCounts() {
  const counts = [0, 0, 0, 0, 0];
  for (const index of filtered(false)) counts[data.hosts[index][WORD]]++;
  WORDS.forEach((word, index) => {
    const button = $("word-" + word);
    button.setAttribute("aria-pressed", state.words.has(index));
    button.classList.toggle("zero", !counts[index]);
    button.querySelector(".n").textContent = number.format(counts[index]);
  });
}
function toggleWord(index) {
  if (!state.words.delete(index)) state.words.add(index);
  apply(false);
}
function makeWords() {
  $("words").append(...WORDS.map((word, index) => {
    const button = make("button", { type: "button", id: "word-" + word, class: "k" + index, title: WORD_HELP[index] + " (key " + (index + 1) + ")" },
      make("span", { class: "n" }), icon(index), make("span", { class: "w" }, word));
    button.onclick = () => toggleWord(index);
    return button;
  }));
}

function fill(select, all, groups, value) {
  select.append(make("option", { value: "" }, all));
  for (const [title, options] of groups) {
    const parent = title ? make("optgroup", { label: title }) : select;
    for (const [option, count] of options) parent.append(make("option", { value: option }, option + " (" + number.format(count) + ")"));
    if (title) select.append(parent);
  }
  // A filter of the address that no host has any more is still shown, so that it can be taken away.
  if (value && ![...select.options].some((option) => option.value === value)) select.append(make("option", { value }, value));
  select.value = value;
}
const LONGEST_LIST = 200;
function makeSelects() {
  const classes = new Map(), labels = new Map();
  for (const host of data.hosts) {
    if (host[CLASS]) classes.set(host[CLASS], (classes.get(host[CLASS]) || 0) + 1);
    for (const label of host[LABELS]) labels.set(label, (labels.get(label) || 0) + 1);
  }
  const sorted = (counts) => [...counts].map(([id, count]) => [text[id], count]).sort((a, b) => compare(a[0], b[0]));
  fill($("class"), "Any link", [["", sorted(classes)]], state.class);
  const groups = new Map();
  for (const [label, count] of sorted(labels)) {
    const name = label.split("=", 1)[0];
    groups.set(name, groups.get(name) || []);
    if (groups.get(name).length < LONGEST_LIST) groups.get(name).push([label, count]);
  }
  fill($("label"), "Any label", groups, state.label);
  $("class").onchange = (event) => { state.class = event.target.value; apply(false); };
  $("label").onchange = (event) => { state.label = event.target.value; apply(false); };
}

function makeOutages() {
  const item = (outage, index) => {
    const button = make("button", { type: "button", "data-outage": index, title: "Show only these hosts" },
      sentence(outage));
    if (outage.more) button.append(make("span", { class: "more" }, outage.more));
    button.onclick = () => { state.outage = state.outage === index ? -1 : index; apply(false); };
    return make("li", { class: outage.open ? "" : "over" }, icon(outage.open ? 2 : 0), button);
  };
  const items = data.outages.map((outage, index) => [outage, item(outage, index)]);
  const open = items.filter(([outage]) => outage.open).map(([, element]) => element);
  const over = items.filter(([outage]) => !outage.open).map(([, element]) => element);
  const others = makeNow();
  $("outages-title").textContent = open.length ? (open.length === 1 ? "1 open outage" : open.length + " open outages")
    : others ? "No open outage" : data.hosts.length ? "All is well" : "No hosts yet";
  $("outages-open").append(...open);
  $("outages-open").hidden = !open.length;
  $("outages-over").hidden = !over.length;
  $("outages-over").querySelector("summary").textContent = over.length + " over";
  $("outages-over").querySelector("ul").append(...over);
}
// What is wrong now and is no outage, in sentences. Each shows its hosts.
const NAMED = 3, LISTED = 20;
function makeNow() {
  const inOutage = new Set();
  for (const outage of data.outages) if (outage.open) for (const host of outage.hosts) inOutage.add(host);
  const silent = [], limited = [], quiet = [];
  // The hosts behind one public address are one line: what is wrong with all of them is one sentence.
  const lines = data.lines.map(([name, word, since]) => ({ name, word, since, hosts: [] })), lineOf = new Map(lines.map((line) => [line.name, line]));
  const place = (index) => (data.hosts[index][WORD] === 2 ? silent : limited).push(index);
  data.hosts.forEach((host, index) => {
    if (host[QUIET]) quiet.push(index);
    else if (host[WORD] === 1 || host[WORD] === 2 && !inOutage.has(index)) {
      const line = lineOf.get(host[LINE]);
      line && line.word === host[WORD] ? line.hosts.push(index) : place(index);
    }
  });
  for (const line of lines) if (line.hosts.length === 1) place(line.hosts.pop());
  const bySince = (a, b) => data.hosts[a][SINCE] - data.hosts[b][SINCE];
  const names = (indexes) => {
    const shown = indexes.slice(0, NAMED).map((index) => data.hosts[index][NAME] || data.hosts[index][ID]);
    return shown.join(", ") + (indexes.length > NAMED ? " and " + number.format(indexes.length - NAMED) + " more" : "");
  };
  const are = (indexes, what) => (indexes.length === 1 ? names(indexes) + " is " + what
    : number.format(indexes.length) + " hosts are " + what + ": " + names(indexes));
  const add = (glyph, words, action) => {
    const button = make("button", { type: "button", title: "Show these hosts" }, words);
    button.onclick = action;
    $("now").append(make("li", { class: "k" + glyph }, icon(glyph), button));
  };
  const only = (word) => () => { state.words = new Set([word]); apply(false); };
  if (!data.engine.ok) $("now").append(make("li", {}, icon(2), data.engine.text));
  const down = lines.filter((line) => line.hosts.length).sort((a, b) => b.word - a.word || b.hosts.length - a.hosts.length);
  for (const line of down.slice(0, LISTED)) add(line.word, "line " + text[line.name] + " is " + WORDS[line.word] + (line.since ? " since " + moment(line.since) : "") + ": " + names(line.hosts), () => {
    state.words = new Set([line.word]);
    state.text = $("search").value = text[line.name];
    apply(false);
  });
  for (const line of down.slice(LISTED)) line.hosts.forEach(place);
  if (silent.length) {
    silent.sort(bySince);
    const longest = data.hosts[silent[0]][SINCE];
    add(2, are(silent, inOutage.size ? "silent without an outage" : down.length ? "silent, too" : "silent") + (longest ? (silent.length === 1 ? ", since " : "; the first since ") + moment(longest) : ""), only(2));
  }
  if (limited.length) {
    const reasons = new Map();
    for (const index of limited) {
      const why = text[data.hosts[index][WHY]] || "trouble";
      reasons.set(why, [...(reasons.get(why) || []), index]);
    }
    const sorted = [...reasons].sort((a, b) => b[1].length - a[1].length).slice(0, NAMED);
    for (const [why, indexes] of sorted) add(1, are(indexes.sort(bySince), shownWord(data.hosts[indexes[0]])) + " (" + why + ")", () => {
      state.words = new Set([1]);
      state.text = $("search").value = why;
      apply(false);
    });
  }
  if (quiet.length) add(3, are(quiet, "quiet") + " (" + text[data.hosts[quiet[0]][QUIET]] + ")", () => { state.text = $("search").value = "quiet"; apply(false); });
  if (!$("now").children.length && !data.outages.some((outage) => outage.open) && data.hosts.length) {
    const online = data.hosts.filter((host) => host[WORD] === 0).length;
    $("now").append(make("li", { class: "over" }, icon(0), number.format(online) + " of " + number.format(data.hosts.length) + " hosts are online, and nothing is wrong"));
  }
  return down.length + silent.length + limited.length + (data.engine.ok ? 0 : 1);
}
function showOutageChoice() {
  for (const button of document.querySelectorAll("[data-outage]")) button.setAttribute("aria-pressed", +button.dataset.outage === state.outage);
}

// The timeline of one host ----------------------------------------------------------------------------------------------
function openHost(position, focus) {
  const host = data.hosts[list[position]];
  if (!host) return;
  chosen = position;
  state.open = host[ID];
  showPanel(list[position]);
  render();
  writeState();
  if (focus) $("panel").focus();
}
function closePanel() {
  if ($("panel").hidden) return false;
  $("panel").hidden = true;
  state.open = "";
  render();
  writeState();
  $("grid").focus();
  return true;
}
function showPanel(index) {
  const host = data.hosts[index];
  const close = make("button", { type: "button", "aria-label": "Close the timeline" }, "Close");
  close.onclick = closePanel;
  const facts = make("dl");
  const fact = (name, value) => { if (value) facts.append(make("dt", {}, name), make("dd", {}, value)); };
  fact("Since", host[SINCE] && moment(host[SINCE]) + " (" + ago(host[SINCE]) + ")");
  fact("Why", text[host[WHY]] && text[host[WHY]] + (host[PRESUMED] ? " (presumed: the host has not said so itself yet)" : ""));
  fact("Last seen", host[SEEN] && moment(host[SEEN]) + " (" + ago(host[SEEN]) + " ago)");
  fact("Link", text[host[CLASS]]);
  fact("Line", text[host[LINE]]);
  const labels = make("span", {});
  host[LABELS].forEach((label, at) => {
    const link = make("a", { href: "#label=" + encodeURIComponent(text[label]) }, text[label]);
    link.onclick = (event) => { event.preventDefault(); state.label = $("label").value = text[label]; closePanel(); apply(false); };
    labels.append(at ? ", " : "", link);
  });
  if (host[LABELS].length) facts.append(make("dt", {}, "Labels"), make("dd", {}, labels));
  fact("Available", percent(availability(host)) && percent(availability(host)) + " since " + moment(knownFrom(host[INDEX])));
  fact("Quiet", text[host[QUIET]]);
  fact("Behind", host[BEHIND] ? number.format(host[BEHIND]) + " events wait on the host" : "");
  fact("Identity", host[NAME] ? host[ID] : "");
  const body = make("div", { class: "body" });
  if (host[NOTE]) body.append(make("p", { class: "note" }, text[host[NOTE]]));
  body.append(facts, make("h3", {}, "Timeline"), timeline(data.timelines[index]));
  $("panel").replaceChildren(make("div", { class: "top" }, make("div", {}, make("h2", { id: "panel-title" }, host[NAME] || host[ID]),
    make("p", { class: "word k" + host[WORD] }, icon(host[WORD]), shownWord(host))), close), body);
  $("panel").hidden = false;
}
function timeline(events) {
  if (!events || !events.length) return make("p", { class: "dim" }, "No events of this host are in the time that this page shows.");
  const items = make("ol", { class: "time" });
  let last = "";
  for (const [time, kind, what, why, own] of events) {
    if (dayKey(time) !== last) {
      last = dayKey(time);
      items.append(make("li", { class: "day" }, day.format(time)));
    }
    const at = make("span", { class: "at", title: full(time) }, clock.format(time));
    const body = make("div", {}, make("p", { class: "what" }, at, " " + text[what]));
    if (text[why]) body.append(make("p", { class: "why" }, text[why]));
    if (own) body.append(make("p", { class: "why" }, own === 1 ? "by the host's own clock" : "the host's clock showed " + full(own)));
    const glyph = icon(kind);
    glyph.setAttribute("class", "k" + kind);
    items.append(make("li", {}, glyph, body));
  }
  return items;
}

// The keyboard -------------------------------------------------------------------------------------------------------
function choose(position) {
  if (!list.length) return;
  chosen = Math.min(list.length - 1, Math.max(0, position));
  const grid = $("grid"), top = chosen * ROW;
  if (top < grid.scrollTop) grid.scrollTop = top;
  else if (top + ROW + HEAD > grid.scrollTop + grid.clientHeight) grid.scrollTop = top + ROW + HEAD - grid.clientHeight;
  render();
  if (!$("panel").hidden) openHost(chosen, false);
}
$("grid").addEventListener("keydown", (event) => {
  if (event.target !== $("grid") || event.ctrlKey || event.metaKey || event.altKey) return;
  const page = Math.max(1, Math.floor(($("grid").clientHeight - HEAD) / ROW) - 1);
  const moves = { ArrowDown: chosen + 1, ArrowUp: chosen - 1, PageDown: chosen + page, PageUp: chosen - page, Home: 0, End: list.length - 1 };
  if (event.key in moves) choose(moves[event.key]);
  else if (event.key === "Enter" || event.key === " ") openHost(chosen, true);
  else return;
  event.preventDefault();
});
$("grid").addEventListener("click", (event) => {
  const row = event.target.closest(".row");
  if (row) openHost(+row.id.slice(1), false);
});
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.matches("input, select");
  if (event.key === "Escape") {
    if (event.target === $("search") && state.text) { $("search").value = ""; search(); }
    else if (event.target === $("search")) $("grid").focus();
    else closePanel();
  } else if (typing) {
    if (event.target === $("search") && (event.key === "ArrowDown" || event.key === "Enter")) { $("grid").focus(); event.preventDefault(); }
  } else if (event.key === "/") { $("search").focus(); event.preventDefault(); }
  else if (/^Arrow(Down|Up)$/.test(event.key) && event.target === document.body) { $("grid").focus(); event.preventDefault(); }
  else if (event.key >= "1" && event.key <= "5") toggleWord(event.key - 1);
});
let waiting = 0;
function search() {
  cancelAnimationFrame(waiting);
  waiting = requestAnimationFrame(() => { state.text = $("search").value.trim(); apply(false); });
}
$("search").addEventListener("input", search);
$("clear").onclick = () => {
  Object.assign(state, { words: new Set(), text: "", class: "", label: "", outage: -1, during: false, from: DAY_BEGIN, to: data.asOf });
  $("search").value = $("class").value = $("label").value = "";
  apply(false);
  $("grid").focus();
};
let drawn = 0;
$("grid").addEventListener("scroll", () => { cancelAnimationFrame(drawn); drawn = requestAnimationFrame(render); }, { passive: true });
addEventListener("resize", () => render());
// On paper there is no scrolling: the first rows are all there.
const PRINTED = 2000;
let isPrinting = false;
addEventListener("beforeprint", () => { isPrinting = true; render(); });
addEventListener("afterprint", () => { isPrinting = false; render(); });
// A link within the page, or one that somebody typed, shows another view.
addEventListener("hashchange", () => {
  Object.assign(state, { words: new Set(), text: "", class: "", label: "", outage: -1, during: false, from: 0, to: 0, open: "" });
  readState();
  $("search").value = state.text;
  $("class").value = state.class;
  $("label").value = state.label;
  apply(false);
});

// Age and reloading ---------------------------------------------------------------------------------------------------
const loaded = Date.now();
// What the server said last, if one serves this page: it says when there is news.
let written = data.written, asOf = data.asOf, isNews = false, events = null;
function listen() {
  if (data.live < 0) return;
  if (document.hidden) { events?.close(); events = null; return; }
  if (events) return;
  events = new EventSource("events");
  events.addEventListener("fleet", (event) => {
    const said = JSON.parse(event.data);
    [written, asOf] = [said.written, said.asOf];
    isNews = said.live !== data.live;
    tick();
  });
}
document.addEventListener("visibilitychange", listen);
const isDue = () => (data.live < 0 ? data.interval && Date.now() - loaded > data.interval * 1000 : isNews);
// The page is old when two more should have been written since, and never before a minute.
const OLD = Math.max(60e3, 3e3 * data.interval);
let touched = 0;
for (const kind of ["pointerdown", "wheel", "keydown"]) addEventListener(kind, () => { touched = Date.now(); }, { passive: true, capture: true });

function tick() {
  const age = Date.now() - written;
  $("asof").textContent = "as of " + moment(asOf) + " (" + span(Date.now() - asOf) + " ago)";
  $("asof").title = full(asOf);
  const behind = written - asOf;
  $("old").textContent = age < -60e3 ? "This browser's clock is " + span(-age) + " behind the machine that wrote this page, or that one is ahead."
    : age > OLD ? "This page was written " + span(age) + " ago" + (data.interval ? ", and should be written every " + span(data.interval * 1000) : "") + ". Hosts may be in another state now."
    : behind > OLD ? "The engine last answered " + span(behind) + " before this page was written. Hosts may be in another state now." : "";
  $("old").hidden = !$("old").textContent;
  // It does not reload under somebody's hands.
  if (isDue() && !state.paused && !document.hidden && Date.now() - touched > 4000) {
    try { sessionStorage.setItem("reach-fleet", JSON.stringify({ top: $("grid").scrollTop, chosen, focus: document.activeElement.id })); } catch { /* private */ }
    location.reload();
  }
}
function restore() {
  let kept = null;
  try { kept = JSON.parse(sessionStorage.getItem("reach-fleet")); sessionStorage.removeItem("reach-fleet"); } catch { /* private */ }
  if (!kept) return;
  $("grid").scrollTop = kept.top;
  chosen = Math.min(kept.chosen, Math.max(0, list.length - 1));
  render();
  if (kept.focus && $(kept.focus)) $(kept.focus).focus({ preventScroll: true });
}

// Begin -----------------------------------------------------------------------------------------------------------------
const silent = data.hosts.reduce((sum, host) => sum + (host[WORD] === 2), 0);
$("title").textContent = data.title;
document.title = (silent ? number.format(silent) + " silent · " : "") + data.title;
if (data.known) {
  $("known").textContent = "past outages and events since " + moment(data.known) + (data.cut ? "; older ones are not read" : "");
  $("known").title = full(data.known);
  $("known").hidden = false;
}
$("engine").className = "engine " + (data.engine.ok ? "ok" : "bad");
$("engine").append(icon(data.engine.ok ? 0 : 2), [data.engine.text, ...data.engine.notes].filter(Boolean).join("; "));
readState();
makeWords();
makeSelects();
makeOutages();
makeDay();
$("search").value = state.text;
$("pause").hidden = !data.interval;
const showPause = () => {
  $("pause").setAttribute("aria-pressed", state.paused);
  $("pause").textContent = state.paused ? "Resume" : "Pause";
  $("pause").title = "This page loads itself again " + (data.live < 0 ? "every " + span(data.interval * 1000) : "when there is news");
};
$("pause").onclick = () => { state.paused = !state.paused; showPause(); writeState(); };
showPause();
apply(true);
restore();
if (state.open) {
  const position = list.findIndex((index) => data.hosts[index][ID] === state.open);
  if (position >= 0) openHost(position, false);
  else state.open = "";
}
tick();
listen();
setInterval(tick, 1000);
document.documentElement.dataset.ready = Math.round(performance.now());
})();
