/**
 * Kubernetes quantities: `1.5Gi`, `100m`, `1e3`. The amount is kept exactly in billionths; finer digits are rounded away from zero, and
 * amounts are capped at the largest int64, both as Kubernetes does when it reads them.
 *
 * A quantity that was written as (or computed to) an int64 times a power of ten also keeps that form, because `isInteger()` is true only
 * for those.
 */

import { int64Max, int64Min } from '../values/integers.ts';
import { Opaque } from '../values/values.ts';
import { work } from '../work.ts';

const nsPerQuantity = 1_000;
const nsPerCharacter = 20;

const nano = 1_000_000_000n;
const cap = int64Max * nano;
const digitsMax = 2_000;

interface Int64Form {
  readonly value: bigint;
  readonly scale: number;
}

const decimalSuffixes: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  '': 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
const binarySuffixes: Readonly<Record<string, number>> = { Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60 };
const form = /^([+-]?)(\d*)(?:\.(\d*))?([KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+|)$/;

export class Quantity extends Opaque {
  readonly nanos: bigint;
  readonly int64: Int64Form | undefined;

  constructor(nanos: bigint, int64: Int64Form | undefined) {
    super();
    this.nanos = nanos;
    this.int64 = int64;
  }

  override get typeName(): string {
    return 'kubernetes.Quantity';
  }

  override equals(other: Opaque): boolean {
    return other instanceof Quantity && other.nanos === this.nanos;
  }

  compare(other: Quantity): number {
    return this.nanos < other.nanos ? -1 : this.nanos > other.nanos ? 1 : 0;
  }

  /** The amount as an int64, if it has that form. */
  asInteger(): bigint | undefined {
    if (this.int64 === undefined || this.int64.scale < 0) return undefined;
    const value = this.int64.value * 10n ** BigInt(this.int64.scale);
    return fitsInt64(value) ? value : undefined;
  }

  asApproximateFloat(): number {
    if (this.int64 === undefined) return Number(this.nanos) / 1e9;
    return this.int64.scale === 0
      ? Number(this.int64.value)
      : Number(this.int64.value) * Number(`1e${this.int64.scale}`);
  }

  add(other: Quantity): Quantity {
    return new Quantity(this.nanos + other.nanos, addForms(this.int64, other.int64));
  }

  negated(): Quantity {
    const int64 = this.int64 && { value: -this.int64.value, scale: this.int64.scale };
    return new Quantity(-this.nanos, int64);
  }
}

const fitsInt64 = (value: bigint): boolean => value <= int64Max && value >= int64Min;

function addForms(a: Int64Form | undefined, b: Int64Form | undefined): Int64Form | undefined {
  if (a === undefined || b === undefined) return undefined;
  if (b.value === 0n) return a;
  if (a.value === 0n) return b;
  const scale = Math.min(a.scale, b.scale);
  const left = a.value * 10n ** BigInt(a.scale - scale);
  const right = b.value * 10n ** BigInt(b.scale - scale);
  return fitsInt64(left) && fitsInt64(right) && fitsInt64(left + right) ? { value: left + right, scale } : undefined;
}

export function integerQuantity(value: bigint): Quantity {
  return new Quantity(value * nano, { value, scale: 0 });
}

/** Returns the quantity; undefined if the text is not one. */
export function parseQuantity(text: string): Quantity | undefined {
  work(nsPerQuantity + text.length * nsPerCharacter);
  const match = form.exec(text);
  if (!match) return undefined;
  const [, sign, whole = '', denominator = '', suffix = ''] = match;
  // A lone point is a zero, as in Kubernetes.
  if (whole === '' && denominator === '' && !text.includes('.')) return undefined;
  const numerator = whole.replace(/^0+(?=\d)/, '') || '0';
  // No real quantity has so many, and parsing them takes more than linear time.
  if (numerator.length + denominator.length > digitsMax) return undefined;
  const digits = BigInt(numerator + denominator);
  const negative = sign === '-';
  const signed = (value: bigint): bigint => (negative ? -value : value);

  const binary = Object.hasOwn(binarySuffixes, suffix) ? binarySuffixes[suffix]! : undefined;
  if (binary !== undefined) {
    const nanos = divideUp((digits << BigInt(binary)) * nano, 10n ** BigInt(denominator.length));
    const precise = denominator === '' && 15 - numerator.length - Math.trunc((binary * 3) / 10) - 1 >= 0;
    const value = digits << BigInt(binary);
    return new Quantity(
      signed(bounded(nanos)),
      precise && fitsInt64(value) ? { value: signed(value), scale: 0 } : undefined,
    );
  }
  const exponent = Object.hasOwn(decimalSuffixes, suffix) ? decimalSuffixes[suffix]! : Number(suffix.slice(1));
  const scale = exponent - denominator.length;
  const precise = 18 - (numerator.length + denominator.length) >= 0 && scale >= -9;
  return new Quantity(
    signed(scaledNanos(digits, scale)),
    precise && scale <= 30 ? { value: signed(digits), scale } : undefined,
  );
}

/** Beyond these scales only the bounds are returned: no power of ten is computed from a client's exponent. */
function scaledNanos(digits: bigint, scale: number): bigint {
  if (digits === 0n) return 0n;
  if (scale > 40) return cap;
  if (scale >= -9) return bounded(digits * 10n ** BigInt(scale + 9));
  const drop = -9 - scale;
  return drop > digits.toString().length + 1 ? 1n : bounded(divideUp(digits, 10n ** BigInt(drop)));
}

const divideUp = (value: bigint, by: bigint): bigint => (value + by - 1n) / by;
const bounded = (nanos: bigint): bigint => (nanos > cap ? cap : nanos);
