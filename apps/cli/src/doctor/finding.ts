/** The result of a check of `hangar doctor`. */

import type { ClusterConfig } from '@hangar/client';
import type { Call } from '../command.ts';
import type { Platform } from '../platform.ts';

export interface Finding {
  /** `bad`: it does not work. `doubtful`: it works or may work, but needs attention. */
  readonly state: 'good' | 'doubtful' | 'bad';
  readonly what: string;
  /** Suggested action. */
  readonly next?: string | undefined;
}

export const good = (what: string): Finding => ({ state: 'good', what });
export const doubtful = (what: string, next?: string): Finding => ({ state: 'doubtful', what, next });
export const bad = (what: string, next?: string): Finding => ({ state: 'bad', what, next });

/** One check. A rejection is a finding, too. */
export interface Check {
  /** Used in the message when the check rejects. */
  readonly name: string;
  look(world: DoctorWorld): Promise<readonly Finding[]>;
}

/** State that earlier checks set for later ones. */
export interface DoctorWorld extends Pick<Call, 'session' | 'client'> {
  readonly platform: Platform;
  readonly given: Call['given'];
  config?: ClusterConfig;
  /** The server answered, and is a Hangar. */
  isReachable?: boolean;
  /** `v1.34.1`. */
  serverVersion?: string;
}
