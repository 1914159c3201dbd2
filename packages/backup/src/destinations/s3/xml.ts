/** Reads the XML of S3 responses: elements without attributes that matter. The time is linear in the length of the text. */

/** Returns the content of each element of this name, in order. Elements of the same name inside of it are not supported. */
export function elementsOf(xml: string, name: string): string[] {
  const contents: string[] = [];
  const [start, end] = [`<${name}>`, `</${name}>`];
  for (let at = xml.indexOf(start); at !== -1;) {
    const stop = xml.indexOf(end, at);
    if (stop === -1) break;
    contents.push(xml.slice(at + start.length, stop));
    at = xml.indexOf(start, stop);
  }
  return contents;
}

/** Returns the text of the first element of this name. */
export function textOf(xml: string, name: string): string | undefined {
  const [content] = elementsOf(xml, name);
  return content?.replaceAll(/&(?:lt|gt|quot|apos|amp|#\d{1,7}|#x[\da-f]{1,6});/gi, unescaped);
}

const named: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };

function unescaped(reference: string): string {
  const name = reference.slice(1, -1).toLowerCase();
  if (!name.startsWith('#')) return named[name] ?? reference;
  const code = name.startsWith('#x') ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
  return code <= 0x10ffff ? String.fromCodePoint(code) : reference;
}

/** Escapes text for an element. */
export const xmlText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
