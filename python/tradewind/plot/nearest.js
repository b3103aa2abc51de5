// Names the switch or the link that is nearest to the pointer, or that has the focus, in the picture of a machine.
(() => {
  "use strict";

  const SAMPLES = 12;  // points of a line that are looked at
  const picture = document.querySelector("svg"), note = document.getElementById("note");
  const marks = [...picture.querySelectorAll("circle, path")].filter((mark) => mark.querySelector("title"));

  const pointsOf = (mark) => {
    if (mark.tagName === "circle") return [[mark.cx.baseVal.value, mark.cy.baseVal.value]];
    const length = mark.getTotalLength();
    return Array.from({ length: SAMPLES }, (_, i) => {
      const { x, y } = mark.getPointAtLength((length * (i + 0.5)) / SAMPLES);
      return [x, y];
    });
  };
  const known = marks.map((mark) => ({ mark, words: mark.querySelector("title").textContent, points: pointsOf(mark) }));
  for (const { mark } of known) mark.querySelector("title").remove();  // the note has its words

  let named = null;
  const name = (found, x, y) => {
    named?.mark.classList.remove("nearest");
    named = found;
    found.mark.classList.add("nearest");
    note.textContent = found.words;
    note.hidden = false;
    note.style.left = `${Math.min(x + 14, innerWidth - note.offsetWidth - 8) + scrollX}px`;
    note.style.top = `${y + 14 + scrollY}px`;
  };

  const distance = ({ mark, points }, x, y) => {
    const nearest = Math.min(...points.map(([a, b]) => Math.hypot(a - x, b - y)));
    return mark.tagName === "circle" ? nearest - mark.r.baseVal.value : nearest;
  };

  picture.addEventListener("pointermove", (event) => {
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(picture.getScreenCTM().inverse());
    let best = known[0], least = Infinity;
    for (const each of known) {
      const found = distance(each, x, y);
      if (found < least) [best, least] = [each, found];
    }
    name(best, event.clientX, event.clientY);
  });
  picture.addEventListener("pointerleave", () => { note.hidden = true; });

  // Arrow keys go from one switch to the next.
  const switches = known.filter(({ mark }) => mark.tagName === "circle");
  let current = -1;
  picture.tabIndex = 0;
  picture.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step || !switches.length) return;
    event.preventDefault();
    current = (current + step + switches.length) % switches.length;
    const box = switches[current].mark.getBoundingClientRect();
    name(switches[current], box.right, box.bottom);
  });
})();
