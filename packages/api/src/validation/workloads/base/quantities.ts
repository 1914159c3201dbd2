/** Amounts of resources: `500m`, `1Gi`. They are of the right form already; here they are compared. */

import { invalid } from '../../../status/field-error.ts';
import type { FieldError } from '../../../status/field-error.ts';
import { formatQuantity, parseQuantity } from '../../../values/quantity.ts';
import { negativeReason } from '../../formats.ts';
import { positiveReason } from './checks.ts';
import { isIntegerResource } from './resource-names.ts';

export type ResourceList = Readonly<Record<string, string>> | null;

const nano = 1_000_000_000n;
const micro = 1_000_000n;

const nanosOf = (quantity: string): bigint => parseQuantity(String(quantity)).nanos;

/** Negative, zero or positive, as for sorting. */
export function compareQuantities(a: string, b: string): number {
  const difference = nanosOf(a) - nanosOf(b);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

export const signOf = (quantity: string): number => compareQuantities(quantity, '0');

/** Rounded up to a whole number. */
export function wholeValue(quantity: string): bigint {
  const nanos = nanosOf(quantity);
  const floor = nanos / nano;
  return nanos > 0n && nanos % nano !== 0n ? floor + 1n : floor;
}

/** Whole in thousandths, the finest that Kubernetes looks at here. */
export function isWhole(quantity: string): boolean {
  const nanos = nanosOf(quantity);
  const millis = nanos / micro + (nanos > 0n && nanos % micro !== 0n ? 1n : 0n);
  return millis % 1000n === 0n;
}

/** The sum keeps the notation of the first, as Go's does. */
export function addQuantities(a: string, b: string): string {
  const { nanos, format } = parseQuantity(a);
  const other = parseQuantity(b);
  return formatQuantity({ nanos: nanos + other.nanos, format: nanos === 0n ? other.format : format });
}

export function checkResourceQuantity(errors: FieldError[], path: string, resource: string, quantity: string): void {
  if (signOf(quantity) < 0) errors.push(invalid(path, quantity, negativeReason));
  if (isIntegerResource(resource) && !isWhole(quantity)) errors.push(invalid(path, quantity, 'must be an integer'));
}

export function checkPositiveQuantity(errors: FieldError[], path: string, quantity: string): void {
  if (signOf(quantity) <= 0) errors.push(invalid(path, quantity, positiveReason));
}
