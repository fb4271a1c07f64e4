// A dialogue as elements: facts before, turns, outcome.
"use strict";

/** Return a dialogue as elements: facts before, turns, outcome. */
function layOut(dialogue, words, language, chosen) {
  const { speakers = [], before, sides = [], turns = [], after, tables = [], own } = dialogue;
  const body = element("div", "body");
  if (before) body.append(facts(before, language, "facts before"));
  if (sides.some(([, known]) => known.length))
    body.append(...sides.map((side) => knownTo(side, sideOf(speakers.indexOf(side[0])), language)));
  body.append(turnList(turns, speakers, words, language, chosen, own?.turns));
  if (after || tables.length) {
    const outcome = element("section", "after", element("h3", "", "Outcome"));
    if (after) outcome.append(facts(after, language));
    outcome.append(...tables.map(table));
    body.append(outcome);
  }
  const lines = [...(own?.rest?.[""] ?? [])];
  for (const [side, some] of Object.entries(own?.sides ?? {}))
    lines.push(...some.map((line) => ({ ...line, of: `, ${named(sides[side][0])}` })));
  const heading = element("h3", "", "Your files");
  if (lines.length) body.append(element("section", "after", heading, ownLines(lines, chosen)));
  return body;
}

/** Return what a side knows: its first fact in a line, the others folded. */
function knownTo([speaker, [[label, value] = ["", "nothing stated"], ...rest]], side, language) {
  const text = valueOf("span", value, language);
  const line = [element("b", "", `Known to ${named(speaker)}`), " ", element("span", "hint", label), " ", text];
  if (!rest.length) return element("p", `known ${side}`, ...line);
  return element("details", `known ${side}`, element("summary", "", ...line), facts(rest, language));
}

/** Return a line for each annotator, and for the dataset; a label that differs is marked. */
function ownLines(lines, chosen) {
  const told = lines.filter(({ by }) => by !== "differs");
  const pairs = told.map(({ by, texts, differing, of = "" }) => {
    return [by + of, texts.map((text) => marked("span", text, chosen, differing))];
  });
  return facts(pairs, "", "facts own");
}

/** Return a label, with marks if it is chosen or differs from those of others. */
function marked(tag, text, chosen, differing) {
  const differs = differing.includes(text);
  const classes = `note${differs ? " differs" : ""}${chosen.has(text) ? " chosen" : ""}`;
  return element(tag, classes, differs ? element("b", "", "differs ") : "", element("bdi", "", text));
}

/** Return the name of a speaker for people. */
function named(speaker) {
  const { speakers } = page.index;
  return Object.hasOwn(speakers, speaker) ? speakers[speaker] : speaker;
}

const sideOf = (speaker) => `side-${Math.min(speaker, 3)}`; // its colour; the second is on the right

function turnList(turns, speakers, words, language, chosen, own = {}) {
  const list = element("ol", "turns");
  let last = null;
  for (const [n, turn] of turns.entries()) {
    const item = element("li", `turn ${sideOf(turn.speaker)}${turn.action ? " action" : ""}`);
    const speaker = element("span", "speaker", element("bdi", "", named(speakers[turn.speaker])));
    if (turn.speaker === last && !turn.action) speaker.classList.add("hidden");
    const text = element("p", { className: "text", dir: "auto" });
    if (!turn.action) text.lang = language;
    addText(text, turn.text, turn.action ? [] : words);
    item.append(speaker, text);
    const { notes = [] } = turn;
    const isTold = ({ by, texts }) =>
      by.startsWith("gold: ") && texts.every((each) => notes.some(({ text }) => text === each));
    const told = (own[n] ?? []).filter(isTold); // the notes say it
    const differing = told.flatMap((line) => line.differing);
    if (turn.notes)
      item.append(element("ul", "notes", ...notes.map((each) => note(each, chosen, differing))));
    if (own[n]) item.append(ownLines(own[n].filter((line) => !isTold(line)), chosen));
    list.append(item);
    last = turn.action ? null : turn.speaker;
  }
  return list;
}

function note({ text, kind, detail, by }, chosen, differing) {
  const made = marked("li", text, chosen, differing);
  if (detail) made.append(element("span", "detail", ` ${detail}`));
  if (by) made.append(element("span", "by", ` ${by}`));
  const meaning = page.meanings.get(text);
  made.title = visible(meaning ? `${kind}: ${meaning}` : kind);
  return made;
}

/** Return a value, text or elements; ASCII, such as numbers, gets no language. */
function valueOf(tag, value, language) {
  const made = element(tag, { dir: "auto" }, ...[value].flat());
  if (language && /[^\x00-\x7f]/.test(value)) made.lang = language;
  return made;
}

/** Return labels with their values. */
function facts(pairs, language, classes = "facts") {
  const list = element("dl", classes);
  for (const [label, value] of pairs)
    list.append(element("div", "", element("dt", "", label), valueOf("dd", value, language)));
  return list;
}

function table({ title, columns, rows }) {
  const head = (text, scope) => element("th", { scope }, text);
  const top = element("tr", "", element("td"), ...columns.map((column) => head(column, "col")));
  const lines = rows.map(([name, values]) =>
    element("tr", "", head(name, "row"), ...values.map((value) => element("td", "", ...[value].flat()))),
  );
  const made = element("table", "", element("caption", "", title));
  made.append(element("thead", "", top), element("tbody", "", ...lines));
  const region = { className: "scroll", tabIndex: 0, role: "region", ariaLabel: visible(title) };
  return element("div", region, made);
}
