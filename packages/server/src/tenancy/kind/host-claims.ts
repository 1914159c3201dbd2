/**
 * Claims of host names by tenants. Each name has one key, outside of all tenant ranges, written with the `Tenant` object in one
 * transaction, so that only one of several concurrent requests gets the name:
 *
 *     /registry/hangar/hosts/red.example.com → red
 *
 * A claim is valid as long as the object of its tenant names the host. A stale claim, after a manual change of the store, is taken over.
 */

import { invalid, invalidObject } from '@hangar/api';
import type { FieldError } from '@hangar/api';
import { absent } from '@hangar/store';
import type { Entry, Store, Write } from '@hangar/store';
import { hostClaimKey, rootPath, tenantPrefix } from '../layout.ts';
import { tenantGroup, tenantOf, tenantsPrefix } from '../tenant.ts';
import { hostLengthMax, hostPattern, hostsMax } from './definition.ts';

export interface HostChange {
  /** Path of the tenant. */
  readonly path: string;
  /** Hosts in the object, and before the change; not validated. */
  readonly hosts: unknown;
  readonly before?: unknown;
}

export interface HostClaimsOptions {
  readonly store: Store;
  readonly storePrefix: string;
}

export class HostClaims {
  readonly #options: HostClaimsOptions;

  constructor(options: HostClaimsOptions) {
    this.#options = options;
  }

  /** Returns the writes for a change of the names. Throws 422 if another tenant has one of them. */
  async change({ path, hosts, before }: HostChange): Promise<Write[]> {
    const wanted = validHosts(hosts);
    const had = validHosts(before);
    const added = wanted.filter((host) => !had.includes(host));
    const gone = had.filter((host) => !wanted.includes(host));
    const claims = await Promise.all(added.map((host) => this.#claim(path, host, wanted.indexOf(host))));
    const releases = await Promise.all(gone.map((host) => this.#release(path, host)));
    const writes = [...claims, ...releases.flat()];
    if (writes.length > changesMax) {
      throw refused(path, invalid('spec.hosts', wanted.length, `cannot have more than ${changesMax} changes at once`));
    }
    return writes;
  }

  async #claim(path: string, host: string, at: number): Promise<Write> {
    const key = hostClaimKey(this.#options.storePrefix, host);
    const { entry } = await this.#options.store.get(key);
    if (entry && holder(entry) !== path && (await this.#names(holder(entry), host))) {
      throw refused(path, invalid(`spec.hosts[${at}]`, host, takenHost));
    }
    return { type: 'put', key, value: Buffer.from(path), expected: entry?.modRevision ?? absent };
  }

  async #release(path: string, host: string): Promise<Write[]> {
    const key = hostClaimKey(this.#options.storePrefix, host);
    const { entry } = await this.#options.store.get(key);
    if (!entry || holder(entry) !== path) return [];
    return [{ type: 'delete', key, expected: entry.modRevision }];
  }

  /** Reports whether the tenant exists and has this name. */
  async #names(path: string, host: string): Promise<boolean> {
    const { store, storePrefix } = this.#options;
    const { entry } = await store.get(`${tenantPrefix(storePrefix, rootPath)}${tenantsPrefix}${path}`);
    return entry !== undefined && validHosts(tenantOf(entry).spec.hosts).includes(host);
  }
}

/** The claims share one transaction with the other writes that create or destroy a tenant. */
const changesMax = 100;

const refused = (path: string, error: FieldError): Error =>
  invalidObject({ group: tenantGroup, kind: 'Tenant' }, path, [error]);

export const takenHost = 'is already used by another tenant';

const holder = ({ value }: Entry): string => Buffer.from(value).toString();

const pattern = new RegExp(hostPattern);

/** Ignores invalid names: validation refuses them later. */
const validHosts = (hosts: unknown): string[] =>
  Array.isArray(hosts) && hosts.length <= hostsMax
    ? [...new Set(hosts)].filter(
        (host) => typeof host === 'string' && host.length <= hostLengthMax && pattern.test(host),
      )
    : [];
