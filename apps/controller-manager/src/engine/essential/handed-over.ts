/**
 * Which control planes are left to controllers from outside, and on whose behalf: what the Tenants say. Each stands for a cluster of the
 * fleet. A mark is only a name, and a registration may come to name another control plane: its mark counts on the Tenant of the control
 * plane that it names now, and nowhere else. An endpoint's mark says by itself which cluster it is about.
 *
 *     controllers-by   of a control plane   is the cluster, and the object
 *     r                x                    x               r
 *     endpoint/e       x                    e               endpoint/e
 *     (nobody)         x                    x               (none yet)
 *
 * Should two Tenants be the same, the first one is it; the other is when the first no longer is.
 */

import type { KubeObject } from '@hangar/api';
import { controllersAnnotation, controllersByAnnotation, externalControllers } from '@hangar/controllers';
import type { SourceObject } from '../../contract.ts';

const endpointPrefix = 'endpoint/';

/** On a Tenant: the control plane that it was made for. */
export const controlPlaneAnnotation = 'controlplane.kplane.dev/name';

/** As a Tenant names it. */
export const keyOfSource = ({ kind, name }: Pick<SourceObject, 'kind' | 'name'>): string =>
  kind === 'ControlPlaneEndpoint' ? `${endpointPrefix}${name}` : name;

interface Standing {
  readonly cluster: string;
  /** Key of the object; undefined: it is not left to others. */
  readonly by: string | undefined;
}

export class HandedOver {
  /** By the paths of the Tenants. */
  readonly #standings = new Map<string, Standing>();
  /** Cluster → path of its Tenant; should there be several, in the order in which they came. */
  readonly #paths = new Map<string, string | readonly string[]>();
  readonly #suspended = new Set<string>();

  /** Of the Tenant that is left to the object, for this cluster. */
  pathOf(cluster: string, key: string): string | undefined {
    return this.#pathsOf(cluster).find((path) => this.#standings.get(path)!.by === key);
  }

  /** Of a Tenant of the cluster, whoever runs its controllers. */
  tenantOf(cluster: string): string | undefined {
    return this.#pathsOf(cluster)[0];
  }

  /** Undefined: it is not left to others, or to nobody that is known. */
  clusterAt(path: string): string | undefined {
    const standing = this.#standings.get(path);
    return standing?.by === undefined ? undefined : standing.cluster;
  }

  isSuspended(path: string): boolean {
    return this.#suspended.has(path);
  }

  /** Answers clusters whose control plane is another now, or may be in another state. */
  put(path: string, tenant: KubeObject): readonly string[] {
    const { spec, status } = tenant as { spec?: { suspension?: unknown }; status?: { quarantine?: unknown } };
    const { suspension } = spec ?? {};
    if ((typeof suspension === 'string' && suspension !== '') || status?.quarantine !== undefined)
      this.#suspended.add(path);
    else this.#suspended.delete(path);
    const before = this.#standings.get(path);
    const now = standingOf(path, tenant);
    if (now) this.#standings.set(path, now);
    if (before?.cluster === now?.cluster) return now ? [now.cluster] : [];
    if (before) this.#leave(path, before.cluster);
    if (!now) this.#standings.delete(path);
    else this.#keep(now.cluster, [...this.#pathsOf(now.cluster), path]);
    return [before, now].filter((one) => one !== undefined).map(({ cluster }) => cluster);
  }

  /** Answers as `put` does. */
  delete(path: string): readonly string[] {
    const before = this.#standings.get(path);
    this.#suspended.delete(path);
    this.#standings.delete(path);
    if (!before) return [];
    this.#leave(path, before.cluster);
    return [before.cluster];
  }

  clear(): void {
    this.#standings.clear();
    this.#paths.clear();
    this.#suspended.clear();
  }

  #leave(path: string, cluster: string): void {
    const others = this.#pathsOf(cluster).filter((one) => one !== path);
    this.#keep(cluster, others);
  }

  #pathsOf(cluster: string): readonly string[] {
    return [this.#paths.get(cluster) ?? []].flat();
  }

  #keep(cluster: string, paths: readonly string[]): void {
    if (paths.length === 0) this.#paths.delete(cluster);
    else this.#paths.set(cluster, paths.length === 1 ? paths[0]! : paths);
  }
}

/** There is one of each Tenant: strings that are equal are one. */
function standingOf(path: string, { metadata }: KubeObject): Standing | undefined {
  const { annotations = {} } = metadata;
  const { [controllersAnnotation]: controllers, [controllersByAnnotation]: marked } = annotations;
  const by = controllers === externalControllers && marked ? marked : undefined;
  const cluster = by?.startsWith(endpointPrefix)
    ? by.slice(endpointPrefix.length)
    : annotations[controlPlaneAnnotation];
  return cluster ? { cluster: cluster === path ? path : cluster, by: by === path ? path : by } : undefined;
}
