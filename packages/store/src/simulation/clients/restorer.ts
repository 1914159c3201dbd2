/** Restores entries with earlier revisions, and skips revisions, between the writes of the other clients. */

import { chance, pick } from '@hangar/core';
import type { RestoredRevisions, Revision } from '../../contract.ts';
import type { Draft } from '../session.ts';
import { live } from './client.ts';
import type { Client } from './client.ts';

/** Fewer than the history keeps: auditors must not lose the history before a gap. */
const skippedMax = 30;

export function restorer(client: Client): Promise<void> {
  const { name, session, random } = client;
  const { base } = session.universe;
  // A layered view restores entries only where it has no base entry.
  const keys = session.universe.keys.filter((key) => base.every((entry) => entry.key !== key));

  function revisions(): RestoredRevisions {
    const { known } = session.recorder;
    const modRevision = chance(random, 0.7) ? 1 + random.below(known) : known + random.below(skippedMax);
    const createRevision = 1 + random.below(modRevision);
    return {
      createRevision: createRevision as Revision,
      modRevision: modRevision as Revision,
      version: 1 + random.below(9),
    };
  }

  function put(key: string): Draft {
    const draft = { type: 'put' as const, key, paddingBytes: random.below(20) };
    const kind = random.below(8);
    if (kind === 0) return draft;
    if (kind > 1) return { ...draft, restored: revisions() };
    return { ...draft, revisionMin: (session.recorder.known + random.below(skippedMax)) as Revision };
  }

  return live(client, async () => {
    const chosen = new Set(Array.from({ length: 1 + random.below(3) }, () => pick(random, keys)));
    if (chance(random, 0.5)) return session.commit(name, [...chosen].map(put));
    // Under the condition of the current revision, which may be a restored one.
    const [key = pick(random, keys)] = chosen;
    const read = await session.get(name, key);
    if (!('entries' in read)) return read;
    const expected = read.entries[0]?.modRevision ?? (0 as Revision);
    const draft = put(key);
    return session.commit(name, [draft.type === 'put' ? { ...draft, expected } : draft]);
  });
}
