/** How objects of one resource count against quotas. */

import type { KubeObject } from '../../object.ts';
import type { Amounts } from '../amounts.ts';
import type { ScopeSelector } from '../quota.ts';

/** A write, as quotas see it: a subset of admission's requests. */
export interface QuotaWrite {
  readonly operation: string;
  readonly subresource: string;
  readonly object?: KubeObject | undefined;
  readonly old?: KubeObject | undefined;
}

/** Objects are not changed. */
export interface Evaluator {
  /** Every object counts as one: only their number is needed. */
  readonly isPlainCount?: boolean;
  /** Reports whether the write can change the usage. */
  handles(write: QuotaWrite): boolean;
  /** Reports whether a quota limits such objects by this name. */
  counts(name: string): boolean;
  usage(object: KubeObject, nowMs: number): Amounts;
  /** Time at which the usage of an object decreases without a write. Absent, or undefined: never. */
  endsAtMs?(object: KubeObject, nowMs: number): number | undefined;
  matchesScope(selector: ScopeSelector, object: KubeObject): boolean;
  /** Returns the problem of an object without values for these limited resources; undefined if it has them. */
  problem?(limited: readonly string[], object: KubeObject): string | undefined;
}

export const neverInScope = (): boolean => false;

/** `count/deployments.apps`. */
export const countName = (group: string, resource: string): string =>
  group === '' ? `count/${resource}` : `count/${resource}.${group}`;
