/**
 * What a definition makes of its custom resources, shared by all control planes that have the very same one: a thousand
 * tenants install the same operator. Known by the content that it is made of, its `spec` and the names that it got.
 *
 * Nothing here says whose it is: metadata, conditions and the conversion webhook stay with each control plane.
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

  /** In the order of preference. */
  get versions(): readonly DefinitionVersion[] {
    return (this.#versions ??= this.spec.versions.toSorted((a, b) => compareVersionNames(b.name, a.name)));
  }

  /** Throws when it cannot be compiled. */
  get compiled(): CompiledVersions {
    return (this.#compiled ??= new Map(
      this.versions.map(({ name }) => [`${this.spec.group}/${name}`, crd().compileVersion(this.#bare(), name)!]),
    ));
  }

  /** How discovery and OpenAPI show a version: the first of those that are known by the same text. */
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
/** Of definitions that are lean already. */
const bySpec = new WeakMap<Spec, SharedDefinition>();

/** What is compiled takes several times as much memory as its text. */
const bytesPerCharacter = 8;

/** Compiles nothing yet. With a budget, it is kept there for the next who needs it. */
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
      // A copy: what a control plane has decoded stays its own.
      const [copy, names] = JSON.parse(text) as [Spec, ResourceNames | null];
      return new SharedDefinition(digest, copy, names ?? undefined);
    },
    budget && { budget, bytesOf },
  );
  bySpec.set(found.spec, found);
  return found;
}

/** The definition with what is shared of it in its place, and without what nobody asks a definition that is served. */
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
