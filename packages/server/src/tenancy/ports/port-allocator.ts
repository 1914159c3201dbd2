/**
 * Allocates a port to each tenant with nodes. Each port has one key, outside of all tenant ranges, written with the `Tenant` object in one
 * transaction, so that only one of several concurrent requests gets the port:
 *
 *     /registry/hangar/ports/7512 → red
 *
 * The port of a tenant does not change. It is released when nodes are disabled or the tenant is deleted.
 */

import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { invalid, invalidObject } from '@hangar/api';
import type { KubeObject } from '@hangar/api';
import { absent, prefixRange } from '@hangar/store';
import type { Store, Write } from '@hangar/store';
import type { KeyWorld } from '../keys/keys.ts';
import { tenantKeys } from '../keys/keys.ts';
import { identityKey, portClaimKey, portClaimsPrefix, tenantPrefix } from '../layout.ts';
import { tenantGroup, tenantKey } from '../tenant.ts';
import type { TenantNodesStatus, TenantSpec } from '../tenant.ts';

/** Ports of this server for tenants with nodes. */
export interface PortRange {
  /** Both included. */
  readonly first: number;
  readonly last: number;
  /** Reports whether this server can listen on the port. */
  readonly isFree: (port: number) => Promise<boolean>;
  /** Returns the URL at which nodes reach the port. */
  readonly url: (port: number) => string;
  /** Network of the cluster IPs of services. */
  readonly serviceCidr: string;
}

export interface PortAllocatorOptions extends KeyWorld {
  readonly store: Store;
  readonly storePrefix: string;
  /** Absent: tenants with nodes get no port, and nodes use the path or the host name. */
  readonly ports?: PortRange | undefined;
}

export interface PortChange {
  /** As it will be stored; its status is set here. */
  readonly object: KubeObject;
  readonly old?: KubeObject;
  /** Returns the CA of the tenant; PEM. Absent: read from the store. */
  readonly authority?: () => string;
}

interface Parts {
  spec?: TenantSpec | null;
  status?: { nodes?: TenantNodesStatus };
}

export class PortAllocator {
  readonly #options: PortAllocatorOptions;

  constructor(options: PortAllocatorOptions) {
    this.#options = options;
  }

  /** Sets `status.nodes` and returns the writes for its port. Throws 422 if no port is free. */
  async change({ object, old, authority }: PortChange): Promise<Write[]> {
    const { ports } = this.#options;
    const path = object.metadata.name!;
    const had = (old as Parts | undefined)?.status?.nodes;
    const parts = object as Parts;
    const { nodes: _, ...status } = parts.status ?? {};
    if (!parts.spec?.nodes?.enabled) {
      if (had) parts.status = status;
      return had ? this.#release(path, had.port) : [];
    }
    if (!ports) {
      if (had) parts.status = { ...status, nodes: had };
      return [];
    }
    const port = had?.port ?? (await this.#free(path, ports));
    const caBundle = had?.caBundle ?? Buffer.from(authority?.() ?? (await this.#authority(path))).toString('base64');
    parts.status = { ...status, nodes: { port, endpoint: ports.url(port), caBundle, serviceCIDR: ports.serviceCidr } };
    if (had) return [];
    const key = portClaimKey(this.#options.storePrefix, port);
    return [{ type: 'put', key, value: Buffer.from(path), expected: absent }];
  }

  /**
   * Allocates a port for a stored tenant that has nodes and no port: it was restored, or its server had no ports. Updates the address of
   * the port if it changed. Resolves with false after a concurrent change.
   */
  assign(path: string): Promise<boolean> {
    return this.#rewrite(path, async (object, old) => {
      const writes = await this.change({ object, old });
      const problem = (old as Parts).status?.nodes?.problem;
      const { status } = object as Parts;
      if (problem !== undefined && status?.nodes) status.nodes = { ...status.nodes, problem };
      return writes;
    });
  }

  /** Sets or removes the problem of the port in the status of the tenant. Resolves with false after a concurrent change. */
  report(path: string, problem: string | undefined): Promise<boolean> {
    return this.#rewrite(path, (object) => {
      const { status } = object as Parts;
      if (status?.nodes) {
        const { problem: _, ...nodes } = status.nodes;
        status.nodes = problem === undefined ? nodes : { ...nodes, problem: problem.slice(0, problemLengthMax) };
      }
      return Promise.resolve([]);
    });
  }

  async #rewrite(path: string, change: (object: KubeObject, old: KubeObject) => Promise<Write[]>): Promise<boolean> {
    const { store, storePrefix } = this.#options;
    const key = tenantKey(storePrefix, path);
    const { entry } = await store.get(key);
    if (!entry) return true;
    const old = JSON.parse(Buffer.from(entry.value).toString()) as KubeObject;
    const object = structuredClone(old);
    const writes = await change(object, old);
    if (isDeepStrictEqual(object, old)) return true;
    const value = Buffer.from(JSON.stringify(object));
    return (await store.commit([{ type: 'put', key, value, expected: entry.modRevision }, ...writes])).committed;
  }

  /** Returns the writes for the deletion of the tenant. */
  release(object: KubeObject): Promise<Write[]> {
    const had = (object as Parts).status?.nodes;
    return had ? this.#release(object.metadata.name!, had.port) : Promise.resolve([]);
  }

  async #release(path: string, port: number): Promise<Write[]> {
    const key = portClaimKey(this.#options.storePrefix, port);
    const { entry } = await this.#options.store.get(key);
    if (!entry || Buffer.from(entry.value).toString() !== path) return [];
    return [{ type: 'delete', key, expected: entry.modRevision }];
  }

  /** Starts at a port that depends on the path, so that a released port is not reused at once. */
  async #free(path: string, { first, last, isFree }: PortRange): Promise<number> {
    const { store, storePrefix } = this.#options;
    const prefix = portClaimsPrefix(storePrefix);
    const { entries } = await store.range(prefixRange(prefix), { keysOnly: true });
    const claimed = new Set(entries.map(({ key }) => Number(key.slice(prefix.length))));
    const size = last - first + 1;
    const start = parseInt(hash('sha256', path).slice(0, 8), 16) % size;
    let probes = 0;
    for (let at = 0; at < size && probes < probesMax; at++) {
      const port = first + ((start + at) % size);
      if (claimed.has(port)) continue;
      probes++;
      if (await isFree(port)) return port;
    }
    const why = `no free port for nodes between ${first} and ${last}: delete control planes with nodes, or start the server with a larger --plane-port-range`;
    throw invalidObject({ group: tenantGroup, kind: 'Tenant' }, path, [invalid('spec.nodes.enabled', true, why)]);
  }

  async #authority(path: string): Promise<string> {
    const { store, storePrefix, clock, random } = this.#options;
    const prefix = tenantPrefix(storePrefix, path);
    const { entry } = await store.get(identityKey(prefix));
    const identityRevision = entry?.modRevision ?? absent;
    return (await tenantKeys({ store, prefix, path, identityRevision, clock, random })).authority.certificate;
  }
}

const problemLengthMax = 1024;

/** Limits the time of a creation when another program uses the ports. */
const probesMax = 64;
