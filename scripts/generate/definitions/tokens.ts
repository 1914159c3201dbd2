/** Tokens of a TypeScript file, limited to the syntax in files of types. Other syntax fails, with its line. */

export type TokenKind = 'word' | 'string' | 'mark' | 'doc' | 'end';

export interface Token {
  readonly kind: TokenKind;
  /** Of a string: without quotes. Of a doc comment: without its frame. */
  readonly text: string;
  readonly line: number;
}

/** Doc comments are tokens, other comments are skipped. */
const pattern =
  /(?<space>\s+|\/\/[^\n]*|\/\*(?!\*)[\s\S]*?\*\/)|\/\*\*(?<doc>[\s\S]*?)\*\/|(?<word>[A-Za-z_$][\w$]*)|'(?<string>[^'\\\n]*)'|(?<mark>[{}()[\]<>:;,=|?*])/y;

export class SourceError extends Error {
  constructor(file: string, line: number, message: string) {
    super(`${file}:${line}: ${message}`);
    this.name = 'SourceError';
  }
}

/** Throws `SourceError`. */
export function tokensOf(file: string, source: string): Token[] {
  const tokens: Token[] = [];
  let line = 1;
  pattern.lastIndex = 0;
  while (pattern.lastIndex < source.length) {
    const at = pattern.lastIndex;
    const match = pattern.exec(source);
    if (!match) throw new SourceError(file, line, `unexpected ${JSON.stringify(source.slice(at, at + 20))}`);
    const { doc, word, string, mark } = match.groups!;
    if (doc !== undefined) tokens.push({ kind: 'doc', text: unframed(doc), line });
    else if (word !== undefined) tokens.push({ kind: 'word', text: word, line });
    else if (string !== undefined) tokens.push({ kind: 'string', text: string, line });
    else if (mark !== undefined) tokens.push({ kind: 'mark', text: mark, line });
    line += match[0].split('\n').length - 1;
  }
  tokens.push({ kind: 'end', text: '', line });
  return tokens;
}

const unframed = (doc: string): string =>
  doc
    .split('\n')
    .map((line) => line.replace(/^\s*\* ?/, '').trimEnd())
    .join('\n')
    .trim();
