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
    this.filters = [];
    this.sums = [];
    this.meanings = new Map(); // of labels
    this.dialogues = new Dialogues(index);
    this.selection = new Selection(this.dialogues, this.filters, this.state);
    this.list = new List(this);
    this.add(index.filters, byId("filters"));
    index.filters = null; // the filters hold it more compactly
    this.folds = new Map(index.more.map((more) => [more.config, this.fold(more)]));
    byId("more").append(...this.folds.values());
    byId("more").hidden = !this.folds.size;
    this.listen();
    if (index.where) byId("sort").options[0].text = "order of the query";
    if (this.plain) byId("around").closest("label").hidden = true;
    this.restore().then(() => {
      const { clientHeight, parentElement } = byId("list"); // of which the numbers take up to 40%
      const rest = clientHeight - 0.4 * parentElement.clientHeight;
      byId("numbers").open = WIDE.matches && rest >= 5 * ROW; // five in sight beside them
    });
    this.dialogues.load(this.open);
  }

  /** Add filters to a box, with their orders and numbers. */
  add({ filters, lists }, box, isMore = false) {
    for (const { lengths, sides, ...data } of filters) {
      const changed = (choice, often) => this.change(filter, choice, often);
      const own = { lengths: lists[lengths], sides: lists[sides], isMore };
      if (this.index.own.includes(data.name)) own.ids = this.index.ids; // SQL has no such filter
      const filter = new (data.labels ? Labels : Numbers)(
        { ...data, ...own }, this.filters.length, changed,
      );
      this.filters.push(filter);
      data.meanings?.forEach((meaning, code) => this.meanings.set(data.labels[code], meaning));
      box.append(filter.box);
      if (!filter.isNumber) continue;
      for (const [sign, first] of Object.entries(FIRST))
        byId("sort").append(new Option(`${visible(data.name)}, ${first} first`, sign + data.name));
      this.sums.push(new Sum(filter));
      byId("sums").append(this.sums.at(-1).rows);
    }
    byId("apart").hidden = !this.filters.some((filter) => filter.sides);
    byId("numbers").hidden = !this.sums.length;
  }

  /** Return the fold of a config's other columns, which come when it is opened. */
  fold({ config, about, names }) {
    const head = element("summary", "", element("bdi", "", config), ` (${names.length})`);
    const each = "Each filter holds by itself: two may hold in different rows.";
    const one = this.index.configs[config].one;
    const fold = element("details", "", head, element("p", "hint", `${about}. ${one ? "" : each}`));
    const show = () => this.load(config).then(() => this.count(true));
    fold.addEventListener("toggle", show, { once: true });
    return fold;
  }

  /** Load the other columns of a config. */
  async load(config) {
    const fold = this.folds.get(config);
    fold.loading ??= loadScript(`data/columns-${config}.js`).catch(() => {
      fold.append(element("p", "hint", "These filters failed to load. Reload the page."));
    });
    await fold.loading;
  }

  /** Return the configs whose columns a state asks for, and which have not come. */
  missing({ chosen, sort, kept }) {
    const asked = new Set([...chosen.keys(), ...keptState(kept).chosen.keys(), sort?.replace(/^-/, "")]);
    for (const { name } of this.filters) asked.delete(name);
    const isMissing = ({ names }) => names.some((name) => asked.has(name));
    return this.index.more.filter(isMissing).map(({ config }) => config);
  }

  /** Make a loaded part searchable, and load the next. */
  take(number, dialogues) {
    const part = this.dialogues.take(number, dialogues);
    if (this.compared === undefined) this.dialogues.load(this.open); // its columns are to come
    else if (this.dialogues.words.length || this.state.kept !== null) this.narrow();
    else this.tell();
    if (this.compared === undefined) return;
    const isPart = this.dialogues.get(this.open)?.partOf; // of one that may have come
    if (isPart || (this.open >= part.first && this.open < part.end)) showDialogue(this);
    this.dialogues.load(this.open);
  }

  /** Apply search and filters, and show the result. */
  narrow(isNew = false) {
    this.count(isNew);
    this.tell();
    this.list.show();
    this.follow();
  }

  /** Search, count the kept selection, and apply the filters, as far as that is new. */
  count(isNew) {
    const { selection, dialogues } = this;
    const { kept } = this.state;
    const loaded = kept !== null && dialogues.loaded;
    const compared = [this.filters.length, byId("numbers").open, loaded, kept].join(" ");
    if (compared !== this.compared) this.compare(kept);
    if (isNew || compared !== this.compared) {
      selection.choose();
      dialogues.search(this.state);
    }
    this.compared = compared;
    selection.find();
    for (const each of this.counters) each.show(selection);
    byId("keep").disabled = selection.isWhole;
    byId("clear").disabled = !this.state.chosen.size && !this.state.query;
    const { length } = selection.chosen;
    byId("chosen").textContent = length ? `(${length})` : "";
  }

  /** What counts the selection: the filters, and the numbers where they are shown. */
  get counters() {
    return byId("numbers").open ? [...this.filters, ...this.sums] : this.filters;
  }

  /** Count what stands beside the selection: the kept one, or all dialogues for null. */
  compare(kept) {
    const { selection, dialogues } = this;
    const isKept = kept !== null;
    if (isKept) {
      selection.state = keptState(kept);
      selection.choose();
      dialogues.search(selection.state);
      selection.find();
    }
    for (const each of this.counters) each.compare(isKept, selection);
    const sql = isKept ? new Sql(selection) : null;
    selection.kept = sql && { told: selection.told(), sql: `${sql}`, tables: sql.tables };
    selection.state = this.state;
    byId("kept").hidden = !isKept;
    byId("kept-said").replaceChildren(`Kept: ${selection.kept?.told ?? ""}`);
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
    if (place >= 0) this.list.row(place).firstChild.ariaCurrent = "true";
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
    this.keep();
    Object.assign(this.state, { turn: null }, change);
    this.linked = this.state.version;
    history[replace ? "replaceState" : "pushState"](null, "", address(this.state));
  }

  /** Keep in the browser's history where the list stands. */
  keep() {
    const { scrollTop } = byId("list");
    if (scrollTop !== (history.state ?? 0)) history.replaceState(scrollTop, "");
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
    const { numbers } = this.selection;
    const here = this.differing(this.open).find((turn) => turn > this.turn);
    const filter = this.filters.find(({ name }) => name === "differs");
    const behind = this.place() + 1;
    const others = [...numbers.subarray(behind), ...numbers.subarray(0, behind)];
    const next = others.find((number) => filter?.of(number).length);
    if (next === undefined) return;
    const number = here === undefined ? next : this.open;
    const turn = here ?? this.differing(number)[0];
    this.choose(number, turn === undefined ? null : `${turn}`);
    this.list.reveal(this.place());
  }

  back() {
    if (this.state.id === null) return;
    const place = this.place();
    this.go({ id: null });
    this.follow();
    this.list.reveal(place);
    (place < 0 ? byId("list") : this.list.row(place).firstChild).focus();
  }

  /** Show a state, by default the one in the address. */
  async restore(state = readAddress()) {
    for (const config of this.missing(state)) {
      await this.load(config);
      this.folds.get(config).open = true;
    }
    this.linked = state.version; // the version that the address is of
    Object.assign(this.state, state, { version: this.index.dataset.version });
    if (this.plain) this.state.around = true;
    byId("query").value = state.query;
    byId("around").checked = state.around;
    byId("together").checked = !state.apart;
    byId("sort").value = this.selection.sorter ? state.sort : "";
    this.narrow(true);
    byId("list").scrollTop = history.state ?? 0;
    if (state.id !== null) this.list.reveal(this.place()); // so that Tab goes on from the open entry
  }

  /** Change the choice of a filter; changes that follow fast are one entry of the history. */
  change(filter, choice, often = false) {
    const chosen = new Map(this.state.chosen);
    if (choice) chosen.set(filter.name, choice);
    else chosen.delete(filter.name);
    this.go({ chosen, id: null }, often && this.isFast());
    byId("list").scrollTop = 0;
    this.narrow(true);
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
      this.narrow(true);
    });
    byId("search").addEventListener("submit", (event) => {
      event.preventDefault();
      if (this.selection.count) this.choose(this.selection.hits[0]);
    });
    const on = (id, kind, act) => byId(id)?.addEventListener(kind, act);
    const apply = (change) => {
      this.go(change);
      this.restore(this.state);
    };
    on("around", "change", ({ target }) => apply({ around: target.checked }));
    on("together", "change", ({ target }) => apply({ apart: !target.checked, id: null }));
    on("sort", "change", ({ target }) => apply({ sort: target.value || null, id: null }));
    for (const kind of ["pointerover", "focusin"])
      on("filters", kind, () => byId("filters").classList.remove("still"));
    on("clear", "click", () => {
      apply({ query: "", chosen: new Map(), id: null });
      byId("query").focus();
    });
    on("list", "click", (event) => {
      const row = event.target.closest("li");
      if (!row || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      this.choose(this.selection.hits[row.ariaPosInSet - 1]);
    });
    on("keep", "click", () => {
      const { query, around, apart, chosen } = this.state;
      apply({ kept: address({ query, around, apart, chosen }).slice(1) });
    });
    on("drop", "click", () => apply({ kept: null }));
    on("load", "click", () => new Export(this.selection).show());
    on("next-difference", "click", () => this.nextDifference());
    addEventListener("popstate", () => this.restore());
    addEventListener("pagehide", () => this.keep());
    WIDE.addEventListener("change", () => {
      byId("filters-box").open = WIDE.matches;
      byId("numbers").open &&= WIDE.matches;
      this.follow();
    });
    byId("filters-box").open = WIDE.matches;
    on("numbers", "toggle", () => this.compared && this.count(true));
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
      const [help, isHelp] = [byId("help"), byId("help").open];
      const first = this.selection.count ? this.list.row(0).firstChild : byId("list");
      help.open = false;
      if (isHelp) help.firstElementChild.focus();
      else if (typing || meaning) first.focus();
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
  columns: (config, text) => page.add(JSON.parse(text), page.folds.get(config), true),
  table: (config, text) => page.dialogues.tables.set(config, JSON.parse(text)),
  views: (text) => (page.index.views = JSON.parse(text)),
};
