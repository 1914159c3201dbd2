/** The open forwarders of a machine, kept equal to the wanted ones. */

import { asError } from '@hangar/core';
import type { Clock, Timer } from '@hangar/core';
import { Forwarder } from './forwarder.ts';
import type { Backend } from './service-table.ts';

export interface WantedForwarder {
  readonly host: string;
  readonly port: number;
  /** Current backends; called for each connection. */
  readonly backends: () => readonly Backend[];
  /** Called once while the port cannot be opened, which is retried every second. */
  readonly onFailure: (note: string) => void;
}

/** Another process can release the port, and the address can be added to the machine later. */
const retryMs = 1_000;

export class Forwarders {
  readonly #clock: Clock;
  readonly #waitMs: number | undefined;
  readonly #open = new Map<string, Forwarder | 'opening' | 'failed'>();
  /** Keys of reported failures. */
  readonly #failed = new Set<string>();
  #wanted: ReadonlyMap<string, WantedForwarder> = new Map();
  #retry: Timer | undefined;
  #isClosed = false;

  /** `waitMs`: see `ForwarderOptions`. */
  constructor(clock: Clock, waitMs?: number) {
    this.#clock = clock;
    this.#waitMs = waitMs;
  }

  /** Opens and closes forwarders. The key of a forwarder identifies its address, its port and its backends. */
  sync(wanted: ReadonlyMap<string, WantedForwarder>): void {
    if (this.#isClosed) return;
    this.#wanted = wanted;
    for (const [key, forwarder] of this.#open) {
      if (wanted.has(key)) continue;
      this.#open.delete(key);
      this.#failed.delete(key);
      if (forwarder instanceof Forwarder) void forwarder.close();
    }
    for (const [key, one] of wanted) if (!this.#open.has(key)) void this.#listen(key, one);
  }

  #retryFailed(): void {
    this.#retry = undefined;
    for (const [key, forwarder] of this.#open) if (forwarder === 'failed') this.#open.delete(key);
    this.sync(this.#wanted);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#retry?.cancel();
    const open = [...this.#open.values()].filter((one) => one instanceof Forwarder);
    this.#open.clear();
    await Promise.all(open.map((forwarder) => forwarder.close()));
  }

  async #listen(key: string, { host, port, onFailure }: WantedForwarder): Promise<void> {
    this.#open.set(key, 'opening');
    try {
      const backends = () => this.#wanted.get(key)?.backends() ?? [];
      const forwarder = await Forwarder.listen({ host, port, backends, clock: this.#clock, waitMs: this.#waitMs });
      if (this.#open.get(key) !== 'opening') return void (await forwarder.close());
      this.#open.set(key, forwarder);
      this.#failed.delete(key);
    } catch (error) {
      if (this.#open.get(key) !== 'opening') return;
      this.#open.set(key, 'failed');
      this.#retry ??= this.#clock.after(retryMs, () => this.#retryFailed());
      if (this.#failed.has(key)) return;
      this.#failed.add(key);
      onFailure(`failed to listen on ${host}:${port}: ${asError(error).message}`);
    }
  }
}
