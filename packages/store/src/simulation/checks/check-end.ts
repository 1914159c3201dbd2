/**
 * At the end, behind every view: the store holds exactly the entries of each universe and, for each base entry that a
 * tenant deleted, its tombstone. Anything else is a leak that no view shows.
 */

import type { Revision } from '../../contract.ts';
import type { Truth } from '../model/truth.ts';
import type { Moment } from '../trace.ts';
import type { Universe } from '../universe.ts';
import { Violation } from '../violation.ts';

export interface RawState {
  readonly keys: readonly string[];
  readonly revision: Revision;
  readonly moment: Moment;
}

export function checkEnd(universes: readonly Universe[], truth: Truth, raw: RawState): void {
  const expected = new Set<string>();
  for (const universe of universes) {
    const timeline = truth.timeline(universe);
    for (const entry of timeline.range(universe.all, raw.revision))
      if (!timeline.isBase(entry)) expected.add(entry.key);
    for (const { key } of universe.base) {
      if (timeline.at(key, raw.revision)) continue;
      expected.add(`${universe.root}.hidden/${key.slice(universe.root.length)}`);
    }
  }
  for (const key of raw.keys) {
    if (expected.delete(key)) continue;
    throw new Violation(propertyOf(key), raw.moment.line, `${key} was left in the store`);
  }
  const [missing] = expected;
  if (missing !== undefined)
    throw new Violation(propertyOf(missing), raw.moment.line, `${missing} is missing in the store`);
}

function propertyOf(key: string): 'tombstones' | 'invented' {
  return key.includes('.hidden/') ? 'tombstones' : 'invented';
}
