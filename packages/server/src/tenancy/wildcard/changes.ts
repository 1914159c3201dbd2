/**
 * Converts the changes of one revision to the entries of a control plane into changes of its visible objects. The visible object is the own
 * entry if there is one; otherwise none if there is a tombstone; otherwise the one of the base (see store/layered):
 *
 *     own put, nothing before      ADDED, or MODIFIED if it covers one of the base
 *     tombstone put                DELETED, once, also if an own entry was deleted with it
 *     own put, tombstone deleted   ADDED
 */

import { Buffer } from 'node:buffer';
import type { Entry, StoreEvent } from '@hangar/store';
import type { Foundation } from './foundations.ts';
import type { Touched } from './touched.ts';

export interface Ground {
  /** Prefix of the control plane. */
  readonly prefix: string;
  readonly foundation: Foundation | undefined;
}

/** Always returns a new event: other readers attach cached data, without the name of the control plane, to the event of the store. */
export function change(key: string, was: Entry | undefined, is: Entry | undefined): StoreEvent | undefined {
  if (is) return { type: 'put', entry: is, ...(was && { previous: was }) };
  return was && { type: 'delete', key, previous: was };
}

export function baseEntry({ prefix, foundation }: Ground, rest: string): Entry | undefined {
  const value = foundation?.base.value(rest);
  if (!foundation || !value) return undefined;
  const { revision } = foundation;
  return {
    key: `${prefix}${rest}`,
    value,
    createRevision: revision,
    modRevision: revision,
    version: 1,
    lease: undefined,
  };
}

/** Returns the changes of a control plane that exists before and after the revision, on the same base. */
export function changesOf({ own, hidden }: Touched, ground: Ground): StoreEvent[] {
  const found: (StoreEvent | undefined)[] = [];
  for (const [rest, event] of own) {
    const tombstone = hidden.get(rest);
    const was = event.previous ?? (tombstone === 'delete' ? undefined : baseEntry(ground, rest));
    const is = event.type === 'put' ? event.entry : tombstone === 'put' ? undefined : baseEntry(ground, rest);
    found.push(change(`${ground.prefix}${rest}`, was, is));
  }
  for (const [rest, type] of hidden) {
    if (own.has(rest)) continue;
    const base = baseEntry(ground, rest);
    found.push(type === 'put' ? change(`${ground.prefix}${rest}`, base, undefined) : change('', undefined, base));
  }
  return found.filter((one) => one !== undefined);
}

/** Returns the deletions of a control plane whose whole range was deleted: its own entries from the events, plus its base objects. */
export function endOf({ own, hidden }: Touched, ground: Ground, bornKeys: readonly string[]): StoreEvent[] {
  const found: (StoreEvent | undefined)[] = [];
  for (const [rest, { previous }] of own) found.push(change(`${ground.prefix}${rest}`, previous, undefined));
  for (const rest of bornKeys) {
    if (own.has(rest) || hidden.has(rest)) continue;
    found.push(change(`${ground.prefix}${rest}`, baseEntry(ground, rest), undefined));
  }
  return found.filter((one) => one !== undefined);
}

/** Returns the changes from one state to another. */
export function difference(before: readonly Entry[], after: readonly Entry[]): StoreEvent[] {
  const gone = new Map(before.map((entry) => [entry.key, entry]));
  const found: (StoreEvent | undefined)[] = [];
  for (const entry of after) {
    const was = gone.get(entry.key);
    gone.delete(entry.key);
    if (!was || was.modRevision !== entry.modRevision || Buffer.compare(was.value, entry.value) !== 0) {
      found.push(change(entry.key, was, entry));
    }
  }
  for (const [key, was] of gone) found.push(change(key, was, undefined));
  return found.filter((one) => one !== undefined);
}
