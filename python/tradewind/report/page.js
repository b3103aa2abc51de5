// Scripts of a page: tables sort and copy as CSV, charts are drawn to fit.
(() => {
  "use strict";

  const rowsOf = (table) => [...table.tBodies[0].rows];
  const valueOf = (cell) => cell.dataset.value ?? cell.textContent.trim().replace(/\s+/g, " ");
  const orderOf = (cell) => cell.dataset.order ?? valueOf(cell);

  // Numbers by size, all else by words; what is empty stays last.
  const compare = (a, b, direction) => {
    if (a === "" || b === "") return (a === "") - (b === "");
    const x = Number(a), y = Number(b);
    const found = Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b, "en", { numeric: true }) : x - y;
    return direction * found;
  };

  const sort = (table, index) => {
    const heads = [...table.tHead.rows[0].cells], head = heads[index];
    const direction = head.ariaSort === "ascending" ? -1 : 1;
    const keyed = rowsOf(table).map((row) => [orderOf(row.cells[index]), row]);
    keyed.sort((one, other) => compare(one[0], other[0], direction));
    table.tBodies[0].append(...keyed.map(([, row]) => row));
    for (const each of heads) each.removeAttribute("aria-sort");
    head.ariaSort = direction === 1 ? "ascending" : "descending";
  };

  const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const csvOf = (table) => {
    const head = [...table.tHead.rows[0].cells].map((cell) => cell.dataset.header);
    const lines = [head, ...rowsOf(table).map((row) => [...row.cells].map(valueOf))];
    return lines.map((line) => line.map(quoted).join(",")).join("\n") + "\n";
  };

  const copy = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {  // the browser gives pages from files no clipboard
      const area = Object.assign(document.createElement("textarea"), { value: text });
      document.body.append(area);
      area.select();
      const done = document.execCommand("copy");
      area.remove();
      return done;
    }
  };

  const button = (text, act) => {
    const made = Object.assign(document.createElement("button"), { type: "button", textContent: text });
    made.addEventListener("click", act);
    return made;
  };

  for (const table of document.querySelectorAll("table.sortable")) {
    [...table.tHead.rows[0].cells].forEach((head, index) => {
      head.replaceChildren(button(head.textContent, () => sort(table, index)));
    });
    const status = Object.assign(document.createElement("span"), { className: "small soft" });
    status.setAttribute("role", "status");
    const tools = Object.assign(document.createElement("div"), { className: "tools" });
    const csv = button("Copy as CSV", async () => {
      const done = await copy(csvOf(table));
      status.textContent = done ? `${rowsOf(table).length} rows copied` : "This browser did not allow copying.";
    });
    csv.setAttribute("aria-describedby", table.caption.id);
    tools.append(csv, status);
    table.parentElement.before(tools);
  }

  // A chart as wide as there is room: fewer panels side by side, the legend below on a narrow page.
  const ROOM = { sides: 90, gap: 25, legend: 210, smallest: 200 };
  const fitted = (specification, room) => {
    const chart = structuredClone(specification), narrow = room < 700;
    if (narrow) Object.assign(chart.config.legend, { orient: "bottom", columns: 2, labelLimit: room / 2 - 40 });
    const free = room - ROOM.sides - (narrow ? 0 : ROOM.legend);
    if (chart.facet && chart.spec) {
      const fit = Math.floor((free + ROOM.gap) / (chart.spec.width + ROOM.gap));
      chart.columns = Math.max(1, Math.min(chart.columns, fit));
      if (chart.columns === 1) chart.spec.width = Math.min(chart.spec.width, Math.max(ROOM.smallest, free));
    } else if (chart.concat) {
      if (narrow) chart.columns = 1;
    } else if (chart.hconcat && narrow) {
      chart.vconcat = chart.hconcat.map((part) => ({ ...part, width: Math.min(part.width, Math.max(ROOM.smallest, free)) }));
      delete chart.hconcat;
    } else if (typeof chart.width === "number" && !chart.vconcat) {
      chart.width = Math.min(chart.width, Math.max(ROOM.smallest, free));
    }
    return chart;
  };

  const actions = { source: false, compiled: false, editor: false, export: true };
  const draw = () => {
    for (const element of document.querySelectorAll("script.specification")) {
      const target = document.getElementById(element.dataset.chart);
      const chart = fitted(JSON.parse(element.textContent), target.clientWidth);
      vegaEmbed(target, chart, { renderer: "svg", actions }).then(() => {
        const picture = target.querySelector("svg.marks");
        picture.setAttribute("role", "img");
        picture.setAttribute("aria-label", chart.description);
      });
    }
  };
  if (window.vegaEmbed) {
    draw();
    let width = innerWidth, later;
    addEventListener("resize", () => {
      clearTimeout(later);
      later = setTimeout(() => { if (innerWidth !== width) { width = innerWidth; draw(); } }, 200);
    });
  }
})();
