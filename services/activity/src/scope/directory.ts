/**
 * Facts of the management plane about control planes: when they were created, the CA of their front proxies, and the organization of
 * their projects. Results are cached for seconds.
 */

import { isObject } from '@hangar/api';
import type { JsonObject } from '@hangar/api';
import type { Clock } from '@hangar/core';
import { ClusterClient, ClusterError, frontProxyCaOf } from '@hangar/server/library';
import type { ClusterAccess } from '@hangar/server/library';
import { objectOf, stringOf } from '../events/event.ts';
import type { VisiblePlane } from '../storage/contract.ts';

/** Reads an object of the management plane by its path; undefined if it does not exist. */
export type ReadObject = (path: string) => Promise<JsonObject | undefined>;

/** Returns a reader with the credentials of the service; the function closes its connections. */
export function readerOf(access: ClusterAccess, clock: Clock): { readonly read: ReadObject; close(): void } {
  const client = new ClusterClient(access, clock);
  return {
    close: () => client.close(),
    read: (path) =>
      client.get(path).catch((error: unknown) => {
        if (error instanceof ClusterError && error.status === 404) return undefined;
        throw error;
      }),
  };
}

export interface KnownPlane extends VisiblePlane {
  /** CAs of the front proxies of the control plane, PEM; empty if it has none. */
  readonly frontProxyCa: string;
}

export interface PlaneDirectory {
  plane(name: string): Promise<KnownPlane | undefined>;
  /** Returns the control planes of the projects of an organization. */
  planesOf(organization: string): Promise<readonly VisiblePlane[]>;
  /** Returns the control plane of a project. */
  planeOf(project: string): Promise<VisiblePlane | undefined>;
}

const tenants = '/apis/tenancy.hangar.dev/v1alpha1/tenants';
const projects = '/apis/resourcemanager.miloapis.com/v1alpha1/projects';
const authentication = 'api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication';
const isName = (name: string): boolean => /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name);

/** UID of the ControlPlane that owns a Tenant; empty if none does. */
const controlPlaneUidAnnotation = 'controlplane.kplane.dev/uid';

interface KnownTenant extends Pick<VisiblePlane, 'sinceUs'> {
  readonly controlPlaneUid: string;
}

const pageLength = 250;
const keptMs = 5_000;
const keptMax = 1_000;

export class ManagementDirectory implements PlaneDirectory {
  readonly #read: ReadObject;
  readonly #clock: Clock;
  readonly #kept = new Map<string, { readonly untilMs: number; readonly value: Promise<unknown> }>();

  constructor(read: ReadObject, clock: Clock) {
    this.#read = read;
    this.#clock = clock;
  }

  plane(name: string): Promise<KnownPlane | undefined> {
    return this.#cached(`plane/${name}`, async () => {
      const tenant = await this.#tenant(name);
      if (!tenant) return undefined;
      const config = await this.#read(`/clusters/${name}/control-plane/${authentication}`);
      return { name, sinceUs: tenant.sinceUs, frontProxyCa: frontProxyCaOf(objectOf(config?.['data'])) };
    });
  }

  planesOf(organization: string): Promise<readonly VisiblePlane[]> {
    return this.#cached(`organization/${organization}`, async () => {
      const planes: VisiblePlane[] = [];
      let next = '';
      do {
        const page = await this.#read(`${projects}?limit=${pageLength}&continue=${encodeURIComponent(next)}`);
        for (const project of Array.isArray(page?.['items']) ? page['items'] : []) {
          if (!isObject(project)) continue;
          const owner = objectOf(objectOf(project['spec'])['ownerRef'])['name'];
          const plane = owner === organization ? await this.#planeOfProject(project) : undefined;
          if (plane) planes.push(plane);
        }
        next = stringOf(objectOf(page?.['metadata'])['continue']);
      } while (next !== '');
      return planes;
    });
  }

  planeOf(project: string): Promise<VisiblePlane | undefined> {
    return this.#cached(`project/${project}`, async () => {
      const object = isName(project) ? await this.#read(`${projects}/${project}`) : undefined;
      return object && this.#planeOfProject(object);
    });
  }

  /** A member can create a project with the name of any control plane: the names alone prove nothing. */
  async #planeOfProject(project: JsonObject): Promise<VisiblePlane | undefined> {
    const uid = objectOf(objectOf(project['status'])['controlPlaneRef'])['uid'];
    if (typeof uid !== 'string' || uid === '') return undefined;
    const name = stringOf(objectOf(project['metadata'])['name']);
    const tenant = await this.#tenant(name);
    return tenant?.controlPlaneUid === uid ? { name, sinceUs: tenant.sinceUs } : undefined;
  }

  /** Events before the creation of the tenant belong to an earlier one of the same name. */
  async #tenant(name: string): Promise<KnownTenant | undefined> {
    const metadata = objectOf((isName(name) ? await this.#read(`${tenants}/${name}`) : undefined)?.['metadata']);
    const createdMs = Date.parse(stringOf(metadata['creationTimestamp']));
    if (Number.isNaN(createdMs)) return undefined;
    const controlPlaneUid = stringOf(objectOf(metadata['annotations'])[controlPlaneUidAnnotation]);
    return { sinceUs: createdMs * 1_000, controlPlaneUid };
  }

  /** A failed read is not kept. */
  #cached<Result>(key: string, read: () => Promise<Result>): Promise<Result> {
    const now = this.#clock.monotonicMs();
    const known = this.#kept.get(key);
    if (known && known.untilMs > now) return known.value as Promise<Result>;
    const value = read();
    this.#kept.delete(key);
    this.#kept.set(key, { untilMs: now + keptMs, value });
    if (this.#kept.size > keptMax) this.#kept.delete(this.#kept.keys().next().value!);
    value.catch(() => this.#kept.delete(key));
    return value;
  }
}
