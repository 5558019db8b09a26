"use strict";
// Everything from a row goes through textContent: markup in data stays text.
const waiting = {}, pieces = {};
const body = document.body, names = body.dataset.chunks.split(" ").filter(Boolean);
const pages = names.filter((name) => name.startsWith("rows-"));

window.synthChunk = (name, value) => {
  pieces[name] = value;
  if (waiting[name]) { waiting[name].forEach((go) => go(value)); delete waiting[name]; }
};

function piece(name) {
  if (pieces[name]) return Promise.resolve(pieces[name]);
  const inside = document.getElementById("chunk-" + name);
  if (inside) { pieces[name] = JSON.parse(inside.textContent); return Promise.resolve(pieces[name]); }
  return new Promise((go, fail) => {
    if (waiting[name]) { waiting[name].push(go); return; }
    waiting[name] = [go];
    const script = document.createElement("script");
    script.src = body.dataset.beside + "/" + name + ".js";
    script.onerror = () => { delete waiting[name]; fail(new Error(script.getAttribute("src") + " is missing")); };
    document.head.append(script);
  });
}

function make(tag, text, style) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (style) made.className = style;
  return made;
}

const tones = { correct: "good", wrong: "bad", unjudged: "flat", "not judged": "flat" };

function item(of) {
  const box = make("div", undefined, "item " + of.who);
  const head = make("div", of.who, "who");
  if (of.label !== undefined) {
    const sign = of.label === null ? "no label" : of.label > 0 ? "+1" : String(of.label);
    head.append(" · ", make("span", [sign, of.reason, ...of.flags].join(" · "), of.label > 0 ? "good" : of.label < 0 ? "bad" : "flat"));
  }
  box.append(head);
  if (of.thought) box.append(make("div", of.thought, "thought"));
  box.append(make("div", of.text));
  return box;
}

function facts(rows) {
  const table = make("table");
  for (const [name, value, tone] of rows) {
    if (value === "" || value === null || value === undefined) continue;
    const row = make("tr");
    row.append(make("th", name), make("td", String(value), tone));
    table.append(row);
  }
  return table;
}

// A list of a section: all its pieces are searched, one after the other, as far as a screen of hits needs.
const SCREEN = 50;

function listing(section, prefix, wanted, line) {
  const own = document.getElementById(section), form = own.querySelector("form"), list = own.querySelector(".list tbody");
  const status = own.querySelector(".status"), back = own.querySelector(".back"), on = own.querySelector(".on");
  const pages = names.filter((name) => name.startsWith(prefix));
  let first = 0, turn = 0;

  async function show() {
    const mine = ++turn, hits = [], words = form.words.value.toLowerCase().split(/\s+/).filter(Boolean);
    let looked = 0, more = false;
    for (const name of pages) {
      const rows = await piece(name);
      if (mine !== turn) return;
      looked += 1;
      for (const row of rows) if (wanted(form, row, words)) hits.push(row);
      if (hits.length > first + SCREEN) { more = true; break; }
      if (looked % 20 === 0) status.textContent = "searched " + looked + " of " + pages.length + " pieces";
    }
    list.replaceChildren(...hits.slice(first, first + SCREEN).map(line));
    const last = Math.min(first + SCREEN, hits.length);
    status.textContent = hits.length ? "rows " + (first + 1) + " to " + last + (more ? "" : " of " + hits.length) : "no row";
    back.disabled = first === 0;
    on.disabled = hits.length <= first + SCREEN;
  }

  form.addEventListener("submit", (event) => { event.preventDefault(); first = 0; show(); });
  form.addEventListener("change", () => { first = 0; show(); });
  back.addEventListener("click", () => { first = Math.max(0, first - SCREEN); show(); });
  on.addEventListener("click", () => { first += SCREEN; show(); });
  return { form, list, pages, show };
}

const has = (cells, words) => { const text = cells.join(" ").toLowerCase(); return words.every((word) => text.includes(word)); };
const runs = listing("rows", "rows-", (form, row, words) =>
  (!form.role.value || row[1] === form.role.value) && (!form.mark.value || row[2] === form.mark.value)
    && (!form.whole.checked || row[11] >= 0) && has([row[0], row[3], row[4], row[5], row[8], row[9], row[10]], words),
(row) => {
  const line = make("tr");
  line.tabIndex = 0;
  line.append(make("td", row[1]), make("td", row[2], tones[row[2]]), make("td", row[3]), make("td", String(row[6])),
    make("td", row[8]), make("td", row[9]), make("td", row[10]));
  line.addEventListener("click", () => open(row));
  line.addEventListener("keydown", (event) => { if (event.key === "Enter") open(row); });
  return line;
});

async function open(row) {
  const article = document.getElementById("whole");
  article.hidden = false;
  article.replaceChildren(make("h3", row[8]));
  const told = row[11] < 0 ? null : (await piece("whole-" + String(row[11]).padStart(5, "0")))[row[0]];
  article.append(facts([["trajectory", row[0]], ["role", row[1]], ["outcome", row[2], tones[row[2]]], ["gold answer", row[9]],
    ["answer", row[10]], ["verdict", told && told.verdict], ["model", told && told.model], ["ended", row[5]], ["split", row[4]]]));
  if (!told) { article.append(make("p", "The report shows this one in the list only: synth show DIR --id " + row[0])); }
  else {
    if (told.evidence.length) article.append(make("h4", "Evidence"));
    article.append(facts(told.evidence.map((hop) => [hop.hop, "“" + hop.quote + "” (" + hop.document + ")"])));
    article.append(make("h4", "Run"), ...told.items.map(item));
  }
  article.scrollIntoView({ block: "start" });
}

const views = {
  critical(of) {
    const card = make("div", undefined, "card");
    card.append(make("h3", of.question), facts([["gold answer", of.gold], ["kind", of.kind + ", " + of.family],
      ["trajectory", of.trajectory + ", turn " + of.step], ["measured", of.strength], ["differ in", of.difference], ["why", of.why]]));
    if (of.before) card.append(make("h4", "What the agent had just seen"), item(of.before));
    const sides = make("div", undefined, "sides");
    for (const name of ["chosen", "rejected"]) {
      const side = make("div");
      side.append(make("h4", name, name === "chosen" ? "good" : "bad"), ...of[name].map(item));
      sides.append(side);
    }
    card.append(sides);
    if (of.continuations.length) card.append(make("h4", "Continuations"));
    for (const branch of of.continuations) {
      const box = make("details"), head = make("summary", branch.side + ", sample " + branch.sample + ": ");
      head.append(make("span", branch.verdict, tones[branch.verdict]), " after " + branch.turns + " turns: " + branch.answer);
      box.append(head, ...branch.items.map(item));
      card.append(box);
    }
    return card;
  },
  distractors(of) {
    const card = make("div", undefined, "card");
    card.append(make("h3", of.title), facts([["tier", of.tier + ", " + of.kind], ["question", of.question],
      ["gold answer", of.gold], ["found by", of.query], ["rank", of.rank], ["runs that met it", of.runs || ""]]), item({ who: "observation", text: of.text }));
    return card;
  },
};

for (const name of Object.keys(views)) {
  if (!names.includes(name)) continue;
  let at = 0;
  const step = async (by) => {
    const all = await piece(name);
    at = (at + by + all.length) % all.length;
    document.querySelector("[data-shown=" + name + "]").replaceChildren(views[name](all[at]));
    document.querySelector("[data-count=" + name + "]").textContent = (at + 1) + " of " + all.length;
  };
  document.querySelectorAll("[data-list=" + name + "]").forEach((button) =>
    button.addEventListener("click", () => step(Number(button.dataset.by))));
  step(0);
}

if (document.getElementById("duplicates")) {
  const side = (id, words) => { const cell = make("td", words); cell.append(make("span", id, "id")); return cell; };
  listing("duplicates", "duplicates-", (form, row, words) =>
    (!form.level.value || row[0] === form.level.value) && (!form.kind.value || row[1] === form.kind.value) && has(row, words),
  (row) => {
    const line = make("tr");
    line.append(make("td", row[0]), make("td", row[1]), make("td", row[2].toFixed(4)), side(row[3], row[4]), side(row[5], row[6]), make("td"));
    line.lastChild.append(make("span", row[7], "id"));
    return line;
  }).show();
}

(async () => {
  const { form, list, pages, show } = runs;
  if (pages.length) for (const role of [...new Set((await piece(pages[0])).map((row) => row[1]))].sort()) form.role.append(make("option", role));
  for (const role of ["expert", "policy", "teacher"]) if (pages.length > 1 && ![...form.role.options].some((of) => of.value === role)) form.role.append(make("option", role));
  await show();
  performance.mark("synth-rows");
  const asked = new URLSearchParams(location.hash.slice(1));  // #words=... opens a search, &open=1 its first row
  if (asked.has("words")) { form.words.value = asked.get("words"); await show(); }
  if (asked.has("open") && list.firstChild) list.firstChild.click();
  performance.mark("synth-ready");
  body.dataset.ready = "yes";
})();
