/**
 * Literals that can only fail: `duration('1 hour')`, `x.matches('(')`. Kubernetes refuses them when a rule is written
 * instead of when it first runs.
 */

import { Fault } from '../errors.ts';
import { regexProblem } from '../regex/cache.ts';
import type { Call, Expr } from '../syntax/ast.ts';
import type { Problem } from '../syntax/source.ts';
import { walk } from '../syntax/walk.ts';
import { parseDuration, parseTimestamp } from '../values/time.ts';

export function validateLiterals(root: Expr): Problem[] {
  const problems: Problem[] = [];
  walk(root, (node) => {
    const problem = node.kind === 'call' ? callProblem(node) : undefined;
    if (problem !== undefined) problems.push(problem);
    return true;
  });
  return problems;
}

const parsers: Readonly<Record<string, (text: string) => unknown>> = {
  duration: parseDuration,
  timestamp: parseTimestamp,
};

function callProblem(node: Call): Problem | undefined {
  const literal = node.args.at(-1);
  if (literal?.kind !== 'const' || typeof literal.value !== 'string') return undefined;
  const { offset } = literal;
  if (node.fn === 'matches') {
    return regexProblem(literal.value) === undefined ? undefined : { offset, message: 'invalid matches argument' };
  }
  const parser = Object.hasOwn(parsers, node.fn) ? parsers[node.fn] : undefined;
  if (parser === undefined || node.args.length !== 1) return undefined;
  try {
    parser(literal.value);
    return undefined;
  } catch (thrown) {
    if (thrown instanceof Fault && !thrown.final) return { offset, message: `invalid ${node.fn} argument` };
    throw thrown;
  }
}
