// Tables: sorted, filtered, searched and taken away as CSV. Rows stand in the page, or are made of columns when shown.

const FIRST = 20, MORE = 200;

// Numbers by size, all else by words; what is empty stays last.
const compared = (a, b, direction) => {
  if (a === "" || b === "") return (a === "") - (b === "");
  const x = Number(a), y = Number(b);
  const found = Number.isNaN(x) || Number.isNaN(y) ? String(a).localeCompare(String(b), "en", { numeric: true }) : x - y;
  return direction * found;
};

const numbersIn = (text) => (text ?? "").split(" ").filter(Boolean).map(Number);

// The rows of a table that stands in the page.
const standingRows = (table) => {
  const rows = [...table.tBodies[0].rows];
  const valueOf = (cell) => cell.dataset.value ?? cell.textContent.trim().replace(/\s+/g, " ");
  return {
    length: rows.length,
    first: rows.length,
    value: (row, column) => valueOf(rows[row].cells[column]),
    order: (row, column) => rows[row].cells[column].dataset.order ?? valueOf(rows[row].cells[column]),
    element: (row) => rows[row],
    passes(row, { groups, words }) {
      const own = rows[row].dataset.groups, text = rows[row].textContent.toLowerCase();
      const lines = [...rows[row].querySelectorAll("[data-groups]")];
      for (const line of lines) line.hidden = !numbersIn(line.dataset.groups).some((group) => groups[group]);
      const isMeant = own === undefined || numbersIn(own).some((group) => groups[group]);
      return isMeant && words.every((word) => text.includes(word));
    },
  };
};

const elementOf = (name, className, text) => Object.assign(document.createElement(name), { className, textContent: text });

// A cell made of what the columns of a table have of it.
const cellOf = (column, row, isFirst) => {
  const cell = document.createElement("td");
  if (column.values && !Number.isNaN(column.values[row])) cell.dataset.value = column.values[row];
  cell.className = column.values ? "number" : isFirst ? "name" : "";
  cell.append(elementOf("span", "text", column.texts.at(row)));
  if (column.hints?.at(row)) cell.title = column.hints.at(row);
  for (const tag of column.tags?.at(row).split("\n").filter(Boolean) ?? []) {
    const [look, words] = tag.split("\t");
    cell.append(" ", elementOf("span", `tag ${look}`, words));
  }
  if (column.notes?.at(row)) cell.append(elementOf("div", "small soft", column.notes.at(row)));
  return cell;
};

// The rows of a table of cases, made of typed columns.
const packedRows = ({ cases, columns }) => ({
  length: cases.length,
  first: FIRST,
  value: (row, column) => {
    const { values, texts } = columns[column];
    return values ? (Number.isNaN(values[row]) ? "" : values[row]) : texts.at(row);
  },
  order(row, column) { return this.value(row, column); },
  element: (row) => {
    const made = document.createElement("tr");
    made.append(...columns.map((column, i) => cellOf(column, row, i === 0)));
    return made;
  },
  passes: (row, { cases: passed }) => passed[cases[row]] === 1,
});

class Table {
  constructor(element, rows) {
    this.element = element;
    this.rows = rows;
    this.heads = [...element.tHead.rows[0].cells];
    this.shown = rows.first;
    this.indices = Array.from({ length: rows.length }, (_, i) => i);
    this.more = button("", () => { this.shown = Math.max(MORE, this.shown + MORE); this.show(); });
    this.more.className = "more";
    element.parentElement.after(this.more);
    this.heads.forEach((head, i) => head.replaceChildren(button(head.textContent, () => this.sort(i))));
    this.addTools();
  }

  addTools() {
    const status = elementOf("span", "small soft", ""), name = this.element.id.replace(/-table$/, "");
    status.setAttribute("role", "status");
    const copy = button("Copy as CSV", async () => {
      const done = await copied(this.csv());
      status.textContent = done ? `${this.indices.length} rows copied` : "This browser did not allow copying.";
    });
    const file = button("CSV file", () => saveText(`${name}.csv`, this.csv(), "text/csv"));
    for (const each of [copy, file]) each.setAttribute("aria-describedby", this.element.caption.id);
    const tools = elementOf("div", "tools", "");
    tools.append(copy, file, status);
    this.element.parentElement.before(tools);
  }

  // All rows that pass the choice, as they are sorted; numbers in the units of the heads.
  csv() {
    const lines = this.indices.map((row) => this.heads.map((_, column) => this.rows.value(row, column)));
    return csvOf([this.heads.map((head) => head.dataset.header), ...lines]);
  }

  sort(column) {
    const isDescending = this.heads[column].ariaSort === "ascending";
    order.set(this.element.id, `${isDescending ? "-" : ""}${this.heads[column].dataset.header}`);
    writeAddress();
    this.arrange();
    this.show();
  }

  // Puts the rows in the order that the address asks for.
  arrange() {
    for (const head of this.heads) head.removeAttribute("aria-sort");
    const wanted = order.get(this.element.id) ?? "", header = wanted.replace(/^-/, "");
    const column = this.heads.findIndex((head) => head.dataset.header === header);
    if (column < 0) {
      this.indices.sort((a, b) => a - b);
      return;
    }
    const direction = wanted.startsWith("-") ? -1 : 1;
    const keys = new Map(this.indices.map((row) => [row, this.rows.order(row, column)]));
    this.indices.sort((a, b) => compared(keys.get(a), keys.get(b), direction) || a - b);
    this.heads[column].ariaSort = direction === 1 ? "ascending" : "descending";
  }

  choose(passed) {
    this.indices = [];
    for (let row = 0; row < this.rows.length; row++) if (this.rows.passes(row, passed)) this.indices.push(row);
    this.arrange();
    this.show();
  }

  show() {
    const visible = this.indices.slice(0, this.shown), left = this.indices.length - visible.length;
    this.element.tBodies[0].replaceChildren(...visible.map((row) => this.rows.element(row)));
    this.more.hidden = left === 0;
    this.more.textContent = `Show ${Math.min(left, MORE)} more of ${this.indices.length} rows`;
    const section = this.element.closest("section");
    section.hidden = this.rows.length > 0 && [...section.querySelectorAll("tbody")].every((body) => body.rows.length === 0);
    this.hideEmptyColumns();
  }

  // Columns without anything in the rows of a choice, like machines that are not chosen.
  hideEmptyColumns() {
    if (this.rows.first < this.rows.length || !this.element.querySelector("[data-groups]")) return;
    const rows = [...this.element.tBodies[0].rows];
    const saysNothing = (cell) => [...cell.childNodes].every((node) => node.hidden || !node.textContent.trim());
    this.heads.forEach((head, i) => {
      const isEmpty = isChosen() && rows.every((row) => saysNothing(row.cells[i]));
      for (const cell of [head, ...rows.map((row) => row.cells[i])]) cell.hidden = isEmpty;
    });
  }
}

const tablesOf = (data) =>
  [...document.querySelectorAll("table.sortable")].map((element) => {
    const packed = data?.tables[element.id];
    return new Table(element, packed ? packedRows(packed) : standingRows(element));
  });
