// The report's script: the heat map, cases and bugs that are loaded on demand, filters, keyboard and theme.
// Data files call halcyon(); they are scripts, because pages opened from disk may not fetch files.
"use strict";

// ---- theme, before the page is drawn

const themes = ["light", "dark"];
const root = document.documentElement;
function stored(key, value) {
  try {
    if (value === undefined) return localStorage.getItem(key);
    localStorage.setItem(key, value);
  } catch (error) { /* storage may be denied to pages from disk */ }
  return null;
}
function currentTheme() {
  return root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
}
{
  const wanted = new URLSearchParams(location.search).get("theme") || stored("halcyon-theme");
  if (themes.includes(wanted)) root.dataset.theme = wanted;
}
function toggleTheme() {
  root.dataset.theme = currentTheme() === "dark" ? "light" : "dark";
  stored("halcyon-theme", root.dataset.theme);
}

// ---- data files

const loading = new Map();
let facts = {};
function halcyon(key, data) {
  if (key === "facts") facts = data;
  loading.get(key)?.done(data);
}
window.halcyon = halcyon;
function load(key) {
  if (!loading.has(key)) {
    const entry = {};
    entry.promise = new Promise((done, failed) => {
      entry.done = done;
      const script = document.createElement("script");
      script.src = `data/${key}.js`;
      script.onerror = () => { loading.delete(key); failed(new Error(`data/${key}.js cannot be read`)); };
      script.onload = () => script.remove();
      document.head.append(script);
    });
    loading.set(key, entry);
  }
  return loading.get(key).promise;
}
const four = (n) => String(n).padStart(4, "0");

// ---- small helpers

const byId = (id) => document.getElementById(id);
const grouped = (n) => n.toLocaleString("en");
const counted = (n, one) => `${grouped(n)} ${one}${n === 1 ? "" : "s"}`;
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {}))
    if (value !== undefined && value !== null && value !== false) element.setAttribute(name, value === true ? "" : value);
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}
// A name that may be broken behind "_".
function breakable(name) {
  return name.split(/(?<=_)/).flatMap((word) => [word, make("wbr")]);
}
function say(text) {
  const said = byId("said");
  said.textContent = text;
  said.classList.add("shown");
  clearTimeout(say.timer);
  say.timer = setTimeout(() => said.classList.remove("shown"), 1600);
}
function badge(verdict) {
  return make("span", { class: `badge v-${verdict}` }, verdict);
}
function time(ms) {
  if (ms < 1) return `${(ms * 1000).toFixed(0)} \u00b5s`;
  if (ms < 1000) return `${ms.toFixed(1)} ms`;
  return ms < 120e3 ? `${(ms / 1000).toFixed(1)} s` : `${(ms / 60e3).toFixed(1)} min`;
}
function shellWord(text) {
  return /^[\w/:.=,@+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
function copy(text) {
  const done = () => say("copied");
  if (navigator.clipboard && window.isSecureContext) {
    navigator.clipboard.writeText(text).then(done, () => copyByArea(text, done));
    return;
  }
  copyByArea(text, done);
}
function copyByArea(text, done) {
  const area = make("textarea", { "aria-hidden": "true", class: "said" });
  area.value = text;
  document.body.append(area);
  area.select();
  if (document.execCommand("copy")) done();
  area.remove();
}
// A fragment that the report has written; everything from outside is escaped in it.
function fragment(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content;
}

// ---- bugs

let bugFiles = 0;
async function moreBugs() {
  if (bugFiles >= facts.bugFiles) return false;
  const cards = await load(`bugs-${four(++bugFiles)}`);
  const list = byId("list");
  for (const card of cards) list.append(fragment(card));
  if (bugFiles >= facts.bugFiles) byId("more-bugs").hidden = true;
  filterBugs();
  return true;
}
function filterBugs() {
  const input = byId("filter");
  if (!input) return;
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0, all = 0;
  for (const bug of document.querySelectorAll(".bug")) {
    const text = bug.textContent.toLowerCase();
    const matches = words.every((word) => text.includes(word));
    bug.hidden = !matches;
    shown += matches;
    all++;
  }
  byId("filtered").textContent = words.length ? `${grouped(shown)} of ${counted(all, "bug")}` : "";
}
async function filterAll() {
  while (byId("filter").value && await moreBugs());
  filterBugs();
}
async function showBug(id) {
  while (!byId(id) && await moreBugs());
  const bug = byId(id);
  if (!bug) return;
  bug.hidden = false;
  bug.querySelector("details").open = true;
  bug.scrollIntoView({ block: "start" });
  bug.focus({ preventScroll: true });
}
function step(by) {
  const bugs = [...document.querySelectorAll(".bug")].filter((bug) => !bug.hidden);
  const at = bugs.indexOf(document.activeElement.closest(".bug"));
  const next = bugs[Math.min(Math.max(at + by, 0), bugs.length - 1)];
  if (!next) return;
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: "start" });
  if (at + by >= bugs.length) moreBugs();
}

// ---- the matrix

const roles = ["failed", "suspect", "others failed", "passed", "undecided", "waived", "unsupported", "not run"];
const [FAILED, SUSPECT, OTHER, PASSED, UNDECIDED, WAIVED, UNSUPPORTED] = [0, 1, 2, 3, 4, 5, 6];
const heat = { target: -1, order: "wrong", words: "" };
function paint(n) {
  const ran = n[FAILED] + n[PASSED] + n[UNDECIDED] + n[WAIVED];
  if (n[FAILED]) {
    const share = n[FAILED] / ran;
    return `h-fail l${share > 0.5 ? 4 : share > 0.1 ? 3 : share > 0.01 ? 2 : 1}`;
  }
  if (n[SUSPECT]) return "h-suspect";
  if (n[PASSED]) return `h-pass l${n[PASSED] >= 100 ? 3 : n[PASSED] >= 10 ? 2 : 1}${n[UNSUPPORTED] ? " part" : ""}`;
  if (n[WAIVED]) return "h-waived";
  if (n[UNDECIDED]) return "h-undecided";
  return n[UNSUPPORTED] ? "h-unsupported" : "h-none";
}
function describe(n) {
  return roles.map((role, i) => (n[i] ? `${n[i]} ${role}` : "")).filter(Boolean).join(", ");
}
function drawHeat() {
  const types = [...new Set(facts.pairs.map((pair) => pair[1]))].sort();
  const targets = facts.targets.map((_, t) => t).filter((t) => heat.target < 0 || heat.target === t);
  const rows = new Map();
  for (const [index, [operation, type]] of facts.pairs.entries()) {
    if (!rows.has(operation)) rows.set(operation, { operation, failed: 0, suspect: 0, of: {} });
    rows.get(operation).of[type] = index;
  }
  const cells = new Map();
  for (const [pair, target, ...n] of facts.cells) {
    cells.set(`${pair}/${target}`, n);
    if (!targets.includes(target)) continue;
    const row = rows.get(facts.pairs[pair][0]);
    row.failed += n[FAILED];
    row.suspect += n[SUSPECT];
  }
  const words = heat.words.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = [...rows.values()].filter((row) => words.every((word) => row.operation.toLowerCase().includes(word)));
  shown.sort((a, b) => (heat.order === "wrong" ? b.failed - a.failed || b.suspect - a.suspect : 0) ||
    (a.operation < b.operation ? -1 : 1));
  const table = make("table", { class: "heat" });
  const head = make("tr", null, make("th", { scope: "col" }, "operation"));
  for (const type of types) head.append(make("th", { scope: "col" }, ...breakable(type.replace("TENSOR_", ""))));
  table.append(make("thead", null, head));
  const body = make("tbody");
  for (const row of shown) {
    const line = make("tr", null, make("th", { scope: "row" }, ...breakable(row.operation)));
    for (const type of types) {
      const pair = row.of[type];
      if (pair === undefined) { line.append(make("td")); continue; }
      const parts = [], texts = [];
      for (const target of targets) {
        const n = cells.get(`${pair}/${target}`);
        const mark = n && (n[FAILED] || n[SUSPECT]);
        parts.push(make("i", { class: n ? paint(n) : "h-none", "aria-hidden": "true" }, mark && targets.length < 4 ? String(mark > 999 ? "1k+" : mark) : ""));
        if (n) texts.push(`${facts.targets[target]}: ${describe(n) || "nothing"}`);
      }
      line.append(make("td", null, make("button", { type: "button", class: "cell", "data-pair": pair,
        "aria-label": `${row.operation} ${type}: ${texts.join("; ") || "not run"}`, title: texts.join("\n") }, ...parts)));
    }
    body.append(line);
  }
  table.append(body);
  byId("heat").replaceChildren(table);
  byId("heat-targets").textContent = targets.length > 1 ? `In each field, from the left: ${targets.map((t) => facts.targets[t]).join(", ")}.` : "";
}
function heatTools() {
  const target = make("select", null, make("option", { value: -1 }, "all targets"),
    ...facts.targets.map((uri, t) => make("option", { value: t }, uri)));
  const order = make("select", null, make("option", { value: "wrong" }, "wrong first"), make("option", { value: "name" }, "by name"));
  const words = make("input", { type: "search", placeholder: "operation", autocomplete: "off" });
  target.onchange = () => { heat.target = Number(target.value); drawHeat(); };
  order.onchange = () => { heat.order = order.value; drawHeat(); };
  words.oninput = () => { heat.words = words.value; drawHeat(); };
  byId("heat-tools").append(make("label", null, "Filter ", words), make("label", null, "Target ", target), make("label", null, "Order ", order));
}
function drill(pair) {
  const [operation, type] = facts.pairs[pair];
  const lines = facts.cells.filter(([p]) => p === pair);
  const seenRoles = roles.map((_, i) => i).filter((i) => i === FAILED || i === PASSED || lines.some((line) => line[2 + i]));
  const head = make("tr", null, make("th", { scope: "col" }, "target"),
    ...seenRoles.map((i) => make("th", { scope: "col", class: "n" }, roles[i])), make("td"));
  const body = make("tbody");
  for (const [, target, ...n] of lines) {
    const link = make("a", { href: `#cases?pair=${pair}&target=${target}` }, "cases");
    body.append(make("tr", null, make("th", { scope: "row" }, facts.targets[target]),
      ...seenRoles.map((i) => make("td", { class: `n${n[i] ? i === FAILED ? " hot" : "" : " zero"}` }, grouped(n[i]))), make("td", null, link)));
  }
  const bugs = make("ul", { class: "plain" });
  const seen = new Map();
  for (const [p, target, bug, n] of facts.cellBugs)
    if (p === pair) seen.set(bug, (seen.get(bug) || 0) + n);
  for (const [bug, n] of seen) {
    const known = facts.bugs[bug];
    const link = known ? make("a", { href: `#bug-${known[0]}` }, known[3]) : make("a", { href: `#cases?bug=${bug}` }, `bug ${bug + 1}`);
    bugs.append(make("li", null, link, ` ${counted(n, "case")}`));
  }
  byId("drill-body").replaceChildren(make("h2", { id: "h-drill" }, `${operation} `, make("small", null, type)),
    make("div", { class: "scroll", tabindex: 0 }, make("table", null, make("thead", null, head), body)),
    seen.size ? make("h3", null, "Bugs") : make("p", { class: "none" }, "No bug is seen here."), bugs);
  byId("drill").showModal();
  byId("drill").querySelector("[data-close]").focus();
}

// ---- cases

const cases = { q: "", verdict: "", target: "", bug: "", pair: "", at: 0, end: 0, shown: 0, run: 0 };
function caseRange() {
  if (cases.bug !== "" && facts.bugs[cases.bug]) {
    const [, first, n] = facts.bugs[cases.bug];
    return [first, first + n];
  }
  const verdict = facts.verdicts.indexOf(cases.verdict);
  const wrongEnd = facts.ranges.length ? Math.min(...facts.ranges.map((range) => range[1])) : facts.rows;
  if (verdict < 0) return [0, facts.rows];
  const range = facts.ranges.find(([v]) => v === verdict);
  return range ? [range[1], range[1] + range[2]] : [0, wrongEnd];
}
function matchesCase(row, words) {
  const [name, target, verdict, , , bug, pairs] = row;
  return (cases.verdict === "" || facts.verdicts[verdict] === cases.verdict) && (cases.target === "" || target === Number(cases.target)) &&
    (cases.bug === "" || bug === Number(cases.bug)) && (cases.pair === "" || pairs.includes(Number(cases.pair))) &&
    (!words.length || words.every((word) => name.toLowerCase().includes(word)));
}
function caseLine(row, index) {
  const [name, target, verdict, ms, ratio] = row;
  const button = make("button", { type: "button", class: "case", "aria-expanded": "false", "data-row": index },
    badge(facts.verdicts[verdict]), make("span", { class: "name" }, name), make("span", { class: "target" }, facts.targets[target]),
    make("span", { class: "n" }, ratio === null ? "" : `${ratio.toPrecision(3)}\u00d7`), make("span", { class: "n" }, time(ms)));
  const item = make("div", { class: "item" }, button);
  button.onclick = () => openCase(item, button, row, index);
  return item;
}
async function openCase(item, button, row, index) {
  const open = item.querySelector(".detail");
  if (open) { open.remove(); button.setAttribute("aria-expanded", "false"); return; }
  const detail = make("div", { class: "detail" });
  item.append(detail);
  button.setAttribute("aria-expanded", "true");
  let file = -1;
  while (file + 1 < facts.details.length && facts.details[file + 1] <= index) file++;
  const data = file < 0 || row[5] < 0 ? [] : await load(`details-${four(file + 1)}`);
  const html = file < 0 || row[5] < 0 ? null : data[index - facts.details[file]];
  if (html) { detail.append(fragment(html)); return; }
  const command = `halcyon replay ${shellWord(row[0])} -d ${shellWord(facts.targets[row[1]])}`;
  detail.append(make("p", { class: "soft" }, row[5] < 0 ? "Conforms." : "This report has no more of it; the database has."),
    make("div", { class: "command" }, make("code", null, command), make("button", { type: "button", "data-copy": true }, "copy")));
}
async function moreCases(most) {
  const run = cases.run;
  const words = cases.q.toLowerCase().split(/\s+/).filter(Boolean);
  const list = byId("case-list");
  const until = cases.shown + most;
  while (cases.at < cases.end && cases.shown < until) {
    const file = Math.floor(cases.at / facts.rowsInFile);
    let rows;
    try { rows = await load(`cases-${four(file + 1)}`); } catch (error) { say(error.message); return; }
    if (run !== cases.run) return;
    const part = document.createDocumentFragment();
    const last = Math.min(cases.end, (file + 1) * facts.rowsInFile);
    for (; cases.at < last && cases.shown < until; cases.at++) {
      const row = rows[cases.at - file * facts.rowsInFile];
      if (!row || !matchesCase(row, words)) continue;
      part.append(caseLine(row, cases.at));
      cases.shown++;
    }
    list.append(part);
  }
  const [first] = caseRange();
  const done = cases.at >= cases.end;
  byId("case-count").textContent = `${counted(cases.shown, "case")} shown` +
    (done ? "" : `; ${grouped(cases.at - first)} of ${counted(cases.end - first, "verdict")} searched`);
  byId("more-cases").hidden = done;
  byId("more-cases").textContent = "Show more cases";
}
function searchCases() {
  cases.run++;
  [cases.at, cases.end] = caseRange();
  cases.shown = 0;
  byId("case-list").replaceChildren();
  const chips = byId("case-chips");
  chips.replaceChildren();
  for (const [name, text] of [["bug", cases.bug !== "" ? facts.bugs[cases.bug]?.[3] || `bug ${Number(cases.bug) + 1}` : ""],
    ["pair", cases.pair !== "" ? facts.pairs[cases.pair]?.join(" ") : ""]]) {
    if (!text) continue;
    const chip = make("button", { type: "button", class: "chip", "aria-label": `remove the filter ${text}` }, `${text} \u00d7`);
    chip.onclick = () => { cases[name] = ""; keepCases(); searchCases(); };
    chips.append(chip);
  }
  return moreCases(100);
}
function keepCases() {
  const kept = new URLSearchParams();
  for (const name of ["q", "verdict", "target", "bug", "pair"]) if (cases[name] !== "") kept.set(name, cases[name]);
  try { history.replaceState(null, "", `#cases${kept.size ? `?${kept}` : ""}`); } catch (error) { /* not for pages from disk */ }
}
function wantCases(query) {
  const wanted = new URLSearchParams(query);
  for (const name of ["q", "verdict", "target", "bug", "pair"]) cases[name] = wanted.get(name) || "";
  byId("case-filter").value = cases.q;
  byId("case-verdict").value = cases.verdict;
  byId("case-target").value = cases.target;
  return searchCases().then(() => byId("cases").scrollIntoView());
}
function caseTools() {
  const verdict = byId("case-verdict"), target = byId("case-target"), words = byId("case-filter");
  for (const [i, name] of facts.verdicts.entries())
    if (facts.counts[i]) verdict.append(make("option", { value: name }, `${name} (${grouped(facts.counts[i])})`));
  for (const [t, uri] of facts.targets.entries()) target.append(make("option", { value: t }, uri));
  const changed = () => {
    Object.assign(cases, { q: words.value.trim(), verdict: verdict.value, target: target.value });
    keepCases();
    searchCases();
  };
  verdict.onchange = changed;
  target.onchange = changed;
  words.oninput = () => { clearTimeout(words.timer); words.timer = setTimeout(changed, 200); };
  byId("more-cases").onclick = () => (cases.run ? moreCases(100) : searchCases());
}

// ---- navigation

function follow() {
  const hash = decodeURIComponent(location.hash.slice(1));
  for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
  if (/^bug-[0-9a-f]{8}$/.test(hash)) showBug(hash);
  else if (hash.startsWith("cases?") && byId("cases")) wantCases(hash.slice(6));
  else if (hash && byId(hash)) {
    byId(hash).closest("details")?.setAttribute("open", "");
    byId(hash).scrollIntoView();
  }
}
function watchSections() {
  const links = new Map([...document.querySelectorAll("nav a")].map((link) => [link.hash.slice(1), link]));
  for (const [id, link] of links) if (!byId(id)) link.remove();
  const observer = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      for (const link of links.values()) link.removeAttribute("aria-current");
      const link = links.get(entry.target.id);
      if (!link) continue;
      link.setAttribute("aria-current", "true");
      const row = link.parentElement;
      row.scrollTo({ left: link.offsetLeft - row.offsetLeft - (row.clientWidth - link.offsetWidth) / 2 });
    }
  }, { rootMargin: "-20% 0px -75% 0px" });
  for (const section of document.querySelectorAll("section[id]")) observer.observe(section);
}
const keys = {
  j: () => step(1),
  k: () => step(-1),
  o: () => { const more = document.activeElement.closest(".bug")?.querySelector("details"); if (more) more.open = !more.open; },
  c: () => { const line = (document.activeElement.closest(".bug") || document.querySelector(".bug"))?.querySelector(".command code"); if (line) copy(line.textContent); },
  "/": () => byId("filter")?.focus(),
  s: () => { byId("cases")?.scrollIntoView(); byId("case-filter")?.focus(); },
  t: toggleTheme,
  "?": () => byId("keys").showModal(),
};
function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea, dialog")) return;
  const link = /^[1-9]$/.test(event.key) && document.querySelectorAll("nav a")[Number(event.key) - 1];
  if (link) byId(link.hash.slice(1))?.scrollIntoView();
  else if (keys[event.key]) keys[event.key]();
  else return;
  event.preventDefault();
}
function onClick(event) {
  const button = event.target.closest("button");
  if (!button) return;
  if (button.dataset.copy !== undefined) copy(button.parentElement.querySelector("code").textContent);
  else if (button.dataset.pair) drill(Number(button.dataset.pair));
  else if (button.dataset.close !== undefined) button.closest("dialog").close();
}

document.addEventListener("DOMContentLoaded", () => {
  document.addEventListener("click", onClick);
  document.addEventListener("keydown", onKey);
  window.addEventListener("hashchange", follow);
  byId("theme").onclick = toggleTheme;
  byId("help").onclick = () => byId("keys").showModal();
  if (byId("filter")) byId("filter").oninput = () => { clearTimeout(filterBugs.timer); filterBugs.timer = setTimeout(filterAll, 150); };
  byId("more-bugs")?.addEventListener("click", moreBugs);
  if (byId("heat")) { heatTools(); drawHeat(); }
  if (byId("cases")) caseTools();
  watchSections();
  if (location.hash) follow();
});
