/**
 * The Lease of a leader election in the format of client-go, so that Go processes can take part in the same election. Its times are
 * informational: no process decides by the clock of another machine.
 */

import { formatTime } from '@hangar/api/values';
import type { LeaseSpec } from '@hangar/client/kinds/coordination-v1';
import type { Clock } from '@hangar/core';

export interface Holder {
  readonly identity: string;
  readonly leaseDurationMs: number;
}

/** Returns the spec for a renewal, or for a takeover by a candidate. Other fields stay. */
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
    // Rounded up: other processes wait for this time.
    leaseDurationSeconds: Math.ceil(leaseDurationMs / 1000),
    acquireTime: (isSame ? before.acquireTime : undefined) ?? now,
    renewTime: now,
    leaseTransitions: isSame ? leaseTransitions : leaseTransitions + 1,
  };
}

/** Returns the spec of a new lease: it has no transitions. */
export const firstSpec = (holder: Holder, clock: Pick<Clock, 'now'>): LeaseSpec => ({
  ...heldSpec({}, holder, clock),
  leaseTransitions: 0,
});

/** Returns a spec that any candidate may take at once. The server rejects an empty holder: the field is absent. */
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
