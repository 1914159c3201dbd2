/**
 * Reads the strings and comments of a TypeScript file with the scanner of the `typescript` package. A template is one segment with its
 * substitutions masked, `'a ' + 'b'` is one segment, and consecutive `//` lines are one segment.
 */

import { SyntaxKind } from 'typescript/unstable/ast';
import { createScanner } from 'typescript/unstable/ast/scanner';
import { mask, maskCode } from './segment.ts';
import type { Segment } from './segment.ts';

export interface Token {
  readonly kind: SyntaxKind;
  readonly start: number;
  readonly end: number;
}

/** Tokens after which a slash divides. After all others it begins a regular expression. */
const endsExpression = new Set([
  SyntaxKind.Identifier,
  SyntaxKind.PrivateIdentifier,
  SyntaxKind.NumericLiteral,
  SyntaxKind.BigIntLiteral,
  SyntaxKind.StringLiteral,
  SyntaxKind.NoSubstitutionTemplateLiteral,
  SyntaxKind.TemplateTail,
  SyntaxKind.RegularExpressionLiteral,
  SyntaxKind.CloseParenToken,
  SyntaxKind.CloseBracketToken,
  SyntaxKind.ThisKeyword,
  SyntaxKind.SuperKeyword,
  SyntaxKind.NullKeyword,
  SyntaxKind.TrueKeyword,
  SyntaxKind.FalseKeyword,
]);

const trivia = new Set([SyntaxKind.WhitespaceTrivia, SyntaxKind.NewLineTrivia]);
const comments = new Set([SyntaxKind.SingleLineCommentTrivia, SyntaxKind.MultiLineCommentTrivia]);
const strings = new Set([SyntaxKind.StringLiteral, SyntaxKind.NoSubstitutionTemplateLiteral]);

/** Returns the tokens and comments of a file, without white space. */
export function tokensOf(source: string): Token[] {
  const scanner = createScanner(false, 0, source);
  const tokens: Token[] = [];
  const templateDepths: number[] = [];
  let depth = 0;
  let previous: SyntaxKind | undefined;
  for (;;) {
    let kind = scanner.scan();
    if (kind === SyntaxKind.EndOfFile) return tokens;
    if (trivia.has(kind)) continue;
    const slash = kind === SyntaxKind.SlashToken || kind === SyntaxKind.SlashEqualsToken;
    if (slash && !(previous !== undefined && endsExpression.has(previous))) kind = scanner.reScanSlashToken();
    if (kind === SyntaxKind.TemplateHead) templateDepths.push(depth);
    else if (kind === SyntaxKind.OpenBraceToken) depth++;
    else if (kind === SyntaxKind.CloseBraceToken && templateDepths.at(-1) === depth) {
      kind = scanner.reScanTemplateToken(false);
      if (kind === SyntaxKind.TemplateTail) templateDepths.pop();
    } else if (kind === SyntaxKind.CloseBraceToken) depth--;
    tokens.push({ kind, start: scanner.getTokenStart(), end: scanner.getTokenEnd() });
    if (!comments.has(kind)) previous = kind;
  }
}

export const isComment = (token: Token): boolean => comments.has(token.kind);

/** Returns the string and template literals that contain white space: a literal without is a name. */
export function stringsOf(source: string, tokens: readonly Token[]): Segment[] {
  const found: Segment[] = [];
  const open: { start: number; text: string; end: number }[] = [];
  const code = tokens.filter((token) => !isComment(token));
  for (const [index, token] of code.entries()) {
    const literal = unescaped(source.slice(token.start, token.end));
    const enclosing = open.at(-1);
    if (strings.has(token.kind)) {
      const text = ` ${literal.slice(1, -1)} `;
      const last = found.at(-1);
      const joined = code[index - 1]?.kind === SyntaxKind.PlusToken && strings.has(code[index - 2]?.kind as SyntaxKind);
      if (joined && last && last.start + last.text.length === code[index - 2]!.end) {
        const between = mask(source.slice(last.start + last.text.length, token.start), ' ');
        found[found.length - 1] = { ...last, text: last.text + between + text };
      } else found.push({ kind: 'string', start: token.start, text });
    } else if (token.kind === SyntaxKind.TemplateHead) {
      open.push({ start: token.start, text: ` ${literal.slice(1, -2)}xx`, end: token.end });
    } else if (enclosing && (token.kind === SyntaxKind.TemplateMiddle || token.kind === SyntaxKind.TemplateTail)) {
      const last = token.kind === SyntaxKind.TemplateTail;
      const substitution = mask(source.slice(enclosing.end, token.start), 'x');
      enclosing.text += `${substitution}x${last ? `${literal.slice(1, -1)} ` : `${literal.slice(1, -2)}xx`}`;
      enclosing.end = token.end;
      if (last) found.push({ kind: 'string', start: enclosing.start, text: open.pop()!.text });
    }
  }
  return found
    .filter(({ text }) => /\S\s+\S/.test(text))
    .map((segment) => ({ ...segment, text: maskCode(segment.text) }));
}

/** `\n` becomes two blanks and `\'` an apostrophe, in the same number of characters. */
function unescaped(literal: string): string {
  return literal.replaceAll(/\\[nrt]/g, '  ').replaceAll(/(\S)\\'/g, "$1x'");
}

/** Returns one segment for a comment, without its markers, code spans and examples. */
export function commentOf(source: string, { start, end }: Token): Segment {
  return { kind: 'comment', start, text: commentText(source.slice(start, end)) };
}

/** Returns all comments; consecutive lines that begin with `//` are one. */
export function commentsOf(source: string, tokens: readonly Token[]): Segment[] {
  const found: Segment[] = [];
  let lastLine: { end: number; index: number } | undefined;
  for (const token of tokens) {
    const line = token.kind === SyntaxKind.SingleLineCommentTrivia;
    if (isComment(token)) {
      const between = lastLine === undefined ? undefined : source.slice(lastLine.end, token.start);
      if (line && lastLine && between !== undefined && /^\n[ \t]*$/.test(between)) {
        const before = found[lastLine.index]!;
        found[lastLine.index] = { ...before, text: before.text + between + commentOf(source, token).text };
      } else found.push(commentOf(source, token));
    }
    lastLine = line ? { end: token.end, index: found.length - 1 } : undefined;
  }
  return found;
}

function commentText(comment: string): string {
  const bare = comment
    .replace(/^\/\*+|^\/\/+/, (marker) => mask(marker, ' '))
    .replace(/\*+\/$/, (marker) => mask(marker, ' '))
    // Examples are indented by four blanks more than the text.
    .replaceAll(/^[ \t]*\* {5,}\S.*$/gm, (line) => mask(line, ' '))
    .replaceAll(/^[ \t]*\*/gm, (marker) => mask(marker, ' '))
    .replaceAll(/^[ \t]*```[^]*?```/gm, (block) => mask(block, ' '));
  return maskCode(bare);
}
