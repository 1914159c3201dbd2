/**
 * What one control plane serves: Kubernetes' own kinds, and those of its CustomResourceDefinitions. It follows the
 * definitions in the store, so that every replica serves the same; who writes one waits until it is followed here.
 */

import { builtinServedGroups } from '@hangar/api';
import type { ServedGroup, ServedResource, ServedVersion } from '@hangar/api';
import { builtinServed } from './builtin.ts';
import type { CustomServedResource } from './custom.ts';
import type { Resource } from './resource.ts';

export interface ResourceName {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

/** One definition that is established, as served. */
export interface ServedDefinition {
  /** `widgets.example.com`. */
  readonly name: string;
  readonly group: string;
  readonly plural: string;
  readonly resources: ReadonlyMap<string, CustomServedResource>;
  /** In the order of preference. */
  readonly versions: readonly { readonly name: string; readonly resource: ServedResource }[];
}

export class Catalogue {
  readonly #definitions = new Map<string, ServedDefinition>();
  /** `group/plural` → definition. */
  readonly #byResource = new Map<string, ServedDefinition>();
  readonly #hasBuiltin: boolean;
  #groups: readonly ServedGroup[] | undefined;
  #generation = 0;

  /** An aggregated API server has no built-in kinds. */
  constructor({ hasBuiltin = true }: { readonly hasBuiltin?: boolean } = {}) {
    this.#hasBuiltin = hasBuiltin;
  }

  find({ group, version, resource }: ResourceName): Resource | undefined {
    return (
      (this.#hasBuiltin ? builtinServed(group, version, resource) : undefined) ??
      this.#byResource.get(`${group}/${resource}`)?.resources.get(version)
    );
  }

  definition(name: string): ServedDefinition | undefined {
    return this.#definitions.get(name);
  }

  get definitions(): Iterable<ServedDefinition> {
    return this.#definitions.values();
  }

  put(definition: ServedDefinition): void {
    this.remove(definition.name);
    this.#definitions.set(definition.name, definition);
    this.#byResource.set(`${definition.group}/${definition.plural}`, definition);
    this.#changed();
  }

  remove(name: string): void {
    const known = this.#definitions.get(name);
    if (!known) return;
    this.#definitions.delete(name);
    this.#byResource.delete(`${known.group}/${known.plural}`);
    this.#changed();
  }

  #changed(): void {
    this.#groups = undefined;
    this.#generation++;
  }

  /** Grows with every change: whatever was derived from `groups` is as old as this. */
  get generation(): number {
    return this.#generation;
  }

  /** As discovery and OpenAPI show it. */
  get groups(): readonly ServedGroup[] {
    return (this.#groups ??= [...(this.#hasBuiltin ? builtinServedGroups() : []), ...this.#customGroups()]);
  }

  #customGroups(): ServedGroup[] {
    const byGroup = new Map<string, Map<string, ServedResource[]>>();
    for (const { group, versions } of this.#definitions.values()) {
      let known = byGroup.get(group);
      if (!known) byGroup.set(group, (known = new Map()));
      for (const { name, resource } of versions) known.set(name, [...(known.get(name) ?? []), resource]);
    }
    return [...byGroup].map(([name, versions]) => ({ name, versions: inOrder(versions) }));
  }
}

function inOrder(versions: ReadonlyMap<string, ServedResource[]>): ServedVersion[] {
  return [...versions]
    .map(([name, resources]) => ({ name, resources: resources.toSorted((a, b) => (a.name < b.name ? -1 : 1)) }))
    .sort((a, b) => compareVersionNames(b.name, a.name));
}

/** `v2` before `v1` before `v1beta2` before `v1beta1` before `v1alpha1`, then everything else by its letters. */
export function compareVersionNames(a: string, b: string): number {
  const [one, other] = [parse(a), parse(b)];
  if (!one || !other) return one ? 1 : other ? -1 : a < b ? 1 : a > b ? -1 : 0;
  for (let i = 0; i < 3; i++) if (one[i] !== other[i]) return one[i]! - other[i]!;
  return 0;
}

function parse(name: string): [number, number, number] | undefined {
  const match = /^v([1-9]\d{0,9})(?:(alpha|beta)([1-9]\d{0,9}))?$/.exec(name);
  if (!match) return undefined;
  const [, major, stage, minor] = match;
  // Stability first, as Kubernetes orders versions.
  return [stage === undefined ? 2 : stage === 'beta' ? 1 : 0, Number(major), Number(minor ?? 0)];
}
