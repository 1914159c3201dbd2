/** Cache of compiled patterns: most come from literals in rules and are used for every object. */

import { fail } from '../errors.ts';
import { allocate, nodeBytes } from '../work.ts';
import { Automaton, isAutomatonUsable } from './automaton.ts';
import { findMatch } from './machine.ts';
import type { Span } from './machine.ts';
import { parseRegex } from './parse.ts';
import { compileProgram } from './program.ts';
import type { Instruction } from './program.ts';
import { RegexError } from './syntax.ts';

/** Instructions of all cached patterns together. */
const cachedInstructionsMax = 200_000;
const cache = new Map<string, Regex>();
let cachedInstructions = 0;

export class Regex {
  readonly #program: readonly Instruction[];
  readonly #automaton: Automaton | undefined;

  /** Throws `RegexError`. */
  constructor(pattern: string) {
    this.#program = compileProgram(parseRegex(pattern));
    this.#automaton = isAutomatonUsable(this.#program) ? new Automaton(this.#program) : undefined;
  }

  get size(): number {
    return this.#program.length;
  }

  test(text: string): boolean {
    return this.#automaton?.test(text) ?? findMatch(this.#program, text, 0) !== undefined;
  }

  find(text: string, from = 0): Span | undefined {
    return findMatch(this.#program, text, from);
  }

  /** Returns successive matches; an empty one directly after another match does not count. */
  findAll(text: string, limit = Infinity): string[] {
    const found: string[] = [];
    let previousEnd = -1;
    for (let at = 0; at <= text.length && found.length < limit;) {
      const span = this.find(text, at);
      if (span === undefined) break;
      if (span.end > span.start || span.start !== previousEnd) found.push(text.slice(span.start, span.end));
      allocate(nodeBytes);
      previousEnd = span.end;
      at = span.end > at ? span.end : span.end + ((text.codePointAt(span.end) ?? 0) > 0xffff ? 2 : 1);
    }
    return found;
  }
}

/** Returns the compiled pattern; a pattern that RE2 refuses fails the evaluation. */
export function regex(pattern: string): Regex {
  let found = cache.get(pattern);
  if (found === undefined) {
    try {
      found = new Regex(pattern);
    } catch (error) {
      if (error instanceof RegexError) return fail(error.message);
      throw error;
    }
    cachedInstructions += found.size;
    if (cachedInstructions > cachedInstructionsMax) {
      cache.clear();
      cachedInstructions = found.size;
    }
    cache.set(pattern, found);
  }
  return found;
}

/** Returns the problem of a pattern, if any: for literals, before the evaluation. */
export function regexProblem(pattern: string): string | undefined {
  try {
    void new Regex(pattern);
    return undefined;
  } catch (error) {
    if (error instanceof RegexError) return error.message;
    throw error;
  }
}
