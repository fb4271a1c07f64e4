// The dialogues: loaded part by part, and searched for words.
"use strict";

/** Run a script; fail if it does not come. */
function loadScript(src) {
  const script = document.createElement("script");
  const ran = new Promise((onload, onerror) => Object.assign(script, { src, onload, onerror }));
  document.head.append(script);
  return ran.finally(() => script.remove());
}

class Dialogues {
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
    this.parts = index.parts.map((first, n) => ({ first, end: index.parts[n + 1] ?? this.size }));
    this.tables = new Map(); // config -> its lines of CSV, once somebody has asked for them
    this.found = new Uint32Array(this.size); // matching utterances of each dialogue
    this.matches = new Uint8Array(this.size); // whether the dialogue matches
    this.first = new Int32Array(this.size); // the first matching turn, or -1
    this.words = [];
  }

  /** Load the next part; the open dialogue's part first. */
  load(open) {
    const part = this.partOf(open);
    const next = part?.dialogues ? this.parts.find((each) => !each.dialogues) : part;
    if (!next) return;
    loadScript(`data/${this.parts.indexOf(next)}.js`).catch(() => {
      byId("count").textContent = "Some text failed to load. Reload the page.";
    });
  }

  /** Make a loaded part searchable, search it, and return it. */
  take(number, dialogues) {
    const part = Object.assign(this.parts[number], { dialogues });
    part.texts = dialogues.map(({ turns = [] }) =>
      turns.map((turn) => (turn.action ? "" : fold(turn.text))),
    );
    this.searchPart(part);
    return part;
  }

  /** How many parts have come. */
  get loaded() {
    return this.parts.filter((part) => part.dialogues).length;
  }

  /** Load the lines of a config as CSV, each with the id of its dialogue. */
  async table(config) {
    if (!this.tables.has(config)) await loadScript(`data/table-${config}.js`);
    return this.tables.get(config);
  }

  partOf(number) {
    return this.parts.find((part) => number < part.end);
  }

  get(number) {
    const part = this.partOf(number);
    return part?.dialogues?.[number - part.first];
  }

  language(number) {
    return this.index.languages[this.index.language[number]] ?? "";
  }

  /** Find a query in what is loaded: in utterances, or also `around` them. */
  search({ query, around }) {
    this.words = wordsOf(query).map(fold);
    this.isAround = around;
    this.found.fill(0);
    this.first.fill(-1);
    this.matches.fill(this.words.length ? 0 : 1);
    for (const part of this.parts) if (part.dialogues) this.searchPart(part);
  }

  searchPart(part) {
    if (!this.words.length) return;
    const hasAll = (text) => this.words.every((word) => text.includes(word));
    if (this.isAround)
      part.around ??= part.dialogues.map((dialogue, n) => fold(this.around(dialogue, part.first + n)));
    for (const [place, texts] of part.texts.entries()) {
      const number = part.first + place;
      texts.forEach((text, turn) => {
        if (!hasAll(text)) return;
        this.found[number]++;
        if (this.first[number] < 0) this.first[number] = turn;
      });
      if (this.found[number] || (this.isAround && hasAll(part.around[place])))
        this.matches[number] = 1;
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
}
