/** What is told of a cluster, out of what is known of it. Texts that many share are shared. */

import { hasCode } from '@hangar/core';
import type { ServiceState } from '../../contract.ts';

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

const feedProblems = {
  Forbidden: 'the right to "get" and "create" "tenants/feed" is missing',
  Unauthorized: 'our kubeconfig for it is not accepted',
  NotFound: 'the server has no feed: is it a Hangar?',
} as const;

/** The same for all errors of a kind: it is written on every cluster's object. What was said is in the log. */
export function feedUnavailable(error: Error): Said {
  const known = Object.entries(feedProblems).find(([code]) => hasCode(error, code));
  const why = known?.[1] ?? 'the stream of it breaks, or is not answered; the log says more';
  return { phase: 'Waiting', reason: 'FeedUnavailable', message: `what happens in its Hangar is not told: ${why}` };
}
