/**
 * Arithmetic on lists of resources, `{cpu: 100m, memory: 1Gi}`. An amount keeps its original text until it is used in a calculation, as
 * Kubernetes' quantities do: refusals show it. Lists are maps, because the names come from clients.
 */

import { formatQuantity, parseQuantity } from '../values/quantity.ts';
import type { Quantity } from '../values/quantity.ts';
import type { ResourceList } from './pod.ts';

export interface Amount extends Quantity {
  readonly text: string;
}

export type Amounts = ReadonlyMap<string, Amount>;
export type MutableAmounts = Map<string, Amount>;

const make = (quantity: Quantity): Amount => ({ ...quantity, text: formatQuantity(quantity) });

export const zero: Amount = make({ nanos: 0n, format: 'decimal' });

/** A plain number of objects. */
export const count = (number: number): Amount => make({ nanos: BigInt(number) * 1_000_000_000n, format: 'decimal' });

export function amountOf(value: unknown): Amount {
  const text = value === null || value === undefined ? '0' : String(value);
  return { ...parseQuantity(text), text };
}

export function amountsOf(list: ResourceList): MutableAmounts {
  const amounts: MutableAmounts = new Map();
  if (list) for (const [name, value] of Object.entries(list)) amounts.set(name, amountOf(value));
  return amounts;
}

/** Returns an object whose keys are names from clients. */
export function listOf(amounts: Amounts): Record<string, string> {
  return Object.fromEntries([...amounts].map(([name, { text }]) => [name, text]));
}

/** Zero has no format; that of the other is used. */
const formatOf = (a: Amount, b: Amount): Quantity['format'] => (a.nanos === 0n ? b.format : a.format);

export const sum = (a: Amount, b: Amount): Amount => make({ nanos: a.nanos + b.nanos, format: formatOf(a, b) });
export const difference = (a: Amount, b: Amount): Amount => make({ nanos: a.nanos - b.nanos, format: formatOf(a, b) });

export const compare = (a: Quantity, b: Quantity): number => (a.nanos < b.nanos ? -1 : a.nanos > b.nanos ? 1 : 0);

export function addInto(into: MutableAmounts, more: Amounts): void {
  for (const [name, amount] of more) {
    const old = into.get(name);
    into.set(name, old ? sum(old, amount) : amount);
  }
}

/** Raises each amount to the greater of both. */
export function raiseInto(into: MutableAmounts, others: Amounts): void {
  for (const [name, amount] of others) {
    const old = into.get(name);
    if (!old || compare(amount, old) > 0) into.set(name, amount);
  }
}

export function isEqual(a: Amounts, b: Amounts): boolean {
  if (a.size !== b.size) return false;
  for (const [name, amount] of a) if (b.get(name)?.nanos !== amount.nanos) return false;
  return true;
}

/** Rounds up to whole units of `unit` nanos, like Kubernetes' integer values of quantities. */
function inUnits({ nanos }: Quantity, unit: bigint): bigint {
  const whole = nanos / unit;
  return nanos % unit === 0n ? whole : nanos < 0n ? whole - 1n : whole + 1n;
}

export const unitsOf = (quantity: Quantity): bigint => inUnits(quantity, 1_000_000_000n);
export const millisOf = (quantity: Quantity): bigint => inUnits(quantity, 1_000_000n);
