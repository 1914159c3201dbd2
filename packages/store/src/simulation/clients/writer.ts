/**
 * Changes keys in every way that the contract offers: create-if-absent, compare-and-set, blind writes, deletions by key and by range, and
 * transactions that mix them. It remembers the last seen state of each key, which is often out of date and causes conflicts.
 */

import { chance, pick } from '@hangar/core';
import type { Revision } from '../../contract.ts';
import { inRange } from '../../keys.ts';
import type { Draft } from '../session.ts';
import { live, someRange } from './client.ts';
import type { Client } from './client.ts';

const absent = 0 as Revision;

export function writer(client: Client): Promise<void> {
  const { name, session, random, profile } = client;
  const { keys } = session.universe;
  const seen = new Map<string, Revision>();

  function condition(key: string): { expected?: Revision } {
    return chance(random, 0.75) ? { expected: seen.get(key) ?? absent } : {};
  }

  function put(key: string): Draft {
    return { type: 'put', key, ...condition(key), paddingBytes: random.below(profile.valueBytesMax + 1) };
  }

  function single(): Draft {
    const key = pick(random, keys);
    return chance(random, 0.3) ? { type: 'delete', key, ...condition(key) } : put(key);
  }

  function several(): Draft[] {
    const drafts = new Map<string, Draft>();
    for (let count = 2 + random.below(3); count > 0; count--) {
      const key = pick(random, keys);
      const kind = random.below(6);
      if (kind === 0) drafts.set(key, { type: 'check', key, expected: seen.get(key) ?? absent });
      else if (kind === 1) drafts.set(key, { type: 'delete', key, ...condition(key) });
      else drafts.set(key, put(key));
    }
    return [...drafts.values()];
  }

  /** With a put elsewhere, or a condition on a deleted key: a condition may name a key that a range deletes. */
  function byRange(): Draft[] {
    const range = someRange(random, session.universe);
    const key = pick(random, keys);
    const deletion: Draft = { type: 'deleteRange', range };
    if (chance(random, 0.4)) return [deletion];
    return [deletion, inRange(key, range) ? { type: 'check', key, expected: seen.get(key) ?? absent } : put(key)];
  }

  async function look(): Promise<void> {
    const key = pick(random, keys);
    const read = await session.get(name, key);
    if ('entries' in read) seen.set(key, read.entries[0]?.modRevision ?? absent);
  }

  async function write(drafts: readonly Draft[]): Promise<void> {
    const result = await session.commit(name, drafts);
    if ('code' in result) return;
    if (!result.committed) {
      for (const { key, entry } of result.conflicts) seen.set(key, entry?.modRevision ?? absent);
      return;
    }
    for (const draft of drafts) {
      if (draft.type === 'put') seen.set(draft.key, result.revision);
      else if (draft.type === 'delete') seen.delete(draft.key);
    }
  }

  return live(client, () => {
    const kind = random.below(20);
    if (kind < 5) return look();
    if (kind < 13) return write([single()]);
    return write(kind < 19 ? several() : byRange());
  });
}
