/**
 * `metadata.managedFields` decoded: managers and the fields that they own. A manager is one entry; it is identified by its name, its
 * operation, its subresource and, for updates, by the version it wrote in. Entries that do not change stay the same objects, and are shared
 * by old and new object: never change them.
 */

import { isSliceOver, once } from '@hangar/cel/work';
import type { ManagedFieldsEntry } from '../object.ts';
import { isObject } from '../object.ts';
import { quote } from '../status/field-error.ts';
import type { FieldSet } from './field-set.ts';
import { asParsed, parseFieldSet, unionOfAll } from './field-set.ts';
import { compareUtf8 } from './path-element.ts';
import { goJson } from './values.ts';

export type Operation = 'Apply' | 'Update';

export interface ManagerIdentity {
  readonly name: string;
  readonly operation: Operation;
  readonly apiVersion: string;
  readonly subresource: string;
}

export interface Manager extends ManagerIdentity {
  readonly time: string | undefined;
  readonly fields: FieldSet;
  /** The entry that it was decoded from, if it has not changed since. */
  readonly entry: ManagedFieldsEntry | undefined;
}

/** Managed fields that cannot be decoded. */
export class ManagedFieldsError extends Error {}

/** Appliers are the same in every version. */
export const isSameManager = (a: ManagerIdentity, b: ManagerIdentity): boolean =>
  a.name === b.name &&
  a.operation === b.operation &&
  a.subresource === b.subresource &&
  (a.operation === 'Apply' || a.apiVersion === b.apiVersion);

/** Throws ManagedFieldsError. Of entries of the same manager the last one counts. */
export function decodeManagers(entries: readonly ManagedFieldsEntry[] | null | undefined): Manager[] {
  if (!Array.isArray(entries) || entries.length === 0) return [];
  if (entries.length === 1) return [once(() => decodeManager(entries[0] as ManagedFieldsEntry, 0))];
  const managers = new Map<string, Manager>();
  entries.forEach((entry: ManagedFieldsEntry, i) => {
    const manager = once(() => decodeManager(entry, i));
    const { name, operation, apiVersion, subresource } = manager;
    managers.set(`${operation}\n${operation === 'Apply' ? '' : apiVersion}\n${subresource}\n${name}`, manager);
  });
  return [...managers.values()];
}

/** Returns the problem of entries after admission, if any. */
export function managedFieldsProblem(entries: readonly ManagedFieldsEntry[] | null | undefined): string | undefined {
  try {
    decodeManagers(entries);
    return undefined;
  } catch (error) {
    if (isSliceOver(error)) throw error;
    return (error as Error).message;
  }
}

function decodeManager(entry: ManagedFieldsEntry, index: number): Manager {
  if (!isObject(entry as unknown)) throw new ManagedFieldsError(`entry ${index} is not an object`);
  const { manager: name = '', operation, apiVersion = '', subresource = '', time, fieldsType = '' } = entry;
  if (operation !== 'Apply' && operation !== 'Update') {
    throw new ManagedFieldsError('operation must be `Apply` or `Update`');
  }
  if (apiVersion === '') throw new ManagedFieldsError('apiVersion must not be empty');
  if (fieldsType === '') throw new ManagedFieldsError(`missing fieldsType in managed fields entry ${index}`);
  if (fieldsType !== 'FieldsV1') {
    throw new ManagedFieldsError(`invalid fieldsType ${quote(fieldsType)} in managed fields entry ${index}`);
  }
  const fields = parsedFields(entry);
  const isAsDecoded = fields === (entry.fieldsV1 as unknown);
  return { name, operation, apiVersion, subresource, time, fields, entry: isAsDecoded ? entry : undefined };
}

function parsedFields({ fieldsV1 }: ManagedFieldsEntry): FieldSet {
  try {
    return parseFieldSet(fieldsV1);
  } catch (error) {
    if (isSliceOver(error)) throw error;
    throw new ManagedFieldsError(`error decoding set: ${(error as Error).message}`, { cause: error });
  }
}

/** Appliers first, then by time, name, version and subresource. Undefined when there are none. */
export function encodeManagers(managers: readonly Manager[]): ManagedFieldsEntry[] | undefined {
  if (managers.length === 0) return undefined;
  return (managers.length === 1 ? managers : managers.toSorted(compareManagers)).map(encodeManager);
}

function compareManagers(a: Manager, b: Manager): number {
  if (a.operation !== b.operation) return a.operation < b.operation ? -1 : 1;
  // Times are in UTC and have one length: they sort like their texts.
  return (
    compareUtf8(a.time ?? '', b.time ?? '') ||
    compareUtf8(a.name, b.name) ||
    compareUtf8(a.apiVersion, b.apiVersion) ||
    compareUtf8(a.subresource, b.subresource)
  );
}

function encodeManager({ name, operation, apiVersion, subresource, time, fields, entry }: Manager): ManagedFieldsEntry {
  if (entry) return entry;
  return {
    ...(name === '' ? {} : { manager: name }),
    operation,
    apiVersion,
    ...(time === undefined ? {} : { time }),
    fieldsType: 'FieldsV1',
    fieldsV1: asParsed(fields) as unknown as NonNullable<ManagedFieldsEntry['fieldsV1']>,
    ...(subresource === '' ? {} : { subresource }),
  };
}

/** Returns the key by which kube-apiserver sorts managers in lists. */
export function identifierOf({ name, operation, apiVersion, subresource }: ManagerIdentity): string {
  return goJsonInOrder({
    manager: name,
    operation,
    apiVersion: operation === 'Apply' ? '' : apiVersion,
    subresource,
  });
}

const goJsonInOrder = (fields: Readonly<Record<string, string>>): string =>
  `{${Object.entries(fields)
    .filter(([, value]) => value !== '')
    .map(([key, value]) => `"${key}":${goJson(value)}`)
    .join(',')}}`;

const updatersMax = 10;

/**
 * When more than ten managers have written by update, the oldest of a version are merged into one, `ancient-changes`, until there are ten.
 * A single oldest one stays as it is.
 */
export function capUpdaters(managers: Manager[]): Manager[] {
  const count = managers.reduce((sum, { operation }) => sum + (operation === 'Update' ? 1 : 0), 0);
  if (count <= updatersMax) return managers;
  const left = new Map(managers.map((manager) => [identifierOf(manager), manager]));
  /** By version: the oldest, and the bucket that collects others. */
  const oldest = new Map<string, string>();
  const buckets = new Map<string, { manager: Manager; sets: FieldSet[] }>();
  let excess = count - updatersMax;
  for (const [identifier, manager] of oldestUpdaters(left)) {
    if (excess <= 0) break;
    const { apiVersion, fields, time } = manager;
    const first = oldest.get(apiVersion);
    if (first === undefined) {
      oldest.set(apiVersion, identifier);
      continue;
    }
    const identity: ManagerIdentity = { name: 'ancient-changes', operation: 'Update', apiVersion, subresource: '' };
    const bucketIdentifier = identifierOf(identity);
    const sets = buckets.get(bucketIdentifier)?.sets ?? [];
    if (!left.has(bucketIdentifier)) {
      sets.push(left.get(first)!.fields);
      left.delete(first);
    } else if (sets.length === 0) sets.push(left.get(bucketIdentifier)!.fields);
    sets.push(fields);
    const bucket: Manager = { ...identity, time, fields, entry: undefined };
    buckets.set(bucketIdentifier, { manager: bucket, sets });
    left.set(bucketIdentifier, bucket);
    left.delete(identifier);
    excess--;
  }
  for (const [identifier, { manager, sets }] of buckets) {
    if (left.has(identifier)) left.set(identifier, { ...manager, fields: unionOfAll(sets) });
  }
  return [...left.values()];
}

const oldestUpdaters = (managers: ReadonlyMap<string, Manager>): [identifier: string, manager: Manager][] =>
  [...managers]
    .filter(([, { operation }]) => operation === 'Update')
    .sort(([a, left], [b, right]) => compareUtf8(left.time ?? '', right.time ?? '') || compareUtf8(a, b));
