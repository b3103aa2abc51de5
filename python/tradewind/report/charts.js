// Charts: drawn to fit, filtered by the choice, with a legend that highlights and hides, and taken away as files.

const ROOM = { sides: 90, gap: 25, smallest: 200 };
const MANY = 1500;  // marks from which on a canvas is faster than SVG
const LOG = { errors: 1, warnings: 2 };  // Vega's levels; it warns of axes without values
const SHAPES = ["●", "■", "▲", "✚", "◆", "▶", "▼", "◀"];  // in Vega's order

// A chart as wide as there is room: fewer panels side by side on a narrow page.
const fitted = (specification, room) => {
  const chart = structuredClone(specification), free = room - ROOM.sides;
  const narrow = (part) => ({ ...part, width: Math.min(part.width, Math.max(ROOM.smallest, free)) });
  if (chart.config?.legend && room < 700) {
    Object.assign(chart.config.legend, { orient: "bottom", columns: 2, labelLimit: room / 2 - 40 });
  }
  if (chart.facet && chart.spec) {
    const fit = Math.floor((free + ROOM.gap) / (chart.spec.width + ROOM.gap));
    chart.columns = Math.max(1, Math.min(chart.columns, fit));
    if (chart.columns === 1) chart.spec = narrow(chart.spec);
  } else if (chart.concat) {
    if (room < 700) chart.columns = 1;
  } else if (chart.hconcat && room < 700) {
    chart.vconcat = chart.hconcat.map(narrow);
    delete chart.hconcat;
  } else if (typeof chart.width === "number" && !chart.vconcat) {
    return narrow(chart);
  }
  return chart;
};

// The colours of the page for a canvas, which style sheets do not reach.
const inked = (chart) => {
  const style = getComputedStyle(document.documentElement);
  const [ink, line] = ["--ink", "--line"].map((name) => style.getPropertyValue(name).trim());
  const axis = { ...chart.config.axis, labelColor: ink, titleColor: ink, gridColor: line, domainColor: line, tickColor: line };
  return { ...chart, config: { ...chart.config, axis, header: { ...chart.config.header, labelColor: ink, titleColor: ink } } };
};

// The rows of a chart: what its columns have, and the name and the parameters of each row's case.
const chartRows = (rows, cases) => {
  const fields = Object.entries(rows.columns), made = [];
  for (let i = 0; i < rows.case.length; i++) {
    const row = { case: cases.name.at(rows.case[i]), parameters: cases.parameters.at(rows.case[i]) };
    for (const [name, column] of fields) row[name] = column.at(i);
    made.push(row);
  }
  return made;
};

// Evaluates the library of charts, once: half a second of a browser, after the page is shown and answers.
const library = () => {
  library.evaluated ??= (async () => {
    await new Promise((done) => setTimeout(done));
    const { textContent, dataset } = document.getElementById("library");
    const script = document.createElement("script");
    if (!dataset.src) return void document.head.append(Object.assign(script, { textContent }));
    // In a site, where pages share the file of the library.
    await new Promise((done, failed) => {
      document.head.append(Object.assign(script, { src: dataset.src, onload: done, onerror: failed }));
    });
  })();
  return library.evaluated;
};

class Chart {
  constructor(element, figure, data) {
    Object.assign(this, { element, figure, data, passed: null, width: 0, done: Promise.resolve() });
    this.hiddenCurves = hiddenOf(figure.name, figure.legend?.names ?? []);
    this.picture = elementOf("div", "picture", "");
    element.replaceChildren(this.picture);
    if (figure.legend) this.addLegend();
    if (figure.name) this.addTools();
  }

  // The rows of the chart, made when they are needed; null for a chart whose data stand in its specification.
  get rows() {
    this.made ??= this.figure.rows ? chartRows(this.figure.rows, this.data.cases) : null;
    return this.made;
  }

  addLegend() {
    const { title, names, colours, shapes } = this.figure.legend;
    const list = elementOf("div", "legend", "");
    list.setAttribute("role", "group");
    list.setAttribute("aria-label", `${title}: shown curves`);
    list.append(elementOf("span", "soft", title));
    this.entries = names.map((name, i) => {
      const entry = button("", () => this.toggle(name, entry));
      const mark = elementOf("span", "mark", shapes ? SHAPES[i % SHAPES.length] : "■");
      mark.style.color = colours[i % colours.length];
      mark.ariaHidden = "true";
      entry.append(mark, name);
      entry.ariaPressed = "true";
      for (const event of ["pointerenter", "focus"]) entry.addEventListener(event, () => this.highlight(name));
      for (const event of ["pointerleave", "blur"]) entry.addEventListener(event, () => this.highlight(""));
      list.append(entry);
      return [name, entry];
    });
    this.picture.before(list);
  }

  highlight(name) {
    this.view?.signal("highlight", this.hiddenCurves.has(name) ? "" : name).runAsync();
  }

  toggle(name, entry) {
    if (!this.hiddenCurves.delete(name)) this.hiddenCurves.add(name);
    writeAddress();
    choice.showForm();
    this.highlight("");
    this.update();
  }

  addTools() {
    const { name, title } = this.figure, tools = elementOf("div", "tools", "");
    const takes = {
      SVG: async () => saveText(`${name}.svg`, await (await this.whole()).toSVG(), "image/svg+xml"),
      PNG: async () => save(`${name}.png`, await (await this.whole()).toImageURL("png", 2)),
      CSV: () => saveText(`${name}.csv`, this.csv(), "text/csv"),
    };
    for (const [kind, take] of Object.entries(takes)) {
      const made = button(kind, take);
      made.ariaLabel = `${kind} of ${title}`;
      tools.append(made);
    }
    this.picture.after(tools);
  }

  // Whether the case of a row passes the choice.
  isMeant(row) {
    return this.passed === null || this.passed.cases[this.figure.rows.case[row]] === 1;
  }

  // The rows that pass the choice and belong to curves that are not hidden.
  shownRows() {
    return this.rows.filter((row, i) => this.isMeant(i) && !this.hiddenCurves.has(row.curve));
  }

  csv() {
    if (this.rows) {
      const { heads } = this.figure;
      return csvOf([heads.map(([, head]) => head), ...this.shownRows().map((row) => heads.map(([field]) => row[field]))]);
    }
    const rows = [];
    JSON.stringify(this.figure.specification, (key, value) => {
      if (key === "values" && Array.isArray(value) && typeof value[0] === "object") rows.push(...value);
      return value;
    });
    const heads = [...new Set(rows.flatMap(Object.keys))];
    return csvOf([heads, ...rows.map((row) => heads.map((head) => row[head]))]);
  }

  // The chart as it is taken away: with its legend, on white.
  async whole() {
    await library();
    const whole = structuredClone(this.figure.whole ?? this.figure.specification);
    if (this.rows) whole.datasets = { rows: this.shownRows() };
    whole.config.background = "white";
    const logLevel = whole.datasets?.rows.length === 0 ? LOG.errors : LOG.warnings;
    return (await vegaEmbed(document.createElement("div"), whole, { actions: false, renderer: "svg", logLevel })).view;
  }

  // Does what changes the picture in the order in which it is asked for; drawing takes a while. The console has the
  // error of what fails, and what comes later is done.
  inTurn(act) {
    this.done = this.done.then(act).catch(reportError);
    return this.done;
  }

  // Draws the chart, if its room is another than that for which it is drawn. A hidden chart has none.
  draw() {
    return this.inTurn(async () => {
      const room = this.element.clientWidth;
      if (room === 0 || room === this.width) return;
      await library();
      this.width = 0;  // a draw that fails has none, and the next one is not left out
      await this.drawFor(room);
      this.width = room;
    });
  }

  async drawFor(room) {
    const isLarge = this.rows !== null && this.rows.length > MANY;
    let chart = fitted(this.figure.specification, room);
    if (isLarge) chart = inked(chart);
    const shown = this.rows ? this.shownRows() : [];
    if (this.rows) chart.datasets = { rows: shown.length ? shown : this.rows };  // nothing has no size
    this.finalize?.();
    const { view, finalize } = await vegaEmbed(this.picture, chart, { renderer: isLarge ? "canvas" : "svg", actions: false });
    Object.assign(this, { view, finalize });
    const picture = this.picture.querySelector("svg.marks, canvas");
    picture.setAttribute("role", "img");
    picture.setAttribute("aria-label", chart.description);
    if (this.rows && !shown.length) await this.showRows(shown);
  }

  // Puts rows into the drawn chart, which is then as large as they need; without any it keeps its size, and is empty.
  showRows(rows) {
    if (rows.length) this.view.resize();
    return this.view.logLevel(rows.length ? LOG.warnings : LOG.errors).data("rows", rows).runAsync();
  }

  choose(passed) {
    this.passed = passed;
    this.update();
  }

  // Shows the rows of the choice; a figure without any is not there.
  update() {
    const packed = this.figure.rows, curves = new Set();
    for (let i = 0; i < (packed?.case.length ?? 0); i++) if (this.isMeant(i)) curves.add(packed.columns.curve?.at(i));
    const isThere = packed ? curves.size > 0 : !this.figure.groups || this.figure.groups.some((group) => this.passed.groups[group]);
    this.element.closest("figure").hidden = !isThere;
    for (const [name, entry] of this.entries ?? []) {
      entry.hidden = !curves.has(name);
      entry.ariaPressed = String(!this.hiddenCurves.has(name));
    }
    if (packed) this.inTurn(() => this.view && this.showRows(this.shownRows()));
  }
}

const chartsOf = (data) => {
  const figures = data?.figures ?? [...document.querySelectorAll("script.specification")].map((element) => ({
    chart: element.dataset.chart,
    specification: JSON.parse(element.textContent),
  }));
  return figures.map((figure) => new Chart(document.getElementById(figure.chart), figure, data));
};

// Draws one chart after the other, so that the page answers in between.
const drawAll = async (charts) => {
  for (const chart of charts) {
    await chart.draw();
    await new Promise((done) => setTimeout(done));
  }
};

// Draws charts when they are shown for the first time, and again a little after their width has changed.
const followWidths = (charts) => {
  const later = new Map(), chartOf = new Map(charts.map((chart) => [chart.element, chart]));
  const observer = new ResizeObserver((entries) => {
    for (const chart of entries.map(({ target }) => chartOf.get(target))) {
      clearTimeout(later.get(chart));
      later.set(chart, setTimeout(() => chart.draw(), chart.width ? 200 : 0));
    }
  });
  for (const { element } of charts) observer.observe(element);
};
