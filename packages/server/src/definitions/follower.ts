/**
 * Follows the CustomResourceDefinitions in the store and keeps the catalogue as they say, on this server and on every
 * other that shares the store.
 */

import type { KubeObject } from '@hangar/api';
import type { CustomResourceDefinition, TakenNames } from '@hangar/api/crd';
import { hasCode, sleep } from '@hangar/core';
import { prefixRange } from '@hangar/store';
import type { Entry, Revision, Watch } from '@hangar/store';
import { collectionPrefix } from '../control-plane.ts';
import type { ControlPlane } from '../control-plane.ts';
import type { Resource } from '../resources/resource.ts';
import { timestamp } from '../verbs/metadata.ts';
import { registerVersions, removeVersions } from './api-services.ts';
import { DefinitionCleaner } from './cleaner.ts';
import { crd } from './library.ts';
import { definitionsName } from './resource.ts';
import { servedDefinition } from './served.ts';

/** What writes of definitions need of it. */
export interface Definitions {
  /** Names that other definitions of the same group have. */
  namesTaken(definition: KubeObject): TakenNames;
  /** Resolves when what was written up to this revision is served. */
  reached(revision: Revision): Promise<void>;
}

const retryMs = 1_000;

export class DefinitionFollower implements Definitions {
  readonly #plane: ControlPlane;
  readonly #resource: Resource;
  readonly #prefix: string;
  readonly #cleaner: DefinitionCleaner;
  readonly #all = new Map<string, CustomResourceDefinition>();
  #watch: Watch | undefined;
  #revision = 0 as Revision;
  #waiting: { revision: Revision; resolve(): void }[] = [];
  #isClosed = false;

  constructor(plane: ControlPlane) {
    this.#plane = plane;
    this.#resource = plane.catalogue.find(definitionsName)!;
    this.#prefix = collectionPrefix(plane, this.#resource, '');
    this.#cleaner = new DefinitionCleaner(plane, this.#resource);
  }

  /** Resolves when everything that is stored is served. */
  async start(): Promise<void> {
    await this.#read();
    void this.#follow();
  }

  close(): void {
    this.#isClosed = true;
    this.#watch?.close();
    this.#cleaner.close();
    for (const { resolve } of this.#waiting.splice(0)) resolve();
  }

  reached(revision: Revision): Promise<void> {
    if (this.#revision >= revision || this.#isClosed) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ revision, resolve }));
  }

  namesTaken(definition: KubeObject): TakenNames {
    const { group } = definition['spec'] as { group: string };
    const others = [...this.#all.values()].filter(
      (one) => one.spec.group === group && one.metadata.name !== definition.metadata.name,
    );
    return others.length === 0 ? crd().noNamesTaken : crd().takenNames(others);
  }

  async #read(): Promise<void> {
    const { store } = this.#plane;
    const { entries, revision } = await store.range(prefixRange(this.#prefix));
    const names = new Set(entries.map(({ key }) => key.slice(this.#prefix.length)));
    for (const name of this.#all.keys()) if (!names.has(name)) this.#remove(name);
    for (const entry of entries) this.#apply(entry);
    this.#watch = store.watch({ prefix: this.#prefix, fromRevision: (revision + 1) as Revision });
    this.#advance(revision);
  }

  async #follow(): Promise<void> {
    while (!this.#isClosed) {
      try {
        for await (const batch of this.#watch!) {
          for (const event of batch.events) {
            if (event.type === 'put') this.#apply(event.entry);
            else this.#remove(event.key.slice(this.#prefix.length));
          }
          this.#advance(batch.revision);
        }
        return;
      } catch (error) {
        if (this.#isClosed || hasCode(error, 'Closed')) return;
        // History was compacted away under us, or the store was cut off: begin anew from what is there.
        await this.#readAgain();
      }
    }
  }

  async #readAgain(): Promise<void> {
    while (!this.#isClosed) {
      try {
        return await this.#read();
      } catch {
        await sleep(this.#plane.clock, retryMs);
      }
    }
  }

  #advance(revision: Revision): void {
    this.#revision = revision;
    const reached = this.#waiting.filter((one) => one.revision <= revision);
    this.#waiting = this.#waiting.filter((one) => one.revision > revision);
    for (const { resolve } of reached) resolve();
  }

  /** What cannot be read or compiled, because others wrote it, is not served; everything else is. */
  #apply(entry: Entry): void {
    try {
      this.#serve(entry);
    } catch {
      this.#plane.catalogue.remove(entry.key.slice(this.#prefix.length));
    }
  }

  #serve(entry: Entry): void {
    const definition = crd().asDefinition(this.#resource.stored.object(entry));
    const name = definition.metadata.name!;
    const before = this.#all.get(name);
    this.#all.set(name, definition);
    if (crd().isTrue(definition, 'Established')) this.#plane.catalogue.put(servedDefinition(definition));
    else this.#plane.catalogue.remove(name);
    if (definition.metadata.deletionTimestamp !== undefined) this.#cleaner.clean(definition);
    void this.#registerVersions(definition, before);
  }

  /** The store's failures are told by every request; this is done again with the next change, or at the next start. */
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
    // What the store cannot do now is done with the next definition that goes.
    this.#reconsider(known.spec.group).catch(() => undefined);
  }

  /** Names became free: others may have waited for them. */
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
      // Whoever was faster reconsidered it as well.
      await store.commit([{ type: 'put', key, value, expected: entry.modRevision }]);
    }
  }
}

const servedVersions = (definition: CustomResourceDefinition): string[] =>
  crd().isTrue(definition, 'Established')
    ? definition.spec.versions.flatMap(({ name, served }) => (served ? [name] : []))
    : [];
