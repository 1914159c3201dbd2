/**
 * From what a revision did to the entries of a control plane to what it did to the objects that are seen there. An object is
 * the own entry if there is one, else nothing if there is a tombstone, else the base's (see store/layered):
 *
 *     own put, nothing before      ADDED, or MODIFIED when it covers one of the base
 *     tombstone put                DELETED, once, also when an own entry went with it
 *     own put, tombstone deleted   ADDED
 */

import { Buffer } from 'node:buffer';
import type { Entry, StoreEvent } from '@hangar/store';
import type { Foundation } from './foundations.ts';
import type { Touched } from './touched.ts';

export interface Ground {
  /** Of the control plane. */
  readonly prefix: string;
  readonly foundation: Foundation | undefined;
}

/** Never the store's own event: what others have made of that, without the name of the control plane, is kept with it. */
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

/** Of a control plane that was there and still is, on the same ground. */
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

/** Of a control plane whose whole range was deleted: what it had is in the events, but for what it had of the base. */
export function endOf({ own, hidden }: Touched, ground: Ground, bornKeys: readonly string[]): StoreEvent[] {
  const found: (StoreEvent | undefined)[] = [];
  for (const [rest, { previous }] of own) found.push(change(`${ground.prefix}${rest}`, previous, undefined));
  for (const rest of bornKeys) {
    if (own.has(rest) || hidden.has(rest)) continue;
    found.push(change(`${ground.prefix}${rest}`, baseEntry(ground, rest), undefined));
  }
  return found.filter((one) => one !== undefined);
}

/** Between two states, whatever led from one to the other. */
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
