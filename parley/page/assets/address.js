// The address: search, choices of the filters, order and open dialogue.
"use strict";

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

/** Write the choices into an address. */
function writeChoices(parameters, chosen) {
  for (const [name, { labels = [], without = [], all, none, min = null, max = null }] of chosen) {
    for (const label of labels) parameters.append(`is.${name}`, label);
    for (const label of without) parameters.append(`not.${name}`, label);
    if (all) parameters.append("all", name);
    if (none) parameters.append("none", name);
    if (min !== null) parameters.append(`min.${name}`, min);
    if (max !== null) parameters.append(`max.${name}`, max);
  }
}

const asNumber = (text) => (text.trim() && Number.isFinite(Number(text)) ? Number(text) : null);
