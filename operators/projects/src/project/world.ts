/** The dependencies of the reconciler of Projects, and one reconcile. */

import type { Client, Reader } from '@hangar/client';
import type { Clock } from '@hangar/core';
import type { Cache } from '@hangar/runtime';
import type { Project } from '../api/index.ts';
import type { ControlPlaneAccess } from './control-plane-access.ts';
import type { Admissions } from './quota.ts';

export interface ProjectWorld {
  readonly access: ControlPlaneAccess;
  readonly admissions: Admissions;
  readonly clock: Clock;
}

export interface ProjectPass {
  readonly world: ProjectWorld;
  readonly project: Project;
  readonly client: Client;
  /** Reads from the server. */
  readonly apiReader: Reader;
  readonly cache: Cache;
  readonly signal: AbortSignal;
}

/** A state of the project that a condition reports. */
export interface Finding {
  readonly status: boolean;
  readonly reason: string;
  readonly message: string;
}

export const notReady = (reason: string, message: string): Finding => ({ status: false, reason, message });
