/**
 * Fields of decoded objects as in Kubernetes' own structs: absent is zero. The schema has been checked already, so a present field has its
 * type; `null` counts as absent.
 */

import type { JsonObject } from '../../object.ts';

type Holder = JsonObject | undefined;

const nothing: JsonObject = Object.freeze({});
const noItems: readonly never[] = Object.freeze([]);

export const isSet = (holder: Holder, name: string): boolean => holder?.[name] !== undefined && holder[name] !== null;

export const textOf = (holder: Holder, name: string): string => (holder?.[name] as string | null | undefined) ?? '';

/** Undefined if absent: for pointers in Kubernetes. */
export const optionalText = (holder: Holder, name: string): string | undefined =>
  (holder?.[name] as string | null | undefined) ?? undefined;

export const numberOf = (holder: Holder, name: string): number => (holder?.[name] as number | null | undefined) ?? 0;

export const optionalNumber = (holder: Holder, name: string): number | undefined =>
  (holder?.[name] as number | null | undefined) ?? undefined;

export const flagOf = (holder: Holder, name: string): boolean => holder?.[name] === true;

/** Returns an empty object if absent. */
export const structOf = (holder: Holder, name: string): JsonObject =>
  (holder?.[name] as JsonObject | null | undefined) ?? nothing;

export const optionalStruct = (holder: Holder, name: string): JsonObject | undefined =>
  (holder?.[name] as JsonObject | null | undefined) ?? undefined;

export const structsOf = (holder: Holder, name: string): readonly JsonObject[] =>
  (holder?.[name] as readonly JsonObject[] | null | undefined) ?? noItems;

export const textsOf = (holder: Holder, name: string): readonly string[] =>
  (holder?.[name] as readonly string[] | null | undefined) ?? noItems;

/** A map of texts: labels, data, quantities. Look keys up with `Object.hasOwn`: they come from clients. */
export const mapOf = (holder: Holder, name: string): Readonly<Record<string, string>> =>
  (holder?.[name] as Record<string, string> | null | undefined) ?? (nothing as Record<string, string>);

export const entry = (map: Readonly<Record<string, string>>, key: string): string | undefined =>
  Object.hasOwn(map, key) ? map[key] : undefined;

export const isEmpty = (holder: Holder, name: string): boolean => {
  const value = holder?.[name];
  if (value === undefined || value === null || value === '') return true;
  if (Array.isArray(value)) return value.length === 0;
  return typeof value === 'object' && Object.keys(value).length === 0;
};
