/**
 * The objects of one resource, decoded once and kept up to date with the store, for consumers that need them with every request: policy,
 * webhooks, quotas. Nothing is read before the first use, and later uses are free.
 */

import type { KubeObject } from '@hangar/api';
import type { Entry } from '@hangar/store';
import { collectionPrefix } from '../control-plane.ts';
import type { ControlPlane } from '../control-plane.ts';
import { StoreFollower } from './store-follower.ts';
import { MadeOfTemplates, templateOf } from './template.ts';

export interface FollowedResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

export interface FollowedOptions {
  /**
   * The made value contains no uid, times or versions and is never changed: control planes that have the same object from the base share
   * it.
   */
  readonly isShared?: boolean;
}

/** Keyed by the function that makes it: the result is valid for every other control plane. */
const shared = new MadeOfTemplates();

export class Followed<T> {
  readonly #plane: ControlPlane;
  readonly #prefix: string;
  readonly #make: (object: KubeObject) => T;
  readonly #onChange: () => void;
  readonly #isShared: boolean;
  readonly #all = new Map<string, T>();
  readonly #resource;
  #follower: StoreFollower | undefined;
  #started: Promise<void> | undefined;
  #isReady = false;
  #isClosed = false;

  /** `make` may throw: then the object counts as absent. `onChange` is called after each change. */
  constructor(
    plane: ControlPlane,
    resource: FollowedResource,
    make: (object: KubeObject) => T,
    onChange: () => void = () => {},
    { isShared = false }: FollowedOptions = {},
  ) {
    this.#resource = plane.catalogue.find(resource)!;
    // The plane that holds its objects: some are converted when read from the store.
    this.#plane = this.#resource.plane ?? plane;
    this.#prefix = collectionPrefix(plane, this.#resource, '');
    this.#make = make;
    this.#onChange = onChange;
    this.#isShared = isShared;
  }

  /**
   * Keyed by `name`, or by `namespace/name`. Undefined before the first read: then use `ready`. Possibly slightly behind acknowledged
   * writes, as the caches of kube-apiserver are.
   */
  get all(): ReadonlyMap<string, T> | undefined {
    return this.#isReady ? this.#all : undefined;
  }

  /** Rejects if the store cannot be read; the next call retries. */
  async ready(): Promise<ReadonlyMap<string, T>> {
    if (this.#isReady) return this.#all;
    this.#started ??= this.#start();
    await this.#started;
    return this.#all;
  }

  /** Like `ready`, including all writes acknowledged before the call. */
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
      put: (entry) => {
        try {
          const { name, made } = this.#made(entry);
          this.#all.set(name, made);
        } catch {
          this.#all.delete(this.#nameOf(entry.key));
        }
        if (this.#isReady) this.#onChange();
      },
      delete: (key) => {
        if (this.#all.delete(this.#nameOf(key)) && this.#isReady) this.#onChange();
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

  /** The name is shared as well. */
  #made(entry: Entry): { readonly name: string; readonly made: T } {
    const make = () => ({
      name: this.#nameOf(entry.key),
      made: this.#make(this.#resource.stored.object(entry)),
    });
    const template = this.#isShared ? templateOf(entry.value) : undefined;
    return template ? shared.get(template, this.#make, make) : make();
  }

  #nameOf(key: string): string {
    return key.slice(this.#prefix.length);
  }
}
