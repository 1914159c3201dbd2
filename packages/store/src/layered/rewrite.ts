/**
 * Translates a transaction on the view to one on the store below, given its current state. Every state that it relies on becomes a
 * condition, so that the store refuses it if the state has changed meanwhile.
 *
 *     now            put                                 delete
 *     own entry      put own, if still the same          delete own, if still the same; put tombstone
 *     tombstone      put own; delete tombstone           nothing, if it is still there
 *     base only      put own, if neither is there        put tombstone, if neither is there
 */

import { absent } from '../contract.ts';
import type { Entry, Write } from '../contract.ts';
import { noBytes } from '../engine/rows.ts';
import { StoreError } from '../errors.ts';
import { inRange } from '../keys.ts';
import type { Layout } from './layout.ts';

export interface KeyState {
  readonly own: Entry | undefined;
  readonly tombstone: Entry | undefined;
  readonly inBase: boolean;
  /** The entry that the view shows. */
  readonly entry: Entry | undefined;
}

export function viewOf(state: { own: Entry | undefined; tombstone: Entry | undefined; base: Entry | undefined }) {
  return state.own ?? (state.tombstone ? undefined : state.base);
}

export interface RewriteInput {
  writes: readonly Write[];
  states: ReadonlyMap<string, KeyState>;
  layout: Layout;
}

/** Returns the writes for the store, and the correction of its count of deletions: hidden base entries count, removed tombstones do not. */
export function rewrite({ writes, states, layout }: RewriteInput): { raw: Write[]; deleted: number } {
  const raw: Write[] = [];
  let deleted = 0;
  /** A transaction names a key once: a condition is left out if a write of the same key has it. */
  const add = (write: Exclude<Write, { type: 'deleteRange' }>) => {
    const at = raw.findIndex((other) => other.type !== 'deleteRange' && other.key === write.key);
    if (at < 0) raw.push(write);
    else if (raw[at]!.type === 'check') raw[at] = write;
  };
  const hide = (key: string, state: KeyState) => {
    if (!state.inBase) return;
    const tombstoneKey = layout.tombstone(layout.relative(key));
    if (state.tombstone) add({ type: 'check', key: tombstoneKey, expected: state.tombstone.modRevision });
    if (!state.entry) return;
    add({ type: 'put', key: tombstoneKey, value: noBytes, expected: absent });
    if (!state.own) {
      add({ type: 'check', key, expected: absent });
      deleted++;
    }
  };
  for (const write of writes) {
    if (write.type === 'deleteRange') {
      raw.push(write);
      for (const [key, state] of states) if (inRange(key, write.range)) hide(key, state);
      continue;
    }
    const state = states.get(write.key)!;
    const tombstoneKey = layout.tombstone(layout.relative(write.key));
    const expected = state.own?.modRevision ?? absent;
    if (!state.inBase) add(write);
    else if (write.type === 'check') {
      add({ ...write, expected });
      if (!state.own) add({ type: 'check', key: tombstoneKey, expected: state.tombstone?.modRevision ?? absent });
    } else if (write.type === 'put') {
      if (write.lease !== undefined) throw new StoreError('InvalidRequest', 'a base entry cannot have a lease');
      if (write.restored) throw new StoreError('InvalidRequest', 'a base entry cannot have restored revisions');
      add({ ...write, expected });
      if (state.tombstone) {
        add({ type: 'delete', key: tombstoneKey, expected: state.tombstone.modRevision });
        deleted--;
      } else if (!state.own) add({ type: 'check', key: tombstoneKey, expected: absent });
    } else {
      if (state.own) add({ ...write, expected });
      hide(write.key, state);
    }
  }
  return { raw, deleted };
}
