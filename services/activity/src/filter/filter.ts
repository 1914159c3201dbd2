/** Filters of queries: CEL over the fields of an event. */

import { CelError, compile } from '@hangar/cel';
import type { Program } from '@hangar/cel';
import { bindingsOf, filterEnvironment } from './fields.ts';
import type { FilteredEvent } from './fields.ts';
import { pushedDown } from './sql.ts';
import type { SqlFilter } from './sql.ts';

export const filterLengthMax = 4_096;
/** Of one event. */
const evaluationCostMax = 20_000;
/** Parameters of a statement are limited. */
const partsMax = 500;

export class EventFilter {
  /** Condition that the database checks; undefined: none. */
  readonly sql: SqlFilter | undefined;
  readonly #program: Program;
  readonly #isWhole: boolean;

  /** Throws a `FilterError`. */
  constructor(text: string) {
    if (text.length > filterLengthMax) throw new FilterError(`must be at most ${filterLengthMax} characters`);
    this.#program = compiled(text);
    if (this.#program.outputType.kind !== 'bool') throw new FilterError('must be a boolean expression');
    const { filter, isWhole } = pushedDown(this.#program.expression);
    const isSmall = filter === undefined || sizeOf(filter) <= partsMax;
    this.sql = isSmall ? filter : undefined;
    this.#isWhole = isWhole && isSmall;
  }

  /** True: an event that the database returned matches. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** Reports whether an event matches. An event for which the evaluation fails does not. */
  matches(event: FilteredEvent): boolean {
    try {
      return this.#program.evaluate(bindingsOf(event), { costLimit: evaluationCostMax }).value === true;
    } catch (error) {
      if (error instanceof CelError) return false;
      throw error;
    }
  }
}

/** The text is not a filter. The message is for the user. */
export class FilterError extends Error {}

function compiled(text: string): Program {
  try {
    return compile(text, filterEnvironment());
  } catch (error) {
    if (error instanceof CelError) throw new FilterError(error.message, { cause: error });
    throw error;
  }
}

function sizeOf(filter: SqlFilter): number {
  if (filter.type === 'and' || filter.type === 'or') return filter.parts.reduce((sum, part) => sum + sizeOf(part), 0);
  if (filter.type === 'not') return sizeOf(filter.part);
  return filter.type === 'in' ? filter.values.length : 1;
}
