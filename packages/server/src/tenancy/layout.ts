/**
 * Where a tenant is in the store: one contiguous range, found by its exact place in the key and never by searching.
 *
 *     /registry/clusters/<path>/                what kube-apiserver would write there
 *     /registry/clusters/<path>/.hidden/…       base entries that the tenant deleted (see store/layered)
 *     /registry/clusters/<path>/.hangar/…       what the server itself keeps of the tenant; no client reaches it
 *     /registry/hangar/hosts/<host>             whose a host name is; in no tenant's range
 */

/** The management plane: a control plane like others, and nobody's tenant. */
export const rootPath = 'root';

const pathPattern = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;

export const isTenantPath = (path: string): boolean => path !== rootPath && pathPattern.test(path);

export const clustersPrefix = (storePrefix: string): string => `${storePrefix}/clusters/`;

export const tenantPrefix = (storePrefix: string, path: string): string => `${clustersPrefix(storePrefix)}${path}/`;

/** That the tenant is there, and since when: every write of it is conditional on this key. */
export const identityKey = (prefix: string): string => `${prefix}.hangar/tenant`;

/** Its CAs and signing keys. Sealed like secrets, where secrets are. */
export const keysKey = (prefix: string): string => `${prefix}.hangar/keys`;

/** What it has used so far. */
export const usageKey = (prefix: string): string => `${prefix}.hangar/usage`;

/** Somebody restores a tenant here, or did until a crash: what else is in the range is nobody's. Never beside an identity. */
export const importKey = (prefix: string): string => `${prefix}.hangar/importing`;

/** That the tenant was deleted, and when: its data is retained. */
export const retainedKey = (prefix: string): string => `${prefix}.hangar/retained`;

/** Which tenant has a host name: its path. */
export const hostClaimKey = (storePrefix: string, host: string): string => `${storePrefix}/hangar/hosts/${host}`;

/** Is it where some tenant's keys are? */
export function isKeysKey(storePrefix: string, key: string): boolean {
  if (!key.endsWith('/.hangar/keys')) return false;
  const clusters = clustersPrefix(storePrefix);
  return key.startsWith(clusters) && key === keysKey(key.slice(0, key.indexOf('/', clusters.length) + 1));
}
