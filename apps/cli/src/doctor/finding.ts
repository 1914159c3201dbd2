/** What a check of `hangar doctor` found. */

import type { ClusterConfig } from '@hangar/client';
import type { Call } from '../command.ts';
import type { Platform } from '../platform.ts';

export interface Finding {
  /** `bad`: it does not work so. `doubtful`: it works, or may, and somebody should know. */
  readonly state: 'good' | 'doubtful' | 'bad';
  readonly what: string;
  /** What to do about it. */
  readonly next?: string | undefined;
}

export const good = (what: string): Finding => ({ state: 'good', what });
export const doubtful = (what: string, next?: string): Finding => ({ state: 'doubtful', what, next });
export const bad = (what: string, next?: string): Finding => ({ state: 'bad', what, next });

/** One thing to look at. May reject: that is a finding, too. */
export interface Check {
  /** For what is said when it rejects. */
  readonly name: string;
  look(world: DoctorWorld): Promise<readonly Finding[]>;
}

/** Found out by one check, and used by those behind it. */
export interface DoctorWorld extends Pick<Call, 'session' | 'client'> {
  readonly platform: Platform;
  readonly given: Call['given'];
  config?: ClusterConfig;
  /** The server answered, and is one of ours. */
  isReachable?: boolean;
  /** `v1.34.1`. */
  serverVersion?: string;
}
