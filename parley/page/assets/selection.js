// The dialogues that pass search and filters: sorted, counted, in words, as Python and SQL.
"use strict";

const FIRST = { "": "lowest", "-": "highest" }; // sign of an order -> what comes first

class Selection {
  constructor(dialogues, filters, state) {
    Object.assign(this, { dialogues, filters, state, index: dialogues.index });
    this.hits = new Uint32Array(dialogues.size);
    this.masks = new Int32Array(dialogues.size); // the sides of each hit that pass, as bits
    this.keys = new Float64Array(dialogues.size); // by which hits are sorted
    this.sorters = filters.filter((filter) => filter.isNumber);
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
    return this.sorters.find(({ name }) => [name, `-${name}`].includes(this.state.sort));
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
    const ids = this.selecting(); // for places of which they are a part
    const of = new Map(); // place -> number of its dialogues
    for (const number of this.numbers)
      of.set(index.place[number], (of.get(index.place[number]) ?? 0) + 1);
    const { path, revision, first } = index.load;
    const exact = revision ? `, revision=${python(revision)}` : "";
    const isPart = ids && [...of].some(([number, count]) => count < index.places[number].rows);
    const parts = [...of].map(([number, count]) => {
      const { config, split, column, prefix, rows } = index.places[number];
      const name = config === index.default ? "" : `, ${python(config)}`;
      const call = `load_dataset(${python(path)}${name}, split=${python(split)}${exact})`;
      const inSplit = prefix ? `${python(prefix)} + ` : "";
      const filter = `.filter(\n    lambda row: ${inSplit}str(row[${python(column)}]) in ids\n)`;
      return [`${config}/${split}`, ids && count < rows ? call + filter : call];
    });
    const entries = parts.map(
      ([place, code]) => `    ${python(place)}: ${code.replaceAll("\n", "\n    ")},\n`,
    );
    const loaded = parts.length === 1 ? parts[0][1] : `{\n${entries.join("")}}`;
    const before = first ? `# first: ${first}\n` : "";
    const imports = `${revision ? "import huggingface_hub\n" : ""}import parley\n`;
    const top = `${before}${isPart ? imports : ""}from datasets import load_dataset\n\n`;
    return `${top}${isPart ? ids : ""}rows = ${loaded}\n`;
  }

  /** Return the SQL that finds the same dialogues, in their order. */
  sql() {
    const { index, unknown, sorter } = this;
    const { words } = this.dialogues;
    const { around, apart } = this.state;
    const table = `${index.dataset.name}.filters`;
    const of = (condition) => (apart ? `id in (select id from ${table} where ${condition})` : condition);
    const conditions = this.chosen.flatMap((filter) => filter.sql(table)).map(of);
    const has = (text) => words.map((word) => `contains(${text}, ${sqlText(word)})`).join(" and ");
    const utters = `len(list_filter(said, lambda text: ${has("text")})) > 0`;
    if (words.length) conditions.push(around ? `(${utters} or ${has("around")})` : utters);
    if (unknown.length) conditions.push("false");
    const numbered = "numbered as (select id::text as id, row_number() over () as n from chosen)";
    const lines = index.where ? [`with chosen(id) as (`, index.where, `), ${numbered}`] : [];
    lines.push(`select id from ${table}${index.where ? " join numbered using (id)" : ""}`);
    conditions.forEach((each, place) => lines.push(`${place ? "    and" : "where"} ${each}`));
    const order = [index.where ? "min(n)" : "min(place)"];
    if (sorter) {
      const numbers = `numbers[${sqlText(sorter.name)}]`;
      const least = this.sign ? `max(list_max(${numbers})) desc` : `min(list_min(${numbers}))`;
      order.unshift(`${least} nulls last`);
    }
    return [...lines, `group by id order by ${order.join(", ")}`].join("\n");
  }

  /** Return the Python that selects their ids by this SQL, if there is anything to select by. */
  selecting() {
    const { index } = this;
    if (!this.state.query.trim() && !this.chosen.length && !index.where) return "";
    const { path, revision } = index.load;
    const folder = python(revision ? `copy/${index.dataset.name}` : path);
    const copied = revision
      ? `huggingface_hub.snapshot_download(\n    ${python(path)}, repo_type="dataset", ` +
        `revision=${python(revision)}, local_dir=${folder}\n)\n`
      : "";
    const lines = this.sql().split("\n").map((line) => `    ${python(line)},\n`);
    return (
      `# ${inOneLine(this.counted() + this.inWords())}\n${copied}query = [\n${lines.join("")}]\n` +
      `with parley.connect(${folder}) as connection:\n` +
      `    ids = {id for (id,) in connection.execute("\\n".join(query)).fetchall()}\n`
    );
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
