/** How objects of one resource count against quotas. */

import type { KubeObject } from '@hangar/api';
import type { AdmissionRequest } from '../../../admission.ts';
import type { Amounts } from '../../amounts.ts';
import type { ScopeSelector } from '../quota.ts';

export interface Evaluator {
  /** Can this change what is used? */
  handles(request: AdmissionRequest): boolean;
  /** Is this one of the names that a quota limits such objects by? */
  counts(name: string): boolean;
  usage(object: KubeObject, nowMs: number): Amounts;
  matchesScope(selector: ScopeSelector, object: KubeObject): boolean;
  /** Where these are limited, objects must say how much they want; undefined when it does. */
  problem?(limited: readonly string[], object: KubeObject): string | undefined;
}

export const neverInScope = (): boolean => false;

/** `count/deployments.apps`. */
export const countName = (group: string, resource: string): string =>
  group === '' ? `count/${resource}` : `count/${resource}.${group}`;
