/**
 * Writes managedFields as JSON. Objects with the same fields share one frozen set (`known-nodes.ts`), whose text is kept: of a Pod, it is half of
 * the text.
 */

import { isObject } from '../object.ts';
import type { ManagedFieldsEntry } from '../object.ts';

/** Texts by set. A text is as long-lived as its set, and the sets that objects share are limited in size and number. */
const texts = new WeakMap<object, string>();

/** Returns the text that `JSON.stringify` writes; undefined if no entry has a shared set. */
export function sharedManagedFieldsJson(entries: readonly ManagedFieldsEntry[] | undefined): string | undefined {
  if (!Array.isArray(entries) || !entries.some(isShared)) return undefined;
  return `[${entries.map((entry: ManagedFieldsEntry) => (isShared(entry) ? entryJson(entry) : JSON.stringify(entry))).join(',')}]`;
}

const isShared = (entry: unknown): boolean =>
  isObject(entry) && isObject(entry['fieldsV1']) && Object.isFrozen(entry['fieldsV1']);

function entryJson(entry: ManagedFieldsEntry): string {
  let text = '';
  for (const [name, value] of Object.entries(entry)) {
    if (value === undefined) continue;
    text += `${text === '' ? '{' : ','}"${name}":${name === 'fieldsV1' ? setJson(value as object) : JSON.stringify(value)}`;
  }
  return `${text}}`;
}

function setJson(set: object): string {
  let text = texts.get(set);
  if (text === undefined) texts.set(set, (text = JSON.stringify(set)));
  return text;
}
