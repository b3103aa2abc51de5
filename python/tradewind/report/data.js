// The data of a page: typed columns in one deflated block (see pack.py).

const TYPES = { float64: Float64Array, uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array };

const inflated = async (base64) => {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
};

// Puts each column in the place of its description: numbers as a typed array, texts and lists as functions of a row.
const filled = (value, content, start) => {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map((each) => filled(each, content, start));
  const keys = Object.keys(value).join();
  if (keys === "type,at,length") return new TYPES[value.type](content, start + value.at, value.length);
  if (keys === "words,codes") return textsOf(value.words, filled(value.codes, content, start));
  if (keys === "ends,items") return listsOf(filled(value.ends, content, start), filled(value.items, content, start));
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, filled(each, content, start)]));
};

const textsOf = (words, codes) => ({ words, codes, length: codes.length, at: (row) => words[codes[row]] });

const listsOf = (ends, items) => ({
  length: ends.length,
  at: (row) => items.subarray(row === 0 ? 0 : ends[row - 1], ends[row]),
});

// What the page shows as an object; null on a page without such data.
const unpacked = async () => {
  const element = document.getElementById("data");
  if (element === null) return null;
  const content = await inflated(element.textContent.trim());
  const length = new DataView(content).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(content, 4, length)));
  return filled(header, content, 4 + length);
};
