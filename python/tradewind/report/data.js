// The data of a page: typed columns in one deflated block (see pack.py).

const TYPES = { float64: Float64Array, uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array };

const bytesOf = (base64) => {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  const text = atob(base64), bytes = new Uint8Array(text.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
};

const inflated = async (base64) => {
  const stream = new Blob([bytesOf(base64)]).stream().pipeThrough(new DecompressionStream("deflate"));
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

// Return the data of the page as an object; null on a page without such data.
const unpacked = async () => {
  const element = document.getElementById("data");
  if (element === null) return null;
  const content = await inflated(element.textContent.trim());
  const length = new DataView(content).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(content, 4, length)));
  return filled(header, content, 4 + length);
};
