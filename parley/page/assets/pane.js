// The pane of the open dialogue: its head, values and turns, with a link and a quote of each turn.
"use strict";

const WIDE = matchMedia("(min-width: 900px), print"); // a print holds the open dialogue

function showDialogue(page) {
  const { open, tab, index, dialogues, selection } = page;
  page.warn();
  const pane = byId("dialogue");
  const titles = open < 0 ? [] : [visible(index.titles[open] || "(no title)")];
  document.title = [...titles, tab].join(" · ");
  if (open < 0) {
    const why = selection.count ? "Choose a dialogue." : "No dialogue matches.";
    pane.replaceChildren(element("p", "empty", why));
    return;
  }
  const dialogue = dialogues.get(open);
  const body = dialogue
    ? layOut(dialogue, dialogues.words, dialogues.language(open), selection.labels)
    : element("p", "empty", "Loading …");
  if (dialogue) addJudged(body, dialogue, dialogues, page.state);
  if (dialogue) addValues(body, page, dialogue);
  pane.replaceChildren(headOf(page), body);
  const items = pane.querySelectorAll(".body > .turns > .turn");
  items.forEach((item, turn) => item.append(tools(page, item, turn)));
  const marked = items[page.turn];
  marked?.setAttribute("aria-current", "true");
  const mark = pane.querySelector(".turns mark") ?? pane.querySelector(".note.chosen");
  pane.scrollTop = 0;
  const turn = marked ?? (WIDE.matches && mark?.closest(".turn"));
  if (turn) pane.scrollTop = Math.max(0, turn.offsetTop - pane.clientHeight / 3);
}

/** Return the number of a turn, and buttons that copy its link and quote. */
function tools(page, item, turn) {
  const id = page.dialogues.names[page.open];
  const here = { version: page.state.version, id, turn: `${turn}` };
  const link = makeButton("", () => {
    const url = new URL(address({ chosen: new Map(), ...here }), location.href);
    copy(link, url.href, () => "See the address");
    page.go(here);
    byId("dialogue").querySelector(".turn[aria-current]")?.removeAttribute("aria-current");
    item.ariaCurrent = "true";
  }, "Copy link");
  const mark = () => select(item.querySelector(".text"));
  const button = makeButton("", () => copy(button, quote(page, turn), mark), "Copy quote");
  return element("div", "tools", element("span", "", `turn ${turn}`), link, button);
}

/** Return the text of a turn with its speaker, place, dataset, version and keys of BibTeX. */
function quote({ index, dialogues, open }, turn) {
  const { dataset, titles } = index;
  const { speakers, turns } = dialogues.get(open);
  const { speaker, text } = turns[turn];
  const place = `turn ${turn} of ${titles[open]}, ${dataset.name} ${dataset.version}`;
  const keys = [...dataset.citation.matchAll(/^@\w+\{\s*([^,\s]+)/gm)].map(([, key]) => key);
  return `“${text}”\n${named(speakers[speaker])}, ${place} [${keys.join("; ")}]`;
}

/** Mark the values for the chosen filters; add those that the dialogue does not tell, the rest folded. */
function addValues(body, { selection, open }, { before = [], sides = [], after = [], tables = [] }) {
  const { filters, chosen: asked } = selection;
  const partsOf = (filter, side) => {
    const values = filter.of(open).filter(([of]) => of === side);
    const parts = values.map(([, value]) => {
      const chosen = asked.includes(filter) && filter.has(value);
      return element(chosen ? "strong" : "span", chosen ? "chosen" : "", filter.text(value));
    });
    return parts.flatMap((part, place) => (place ? ["; ", part] : [part]));
  };
  const names = sides.map(([name]) => named(name));
  const boxOf = (some) => {
    const box = element("div", "filtered");
    const [pairs, rows] = [[], []];
    for (const filter of some)
      if (filter.sides) rows.push([filter.name, names.map((_, side) => partsOf(filter, side))]);
      else pairs.push([filter.name, partsOf(filter, -1)]);
    const own = pairs.filter(([, parts]) => parts.length);
    if (own.length) box.append(facts(own, ""));
    if (rows.length) box.append(table({ title: "of each side", columns: names, rows }));
    return box;
  };
  const lists = [before, after, ...sides.map(([, known]) => known), ...tables.map(({ rows }) => rows)];
  const told = new Set(lists.flat().map(([name]) => name));
  const others = filters.filter((filter) => !asked.includes(filter) && !told.has(filter.name));
  const rest = boxOf(others);
  const summary = element("summary", "", "More about this dialogue");
  const terms = [...body.querySelectorAll("dt")];
  const above = asked.filter((filter) => {
    const own = filter.sides ? [] : terms.filter((term) => term.textContent === filter.name);
    const isChosen = filter.of(open).some(([, value]) => filter.has(value));
    for (const term of own) term.nextSibling.classList.toggle("chosen", isChosen);
    return !own.length;
  });
  if (above.length) body.prepend(boxOf(above));
  if (rest.firstChild) body.append(element("details", "rest", summary, rest));
}

/** Return the names of the sides of the open dialogue that pass all filters of a side. */
function matching({ selection, dialogues, open, state }) {
  const own = selection.chosen.filter((filter) => filter.sides && filter.clauses()[0].length);
  const { sides = [] } = dialogues.get(open) ?? {};
  if (!own.length || state.apart) return [];
  const mask = own.reduce((bits, filter) => bits & filter.passing(open), EVERY);
  return sides.flatMap(([name], side) => (mask & (1 << side) ? [named(name)] : []));
}

function headOf(page) {
  const { index, open } = page;
  const { count } = page.selection;
  const spot = index.places[index.place[open]];
  const place = page.place();
  const button = (label, name, step) => {
    const disabled = place < 0 || place + step < 0 || place + step >= count;
    return Object.assign(makeButton("", () => page.step(step), label), { ariaLabel: name, disabled });
  };
  const back = makeButton("back", () => page.back(), "Back to the list");
  const name = index.titles[open] || "(no title)";
  const title = element("h2", { tabIndex: -1 }, element("bdi", "", name));
  const where = element("p", "where", `${spot.config}/${spot.split}`);
  if (place >= 0) where.append(` · ${inEnglish(place + 1)} of ${inEnglish(count)}`);
  const names = matching(page);
  if (names.length) {
    const text = element("bdi", "", names.join(" and "));
    where.append(" · ", text, names.length > 1 ? " match" : " matches");
  }
  const steps = [button("↑", "Previous dialogue", -1), button("↓", "Next dialogue", 1)];
  const titles = element("div", "", title, where);
  return element("header", "head", back, titles, element("div", "steps", ...steps));
}
