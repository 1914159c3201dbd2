/** Checks and comparisons of quantities. Texts are canonical already: the stored text is shown. */

import { invalid } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import { parseQuantity } from '../../values/quantity.ts';
import { negativeReason } from '../formats.ts';

const nano = 1_000_000_000n;

/** In billionths. */
export const nanosOf = (quantity: unknown): bigint => parseQuantity(String(quantity)).nanos;

/** In units of so many nanos, rounded away from zero as Kubernetes does. */
function roundedBy(quantity: unknown, unit: bigint): bigint {
  const nanos = nanosOf(quantity);
  const whole = nanos / unit;
  if (nanos % unit === 0n) return whole;
  return nanos < 0n ? whole - 1n : whole + 1n;
}

export const millisOf = (quantity: unknown): bigint => roundedBy(quantity, nano / 1000n);
export const unitsOf = (quantity: unknown): bigint => roundedBy(quantity, nano);

export const isWhole = (quantity: unknown): boolean => millisOf(quantity) % 1000n === 0n;

export const nonNegativeQuantityErrors = (path: string, quantity: unknown): FieldError[] =>
  nanosOf(quantity) < 0n ? [invalid(path, String(quantity), negativeReason)] : [];

export const positiveQuantityErrors = (path: string, quantity: unknown): FieldError[] =>
  nanosOf(quantity) <= 0n ? [invalid(path, String(quantity), 'must be greater than zero')] : [];
