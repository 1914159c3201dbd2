/**
 * An event that happens at most once. Each waiter has its own promise and signal. A failure rejects only promises of waiters, so that no
 * rejection is unhandled.
 */

import { abortError } from '@hangar/core';

interface Waiter {
  resolve(): void;
  reject(error: Error): void;
}

export class Latch {
  #outcome: 'open' | Error | undefined;
  #waiters: Set<Waiter> | undefined;

  get isOpen(): boolean {
    return this.#outcome === 'open';
  }

  /** The first outcome wins. */
  open(): void {
    if (this.#outcome !== undefined) return;
    this.#outcome = 'open';
    for (const { resolve } of this.#taken()) resolve();
  }

  fail(error: Error): void {
    if (this.#outcome !== undefined) return;
    this.#outcome = error;
    for (const { reject } of this.#taken()) reject(error);
  }

  wait(signal?: AbortSignal): Promise<void> {
    if (this.#outcome === 'open') return Promise.resolve();
    if (this.#outcome !== undefined) return Promise.reject(this.#outcome);
    if (signal?.aborted) return Promise.reject(abortError(signal));
    return new Promise((resolve, reject) => {
      const left = (): void => {
        this.#waiters?.delete(waiter);
        signal?.removeEventListener('abort', onAbort);
      };
      const waiter: Waiter = {
        resolve: () => (left(), resolve()),
        reject: (error) => (left(), reject(error)),
      };
      const onAbort = (): void => waiter.reject(abortError(signal!));
      signal?.addEventListener('abort', onAbort, { once: true });
      (this.#waiters ??= new Set()).add(waiter);
    });
  }

  #taken(): readonly Waiter[] {
    const waiters = [...(this.#waiters ?? [])];
    this.#waiters = undefined;
    return waiters;
  }
}
