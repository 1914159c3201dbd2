/** One condition on labels, and its validation. */

import { fieldErrorText, invalid, notSupported } from '../status/field-error.ts';
import type { FieldError } from '../status/field-error.ts';
import { labelValueReasons, qualifiedNameReasons } from '../validation/formats.ts';

export type LabelOperator = 'in' | 'notin' | '=' | '==' | '!=' | 'gt' | 'lt' | 'exists' | '!';

export const binaryOperators: readonly LabelOperator[] = ['in', 'notin', '=', '==', '!=', 'gt', 'lt'];

export type Labels = Readonly<Record<string, string>>;

export class LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  readonly values: readonly string[];

  constructor(key: string, operator: LabelOperator, values: readonly string[]) {
    this.key = key;
    this.operator = operator;
    this.values = values;
  }

  matches(labels: Labels): boolean {
    const value = Object.hasOwn(labels, this.key) ? labels[this.key] : undefined;
    switch (this.operator) {
      case 'exists':
        return value !== undefined;
      case '!':
        return value === undefined;
      case 'in':
      case '=':
      case '==':
        return value !== undefined && this.values.includes(value);
      case 'notin':
      case '!=':
        return value === undefined || !this.values.includes(value);
      case 'gt':
      case 'lt':
        return value !== undefined && this.#compares(value);
    }
  }

  #compares(value: string): boolean {
    const own = parseInteger(value);
    const bound = parseInteger(this.values[0] ?? '');
    if (own === undefined || bound === undefined) return false;
    return this.operator === 'gt' ? own > bound : own < bound;
  }

  toString(): string {
    const { key, operator, values } = this;
    if (operator === 'exists') return key;
    if (operator === '!') return `!${key}`;
    const list = values.toSorted().join(',');
    if (operator === 'in' || operator === 'notin') return `${key} ${operator} (${list})`;
    return `${key}${operator === 'gt' ? '>' : operator === 'lt' ? '<' : operator}${list}`;
  }
}

/** A 64-bit integer; undefined for anything else. */
function parseInteger(text: string): bigint | undefined {
  if (!/^[+-]?\d{1,30}$/.test(text)) return undefined;
  const value = BigInt(text.startsWith('+') ? text.slice(1) : text);
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

/** Returns the problem of a key, in one text; undefined for a valid one. `path` is the name in the message. */
export function labelKeyProblem(key: string, path: string): FieldError | undefined {
  const reasons = qualifiedNameReasons(key);
  return reasons.length === 0 ? undefined : invalid(path, key, reasons.join('; '));
}

/** Returns all problems of a requirement, in one text; undefined for a valid one. */
export function requirementProblem({ key, operator, values }: LabelRequirement): string | undefined {
  const errors = [labelKeyProblem(key, 'key'), ...operandErrors(operator, values), ...valueErrors(key, values)];
  const texts = [...new Set(errors.flatMap((error) => (error ? [fieldErrorText(error)] : [])))];
  return texts.length < 2 ? texts[0] : `[${texts.join(', ')}]`;
}

function operandErrors(operator: LabelOperator, values: readonly string[]): FieldError[] {
  const wrong = (detail: string): FieldError => invalid('values', values, detail);
  switch (operator) {
    case 'in':
    case 'notin':
      return values.length > 0 ? [] : [wrong("for 'in', 'notin' operators, values set can't be empty")];
    case '=':
    case '==':
    case '!=':
      return values.length === 1 ? [] : [wrong('exact-match compatibility requires one single value')];
    case 'exists':
    case '!':
      return values.length === 0 ? [] : [wrong('values set must be empty for exists and does not exist')];
    case 'gt':
    case 'lt':
      return [
        ...(values.length === 1 ? [] : [wrong("for 'Gt', 'Lt' operators, exactly one value is required")]),
        ...values.flatMap((value, at) =>
          parseInteger(value) === undefined
            ? [invalid(`values[${at}]`, value, "for 'Gt', 'Lt' operators, the value must be an integer")]
            : [],
        ),
      ];
    default:
      return [notSupported('operator', operator, [...binaryOperators, 'exists', '!'])];
  }
}

function valueErrors(key: string, values: readonly string[]): FieldError[] {
  return values.flatMap((value, at) => {
    const reasons = labelValueReasons(value);
    return reasons.length === 0 ? [] : [invalid(`values[${at}][${key}]`, value, reasons.join('; '))];
  });
}
