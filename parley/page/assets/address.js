// The address: search, choices of the filters, order, open dialogue and kept selection.
"use strict";

const FLAGS = ["around", "apart"];
const SINGLE = ["sort", "version", "id", "turn", "kept"];

/** Read the state from an address: query, scope, filters, order, dialogue, and `kept`, another. */
function readAddress(hash = location.hash) {
  const parameters = new URLSearchParams(hash.slice(1));
  const state = { query: parameters.get("q") ?? "", chosen: new Map() };
  for (const key of FLAGS) state[key] = parameters.has(key);
  for (const key of SINGLE) state[key] = parameters.get(key);
  for (const [key, value] of parameters) readChoice(state.chosen, key, value);
  return state;
}

/** Return the state of a kept selection, which has no order; of all dialogues for null. */
const keptState = (kept) => ({ ...readAddress(`#${kept ?? ""}`), sort: null });

function address(state) {
  const parameters = new URLSearchParams();
  if (state.query) parameters.set("q", state.query);
  for (const key of FLAGS) if (state[key]) parameters.set(key, "1");
  for (const [name, { labels = [], without = [], ...choice }] of state.chosen) {
    for (const label of labels) parameters.append(`is.${name}`, label);
    for (const label of without) parameters.append(`not.${name}`, label);
    for (const way of ["all", "none"]) if (choice[way]) parameters.append(way, name);
    for (const end of ["min", "max"])
      if ((choice[end] ?? null) !== null) parameters.append(`${end}.${name}`, choice[end]);
  }
  for (const key of SINGLE)
    if ((state[key] ?? null) !== null) parameters.set(key, state[key]);
  return `#${parameters}`;
}

/** Read a filter's choice from the address: `is.name=label`, `not.name=label`, `min.name=3`. */
function readChoice(chosen, key, value) {
  const [, kind, name] = /^(is|not|min|max)\.(.*)/s.exec(key) ?? [key, key, value];
  if (!["is", "not", "min", "max", "all", "none"].includes(kind)) return;
  if (!chosen.has(name))
    chosen.set(name, { labels: new Set(), without: new Set(), min: null, max: null });
  const choice = chosen.get(name);
  if (kind === "is") choice.labels.add(value);
  else if (kind === "not") choice.without.add(value);
  else if (kind === "all" || kind === "none") choice[kind] = true;
  else choice[kind] = asNumber(value) ?? NaN;
}

const asNumber = (text) => (text.trim() && Number.isFinite(Number(text)) ? Number(text) : null);
