/**
 * The objects of one kind in one cluster and the handlers of their changes. An object is in the store before its event is delivered.
 *
 *     put(v1)             onAdd(v1)
 *     put(v2)             onUpdate(v1, v2)
 *     put(v1 of another)  onDelete(v2), onAdd(v1): the object was deleted and recreated with the same name
 *     remove(v2)          onDelete(v2)
 */

import type { ApiObject, ObjectKey } from '@hangar/client';
import type { Logger } from '@hangar/core';
import type { EventHandler } from './contract.ts';
import type { Indexes } from './indexes.ts';
import { ObjectStore } from './object-store.ts';
import { HandlerRegistration } from './registration.ts';
import { sameJson } from '../json/same-json.ts';
import type { Turns } from './turns.ts';

export interface ReplicaOptions<T extends ApiObject> {
  readonly indexes: Indexes<T>;
  readonly turns: Turns;
  readonly log: Logger | undefined;
}

export class Replica<T extends ApiObject> {
  readonly store: ObjectStore<T>;
  readonly #turns: Turns;
  readonly #log: Logger | undefined;
  /** Copied on write: a running delivery iterates over the array that it started with. */
  #registrations: readonly HandlerRegistration<T>[] = [];

  constructor({ indexes, turns, log }: ReplicaOptions<T>) {
    this.store = new ObjectStore(indexes);
    this.#turns = turns;
    this.#log = log;
  }

  get hasHandlers(): boolean {
    return this.#registrations.length > 0;
  }

  /** Returns the stored object. If nothing changed, that is the previous object, and no event is delivered. */
  put(object: T, isInitial: boolean): T {
    const { metadata } = object;
    const before = this.store.get(metadata.namespace, metadata.name!);
    if (before === undefined) {
      this.store.put(object);
      this.#tell(undefined, object, isInitial);
      return object;
    }
    if (before.metadata.uid !== metadata.uid) {
      this.store.delete(metadata.namespace, metadata.name!);
      this.#tell(before, undefined, false);
      this.store.put(object);
      this.#tell(undefined, object, false);
      return object;
    }
    // A server that was restored from a backup can reuse a version for other content: compare the content too.
    if (before.metadata.resourceVersion === metadata.resourceVersion && sameJson(before, object)) return before;
    this.store.put(object);
    this.#tell(before, object, false);
    return object;
  }

  /** `last`: the last known state; absent: the object in the store. */
  remove({ namespace, name }: ObjectKey, last?: T): void {
    const before = this.store.delete(namespace, name);
    if (before !== undefined) this.#tell(last ?? before, undefined, false);
  }

  addHandler(handler: EventHandler<T>, isInformerSynced: boolean, onRemoved?: () => void): HandlerRegistration<T> {
    const registration = new HandlerRegistration<T>({
      handler,
      objects: [...this.store.all()],
      isInformerSynced,
      log: this.#log,
      onRemoved: () => {
        this.#registrations = this.#registrations.filter((one) => one !== registration);
        onRemoved?.();
      },
    });
    this.#registrations = [...this.#registrations, registration];
    if (registration.isReplaying) this.#turns.add(registration);
    return registration;
  }

  informerSynced(): void {
    for (const registration of this.#registrations) registration.informerSynced();
  }

  ended(error: Error): void {
    for (const registration of this.#registrations) registration.end(error);
  }

  #tell(before: T | undefined, after: T | undefined, isInitial: boolean): void {
    for (const registration of this.#registrations) registration.tell(before, after, isInitial);
  }
}
