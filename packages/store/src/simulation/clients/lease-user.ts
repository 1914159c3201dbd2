/** Holds keys by lease: renews it for a while, then revokes it, or forgets it and lets it end. */

import { chance, pick } from '@hangar/core';
import { leaseTtlMinMs } from '../../limits.ts';
import { live } from './client.ts';
import type { Client } from './client.ts';

export const leaseTtlsMs = [leaseTtlMinMs, leaseTtlMinMs + 300, 2 * leaseTtlMinMs];

export function leaseUser(client: Client): Promise<void> {
  const { name, session, random } = client;
  const { keys, base } = session.universe;
  // A layered view offers leases only where it has no base entry.
  const leasable = keys.filter((key) => base.every((entry) => entry.key !== key));

  return live(client, async () => {
    const ttlMs = pick(random, leaseTtlsMs);
    const id = await session.grantLease(name, ttlMs);
    if (id === undefined) return;
    for (let turns = random.below(8); turns > 0 && !session.stopping; turns--) {
      const result = await session.commit(name, [
        { type: 'put', key: pick(random, leasable), lease: id, paddingBytes: random.below(20) },
      ]);
      if ('code' in result && result.code === 'LeaseNotFound') {
        session.checkLeaseMayBeOver(id, session.recorder.note(`${name} lost lease ${id}`));
        return;
      }
      // Sometimes for too long: the lease is over then, or would be if the disk took its end.
      await session.sleep(chance(random, 0.15) ? ttlMs + random.fraction() * 500 : random.fraction() * 700);
      if (chance(random, 0.6) && !session.stopping && !(await session.renewLease(name, id))) return;
    }
    if (chance(random, 0.3) && !session.stopping) await session.revokeLease(name, id);
  });
}
