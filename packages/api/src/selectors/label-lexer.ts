/** The tokens of a label selector such as `app in (a, b),!old`. */

export type LabelTokenType = 'end' | 'identifier' | Symbols | 'in' | 'notin';
type Symbols = ')' | ',' | '!' | '==' | '=' | '>' | '<' | '!=' | '(';

export interface LabelToken {
  readonly type: LabelTokenType;
  readonly text: string;
}

const symbols: ReadonlySet<string> = new Set<Symbols>([')', ',', '!', '==', '=', '>', '<', '!=', '(']);
// Kubernetes' lexer takes a NUL for the end of a token, and of everything where a token would begin.
const word = /[^=!(),<> \t\r\n\0]+/y;
const space = /[ \t\r\n]*/y;

/** Ends with an `end` token. */
export function labelTokens(text: string): LabelToken[] {
  const tokens: LabelToken[] = [];
  let at = 0;
  for (;;) {
    space.lastIndex = at;
    space.exec(text);
    at = space.lastIndex;
    if (at >= text.length || text[at] === '\0') break;
    const token = readSymbol(text, at) ?? readWord(text, at);
    tokens.push(token);
    at += token.text.length;
    if (text[at] === '\0') at++;
  }
  tokens.push({ type: 'end', text: '' });
  return tokens;
}

/** The longest symbol there. */
function readSymbol(text: string, at: number): LabelToken | undefined {
  const symbol = [text.slice(at, at + 2), text[at]!].find((candidate) => symbols.has(candidate));
  return symbol === undefined ? undefined : { type: symbol as Symbols, text: symbol };
}

function readWord(text: string, at: number): LabelToken {
  word.lastIndex = at;
  const found = word.exec(text)![0];
  return { type: found === 'in' || found === 'notin' ? found : 'identifier', text: found };
}
