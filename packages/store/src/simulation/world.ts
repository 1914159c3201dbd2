/**
 * One seed, one world: virtual time, a disk that fails, a store with several lives, and its clients. A life ends with a power loss or a
 * kill at some moment or in the middle of a disk call, or with a close; the last one ends when all work has completed, so that everything
 * still missing then is lost.
 */

import { asError, chance, pick, seededRandom, sleep } from '@hangar/core';
import type { Random } from '@hangar/core';
import { Scheduler, VirtualDisk } from '@hangar/core/simulation';
import type { Store } from '../contract.ts';
import { openMemoryStore } from '../drivers/memory/memory-store.ts';
import { StoreError } from '../errors.ts';
import { everything } from '../keys.ts';
import type { RawState } from './checks/check-end.ts';
import { leaseTtlsMs } from './clients/lease-user.ts';
import type { Drain } from './clients/watcher.ts';
import { disturbDisk } from './disturbance.ts';
import type { PlantedBug } from './planted-bugs.ts';
import { newMemories, populate } from './population.ts';
import type { Memories, Population } from './population.ts';
import { Process } from './process.ts';
import { drawProfile } from './profile.ts';
import type { Profile } from './profile.ts';
import { Recorder } from './recorder.ts';
import type { Life } from './records.ts';
import { stoppedWhenRunningAway } from './runaway.ts';
import { Session } from './session.ts';
import { makeUniverses } from './universe.ts';
import type { Universe } from './universe.ts';

/** In virtual time: far more than anything in a healthy world takes. */
const patienceMs = 120_000;
/** A failed start is repeated, eventually with a working disk: otherwise nothing would ever happen. */
const failedStartsMax = 3;

export class World {
  readonly profile: Profile;
  readonly universes: readonly Universe[];
  readonly recorder: Recorder;
  /** The store's raw keys at the end, below every view. */
  raw: RawState | undefined;
  readonly #scheduler: Scheduler;
  readonly #disk: VirtualDisk;
  readonly #bug: PlantedBug;
  readonly #workload: Random;
  readonly #faults: Random;
  readonly #ofStore: Random;
  readonly #ofBug: Random;
  readonly #memories: Memories;

  constructor(seed: number, bug: PlantedBug) {
    // Separate streams: a change in the clients must not change the faults of the disk.
    const stream = (number: number) => seededRandom(seed * 8 + number);
    this.#scheduler = new Scheduler(stream(0));
    this.#disk = new VirtualDisk({ clock: this.#scheduler, random: stream(1), latencyMaxMs: 0 });
    this.profile = drawProfile(stream(2));
    this.#workload = stream(3);
    this.#faults = stream(4);
    this.#ofStore = stream(5);
    this.#ofBug = stream(6);
    this.#bug = bug;
    this.recorder = new Recorder(this.#scheduler);
    this.universes = makeUniverses(this.profile);
    this.#memories = newMemories(this.universes, this.profile.watchers);
  }

  /** Rejects only on an error of the simulation itself. Errors of the store are found in the records. */
  run(): Promise<void> {
    return this.#scheduler.run(this.#liveOn());
  }

  async #liveOn(): Promise<void> {
    for (let left = this.profile.lives; left > 0 && !this.recorder.findings.earliest;) {
      if (await this.#live({ last: left === 1 })) left--;
    }
  }

  /** Returns false if the process did not start. */
  async #live({ last }: { last: boolean }): Promise<boolean> {
    const { profile, recorder } = this;
    const life = this.#beginLife();
    const process = this.#startProcess(life);
    const graceful = chance(this.#faults, 0.2);
    if (!last && chance(this.#faults, 0.15)) process.diskBreaksAtCall = 1 + this.#faults.below(80);
    if (!last && !graceful && chance(this.#faults, 0.6)) {
      // Often so early that recovery itself is interrupted, or that recovered data was never synced.
      process.dieAtCall = 1 + this.#faults.below(pick(this.#faults, [12, 80]));
    }
    const store = await Promise.race([this.#open(process), process.died]);
    if (!store) {
      await this.#crash(process);
      return false;
    }
    const sessions = this.universes.map((universe) => {
      return new Session({ universe, view: this.#view(universe, store), process, recorder, life });
    });
    const drain: Drain = { to: undefined };
    const clients = populate({ sessions, memories: this.#memories, profile, random: this.#workload, drain });
    const disturbance = disturbDisk({ disk: this.#disk, process, profile, random: this.#faults, recorder });
    const lifetime = sleep(this.#scheduler, this.#faults.fraction() * profile.lifeMaxMs);
    await Promise.race([lifetime, process.died, clients.failed]);
    disturbance.stop();
    if (last) {
      process.diskErrorRate = 0;
      recorder.healedAtLine = recorder.note('the disk is well').line;
      await this.#comeToRest(store, { sessions, clients, drain });
    }
    if (last || (graceful && !process.dead)) await this.#close(store, sessions, clients);
    await this.#crash(process);
    return true;
  }

  #beginLife(): Life {
    const { recorder } = this;
    const number = recorder.lives.length;
    const life: Life = { number, began: recorder.note(`── life ${number} ──`), floor: recorder.known };
    recorder.lives.push(life);
    // A restart gives every lease its full time again.
    for (const lease of recorder.leases.values()) {
      lease.alive.push({ since: life.began, untilMs: life.began.ms + lease.ttlMs });
    }
    return life;
  }

  #startProcess(life: Life): Process {
    const { diskLatencyMaxMs, diskErrorRate, lives } = this.profile;
    return new Process({
      clock: this.#scheduler,
      disk: this.#disk,
      random: this.#faults,
      diskLatencyMaxMs,
      diskErrorRate: life.number > lives + failedStartsMax ? 0 : diskErrorRate,
    });
  }

  async #open(process: Process): Promise<Store | undefined> {
    const { profile, recorder } = this;
    const bug = this.#bug;
    try {
      const store = await openMemoryStore({
        clock: bug.clock?.(process.clock) ?? process.clock,
        random: this.#ofStore,
        disk: bug.disk?.(process.disk, this.#ofBug) ?? process.disk,
        history: profile.history,
        watchQueueLengthMax: profile.watchQueueLengthMax,
        journalBytesMin: profile.journalBytesMin,
        steps: profile.steps,
        ...(bug.openJournal && { openJournal: bug.openJournal }),
      });
      const seen = bug.store?.(store, { clock: process.clock, random: this.#ofBug }) ?? store;
      return stoppedWhenRunningAway(seen, process.clock, () => {
        const reason = 'a call is tried again and again without an end';
        recorder.fail('live', recorder.note(reason), reason);
      });
    } catch (error) {
      const { message, stack } = asError(error);
      const moment = recorder.note(`the store does not open: ${message}`);
      if (error instanceof StoreError && error.code === 'StorageDamaged') {
        recorder.fail('durable', moment, `a crash must not damage anything: ${message}`);
      } else if (!process.diskMayFail) {
        recorder.fail('recovering', moment, `the disk is well, but the store does not open: ${stack}`);
      }
      return undefined;
    }
  }

  #view(universe: Universe, store: Store): Store {
    const view = universe.view(store);
    return (view !== store && this.#bug.view?.(view, { store, root: universe.root })) || view;
  }

  /** Waits until every call is answered, writes succeed, every lease has expired, and every watch is complete. */
  async #comeToRest(
    store: Store,
    { sessions, clients, drain }: { sessions: readonly Session[]; clients: Population; drain: Drain },
  ): Promise<void> {
    const { recorder } = this;
    for (const session of sessions) session.stopping = true;
    await this.#inTime(clients.busy, 'a call was never answered');
    for (const session of sessions) {
      await session.commit('end', [{ type: 'put', key: session.universe.keys[0]!, paddingBytes: 0 }]);
    }
    await sleep(this.#scheduler, Math.max(...leaseTtlsMs) * 2);
    for (const lease of recorder.leases.values()) {
      const session = sessions.find(({ universe }) => universe === lease.universe)!;
      if (!(await session.renewLease('end', lease.id))) continue;
      recorder.fail('leased', recorder.note('end'), `lease ${lease.id} never ended`);
    }
    for (const session of sessions) await session.range('end', session.universe.all);
    await this.#inTime(clients.audited(recorder.known), 'an auditor never reached the end');
    drain.to = recorder.known;
    for (const session of sessions) for (const watch of session.watches) watch.requestProgress();
    await this.#inTime(clients.following, 'a watch never reached the end');
    const { entries, revision } = await store.range(everything, { keysOnly: true });
    this.raw = { keys: entries.map((entry) => entry.key), revision, moment: recorder.note('all is at rest') };
  }

  async #close(store: Store, sessions: readonly Session[], clients: Population): Promise<void> {
    const { recorder } = this;
    for (const session of sessions) Object.assign(session, { stopping: true, closing: true });
    recorder.note('the store is closed');
    const closed = store.close().catch((error: Error) => {
      recorder.fail('recovering', recorder.note('the store did not close'), String(error.stack));
    });
    await this.#inTime(closed, 'the store never closed');
    const everyone = Promise.all([clients.busy, clients.following, clients.auditing]);
    await this.#inTime(everyone, 'a client was left waiting when the store closed');
  }

  async #inTime(what: Promise<unknown>, otherwise: string): Promise<void> {
    const late = Symbol('late');
    const patience = new AbortController();
    const end = await Promise.race([
      what,
      sleep(this.#scheduler, patienceMs, patience.signal).then(
        () => late,
        () => {},
      ),
    ]);
    patience.abort();
    if (end === late) this.recorder.fail('live', this.recorder.note(otherwise), otherwise);
  }

  /**
   * The process is killed. When none of its calls is on the way to the disk, the page cache is lost too if the machine lost its power.
   * Otherwise the next process reads unsynced data, and must not treat it as durable.
   */
  async #crash(process: Process): Promise<void> {
    process.kill();
    await sleep(this.#scheduler, 1);
    this.#disk.readOnly = false;
    this.#disk.capacityBytes = Infinity;
    const powerCut = chance(this.#faults, 0.7);
    this.recorder.note(powerCut ? 'power cut' : 'the process is dead');
    if (powerCut) this.#disk.crash();
  }
}
