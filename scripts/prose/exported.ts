/**
 * Finds the doc comments of everything that a public entry exports: the comment of the entry, of each exported declaration, and of the
 * members of exported interfaces, types and classes. Follows `export … from` between the files of the repository.
 */

import { join, dirname } from 'node:path/posix';
import { SyntaxKind } from 'typescript/unstable/ast';
import type { Segment } from './segment.ts';
import { commentOf, isComment, tokensOf } from './typescript-source.ts';
import type { Token } from './typescript-source.ts';

/** Returns the segments by file. `read` returns the source of a file. */
export function exportedComments(entry: string, read: (file: string) => string): Map<string, Segment[]> {
  const found = new Map<string, Segment[]>();
  const seen = new Set<string>();
  const visit = (file: string, names: ReadonlySet<string> | 'all'): void => {
    const key = `${file} ${names === 'all' ? '*' : [...names].sort().join()}`;
    if (seen.has(key)) return;
    seen.add(key);
    const source = read(file);
    for (const { target, names: passed } of reexportsOf(source)) {
      const wanted = passed === 'all' ? names : matching(passed, names);
      if (wanted === 'all' || wanted.size > 0) visit(join(dirname(file), target), wanted);
    }
    const known = new Map((found.get(file) ?? []).map((segment) => [segment.start, segment]));
    for (const segment of declarationComments(source, names)) known.set(segment.start, segment);
    if (file === entry) for (const segment of headerComment(source)) known.set(segment.start, segment);
    found.set(file, [...known.values()]);
  };
  visit(entry, 'all');
  return found;
}

/** Maps the names under which a file re-exports to the names in the file that declares them. */
function matching(passed: ReadonlyMap<string, string>, names: ReadonlySet<string> | 'all'): Set<string> {
  return new Set([...passed].flatMap(([as, name]) => (names === 'all' || names.has(as) ? [name] : [])));
}

const reexport = /^export\s+(?:type\s+)?(?:\*(?:\s+as\s+\w+)?|\{([^}]*)\})\s+from\s+'(\.[^']+)'/gm;

function reexportsOf(source: string): { target: string; names: Map<string, string> | 'all' }[] {
  return Array.from(source.matchAll(reexport), ([, list, target]) => ({
    target: target!,
    names:
      list === undefined
        ? 'all'
        : new Map(
            list.split(',').flatMap((item): [string, string][] => {
              const [, name, as] = /^\s*(?:type\s+)?(\w+)(?:\s+as\s+(\w+))?\s*$/.exec(item) ?? [];
              return name === undefined ? [] : [[as ?? name, name]];
            }),
          ),
  }));
}

function headerComment(source: string): Segment[] {
  const [first] = tokensOf(source);
  return first && isComment(first) ? [commentOf(source, first)] : [];
}

/** The doc comment in front of an exported declaration, and those of its members, except private ones. */
function declarationComments(source: string, names: ReadonlySet<string> | 'all'): Segment[] {
  const tokens = tokensOf(source);
  const found: Segment[] = [];
  const isDoc = (token: Token | undefined): token is Token =>
    token?.kind === SyntaxKind.MultiLineCommentTrivia && source.startsWith('/**', token.start);
  let depth = 0;
  let exported: string | undefined;
  for (const [index, token] of tokens.entries()) {
    if (token.kind === SyntaxKind.OpenBraceToken) depth++;
    else if (token.kind === SyntaxKind.CloseBraceToken) depth--;
    else if (depth === 0 && token.kind === SyntaxKind.ExportKeyword) {
      exported = declaredName(source, tokens, index);
      const before = tokens[index - 1];
      if (exported !== undefined && (names === 'all' || names.has(exported)) && isDoc(before)) {
        found.push(commentOf(source, before));
      }
    } else if (depth === 0 && startsStatement.has(token.kind) && tokens[index - 1]?.kind !== SyntaxKind.ExportKeyword) {
      if (!modifiers.has(tokens[index - 1]?.kind as SyntaxKind)) exported = undefined;
    } else if (depth >= 1 && isDoc(token) && exported !== undefined && (names === 'all' || names.has(exported))) {
      const next = tokens[index + 1];
      const isPrivate = next?.kind === SyntaxKind.PrivateIdentifier || next?.kind === SyntaxKind.PrivateKeyword;
      if (!isPrivate) found.push(commentOf(source, token));
    }
  }
  return found;
}

const modifiers = new Set([
  SyntaxKind.ExportKeyword,
  SyntaxKind.AsyncKeyword,
  SyntaxKind.AbstractKeyword,
  SyntaxKind.DeclareKeyword,
  SyntaxKind.DefaultKeyword,
]);
const startsStatement = new Set([
  SyntaxKind.FunctionKeyword,
  SyntaxKind.ClassKeyword,
  SyntaxKind.InterfaceKeyword,
  SyntaxKind.TypeKeyword,
  SyntaxKind.ConstKeyword,
  SyntaxKind.LetKeyword,
  SyntaxKind.EnumKeyword,
]);

/** `export async function name`, `export abstract class Name`, `export type Name =`. */
function declaredName(source: string, tokens: readonly Token[], index: number): string | undefined {
  const text = source.slice(tokens[index]!.start, tokens[index]!.start + 200);
  return /^export\s+(?:default\s+|declare\s+|async\s+|abstract\s+)*(?:function\s*\*?|class|interface|type|const|let|enum)\s+(\w+)/.exec(
    text,
  )?.[1];
}
