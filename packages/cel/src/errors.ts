/**
 * Errors of expressions. `CelError` is the only error this package throws on purpose; inside the interpreter a `Fault` is thrown instead,
 * because `&&` and `||` may swallow it and a stack trace would cost more than the whole evaluation.
 */

import { CodedError } from '@hangar/core';

export type CelErrorCode =
  /** The text is not an expression, or is too long or too deeply nested. */
  | 'Syntax'
  /** The expression does not match the declarations. */
  | 'Type'
  /** The estimated cost is above the limit. */
  | 'Cost'
  /** Evaluation failed: no such key, overflow, … */
  | 'Evaluation'
  /** Evaluation cost more than its budget. */
  | 'CostLimitExceeded'
  /** The deadline passed, or the caller interrupted. */
  | 'Interrupted';

/** One problem at one position; line and column count from 1. */
export interface Issue {
  readonly message: string;
  readonly line: number;
  readonly column: number;
}

export class CelError extends CodedError<CelErrorCode> {
  readonly issues: readonly Issue[];
  /** Cost of the evaluation until it failed: budgets count failures too. */
  readonly cost: number;

  constructor(
    code: CelErrorCode,
    message: string,
    issues: readonly Issue[] = [],
    options?: ErrorOptions & { cost?: number },
  ) {
    super(code, message, options);
    this.issues = issues;
    this.cost = options?.cost ?? 0;
  }
}

/** An evaluation error while it propagates; `final` ones (budget, interrupt) are never swallowed by `&&` and `||`. */
export class Fault {
  readonly message: string;
  readonly code: 'Evaluation' | 'CostLimitExceeded' | 'Interrupted';

  constructor(message: string, code: Fault['code'] = 'Evaluation') {
    this.message = message;
    this.code = code;
  }

  get final(): boolean {
    return this.code !== 'Evaluation';
  }
}

/** Fails the evaluation; typed `never` so that callers can write `return fail(…)`. */
export function fail(message: string): never {
  throw new Fault(message);
}

export function noSuchOverload(): never {
  throw new Fault('no such overload');
}

/** Fails for a text that is not a value of this type. */
export function notConvertible(typeName: string): never {
  throw new Fault(`type conversion error from 'string' to '${typeName}'`);
}
