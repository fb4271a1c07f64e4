// The SQL of a selection, over the tables of the build.
"use strict";

const RESERVED = new Set(
  (
    "all analyse analyze and any array as asc asymmetric both case cast check collate column " +
    "constraint create default deferrable desc describe distinct do else end except false fetch " +
    "for foreign from group having in initially intersect into lambda lateral leading limit not " +
    "null offset on only or order pivot pivot_longer pivot_wider placing primary qualify " +
    "references returning select show some summarize symmetric table then to trailing true union " +
    "unique unpivot using variadic when where window with"
  ).split(" "),
);

/** Return a name as an identifier of SQL. */
function sqlName(name) {
  const isPlain = /^[a-z_][a-z0-9_]*$/.test(name) && !RESERVED.has(name);
  return isPlain ? name : `"${name.replaceAll('"', '""')}"`;
}

/** Return text as a literal of SQL, or as texts and the numbers of control characters. */
function sqlText(text) {
  const part = (each) => `'${each.replaceAll("'", "''")}'`;
  const shown = text.split(CONTROL_SIGN).map((each, n) => (n % 2 ? `chr(${each.codePointAt(0)})` : part(each)));
  return shown.length > 1 ? `(${shown.join(" || ")})` : shown[0];
}

const sqlTexts = (texts) => texts.map(sqlText).join(", ");

/** Return a range as a condition of SQL on a number. */
function sqlRange(x, { min, max }) {
  if (min === null || max === null) return min === null ? `${x} <= ${max}` : `${x} >= ${min}`;
  return min === max ? `${x} = ${min}` : `${x} between ${min} and ${max}`;
}

/** The SQL that finds the dialogues of a selection in their order. */
class Sql {
  constructor(selection) {
    const { index, chosen, dialogues, unknown } = selection;
    Object.assign(this, { selection, index, tables: new Set(), conditions: [], sides: [] });
    this.ofRows = new Map(); // what one row must be, each with the start of its query
    this.isShared = index.places.some(({ prefix }) => prefix); // ids, by several splits
    const configs = new Set(index.places.map(({ config }) => config));
    this.home = configs.size > 1 ? "" : index.places[0].config; // "" if they are of several
    this.column = this.home ? sqlName(index.places[0].column) : "id";
    this.id = this.isShared ? `split || '/' || ${this.column}` : this.column;
    this.key = this.isShared ? `(${this.column}, split)` : this.column;
    for (const filter of chosen) this.add(filter);
    for (const [query, { tests, isOfSide }] of this.ofRows)
      this.addQuery(`${query} where ${tests.join(" and ")}`, isOfSide);
    if (this.sides.length) this.conditions.unshift(`${this.key} in (select ${this.sideKeys} from sides)`);
    if (dialogues.words.length) this.conditions.push(this.searched());
    if (unknown.length) this.conditions.push("false");
  }

  /** Return a table, which the query needs. */
  table(config) {
    this.tables.add(config);
    return `${sqlName(this.index.dataset.name)}.${sqlName(config)}`;
  }

  /** Return the columns that name a dialogue in a config. */
  keys(config, column = this.index.configs[config].id) {
    return sqlName(column) + (this.isShared ? ", split" : "");
  }

  add(filter) {
    if (filter.ids) this.conditions.push(this.among((number) => filter.passing(number)));
    else if (!filter.column) this.conditions.push(...this.inSplits(filter));
    else if (!filter.column.path.length)
      this.conditions.push(sqlRange(this.rowsOf(filter.column.config), filter.choice));
    else for (const test of filter.tests()) this.addTest(filter, test);
  }

  /** Add what a filter asks of dialogues or sides; what it asks of one row as one query. */
  addTest({ column: { config, one }, sides, together }, { where, having, nobody }) {
    const keys = this.keys(config);
    const isOfSide = Boolean(sides && together && !nobody);
    if (isOfSide) this.sideKeys ??= keys;
    if (one && config === this.home) return this.conditions.push(where);
    const query = `select ${keys}${isOfSide ? ", speaker" : ""} from ${this.table(config)}`;
    if (one && !nobody && (isOfSide || !sides)) {
      if (!this.ofRows.has(query)) this.ofRows.set(query, { tests: [], isOfSide });
      return this.ofRows.get(query).tests.push(where);
    }
    const who = keys + (sides && !nobody ? ", speaker" : "");
    const isOfRow = !having || (one && !nobody);
    this.addQuery(query + (isOfRow ? ` where ${where}` : ` group by ${who} having ${having}`), isOfSide);
  }

  addQuery(query, isOfSide) {
    if (isOfSide) this.sides.push(query);
    else this.conditions.push(`${this.key} in (${query})`);
  }

  /** Return the conditions on splits: of the config itself, else on being in one of others. */
  inSplits({ labels, needed, excluded }) {
    const isIn = (codes) => {
      const found = codes.map((code) => {
        const [config, split] = labels[code].split("/");
        if (!split) return `split = ${sqlText(config)}`;
        const query = `select ${this.keys(config)} from ${this.table(config)}`;
        return `${this.key} in (${query} where split = ${sqlText(split)})`;
      });
      return `(${found.join(" or ")})`;
    };
    return [...needed.map(isIn), ...(excluded.length ? [`not ${isIn(excluded)}`] : [])];
  }

  /** Return the condition to be among the dialogues that a function finds. */
  among(passes) {
    const { ids, places } = this.index;
    const isNumber = places.every((each) => each.isNumber) && !this.isShared;
    const found = [...new Set(ids.filter((_, number) => passes(number)))];
    return `${this.id} in (${isNumber ? found.join(", ") : sqlTexts(found)})`;
  }

  /** Return the condition that a text has all words; what is around utterances, as ids. */
  searched() {
    const { index, selection } = this;
    const { matches, words } = selection.dialogues;
    if (selection.state.around || !index.said.length)
      return `/* a search of the page */ ${this.among((number) => matches[number])}`;
    const has = (text) => {
      const folded = index.folded.replace("{}", () => text);
      return words.map((word) => `contains(${folded}, ${sqlText(word)})`).join(" and ");
    };
    const found = index.said.map(({ config, text, list }) => {
      const passes = list ? `len(list_filter(${text}, lambda said: ${has("said")})) > 0` : has(text);
      return `${this.key} in (select ${this.keys(config)} from ${this.table(config)} where ${passes})`;
    });
    return `(${found.join(" or ")})`;
  }

  /** Return the query of a value of the rows of a dialogue. */
  ofDialogue(value, config, column) {
    const shared = this.isShared ? " and t.split = d.split" : "";
    const from = `${this.table(config)} t where t.${sqlName(column)} = d.${this.column}`;
    return `select ${value} from ${from}${shared}`;
  }

  /** Return the number of a config's rows; null for a row that is no dialogue. */
  rowsOf(config) {
    const rows = `(${this.ofDialogue("count(*)", config, this.index.configs[config].counts)})`;
    const beside = this.index.places.filter((place) => place.beside).map((place) => place.config);
    return beside.length ? `case when config not in (${sqlTexts(beside)}) then ${rows} end` : rows;
  }

  /** Return the number by which to sort: the one that comes first of the sides that pass. */
  sortedBy({ column: { config, path, list, one }, ranks, sides }, least) {
    if (!path.length) return this.rowsOf(config);
    const x = path.map(sqlName).join(".");
    const value = ranks ? `enum_code(${x})` : list ? `list_${least}(${x})` : x;
    if (one && config === this.home) return value;
    const passing = sides && this.sides.length;
    const own = passing ? ` and (${this.keys(config)}, speaker) in (from sides)` : "";
    const query = this.ofDialogue(`${least}(${value})`, config, this.index.configs[config].id);
    return `(${query}${own})`;
  }

  toString() {
    const { index, sides, home, selection } = this;
    const [named, conditions, order] = [[], [...this.conditions], []];
    if (selection.sorter) {
      const [least, down] = selection.sign ? ["max", " desc"] : ["min", ""];
      order.push(`${this.sortedBy(selection.sorter, least)}${down} nulls last`);
    }
    if (index.where) {
      const numbered = "select id::text as id, row_number() over () as n from chosen";
      named.push(`chosen(id) as (\n${index.where}\n)`, `numbered as (${numbered})`);
      conditions.unshift(`(${this.id})::text in (select id from numbered)`);
      order.push(`(select min(n) from numbered where numbered.id = (${this.id})::text)`);
    }
    if (!home) named.push(`entries as (\n    ${this.entries().join("\n    union all ")}\n)`);
    if (sides.length) named.push(`sides as (\n    ${sides.join("\n    intersect ")}\n)`);
    return [
      ...(named.length ? [`with ${named.join(", ")}`] : []),
      `select ${this.id}${this.isShared ? " as id" : ""} from ${home ? this.table(home) : "entries"} d`,
      ...conditions.map((each, place) => `${place ? "    and" : "where"} ${each}`),
      `order by ${[...order, home ? "split" : "part", "place_in_split"].join(", ")}`,
    ].join("\n");
  }

  /** Return the queries of the dialogues of each config, in the order of the page. */
  entries() {
    const { places, place } = this.index;
    const before = [];
    return places.map(({ config, split, column, rows }, part) => {
      const from = `${this.table(config)} where split = ${sqlText(split)}`;
      const isPart = place.filter((each) => each === part).length < rows;
      const others = isPart ? before.map((each) => ` and ${sqlName(column)} not in (${each})`) : [];
      before.push(`select ${sqlName(column)} from ${from}`);
      const columns = `${sqlName(column)} as id, ${sqlText(config)} as config, split::text as split`;
      return `select ${columns}, ${part} as part, place_in_split from ${from}${others.join("")}`;
    });
  }
}

/** Return the statements that make tables of the Parquet files, for any DuckDB. */
function viewsOf({ dataset, views }, tables) {
  const made = [...tables].filter((config) => Object.hasOwn(views, config));
  return `create schema if not exists ${dataset.name};\n${made.map((config) => `${views[config]};\n`).join("")}`;
}
