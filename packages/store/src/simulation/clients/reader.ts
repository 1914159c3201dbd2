/** Reads in every way that the contract offers: keys, ranges, pages that stay on one revision, statistics, the past. */

import { chance, pick } from '@hangar/core';
import type { KeyRange, RangeOptions, Revision } from '../../contract.ts';
import { firstRevision } from '../../engine/rows.ts';
import { successor } from '../../keys.ts';
import { live, someRange } from './client.ts';
import type { Client } from './client.ts';

export function reader(client: Client): Promise<void> {
  const { name, session, random } = client;

  /** Now, mostly; otherwise the near past, the beginning, or a little ahead. */
  function when(): { atRevision?: Revision } {
    if (chance(random, 0.6)) return {};
    const known = session.recorder.known;
    if (chance(random, 0.1)) return { atRevision: firstRevision };
    return { atRevision: Math.max(firstRevision, known + 2 - random.below(40)) as Revision };
  }

  async function pages(range: KeyRange): Promise<void> {
    const options: RangeOptions = { ...when(), limit: 1 + random.below(4), keysOnly: chance(random, 0.3) };
    for (let start = range.start; ;) {
      const page = await session.range(name, { ...range, start }, options);
      if ('code' in page || !page.more || page.entries.length === 0) return;
      start = successor(page.entries.at(-1)!.key);
      options.atRevision = page.revision;
      await session.sleep(random.fraction() * 5);
    }
  }

  return live(client, () => {
    const range = someRange(random, session.universe);
    const kind = random.below(10);
    if (kind < 3) return session.get(name, pick(random, session.universe.keys), when());
    if (kind < 6) return session.range(name, range, { ...when(), keysOnly: chance(random, 0.2) });
    if (kind < 8) return pages(range);
    return kind < 9 ? session.revision(name) : session.statistics(name, range, when());
  });
}
