/** The text of an expression: offsets to lines and columns, and messages in the form kubectl users know. */

import type { Issue } from '../errors.ts';
import { codePointCount } from '../values/text.ts';

export interface Problem {
  readonly offset: number;
  readonly message: string;
}

/** The parser stops at the first problem; `parse` turns it into a `CelError`. */
export class LexicalError extends Error {
  readonly problem: Problem;

  constructor(offset: number, message: string) {
    super(message);
    this.problem = { offset, message };
  }
}

/** Columns count code points from 1, tabs as one. */
export function locate(source: string, offset: number): { line: number; column: number } {
  let line = 1;
  let lineStart = 0;
  for (let at = source.indexOf('\n'); at !== -1 && at < offset; at = source.indexOf('\n', at + 1)) {
    line += 1;
    lineStart = at + 1;
  }
  return { line, column: codePointCount(source.slice(lineStart, offset)) + 1 };
}

export function issuesOf(source: string, problems: readonly Problem[]): Issue[] {
  return problems.map(({ offset, message }) => ({ message, ...locate(source, offset) }));
}

/** Longer lines are not shown; as in cel-go. */
const shownLengthMax = 16_384;

/**
 * ```
 * ERROR: <input>:1:6: undeclared reference to 'foo' (in container '')
 *  | self.foo
 *  | .....^
 * ```
 */
export function formatIssues(source: string, issues: readonly Issue[]): string {
  const lines = source.split('\n');
  return issues
    .map(({ message, line, column }) => {
      const text = (lines[line - 1] ?? '').replaceAll('\t', ' ');
      const head = `ERROR: <input>:${line}:${column}: ${message}`;
      return text.length > shownLengthMax ? head : `${head}\n | ${text}\n | ${'.'.repeat(column - 1)}^`;
    })
    .join('\n');
}
