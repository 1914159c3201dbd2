/** Values such as `2` and `25%`. */

import { invalid } from '../../../status/field-error.ts';
import type { FieldError } from '../../../status/field-error.ts';
import { percentReasons } from '../../formats.ts';
import { checkNotNegative, checkReasons } from './checks.ts';

export type IntOrString = number | string;

export function checkIntOrPercent(errors: FieldError[], path: string, value: IntOrString): void {
  if (typeof value === 'number') checkNotNegative(errors, path, value);
  else checkReasons(errors, path, value, percentReasons(value));
}

/** Returns the value without the sign: 25 for `25%`. A text that is neither a number nor a percentage is 0, like Go's Atoi. */
export function intOrPercentValue(value: IntOrString): number {
  if (typeof value === 'number') return value;
  if (isPercent(value)) return Number(value.slice(0, -1));
  return /^[+-]?\d+$/.test(value) ? Number(value) : 0;
}

export function checkAtMost100Percent(errors: FieldError[], path: string, value: IntOrString): void {
  if (typeof value === 'number' || !isPercent(value)) return;
  if (Number(value.slice(0, -1)) > 100) errors.push(invalid(path, value, 'must not be greater than 100%'));
}

const isPercent = (text: string): boolean => percentReasons(text).length === 0;
