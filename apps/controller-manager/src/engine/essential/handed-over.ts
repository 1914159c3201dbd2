/**
 * The control planes whose controllers run externally, and the objects that they are assigned to, as the Tenants state. Each is a cluster
 * of the fleet. The annotation is only a name, and a registration may change the control plane that it names: its annotation counts only on
 * the Tenant of the control plane that it names now. The annotation of an endpoint names the cluster itself.
 *
 *     controllers-by   of a control plane   is the cluster, and the object
 *     r                x                    x               r
 *     endpoint/e       x                    e               endpoint/e
 *     (none)           x                    x               (none yet)
 *
 * If two Tenants match, the first one counts; the other takes its place when the first no longer matches.
 */

import type { KubeObject } from '@hangar/api';
import { controllersAnnotation, controllersByAnnotation, externalControllers } from '@hangar/controllers';
import type { SourceObject } from '../../contract.ts';

const endpointPrefix = 'endpoint/';

/** Annotation on a Tenant: the control plane that it was created for. */
export const controlPlaneAnnotation = 'controlplane.kplane.dev/name';

/** Returns the key of an object, as a Tenant references it. */
export const keyOfSource = ({ kind, name }: Pick<SourceObject, 'kind' | 'name'>): string =>
  kind === 'ControlPlaneEndpoint' ? `${endpointPrefix}${name}` : name;

interface Standing {
  readonly cluster: string;
  /** Key of the object; undefined: its controllers are not external. */
  readonly by: string | undefined;
}

export class HandedOver {
  /** By the paths of the Tenants. */
  readonly #standings = new Map<string, Standing>();
  /** Cluster → path of its Tenant; if there are several, in the order of arrival. */
  readonly #paths = new Map<string, string | readonly string[]>();
  readonly #suspended = new Set<string>();

  /** Returns the path of the Tenant of this cluster that is assigned to the object. */
  pathOf(cluster: string, key: string): string | undefined {
    return this.#pathsOf(cluster).find((path) => this.#standings.get(path)!.by === key);
  }

  /** Returns the path of a Tenant of the cluster, regardless of its assignment. */
  tenantOf(cluster: string): string | undefined {
    return this.#pathsOf(cluster)[0];
  }

  /** Undefined: its controllers are not external, or the cluster is unknown. */
  clusterAt(path: string): string | undefined {
    const standing = this.#standings.get(path);
    return standing?.by === undefined ? undefined : standing.cluster;
  }

  isSuspended(path: string): boolean {
    return this.#suspended.has(path);
  }

  /** Returns the clusters whose Tenant changed or may have changed its state. */
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

  /** Returns the same as `put`. */
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

/** Interns equal strings, because there is one standing per Tenant. */
function standingOf(path: string, { metadata }: KubeObject): Standing | undefined {
  const { annotations = {} } = metadata;
  const { [controllersAnnotation]: controllers, [controllersByAnnotation]: marked } = annotations;
  const by = controllers === externalControllers && marked ? marked : undefined;
  const cluster = by?.startsWith(endpointPrefix)
    ? by.slice(endpointPrefix.length)
    : annotations[controlPlaneAnnotation];
  return cluster ? { cluster: cluster === path ? path : cluster, by: by === path ? path : by } : undefined;
}
