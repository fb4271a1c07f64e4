// A dialogue as elements: facts before, turns, outcome.
"use strict";

/** Return a dialogue as elements: facts before, turns, outcome. */
function layOut(dialogue, words, language, chosen) {
  const { speakers = [], before, sides, turns = [], after, tables = [], own } = dialogue;
  const body = element("div", "body");
  if (before) body.append(facts(before, language, "facts before"));
  if (sides?.some(([, known]) => known.length)) {
    const cards = sides.map(([speaker, known]) =>
      element(
        "section",
        `known ${sideOf(speakers.indexOf(speaker))}`,
        element("h3", "", `Known to ${speaker}`),
        known.length ? facts(known, language) : element("p", "", "nothing stated"),
      ),
    );
    body.append(element("div", "sides", ...cards));
  }
  body.append(turnList(turns, speakers, words, language, chosen, own?.turns));
  if (after || tables.length) {
    const outcome = element("section", "after", element("h3", "", "Outcome"));
    if (after) outcome.append(facts(after, language));
    outcome.append(...tables.map(table));
    body.append(outcome);
  }
  const lines = [...(own?.rest?.[""] ?? [])];
  for (const [side, some] of Object.entries(own?.sides ?? {}))
    lines.push(...some.map((line) => ({ ...line, of: `, ${sides[side][0]}` })));
  const heading = element("h3", "", "Your files");
  if (lines.length) body.append(element("section", "after", heading, ownLines(lines, chosen)));
  return body;
}

/** Return a line for each annotator, and for the dataset; a label that differs is marked. */
function ownLines(lines, chosen) {
  const told = lines.filter(({ by }) => by !== "differs");
  const pairs = told.map(({ by, texts, differing, of = "" }) => {
    const labels = texts.map((text) => {
      const [differs, isChosen] = [differing.includes(text), chosen.has(text)];
      const classes = `note${differs ? " differs" : ""}${isChosen ? " chosen" : ""}`;
      return element("span", classes, differs ? "≠ " : "", element("bdi", "", text));
    });
    return [by + of, labels];
  });
  return facts(pairs, "", "facts own");
}

const sideOf = (speaker) => `side-${Math.min(speaker, 3)}`; // its colour; the second is on the right

function turnList(turns, speakers, words, language, chosen, own = {}) {
  const list = element("ol", "turns");
  let last = null;
  for (const [n, turn] of turns.entries()) {
    const item = element("li", `turn ${sideOf(turn.speaker)}${turn.action ? " action" : ""}`);
    const speaker = element("span", "speaker", element("bdi", "", speakers[turn.speaker]));
    if (turn.speaker === last && !turn.action) speaker.classList.add("hidden");
    const text = Object.assign(element("p", "text"), { dir: "auto" });
    if (!turn.action) text.lang = language;
    addText(text, turn.text, turn.action ? [] : words);
    item.append(speaker, text);
    if (turn.terms?.length) item.append(facts(turn.terms, language, "facts terms"));
    if (turn.notes)
      item.append(element("ul", "notes", ...turn.notes.map((each) => note(each, chosen))));
    if (own[n]) item.append(ownLines(own[n], chosen));
    list.append(item);
    last = turn.action ? null : turn.speaker;
  }
  return list;
}

function note({ text, kind, detail, by }, chosen) {
  const made = element("li", chosen.has(text) ? "note chosen" : "note", element("bdi", "", text));
  if (detail) made.append(element("span", "detail", ` ${detail}`));
  if (by) made.append(element("span", "by", ` ${by}`));
  made.title = visible(kind);
  return made;
}

/** Return labels with values, texts or elements; ASCII, such as numbers, gets no language. */
function facts(pairs, language, classes = "facts") {
  const list = element("dl", classes);
  for (const [label, value] of pairs) {
    const text = Object.assign(element("dd", "", ...[value].flat()), { dir: "auto" });
    if (language && /[^\x00-\x7f]/.test(value)) text.lang = language;
    list.append(element("div", "", element("dt", "", label), text));
  }
  return list;
}

function table({ title, columns, rows }) {
  const head = (text, scope) => Object.assign(element("th", "", text), { scope });
  const top = element("tr", "", element("td"), ...columns.map((column) => head(column, "col")));
  const lines = rows.map(([name, values]) =>
    element("tr", "", head(name, "row"), ...values.map((value) => element("td", "", ...[value].flat()))),
  );
  const made = element("table", "", element("caption", "", title));
  made.append(element("thead", "", top), element("tbody", "", ...lines));
  const region = { tabIndex: 0, role: "region", ariaLabel: visible(title) };
  return Object.assign(element("div", "scroll", made), region);
}
