// Takes figures and tables away: to the clipboard, or as files.

const button = (text, act) => {
  const made = Object.assign(document.createElement("button"), { type: "button", textContent: text });
  made.addEventListener("click", act);
  return made;
};

const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
const csvOf = (lines) => lines.map((line) => line.map((cell) => quoted(String(cell ?? ""))).join(",")).join("\n") + "\n";

const copied = async (text) => {
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

const save = (name, address) => {
  const link = Object.assign(document.createElement("a"), { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
};

const saveText = (name, text, type) => {
  const address = URL.createObjectURL(new Blob([text], { type }));
  save(name, address);
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
};
