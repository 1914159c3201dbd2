/** View of a control plane for a resource with a conversion webhook: its values come from a store that converts them. */

import type { ControlPlane } from '../../control-plane.ts';
import { collectionPrefix } from '../../control-plane.ts';
import { CacheBudget } from '../../objects/cache-budget.ts';
import type { Collection } from '../../objects/collection.ts';
import { Collections } from '../../objects/collections.ts';
import type { Resource } from '../../resources/resource.ts';
import { ConvertingStore } from './converting-store.ts';
import type { StoredVersions } from './stored-versions.ts';

const noMemory = new CacheBudget(0);

/** The resource is not cached: the result of its webhook may change at any time. */
class OtherCollections extends Collections {
  readonly #all: Collections;
  readonly #except: string;

  constructor(plane: ControlPlane, except: string) {
    super(plane.store, noMemory, plane.clock);
    this.#all = plane.collections;
    this.#except = except;
  }

  override async fresh(prefix: string): Promise<Collection | undefined> {
    return prefix.startsWith(this.#except) ? undefined : this.#all.fresh(prefix);
  }

  override peek(prefix: string): Collection | undefined {
    return prefix.startsWith(this.#except) ? undefined : this.#all.peek(prefix);
  }

  override close(): void {}
}

export function convertingView(plane: ControlPlane, resource: Resource, versions: StoredVersions): ControlPlane {
  const prefix = collectionPrefix(plane, resource, '');
  return {
    ...plane,
    store: new ConvertingStore(plane.store, prefix, versions),
    collections: new OtherCollections(plane, prefix),
  };
}
