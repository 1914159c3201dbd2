/** Clients that write through the address of the tenant, or directly to the dedicated API server, and remember what was acknowledged. */

import { chance, sleep } from '@hangar/core';
import type { Random } from '@hangar/core';
import type { Scheduler } from '@hangar/core/simulation';
import type { DedicatedModel } from './dedicated-model.ts';
import type { TenantModel } from './tenant-model.ts';
import type { Trace } from './trace.ts';

export interface KeyHistory {
  /** Revision of the last acknowledged write; undefined if the last write has no known result. */
  last: { readonly revision: number; readonly value: string } | undefined;
  writes: number;
  isCertain: boolean;
}

/** The server answers 503 to requests that have waited for so long. */
const waitMsMax = 10_000;
const waitStepMs = 40;

export class Clients {
  readonly #scheduler: Scheduler;
  readonly #random: Random;
  readonly #tenant: TenantModel;
  readonly #dedicated: DedicatedModel;
  readonly #trace: Trace;
  readonly keys = new Map<string, KeyHistory>();
  acknowledged = 0;
  /** Since the last reset. */
  failures = 0;
  longestMs = 0;
  #highest = 0;

  constructor(options: {
    readonly scheduler: Scheduler;
    readonly random: Random;
    readonly tenant: TenantModel;
    readonly dedicated: DedicatedModel;
    readonly trace: Trace;
  }) {
    this.#scheduler = options.scheduler;
    this.#random = options.random;
    this.#tenant = options.tenant;
    this.#dedicated = options.dedicated;
    this.#trace = options.trace;
  }

  start(count: number, { idleMs, signal }: { readonly idleMs: number; readonly signal: AbortSignal }): void {
    for (let index = 0; index < count; index++) void this.#run(`c${index}`, index === 0, idleMs, signal);
  }

  async #run(name: string, isDirect: boolean, idleMs: number, signal: AbortSignal): Promise<void> {
    for (let number = 0; !signal.aborted; number++) {
      const isUpdate = number > 0 && chance(this.#random, 0.4);
      const key = `${name}-${isUpdate ? number - 1 : number}`;
      if (isUpdate) number--;
      const direct = isDirect && this.#dedicated.isAvailable;
      await this.#write(key, `${name}/${this.#scheduler.monotonicMs().toFixed(3)}`, direct);
      await sleep(this.#scheduler, this.#random.fraction() * idleMs, signal).catch(() => undefined);
    }
  }

  async #write(key: string, value: string, isDirect: boolean): Promise<void> {
    const history = this.keys.get(key) ?? { last: undefined, writes: 0, isCertain: true };
    this.keys.set(key, history);
    const [startedMs, before] = [this.#scheduler.monotonicMs(), this.#highest];
    const revision = isDirect ? await this.#toDedicated(key, value) : await this.#toTenant(key, value);
    if (revision === undefined) {
      // Refused before anything was written.
      if (!isDirect) this.failures++;
      return;
    }
    this.longestMs = Math.max(this.longestMs, this.#scheduler.monotonicMs() - startedMs);
    history.writes++;
    history.last = { revision, value };
    this.acknowledged++;
    this.#highest = Math.max(this.#highest, revision);
    if (revision <= before)
      this.#trace.fail('growing', `"${key}" has revision ${revision}, an earlier write ${before}`);
  }

  /** The commit is conditional on the identity of the tenant; a request that finds another one is processed again. */
  async #toTenant(key: string, value: string): Promise<number | undefined> {
    const untilMs = this.#scheduler.monotonicMs() + waitMsMax;
    const tenant = this.#tenant;
    while (this.#scheduler.monotonicMs() < untilMs) {
      if (tenant.heldBy !== undefined) {
        await sleep(this.#scheduler, this.#random.fraction() * waitStepMs);
        continue;
      }
      const { identity } = tenant;
      if (tenant.serving === 'Remote') return this.#toDedicated(key, value);
      await sleep(this.#scheduler, this.#random.fraction() * 6);
      const revision = tenant.commit(identity, key, value);
      if (revision !== undefined) return revision;
    }
    return undefined;
  }

  /** A request that was passed on can reach etcd after the hold: only the fence refuses it. */
  async #toDedicated(key: string, value: string): Promise<number | undefined> {
    await sleep(this.#scheduler, this.#random.fraction() * 30);
    const revision = this.#dedicated.commit(key, value);
    await sleep(this.#scheduler, this.#random.fraction() * 6);
    return revision;
  }
}
