// The script of every page. Dataset text enters the document only through text nodes.
"use strict";

// ---------------------------------------------------------------- text

// Characters that reorder or hide text are shown as numbers; the same ones as in the terminal.
const CONTROL =
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ufffe\uffff]|\udb40[\udc00-\udc7f]/g;

const LONGEST = 20_000; // characters shown of a text: browsers are slow with longer words
const MARKED = 1000; // matches marked in a text
const SHORT = 200; // characters of a text in a tooltip or label

/** Return an element with classes and children; strings become text. */
function element(tag, classes, ...children) {
  const made = document.createElement(tag);
  if (classes) made.className = classes;
  for (const child of children) {
    if (typeof child === "string") addText(made, child);
    else if (child) made.append(child);
  }
  return made;
}

/** Append text to a node; mark the words if it has all, and show control characters. */
function addText(node, text, words = []) {
  const shown = text.slice(0, LONGEST);
  let last = 0;
  for (const [from, to] of places(shown, words).slice(0, MARKED)) {
    addPlain(node, shown.slice(last, from));
    addPlain(node.appendChild(document.createElement("mark")), shown.slice(from, to));
    last = to;
  }
  addPlain(node, shown.slice(last));
  if (text.length > LONGEST) {
    const rest = `… and ${inEnglish(text.length - LONGEST)} more characters`;
    node.appendChild(document.createElement("span")).textContent = rest;
  }
  return node;
}

function addPlain(node, text) {
  let last = 0;
  for (const found of text.matchAll(CONTROL)) {
    if (found.index > last) node.append(text.slice(last, found.index));
    const sign = node.appendChild(document.createElement("span"));
    sign.className = "control";
    sign.textContent = visible(found[0]);
    last = found.index + found[0].length;
  }
  if (last < text.length) node.append(text.slice(last));
}

/** Return text for a tooltip or label: shortened, with control characters visible. */
function visible(text) {
  const number = (sign) => sign.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
  return text.slice(0, SHORT).replace(CONTROL, (sign) => `U+${number(sign)}`);
}

/** Return text for comparison, without case and character variants. */
function fold(text) {
  return text.normalize("NFKC").toLowerCase();
}

const CHARACTERS = new Intl.Segmenter(); // a letter with its accents is one

/** Return [from, to] of each folded word in an unfolded text, if it has all. */
function places(text, words) {
  if (!words.length) return [];
  const folded = fold(text);
  if (!words.every((word) => folded.includes(word))) return [];
  const start = []; // for each character of `folded`, its place in `text`
  let again = "";
  for (const { segment, index } of CHARACTERS.segment(text)) {
    const part = fold(segment);
    for (let n = 0; n < part.length; n++) start.push(index);
    again += part;
  }
  if (again !== folded) return [];
  start.push(text.length);
  const found = [];
  for (const word of words)
    for (let at = folded.indexOf(word), to; at >= 0; at = folded.indexOf(word, to)) {
      to = at + word.length;
      let end = to; // of the whole character, even if only a part matches
      while (start[end] === start[to - 1]) end++;
      found.push([start[at], start[end]]);
    }
  let last = 0;
  return found
    .sort((one, other) => one[0] - other[0] || other[1] - one[1])
    .filter(([from, to]) => from >= last && (last = to));
}

/** Return the words and "quoted phrases" of a query. */
function wordsOf(query) {
  const found = query.matchAll(/["“„]([^"“”]+)["“”](?=\s|$)|\S+/g);
  return [...found].map(([word, phrase]) => phrase ?? word);
}

/** Return a button that calls a function. */
function makeButton(classes, pressed, ...children) {
  const made = element("button", classes, ...children);
  made.type = "button";
  made.addEventListener("click", pressed);
  return made;
}

const { format: inEnglish } = new Intl.NumberFormat("en");
const counted = (number, noun) => `${inEnglish(number)} ${noun}${number === 1 ? "" : "s"}`;

// ---------------------------------------------------------------- every page

/** Copy text for a button; without permission, call a function that returns what to do instead. */
async function copy(button, text, otherwise) {
  const label = (button.dataset.label ??= button.textContent);
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = otherwise();
  }
  setTimeout(() => (button.textContent = label), 2000);
}

/** Select an element for the user to copy. */
function select(node) {
  getSelection().selectAllChildren(node);
  return "Selected";
}

document.addEventListener("click", (event) => {
  const skip = event.target.closest("a.skip");
  if (skip) {
    event.preventDefault(); // the address holds the state of the page
    const target = document.querySelector(skip.hash);
    target.tabIndex = -1;
    target.focus();
  }
  const button = event.target.closest("button.copy");
  const code = button?.parentElement.querySelector("code");
  if (code) copy(button, code.textContent, () => select(code));
});

// ---------------------------------------------------------------- the dialogues

const BLOCK = 25; // entries of the list that are written together
const ROW = 77; // pixels of most entries
const FIRST = { "": "lowest", "-": "highest" }; // sign of an order -> what comes first
const byId = (id) => document.getElementById(id);

/** Run a script; fail if it does not come. */
function loadScript(address) {
  const script = document.createElement("script");
  script.src = address;
  document.head.append(script);
  const ran = new Promise((onload, onerror) => Object.assign(script, { onload, onerror }));
  return ran.finally(() => script.remove());
}

/** Read the state from the address: query, scope, filters, order and open dialogue. */
function readAddress() {
  const parameters = new URLSearchParams(location.hash.slice(1));
  const state = { query: "", around: false, apart: false, chosen: new Map() };
  Object.assign(state, { sort: null, id: null, turn: null, version: null });
  for (const [key, value] of parameters) {
    if (key === "q") state.query = value;
    else if (["around", "apart"].includes(key)) state[key] = true;
    else if (["sort", "id", "turn", "version"].includes(key)) state[key] = value;
    else readChoice(state.chosen, key, value);
  }
  return state;
}

function address(state) {
  const parameters = new URLSearchParams();
  if (state.query) parameters.set("q", state.query);
  for (const key of ["around", "apart"]) if (state[key]) parameters.set(key, "1");
  writeChoices(parameters, state.chosen);
  for (const key of ["sort", "version", "id", "turn"])
    if ((state[key] ?? null) !== null) parameters.set(key, state[key]);
  return `#${parameters}`;
}

class Page {
  /** @param index the data of index.js: every dialogue without its text */
  constructor(index) {
    this.index = index;
    this.size = index.ids.length;
    this.numbers = new Map(); // dialogue in the address -> its number
    index.ids.forEach((id, number) => {
      while (this.numbers.has(id)) id += `#${number}`; // a repeated id
      this.numbers.set(id, number);
    });
    this.names = [...this.numbers.keys()];
    this.parts = index.parts.map((first, number) => ({
      first,
      end: index.parts[number + 1] ?? this.size,
      dialogues: null,
    }));
    this.loaded = 0;
    this.plain = !index.utterances.some(Boolean); // rows without a transcript
    this.found = new Uint32Array(this.size); // matching utterances of each dialogue
    this.matches = new Uint8Array(this.size); // whether the dialogue matches
    this.first = new Int32Array(this.size).fill(-1); // the first matching turn, or -1
    this.hits = new Uint32Array(this.size);
    this.masks = new Int32Array(this.size); // the sides of each hit that pass, as bits
    this.keys = new Float64Array(this.size); // by which hits are sorted
    this.count = 0;
    this.open = -1; // the number of the open dialogue
    this.state = readAddress();
    this.filters = index.filters.map((data, place) => {
      const changed = (choice, often) => this.change(this.filters[place], choice, often);
      if (index.own.includes(data.name)) data.ids = index.ids; // SQL has no such filter
      return new (data.labels ? Labels : Numbers)(data, place, changed);
    });
    index.filters = null; // the filters hold it more compactly
    this.tab = document.title;
    this.changed = -Infinity; // when something was typed or dragged last
    byId("apart").hidden = !this.filters.some((filter) => filter.sides);
    this.tables = new Map(); // config -> its lines of CSV, once somebody has asked for them
    this.listen();
    byId("filters").append(...this.filters.map((filter) => filter.box));
    this.sorters = this.filters.filter((filter) => filter.isNumber);
    for (const { name } of this.sorters)
      for (const [sign, first] of Object.entries(FIRST))
        byId("sort").append(new Option(`${visible(name)}, ${first} first`, sign + name));
    const summed = this.filters.filter((filter) => filter.mean);
    this.sums = summed.map((filter) => new Sum(filter, this.size));
    byId("sums").append(...this.sums.map((sum) => sum.row));
    byId("numbers").hidden = !this.sums.length;
    if (index.where) byId("sort").options[0].text = "order of the query";
    if (this.plain) {
      this.state.around = true;
      byId("around").closest("label").hidden = true;
    }
    byId("progress").hidden = !this.parts.length;
    this.restore();
    this.load();
  }

  // ------------------------------------------------------------ loading

  /** Load the next part; the open dialogue's part first. */
  load() {
    const open = this.open < 0 ? null : this.partOf(this.open);
    const next = open && !open.dialogues ? open : this.parts.find((part) => !part.dialogues);
    if (!next) return;
    loadScript(`data/${this.parts.indexOf(next)}.js`).catch(() => {
      byId("count").textContent = "Some text failed to load. Reload the page.";
    });
  }

  /** Make a loaded part searchable, and load the next. */
  take(number, dialogues) {
    const part = this.parts[number];
    part.dialogues = dialogues;
    part.texts = dialogues.map(({ turns = [] }) =>
      turns.map((turn) => (turn.action ? "" : fold(turn.text))),
    );
    this.loaded++;
    byId("progress").value = this.loaded / this.parts.length;
    byId("progress").hidden = this.loaded === this.parts.length;
    if (this.words.length) {
      this.searchPart(part);
      this.narrow();
    } else this.tell();
    const isPart = this.open >= 0 && this.dialogue(this.open)?.partOf; // of one that may have come
    if (isPart || (this.open >= part.first && this.open < part.end)) this.showDialogue();
    this.load();
  }

  /** Load the lines of a config as CSV, each with the id of its dialogue. */
  async table(config) {
    if (!this.tables.has(config)) await loadScript(`data/table-${config}.js`);
    return this.tables.get(config);
  }

  partOf(number) {
    return this.parts.find((part) => number < part.end);
  }

  dialogue(number) {
    const part = this.partOf(number);
    return part.dialogues && part.dialogues[number - part.first];
  }

  // ------------------------------------------------------------ searching

  search() {
    this.words = wordsOf(this.state.query).map(fold);
    this.found.fill(0);
    this.first.fill(-1);
    this.matches.fill(this.words.length ? 0 : 1);
    if (this.words.length) for (const part of this.parts) if (part.dialogues) this.searchPart(part);
    this.narrow();
  }

  searchPart(part) {
    const hasAll = (text) => this.words.every((word) => text.includes(word));
    const { around } = this.state;
    if (around)
      part.around ??= part.dialogues.map((dialogue, n) => fold(this.around(dialogue, part.first + n)));
    for (const [place, texts] of part.texts.entries()) {
      const number = part.first + place;
      texts.forEach((text, turn) => {
        if (!hasAll(text)) return;
        this.found[number]++;
        if (this.first[number] < 0) this.first[number] = turn;
      });
      if (this.found[number] || (around && hasAll(part.around[place]))) this.matches[number] = 1;
    }
  }

  /** Return a dialogue's reasons, descriptions and labels as one text. */
  around(dialogue, number) {
    const { turns = [], own, ...rest } = dialogue; // SQL does not know what is one's own
    const found = [this.index.titles[number]];
    const gather = (value) => {
      if (typeof value === "string") found.push(value);
      else if (value && typeof value === "object") Object.values(value).forEach(gather);
    };
    gather(rest);
    for (const turn of turns) {
      if (turn.action) gather(turn.text);
      gather(turn.notes);
    }
    return found.join("\n");
  }

  /** Apply the filters to the search hits, and show the result. */
  narrow() {
    this.count = 0;
    this.utterances = 0;
    this.beside = new Map(); // config without dialogues -> number of rows
    this.chosen = this.filters.filter((filter) => filter.choice);
    for (const filter of this.filters) filter.reset();
    const isWhole = !this.chosen.length && !this.words.length && !this.unknown.length;
    if (isWhole) for (const filter of this.filters) filter.counts.set(filter.whole);
    if (!this.unknown.length)
      for (let number = 0; number < this.size; number++)
        if (isWhole) this.keep(number);
        else if (this.matches[number]) this.tally(number);
    for (const filter of this.filters) filter.show();
    this.arrange();
    const found = isWhole ? undefined : this.hits.subarray(0, this.count);
    for (const sum of this.sums) sum.show(found, this.masks);
    byId("clear").disabled = !this.state.chosen.size;
    byId("chosen").textContent = this.chosen.length ? `(${this.chosen.length})` : "";
    this.tell();
    this.showList();
    this.follow();
  }

  /** Count a dialogue that the search found, and keep it if it passes every filter.
   *
   * A value that would widen a choice counts the dialogues that pass the other filters.
   */
  tally(number) {
    let passes = EVERY;
    for (const filter of this.chosen) {
      filter.passed = filter.passing(number);
      passes &= filter.passed;
    }
    for (const filter of this.filters) {
      let mask = passes;
      if (filter.choice && filter.widens) {
        mask = filter.lacking(number);
        for (const other of this.chosen) if (other !== filter) mask &= other.passed;
      }
      if (mask) filter.count(number, mask);
    }
    if (passes) this.keep(number, passes);
  }

  /** Keep a dialogue among those found, with the sides that pass. */
  keep(number, passes = EVERY) {
    this.hits[this.count++] = number;
    this.masks[number] = passes;
    const { places, place, utterances } = this.index;
    const { config, beside } = places[place[number]];
    if (beside) this.beside.set(config, (this.beside.get(config) ?? 0) + 1);
    else this.utterances += this.words.length ? this.found[number] : utterances[number];
  }

  /** The filter by whose numbers the list is sorted, if any. */
  get sorter() {
    return this.sorters.find(({ name }) => [name, `-${name}`].includes(this.state.sort));
  }

  /** The sign of an order: "" with the lowest number first, "-" with the highest. */
  get sign() {
    return this.state.sort === this.sorter.name ? "" : "-";
  }

  /** Sort what is found by the number of a side that passes, the one that comes first. */
  arrange() {
    const { sorter, keys, masks } = this;
    if (!sorter) return;
    const sign = Number(`${this.sign}1`);
    const found = this.hits.subarray(0, this.count);
    for (const number of found) {
      keys[number] = Infinity;
      const take = (each) => (keys[number] = Math.min(keys[number], sign * each));
      sorter.eachNumber(number, masks[number], take);
    }
    found.sort((one, other) => keys[one] - keys[other] || one - other); // none is Infinity
    for (const number of found) keys[number] *= sign;
  }

  /** Return the numbers of dialogues and of rows of other configs found. */
  counted() {
    let dialogues = this.count;
    const others = [];
    for (const [config, rows] of this.beside) {
      dialogues -= rows;
      others.push(`${inEnglish(rows)} ${config}`);
    }
    return [counted(dialogues, "dialogue"), ...others].join(", ");
  }

  /** Return the search and filters as a clause. */
  inWords() {
    const words = wordsOf(this.state.query).map((word) => `“${visible(word)}”`);
    const where = this.state.around ? "the text" : "an utterance";
    const found = words.length ? [`${where} has ${words.join(" and ")}`] : [];
    const asked = this.index.where ? " that your query finds" : "";
    return asked + sentence(this.chosen, !this.state.apart, ...found);
  }

  /** Return the order as a clause. */
  orderInWords() {
    return this.sorter ? `, sorted by ${this.sorter.name}, ${FIRST[this.sign]} first` : "";
  }

  tell() {
    const part = this.loaded < this.parts.length && this.words.length;
    const so = part
      ? `, in ${Math.round((100 * this.loaded) / this.parts.length)}% of the text so far`
      : "";
    byId("count").replaceChildren(
      element("strong", "", this.counted()),
      element("span", "said", this.inWords() + this.orderInWords()),
      element("span", "", this.utterances ? ` ${counted(this.utterances, "utterance")}${so}` : so),
    );
    byId("load").disabled = !this.count;
    byId("load").textContent = `Export ${inEnglish(this.count)} as CSV, JSON, SQL …`;
  }

  // ------------------------------------------------------------ the list

  /** Put empty blocks of entries into the list; `fill` writes one as it comes near the screen. */
  showList() {
    this.blocks = [];
    for (let place = 0; place < this.count; place += BLOCK) {
      const block = element("ol", "block");
      block.style.height = `${ROW * Math.min(BLOCK, this.count - place)}px`;
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
    const end = Math.min(first + BLOCK, this.count);
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
    const { index } = this;
    const number = this.hits[place];
    const link = element("a", "entry");
    link.href = address({ ...this.state, id: this.names[number], turn: null });
    if (number === this.open) link.setAttribute("aria-current", "true");
    const turn = this.first[number];
    const dialogue = turn < 0 ? null : this.dialogue(number);
    const text = dialogue
      ? excerpt(dialogue.turns[turn].text, this.words)
      : index.openings[number];
    const heading = index.entries[number] || index.titles[number] || "(no title)";
    const [first, ...rest] = heading.split(" · ");
    const title = element("bdi", "", element("b", "", first), [" ", ...rest].join(" · ").slice(1));
    const shown = element("span", "excerpt");
    shown.dir = "auto";
    shown.lang = this.language(number);
    addText(shown, text, this.words);
    link.append(element("span", "title", title));
    link.title = visible(heading); // a long one does not fit
    const hits = this.words.length ? this.found[number] : 0;
    const key = this.sorter ? this.keys[number] : NaN;
    const told = hits ? [counted(hits, "hit")] : [];
    if (Number.isFinite(key)) told.push(this.sorter.numberText(key));
    if (told.length) link.append(element("span", "sum", told.join(" · ")));
    link.append(shown);
    const row = element("li", "", link);
    row.setAttribute("aria-setsize", this.count);
    row.setAttribute("aria-posinset", place + 1);
    return row;
  }

  language(number) {
    return this.index.languages[this.index.language[number]] ?? "";
  }

  // ------------------------------------------------------------ the dialogue

  /** Open the dialogue in the address, else, on a wide screen, the first hit. */
  follow() {
    const inAddress = this.state.id === null ? undefined : this.numbers.get(this.state.id);
    document.body.classList.toggle("opened", inAddress !== undefined);
    const first = WIDE.matches && this.count && this.state.id === null;
    this.open = inAddress ?? (first ? this.hits[0] : -1);
    byId("window").querySelector("[aria-current]")?.removeAttribute("aria-current");
    const place = this.place();
    if (place >= 0) this.row(place).firstChild.setAttribute("aria-current", "true");
    this.showDialogue();
  }

  /** Return the place of the open dialogue in the list, or -1. */
  place() {
    return this.hits.subarray(0, this.count).indexOf(this.open);
  }

  showDialogue() {
    const pane = byId("dialogue");
    this.warn();
    const open = this.open < 0 ? [] : [visible(this.index.titles[this.open] || "(no title)")];
    document.title = [...open, this.tab].join(" · ");
    if (this.open < 0) {
      const why = this.count ? "Choose a dialogue." : "No dialogue matches.";
      pane.replaceChildren(element("p", "empty", why));
      return;
    }
    const dialogue = this.dialogue(this.open);
    const body = dialogue
      ? layOut(dialogue, this.words, this.language(this.open), this.chosenLabels())
      : element("p", "empty", "Loading …");
    if (dialogue) addJudged(body, dialogue, this);
    if (dialogue && this.filters.length) body.prepend(this.values(dialogue));
    pane.replaceChildren(this.head(), body);
    const items = pane.querySelectorAll(".body > .turns > .turn");
    items.forEach((item, turn) => item.append(this.tools(item, turn)));
    const marked = items[this.turn];
    marked?.setAttribute("aria-current", "true");
    const mark = pane.querySelector(".turns mark") ?? pane.querySelector(".note.chosen");
    pane.scrollTop = 0;
    const turn = marked ?? (WIDE.matches && mark?.closest(".turn"));
    if (turn) pane.scrollTop = Math.max(0, turn.offsetTop - pane.clientHeight / 3);
  }

  /** Return the number of a turn, and buttons that copy its link and quote. */
  tools(item, turn) {
    const here = { version: this.state.version, id: this.names[this.open], turn: `${turn}` };
    const link = makeButton("", () => {
      const url = new URL(address({ chosen: new Map(), ...here }), location.href);
      copy(link, url.href, () => "See the address");
      this.go(here);
      byId("dialogue").querySelector(".turn[aria-current]")?.removeAttribute("aria-current");
      item.setAttribute("aria-current", "true");
    }, "Copy link");
    const mark = () => select(item.querySelector(".text"));
    const quote = makeButton("", () => copy(quote, this.quote(turn), mark), "Copy quote");
    return element("div", "tools", element("span", "", `turn ${turn}`), link, quote);
  }

  /** Return the text of a turn with its speaker, place, dataset, version and keys of BibTeX. */
  quote(turn) {
    const { dataset, titles } = this.index;
    const { speakers, turns } = this.dialogue(this.open);
    const { speaker, text } = turns[turn];
    const place = `turn ${turn} of ${titles[this.open]}, ${dataset.name} ${dataset.version}`;
    const keys = [...dataset.citation.matchAll(/^@\w+\{\s*([^,\s]+)/gm)].map(([, key]) => key);
    return `“${text}”\n${speakers[speaker]}, ${place} [${keys.join("; ")}]`;
  }

  /** The place of the turn in the address, or -1. */
  get turn() {
    return /^\d+$/.test(this.state.turn ?? "") ? Number(this.state.turn) : -1;
  }

  /** Say what the address asks for and this build lacks. */
  warn() {
    const { id, turn, sort } = this.state;
    const { version } = this.index.dataset;
    const warnings = [...this.unknown];
    if (this.linked !== null && this.linked !== version)
      warnings.push(`The address is of version ${visible(this.linked)}; this is version ${version}.`);
    if (sort !== null && !this.sorter) warnings.push(`This build has no order by “${visible(sort)}”.`);
    if (id !== null && this.open < 0) warnings.push(`This build has no dialogue “${visible(id)}”.`);
    const dialogue = this.open < 0 ? null : this.dialogue(this.open);
    if (turn !== null && dialogue && !dialogue.turns?.[this.turn])
      warnings.push(`This dialogue has no turn “${visible(turn)}”.`);
    byId("unknown").hidden = !warnings.length;
    byId("unknown").replaceChildren(element("bdi", "", warnings.join(" ")));
  }

  /** Return the chosen labels, to highlight them in a dialogue. */
  chosenLabels() {
    return new Set([...this.state.chosen.values()].flatMap(({ labels }) => [...(labels ?? [])]));
  }

  /** Return the values of the open dialogue for the chosen filters; those for the others folded. */
  values({ sides = [] }) {
    const valuesOf = (filter, side) => {
      const values = filter.of(this.open).filter(([of]) => of === side);
      const parts = values.map(([, value]) => {
        const chosen = this.chosen.includes(filter) && filter.has(value);
        return element(chosen ? "strong" : "span", chosen ? "chosen" : "", filter.text(value));
      });
      return parts.flatMap((part, place) => (place ? ["; ", part] : [part]));
    };
    const names = sides.map(([name]) => name);
    const add = (box, some) => {
      const [pairs, rows] = [[], []];
      for (const filter of some)
        if (filter.sides) rows.push([filter.name, names.map((_, side) => valuesOf(filter, side))]);
        else pairs.push([filter.name, valuesOf(filter, -1)]);
      const own = pairs.filter(([, parts]) => parts.length);
      if (own.length) box.append(facts(own, ""));
      if (rows.length) box.append(table({ title: "of each side", columns: names, rows }));
      return box;
    };
    const others = this.filters.filter((filter) => !this.chosen.includes(filter));
    const rest = element("details", "", element("summary", "", "More about this dialogue"));
    const made = add(element("div", "filtered"), this.chosen);
    made.append(add(rest, others));
    return made;
  }

  /** Return the names of the sides of the open dialogue that pass all filters of a side. */
  matching() {
    const own = this.chosen.filter((filter) => filter.sides && filter.clauses()[0].length);
    const { sides = [] } = this.dialogue(this.open) ?? {};
    if (!own.length || this.state.apart) return [];
    const mask = own.reduce((bits, filter) => bits & filter.passing(this.open), EVERY);
    return sides.flatMap(([name], side) => (mask & (1 << side) ? [name] : []));
  }

  head() {
    const { index } = this;
    const spot = index.places[index.place[this.open]];
    const place = this.place();
    const button = (label, name, step) => {
      const made = makeButton("step", () => this.step(step), label);
      made.setAttribute("aria-label", name);
      made.disabled = place < 0 || place + step < 0 || place + step >= this.count;
      return made;
    };
    const back = makeButton("back", () => this.back(), "Back to the list");
    const title = element("h2", "", element("bdi", "", index.titles[this.open] || "(no title)"));
    title.tabIndex = -1;
    const where = element("p", "where", `${spot.config}/${spot.split}`);
    if (place >= 0) where.append(` · ${inEnglish(place + 1)} of ${inEnglish(this.count)}`);
    const matching = this.matching();
    if (matching.length) {
      const names = element("bdi", "", matching.join(" and "));
      where.append(" · ", names, matching.length > 1 ? " match" : " matches");
    }
    const steps = [button("↑", "Previous dialogue", -1), button("↓", "Next dialogue", 1)];
    const titles = element("div", "", title, where);
    return element("header", "head", back, titles, element("div", "steps", ...steps));
  }

  // ------------------------------------------------------------ moving about

  /** Change the state, adding or replacing an entry of the browser's history. */
  go(change, replace = false) {
    Object.assign(this.state, { turn: null }, change);
    this.linked = this.state.version;
    history[replace ? "replaceState" : "pushState"](null, "", address(this.state));
  }

  choose(number) {
    this.go({ id: this.names[number] });
    this.follow();
  }

  step(by) {
    const place = this.place() + by;
    if (place < 0 || place >= this.count) return;
    const pressed = document.activeElement.closest(".steps button")?.getAttribute("aria-label");
    this.reveal(place);
    this.choose(this.hits[place]);
    const pane = byId("dialogue");
    const again = pressed && pane.querySelector(`.steps button[aria-label="${pressed}"]:enabled`);
    (again ?? pane.querySelector("h2")).focus({ preventScroll: true });
  }

  /** Return the turns of a dialogue at which the user's files differ, as chosen in the filter. */
  differing(number) {
    const { turns = {} } = this.dialogue(number)?.own ?? {};
    const labels = [...(this.state.chosen.get("differs")?.labels ?? [])];
    const isChosen = (text) =>
      !labels.length || labels.some((label) => `${text}, `.startsWith(`${label}, `));
    const differs = ({ by, texts }) => by === "differs" && texts.some(isChosen);
    const found = Object.keys(turns).filter((turn) => turns[turn].some(differs));
    return found.map(Number).sort((one, other) => one - other);
  }

  /** Open the next turn, or the next dialogue found, in which the user's files differ. */
  nextDifference() {
    const here = this.open < 0 ? undefined : this.differing(this.open).find((turn) => turn > this.turn);
    const filter = this.filters.find(({ name }) => name === "differs");
    const differs = (number) => filter.of(number).length;
    if (!filter || !this.hits.subarray(0, this.count).some(differs)) return;
    let [place, number] = [this.place(), this.open];
    for (let step = 0; here === undefined && step < this.count; step++) {
      place = (place + 1) % this.count;
      number = this.hits[place];
      if (differs(number)) break;
    }
    const turn = here ?? this.differing(number)[0];
    this.go({ id: this.names[number], turn: turn === undefined ? null : `${turn}` });
    this.follow();
    this.reveal(place);
    byId("dialogue").querySelector("h2")?.focus({ preventScroll: true });
  }

  back() {
    if (this.state.id !== null) {
      const place = this.place();
      this.go({ id: null });
      this.follow();
      this.reveal(place);
      (place < 0 ? byId("list") : this.row(place).firstChild).focus();
    } else if (this.state.query || this.state.chosen.size) {
      this.go({ query: "", chosen: new Map() });
      this.restore(this.state);
    }
  }

  /** Show a state, by default the one in the address. */
  restore(state = readAddress()) {
    this.linked = state.version; // the version that the address is of
    this.state = { ...state, version: this.index.dataset.version };
    if (this.plain) state.around = true;
    byId("query").value = state.query;
    byId("around").checked = state.around;
    byId("together").checked = !state.apart;
    byId("sort").value = this.sorter ? state.sort : "";
    this.applyChoices();
    this.search();
    if (state.id === null) byId("list").scrollTop = 0;
    else this.reveal(this.place()); // so that Tab goes on from the open entry
  }

  /** Show the choices of the state in the filters. */
  applyChoices() {
    const { chosen, apart } = this.state;
    this.unknown = []; // the filters of the address that this build lacks
    for (const name of chosen.keys())
      if (!this.filters.some((filter) => filter.name === name))
        this.unknown.push(`This build has no filter “${visible(name)}”.`);
    for (const filter of this.filters) {
      filter.together = !apart;
      this.unknown.push(...filter.choose(chosen.get(filter.name)));
    }
  }

  /** Change the choice of a filter; changes that follow fast are one entry of the history. */
  change(filter, choice, often = false) {
    const chosen = new Map(this.state.chosen);
    if (choice) chosen.set(filter.name, choice);
    else chosen.delete(filter.name);
    this.go({ chosen, id: null }, often && this.isFast());
    this.applyChoices();
    byId("list").scrollTop = 0;
    this.narrow();
  }

  isFast() {
    const before = this.changed;
    this.changed = performance.now();
    return this.changed - before < 2000;
  }

  listen() {
    byId("query").addEventListener("input", (event) => {
      this.go({ query: event.target.value, id: null }, this.isFast());
      byId("list").scrollTop = 0;
      this.search();
    });
    byId("search").addEventListener("submit", (event) => {
      event.preventDefault();
      if (!this.count) return;
      this.choose(this.hits[0]);
      byId("dialogue").querySelector("h2").focus({ preventScroll: true }); // j and k work again
    });
    const set = (id, change) =>
      byId(id).addEventListener("change", (event) => {
        this.go(change(event.target));
        this.restore(this.state);
      });
    set("around", ({ checked }) => ({ around: checked }));
    set("together", ({ checked }) => ({ apart: !checked, id: null }));
    set("sort", ({ value }) => ({ sort: value || null, id: null }));
    for (const kind of ["pointerover", "focusin"])
      byId("filters").addEventListener(kind, () => byId("filters").classList.remove("still"));
    byId("clear").addEventListener("click", () => {
      this.go({ chosen: new Map(), id: null });
      this.restore(this.state);
      byId("query").focus();
    });
    byId("window").addEventListener("contentvisibilityautostatechange", (event) => {
      if (!event.skipped) this.fill(event.target);
    });
    byId("list").addEventListener("click", (event) => {
      const row = event.target.closest("li");
      if (!row || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      this.choose(this.hits[row.getAttribute("aria-posinset") - 1]);
      byId("dialogue").querySelector("h2")?.focus({ preventScroll: true });
    });
    byId("load").addEventListener("click", () => new Selection(this).show());
    byId("next-difference")?.addEventListener("click", () => this.nextDifference());
    addEventListener("popstate", () => this.restore());
    WIDE.addEventListener("change", () => {
      for (const id of ["filters-box", "numbers"]) byId(id).open = WIDE.matches;
      this.follow();
    });
    for (const id of ["filters-box", "numbers"]) byId(id).open = WIDE.matches;
    document.addEventListener("keydown", (event) => this.key(event));
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || byId("code").open) return;
    const typing = event.target.matches("#query, select, [type=number]");
    if (typing && event.key !== "Escape") return;
    if (event.key === "Escape") {
      event.preventDefault();
      const meaning = [...document.querySelectorAll(".meaning")].some((each) => each.offsetParent);
      byId("filters").classList.add("still"); // hides it
      if (typing || meaning) (this.count ? this.row(0).firstChild : byId("list")).focus();
      else this.back();
    } else if (event.key === "/") {
      event.preventDefault();
      byId("query").focus();
      byId("query").select();
    } else if (event.key === "j" || event.key === "k") {
      this.step(event.key === "j" ? 1 : -1);
    } else if (event.key === "d" && byId("next-difference") && this.count) {
      this.nextDifference();
    }
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

// ---------------------------------------------------------------- laying out

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
    const text = element("p", "text");
    text.dir = "auto";
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
    const text = element("dd", "", ...[value].flat());
    text.dir = "auto";
    if (language && /[^\x00-\x7f]/.test(value)) text.lang = language;
    list.append(element("div", "", element("dt", "", label), text));
  }
  return list;
}

function table({ title, columns, rows }) {
  const head = (text, scope) => {
    const cell = element("th", "", text);
    cell.scope = scope;
    return cell;
  };
  const top = element("tr", "", element("td"), ...columns.map((column) => head(column, "col")));
  const lines = rows.map(([name, values]) =>
    element("tr", "", head(name, "row"), ...values.map((value) => element("td", "", ...[value].flat()))),
  );
  const made = element("table", "", element("caption", "", title));
  made.append(element("thead", "", top), element("tbody", "", ...lines));
  const scroll = element("div", "scroll", made);
  scroll.tabIndex = 0;
  scroll.setAttribute("role", "region");
  scroll.setAttribute("aria-label", visible(title));
  return scroll;
}

// ---------------------------------------------------------------- the data

const WIDE = matchMedia("(min-width: 900px), print"); // a print holds the open dialogue
let page = null;

/** The functions that the scripts in data/ call, each with one JSON text. */
globalThis.parley = {
  index: (text) => {
    page = new Page(JSON.parse(text));
  },
  part: (number, text) => page.take(number, JSON.parse(text)),
  table: (config, text) => page.tables.set(config, JSON.parse(text)),
};
