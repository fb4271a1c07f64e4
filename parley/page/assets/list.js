// The list of the dialogues found: blocks of entries, each written as it comes near the screen.
"use strict";

const BLOCK = 25; // entries that are written together
const ROW = 57; // pixels of an entry

class List {
  constructor(page) {
    this.page = page;
    this.selection = page.selection;
    byId("window").addEventListener("contentvisibilityautostatechange", (event) => {
      if (!event.skipped) this.fill(event.target);
    });
  }

  /** Put empty blocks of entries into the list; `fill` writes one as it comes near the screen. */
  show() {
    const { count } = this.selection;
    this.blocks = [];
    for (let place = 0; place < count; place += BLOCK) {
      const block = element("ol", "block");
      block.style.height = `${ROW * Math.min(BLOCK, count - place)}px`;
      this.blocks.push(block);
    }
    byId("window").replaceChildren(...this.blocks);
    const tells = "ContentVisibilityAutoStateChangeEvent" in window; // else write all at once
    for (const block of this.blocks.slice(0, tells ? 1 : undefined)) this.fill(block);
  }

  /** Write the entries of a block. */
  fill(block) {
    if (block.firstChild) return;
    const first = BLOCK * this.blocks.indexOf(block);
    const end = Math.min(first + BLOCK, this.selection.count);
    for (let place = first; place < end; place++) block.append(this.entry(place));
    block.style.height = "";
  }

  /** Return the written entry at a place of the list. */
  row(place) {
    const block = this.blocks[Math.floor(place / BLOCK)];
    this.fill(block);
    return block.children[place % BLOCK];
  }

  /** Scroll the list to a place, if it is one. */
  reveal(place) {
    if (place >= 0) this.row(place).scrollIntoView({ block: "nearest" });
  }

  entry(place) {
    const { page, selection } = this;
    const { dialogues, sorter } = selection;
    const { entries, titles, openings } = dialogues.index;
    const number = selection.hits[place];
    const turn = dialogues.first[number];
    const dialogue = turn < 0 ? null : dialogues.get(number);
    const text = dialogue ? excerpt(dialogue.turns[turn].text, dialogues.words) : openings[number];
    const heading = entries[number] || titles[number] || "(no title)";
    const href = address({ ...page.state, id: dialogues.names[number], turn: null });
    const [first, ...rest] = heading.split(" · ");
    const title = element("bdi", "", element("b", "", first), [" ", ...rest].join(" · ").slice(1));
    const own = { className: "excerpt", dir: "auto", lang: dialogues.language(number) };
    const shown = addText(element("span", own), text, dialogues.words);
    const hits = dialogues.words.length ? dialogues.found[number] : 0;
    const key = sorter ? selection.keys[number] : NaN;
    const told = hits ? [counted(hits, "hit")] : [];
    if (Number.isFinite(key)) told.push(sorter.numberText(key));
    const sum = told.length ? element("span", "sum", told.join(" · ")) : null;
    const ariaCurrent = number === page.open ? "true" : null;
    const of = { className: "entry", href, title: visible(heading), ariaCurrent };
    const link = element("a", of, element("span", "title", title), sum, shown);
    return element("li", { ariaSetSize: selection.count, ariaPosInSet: place + 1 }, link);
  }
}

/** Return the part of a text around the first match. */
function excerpt(text, words) {
  const [[from] = [0]] = places(text, words);
  const blank = text.lastIndexOf(" ", from - 15);
  const start = from < 25 ? 0 : blank > from - 25 ? blank + 1 : from - 15; // in sight on one line
  const end = text.length > from + 120 ? " …" : "";
  return (start ? "… " : "") + text.slice(start, from + 120) + end;
}
