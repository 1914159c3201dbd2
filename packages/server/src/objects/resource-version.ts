/** Parses resource versions of clients. */

import { badRequest, fieldErrorText, invalid, quote, timedOut } from '@hangar/api';
import type { StatusError } from '@hangar/api';
import { sleep } from '@hangar/core';
import type { Revision } from '@hangar/store';
import type { ControlPlane } from '../control-plane.ts';

/** Returns 0 for none. Throws 400 if it is not a number. */
export function parseResourceVersion(text: string, where = ''): Revision {
  if (text === '' || text === '0') return 0 as Revision;
  // Any 64-bit number is valid; revisions of the store stay far below.
  if (/^\d{1,20}$/.test(text) && BigInt(text) < 2n ** 64n) {
    return Math.min(Number(text), Number.MAX_SAFE_INTEGER - 1) as Revision;
  }
  const why = /^\d+$/.test(text) ? 'value out of range' : 'invalid syntax';
  const problem = invalid('resourceVersion', text, `strconv.ParseUint: parsing ${quote(text)}: ${why}`);
  throw badRequest(`${where}${fieldErrorText(problem)}`);
}

/** Returns a retryable 504: this server has not seen the revision yet. */
function tooLargeResourceVersion(asked: Revision, current: Revision): StatusError {
  return timedOut(`Too large resource version: ${asked}, current: ${current}`, 1, [
    { reason: 'ResourceVersionTooLarge', message: 'Too large resource version' },
  ]);
}

/** Time that a request waits for a future revision: another replica may have seen it already. */
const waitMaxMs = 3_000;
const askAgainMs = 50;

/** Resolves when the store has reached the revision; rejects with the 504 on timeout. */
export async function untilReached({ store, clock }: ControlPlane, asked: Revision): Promise<void> {
  if (asked === 0) return;
  const deadline = clock.monotonicMs() + waitMaxMs;
  for (let current = await store.revision(); asked > current; current = await store.revision()) {
    if (clock.monotonicMs() >= deadline) throw tooLargeResourceVersion(asked, current);
    await sleep(clock, askAgainMs);
  }
}
