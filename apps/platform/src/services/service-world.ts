/** What services beside the API server are made with. */

import type { Logger } from '@hangar/core';
import type { Inside } from '../compose/inside.ts';

export interface ServiceWorld {
  readonly inside: Inside;
  readonly log: Logger;
  /** One of several servers does it. */
  readonly electsLeader: boolean;
  /** Instead of what was told before: every run has counters of its own. */
  readonly tellMetrics: (text: () => string) => void;
}

/** Where servers of one store elect who works. */
export const leaseNamespace = 'kube-system';
