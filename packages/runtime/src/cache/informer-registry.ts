/** The informers of a cache, one for each kind and set of options, and the indexes, which all informers of a kind share. */

import { kindKey } from '@hangar/client';
import type { ApiObject, Kind, KindNames } from '@hangar/client';
import type { Logger } from '@hangar/core';
import type { CacheOptions } from './cache-options.ts';
import type { IndexFunction, InformerOptions } from './contract.ts';
import { Indexes } from './indexes.ts';
import { identityOf } from './informer-identity.ts';

/** Contract of a registered informer. `I` is without its object type, because a registry holds many kinds. */
export interface Registered {
  readonly kind: KindNames;
  /** Fills an index that was added later. */
  fillIndex(name: string): void;
}

export interface Made<T extends ApiObject> {
  readonly kind: Kind<T>;
  readonly options: InformerOptions<T>;
  readonly indexes: Indexes<T>;
}

/** State that every read of a kind needs, found without building a key. */
export interface Reading<I> {
  readonly isMetadataOnly: boolean;
  informer: I | undefined;
}

export class InformerRegistry<I extends Registered> {
  readonly #options: CacheOptions;
  readonly #make: (made: Made<ApiObject>) => I;
  readonly #log: Logger | undefined;
  readonly #byKind: ReadonlyMap<string, InformerOptions>;
  readonly #informers = new Map<string, I>();
  readonly #indexes = new Map<string, Indexes<ApiObject>>();
  readonly #readings = new WeakMap<KindNames, Reading<I>>();

  constructor(options: CacheOptions, make: (made: Made<ApiObject>) => I, log: Logger | undefined) {
    this.#options = options;
    this.#make = make;
    this.#log = log;
    this.#byKind = new Map((options.byKind ?? []).map(({ kind, ...own }) => [kindKey(kind), own]));
  }

  all(): Iterable<I> {
    return this.#informers.values();
  }

  /** Creates the informer if necessary. Without options: the informer that reads use. */
  informer<T extends ApiObject>(kind: Kind<T>, given?: InformerOptions<T>): I {
    const options = (given ?? this.#optionsOf(kind)) as unknown as InformerOptions;
    const identity = `${kindKey(kind)} ${identityOf(options)}`;
    let informer = this.#informers.get(identity);
    if (!informer) {
      const made = { kind: kind as unknown as Kind<ApiObject>, options, indexes: this.#indexesOf(kind) };
      this.#informers.set(identity, (informer = this.#make(made)));
    }
    return informer;
  }

  addIndex<T extends ApiObject>(kind: Kind<T>, name: string, values: IndexFunction<T>): void {
    if (!this.#indexesOf(kind).add(name, values as unknown as IndexFunction<ApiObject>)) return;
    for (const informer of this.#informers.values()) {
      if (kindKey(informer.kind) === kindKey(kind)) informer.fillIndex(name);
    }
  }

  reading(kind: KindNames): Reading<I> {
    let reading = this.#readings.get(kind);
    if (!reading) {
      reading = { isMetadataOnly: this.#optionsOf(kind).metadataOnly ?? false, informer: undefined };
      this.#readings.set(kind, reading);
    }
    return reading;
  }

  #optionsOf(kind: KindNames): InformerOptions {
    return this.#byKind.get(kindKey(kind)) ?? this.#options.defaults ?? {};
  }

  #indexesOf(kind: KindNames): Indexes<ApiObject> {
    let indexes = this.#indexes.get(kindKey(kind));
    if (!indexes) this.#indexes.set(kindKey(kind), (indexes = new Indexes(this.#log)));
    return indexes;
  }
}
