/**
 * Finds the object of a key by exact position: see layout.ts for the range of a control plane. Below it is the layout of kube-apiserver:
 *
 *     configmaps/default/a        services/specs/default/a        minions/n         built-in kinds, by the table of their prefixes
 *     example.com/widgets/default/a                                                 custom resources: a group contains a dot
 *     ranges/servicenodeports     .hangar/…                                         not objects
 *     .hidden/namespaces/default                                                    a base object that was deleted
 *
 * Runs for every write of the process, so it allocates nothing for keys that are not wanted.
 */

import { builtinGroups } from '@hangar/api';
import { lazy } from '@hangar/core';
import { hiddenName } from '@hangar/store';
import type { FedResource } from './contract.ts';

/** A resource, with the cached answer of the listener. */
export interface FedPlace extends FedResource {
  readonly isWanted: boolean;
}

export interface FedObject {
  readonly place: FedPlace;
  readonly namespace: string;
  readonly name: string;
}

/** Prefixes of one segment, or of two segments, by the first one. A prefix that two groups share belongs to the older one. */
type Prefixes = Map<string, FedResource | Map<string, FedResource>>;

const builtinPrefixes = lazy((): Prefixes => {
  const all: Prefixes = new Map();
  for (const { name: group, versions } of builtinGroups()) {
    for (const { name: resource, storage } of versions.flatMap(({ resources }) => resources)) {
      if (!storage) continue;
      const [first, second] = storage.prefix.split('/') as [string, string | undefined];
      if (second === undefined) {
        if (!all.has(first)) all.set(first, { group, resource });
        continue;
      }
      const below = all.get(first) ?? new Map<string, FedResource>();
      if (!(below instanceof Map)) throw new TypeError(`a storage prefix is below another: ${storage.prefix}`);
      if (!below.has(second)) below.set(second, { group, resource });
      all.set(first, below);
    }
  }
  return all;
});

/** Tenants choose the names of custom resources, so the cache is bounded: beyond this it is cleared. */
const customPlacesMax = 10_000;
const hiddenStart = hiddenName.slice(0, -1);

export class KeyPlaces {
  readonly #wants: (resource: FedResource) => boolean;
  readonly #builtin = new Map<FedResource, FedPlace>();
  /** By `group/plural`. */
  readonly #custom = new Map<string, FedPlace>();

  constructor(wants: (resource: FedResource) => boolean) {
    this.#wants = wants;
  }

  /** Returns undefined if the key is not an object, or not wanted. `at`: offset of the part after the control plane's prefix. */
  wanted(key: string, at: number): FedObject | undefined {
    const firstEnd = key.indexOf('/', at);
    if (firstEnd <= at || key.charCodeAt(at) === dot) return undefined;
    const first = key.slice(at, firstEnd);
    const found = builtinPrefixes().get(first);
    if (found && !(found instanceof Map)) return objectAt(this.#builtinPlace(found), key, firstEnd + 1);
    const secondEnd = key.indexOf('/', firstEnd + 1);
    if (secondEnd === -1) return undefined;
    const second = key.slice(firstEnd + 1, secondEnd);
    const builtin = found?.get(second);
    if (builtin) return objectAt(this.#builtinPlace(builtin), key, secondEnd + 1);
    if (!first.includes('.')) return undefined;
    return objectAt(this.#customPlace(key.slice(at, secondEnd), first, second), key, secondEnd + 1);
  }

  #builtinPlace(resource: FedResource): FedPlace {
    let place = this.#builtin.get(resource);
    if (!place) this.#builtin.set(resource, (place = { ...resource, isWanted: this.#wants(resource) }));
    return place;
  }

  #customPlace(id: string, group: string, resource: string): FedPlace {
    let place = this.#custom.get(id);
    if (!place) {
      if (this.#custom.size >= customPlacesMax) this.#custom.clear();
      place = { group, resource, isWanted: this.#wants({ group, resource }) };
      this.#custom.set(id, place);
    }
    return place;
  }
}

const dot = 0x2e;

function objectAt(place: FedPlace, key: string, at: number): FedObject | undefined {
  if (!place.isWanted) return undefined;
  const slash = key.indexOf('/', at);
  const [namespace, name] = slash === -1 ? ['', key.slice(at)] : [key.slice(at, slash), key.slice(slash + 1)];
  return name === '' || name.includes('/') ? undefined : { place, namespace, name };
}

/** Reports whether the key is the tombstone of a base object. */
export const isHidden = (key: string, at: number): boolean =>
  key.startsWith(hiddenStart, at) && key.charCodeAt(at + hiddenStart.length) === slashCode;

const slashCode = 0x2f;
