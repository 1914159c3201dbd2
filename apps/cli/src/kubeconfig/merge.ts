/**
 * Puts a control plane into the user's kubeconfig, and takes it out. Entries of its name are replaced; the namespace that the user chose
 * and all other entries stay. The context that was current before is kept in an extension, which kubectl preserves: `hangar use -`.
 */

import { isObject } from '@hangar/api/json';
import type { JsonObject } from '@hangar/api/json';
import { entryOf, hasEntry, insistOnKubeconfig, withEntry, withoutEntry } from '@hangar/client/kubeconfig-entries';
import { failed } from '../errors.ts';
import { contextName } from './access.ts';
import type { KubeconfigEntries } from './access.ts';

export interface MergeOptions {
  readonly controlPlane: string;
  readonly access: KubeconfigEntries;
  /** It becomes the current context. */
  readonly isCurrent: boolean;
}

/** `config`: as it was parsed; null or undefined when there is none. Throws `NotAKubeconfig`. */
export function mergedKubeconfig(config: unknown, { controlPlane, access, isCurrent }: MergeOptions): JsonObject {
  const before = insistOnKubeconfig(config);
  const { kind = 'Config', apiVersion = 'v1' } = before;
  const name = contextName(controlPlane);
  const merged = {
    ...before,
    apiVersion,
    kind,
    clusters: withEntry(before, 'clusters', name, () => access.cluster),
    users: withEntry(before, 'users', name, () => access.user),
    contexts: withEntry(before, 'contexts', name, (old) => ({ ...old, cluster: name, user: name })),
  } as JsonObject;
  return isCurrent ? switchedTo(merged, name) : merged;
}

/** Returns the kubeconfig with the current and the previous context exchanged. Throws `Failed` when there is no previous one. */
export function switchedBack(config: unknown): JsonObject {
  const before = insistOnKubeconfig(config);
  const previous = previousOf(before);
  if (previous === undefined || !hasEntry(before, 'contexts', previous)) {
    throw failed('the kubeconfig has no previous context');
  }
  return switchedTo(before, previous);
}

/**
 * Returns the kubeconfig without the control plane. Undefined: it is not in there, or the entries of its name lead to another server.
 * The previous context becomes current if this one is.
 */
export function withoutControlPlane(
  config: unknown,
  { controlPlane, servers }: { readonly controlPlane: string; readonly servers: readonly string[] },
): JsonObject | undefined {
  const before = insistOnKubeconfig(config);
  const name = contextName(controlPlane);
  const cluster = entryOf(before, 'clusters', name);
  if (!hasEntry(before, 'contexts', name) || !servers.includes(String(cluster?.['server']))) return undefined;
  const after: JsonObject = { ...before };
  for (const list of ['clusters', 'users', 'contexts'] as const)
    after[list] = withoutEntry(before, list, name) as never;
  const previous = previousOf(before);
  if (before['current-context'] !== name) return after;
  return { ...after, 'current-context': hasEntry(after, 'contexts', previous) ? previous! : '' };
}

const extensionName = 'hangar.dev';

function switchedTo(config: JsonObject, context: string): JsonObject {
  const current = config['current-context'];
  const switched = { ...config, 'current-context': context };
  if (typeof current !== 'string' || current === '' || current === context) return switched;
  const others = extensionsOf(config).filter((one) => !isOurs(one));
  return {
    ...switched,
    extensions: [...others, { name: extensionName, extension: { previousContext: current } }] as never,
  };
}

function previousOf(config: JsonObject): string | undefined {
  const own = extensionsOf(config).find(isOurs);
  const extension = isObject(own) ? own['extension'] : undefined;
  const previous = isObject(extension) ? extension['previousContext'] : undefined;
  return typeof previous === 'string' ? previous : undefined;
}

const extensionsOf = ({ extensions }: JsonObject): unknown[] => (Array.isArray(extensions) ? extensions : []);
const isOurs = (one: unknown): boolean => isObject(one) && one['name'] === extensionName;
