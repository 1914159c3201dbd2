/**
 * Follows a prefix through closes, restarts and compactions: resumes behind the last batch or progress mark, lists again when the history
 * was compacted. Its memory survives the process, like a client on another machine.
 */

import { chance } from '@hangar/core';
import type { Revision, WatchBatch } from '../../contract.ts';
import { prefixRange } from '../../keys.ts';
import type { Failure } from '../records.ts';
import { somePrefix } from './client.ts';
import type { Client } from './client.ts';

export interface WatcherMemory {
  prefix: string | undefined;
  /** Start of the next watch; undefined: now. */
  position: Revision | undefined;
}

export interface Drain {
  /** Read until everything up to this revision was delivered, then return. */
  to: Revision | undefined;
}

export async function watcher(client: Client, memory: WatcherMemory, drain: Drain): Promise<void> {
  const { name, session, random } = client;
  const slow = chance(random, 0.5);
  const previous = chance(random, 0.5);

  async function pause(maxMs: number): Promise<void> {
    if (drain.to === undefined) await session.sleep(random.fraction() * maxMs);
  }

  async function follow(prefix: string): Promise<'drained' | 'closed' | Failure> {
    const from = memory.position;
    const watch = session.watch(name, { prefix, from, previous, resumed: from !== undefined });
    for (let batches = 1 + random.below(25); batches > 0 || drain.to !== undefined; batches--) {
      if (drain.to !== undefined || chance(random, 0.25)) watch.requestProgress();
      const batch = await watch.next();
      if (!batch || 'code' in batch) return batch ?? 'closed';
      memory.position = (batch.revision + 1) as Revision;
      if (isDrained(batch, drain)) {
        await watch.close();
        return 'drained';
      }
      if (slow) await pause(client.profile.thinkMaxMs * 3);
    }
    await watch.close();
    return 'closed';
  }

  for (;;) {
    const prefix = (memory.prefix ??= somePrefix(random, session.universe));
    const end = await follow(prefix);
    if (end === 'drained') return;
    if (end !== 'closed' && end.code === 'Compacted') {
      const list = await session.range(name, prefixRange(prefix));
      if ('entries' in list) memory.position = (list.revision + 1) as Revision;
    }
    if (session.closing) return;
    // Sometimes switch to another prefix.
    if (chance(random, 0.2)) Object.assign(memory, { prefix: undefined, position: undefined });
    await pause(client.profile.thinkMaxMs * 2);
  }
}

function isDrained(batch: WatchBatch, drain: Drain): boolean {
  return drain.to !== undefined && batch.events.length === 0 && batch.revision >= drain.to;
}
