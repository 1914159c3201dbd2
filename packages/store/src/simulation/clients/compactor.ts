/** Compacts history, up to now or to a past revision; sometimes requests a revision that is already compacted or in the future. */

import { chance } from '@hangar/core';
import type { Revision } from '../../contract.ts';
import { live } from './client.ts';
import type { Client } from './client.ts';

/** `audited` resolves when the auditors have seen everything up to a revision: they must not miss events. */
export function compactor(client: Client, audited: (revision: Revision) => Promise<void>): Promise<void> {
  const { name, session, random, profile } = client;
  return live(client, async () => {
    await session.sleep(random.fraction() * profile.thinkMaxMs * 4);
    const known = session.recorder.known;
    if (chance(random, 0.1)) return session.compact(name, (known + 1_000_000) as Revision);
    const revision = Math.max(1, chance(random, 0.5) ? known : known - random.below(30)) as Revision;
    await audited(revision);
    if (!session.stopping) await session.compact(name, revision);
  });
}
