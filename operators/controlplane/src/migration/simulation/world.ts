/**
 * One simulated world: a ControlPlane that users move between modes, operators that crash and overlap, slow and broken links, and clients that
 * write all the time. Then the faults end, and everything must converge.
 */

import { chance, pick, seededRandom, sleep } from '@hangar/core';
import type { Random } from '@hangar/core';
import { Scheduler } from '@hangar/core/simulation';
import type { ControlPlaneMode } from '../../api/index.ts';
import { Clients } from './clients.ts';
import { DedicatedModel } from './dedicated-model.ts';
import { goodLink } from './link.ts';
import type { LinkQuality, Peer } from './link.ts';
import { OperatorProcess } from './operator-process.ts';
import type { PlantedBug } from './planted-bugs.ts';
import { pauseMsMax, RecordStore } from './record-store.ts';
import { TenantModel } from './tenant-model.ts';
import { Trace } from './trace.ts';

const calmMsMax = 30 * 60_000;
const checkEveryMs = 1_000;

const faults = [
  'mode',
  'mode',
  'mode',
  'mode-in-switch',
  'crash',
  'crash-in-switch',
  'overlap',
  'cut',
  'compact',
  'unavailable',
] as const;
const crowdedFaults = ['mode', 'mode', 'mode-in-switch', 'wait', 'cut', 'unavailable'] as const;

/** Requests may wait for the pause, and for the passes that undo it. */
const holdMsMax = pauseMsMax + 5_000;

export class World {
  readonly scheduler: Scheduler;
  readonly trace: Trace;
  readonly records = new RecordStore();
  readonly tenant: TenantModel;
  readonly dedicated: DedicatedModel;
  readonly clients: Clients;
  /** Migrations that switched and are complete. */
  switches = 0;
  readonly #random: Random;
  readonly #bug: PlantedBug;
  readonly #operators: OperatorProcess[] = [];
  readonly #quality: LinkQuality;
  /** Two operators work all the time. */
  readonly #isCrowded: boolean;
  #started = 0;
  #isCalm = false;

  constructor(seed: number, bug: PlantedBug) {
    this.#random = seededRandom(seed);
    this.#bug = bug;
    this.scheduler = new Scheduler(seededRandom(seed * 2 + 1));
    this.trace = new Trace(this.scheduler);
    const check = (): void => this.#checkExclusive();
    this.tenant = new TenantModel(check);
    this.dedicated = new DedicatedModel(check);
    const { scheduler, tenant, dedicated, trace } = this;
    this.clients = new Clients({ scheduler, random: seededRandom(seed * 3 + 1), tenant, dedicated, trace });
    const random = this.#random;
    this.#isCrowded = chance(random, 0.3);
    this.#quality = this.#isCrowded
      ? { latencyMaxMs: 20, slowRate: pick(random, [0.05, 0.15, 0.4]), lossRate: 0, repeatRate: 0.2 }
      : {
          latencyMaxMs: pick(random, [5, 20, 200]),
          slowRate: pick(random, [0, 0.02, 0.1]),
          lossRate: pick(random, [0, 0.02, 0.1]),
          repeatRate: pick(random, [0, 0.05, 0.3]),
        };
    this.records.onWrite = ({ id, step, outcome, attempts, completedAt }) => {
      const end = completedAt === undefined ? '' : ' complete';
      if (completedAt !== undefined && outcome === 'Switched') this.switches++;
      trace.note(`record ${id}: ${step} ${outcome ?? '-'} attempt ${attempts}${end}`);
    };
  }

  async run(): Promise<void> {
    await this.scheduler.run(this.#run());
  }

  async #run(): Promise<void> {
    const stop = new AbortController();
    const random = this.#random;
    this.clients.start(3, { idleMs: pick(random, [500, 2_000]), signal: stop.signal });
    void this.#otherTenants(stop.signal);
    this.#start();
    if (this.#isCrowded) this.#start();
    void this.#checkHolds(stop.signal);
    const turns = 3 + random.below(8);
    for (let turn = 0; turn < turns && !this.trace.violation; turn++) {
      await this.#fault();
      await sleep(this.scheduler, random.fraction() * pick(random, [3_000, 20_000, 90_000]));
    }
    await this.#converge();
    stop.abort();
    for (const operator of this.#operators) operator.kill();
    // Requests in progress.
    await sleep(this.scheduler, 12_000);
    this.#checkKept();
  }

  async #otherTenants(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.tenant.hostRevision += this.#random.below(20);
      await sleep(this.scheduler, 100 + this.#random.fraction() * 2_000);
    }
  }

  #start(): OperatorProcess {
    const { scheduler, records, tenant, dedicated, trace } = this;
    const name = `operator-${++this.#started}`;
    const operator = new OperatorProcess({
      name,
      scheduler,
      random: seededRandom(this.#random.below(2 ** 31)),
      quality: this.#isCalm ? goodLink : this.#quality,
      skewMs: (this.#random.fraction() - 0.5) * 1_600,
      records,
      tenant,
      dedicated,
      trace,
      bug: this.#bug,
    });
    trace.note(`${name} starts`);
    this.#operators.push(operator);
    return operator;
  }

  get #alive(): OperatorProcess[] {
    return this.#operators.filter(({ isAlive }) => isAlive);
  }

  async #fault(): Promise<void> {
    const random = this.#random;
    const kind = pick(random, this.#isCrowded ? crowdedFaults : faults);
    this.trace.note(`fault: ${kind}`);
    switch (kind) {
      case 'wait':
        return sleep(this.scheduler, 60_000);
      case 'mode':
        return this.#want(this.records.plane.wanted === 'Virtual' ? 'Dedicated' : 'Virtual');
      case 'mode-in-switch':
        await this.#attemptStarted();
        await sleep(this.scheduler, random.fraction() * pick(random, [100, 600]));
        return this.#want(this.records.plane.wanted === 'Virtual' ? 'Dedicated' : 'Virtual');
      case 'crash':
        for (const operator of this.#alive) operator.kill();
        this.#start();
        return;
      case 'crash-in-switch':
        return this.#crashInSwitch();
      case 'overlap': {
        const former = this.#alive;
        this.#start();
        this.scheduler.after(random.fraction() * 30_000, () => former.forEach((one) => one.resign()));
        return;
      }
      case 'cut': {
        const peer = pick<Peer>(random, ['records', 'tenant', 'dedicated']);
        const { link } = pick(random, this.#alive);
        link.cut.add(peer);
        this.scheduler.after(random.fraction() * 20_000, () => link.cut.delete(peer));
        return;
      }
      case 'compact':
        this.tenant.store.compact();
        this.dedicated.store.compact();
        return;
      case 'unavailable': {
        const { uid } = this.dedicated;
        if (!this.dedicated.isAvailable) return;
        this.dedicated.isAvailable = false;
        this.scheduler.after(random.fraction() * 10_000, () => {
          this.dedicated.isAvailable = this.dedicated.isThere && this.dedicated.uid === uid;
        });
      }
    }
  }

  #want(mode: ControlPlaneMode): void {
    this.trace.note(`wanted: ${mode}`);
    this.records.want(mode);
  }

  /** Ends all operators at a random instant of the next attempt to switch. */
  async #crashInSwitch(): Promise<void> {
    await this.#attemptStarted();
    await sleep(this.scheduler, this.#random.fraction() * pick(this.#random, [20, 150, 3_500]));
    for (const operator of this.#alive) operator.kill();
    await sleep(this.scheduler, this.#random.fraction() * pick(this.#random, [10, 8_000]));
    this.#start();
  }

  /** Ends all faults, and waits until the wanted mode serves. */
  async #converge(): Promise<void> {
    this.trace.note('faults end');
    for (const { link } of this.#alive) {
      link.quality = goodLink;
      link.cut.clear();
    }
    await sleep(this.scheduler, 20_000);
    this.#isCalm = true;
    if (chance(this.#random, 0.5)) this.#want(this.records.plane.wanted === 'Virtual' ? 'Dedicated' : 'Virtual');
    if (chance(this.#random, 0.3)) void this.#cutDuringAttempt();
    for (let waitedMs = 0; !this.#isSettled(); waitedMs += checkEveryMs) {
      if (waitedMs >= calmMsMax || this.trace.violation) return this.#failLive();
      await sleep(this.scheduler, checkEveryMs);
    }
    // Requests that started during the migration may have waited.
    await sleep(this.scheduler, 12_000);
    this.clients.failures = 0;
    const { acknowledged } = this.clients;
    await sleep(this.scheduler, 20_000);
    if (this.clients.failures > 0 || this.clients.acknowledged === acknowledged) {
      this.trace.fail('live', `${this.clients.failures} requests failed after the migration`);
    }
  }

  /** The dedicated side stops answering in the middle of an attempt. */
  async #cutDuringAttempt(): Promise<void> {
    await this.#attemptStarted();
    await sleep(this.scheduler, this.#random.fraction() * 100);
    this.trace.note('the dedicated side does not answer');
    for (const { link } of this.#alive) link.cut.add('dedicated');
    await sleep(this.scheduler, 40_000);
    for (const { link } of this.#alive) link.cut.delete('dedicated');
  }

  async #attemptStarted(): Promise<void> {
    for (let waited = 0; waited < 600 && this.records.plane.record?.attemptStartedAt === undefined; waited++) {
      await sleep(this.scheduler, 50);
    }
  }

  /** After the faults, the requests of a tenant that serves its own data never wait long, also if the other side does not answer. */
  async #checkHolds(signal: AbortSignal): Promise<void> {
    let sinceMs: number | undefined;
    while (!signal.aborted) {
      const { tenant, records } = this;
      const isWaiting = tenant.heldBy !== undefined && tenant.serving === 'Local' && records.serving === 'Virtual';
      const nowMs = this.scheduler.monotonicMs();
      sinceMs = this.#isCalm && isWaiting ? (sinceMs ?? nowMs) : undefined;
      if (sinceMs !== undefined && nowMs - sinceMs > holdMsMax) this.trace.fail('live', 'requests wait too long');
      await sleep(this.scheduler, 250);
    }
  }

  #isSettled(): boolean {
    const { records, tenant, dedicated } = this;
    const { record, wanted } = records.plane;
    if (records.serving !== wanted || (record && record.completedAt === undefined)) return false;
    const isServed = wanted === 'Virtual' ? tenant.isWritable : tenant.serving === 'Remote' && dedicated.isWritable;
    return isServed && tenant.heldBy === undefined;
  }

  #failLive(): void {
    const { record, wanted } = this.records.plane;
    const { serving, heldBy } = this.tenant;
    this.trace.fail(
      'live',
      `wanted ${wanted}, ${JSON.stringify({ record, serving, heldBy, dedicated: this.dedicated.state() })}`,
    );
  }

  #checkExclusive(): void {
    if (this.tenant.isWritable && this.dedicated.isWritable) this.trace.fail('exclusive', 'both sides are writable');
  }

  #checkKept(): void {
    const store = this.records.serving === 'Virtual' ? this.tenant.store : this.dedicated.store;
    for (const [key, { last, writes }] of this.clients.keys) {
      const entry = store.entries.get(key);
      if (!last) {
        if (entry) this.trace.fail('kept', `"${key}" was never acknowledged, and exists`);
        continue;
      }
      const value = entry && Buffer.from(entry.value).toString();
      const isSame = value === last.value && entry?.modRevision === last.revision && entry.version === writes;
      if (!isSame) {
        const there = entry ? `${value} at ${entry.modRevision}, version ${entry.version}` : 'absent';
        this.trace.fail('kept', `"${key}" is ${there}, not ${last.value} at ${last.revision}, version ${writes}`);
      }
    }
  }
}
