/**
 * The small checks of validation. A check appends its errors to `errors`, in the order in which kube-apiserver reports them: clients see
 * the order in the message.
 */

import { duplicate, invalid, notSupported, required } from '../../../status/field-error.ts';
import type { FieldError } from '../../../status/field-error.ts';
import {
  dnsLabelReasons,
  dnsSubdomainReasons,
  negativeReason,
  qualifiedNameReasons,
  rangeReason,
} from '../../formats.ts';
import type { Reasons } from '../../formats.ts';

/** Lists and maps that a client sent as null, or that are written even when empty, are null. */
export type List<T> = readonly T[] | null;
export type TextMap = Readonly<Record<string, string>> | null;

/** Reports whether the value is not nil in Go. */
export const isSet = <T>(value: T): value is NonNullable<T> => value !== undefined && value !== null;
export const isEmpty = (list: List<unknown> | undefined): boolean => !list || list.length === 0;
export const has = (map: TextMap | undefined, name: string): boolean => isSet(map) && Object.hasOwn(map, name);

export const immutableReason = 'field is immutable';
export const positiveReason = 'must be greater than zero';

export function checkReasons(errors: FieldError[], path: string, value: unknown, reasons: Reasons): void {
  for (const reason of reasons) errors.push(invalid(path, value, reason));
}

export const checkDnsLabel = (errors: FieldError[], path: string, value: string): void =>
  checkReasons(errors, path, value, dnsLabelReasons(value));
export const checkDnsSubdomain = (errors: FieldError[], path: string, value: string): void =>
  checkReasons(errors, path, value, dnsSubdomainReasons(value));
export const checkQualifiedName = (errors: FieldError[], path: string, value: string): void =>
  checkReasons(errors, path, value, qualifiedNameReasons(value));

/** Checks a required name: a DNS label. */
export function checkLabelName(errors: FieldError[], path: string, name: string): void {
  if (name === '') errors.push(required(path, ''));
  else checkDnsLabel(errors, path, name);
}

export function checkRequired(errors: FieldError[], path: string, value: string | undefined): void {
  if (!value) errors.push(required(path, ''));
}

/** Absent is 0, or nothing to check. */
export function checkNotNegative(errors: FieldError[], path: string, value: number | null | undefined): void {
  if (isSet(value) && value < 0) errors.push(invalid(path, value, negativeReason));
}

export function checkPositive(errors: FieldError[], path: string, value: number): void {
  if (value <= 0) errors.push(invalid(path, value, positiveReason));
}

export function checkRange(
  errors: FieldError[],
  path: string,
  value: number,
  [low, high]: readonly [number, number],
): void {
  if (value < low || value > high) errors.push(invalid(path, value, rangeReason(low, high)));
}

/** Checks an enumerated value; `supported` in the order of the message. */
export function checkOneOf(errors: FieldError[], path: string, value: string, supported: readonly string[]): void {
  if (!supported.includes(value)) errors.push(notSupported(path, value, supported));
}

/** Like `checkOneOf`, for fields that defaulting always sets: an empty value is required. */
export function checkRequiredOneOf(
  errors: FieldError[],
  path: string,
  value: string,
  supported: readonly string[],
): void {
  if (value === '') errors.push(required(path, ''));
  else checkOneOf(errors, path, value, supported);
}

/** Reports every repetition of a name. */
export function checkUnique(errors: FieldError[], path: string, value: string, seen: Set<string>): void {
  if (seen.has(value)) errors.push(duplicate(path, value));
  else seen.add(value);
}
