// The export of a selection: tables and text to download, beside its code.
"use strict";

// A text that a spreadsheet could take for a formula; export/export.py has the same expression.
const FORMULA =
  /^(?:['\t\r\n]|[\s\x00-\x20\x7f-\xa0\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202f\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]*[=+\-@\ufe62\ufe63\ufe66\ufe6b\uff0b\uff0d\uff1d\uff20])/u;

/** Return a value as a cell of CSV: a text that could be a formula gets a ' before it. */
function cell(value) {
  if (typeof value !== "string") return String(value ?? "");
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Return rows, each a Map from column to value, as CSV with the columns of all. */
function csv(rows) {
  const columns = [...new Set(rows.flatMap((row) => [...row.keys()]))];
  const lines = [columns, ...rows.map((row) => columns.map((column) => row.get(column)))];
  return lines.map((line) => `${line.map(cell).join(",")}\r\n`).join("");
}

class Export {
  constructor(selection) {
    this.selection = selection;
    this.index = selection.index;
    this.numbers = [...selection.numbers];
    this.inWords = selection.counted() + selection.inWords() + selection.orderInWords();
    const ids = selection.ids();
    this.files = { "dialogues.csv": () => csv(this.dialogues()) };
    if (this.numbers.some((number) => selection.dialogues.get(number)?.sides))
      this.files["sides.csv"] = () => csv(this.sides());
    this.files["utterances.csv"] = () => csv(this.utterances());
    for (const config of this.index.tables) this.files[`${config}.csv`] = () => this.table(config);
    this.files["dialogues.jsonl"] = () => this.jsonLines();
    this.files["ids.txt"] = () => ids.map((id) => `${id}\n`).join("");
  }

  /** Return the rows of these dialogues in a config as CSV, as `parley export` writes them.
   *
   * Behind those of `utterances` stand the user's labels of the turn.
   */
  async table(config) {
    const { head, ids, lines } = await this.selection.dialogues.table(config);
    const numbers = new Map(this.numbers.map((number) => [this.index.ids[number], number]));
    const linesOf = Map.groupBy(lines.keys(), (place) => ids[place]);
    const columns = config === "utterances" ? this.index.ownOfTurns : [];
    const longer = (line, texts) => `${[line.slice(0, -2), ...texts.map(cell)].join(",")}\r\n`;
    const found = [...numbers].flatMap(([id, number]) => {
      const { own } = this.selection.dialogues.get(number);
      return (linesOf.get(id) ?? []).map((place, turn) => {
        const row = new Map();
        this.addOwn(row, own?.turns?.[turn]);
        return longer(lines[place], columns.map((name) => row.get(name)));
      });
    });
    return longer(head, columns) + found.join("");
  }

  /** Return the columns that name a dialogue, as its turns have them. */
  idOf(number) {
    const { isNumber, key, prefix, split } = this.index.places[this.index.place[number]];
    const id = this.index.ids[number].slice(prefix.length);
    const row = new Map([[key, isNumber ? Number(id) : id]]);
    return prefix ? row.set("split", split) : row;
  }

  /** Add lines of labels to a row, several as one text. */
  addOwn(row, lines = []) {
    for (const { by, texts } of lines)
      if (by !== "differs") this.addFacts(row, texts.map((text) => [by, text]));
  }

  /** Return its config and split, and the splits of other configs that have it. */
  place(number) {
    const { config, split } = this.index.places[this.index.place[number]];
    const filter = this.selection.filters.find(({ name }) => name === "split");
    const all = filter ? filter.of(number).map(([, value]) => filter.labels[value]) : [];
    const other = all.map((label) => label.split("/")).filter(([c, s]) => s && c !== config);
    return [["config", config], ["split", split], ...other];
  }

  /** Add the values of the filters to a row: of the dialogue, or of one side; `lists` as lists.
   *
   * Those of filters by the user's files are added with `own` alone.
   */
  addValues(row, number, side = null, { lists = false, own = false } = {}) {
    for (const filter of this.selection.filters) {
      const { name, labels, sides, ids, complete } = filter; // splits have columns of their own
      if (Boolean(sides) !== (side !== null) || Boolean(ids) !== own || complete) continue;
      const values = filter.of(number).filter(([of]) => !sides || of === side);
      const texts = values.map(([, value]) => (labels ? labels[value] : value));
      if (lists && filter.many) row.set(name, texts);
      else row.set(name, texts.length > 1 ? texts.join("; ") : texts[0]);
    }
  }

  /** Add facts to a row, unless a filter has said the same; several of one label as a list. */
  addFacts(row, facts = [], lists = false) {
    for (const [label, found] of Map.groupBy(facts, ([label]) => label)) {
      const texts = found.map(([, text]) => text);
      if (!row.has(label)) row.set(label, lists && texts.length > 1 ? texts : texts.join("; "));
    }
  }

  dialogues() {
    return this.numbers.map((number) => {
      const { before, after, own } = this.selection.dialogues.get(number);
      const row = new Map([...this.idOf(number), ...this.place(number)]);
      row.set("title", this.index.titles[number]);
      row.set("utterances", this.index.utterances[number]);
      this.addValues(row, number);
      this.addFacts(row, [...(before ?? []), ...(after ?? [])]);
      this.addValues(row, number, null, { own: true });
      this.addOwn(row, own?.rest?.[""]);
      return row;
    });
  }

  sides(numbers = this.numbers, lists = false) {
    return numbers.flatMap((number) => {
      const { sides = [], own } = this.selection.dialogues.get(number);
      return sides.map(([name, known], side) => {
        const row = this.idOf(number).set("side", name);
        this.addValues(row, number, side, { lists });
        this.addFacts(row, known, lists);
        this.addOwn(row, own?.sides?.[side]);
        return row;
      });
    });
  }

  utterances() {
    return this.numbers.flatMap((number) => {
      const { speakers, turns = [], own } = this.selection.dialogues.get(number);
      return turns.map(({ speaker, text, action, notes = [] }, turn) => {
        const row = this.idOf(number)
          .set("turn", turn)
          .set("speaker", speakers[speaker])
          .set("text", text)
          .set("action", action ? "true" : "false")
          .set("labels", notes.map((each) => each.text).join("; "));
        this.addOwn(row, own?.turns?.[turn]);
        return row;
      });
    });
  }

  jsonLines() {
    return this.numbers.map((number) => {
      const { speakers, sides, turns = [], ...rest } = this.selection.dialogues.get(number);
      const filters = new Map();
      for (const ours of [false, true])
        this.addValues(filters, number, null, { lists: true, own: ours });
      const own = {
        ...Object.fromEntries([...this.idOf(number), ...this.place(number)]),
        title: this.index.titles[number],
        filters: Object.fromEntries(filters),
        sides: this.sides([number], true).map((row) => Object.fromEntries(row)),
        turns: turns.map((turn) => ({ ...turn, speaker: speakers[turn.speaker] })),
      };
      return `${JSON.stringify({ ...own, ...rest })}\n`;
    }).join("");
  }

  show() {
    const { selection } = this;
    byId("code-title").textContent = `Export ${selection.counted()}`;
    byId("code-said").replaceChildren(addText(element("span"), this.inWords));
    const { loaded, parts } = selection.dialogues;
    const buttons = Object.entries(this.files).map(([name, text]) => {
      const button = makeButton("", () => this.save(button, name, text), name);
      button.disabled = loaded < parts.length;
      return element("li", "", button);
    });
    byId("code-files").replaceChildren(...buttons);
    byId("code-all").textContent = selection.python();
    byId("code-command").textContent = this.index.load.export;
    const sql = new Sql(selection);
    byId("code-sql").textContent = `${sql}\n-- ${inOneLine(this.inWords)}\n`;
    byId("code-kept").textContent = selection.kept?.sql ?? "";
    byId("code-kept").closest("section").hidden = !selection.kept;
    byId("code-views").textContent = "";
    byId("code-views").closest("details").ontoggle = async () => {
      this.index.views ?? (await loadScript("data/views.js"));
      const tables = new Set([...sql.tables, ...(selection.kept?.tables ?? [])]);
      byId("code-views").textContent = viewsOf(this.index, tables);
    };
    byId("code-cite").textContent = this.index.dataset.citation;
    byId("code").showModal();
  }

  /** Let the browser save the text that a function returns, now or once its script has come. */
  async save(button, name, text) {
    const link = element("a");
    const mark = name.endsWith(".csv") ? "\ufeff" : ""; // by which spreadsheets know UTF-8
    try {
      link.href = URL.createObjectURL(new Blob([mark, await text()], { type: "text/plain" }));
    } catch {
      button.textContent = `${name} failed to load`;
      return;
    }
    link.download = `${this.index.dataset.name}-${name}`.replace(/^.*-(?=ids\.txt$)/, "");
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  }
}
