/** Revisions as clients write them. */

import { badRequest, fieldErrorText, invalid, quote, timedOut } from '@hangar/api';
import type { StatusError } from '@hangar/api';
import type { Revision } from '@hangar/store';

/** 0 for none. Throws 400 when it is not a number. */
export function parseResourceVersion(text: string, where = ''): Revision {
  if (text === '' || text === '0') return 0 as Revision;
  // Revisions of 64 bits are numbers too; ours end long before.
  if (/^\d{1,20}$/.test(text) && BigInt(text) < 2n ** 64n) {
    return Math.min(Number(text), Number.MAX_SAFE_INTEGER) as Revision;
  }
  const why = /^\d+$/.test(text) ? 'value out of range' : 'invalid syntax';
  const problem = invalid('resourceVersion', text, `strconv.ParseUint: parsing ${quote(text)}: ${why}`);
  throw badRequest(`${where}${fieldErrorText(problem)}`);
}

/** 504, which clients try again: this server has not seen the revision yet. */
export function tooLargeResourceVersion(asked: Revision, current: Revision): StatusError {
  return timedOut(`Too large resource version: ${asked}, current: ${current}`, 1, [
    { reason: 'ResourceVersionTooLarge', message: 'Too large resource version' },
  ]);
}

export function checkNotInFuture(text: string, current: Revision): void {
  const asked = parseResourceVersion(text);
  if (asked > current) throw tooLargeResourceVersion(asked, current);
}
