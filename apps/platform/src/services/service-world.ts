/** Dependencies of the services beside the API server. */

import type { Logger } from '@hangar/core';
import type { Inside } from '../compose/inside.ts';

export interface ServiceWorld {
  readonly inside: Inside;
  readonly log: Logger;
  /** Only one of several servers runs it. */
  readonly electsLeader: boolean;
  /** Replaces the previous text: every run has new counters. */
  readonly tellMetrics: (text: () => string) => void;
}

/** Namespace of the leader election of servers on one store. */
export const leaseNamespace = 'kube-system';
