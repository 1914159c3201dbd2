/**
 * Kubernetes quantities: `100m`, `1.5Gi`, `1e3`. The server rewrites each to its canonical form, in which equal numbers
 * of one format are equal texts: no fraction, the largest suffix that loses nothing.
 */

import { invalidValue } from '../errors.ts';

type Format = 'decimal' | 'binary' | 'exponent';

export interface Quantity {
  /** The number in billionths, the finest unit of quantities. */
  readonly nanos: bigint;
  readonly format: Format;
}

const decimalExponents: Readonly<Record<string, number>> = {
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
const decimalSuffixes = new Map(Object.entries(decimalExponents).map(([suffix, exponent]) => [exponent, suffix]));
const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const nano = 1_000_000_000n;
const nanosMax = (2n ** 63n - 1n) * nano;

/** Returns the text that the server keeps for it. Throws InvalidValue. */
export function canonicalQuantity(text: string): string {
  const known = knownQuantities.get(text);
  if (known !== undefined) return known;
  const quantity = parseQuantity(text);
  const canonical = isKeptAsWritten(text) ? text : formatQuantity(quantity);
  if (text.length <= knownLengthMax) {
    if (knownQuantities.size >= knownQuantitiesMax) knownQuantities.clear();
    knownQuantities.set(text, canonical);
  }
  return canonical;
}

/** Objects keep the same few quantities through every write: `100m`, `128Mi`. */
const knownQuantities = new Map<string, string>();
const knownQuantitiesMax = 512;
const knownLengthMax = 16;

/**
 * The server keeps some texts that are not quite canonical, such as `1.234`: its fast path compares digits and not the number. A comparison
 * of bytes with the server must do the same.
 */
function isKeptAsWritten(text: string): boolean {
  const [, , whole = '', fraction = '', suffix = ''] = syntax.exec(text)!;
  const digits = (whole.replace(/^0+/, '') || '0') + fraction;
  if (suffix.endsWith('i')) {
    const power = binarySuffixes.indexOf(suffix) * 10;
    const room = 15 - digits.length - Math.trunc(Math.fround(power) * 0.3) - 1;
    return fraction === '' && room >= 0 && Number(digits) % 8 !== 0;
  }
  const exponent = /^[eE].*\d$/.test(suffix) ? Number(suffix.slice(1)) : decimalExponents[suffix]!;
  const scale = exponent - fraction.length;
  return digits.length <= 18 && scale >= -9 && scale % 3 === 0 && !digits.endsWith('000') && digits[0] !== '0';
}

/** Long numbers cost more than linear time. */
const lengthMax = 256;

/**
 * Exponents have two digits at most, while the server allows any number: no quantity needs them, and numbers of thousands of digits would
 * be a cheap attack.
 */
const syntax = /^([+-]?)(\d*)(?:\.(\d*))?((?:[KMGTPE]i)|[numkMGTPE]|[eE][+-]?0*\d{1,2})?$/;

const parsedQuantities = new Map<string, Quantity>();

/** Throws InvalidValue. */
export function parseQuantity(text: string): Quantity {
  const known = parsedQuantities.get(text);
  if (known) return known;
  const quantity = readQuantity(text);
  if (text.length <= knownLengthMax) {
    if (parsedQuantities.size >= knownQuantitiesMax) parsedQuantities.clear();
    parsedQuantities.set(text, quantity);
  }
  return quantity;
}

function readQuantity(text: string): Quantity {
  if (text === '' || text.length > lengthMax) throw invalidValue(unparseable);
  const match = syntax.exec(text);
  if (!match) throw invalidValue(loose.test(text) ? badSuffix : unparseable);
  // Without digits it is zero: the server does not require them.
  const [, sign = '', whole = '', fraction = '', suffix = ''] = match;
  const isExponent = /^[eE].*\d$/.test(suffix);
  const format: Format = isExponent ? 'exponent' : suffix.endsWith('i') ? 'binary' : 'decimal';
  const digits = BigInt(whole + fraction || '0');
  let exponent = 9 - fraction.length;
  let factor = 1n;
  if (format === 'binary') factor = 1024n ** BigInt(binarySuffixes.indexOf(suffix));
  else exponent += isExponent ? Number(suffix.slice(1)) : decimalExponents[suffix]!;
  const nanos = scale(digits * factor, exponent);
  const bounded = format === 'binary' && nanos > nanosMax ? nanosMax : nanos;
  return { nanos: sign === '-' ? -bounded : bounded, format };
}

const loose = /^[+-]?\d*\.?\d*[eEinumkKMGTP]*[-+]?\d*$/;
const badSuffix = "unable to parse quantity's suffix";
const unparseable = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

/** Returns `digits × 10^exponent`, rounded away from zero. */
function scale(digits: bigint, exponent: number): bigint {
  if (digits === 0n) return 0n;
  if (exponent >= 0) return digits * 10n ** BigInt(exponent);
  const divisor = 10n ** BigInt(-exponent);
  return (digits + divisor - 1n) / divisor;
}

export function formatQuantity({ nanos, format }: Quantity): string {
  if (nanos === 0n) return '0';
  const sign = nanos < 0n ? '-' : '';
  const size = nanos < 0n ? -nanos : nanos;
  // Small or fractional numbers have no binary form.
  if (format === 'binary' && size >= 1024n * nano && size % nano === 0n) return `${sign}${formatBinary(size / nano)}`;
  // Above E there is no suffix: the mantissa grows. (kube-apiserver loses the exponent there: 10^21 becomes 1.)
  let exponent = -9;
  let mantissa = size;
  const exponentMax = format === 'exponent' ? Number.POSITIVE_INFINITY : 18;
  while (mantissa % 1000n === 0n && exponent < exponentMax) {
    mantissa /= 1000n;
    exponent += 3;
  }
  if (format === 'exponent') return exponent === 0 ? `${sign}${mantissa}` : `${sign}${mantissa}e${exponent}`;
  return `${sign}${mantissa}${decimalSuffixes.get(exponent)!}`;
}

function formatBinary(whole: bigint): string {
  let mantissa = whole;
  let power = 0;
  while (mantissa % 1024n === 0n && power < 6) {
    mantissa /= 1024n;
    power++;
  }
  return `${mantissa}${binarySuffixes[power]!}`;
}

/** Returns a negative, zero or positive number, as for sorting. Throws if one is not a quantity. */
export function compareQuantities(a: string, b: string): number {
  // Clients also send numbers.
  const difference = parseQuantity(String(a)).nanos - parseQuantity(String(b)).nanos;
  return difference === 0n ? 0 : difference > 0n ? 1 : -1;
}

/** The sum keeps the format of the first, as in Go. */
export function addQuantities(a: string, b: string): string {
  const { nanos, format } = parseQuantity(String(a));
  const other = parseQuantity(String(b));
  return formatQuantity({ nanos: nanos + other.nanos, format: nanos === 0n ? other.format : format });
}
