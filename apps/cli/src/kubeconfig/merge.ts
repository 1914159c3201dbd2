/**
 * A control plane put into somebody's kubeconfig. What is there of it under its name is replaced; the namespace that its user chose,
 * and everything that is not of it, stays as it was, known or not.
 */

import { isObject } from '@hangar/api/json';
import type { JsonObject } from '@hangar/api/json';
import { failed } from '../errors.ts';
import { contextName } from './access.ts';
import type { Access } from './access.ts';

export interface MergeOptions {
  readonly controlPlane: string;
  readonly access: Access;
  /** It becomes the current context. */
  readonly isCurrent: boolean;
}

/** `config`: as it was parsed; null or undefined when there is none. Throws `Failed` for what is no kubeconfig. */
export function mergedKubeconfig(config: unknown, { controlPlane, access, isCurrent }: MergeOptions): JsonObject {
  const before = config ?? {};
  if (!isObject(before)) throw failed('it is no kubeconfig');
  const { kind = 'Config', apiVersion = 'v1' } = before;
  if (kind !== 'Config' || apiVersion !== 'v1') throw failed('it is no kubeconfig of version v1');
  const name = contextName(controlPlane);
  const put = (list: string, part: string, change: (old: JsonObject) => object): unknown[] =>
    withEntry(before[list], { list, name, part, change });
  return {
    ...before,
    apiVersion,
    kind,
    clusters: put('clusters', 'cluster', () => access.cluster),
    users: put('users', 'user', () => access.user),
    contexts: put('contexts', 'context', (old) => ({ ...old, cluster: name, user: name })),
    ...(isCurrent ? { 'current-context': name } : {}),
  };
}

interface Put {
  readonly list: string;
  readonly name: string;
  readonly part: string;
  readonly change: (old: JsonObject) => object;
}

/** In its old place, or last. Of several with the name one is left: kubectl would take the first of them. */
function withEntry(entries: unknown, { list, name, part, change }: Put): unknown[] {
  const all: unknown = entries ?? [];
  if (!Array.isArray(all)) throw failed(`its ${list} are no list`);
  const isOurs = (one: unknown): one is JsonObject => isObject(one) && one['name'] === name;
  const old = all.find(isOurs);
  const inside = old?.[part];
  const now = { ...old, name, [part]: { ...change(isObject(inside) ? inside : {}) } };
  if (!old) return [...all, now];
  return all.flatMap((one) => (one === old ? [now] : isOurs(one) ? [] : [one]));
}
