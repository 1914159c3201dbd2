/** Summaries as text with CEL in double braces: `{{ actor }} scaled {{ kind }} {{ name }}`. */

import { CelError, compile, Duration, dynType, kubernetesEnvironment, mapOf, stringType, Timestamp } from '@hangar/cel';
import type { CelBindings, Environment, Program } from '@hangar/cel';
import { lazy } from '@hangar/core';

/** Variables of expressions in policies. */
const variables = {
  /** The event. */
  audit: dynType,
  /** Name of the user. */
  actor: stringType,
  /** Kind and name of the changed object. */
  kind: stringType,
  name: stringType,
  /** Values that the policy remembers: after this event, and after the previous one of the object. */
  current: mapOf(stringType, dynType),
  previous: mapOf(stringType, dynType),
};

const policyEnvironment: () => Environment = lazy(() => kubernetesEnvironment(variables));

/** Of one expression for one event; objects of events are written by tenants. */
const costMax = 50_000;
const summaryLengthMax = 500;

/** Throws an Error with the position of the problem. */
export function compileExpression(text: string): Program {
  try {
    return compile(text, policyEnvironment());
  } catch (error) {
    if (error instanceof CelError) throw new Error(`expression "${text}": ${error.message}`, { cause: error });
    throw error;
  }
}

/** Returns the value of an expression; undefined if it fails, for example because a field is absent. */
export function evaluated(program: Program, bindings: CelBindings): unknown {
  try {
    return program.evaluate(bindings, { costLimit: costMax }).value;
  } catch (error) {
    if (error instanceof CelError) return undefined;
    throw error;
  }
}

export class Template {
  readonly #parts: readonly (string | Program)[];

  /** Throws an Error for an invalid expression. */
  constructor(text: string) {
    // Odd parts are expressions.
    this.#parts = text
      .split(/\{\{(.*?)\}\}/s)
      .map((part, at) => (at % 2 === 0 ? part : compileExpression(part.trim())));
  }

  /** Returns undefined if an expression fails or is not a simple value. */
  render(bindings: CelBindings): string | undefined {
    let text = '';
    for (const part of this.#parts) {
      const value = typeof part === 'string' ? part : textOf(evaluated(part, bindings));
      if (value === undefined) return undefined;
      text += value;
    }
    return text.slice(0, summaryLengthMax).toWellFormed();
  }
}

function textOf(value: unknown): string | undefined {
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
    case 'bigint':
    case 'boolean':
      return String(value);
    default:
      return value instanceof Timestamp || value instanceof Duration ? String(value.nanos) : undefined;
  }
}
