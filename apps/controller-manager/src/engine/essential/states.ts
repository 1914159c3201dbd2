/** What is told of a cluster, out of what is known of it. Texts that many share are shared. */

import { hasCode } from '@hangar/core';
import type { ServiceState } from '../../contract.ts';
import { oneLine } from '../kube/words.ts';

/** A state without what is counted. */
export type Said = Pick<ServiceState, 'phase' | 'reason' | 'message'>;

/** How long a Tenant may take to say that its controllers are ours. */
export const handOverMs = 10_000;

export const waitingForFeed: Said = {
  phase: 'Starting',
  reason: 'WaitingForFeed',
  message: 'what happens in its Hangar is being read',
};

export const waitingForHandOver: Said = {
  phase: 'Starting',
  reason: 'WaitingForHandOver',
  message: 'its Tenant does not say yet that its controllers are left to us',
};

export const takingOver: Said = {
  phase: 'Starting',
  reason: 'TakingOver',
  message: 'what is stored in it is being looked at',
};

export const suspended: Said = {
  phase: 'Waiting',
  reason: 'Suspended',
  message: 'its Tenant is suspended: nothing may be written',
};

export const atWork: Said = { phase: 'Ready', reason: 'Serving', message: 'the essential controllers serve it' };

export const noScheduler: Said = {
  phase: 'Failed',
  reason: 'EngineNotSupported',
  message: 'the essential engine has no scheduler: run it with --engine=kube',
};

/** It is no tenant of the Hangar whose feed is followed, or somebody else runs its controllers. */
export const notHandedOver = (key: string): Said => ({
  phase: 'Failed',
  reason: 'EngineNotSupported',
  message: `no Tenant at the feed has its controllers left to ${key}: the essential engine serves tenants of that Hangar only, and none whose controllers somebody else was given`,
});

export function feedUnavailable(error: Error): Said {
  const right = hasCode(error, 'Forbidden') ? 'the right to "get" and "create" "tenants/feed" is missing: ' : '';
  return {
    phase: 'Waiting',
    reason: 'FeedUnavailable',
    message: `what happens in its Hangar is not told: ${right}${oneLine(error.message)}`,
  };
}
