/** The control plane of an aggregated server: only its declared kinds, each with its storage. */

import type { Clock, Random } from '@hangar/core';
import type { Store } from '@hangar/store';
import { Admission } from '../admission/admission.ts';
import type { AdmissionPlugin } from '../admission/admission.ts';
import type { ControlPlane } from '../control-plane.ts';
import { servedDefinition } from '../definitions/served.ts';
import { ControlPlaneMetrics } from '../metrics/control-plane-metrics.ts';
import { CacheBudget } from '../objects/cache-budget.ts';
import { Collections } from '../objects/collections.ts';
import { Expiry } from '../objects/expiry.ts';
import { Catalogue } from '../resources/catalogue.ts';
import type { CustomServedResource } from '../resources/custom.ts';
import { isCreateOnly } from './kind.ts';
import type { Kind } from './kind.ts';
import { DeclaredResource } from './resource.ts';
import { StorageStore } from './storage-store.ts';

export interface LibraryPlaneOptions {
  readonly kinds: readonly Kind[];
  /** Store of kinds without a custom storage. */
  readonly store: Store;
  /** Prefix of every key: `/registry/notes.example.com`. */
  readonly prefix: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly admission?: readonly AdmissionPlugin[];
}

const cacheBytesMax = 64 * 1024 * 1024;

export function libraryPlane(options: LibraryPlaneOptions): ControlPlane {
  const { kinds, store, clock, random } = options;
  const absent = undefined as never;
  const metrics = new ControlPlaneMetrics(clock);
  const plane: ControlPlane = {
    name: 'aggregated',
    prefix: `${options.prefix.replace(/\/$/, '')}/`,
    store,
    clock,
    random,
    catalogue: new Catalogue({ hasBuiltin: false }),
    admission: new Admission(() => options.admission ?? [], { clock, metrics }),
    expiry: new Expiry(store, clock),
    collections: new Collections(store, new CacheBudget(cacheBytesMax), clock),
    // Only the kinds of a whole cluster use these.
    definitions: absent,
    policy: absent,
    outbound: absent,
    services: absent,
    nodes: absent,
    metrics,
  };
  for (const { definition, storage } of kinds) {
    const planeOf = (resource: CustomServedResource): ControlPlane | undefined =>
      storage && !isCreateOnly(storage) ? planeWithStorage(plane, storage, resource) : undefined;
    const served = servedDefinition(definition, (...all) => new DeclaredResource(storage, planeOf, ...all));
    plane.catalogue.put(served);
  }
  return plane;
}

type OwnStorage = Exclude<Kind['storage'], undefined | { onCreate: unknown }>;

/** Returns the plane with the storage in place of its store, for one resource. */
export function planeWithStorage(
  plane: ControlPlane,
  storage: OwnStorage,
  resource: CustomServedResource,
): ControlPlane {
  const store = new StorageStore({
    storage,
    prefix: `${plane.prefix}${resource.storagePrefix}/`,
    isNamespaced: resource.namespaced,
    stored: () => resource.stored,
  });
  return { ...plane, store, collections: new NoCollections(store, new CacheBudget(0), plane.clock) };
}

/** Custom storages are not cached here: every list reads them. */
class NoCollections extends Collections {
  override fresh(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  override peek(): undefined {
    return undefined;
  }
}
