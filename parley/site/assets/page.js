// The script of every page. Dataset text enters the document only through text nodes.
"use strict";

// ---------------------------------------------------------------- text

// Characters that reorder or hide text are shown as numbers; the same ones as in the terminal.
const CONTROL =
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|\udb40[\udc00-\udc7f]/g;

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

/** Append text to a node; mark the matches and show control characters. */
function addText(node, text, needle = "") {
  const shown = text.slice(0, LONGEST);
  let last = 0;
  for (const [from, to] of needle ? places(shown, needle).slice(0, MARKED) : []) {
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

/** Return [from, to] of each match of a folded needle in an unfolded text. */
function places(text, needle) {
  const folded = fold(text);
  if (!folded.includes(needle)) return [];
  let start = null; // for each character of `folded`, its place in `text`
  if (!/^[\x00-\x7f]*$/.test(text)) {
    start = [];
    let again = "";
    for (const { segment, index } of CHARACTERS.segment(text)) {
      const part = fold(segment);
      for (let n = 0; n < part.length; n++) start.push(index);
      again += part;
    }
    if (again !== folded) return [];
    start.push(text.length);
  }
  const found = [];
  for (let at = folded.indexOf(needle); at >= 0; at = folded.indexOf(needle, at + needle.length)) {
    const end = at + needle.length;
    if (!start) found.push([at, end]);
    else {
      let to = end;
      while (start[to] === start[end - 1]) to++; // the whole character, even if only a part matches
      const from = start[at];
      if (!found.length || from >= found[found.length - 1][1]) found.push([from, start[to]]);
    }
  }
  return found;
}

/** Return a button that calls a function. */
function makeButton(classes, pressed, ...children) {
  const made = element("button", classes, ...children);
  made.type = "button";
  made.addEventListener("click", pressed);
  return made;
}

const inEnglish = (number) => number.toLocaleString("en");
const counted = (number, noun) => `${inEnglish(number)} ${noun}${number === 1 ? "" : "s"}`;

// ---------------------------------------------------------------- every page

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button.copy");
  if (!button) return;
  const code = button.parentElement.querySelector("code");
  try {
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(code); // no permission: select the code for the user to copy
    button.textContent = "Selected";
  }
  setTimeout(() => (button.textContent = "Copy"), 2000);
});

/** Let a checkbox hide the figures that match. */
function figures(box) {
  const rows = [...document.querySelectorAll("tr[data-verdict]")];
  const show = () => {
    for (const row of rows) row.hidden = box.checked && row.dataset.verdict === "matches";
    const shown = rows.filter((row) => !row.hidden).length;
    document.getElementById("figures-shown").textContent = `${shown} of ${rows.length} figures`;
  };
  box.addEventListener("change", show);
  show();
}

const differs = document.getElementById("differs");
if (differs) figures(differs);

// ---------------------------------------------------------------- the dialogues

const ROW = 84; // pixels of an entry of the list, as in the style sheet
const SHOWN = 7; // values of a filter shown at first
const byId = (id) => document.getElementById(id);

/** Read the state from the address: query, scope, filters and open dialogue. */
function readAddress() {
  const said = new URLSearchParams(location.hash.slice(1));
  const state = { query: "", around: false, id: null, chosen: new Map() };
  for (const [key, value] of said) {
    if (key === "q") state.query = value;
    else if (key === "around") state.around = true;
    else if (key === "id") state.id = value;
    else if (key.startsWith("is.")) {
      const name = key.slice(3);
      state.chosen.set(name, (state.chosen.get(name) ?? new Set()).add(value));
    }
  }
  return state;
}

function address(state) {
  const said = new URLSearchParams();
  if (state.query) said.set("q", state.query);
  if (state.around) said.set("around", "1");
  for (const [name, labels] of state.chosen)
    for (const label of labels) said.append(`is.${name}`, label);
  if (state.id !== null) said.set("id", state.id);
  return `#${said}`;
}

class Reader {
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
    this.numeric = new Set(index.numeric);
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
    this.count = 0;
    this.open = -1; // the number of the open dialogue
    this.state = readAddress();
    this.filters = index.filters.map((filter) => new Filter(filter, this));
    this.rows = new Map(); // place in the list -> its entry
    this.listen();
    byId("filters").append(...this.filters.map((filter) => filter.box));
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
    const script = document.createElement("script");
    script.src = `data/${this.parts.indexOf(next)}.js`;
    script.onload = () => script.remove();
    script.onerror = () => {
      byId("count").textContent = "Some text failed to load. Reload the page.";
    };
    document.head.append(script);
  }

  /** Make a loaded part searchable, and load the next. */
  take(number, dialogues) {
    const part = this.parts[number];
    part.dialogues = dialogues;
    const texts = [];
    const owners = []; // dialogue and turn of each utterance, one after the other
    dialogues.forEach((dialogue, place) => {
      (dialogue.turns ?? []).forEach((turn, n) => {
        if (turn.action) return;
        texts.push(fold(turn.text));
        owners.push(part.first + place, n);
      });
    });
    part.said = new Text(texts);
    part.owners = Uint32Array.from(owners);
    this.loaded++;
    byId("progress").value = this.loaded / this.parts.length;
    byId("progress").hidden = this.loaded === this.parts.length;
    if (this.state.query) {
      this.searchPart(part);
      this.narrow();
    } else this.tell();
    if (this.open >= part.first && this.open < part.end) this.showDialogue();
    this.load();
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
    this.needle = fold(this.state.query);
    this.found.fill(0);
    this.first.fill(-1);
    this.matches.fill(this.needle ? 0 : 1);
    if (this.needle) for (const part of this.parts) if (part.dialogues) this.searchPart(part);
    this.narrow();
  }

  searchPart(part) {
    part.said.each(this.needle, (utterance) => {
      const number = part.owners[2 * utterance];
      this.found[number]++;
      this.matches[number] = 1;
      if (this.first[number] < 0) this.first[number] = part.owners[2 * utterance + 1];
    });
    if (!this.state.around) return;
    part.around ??= new Text(
      part.dialogues.map((dialogue, n) => fold(this.around(dialogue, part.first + n))),
    );
    part.around.each(this.needle, (place) => (this.matches[part.first + place] = 1));
  }

  /** Return a dialogue's reasons, descriptions and labels as one text. */
  around(dialogue, number) {
    const { turns = [], ...rest } = dialogue;
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
    const chosen = this.filters.filter((filter) => filter.chosen.length);
    let count = 0;
    let utterances = 0;
    const { places, place } = this.index;
    const beside = new Map(); // config without dialogues -> number of rows
    for (let number = 0; number < this.size; number++) {
      if (!this.matches[number] || !chosen.every((filter) => filter.admits(number))) continue;
      this.hits[count++] = number;
      const { config, beside: apart } = places[place[number]];
      if (apart) beside.set(config, (beside.get(config) ?? 0) + 1);
      else utterances += this.needle ? this.found[number] : this.index.utterances[number];
    }
    this.count = count;
    this.utterances = utterances;
    this.beside = beside;
    for (const filter of this.filters) filter.show(this.hits, count);
    byId("clear").hidden = !chosen.length;
    byId("chosen").textContent = chosen.length ? `(${chosen.length})` : "";
    this.tell();
    this.follow();
    this.showList(true);
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

  tell() {
    const part = this.loaded < this.parts.length && this.needle;
    const so = part
      ? `, in ${Math.round((100 * this.loaded) / this.parts.length)}% of the text so far`
      : "";
    byId("count").replaceChildren(
      element("strong", "", this.counted()),
      element("span", "", this.plain ? so : ` ${counted(this.utterances, "utterance")}${so}`),
    );
    byId("load").disabled = !this.count;
  }

  // ------------------------------------------------------------ the list

  /** Put only the visible entries into the document. */
  showList(anew = false) {
    const list = byId("list");
    const inside = byId("window");
    if (anew) {
      this.rows.clear();
      inside.replaceChildren();
      inside.style.height = `${this.count * ROW}px`;
    }
    const top = list.scrollTop;
    const from = Math.max(0, Math.floor(top / ROW) - 4);
    const to = Math.min(this.count, Math.ceil((top + list.clientHeight) / ROW) + 4);
    for (const [place, row] of this.rows) {
      if ((place < from || place >= to) && !row.contains(document.activeElement)) {
        row.remove();
        this.rows.delete(place);
      }
    }
    for (let place = from; place < to; place++) {
      if (this.rows.has(place)) continue;
      const row = this.entry(place);
      this.rows.set(place, row);
      const next = [...this.rows].filter(([other]) => other > place).sort((a, b) => a[0] - b[0])[0];
      inside.insertBefore(row, next ? next[1] : null);
    }
  }

  entry(place) {
    const { index } = this;
    const number = this.hits[place];
    const link = element("a", number === this.open ? "entry open" : "entry");
    link.href = address({ ...this.state, id: this.names[number] });
    if (number === this.open) link.setAttribute("aria-current", "true");
    const turn = this.first[number];
    const dialogue = turn < 0 ? null : this.dialogue(number);
    const said = dialogue
      ? excerpt(dialogue.turns[turn].text, this.needle)
      : index.openings[number];
    const title = element("bdi", "", index.titles[number] || "(no title)");
    const text = element("span", "excerpt");
    text.dir = "auto";
    text.lang = this.language(number);
    addText(text, said, this.needle);
    link.append(element("span", "title", title));
    if (this.needle && this.found[number])
      link.append(element("span", "sum", counted(this.found[number], "hit")));
    link.append(text);
    const row = element("li", "", link);
    row.style.transform = `translateY(${place * ROW}px)`;
    row.setAttribute("aria-setsize", this.count);
    row.setAttribute("aria-posinset", place + 1);
    return row;
  }

  language(number) {
    return this.index.languages[this.index.language[number]] ?? "";
  }

  /** Scroll the list to a place. */
  reveal(place) {
    const list = byId("list");
    const top = place * ROW;
    if (top < list.scrollTop) list.scrollTop = top;
    else if (top + ROW > list.scrollTop + list.clientHeight)
      list.scrollTop = top + ROW - list.clientHeight;
  }

  // ------------------------------------------------------------ the dialogue

  /** Open the dialogue in the address, else, on a wide screen, the first hit. */
  follow() {
    const named = this.state.id === null ? undefined : this.numbers.get(this.state.id);
    document.body.classList.toggle("opened", named !== undefined);
    this.open = named ?? (WIDE.matches && this.count ? this.hits[0] : -1);
    this.showDialogue();
  }

  place() {
    for (let place = 0; place < this.count; place++)
      if (this.hits[place] === this.open) return place;
    return -1;
  }

  showDialogue() {
    const pane = byId("dialogue");
    if (this.open < 0) {
      const said = this.count ? "Choose a dialogue." : "No dialogue matches.";
      pane.replaceChildren(element("p", "empty", said));
      return;
    }
    const dialogue = this.dialogue(this.open);
    const body = dialogue
      ? layOut(dialogue, this.needle, this.language(this.open), this.chosenLabels())
      : element("p", "empty", "Loading …");
    pane.replaceChildren(this.head(), body);
    const mark = pane.querySelector(".turns mark") ?? pane.querySelector(".note.chosen");
    pane.scrollTop = 0;
    if (mark && WIDE.matches) {
      const turn = mark.closest(".turn");
      pane.scrollTop = Math.max(0, turn.offsetTop - pane.clientHeight / 3);
    }
  }

  /** Return the chosen labels, to highlight them in a dialogue. */
  chosenLabels() {
    return new Set([...this.state.chosen.values()].flatMap((labels) => [...labels]));
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
    const back = makeButton("back", () => this.back(), "Back to the hits");
    const title = element("h2", "", element("bdi", "", index.titles[this.open] || "(no title)"));
    title.tabIndex = -1;
    const where = element("p", "where", `${spot.config}/${spot.split}`);
    if (place >= 0) where.append(` · ${inEnglish(place + 1)} of ${inEnglish(this.count)}`);
    const steps = [button("↑", "Previous dialogue", -1), button("↓", "Next dialogue", 1)];
    const named = element("div", "", title, where);
    return element("header", "head", back, named, element("div", "steps", ...steps));
  }

  // ------------------------------------------------------------ moving about

  /** Change the state, adding or replacing an entry of the browser's history. */
  go(change, replace = false) {
    Object.assign(this.state, change);
    history[replace ? "replaceState" : "pushState"](null, "", address(this.state));
  }

  choose(number) {
    this.go({ id: this.names[number] });
    this.follow();
    this.showList(true);
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

  back() {
    if (this.state.id !== null) {
      const place = this.place();
      this.go({ id: null });
      this.follow();
      this.showList(true);
      const row = this.rows.get(place);
      (row?.querySelector("a") ?? byId("list")).focus();
    } else if (this.state.query || this.state.chosen.size) {
      this.go({ query: "", chosen: new Map() });
      this.restore(this.state);
    }
  }

  /** Show a state, by default the one in the address. */
  restore(state = readAddress()) {
    this.state = state;
    if (this.plain) state.around = true;
    byId("query").value = state.query;
    byId("around").checked = state.around;
    for (const filter of this.filters) filter.choose(state.chosen.get(filter.name));
    this.search();
    const place = this.open < 0 ? -1 : this.place();
    if (place >= 0) {
      this.reveal(place);
      this.showList();
    }
  }

  toggle(filter, label) {
    const chosen = new Map(this.state.chosen);
    const labels = new Set(chosen.get(filter.name));
    if (!labels.delete(label)) labels.add(label);
    if (labels.size) chosen.set(filter.name, labels);
    else chosen.delete(filter.name);
    this.go({ chosen, id: null });
    filter.choose(labels);
    byId("list").scrollTop = 0;
    this.narrow();
  }

  listen() {
    let typing = -Infinity; // last keystroke: fast typing is one history entry
    byId("query").addEventListener("input", (event) => {
      const now = performance.now();
      this.go({ query: event.target.value, id: null }, now - typing < 2000);
      typing = now;
      byId("list").scrollTop = 0;
      this.search();
    });
    byId("search").addEventListener("submit", (event) => {
      event.preventDefault();
      if (this.count) this.choose(this.hits[0]);
    });
    byId("around").addEventListener("change", (event) => {
      this.go({ around: event.target.checked });
      this.search();
    });
    byId("clear").addEventListener("click", () => {
      this.go({ chosen: new Map(), id: null });
      this.restore(this.state);
      byId("query").focus();
    });
    byId("list").addEventListener("scroll", () => this.showList(), { passive: true });
    byId("list").addEventListener("click", (event) => {
      const row = event.target.closest("li");
      if (!row || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      this.choose(this.hits[row.getAttribute("aria-posinset") - 1]);
      byId("dialogue").querySelector("h2")?.focus({ preventScroll: true });
    });
    byId("load").addEventListener("click", () => this.showCode());
    addEventListener("popstate", () => this.restore());
    addEventListener("resize", () => this.showList());
    WIDE.addEventListener("change", () => {
      byId("filters-box").open = WIDE.matches;
      this.follow();
      this.showList(true);
    });
    byId("filters-box").open = WIDE.matches;
    document.addEventListener("keydown", (event) => this.key(event));
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || byId("code").open) return;
    const typing = event.target.id === "query";
    if (event.key === "Escape") {
      event.preventDefault();
      if (typing) (byId("window").querySelector("a") ?? byId("list")).focus();
      else this.back();
    } else if (typing) {
      return;
    } else if (event.key === "/") {
      event.preventDefault();
      byId("query").focus();
      byId("query").select();
    } else if (event.key === "j" || event.key === "k") {
      this.step(event.key === "j" ? 1 : -1);
    }
  }

  // ------------------------------------------------------------ the code

  showCode() {
    byId("code-all-title").textContent = `The ${this.counted()} of this search`;
    byId("code-all").textContent = this.python(this.hits.subarray(0, this.count));
    byId("code-one-part").hidden = this.open < 0;
    byId("code-one").textContent = this.open < 0 ? "" : this.python(Uint32Array.of(this.open));
    byId("code").showModal();
  }

  /** Return the Python that loads exactly the rows of these dialogues. */
  python(numbers) {
    const { index } = this;
    const of = new Map(); // place -> the ids there, as Python
    for (const number of numbers) {
      const place = index.place[number];
      if (!of.has(place)) of.set(place, []);
      const id = index.ids[number];
      of.get(place).push(this.numeric.has(number) && /^-?\d+$/.test(id) ? id : python(id));
    }
    const { path, revision } = index.load;
    const parts = [...of].map(([number, ids]) => {
      const place = index.places[number];
      const config = place.config === index.default ? "" : `, ${python(place.config)}`;
      const exact = revision ? `, revision=${python(revision)}` : "";
      const call = `load_dataset(${python(path)}${config}, split=${python(place.split)}${exact})`;
      if (ids.length === place.rows) return [place, call];
      const values = [...new Set(ids)];
      return [
        place,
        `${call}.filter(\n    lambda row: row[${python(place.column)}] in {${wrapped(values)}}\n)`,
      ];
    });
    const rows =
      parts.length === 1
        ? parts[0][1]
        : `{\n${parts.map(([place, code]) => `    ${python(`${place.config}/${place.split}`)}: ${code.replaceAll("\n", "\n    ")},\n`).join("")}}`;
    return `from datasets import load_dataset\n\nrows = ${rows}\n`;
  }
}

/** Return text as an ASCII Python string in double quotes. */
function python(text) {
  const escaped = [...text].map((sign) => {
    if (sign === '"' || sign === "\\") return `\\${sign}`;
    const code = sign.codePointAt(0);
    if (code >= 32 && code < 127) return sign;
    const hex = code.toString(16);
    return code > 0xffff ? `\\U${hex.padStart(8, "0")}` : `\\u${hex.padStart(4, "0")}`;
  });
  return `"${escaped.join("")}"`;
}

/** Join values with commas, in several lines if there are many. */
function wrapped(values) {
  if (values.join(", ").length < 50) return values.join(", ");
  const lines = [[]];
  let width = 0;
  for (const value of values) {
    if (width + value.length > 84) {
      lines.push([]);
      width = 0;
    }
    lines[lines.length - 1].push(value);
    width += value.length + 2;
  }
  return `\n${lines.map((line) => `        ${line.join(", ")},\n`).join("")}    `;
}

/** Return the part of a text around the first match. */
function excerpt(text, needle) {
  const [[from] = [0]] = places(text, needle);
  if (from < 60) return text.slice(0, 160);
  const start = text.lastIndexOf(" ", from - 30);
  return `… ${text.slice(start > from - 60 ? start + 1 : from - 30, from + 120)}`;
}

/** Many texts joined into one, for a fast search. */
class Text {
  constructor(texts) {
    this.all = texts.join("\0");
    this.ends = new Uint32Array(texts.length); // the end of each text
    let end = -1;
    texts.forEach((text, number) => (this.ends[number] = end += text.length + 1));
  }

  /** Call a function with the number of each matching text. */
  each(needle, found) {
    let number = 0;
    let at = this.all.indexOf(needle);
    while (at >= 0) {
      while (this.ends[number] <= at) number++;
      if (at + needle.length <= this.ends[number]) {
        found(number);
        at = this.ends[number];
      }
      at = this.all.indexOf(needle, at + 1);
    }
  }
}

/** A filter: values or bins, each with a bar. */
class Filter {
  constructor({ name, labels, codes, many }, reader) {
    this.name = name;
    this.labels = labels;
    this.codes = codes;
    this.many = many; // a dialogue can have several values and must have all chosen ones
    this.chosen = [];
    this.all = this.tally(null, codes.length);
    this.most = Math.max(...this.all);
    this.bars = labels.map((label, code) => {
      const now = element("span", "now");
      const whole = element("span", "whole");
      const count = element("span", "number");
      const text = element("span", "label", element("bdi", "", label));
      const pressed = () => reader.toggle(this, label);
      const button = makeButton("value", pressed, whole, now, text, count);
      button.setAttribute("aria-pressed", "false");
      whole.style.width = `${(100 * this.all[code]) / this.most}%`;
      return { now, count, button, shown: -1, item: element("li", "", button) };
    });
    const list = element("ul", "values", ...this.bars.map((bar) => bar.item));
    const id = `filter-${reader.index.filters.findIndex((filter) => filter.name === name)}`;
    const heading = element("h2", "", name);
    heading.id = id;
    list.setAttribute("aria-labelledby", id);
    this.box = element("section", "filter", heading, list);
    if (labels.length > SHOWN + 2) this.fold();
  }

  /** Hide all but the first and the chosen values behind a button. */
  fold() {
    let all = false;
    const more = makeButton("more", () => {
      all = !all;
      this.refold();
    });
    this.refold = () => {
      this.bars.forEach(
        (bar, code) => (bar.item.hidden = !all && code >= SHOWN && !this.chosen.includes(code)),
      );
      more.textContent = all ? "Fewer" : `All ${inEnglish(this.labels.length)}`;
      more.setAttribute("aria-expanded", all);
      this.box.classList.toggle("all", all);
    };
    this.box.append(more);
    this.refold();
  }

  /** Count each value in the hits, or in all dialogues. */
  tally(hits, count) {
    const counts = new Uint32Array(this.labels.length);
    for (let place = 0; place < count; place++) {
      for (const code of this.codes[hits ? hits[place] : place]) counts[code]++;
    }
    return counts;
  }

  choose(labels = new Set()) {
    this.chosen = this.labels.flatMap((label, code) => (labels.has(label) ? [code] : []));
    this.bars.forEach((bar, code) =>
      bar.button.setAttribute("aria-pressed", this.chosen.includes(code)),
    );
    this.refold?.();
  }

  admits(number) {
    const has = (code) => this.codes[number].includes(code);
    return this.many ? this.chosen.every(has) : this.chosen.some(has);
  }

  show(hits, count) {
    this.tally(hits, count).forEach((shown, code) => {
      const bar = this.bars[code];
      if (bar.shown === shown) return;
      bar.shown = shown;
      const all = this.all[code];
      bar.now.style.width = `${(100 * shown) / this.most}%`;
      const of = shown === all ? "" : ` of ${inEnglish(all)}`;
      bar.count.textContent = inEnglish(shown) + of;
      bar.button.classList.toggle("none", !shown);
    });
  }
}

// ---------------------------------------------------------------- laying out

/** Return a dialogue as elements: facts before, turns, outcome. */
function layOut(dialogue, needle, language, chosen) {
  const { speakers = [], before, sides, turns = [], after, tables = [], documents } = dialogue;
  const body = element("div", "body");
  if (before) body.append(facts(before, language, "facts before"));
  if (sides?.some(([, known]) => known.length)) {
    const cards = sides.map(([speaker, known]) =>
      element(
        "section",
        `known ${sideOf(speakers.indexOf(speaker))}`,
        element("h3", "", `Only ${speaker} knew`),
        known.length ? facts(known, language) : element("p", "", "nothing more"),
      ),
    );
    body.append(element("div", "sides", ...cards));
  }
  body.append(turnList(turns, speakers, needle, language, chosen));
  if (after || tables.length || documents) {
    const outcome = element("section", "after", element("h3", "", "Outcome"));
    if (after) outcome.append(facts(after, language));
    outcome.append(...tables.map(table), ...(documents ?? []).map(judged));
    body.append(outcome);
  }
  return body;
}

const sideOf = (speaker) => `side-${Math.min(speaker, 3)}`; // its colour; the second is on the right

function turnList(turns, speakers, needle, language, chosen) {
  const list = element("ol", "turns");
  let last = null;
  for (const turn of turns) {
    const item = element("li", `turn ${sideOf(turn.speaker)}${turn.action ? " action" : ""}`);
    const speaker = element("span", "speaker", element("bdi", "", speakers[turn.speaker]));
    if (turn.speaker === last && !turn.action) speaker.classList.add("hidden");
    const text = element("p", "text");
    text.dir = "auto";
    if (!turn.action) text.lang = language;
    addText(text, turn.text, turn.action ? "" : needle);
    item.append(speaker, text);
    if (turn.terms?.length) item.append(facts(turn.terms, language, "facts terms"));
    if (turn.notes)
      item.append(element("ul", "notes", ...turn.notes.map((each) => note(each, chosen))));
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

/** Return labels with values; ASCII values, such as names and numbers, get no language. */
function facts(pairs, language, classes = "facts") {
  const list = element("dl", classes);
  for (const [label, value] of pairs) {
    const text = element("dd", "", value);
    text.dir = "auto";
    if (/[^\x00-\x7f]/.test(value)) text.lang = language;
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
    element("tr", "", head(name, "row"), ...values.map((value) => element("td", "", value))),
  );
  const made = element("table", "", element("caption", "", title));
  made.append(element("thead", "", top), element("tbody", "", ...lines));
  const scroll = element("div", "scroll", made);
  scroll.tabIndex = 0;
  scroll.setAttribute("role", "region");
  scroll.setAttribute("aria-label", visible(title));
  return scroll;
}

/** Return the documents of one grade, folded: there may be hundreds. */
function judged([grade, ids]) {
  const summary = element("summary", "", `${grade}: ${counted(ids.length, "document")}`);
  const items = ids.map((id) => element("li", "", element("bdi", "", id)));
  return element("details", "", summary, element("ul", "documents", ...items));
}

// ---------------------------------------------------------------- the data

const WIDE = matchMedia("(min-width: 900px)");
let reader = null;

/** The functions that the scripts in data/ call, each with one JSON text. */
globalThis.parley = {
  index: (text) => {
    reader = new Reader(JSON.parse(text));
  },
  part: (number, text) => reader.take(number, JSON.parse(text)),
};
