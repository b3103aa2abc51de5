// The start of a page.

const shownSections = () => {
  for (const section of document.querySelectorAll("section")) {
    const figures = [...section.querySelectorAll("figure")];
    if (figures.length) section.hidden = figures.every((figure) => figure.hidden);
  }
  for (const link of document.querySelectorAll("nav a")) {
    link.hidden = document.querySelector(link.hash)?.hidden ?? false;
  }
};

const start = async () => {
  const data = await unpacked();
  const tables = tablesOf(data), charts = document.getElementById("library") ? chartsOf(data) : [];
  const show = () => {
    const passed = data ? passing(data) : { groups: [], cases: [], words: [] };
    for (const part of [...tables, ...(data ? charts : [])]) part.choose(passed);
    shownSections();
  };
  if (data) showChoice(document.getElementById("choice"), data);
  else readAddress();
  choice.listeners.push(show);
  for (const listener of choice.listeners) listener();
  // A link inside the page scrolls, and leaves the choice in the address.
  for (const link of document.querySelectorAll("nav a")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      document.querySelector(link.hash).scrollIntoView();
    });
  }
  document.documentElement.dataset.ready = "tables";
  performance.mark("tables");
  await drawAll(charts);
  document.documentElement.dataset.ready = "all";
  followWidths(charts);
};

start();
