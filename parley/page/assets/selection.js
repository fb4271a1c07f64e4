// The dialogues that pass search and filters: sorted, counted, in words, as Python and SQL.
"use strict";

const FIRST = { "": "lowest", "-": "highest" }; // sign of an order -> what comes first

class Selection {
  constructor(dialogues, filters, state) {
    Object.assign(this, { dialogues, filters, state, index: dialogues.index });
    this.hits = new Uint32Array(dialogues.size);
    this.masks = new Int32Array(dialogues.size); // the sides of each hit that pass, as bits
    const numbers = Uint32Array.from(this.masks, (_, number) => number);
    this.all = { numbers, masks: this.masks.slice().fill(EVERY) };
    this.keys = new Float64Array(dialogues.size); // by which hits are sorted
    this.kept = null; // the sentence and the code of the kept selection
  }

  /** Show the choices of the state in the filters. */
  choose() {
    const { chosen, apart } = this.state;
    this.unknown = []; // the filters of the address that this build lacks
    for (const name of chosen.keys())
      if (!this.filters.some((filter) => filter.name === name))
        this.unknown.push(`This build has no filter “${visible(name)}”.`);
    for (const filter of this.filters) {
      filter.together = !apart;
      this.unknown.push(...filter.choose(chosen.get(filter.name)));
    }
    this.chosen = this.filters.filter((filter) => filter.choice);
    this.labels = new Set([...chosen.values()].flatMap(({ labels }) => [...(labels ?? [])]));
  }

  /** Apply the filters to the search hits, and sort what passes. */
  find() {
    this.count = 0;
    this.utterances = 0;
    this.beside = new Map(); // config without dialogues -> number of rows
    for (const filter of this.filters) filter.reset();
    this.isWhole = !this.chosen.length && !this.dialogues.words.length && !this.unknown.length;
    if (this.isWhole) for (const filter of this.filters) filter.counts.set(filter.whole);
    if (!this.unknown.length)
      for (let number = 0; number < this.dialogues.size; number++)
        if (this.isWhole) this.keep(number);
        else if (this.dialogues.matches[number]) this.tally(number);
    this.sort();
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
    const { words, found } = this.dialogues;
    if (beside) this.beside.set(config, (this.beside.get(config) ?? 0) + 1);
    else this.utterances += words.length ? found[number] : utterances[number];
  }

  /** The numbers of the dialogues found, in their order. */
  get numbers() {
    return this.hits.subarray(0, this.count);
  }

  /** The filter by whose numbers the list is sorted, if any. */
  get sorter() {
    const { sort } = this.state;
    return this.filters.find((each) => each.isNumber && [each.name, `-${each.name}`].includes(sort));
  }

  /** The sign of an order: "" with the lowest number first, "-" with the highest. */
  get sign() {
    return this.state.sort === this.sorter.name ? "" : "-";
  }

  /** Sort what is found by the number of a side that passes, the one that comes first. */
  sort() {
    const { sorter, keys, masks, numbers } = this;
    if (!sorter) return;
    const sign = Number(`${this.sign}1`);
    for (const number of numbers) {
      keys[number] = Infinity;
      const take = (each) => (keys[number] = Math.min(keys[number], sign * each));
      sorter.eachNumber(number, masks[number], take);
    }
    numbers.sort((one, other) => keys[one] - keys[other] || one - other); // none is Infinity
    for (const number of numbers) keys[number] *= sign;
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

  /** Return each id once. */
  ids() {
    return [...new Set(Array.from(this.numbers, (number) => this.index.ids[number]))];
  }

  /** Return the Python that loads the rows of these dialogues. */
  python() {
    const { index } = this;
    const selecting = this.selecting(); // for places of which they are a part
    const of = Map.groupBy(this.numbers, (number) => index.place[number]);
    const { path, revision, first } = index.load;
    const exact = revision ? `, revision=${python(revision)}` : "";
    const isPart = ([place, found]) => this.isAsked && found.length < index.places[place].rows;
    const isSelecting = this.kept || [...of].some(isPart);
    const parts = [...of].map((each) => {
      const { config, split, column, prefix } = index.places[each[0]];
      const name = config === index.default ? "" : `, ${python(config)}`;
      const call = `load_dataset(${python(path)}${name}, split=${python(split)}${exact})`;
      const inSplit = prefix ? `${python(prefix)} + ` : "";
      const filter = `.filter(\n    lambda row: ${inSplit}str(row[${python(column)}]) in ids\n)`;
      return [`${config}/${split}`, isPart(each) ? call + filter : call];
    });
    const entries = parts.map(
      ([place, code]) => `    ${python(place)}: ${code.replaceAll("\n", "\n    ")},\n`,
    );
    const loaded = parts.length === 1 ? parts[0][1] : `{\n${entries.join("")}}`;
    const before = first ? `# first: ${first}\n` : "";
    const imports = `${revision ? "import huggingface_hub\n" : ""}import parley\n`;
    const top = `${before}${isSelecting ? imports : ""}from datasets import load_dataset\n\n`;
    return `${top}${isSelecting ? selecting : ""}rows = ${loaded}\n`;
  }

  /** Whether there is anything to select by. */
  get isAsked() {
    return Boolean(this.dialogues.words.length || this.chosen.length || this.index.where);
  }

  /** Return the Python that selects their ids by SQL, and those of the kept selection. */
  selecting() {
    const { index, kept } = this;
    const asked = this.isAsked ? [["ids", this.told(), `${new Sql(this)}`]] : [];
    if (kept) asked.push(["kept", kept.told, kept.sql]);
    if (!asked.length) return "";
    const { path, revision } = index.load;
    const folder = python(index.load.folder);
    const copied = revision
      ? `huggingface_hub.snapshot_download(\n    ${python(path)}, repo_type="dataset", ` +
        `revision=${python(revision)}, local_dir=${folder}\n)\n`
      : "";
    const queries = asked.map(([name, told, sql]) => {
      const lines = sql.split("\n").map((line) => `    ${python(line)},\n`);
      return `# ${told}\n${name}_query = [\n${lines.join("")}]\n`;
    });
    const rows = (name) => `connection.execute("\\n".join(${name}_query)).fetchall()`;
    const sets = asked.map(([name]) => `    ${name} = {str(id) for (id,) in ${rows(name)}}\n`);
    const connected = `with parley.connect(${folder}) as connection:\n`;
    return copied + queries.join("") + connected + sets.join("");
  }

  /** Return what is found as a line. */
  told() {
    return inOneLine(this.counted() + this.inWords());
  }
}

const inOneLine = (text) => visible(text).replace(/\s+/g, " ");

/** Return text as an ASCII Python string in double quotes. */
function python(text) {
  return JSON.stringify(text).replace(/[^ -~]/gu, (sign) => {
    const code = sign.codePointAt(0).toString(16);
    return code.length > 4 ? `\\U${code.padStart(8, "0")}` : `\\u${code.padStart(4, "0")}`;
  });
}
