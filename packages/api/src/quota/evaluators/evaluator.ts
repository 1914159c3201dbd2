/** How objects of one resource count against quotas. */

import type { KubeObject } from '../../object.ts';
import type { Amounts } from '../amounts.ts';
import type { ScopeSelector } from '../quota.ts';

/** A write as far as quotas must know it: admission's requests are such. */
export interface QuotaWrite {
  readonly operation: string;
  readonly subresource: string;
  readonly object?: KubeObject | undefined;
  readonly old?: KubeObject | undefined;
}

/** Objects are only read. */
export interface Evaluator {
  /** Every object counts as one, whatever is in it: it is enough to know how many there are. */
  readonly isPlainCount?: boolean;
  /** Can this change what is used? */
  handles(write: QuotaWrite): boolean;
  /** Is this one of the names that a quota limits such objects by? */
  counts(name: string): boolean;
  usage(object: KubeObject, nowMs: number): Amounts;
  /** When an object begins to use less although nobody touches it. Absent, or undefined: never. */
  endsAtMs?(object: KubeObject, nowMs: number): number | undefined;
  matchesScope(selector: ScopeSelector, object: KubeObject): boolean;
  /** Where these are limited, objects must say how much they want; undefined when it does. */
  problem?(limited: readonly string[], object: KubeObject): string | undefined;
}

export const neverInScope = (): boolean => false;

/** `count/deployments.apps`. */
export const countName = (group: string, resource: string): string =>
  group === '' ? `count/${resource}` : `count/${resource}.${group}`;
