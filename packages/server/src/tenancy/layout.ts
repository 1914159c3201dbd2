/**
 * Layout of a tenant in the store: one contiguous range, computed from the path and never searched for.
 *
 *     /registry/clusters/<path>/                objects, in the layout of kube-apiserver
 *     /registry/clusters/<path>/.hidden/…       base entries that the tenant deleted (see store/layered)
 *     /registry/clusters/<path>/.hangar/…       internal data of the server about the tenant; clients cannot reach it
 *     /registry/hangar/hosts/<host>             owner of a host name; outside of all tenant ranges
 *     /registry/hangar/ports/<port>             owner of a port for nodes; outside of all tenant ranges
 *     /registry/hangar/servers/<id>             address of a running server; outside of all tenant ranges
 *     /registry/hangar/restores/<path>          a restore in place that is running or was interrupted; outside of all tenant ranges
 *     /registry/staged/<path>/…                 the entries that it has staged; outside of all tenant ranges
 */

import { prefixRange } from '@hangar/store';
import type { KeyRange } from '@hangar/store';

/** Path of the management plane. It is a control plane like the others, but not a tenant. */
export const rootPath = 'root';

const pathPattern = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;

export const isTenantPath = (path: string): boolean => path !== rootPath && pathPattern.test(path);

export const clustersPrefix = (storePrefix: string): string => `${storePrefix}/clusters/`;

export const tenantPrefix = (storePrefix: string, path: string): string => `${clustersPrefix(storePrefix)}${path}/`;

/** Marks that the tenant exists, and since when. Every write to the tenant is conditional on this key. */
export const identityKey = (prefix: string): string => `${prefix}.hangar/tenant`;

/** CAs and signing keys of the tenant. Encrypted at rest if Secrets are. */
export const keysKey = (prefix: string): string => `${prefix}.hangar/keys`;

/** Resource usage of the tenant so far. */
export const usageKey = (prefix: string): string => `${prefix}.hangar/usage`;

/**
 * Marks an import that is running or was interrupted by a crash: the other entries in the range are garbage. Never exists beside an
 * identity.
 */
export const importKey = (prefix: string): string => `${prefix}.hangar/importing`;

/** Marks a deleted tenant whose data is retained, with the time of deletion. */
export const retainedKey = (prefix: string): string => `${prefix}.hangar/retained`;

/** Marks a tenant that receives data from a dedicated control plane, with the ID of the migration. */
export const receivingKey = (prefix: string): string => `${prefix}.hangar/receiving`;

/** Position of the received data. */
export const receivedKey = (prefix: string): string => `${prefix}.hangar/received`;

/** Internal data of the server about the tenant. */
export const internalRange = (prefix: string): KeyRange => prefixRange(`${prefix}.hangar/`);

/** Holds the path of the tenant that owns the host name. */
export const hostClaimKey = (storePrefix: string, host: string): string => `${storePrefix}/hangar/hosts/${host}`;

/** Addresses of the servers that share the store. */
export const serverAddressesPrefix = (storePrefix: string): string => `${storePrefix}/hangar/servers/`;

export const portClaimsPrefix = (storePrefix: string): string => `${storePrefix}/hangar/ports/`;

/** Holds the path of the tenant that owns the port. */
export const portClaimKey = (storePrefix: string, port: number): string => `${portClaimsPrefix(storePrefix)}${port}`;

/** Marks of restores in place. */
export const restoreMarksPrefix = (storePrefix: string): string => `${storePrefix}/hangar/restores/`;

/** Marks a restore in place that is running or was interrupted. */
export const restoreMarkKey = (storePrefix: string, path: string): string =>
  `${restoreMarksPrefix(storePrefix)}${path}`;

const stagedEntriesPrefix = (storePrefix: string): string => `${storePrefix}/staged/`;

/**
 * Entries that a restore in place has staged, with the keys that they get below the prefix of the tenant. Not longer than that prefix: an
 * object of the maximum size can be staged.
 */
export const stagedPrefix = (storePrefix: string, path: string): string =>
  `${stagedEntriesPrefix(storePrefix)}${path}/`;

/** Returns the key that a staged entry gets in the range of its tenant; other keys are returned as they are. */
export function unstagedKey(storePrefix: string, key: string): string {
  const staged = stagedEntriesPrefix(storePrefix);
  return key.startsWith(staged) ? `${clustersPrefix(storePrefix)}${key.slice(staged.length)}` : key;
}

/** Reports whether `key` holds the keys of a tenant. */
export function isKeysKey(storePrefix: string, key: string): boolean {
  if (!key.endsWith('/.hangar/keys')) return false;
  const clusters = clustersPrefix(storePrefix);
  return key.startsWith(clusters) && key === keysKey(key.slice(0, key.indexOf('/', clusters.length) + 1));
}
