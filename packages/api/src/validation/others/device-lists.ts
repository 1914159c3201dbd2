/** Lists and sets of dynamic resource allocation: an excess is reported once, and nothing else. */

import { duplicate, index, invalid, required, tooLong, tooMany } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import { byteLength, cIdentifierReasons } from '../formats.ts';
import { dnsSubdomainErrors, invalidFor } from '../shared/checks.ts';
import { isObject } from '../../object.ts';
import { csiDriverNameErrors } from './csi.ts';

type Check<T> = (path: string, item: T) => readonly FieldError[];

export const listErrors = <T>(path: string, items: readonly T[], max: number, check: Check<T>): FieldError[] =>
  items.length > max ? [tooMany(path, items.length, max)] : items.flatMap((item, at) => check(index(path, at), item));

/** Each key must be unique; errors of items come before those of keys. */
export function setErrors<T>(
  path: string,
  items: readonly T[],
  max: number,
  check: Check<T>,
  keyOf: (item: T) => unknown,
): FieldError[] {
  if (items.length > max) return [tooMany(path, items.length, max)];
  const seen = new Set<string>();
  const repeated = items.flatMap((item, at) => {
    const shown = keyOf(item);
    const identity = JSON.stringify(shown);
    if (seen.has(identity)) return [duplicate(index(path, at), shown)];
    seen.add(identity);
    return [];
  });
  return [...listErrors(path, items, max, check), ...repeated];
}

const identifierMax = 32;

function identifierErrors(path: string, name: string): FieldError[] {
  return [
    ...(byteLength(name) > identifierMax ? [tooLong(path, identifierMax)] : []),
    ...invalidFor(path, name, cIdentifierReasons(name)),
  ];
}

/** `name` or `domain/name`. */
export function deviceKeyErrors(path: string, key: string): FieldError[] {
  const parts = key.split('/');
  if (parts.length === 1) return identifierErrors(path, key);
  if (parts.length > 2) return [];
  const [domain = '', name = ''] = parts;
  return [
    ...(domain === '' ? [invalid(path, '', 'the domain must not be empty')] : csiDriverNameErrors(path, domain)),
    ...(name === '' ? [invalid(path, '', 'the name must not be empty')] : identifierErrors(path, name)),
  ];
}

/** Requires a domain. */
export const qualifiedKeyErrors = (path: string, key: string): FieldError[] => [
  ...deviceKeyErrors(path, key),
  ...(key.includes('/')
    ? []
    : [invalid(path, key, 'a fully qualified name must be a domain and a name separated by a slash')]),
];

/** Parts between slashes are subdomains. */
export function poolNameErrors(path: string, name: string): FieldError[] {
  if (name === '') return [required(path, '')];
  return [
    ...(byteLength(name) > 253 ? [tooLong(path, 253)] : []),
    ...name.split('/').flatMap((part) => dnsSubdomainErrors(path, part)),
  ];
}

/** Parameters for a driver: any JSON object, up to this many bytes. */
export function rawObjectErrors(path: string, value: unknown, bytesMax: number): FieldError[] {
  if (value === undefined || value === null) return [required(path, '')];
  if (byteLength(JSON.stringify(value)) > bytesMax) return [tooLong(path, bytesMax)];
  return isObject(value) ? [] : [invalid(path, '<value omitted>', 'must be a valid JSON object')];
}
