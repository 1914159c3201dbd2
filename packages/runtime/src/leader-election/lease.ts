/**
 * The Lease by which processes agree on who works, as client-go's electors write and read it: a Go process and this one can
 * contend for the same. Times in it are for people to read; nobody decides by another machine's clock.
 */

import { formatTime } from '@hangar/api/values';
import type { LeaseSpec } from '@hangar/client/kinds/coordination-v1';
import type { Clock } from '@hangar/core';

export interface Holder {
  readonly identity: string;
  readonly leaseDurationMs: number;
}

/** The lease as the holder renews it, or as a candidate takes it from another. What else is in it stays. */
export function heldSpec(
  before: LeaseSpec,
  { identity, leaseDurationMs }: Holder,
  clock: Pick<Clock, 'now'>,
): LeaseSpec {
  const now = microTime(clock);
  const isSame = before.holderIdentity === identity;
  const { leaseTransitions = 0 } = before;
  return {
    ...before,
    holderIdentity: identity,
    // Never less than the truth: others wait for this long.
    leaseDurationSeconds: Math.ceil(leaseDurationMs / 1000),
    acquireTime: (isSame ? before.acquireTime : undefined) ?? now,
    renewTime: now,
    leaseTransitions: isSame ? leaseTransitions : leaseTransitions + 1,
  };
}

/** Of a lease that nobody held before: it changed no hands. */
export const firstSpec = (holder: Holder, clock: Pick<Clock, 'now'>): LeaseSpec => ({
  ...heldSpec({}, holder, clock),
  leaseTransitions: 0,
});

/** Free for anybody at once. The server takes no empty holder: there is none. */
export function releasedSpec(before: LeaseSpec, clock: Pick<Clock, 'now'>): LeaseSpec {
  const now = microTime(clock);
  const released: LeaseSpec = { ...before, leaseDurationSeconds: 1, acquireTime: now, renewTime: now };
  delete released.holderIdentity;
  return released;
}

function microTime(clock: Pick<Clock, 'now'>): string {
  const nowMs = Math.floor(clock.now());
  const seconds = Math.floor(nowMs / 1000);
  return formatTime(seconds, 'micro', (nowMs - seconds * 1000) * 1_000_000)!;
}
