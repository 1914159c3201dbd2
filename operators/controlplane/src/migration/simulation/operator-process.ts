/** A process of the operator: the driver of production behind a link, with the clock of its machine. */

import { Logger, sleep } from '@hangar/core';
import type { Clock, Random } from '@hangar/core';
import type { Scheduler } from '@hangar/core/simulation';
import { MigrationDriver } from '../driver.ts';
import type { Action } from '../protocol.ts';
import { startDelayMs, startedRecord } from '../record.ts';
import { Link } from './link.ts';
import type { LinkQuality } from './link.ts';
import type { PlantedBug } from './planted-bugs.ts';
import type { RecordStore } from './record-store.ts';
import { dedicatedSide, tenantSide } from './sides.ts';
import type { Trace } from './trace.ts';
import type { DedicatedModel } from './dedicated-model.ts';
import type { TenantModel } from './tenant-model.ts';

export interface OperatorProcessOptions {
  readonly name: string;
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly quality: LinkQuality;
  /** Difference of its wall clock. */
  readonly skewMs: number;
  readonly records: RecordStore;
  readonly tenant: TenantModel;
  readonly dedicated: DedicatedModel;
  readonly trace: Trace;
  readonly bug: PlantedBug;
}

const failurePauseMs = 300;
const idleMs = 500;

export class OperatorProcess {
  readonly name: string;
  readonly link: Link;
  readonly #options: OperatorProcessOptions;
  readonly #stop = new AbortController();
  readonly #driver: MigrationDriver;
  readonly #clock: Clock;
  #isLeader = true;

  constructor(options: OperatorProcessOptions) {
    this.#options = options;
    const { name, scheduler, random, quality, skewMs, records, tenant, dedicated, trace, bug } = options;
    this.name = name;
    const { timings } = bug;
    this.link = new Link(scheduler, random, { quality, effectMsMax: 8_000 });
    this.#clock = {
      now: () => scheduler.now() + skewMs,
      monotonicMs: () => scheduler.monotonicMs(),
      after: (delayMs, callback) => scheduler.after(delayMs, callback),
      soon: (callback) => scheduler.soon(callback),
    };
    const log = new Logger({ level: 'error', format: 'text', clock: this.#clock });
    this.#driver = new MigrationDriver({
      records: bug.records?.(records.through(this.link), records) ?? records.through(this.link),
      tenant: tenantSide(this.link, tenant, this.#clock),
      dedicated: dedicatedSide(this.link, dedicated, this.#clock),
      clock: this.#clock,
      log,
      timings,
      decide: (observed) => this.#traced(bug.decide(observed)),
    });
    void this.#run(trace);
  }

  get isAlive(): boolean {
    return this.#isLeader && !this.link.isDead;
  }

  /** Ends the process. Calls that it has sent can still take effect. */
  kill(): void {
    this.link.isDead = true;
    this.#stop.abort();
    void this.#driver.close();
  }

  /** Another process is the leader: this one ends its work. */
  resign(): void {
    this.#isLeader = false;
    this.#stop.abort();
    void this.#driver.close();
  }

  #traced(action: Action): Action {
    if (action.type !== 'Wait' && action.type !== 'Compare') this.#options.trace.note(`${this.name}: ${action.type}`);
    return action;
  }

  async #run(trace: Trace): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        const nextMs = (await this.#driver.pass(signal)) ?? (await this.#start(signal));
        await sleep(this.#clock, nextMs, signal);
      } catch (error) {
        if (signal.aborted) return;
        trace.note(`${this.name}: failed: ${(error as Error).message}`);
        await sleep(this.#clock, failurePauseMs, signal).catch(() => undefined);
      }
    }
  }

  /** Starts a migration, if another mode is wanted. */
  async #start(signal: AbortSignal): Promise<number> {
    const { records, random, bug } = this.#options;
    const { wanted, record, resourceVersion } = await this.link.call('records', signal, () => records.plane);
    const nowMs = this.#clock.now();
    const { serving } = records;
    const delayMs = startDelayMs({ wanted, serving, last: record }, nowMs);
    if (delayMs !== 0) return Math.min(delayMs ?? idleMs, idleMs);
    const id = `m${random.below(1_000_000)}`;
    const started = startedRecord({ id, from: serving }, nowMs, bug.timings);
    await this.link.call('records', signal, () => records.write(started, resourceVersion));
    return 0;
  }
}
