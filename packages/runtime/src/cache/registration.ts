/**
 * One handler of one replica. First it receives the existing objects, in turns with other handlers (turns.ts); changes are queued
 * meanwhile. Then it receives changes at once. For each object it sees an add, then updates, then a delete, and each version follows the
 * one before.
 */

import type { ApiObject } from '@hangar/client';
import { asError } from '@hangar/core';
import type { Logger } from '@hangar/core';
import { RuntimeError } from '../errors.ts';
import type { EventHandler, Registration } from './contract.ts';
import { Latch } from './latch.ts';

/** No `before`: added. No `after`: deleted. */
interface Told<T> {
  readonly before: T | undefined;
  readonly after: T | undefined;
  readonly isInitial: boolean;
}

export interface RegistrationOptions<T extends ApiObject> {
  readonly handler: EventHandler<T>;
  /** The initial objects. */
  readonly objects: readonly T[];
  readonly isInformerSynced: boolean;
  readonly log: Logger | undefined;
  readonly onRemoved: () => void;
}

export class HandlerRegistration<T extends ApiObject> implements Registration {
  readonly #handler: EventHandler<T>;
  readonly #log: Logger | undefined;
  readonly #onRemoved: () => void;
  readonly #synced = new Latch();
  /** Changes that are queued behind the initial objects. */
  #waiting: Told<T>[] | undefined;
  #objects: readonly T[] | undefined;
  #at = 0;
  #isInformerSynced: boolean;
  #isRemoved = false;

  constructor({ handler, objects, isInformerSynced, log, onRemoved }: RegistrationOptions<T>) {
    this.#handler = handler;
    this.#log = log;
    this.#onRemoved = onRemoved;
    this.#isInformerSynced = isInformerSynced;
    if (objects.length > 0) [this.#objects, this.#waiting] = [objects, []];
    else this.#openIfSynced();
  }

  get hasSynced(): boolean {
    return this.#synced.isOpen;
  }

  /** Reports whether events are still delivered in turns. */
  get isReplaying(): boolean {
    return this.#waiting !== undefined;
  }

  synced(signal?: AbortSignal): Promise<void> {
    return this.#synced.wait(signal);
  }

  remove(): void {
    if (this.#isRemoved) return;
    this.#isRemoved = true;
    this.#objects = this.#waiting = undefined;
    this.end(new RuntimeError('CacheNotSynced', 'the handler was removed'));
    this.#onRemoved();
  }

  /** Rejects the pending waiters. */
  end(error: Error): void {
    this.#synced.fail(error);
  }

  informerSynced(): void {
    this.#isInformerSynced = true;
    this.#openIfSynced();
  }

  tell(before: T | undefined, after: T | undefined, isInitial: boolean): void {
    if (this.#waiting) this.#waiting.push({ before, after, isInitial });
    else this.#call(before, after, isInitial);
  }

  /** Delivers the next event of the replay. */
  step(): boolean {
    if (!this.#waiting) return false;
    if (this.#objects) {
      const object = this.#objects[this.#at++]!;
      if (this.#at === this.#objects.length) [this.#objects, this.#at] = [undefined, 0];
      this.#call(undefined, object, true);
    } else if (this.#at < this.#waiting.length) {
      const { before, after, isInitial } = this.#waiting[this.#at++]!;
      this.#call(before, after, isInitial);
    }
    // The handler may have removed itself.
    if (!this.#waiting || this.#objects || this.#at < this.#waiting.length) return this.#waiting !== undefined;
    this.#waiting = undefined;
    this.#openIfSynced();
    return false;
  }

  #openIfSynced(): void {
    if (this.#isInformerSynced && !this.#waiting) this.#synced.open();
  }

  #call(before: T | undefined, after: T | undefined, isInitial: boolean): void {
    if (this.#isRemoved) return;
    const handler = this.#handler;
    try {
      let returned: unknown;
      if (after === undefined) returned = handler.onDelete?.(before!);
      else if (before === undefined) returned = handler.onAdd?.(after, isInitial);
      else returned = handler.onUpdate?.(before, after);
      // Async handlers are not awaited, but their rejections must not terminate the process.
      if (returned instanceof Promise) returned.catch((error: unknown) => this.#failed(after ?? before!, error));
    } catch (error) {
      this.#failed(after ?? before!, error);
    }
  }

  #failed({ kind, metadata: { namespace, name } }: T, error: unknown): void {
    this.#log?.error('event handler failed', { kind, namespace, name, error: asError(error) });
  }
}
