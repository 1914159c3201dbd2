/** The kinds of the management cluster that providers read, limited to the fields that they read. */

import { defineKind } from '@hangar/client';
import type { ApiObject } from '@hangar/client';

export interface SecretObject extends ApiObject {
  /** In base64. */
  data?: Record<string, string>;
}

export const Secret = defineKind<SecretObject>({
  apiVersion: 'v1',
  kind: 'Secret',
  plural: 'secrets',
  isNamespaced: true,
});

export const Namespace = defineKind<ApiObject>({
  apiVersion: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  isNamespaced: false,
});

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string | undefined;
}

export interface WithConditions extends ApiObject {
  status?: { conditions?: readonly Condition[] | null };
}

/** Returns `True`, `False` or `Unknown`; undefined when the condition is absent. */
export function conditionOf(conditions: readonly Condition[] | null | undefined, type: string): string | undefined {
  return Array.isArray(conditions) ? conditions.find((one) => one?.type === type)?.status : undefined;
}
