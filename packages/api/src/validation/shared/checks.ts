/** The checks that nearly every kind makes, each answering the errors it found. */

import { invalid, notSupported, required, tooLong } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import { byteLength, dnsLabelReasons, dnsSubdomainReasons, negativeReason, qualifiedNameReasons } from '../formats.ts';
import type { Reasons } from '../formats.ts';
import { equalValues } from './equal.ts';

export const none: readonly FieldError[] = [];

/** One error for each reason. */
export const invalidFor = (path: string, value: unknown, reasons: Reasons): FieldError[] =>
  reasons.map((reason) => invalid(path, value, reason));

export const dnsLabelErrors = (path: string, value: string): FieldError[] =>
  invalidFor(path, value, dnsLabelReasons(value));
export const dnsSubdomainErrors = (path: string, value: string): FieldError[] =>
  invalidFor(path, value, dnsSubdomainReasons(value));
export const qualifiedNameErrors = (path: string, value: string): FieldError[] =>
  invalidFor(path, value, qualifiedNameReasons(value));

/** `/` and `%` have no place in names that become part of a path. */
export function pathSegmentReasons(name: string): Reasons {
  if (name === '.' || name === '..') return [`may not be '${name}'`];
  return ['/', '%'].filter((one) => name.includes(one)).map((one) => `may not contain '${one}'`);
}

/** Required, and fit for a path. */
export const pathSegmentErrors = (path: string, name: string): readonly FieldError[] =>
  name === '' ? [required(path, '')] : invalidFor(path, name, pathSegmentReasons(name));

export const nonNegativeErrors = (path: string, value: number): readonly FieldError[] =>
  value < 0 ? [invalid(path, value, negativeReason)] : none;

/** `supported` in the order of the message. */
export const oneOfErrors = (path: string, value: string, supported: readonly string[]): readonly FieldError[] =>
  supported.includes(value) ? none : [notSupported(path, value, supported)];

/** Absent is refused as missing, anything else must be one of them. */
export const requiredOneOfErrors = (path: string, value: string, supported: readonly string[]): readonly FieldError[] =>
  value === '' ? [required(path, '')] : oneOfErrors(path, value, supported);

export const requiredErrors = (path: string, value: string, detail = ''): readonly FieldError[] =>
  value === '' ? [required(path, detail)] : none;

export const tooLongErrors = (path: string, value: string, max: number): readonly FieldError[] =>
  byteLength(value) > max ? [tooLong(path, max)] : none;

/** As `push(...more)`, which fails for very long lists: arguments live on the stack. */
export function append(errors: FieldError[], more: readonly FieldError[]): void {
  for (const error of more) errors.push(error);
}

/** Returns the indexes of repeated items. One pass: lists come from clients. */
export function repeatedIn(list: readonly string[]): ReadonlySet<number> {
  const seen = new Set<string>();
  return new Set(
    list.flatMap((item, at) => {
      if (seen.has(item)) return [at];
      seen.add(item);
      return [];
    }),
  );
}

export const immutableReason = 'field is immutable';

/** `shown`: how the message shows the new value, where Kubernetes' form differs from the API's. */
export const immutableErrors = (
  path: string,
  value: unknown,
  old: unknown,
  shown: unknown = value,
): readonly FieldError[] => (equalValues(value, old) ? none : [invalid(path, shown ?? null, immutableReason)]);
