/**
 * The custom resources of all control planes, by their definitions. Definitions of several control planes with the same group and plural
 * are one resource: one stream has the objects of all of them.
 */

import { defineKind } from '@hangar/client';
import type { Kind, UnknownObject } from '@hangar/client';

/** Custom resources of one control plane that the index follows. A tenant chooses the number of its definitions. */
export const kindsPerClusterMax = 100;
const kindsMax = 2_000;

interface Known {
  readonly kind: Kind;
  readonly clusters: Set<string>;
}

export interface CustomKindsEvents {
  /** A resource was defined for the first time. */
  added(kind: Kind): void;
  /** The last definition of the resource was deleted. */
  removed(kind: Kind): void;
  /** The control plane has more definitions than the limit. */
  limited(cluster: string): void;
}

interface DefinitionSpec {
  readonly group?: string;
  readonly scope?: string;
  readonly names?: { readonly plural?: string; readonly kind?: string };
  readonly versions?: readonly { readonly name?: string; readonly served?: boolean; readonly storage?: boolean }[];
}

export class CustomKinds {
  readonly #events: CustomKindsEvents;
  /** By the name of the definition: `widgets.example.com`. */
  readonly #known = new Map<string, Known>();
  readonly #counts = new Map<string, number>();

  constructor(events: CustomKindsEvents) {
    this.#events = events;
  }

  put(cluster: string, definition: UnknownObject): void {
    const name = definition.metadata.name ?? '';
    const kind = kindOf(definition['spec'] as DefinitionSpec | undefined);
    if (!kind) return;
    const known = this.#known.get(name);
    if (known?.clusters.has(cluster)) return;
    const count = this.#counts.get(cluster) ?? 0;
    if (count >= kindsPerClusterMax || (!known && this.#known.size >= kindsMax)) return this.#events.limited(cluster);
    this.#counts.set(cluster, count + 1);
    if (known) known.clusters.add(cluster);
    else {
      this.#known.set(name, { kind, clusters: new Set([cluster]) });
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
    if (known.clusters.size > 0) return;
    this.#known.delete(name);
    this.#events.removed(known.kind);
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
