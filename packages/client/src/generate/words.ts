/**
 * Converts untrusted text to TypeScript: names, literals, comments. No part of a definition may become code, terminate a comment, or
 * disguise itself.
 */

/** Invisible or direction-changing characters, and line terminators. */
const odd = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}]/gu;

const escapedCharacter = (one: string): string =>
  Array.from({ length: one.length }, (_, at) => `\\u${one.charCodeAt(at).toString(16).padStart(4, '0')}`).join('');

/** Returns a literal, in single quotes where possible. */
export function literal(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text) && !/['\\]/.test(text)) return `'${text}'`;
  return JSON.stringify(text).replaceAll(odd, escapedCharacter);
}

const identifier = /^[A-Za-z_$][\w$]*$/;

/** Returns the name of a field, quoted if necessary. */
export const fieldName = (name: string): string =>
  identifier.test(name) && name !== '__proto__' ? name : literal(name);

/** `podTemplate`, `pod-template`, `pod.template` → `PodTemplate`. Never empty, never a number. */
export function pascalCase(text: string): string {
  const words = text.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
  const joined = words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('');
  return /^[A-Z]/.test(joined) ? joined : `X${joined}`;
}

const widthMax = 118;

/** Returns a comment with a line break after it, or an empty text. */
export function comment(text: string, indent = ''): string {
  const lines = text
    .split(/\r\n|[\n\r\u2028\u2029]/)
    .flatMap((line) => wrapped(clean(line), widthMax - indent.length - 3));
  while (lines.at(-1) === '') lines.pop();
  while (lines[0] === '') lines.shift();
  if (lines.length === 0) return '';
  if (lines.length === 1 && lines[0]!.length <= widthMax - indent.length - 7) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join('\n')}\n${indent} */\n`;
}

/** Removes terminators of the comment and invisible characters. */
const clean = (line: string): string =>
  line.replaceAll('\t', '  ').replaceAll(odd, '').replaceAll('*/', '*\\/').trimEnd();

function wrapped(line: string, width: number): string[] {
  const lines: string[] = [];
  let rest = line;
  while (rest.length > width) {
    const at = rest.lastIndexOf(' ', width);
    // A word that is longer than a line stays whole: it is probably a URL.
    const end = at > 0 ? at : rest.indexOf(' ', width);
    if (end < 0) break;
    lines.push(rest.slice(0, end).trimEnd());
    rest = rest.slice(end + 1);
  }
  return [...lines, rest];
}

/** Allocates unique names. */
export class Names {
  readonly #taken: Set<string>;

  constructor(reserved: Iterable<string>) {
    this.#taken = new Set(reserved);
  }

  /** Returns the first free name, or the last one with a number appended. */
  take(...wanted: readonly string[]): string {
    const free = wanted.find((name) => !this.#taken.has(name));
    let name = free ?? wanted.at(-1)!;
    for (let number = 2; this.#taken.has(name); number++) name = `${wanted.at(-1)!}${number}`;
    this.#taken.add(name);
    return name;
  }
}
