/**
 * Text of a stranger as TypeScript: names, literals, comments. A definition is written by somebody else; nothing that it says may
 * become code, end a comment, or look like something that it is not.
 */

/** Invisible or direction-changing characters, and those that end lines somewhere. */
const odd = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}]/gu;

const escapedCharacter = (one: string): string =>
  Array.from({ length: one.length }, (_, at) => `\\u${one.charCodeAt(at).toString(16).padStart(4, '0')}`).join('');

/** A literal: in single quotes where that is plain. */
export function literal(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text) && !/['\\]/.test(text)) return `'${text}'`;
  return JSON.stringify(text).replaceAll(odd, escapedCharacter);
}

const identifier = /^[A-Za-z_$][\w$]*$/;

/** A name of a field, quoted where it must be. */
export const fieldName = (name: string): string =>
  identifier.test(name) && name !== '__proto__' ? name : literal(name);

/** `podTemplate`, `pod-template`, `pod.template` → `PodTemplate`. Never empty, never a number. */
export function pascalCase(text: string): string {
  const words = text.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
  const joined = words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('');
  return /^[A-Z]/.test(joined) ? joined : `X${joined}`;
}

const widthMax = 118;

/** A comment for what follows, or nothing; with a line's end behind it. */
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

/** Neither an end of the comment nor anything that cannot be seen. */
const clean = (line: string): string =>
  line.replaceAll('\t', '  ').replaceAll(odd, '').replaceAll('*/', '*\\/').trimEnd();

function wrapped(line: string, width: number): string[] {
  const lines: string[] = [];
  let rest = line;
  while (rest.length > width) {
    const at = rest.lastIndexOf(' ', width);
    // One word that is longer than a line stays whole: it is probably an address.
    const end = at > 0 ? at : rest.indexOf(' ', width);
    if (end < 0) break;
    lines.push(rest.slice(0, end).trimEnd());
    rest = rest.slice(end + 1);
  }
  return [...lines, rest];
}

/** Names that are given out once. */
export class Names {
  readonly #taken: Set<string>;

  constructor(reserved: Iterable<string>) {
    this.#taken = new Set(reserved);
  }

  /** The first that is free, or the last with a number behind it. */
  take(...wanted: readonly string[]): string {
    const free = wanted.find((name) => !this.#taken.has(name));
    let name = free ?? wanted.at(-1)!;
    for (let number = 2; this.#taken.has(name); number++) name = `${wanted.at(-1)!}${number}`;
    this.#taken.add(name);
    return name;
  }
}
