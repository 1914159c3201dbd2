/**
 * The resources that one control plane serves: built-in kinds, and those of its CustomResourceDefinitions. It follows the definitions in
 * the store, so that every replica serves the same; a write of a definition waits until it is served here.
 */

import { builtinServedGroups } from '@hangar/api';
import type { ServedGroup, ServedResource, ServedVersion } from '@hangar/api';
import { digestOf, SharedByContent } from '../objects/shared-by-content.ts';
import { builtinServed } from './builtin.ts';
import type { CustomServedResource } from './custom.ts';
import type { Resource } from './resource.ts';

export interface ResourceName {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

/** An established definition, as served. */
export interface ServedDefinition {
  /** `widgets.example.com`. */
  readonly name: string;
  readonly group: string;
  readonly plural: string;
  readonly resources: ReadonlyMap<string, CustomServedResource>;
  /** In order of preference. */
  readonly versions: readonly { readonly name: string; readonly resource: ServedResource }[];
  /** Digest of everything that `versions` show: equal in control planes that show the same. */
  readonly content: string;
}

/** Most control planes show the same groups as many others. */
const sharedGroups = new SharedByContent<readonly ServedGroup[]>();

export class Catalogue {
  readonly #definitions = new Map<string, ServedDefinition>();
  /** `group/plural` → definition. */
  readonly #byResource = new Map<string, ServedDefinition>();
  readonly #hasBuiltin: boolean;
  readonly #ownGroups = new Set<string>();
  /** Kinds of the server itself, by group: created when they, or all groups, are first requested. */
  readonly #declared = new Map<string, () => readonly ServedDefinition[]>();
  #groups: readonly ServedGroup[] | undefined;
  #content: string | undefined;
  #generation = 0;

  /** An aggregated API server has no built-in kinds. */
  constructor({ hasBuiltin = true }: { readonly hasBuiltin?: boolean } = {}) {
    this.#hasBuiltin = hasBuiltin;
  }

  /** Declares all kinds of a group that no CustomResourceDefinition may use. `make` is called on first use. */
  declare(group: string, make: () => readonly ServedDefinition[]): void {
    this.#ownGroups.add(group);
    this.#declared.set(group, make);
    this.#changed();
  }

  /** Reports whether the server itself serves this group. */
  isDeclared(group: string): boolean {
    return this.#ownGroups.has(group);
  }

  #realise(group: string): void {
    const make = this.#declared.get(group);
    if (!make) return;
    this.#declared.delete(group);
    for (const definition of make()) this.put(definition);
  }

  find({ group, version, resource }: ResourceName): Resource | undefined {
    if (this.#declared.size > 0) this.#realise(group);
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
    this.#content = undefined;
    this.#generation++;
  }

  /** Increases with every change of `groups`: compare it to detect stale derived data. */
  get generation(): number {
    return this.#generation;
  }

  /** The groups for discovery and OpenAPI. */
  get groups(): readonly ServedGroup[] {
    for (const group of this.#declared.keys()) this.#realise(group);
    return (this.#groups ??= sharedGroups.get(this.content, () => this.#allGroups()));
  }

  /** Digest of everything that `groups` show: control planes with the same digest share documents. */
  get content(): string {
    for (const group of this.#declared.keys()) this.#realise(group);
    return (this.#content ??= digestOf(
      JSON.stringify([this.#hasBuiltin, ...this.#inOrder().map(({ name, content }) => [name, content])]),
    ));
  }

  #allGroups(): readonly ServedGroup[] {
    const builtin = this.#hasBuiltin ? builtinServedGroups() : [];
    return this.#definitions.size === 0 ? builtin : [...builtin, ...this.#customGroups()];
  }

  /** Sorted, because the order of creation differs between control planes. */
  #inOrder(): ServedDefinition[] {
    return [...this.#definitions.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  #customGroups(): ServedGroup[] {
    const byGroup = new Map<string, Map<string, ServedResource[]>>();
    for (const { group, versions } of this.#inOrder()) {
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

/** Sorts `v2` before `v1` before `v1beta2` before `v1beta1` before `v1alpha1`, then all others alphabetically. */
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
