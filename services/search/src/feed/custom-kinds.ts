/**
 * The custom resources of all control planes, by their definitions. Definitions of several control planes with the same group and plural
 * are one resource: one stream has the objects of all of them.
 *
 * The number of resources is limited. Each counts for the control plane that defined it first. At the limit, the control plane with the most
 * resources loses one to another with fewer, so that a few control planes cannot take the places of all others.
 */

import { defineKind } from '@hangar/client';
import type { Kind, UnknownObject } from '@hangar/client';

/** Custom resources of one control plane that the index follows. A tenant chooses the number of its definitions. */
export const kindsPerClusterMax = 100;
const kindsMax = 2_000;
/** Resources of others that make room for one resource: a resource with several definitions needs several steps. */
const stepsMax = 32;

interface Known {
  readonly kind: Kind;
  /** In the order of their definitions: the resource counts for the first. */
  readonly clusters: Set<string>;
}

export interface CustomKindsEvents {
  /** A resource was defined for the first time. */
  added(kind: Kind): void;
  /** The last definition of the resource was deleted. */
  removed(kind: Kind): void;
  /** Resources of the control plane are left out, because it has more definitions than the limit or than others. */
  limited(cluster: string): void;
}

export interface CustomKindsOptions {
  /** The management plane: its resources never make room for others. */
  readonly ownCluster: string;
  readonly kindsMax?: number;
}

interface DefinitionSpec {
  readonly group?: string;
  readonly scope?: string;
  readonly names?: { readonly plural?: string; readonly kind?: string };
  readonly versions?: readonly { readonly name?: string; readonly served?: boolean; readonly storage?: boolean }[];
}

export class CustomKinds {
  readonly #events: CustomKindsEvents;
  readonly #ownCluster: string;
  readonly #kindsMax: number;
  /** By the name of the definition: `widgets.example.com`. */
  readonly #known = new Map<string, Known>();
  readonly #counts = new Map<string, number>();
  /** The names of the definitions that count for a control plane. */
  readonly #owned = new Map<string, Set<string>>();

  constructor(events: CustomKindsEvents, options: CustomKindsOptions) {
    this.#events = events;
    this.#ownCluster = options.ownCluster;
    this.#kindsMax = options.kindsMax ?? kindsMax;
  }

  put(cluster: string, definition: UnknownObject): void {
    const name = definition.metadata.name ?? '';
    const kind = kindOf(definition['spec'] as DefinitionSpec | undefined);
    if (!kind) return;
    const known = this.#known.get(name);
    if (known?.clusters.has(cluster)) return;
    const count = this.#counts.get(cluster) ?? 0;
    if (count >= kindsPerClusterMax || (!known && !this.#makeRoom(cluster))) return this.#events.limited(cluster);
    this.#counts.set(cluster, count + 1);
    if (known) known.clusters.add(cluster);
    else {
      this.#known.set(name, { kind, clusters: new Set([cluster]) });
      this.#own(cluster, name);
      this.#events.added(kind);
    }
  }

  delete(cluster: string, definition: UnknownObject): void {
    this.#delete(cluster, definition.metadata.name ?? '');
  }

  /** Deletes all definitions that are not in the set, as `cluster/name`. */
  keepOnly(existing: ReadonlySet<string>): void {
    // Entries that are deleted during the iteration are not visited again.
    for (const [name, { clusters }] of this.#known) {
      for (const cluster of clusters) if (!existing.has(`${cluster}/${name}`)) this.#delete(cluster, name);
    }
  }

  #delete(cluster: string, name: string): void {
    const known = this.#known.get(name);
    if (!known?.clusters.delete(cluster)) return;
    this.#counts.set(cluster, this.#counts.get(cluster)! - 1);
    if (this.#counts.get(cluster) === 0) this.#counts.delete(cluster);
    const owned = this.#owned.get(cluster);
    const isOwner = owned?.delete(name) ?? false;
    if (owned?.size === 0) this.#owned.delete(cluster);
    const [next] = known.clusters;
    if (next !== undefined) {
      if (isOwner) this.#own(next, name);
      return;
    }
    this.#known.delete(name);
    this.#events.removed(known.kind);
  }

  #own(cluster: string, name: string): void {
    let owned = this.#owned.get(cluster);
    if (!owned) this.#owned.set(cluster, (owned = new Set()));
    owned.add(name);
  }

  /** Reports whether there is room for a resource of the control plane. Takes it from those with at least two more. */
  #makeRoom(cluster: string): boolean {
    const count = cluster === this.#ownCluster ? 0 : (this.#owned.get(cluster)?.size ?? 0) + 1;
    for (let steps = 0; this.#known.size >= this.#kindsMax; steps++) {
      const [most, owned] = this.#largest() ?? [];
      if (most === undefined || !owned || owned.size <= count || steps === stepsMax) return false;
      const names = [...owned];
      this.#delete(most, names.findLast((name) => this.#known.get(name)!.clusters.size === 1) ?? names.at(-1)!);
      this.#events.limited(most);
    }
    return true;
  }

  /** Returns the control plane with the most resources, except the management plane. */
  #largest(): readonly [cluster: string, owned: ReadonlySet<string>] | undefined {
    let largest: readonly [string, ReadonlySet<string>] | undefined;
    for (const one of this.#owned) {
      if (one[0] !== this.#ownCluster && one[1].size > (largest?.[1].size ?? 0)) largest = one;
    }
    return largest;
  }
}

/** Returns the kind in a served version, the stored one first; undefined for an incomplete definition. */
function kindOf(spec: DefinitionSpec | undefined): Kind | undefined {
  const { group, scope, names, versions = [] } = spec ?? {};
  const served = versions.filter((version) => version.served);
  const version = (served.find(({ storage }) => storage) ?? served[0])?.name;
  if (!group || !names?.plural || !names.kind || !version) return undefined;
  return defineKind({
    apiVersion: `${group}/${version}`,
    kind: names.kind,
    plural: names.plural,
    isNamespaced: scope === 'Namespaced',
  });
}
