/** The informer of one kind of one cluster: a replica and its reflectors, one for each namespace. */

import { keyOf } from '@hangar/client';
import type { ApiObject, Client, Kind, ObjectKey } from '@hangar/client';
import { RuntimeError } from '../errors.ts';
import { inTurns } from '../in-turns.ts';
import type { EventHandler, Informer, InformerHealth, InformerOptions, Registration } from './contract.ts';
import type { Indexes } from './indexes.ts';
import { Latch } from './latch.ts';
import { Reflector } from './reflector.ts';
import type { ReflectorTarget } from './reflector.ts';
import { Replica } from './replica.ts';
import { sourceOf } from './source.ts';
import type { Transform } from './transforms.ts';
import { keeper } from './world.ts';
import type { CacheWorld } from './world.ts';

export interface ClusterInformerOptions<T extends ApiObject> {
  readonly client: Client;
  readonly kind: Kind<T>;
  readonly options: InformerOptions<T>;
  readonly indexes: Indexes<T>;
  readonly world: CacheWorld;
}

export class ClusterInformer<T extends ApiObject> implements Informer<T> {
  readonly kind: Kind<T>;
  readonly replica: Replica<T>;
  readonly #world: CacheWorld;
  readonly #namespaces: readonly (string | undefined)[];
  readonly #keep: Transform<T>;
  readonly #synced = new Latch();
  readonly #reflectors: readonly Reflector<T>[];
  /** Number of scopes without a first list. */
  #missing: number;
  #ended: Error | undefined;

  constructor({ client, kind, options, indexes, world }: ClusterInformerOptions<T>) {
    this.kind = kind;
    this.#world = world;
    this.replica = new Replica({ ...world, indexes });
    this.#keep = keeper(world, kind, options.transform);
    this.#namespaces = namespacesOf(kind, options);
    this.#missing = this.#namespaces.length;
    this.#reflectors = this.#namespaces.map((namespace) => {
      const source = sourceOf(client, kind, { ...options, ...(namespace === undefined ? {} : { namespace }) });
      const log = world.log?.child({ kind: kind.kind, ...(namespace === undefined ? {} : { namespace }) });
      return new Reflector<T>({ ...world, source, target: this.#target(namespace), log });
    });
  }

  get hasSynced(): boolean {
    return this.#synced.isOpen;
  }

  /** Of several scopes, the worst health. */
  get health(): InformerHealth {
    const all = this.#reflectors.map((one) => one.health);
    return all.find(({ state }) => state === 'failing') ?? all.find(({ state }) => state !== 'watching') ?? all[0]!;
  }

  /** '' with several namespaces, or before the first list. */
  get resourceVersion(): string {
    return this.#reflectors.length === 1 ? this.#reflectors[0]!.resourceVersion : '';
  }

  /** Reports whether objects of the namespace are cached; undefined: of all namespaces. */
  covers(namespace: string | undefined): boolean {
    return this.#namespaces.includes(undefined) || (namespace !== undefined && this.#namespaces.includes(namespace));
  }

  synced(signal?: AbortSignal): Promise<void> {
    return this.#synced.wait(signal);
  }

  addHandler(handler: EventHandler<T>): Registration {
    const registration = this.replica.addHandler(handler, this.hasSynced);
    if (this.#ended) registration.end(this.#ended);
    return registration;
  }

  get({ namespace, name }: ObjectKey): T | undefined {
    return this.replica.store.get(this.kind.isNamespaced ? namespace : undefined, name);
  }

  all(namespace?: string): Iterable<T> {
    return this.replica.store.all(namespace);
  }

  byIndex(index: string, value: string): Iterable<T> {
    return this.replica.store.byIndex(index, value);
  }

  fillIndex(name: string): void {
    this.replica.store.fillIndex(name);
  }

  /** Runs until the signal is aborted. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#reflectors.map((one) => one.run(signal)));
    const ended = new RuntimeError('CacheNotSynced', `the cache of ${this.kind.plural} stopped before it was synced`);
    this.#ended = ended;
    this.#synced.fail(ended);
    this.replica.ended(ended);
  }

  #target(namespace: string | undefined): ReflectorTarget<T> {
    const { replica } = this;
    let isLoaded = false;
    return {
      keep: this.#keep,
      replace: async (objects, signal) => {
        const { clock } = this.#world;
        const there = new Set<T>();
        const put = (object: T): void => void there.add(replica.put(object, !isLoaded));
        if (!(await inTurns({ clock, signal }, objects, put))) return;
        const removeGone = (object: T): void => {
          if (!there.has(object)) replica.remove(keyOf(object));
        };
        if (!(await inTurns({ clock, signal }, replica.store.all(namespace), removeGone))) return;
        if (!isLoaded) this.#loaded();
        isLoaded = true;
      },
      put: (object) => {
        const key = keyOf(object);
        const kept = this.#keep(object);
        if (kept === undefined) replica.remove(key);
        else replica.put(kept, false);
      },
      remove: (object) => replica.remove(keyOf(object), this.#keep(object)),
    };
  }

  #loaded(): void {
    if (--this.#missing > 0) return;
    this.#synced.open();
    this.replica.informerSynced();
  }
}

function namespacesOf<T extends ApiObject>(
  { isNamespaced }: Kind<T>,
  { namespace, namespaces = [] }: InformerOptions<T>,
): readonly (string | undefined)[] {
  const named = new Set(namespace === undefined ? namespaces : [...namespaces, namespace]);
  return isNamespaced && named.size > 0 ? [...named] : [undefined];
}
