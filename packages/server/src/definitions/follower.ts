/** Follows the CustomResourceDefinitions in the store and updates the catalogue, on every server that shares the store. */

import type { KubeObject } from '@hangar/api';
import type { CustomResourceDefinition, TakenNames } from '@hangar/api/crd';
import type { Entry, Revision } from '@hangar/store';
import { collectionPrefix } from '../control-plane.ts';
import type { ControlPlane } from '../control-plane.ts';
import { StoreFollower } from '../objects/store-follower.ts';
import { CustomServedResource, isConvertedByWebhook } from '../resources/custom.ts';
import type { Resource } from '../resources/resource.ts';
import { timestamp } from '../verbs/metadata.ts';
import { registerVersions, removeVersions } from './api-services.ts';
import { DefinitionCleaner } from './cleaner.ts';
import { ConvertedResource } from './conversion/resource.ts';
import { crd } from './library.ts';
import { definitionsName } from './resource.ts';
import { servedDefinition } from './served.ts';
import { leanDefinition, sharedDefinition } from './shared-definition.ts';

/** Interface for writes of definitions. */
export interface Definitions {
  /** Returns the names that other definitions of the same group use. */
  namesTaken(definition: KubeObject): TakenNames;
  /** Resolves when all writes up to this revision are served. */
  reached(revision: Revision): Promise<void>;
}

export class DefinitionFollower implements Definitions {
  readonly #plane: ControlPlane;
  readonly #resource: Resource;
  readonly #prefix: string;
  readonly #cleaner: DefinitionCleaner;
  readonly #follower: StoreFollower;
  readonly #all = new Map<string, CustomResourceDefinition>();

  constructor(plane: ControlPlane) {
    this.#plane = plane;
    this.#resource = plane.catalogue.find(definitionsName)!;
    this.#prefix = collectionPrefix(plane, this.#resource, '');
    this.#cleaner = new DefinitionCleaner(plane, this.#resource);
    this.#follower = new StoreFollower(plane, this.#prefix, {
      put: (entry) => this.#apply(entry),
      delete: (key) => this.#remove(key.slice(this.#prefix.length)),
      retain: (keys) => {
        for (const name of this.#all.keys()) if (!keys.has(`${this.#prefix}${name}`)) this.#remove(name);
      },
    });
  }

  /** Resolves when all stored definitions are served. */
  start(): Promise<void> {
    return this.#follower.start();
  }

  close(): void {
    this.#follower.close();
    this.#cleaner.close();
  }

  reached(revision: Revision): Promise<void> {
    return this.#follower.reached(revision);
  }

  namesTaken(definition: KubeObject): TakenNames {
    const { group } = definition['spec'] as { group: string };
    const others = [...this.#all.values()].filter(
      (one) => one.spec.group === group && one.metadata.name !== definition.metadata.name,
    );
    return others.length === 0 ? crd().noNamesTaken : crd().takenNames(others);
  }

  readonly #make = (...all: ConstructorParameters<typeof CustomServedResource>): CustomServedResource =>
    isConvertedByWebhook(all[0]) ? new ConvertedResource(this.#plane, ...all) : new CustomServedResource(...all);

  /** A stored definition that cannot be read or compiled is not served; all others are. */
  #apply(entry: Entry): void {
    try {
      this.#serve(entry);
    } catch {
      this.#plane.catalogue.remove(entry.key.slice(this.#prefix.length));
    }
  }

  #serve(entry: Entry): void {
    const stored = crd().asDefinition(this.#resource.stored.object(entry));
    const { budget } = this.#plane.collections;
    // Share equal parts with other control planes: most definitions are the same.
    const definition = leanDefinition(stored, sharedDefinition(stored, budget));
    const name = definition.metadata.name!;
    const before = this.#all.get(name);
    this.#all.set(name, definition);
    if (crd().isTrue(definition, 'Established'))
      this.#plane.catalogue.put(servedDefinition(definition, this.#make, budget));
    else this.#plane.catalogue.remove(name);
    if (definition.metadata.deletionTimestamp !== undefined) this.#cleaner.clean(definition);
    void this.#registerVersions(definition, before);
  }

  /** Failures of the store are ignored here: every request reports them, and this is retried with the next change or at the next start. */
  async #registerVersions(now: CustomResourceDefinition | undefined, before?: CustomResourceDefinition): Promise<void> {
    const { group } = (now ?? before)!.spec;
    const left = new Set([...this.#all.values()].filter((one) => one.spec.group === group).flatMap(servedVersions));
    const gone = before ? servedVersions(before).filter((version) => !left.has(version)) : [];
    try {
      if (now) await registerVersions(this.#plane, group, servedVersions(now));
      await removeVersions(this.#plane, group, gone);
    } catch {
      // See above.
    }
  }

  #remove(name: string): void {
    const known = this.#all.get(name);
    this.#all.delete(name);
    this.#plane.catalogue.remove(name);
    if (!known) return;
    void this.#registerVersions(undefined, known);
    // A failure of the store is retried when the next definition is deleted.
    this.#reconsider(known.spec.group).catch(() => undefined);
  }

  /** Reconsiders definitions that waited for names that became free. */
  async #reconsider(group: string): Promise<void> {
    const { store, clock } = this.#plane;
    for (const waiting of this.#all.values()) {
      if (waiting.spec.group !== group || crd().isTrue(waiting, 'Established')) continue;
      const key = `${this.#prefix}${waiting.metadata.name}`;
      const { entry } = await store.get(key);
      if (!entry) continue;
      const object = this.#resource.stored.object(entry);
      object['status'] = crd().definitionConditions(object, this.namesTaken(object), timestamp(clock));
      const value = this.#resource.stored.encode(object);
      // A conflict means that another server already reconsidered it.
      await store.commit([{ type: 'put', key, value, expected: entry.modRevision }]);
    }
  }
}

const servedVersions = (definition: CustomResourceDefinition): string[] =>
  crd().isTrue(definition, 'Established')
    ? definition.spec.versions.flatMap(({ name, served }) => (served ? [name] : []))
    : [];
