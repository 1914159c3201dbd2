/** What providers read in the management cluster, in the part that they read. */

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
}

export interface WithConditions extends ApiObject {
  status?: { conditions?: readonly Condition[] | null };
}

/** `True`, `False`, `Unknown`; undefined when it is not there. */
export function conditionOf(conditions: readonly Condition[] | null | undefined, type: string): string | undefined {
  return Array.isArray(conditions) ? conditions.find((one) => one?.type === type)?.status : undefined;
}
