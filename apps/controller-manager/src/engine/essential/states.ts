/** The states that are reported of a cluster. States with the same text are shared objects. */

import { hasCode } from '@hangar/core';
import type { ServiceState } from '../../contract.ts';

/** A state without counters. */
export type Said = Pick<ServiceState, 'phase' | 'reason' | 'message'>;

/** Time for a Tenant to assign its controllers to us. */
export const handOverMs = 10_000;

export const waitingForFeed: Said = {
  phase: 'Starting',
  reason: 'WaitingForFeed',
  message: 'waiting for the tenant feed to sync',
};

export const waitingForHandoff: Said = {
  phase: 'Starting',
  reason: 'WaitingForHandoff',
  message: 'waiting for the Tenant to hand over its controllers',
};

export const takingOver: Said = {
  phase: 'Starting',
  reason: 'SyncingObjects',
  message: 'waiting for the initial list of objects from the tenant feed',
};

export const suspended: Said = {
  phase: 'Waiting',
  reason: 'Suspended',
  message: 'the Tenant is suspended, so no object can be written',
};

export const atWork: Said = { phase: 'Ready', reason: 'Serving', message: 'the essential controllers are running' };

export const noScheduler: Said = {
  phase: 'Failed',
  reason: 'EngineNotSupported',
  message: 'the essential engine has no scheduler: start the controller manager with --engine=kube',
};

/** The cluster is not a tenant of the followed Hangar, or its controllers are assigned to another object. */
export const notHandedOver = (key: string): Said => ({
  phase: 'Failed',
  reason: 'EngineNotSupported',
  message: `no Tenant of the feed has handed over its controllers to ${key}: the essential engine serves only tenants of that Hangar whose controllers are not assigned to another controller manager`,
});

const feedProblems = {
  Forbidden: 'the permission to "get" and "create" "tenants/feed" is missing',
  Unauthorized: 'the server rejected the credentials of the feed kubeconfig',
  NotFound: 'the server has no tenant feed: --feed-kubeconfig must be for a Hangar',
} as const;

/** The message depends on the error code only, because it is written to the object of every cluster. The error itself is logged. */
export function feedUnavailable(error: Error): Said {
  const known = Object.entries(feedProblems).find(([code]) => hasCode(error, code));
  const why = known?.[1] ?? 'the connection failed or timed out; see the log';
  return { phase: 'Waiting', reason: 'FeedUnavailable', message: `the tenant feed is not available: ${why}` };
}
