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
  if (dialogue && selection.filters.length) body.prepend(valuesOf(page, dialogue));
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
    item.setAttribute("aria-current", "true");
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
  return `“${text}”\n${speakers[speaker]}, ${place} [${keys.join("; ")}]`;
}

/** Return the values of the open dialogue for the chosen filters; those for the others folded. */
function valuesOf({ selection, open }, { sides = [] }) {
  const { filters, chosen: asked } = selection;
  const partsOf = (filter, side) => {
    const values = filter.of(open).filter(([of]) => of === side);
    const parts = values.map(([, value]) => {
      const chosen = asked.includes(filter) && filter.has(value);
      return element(chosen ? "strong" : "span", chosen ? "chosen" : "", filter.text(value));
    });
    return parts.flatMap((part, place) => (place ? ["; ", part] : [part]));
  };
  const names = sides.map(([name]) => name);
  const add = (box, some) => {
    const [pairs, rows] = [[], []];
    for (const filter of some)
      if (filter.sides) rows.push([filter.name, names.map((_, side) => partsOf(filter, side))]);
      else pairs.push([filter.name, partsOf(filter, -1)]);
    const own = pairs.filter(([, parts]) => parts.length);
    if (own.length) box.append(facts(own, ""));
    if (rows.length) box.append(table({ title: "of each side", columns: names, rows }));
    return box;
  };
  const others = filters.filter((filter) => !asked.includes(filter));
  const rest = element("details", "", element("summary", "", "More about this dialogue"));
  const made = add(element("div", "filtered"), asked);
  made.append(add(rest, others));
  return made;
}

/** Return the names of the sides of the open dialogue that pass all filters of a side. */
function matching({ selection, dialogues, open, state }) {
  const own = selection.chosen.filter((filter) => filter.sides && filter.clauses()[0].length);
  const { sides = [] } = dialogues.get(open) ?? {};
  if (!own.length || state.apart) return [];
  const mask = own.reduce((bits, filter) => bits & filter.passing(open), EVERY);
  return sides.flatMap(([name], side) => (mask & (1 << side) ? [name] : []));
}

function headOf(page) {
  const { index, open } = page;
  const { count } = page.selection;
  const spot = index.places[index.place[open]];
  const place = page.place();
  const button = (label, name, step) => {
    const disabled = place < 0 || place + step < 0 || place + step >= count;
    const own = { ariaLabel: name, disabled };
    return Object.assign(makeButton("step", () => page.step(step), label), own);
  };
  const back = makeButton("back", () => page.back(), "Back to the list");
  const title = element("h2", "", element("bdi", "", index.titles[open] || "(no title)"));
  title.tabIndex = -1;
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
