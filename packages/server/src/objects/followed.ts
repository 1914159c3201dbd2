/**
 * The objects of one resource, decoded once and kept as the store has them, for those who need them with every request:
 * policy, webhooks, quotas. Nothing is read before somebody asks, and asking again costs nothing.
 */

import type { KubeObject } from '@hangar/api';
import { collectionPrefix } from '../control-plane.ts';
import type { ControlPlane } from '../control-plane.ts';
import { StoreFollower } from './store-follower.ts';

export interface FollowedResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

export class Followed<T> {
  readonly #plane: ControlPlane;
  readonly #prefix: string;
  readonly #make: (object: KubeObject) => T;
  readonly #onChange: () => void;
  readonly #all = new Map<string, T>();
  readonly #resource;
  #follower: StoreFollower | undefined;
  #started: Promise<void> | undefined;
  #isReady = false;
  #isClosed = false;

  /** `make` may throw: then the object, which others wrote, counts as absent. `onChange` is told after each change. */
  constructor(
    plane: ControlPlane,
    resource: FollowedResource,
    make: (object: KubeObject) => T,
    onChange: () => void = () => {},
  ) {
    this.#resource = plane.catalogue.find(resource)!;
    // Where its objects are: some are converted on their way from the store.
    this.#plane = this.#resource.plane ?? plane;
    this.#prefix = collectionPrefix(plane, this.#resource, '');
    this.#make = make;
    this.#onChange = onChange;
  }

  /**
   * By `name`, or by `namespace/name`. Undefined when it was not read yet: then `ready` gives it. Possibly a moment behind
   * what was acknowledged, as the caches of kube-apiserver are.
   */
  get all(): ReadonlyMap<string, T> | undefined {
    return this.#isReady ? this.#all : undefined;
  }

  /** Rejects when the store cannot be read; the next call tries again. */
  async ready(): Promise<ReadonlyMap<string, T>> {
    if (this.#isReady) return this.#all;
    this.#started ??= this.#start();
    await this.#started;
    return this.#all;
  }

  /** Like `ready`, with everything in it that was acknowledged before the call. */
  async fresh(): Promise<ReadonlyMap<string, T>> {
    const revision = await this.#plane.store.revision();
    await this.ready();
    await this.#follower?.reached(revision);
    return this.#all;
  }

  close(): void {
    this.#isClosed = true;
    this.#follower?.close();
  }

  async #start(): Promise<void> {
    const follower = new StoreFollower(this.#plane, this.#prefix, {
      put: ({ key, ...entry }) => {
        const name = key.slice(this.#prefix.length);
        try {
          this.#all.set(name, this.#make(this.#resource.stored.object({ key, ...entry })));
        } catch {
          this.#all.delete(name);
        }
        if (this.#isReady) this.#onChange();
      },
      delete: (key) => {
        if (this.#all.delete(key.slice(this.#prefix.length)) && this.#isReady) this.#onChange();
      },
      retain: (keys) => {
        const before = this.#all.size;
        for (const name of this.#all.keys()) if (!keys.has(`${this.#prefix}${name}`)) this.#all.delete(name);
        if (this.#isReady && this.#all.size < before) this.#onChange();
      },
    });
    try {
      await follower.start();
    } catch (error) {
      this.#started = undefined;
      throw error;
    }
    this.#follower = follower;
    if (this.#isClosed) follower.close();
    this.#isReady = true;
    this.#onChange();
  }
}
