/**
 * Compiled definitions of custom resources, shared by all control planes that have an identical one: a thousand tenants install the same
 * operator. Identified by its contents, the `spec` and the accepted names.
 *
 * Nothing here is specific to a control plane: metadata, conditions and the conversion webhook are kept per control plane.
 */

import type { KubeObject, ServedResource } from '@hangar/api';
import type { CustomResourceDefinition, DefinitionVersion, ResourceNames } from '@hangar/api/crd';
import type { CacheBudget } from '../objects/cache-budget.ts';
import { deepFrozen, digestOf, SharedByContent } from '../objects/shared-by-content.ts';
import { compareVersionNames } from '../resources/catalogue.ts';
import type { CompiledVersions } from '../resources/custom.ts';
import { crd } from './library.ts';

type Spec = CustomResourceDefinition['spec'];

export class SharedDefinition {
  readonly digest: string;
  /** Frozen, without `conversion`. */
  readonly spec: Spec;
  /** Frozen. */
  readonly acceptedNames: ResourceNames | undefined;
  #versions: readonly DefinitionVersion[] | undefined;
  #compiled: CompiledVersions | undefined;
  readonly #shown = new Map<string, ServedResource>();

  constructor(digest: string, spec: Spec, acceptedNames: ResourceNames | undefined) {
    this.digest = digest;
    this.spec = deepFrozen(spec);
    this.acceptedNames = deepFrozen(acceptedNames);
  }

  /** In order of preference. */
  get versions(): readonly DefinitionVersion[] {
    return (this.#versions ??= this.spec.versions.toSorted((a, b) => compareVersionNames(b.name, a.name)));
  }

  /** Throws if it cannot be compiled. */
  get compiled(): CompiledVersions {
    return (this.#compiled ??= new Map(
      this.versions.map(({ name }) => [`${this.spec.group}/${name}`, crd().compileVersion(this.#bare(), name)!]),
    ));
  }

  /** Returns the version for discovery and OpenAPI: the first one that was added with the same text. */
  shown(text: string, shown: ServedResource): ServedResource {
    let known = this.#shown.get(text);
    if (!known) this.#shown.set(text, (known = shown));
    return known;
  }

  #bare(): KubeObject {
    const { spec, acceptedNames } = this;
    return { apiVersion: '', kind: '', metadata: {}, spec, status: { acceptedNames } } as unknown as KubeObject;
  }
}

const shared = new SharedByContent<SharedDefinition>();
/** Keyed by the spec of lean definitions. */
const bySpec = new WeakMap<Spec, SharedDefinition>();

/** Estimate: compiled definitions take several times as much memory as their text. */
const bytesPerCharacter = 8;

/** Compiles nothing yet. With a budget, it is cached for later callers. */
export function sharedDefinition(definition: CustomResourceDefinition, budget?: CacheBudget): SharedDefinition {
  const acceptedNames = definition.status?.acceptedNames;
  const known = bySpec.get(definition.spec);
  if (known && known.acceptedNames === acceptedNames) return known;
  const { conversion: _, ...spec } = definition.spec;
  const text = JSON.stringify([spec, acceptedNames ?? null]);
  const digest = digestOf(text);
  const bytesOf = (): number => text.length * bytesPerCharacter;
  const found = shared.get(
    digest,
    () => {
      // A copy: objects that a control plane decoded are not shared.
      const [copy, names] = JSON.parse(text) as [Spec, ResourceNames | null];
      return new SharedDefinition(digest, copy, names ?? undefined);
    },
    budget && { budget, bytesOf },
  );
  bySpec.set(found.spec, found);
  return found;
}

/** Returns the definition with its shared parts, without fields that a served definition does not need. */
export function leanDefinition(
  definition: CustomResourceDefinition,
  { spec, acceptedNames }: SharedDefinition,
): CustomResourceDefinition {
  const { name, uid, generation, deletionTimestamp, finalizers } = definition.metadata;
  const { conversion } = definition.spec;
  return {
    apiVersion: definition.apiVersion,
    kind: definition.kind,
    metadata: {
      name: name!,
      uid: uid!,
      ...(generation !== undefined && { generation }),
      ...(deletionTimestamp !== undefined && { deletionTimestamp }),
      ...(finalizers && { finalizers }),
    },
    spec: conversion?.strategy === 'Webhook' ? { ...spec, conversion } : spec,
    status: {
      conditions: (definition.status?.conditions ?? []).map(({ type, status }) => ({ type, status })),
      ...(acceptedNames && { acceptedNames }),
    },
  };
}
