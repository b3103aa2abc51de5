// The reader's choice: one value of each facet, a search, and the curves that legends hide. It stands in the address,
// and all parts of the page follow.

const choice = { values: new Map(), search: "", listeners: [] };

const addressOf = () => {
  const found = new URLSearchParams([...choice.values].filter(([, value]) => value !== ""));
  if (choice.search) found.set("search", choice.search);
  for (const [name, value] of order) found.set(`sort-${name}`, value);
  for (const [name, curves] of hidden) for (const curve of curves) found.append(`hide-${name}`, curve);
  return found.toString();
};

// How tables are sorted, by their names: "COLUMN" or "-COLUMN". It stands in the address, too.
const order = new Map();

// The curves of legends, and those of them that are hidden, by the names of their figures. The hidden ones stand in the
// address, too.
const legends = new Map(), hidden = new Map();

const hiddenOf = (figure, curves) => {
  legends.set(figure, curves);
  hidden.set(figure, new Set());
  return hidden.get(figure);
};

const readAddress = () => {
  const text = location.hash.slice(1);
  const found = new URLSearchParams(text.includes("=") ? text : "");
  for (const name of choice.values.keys()) choice.values.set(name, found.get(name) ?? "");
  choice.search = found.get("search") ?? "";
  order.clear();
  for (const curves of hidden.values()) curves.clear();
  for (const [key, value] of found) {
    if (key.startsWith("sort-")) order.set(key.slice(5), value);
    const figure = key.startsWith("hide-") ? key.slice(5) : null;
    if (legends.get(figure)?.includes(value)) hidden.get(figure).add(value);  // an address may be of another page
  }
};

const writeAddress = () => history.replaceState(null, "", `#${addressOf()}`);

// Whether there is a choice at all.
const isChosen = () => choice.search !== "" || [...choice.values.values()].some((value) => value !== "");

// Which groups and which cases pass the choice: 1 or 0 each.
const passing = (data) => {
  const wanted = data.facets.map((facet) => choice.values.get(facet.name));
  const groups = data.groups.map((group) => Number(group.every((value, i) => wanted[i] === "" || value === wanted[i])));
  const cases = Uint8Array.from(data.cases.group, (group) => groups[group]);
  const words = choice.search.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length) {
    const texts = searchable(data);
    for (let i = 0; i < cases.length; i++) if (cases[i]) cases[i] = Number(words.every((word) => texts[i].includes(word)));
  }
  return { groups: Uint8Array.from(groups), cases, words };
};

// The text of each case that a search looks at.
const searchable = (data) => {
  data.searchable ??= Array.from(data.cases.group, (group, i) =>
    [data.cases.name.at(i), data.cases.parameters.at(i), ...data.groups[group]].join(" ").toLowerCase());
  return data.searchable;
};

const labelled = (title, control) => {
  const label = document.createElement("label");
  label.append(title, control);
  return label;
};

const selectOf = (facet) => {
  const select = document.createElement("select");
  select.name = facet.name;
  select.append(new Option("all", ""), ...facet.values.map((value) => new Option(value, value)));
  select.addEventListener("change", () => {
    choice.values.set(facet.name, select.value);
    choose();
  });
  return labelled(facet.title, select);
};

// Tells all parts of the page that the choice has changed.
const choose = () => {
  writeAddress();
  for (const listener of choice.listeners) listener();
};

// Fills the form with a control for each facet that has several values.
const showChoice = (form, data) => {
  const several = data.facets.filter((facet) => facet.values.length > 1);
  for (const facet of data.facets) choice.values.set(facet.name, "");
  const search = Object.assign(document.createElement("input"), { type: "search", name: "search", autocomplete: "off" });
  let later;
  search.addEventListener("input", () => {
    clearTimeout(later);
    later = setTimeout(() => { choice.search = search.value.trim(); choose(); }, 120);
  });
  const clear = button("Show all", () => {
    for (const name of choice.values.keys()) choice.values.set(name, "");
    choice.search = "";
    for (const curves of hidden.values()) curves.clear();
    choose();
    form.elements[0].focus();
  });
  const status = document.createElement("output");
  form.append(...several.map(selectOf), labelled("Search", search), clear, status);
  form.addEventListener("submit", (event) => event.preventDefault());
  const show = () => {
    for (const { name } of several) form.elements[name].value = choice.values.get(name);
    if (document.activeElement !== search) search.value = choice.search;
    clear.hidden = !isChosen() && [...hidden.values()].every((curves) => curves.size === 0);
    const { cases } = passing(data);
    const count = cases.reduce((sum, each) => sum + each, 0);
    status.textContent = `${count} of ${cases.length} ${data.unit}`;
  };
  choice.listeners.push(show);
  choice.showForm = show;
  readAddress();
  addEventListener("hashchange", () => { readAddress(); choose(); });
  form.hidden = false;
};
