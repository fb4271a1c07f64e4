// The page of dialogues: its state, how one moves about, keys and controls.
"use strict";

class Page {
  constructor(index) {
    this.index = index;
    this.state = readAddress();
    this.open = -1; // the number of the open dialogue
    this.tab = document.title;
    this.changed = -Infinity; // when something was typed or dragged last
    this.plain = !index.utterances.some(Boolean); // rows without a transcript
    this.filters = index.filters.map((data, place) => {
      const changed = (choice, often) => this.change(this.filters[place], choice, often);
      if (index.own.includes(data.name)) data.ids = index.ids; // SQL has no such filter
      return new (data.labels ? Labels : Numbers)(data, place, changed);
    });
    index.filters = null; // the filters hold it more compactly
    this.dialogues = new Dialogues(index);
    this.selection = new Selection(this.dialogues, this.filters, this.state);
    this.list = new List(this);
    byId("apart").hidden = !this.filters.some((filter) => filter.sides);
    this.listen();
    byId("filters").append(...this.filters.map((filter) => filter.box));
    for (const { name } of this.selection.sorters)
      for (const [sign, first] of Object.entries(FIRST))
        byId("sort").append(new Option(`${visible(name)}, ${first} first`, sign + name));
    const summed = this.filters.filter((filter) => filter.mean);
    this.sums = summed.map((filter) => new Sum(filter, this.dialogues.size));
    byId("sums").append(...this.sums.map((sum) => sum.row));
    byId("numbers").hidden = !this.sums.length;
    if (index.where) byId("sort").options[0].text = "order of the query";
    if (this.plain) byId("around").closest("label").hidden = true;
    this.restore();
    this.dialogues.load(this.open);
  }

  /** Make a loaded part searchable, and load the next. */
  take(number, dialogues) {
    const part = this.dialogues.take(number, dialogues);
    if (this.dialogues.words.length) this.narrow();
    else this.tell();
    const isPart = this.dialogues.get(this.open)?.partOf; // of one that may have come
    if (isPart || (this.open >= part.first && this.open < part.end)) showDialogue(this);
    this.dialogues.load(this.open);
  }

  /** Apply the filters to the search hits, and show the result. */
  narrow() {
    const { selection } = this;
    selection.find();
    for (const filter of this.filters) filter.show();
    const found = selection.isWhole ? undefined : selection.numbers;
    for (const sum of this.sums) sum.show(found, selection.masks);
    byId("clear").disabled = !this.state.chosen.size;
    const { length } = selection.chosen;
    byId("chosen").textContent = length ? `(${length})` : "";
    this.tell();
    this.list.show();
    this.follow();
  }

  tell() {
    const { selection } = this;
    const { count, utterances } = selection;
    const { loaded, parts, words } = this.dialogues;
    const isWhole = loaded === parts.length;
    Object.assign(byId("progress"), { max: parts.length, value: loaded, hidden: isWhole });
    const share = `${Math.round((100 * loaded) / parts.length)}% of the text so far`;
    const so = words.length && !isWhole ? `, in ${share}` : "";
    byId("count").replaceChildren(
      element("strong", "", selection.counted()),
      element("span", "said", selection.inWords() + selection.orderInWords()),
      element("span", "", utterances ? ` ${counted(utterances, "utterance")}${so}` : so),
    );
    byId("load").disabled = !count;
    byId("load").textContent = `Export ${inEnglish(count)} as CSV, JSON, SQL …`;
  }

  /** Open the dialogue in the address, else, on a wide screen, the first hit. */
  follow() {
    const inAddress = this.dialogues.numbers.get(this.state.id);
    document.body.classList.toggle("opened", inAddress !== undefined);
    const first = WIDE.matches && this.state.id === null ? this.selection.numbers[0] : undefined;
    this.open = inAddress ?? first ?? -1;
    byId("window").querySelector("[aria-current]")?.removeAttribute("aria-current");
    const place = this.place();
    if (place >= 0) this.list.row(place).firstChild.setAttribute("aria-current", "true");
    showDialogue(this);
  }

  /** Return the place of the open dialogue in the list, or -1. */
  place() {
    return this.selection.numbers.indexOf(this.open);
  }

  /** The place of the turn in the address, or -1. */
  get turn() {
    return /^\d+$/.test(this.state.turn ?? "") ? Number(this.state.turn) : -1;
  }

  /** Say what the address asks for and this build lacks. */
  warn() {
    const { id, turn, sort } = this.state;
    const { version } = this.index.dataset;
    const { unknown, sorter } = this.selection;
    const warnings = [...unknown];
    if (this.linked !== null && this.linked !== version)
      warnings.push(`The address is of version ${visible(this.linked)}; this is version ${version}.`);
    if (sort !== null && !sorter) warnings.push(`This build has no order by “${visible(sort)}”.`);
    if (id !== null && this.open < 0) warnings.push(`This build has no dialogue “${visible(id)}”.`);
    const dialogue = this.dialogues.get(this.open);
    if (turn !== null && dialogue && !dialogue.turns?.[this.turn])
      warnings.push(`This dialogue has no turn “${visible(turn)}”.`);
    byId("unknown").hidden = !warnings.length;
    byId("unknown").replaceChildren(element("bdi", "", warnings.join(" ")));
  }

  /** Change the state, adding or replacing an entry of the browser's history. */
  go(change, replace = false) {
    Object.assign(this.state, { turn: null }, change);
    this.linked = this.state.version;
    history[replace ? "replaceState" : "pushState"](null, "", address(this.state));
  }

  choose(number, turn = null) {
    this.go({ id: this.dialogues.names[number], turn });
    this.follow();
    byId("dialogue").querySelector("h2")?.focus({ preventScroll: true }); // j and k work again
  }

  step(by) {
    const place = this.place() + by;
    if (place < 0 || place >= this.selection.count) return;
    const pressed = document.activeElement.closest(".steps button")?.getAttribute("aria-label");
    this.list.reveal(place);
    this.choose(this.selection.hits[place]);
    const again = byId("dialogue").querySelector(`.steps [aria-label="${pressed}"]:enabled`);
    again?.focus({ preventScroll: true });
  }

  /** Return the turns of a dialogue at which the user's files differ, as chosen in the filter. */
  differing(number) {
    const { turns = {} } = this.dialogues.get(number)?.own ?? {};
    const labels = [...(this.state.chosen.get("differs")?.labels ?? [])];
    const isChosen = (text) =>
      !labels.length || labels.some((label) => `${text}, `.startsWith(`${label}, `));
    const differs = ({ by, texts }) => by === "differs" && texts.some(isChosen);
    const found = Object.keys(turns).filter((turn) => turns[turn].some(differs));
    return found.map(Number).sort((one, other) => one - other);
  }

  /** Open the next turn, or the next dialogue found, in which the user's files differ. */
  nextDifference() {
    const { numbers, count } = this.selection;
    const here = this.differing(this.open).find((turn) => turn > this.turn);
    const filter = this.filters.find(({ name }) => name === "differs");
    const differs = (number) => filter.of(number).length;
    if (!filter || !numbers.some(differs)) return;
    let [place, number] = [this.place(), this.open];
    for (let step = 0; here === undefined && step < count; step++) {
      place = (place + 1) % count;
      number = numbers[place];
      if (differs(number)) break;
    }
    const turn = here ?? this.differing(number)[0];
    this.choose(number, turn === undefined ? null : `${turn}`);
    this.list.reveal(place);
  }

  back() {
    if (this.state.id !== null) {
      const place = this.place();
      this.go({ id: null });
      this.follow();
      this.list.reveal(place);
      (place < 0 ? byId("list") : this.list.row(place).firstChild).focus();
    } else if (this.state.query || this.state.chosen.size) {
      this.go({ query: "", chosen: new Map() });
      this.restore(this.state);
    }
  }

  /** Show a state, by default the one in the address. */
  restore(state = readAddress()) {
    this.linked = state.version; // the version that the address is of
    Object.assign(this.state, state, { version: this.index.dataset.version });
    if (this.plain) this.state.around = true;
    byId("query").value = state.query;
    byId("around").checked = state.around;
    byId("together").checked = !state.apart;
    byId("sort").value = this.selection.sorter ? state.sort : "";
    this.selection.choose();
    this.dialogues.search(this.state);
    this.narrow();
    if (state.id === null) byId("list").scrollTop = 0;
    else this.list.reveal(this.place()); // so that Tab goes on from the open entry
  }

  /** Change the choice of a filter; changes that follow fast are one entry of the history. */
  change(filter, choice, often = false) {
    const chosen = new Map(this.state.chosen);
    if (choice) chosen.set(filter.name, choice);
    else chosen.delete(filter.name);
    this.go({ chosen, id: null }, often && this.isFast());
    this.selection.choose();
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
      this.dialogues.search(this.state);
      this.narrow();
    });
    byId("search").addEventListener("submit", (event) => {
      event.preventDefault();
      if (this.selection.count) this.choose(this.selection.hits[0]);
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
    byId("list").addEventListener("click", (event) => {
      const row = event.target.closest("li");
      if (!row || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      this.choose(this.selection.hits[row.getAttribute("aria-posinset") - 1]);
    });
    byId("load").addEventListener("click", () => new Export(this.selection).show());
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
      const first = this.selection.count ? this.list.row(0).firstChild : byId("list");
      if (typing || meaning) first.focus();
      else this.back();
    } else if (event.key === "/") {
      event.preventDefault();
      byId("query").focus();
      byId("query").select();
    } else if (event.key === "j" || event.key === "k") {
      this.step(event.key === "j" ? 1 : -1);
    } else if (event.key === "d" && byId("next-difference") && this.selection.count) {
      this.nextDifference();
    }
  }
}

let page = null;

/** The functions that the scripts in data/ call, each with one JSON text. */
globalThis.parley = {
  index: (text) => (page = new Page(JSON.parse(text))),
  part: (number, text) => page.take(number, JSON.parse(text)),
  table: (config, text) => page.dialogues.tables.set(config, JSON.parse(text)),
};
