/**
 * Finds the leftmost match with Perl's preferences by running all alternatives in step (Pike's machine): time is proportional to text
 * length times program length for any pattern.
 */

import { allocate, work } from '../work.ts';
import { includes } from './charset.ts';
import type { Instruction } from './program.ts';
import type { Assertion } from './syntax.ts';

export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Threads in order of preference; each program counter at most once. */
class ThreadList {
  readonly #seen: Uint32Array;
  #generation = 0;
  counters: number[] = [];
  starts: number[] = [];

  constructor(size: number) {
    this.#seen = new Uint32Array(size);
  }

  clear(): void {
    this.#generation += 1;
    this.counters.length = 0;
    this.starts.length = 0;
  }

  /** Returns false if that counter was already visited in this step. */
  visit(counter: number): boolean {
    if (this.#seen[counter] === this.#generation) return false;
    this.#seen[counter] = this.#generation;
    return true;
  }
}

const isWord = (codePoint: number): boolean =>
  (codePoint >= 48 && codePoint <= 57) ||
  (codePoint >= 65 && codePoint <= 90) ||
  codePoint === 95 ||
  (codePoint >= 97 && codePoint <= 122);

/** `before` and `after` are -1 at the ends of the text. */
export function holds(assertion: Assertion, before: number, after: number): boolean {
  switch (assertion) {
    case 'textStart':
      return before === -1;
    case 'textEnd':
      return after === -1;
    case 'lineStart':
      return before === -1 || before === 10;
    case 'lineEnd':
      return after === -1 || after === 10;
    case 'wordBoundary':
      return isWord(before) !== isWord(after);
    case 'notWordBoundary':
      return isWord(before) === isWord(after);
  }
}

const nsPerStep = 20;

export function findMatch(program: readonly Instruction[], text: string, from: number): Span | undefined {
  allocate(program.length * 8);
  let current = new ThreadList(program.length);
  let next = new ThreadList(program.length);
  let match: Span | undefined;
  const pending: number[] = [];

  const add = (list: ThreadList, counter: number, start: number, before: number, after: number): void => {
    pending.push(counter);
    while (pending.length > 0) {
      const at = pending.pop()!;
      work(nsPerStep);
      if (!list.visit(at)) continue;
      const instruction = program[at]!;
      switch (instruction.op) {
        case 'jump':
          pending.push(instruction.to);
          break;
        case 'split':
          // The preferred one is popped first.
          pending.push(instruction.second, instruction.first);
          break;
        case 'assert':
          if (holds(instruction.assertion, before, after)) pending.push(at + 1);
          break;
        default:
          list.counters.push(at);
          list.starts.push(start);
      }
    }
  };

  let before = from === 0 ? -1 : codePointBefore(text, from);
  current.clear();
  for (let at = from; ;) {
    const codePoint = at < text.length ? text.codePointAt(at)! : -1;
    const width = codePoint > 0xffff ? 2 : 1;
    if (match === undefined) add(current, 0, at, before, codePoint);
    if (current.counters.length === 0 && match !== undefined) break;
    work((current.counters.length + 1) * nsPerStep);
    const after = at + width < text.length ? text.codePointAt(at + width)! : -1;
    next.clear();
    for (const [index, counter] of current.counters.entries()) {
      const instruction = program[counter]!;
      const start = current.starts[index]!;
      if (instruction.op === 'match') {
        match = { start, end: at };
        // Everything after this thread is less preferred.
        break;
      }
      if (codePoint !== -1 && instruction.op === 'set' && includes(instruction.set, codePoint)) {
        add(next, counter + 1, start, codePoint, after);
      }
    }
    if (codePoint === -1) break;
    [current, next] = [next, current];
    before = codePoint;
    at += width;
  }
  return match;
}

function codePointBefore(text: string, at: number): number {
  const unit = text.charCodeAt(at - 1);
  return unit >= 0xdc00 && unit <= 0xdfff && at > 1 ? text.codePointAt(at - 2)! : unit;
}
