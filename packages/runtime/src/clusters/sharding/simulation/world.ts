/**
 * One world for each seed: a server, peers that join, leave, stop, sleep, die and lose the connection, and their work. After the last fault
 * everything works again; then every cluster must soon have exactly one owner.
 */

import { pick, seededRandom, sleep } from '@hangar/core';
import type { Random } from '@hangar/core';
import { Scheduler } from '@hangar/core/simulation';
import { recordAnnotation, ringLeaseName } from '../leases.ts';
import { decodeRecord } from '../peer-record.ts';
import { defaultTimings } from '../timings.ts';
import { checkBalance } from './check-balance.ts';
import { Checker } from './checker.ts';
import { disturb } from './faults.ts';
import { group } from './group.ts';
import { ModelServer } from './model-server.ts';
import { Peer } from './peer.ts';
import type { PeerProcess } from './peer-process.ts';
import type { PlantedBug } from './planted-bugs.ts';
import { drawProfile } from './profile.ts';
import type { Profile } from './profile.ts';
import { Trace } from './trace.ts';

/** Time to declare dead, drain and notify, including request timeouts. */
const recoveryMs = defaultTimings.leaseMs + 12_000;

export class World {
  readonly profile: Profile;
  readonly scheduler: Scheduler;
  readonly server = new ModelServer();
  readonly trace: Trace;
  readonly checker: Checker;
  readonly peers: Peer[] = [];
  readonly faults: Random;
  readonly #workload: Random;
  readonly #links: Random;
  readonly #bug: PlantedBug;
  isHealed = false;
  /** By name. */
  lastDisturbed: string | undefined;
  #nextName = 0;

  constructor(seed: number, bug: PlantedBug) {
    const stream = (number: number): Random => seededRandom(seed * 8 + number);
    this.scheduler = new Scheduler(stream(0));
    this.profile = drawProfile(stream(1));
    this.faults = stream(2);
    this.#workload = stream(3);
    this.#links = stream(4);
    this.#bug = bug;
    this.trace = new Trace(this.scheduler);
    this.checker = new Checker(this.scheduler, this.trace);
    this.server.follow(this.#noteEnds());
  }

  run(): Promise<void> {
    return this.scheduler.run(this.#live());
  }

  get alive(): Peer[] {
    return this.peers.filter(({ process, isLeaving }) => !process.isDead && !isLeaving);
  }

  get clusters(): string[] {
    return Array.from({ length: this.profile.clusters }, (_, i) => `c-${i}`);
  }

  /** Starts a new process; without a name, under an unused one. */
  start(name = `x-${this.#nextName++}`): Peer {
    const { profile, faults, scheduler: world, checker, server, trace } = this;
    const skew = defaultTimings.clockSkewMax * 0.98;
    const clock = {
      // The skew of two clocks is the sum of their errors.
      rate: 1 + (faults.fraction() - 0.5) * skew,
      monotonicOffsetMs: faults.fraction() * 1e6,
      wallOffsetMs: (faults.fraction() - 0.5) * pick(faults, [0, 1_000, 3_600_000]),
    };
    const peer = new Peer({
      name,
      group,
      world,
      clock,
      server,
      checker,
      trace,
      profile,
      bug: this.#bug,
      clusters: this.clusters,
      workload: this.#workload,
      links: this.#links,
      onLapse: (process) => this.#onLapse(process),
    });
    this.peers.push(peer);
    trace.note(`${name} starts`);
    peer.start();
    return peer;
  }

  async #live(): Promise<void> {
    const { profile, faults, scheduler, trace, checker } = this;
    checkBalance(this.#bug, trace);
    for (let i = 0; i < profile.peers; i++) {
      this.start();
      await sleep(scheduler, faults.fraction() * 400);
    }
    await sleep(scheduler, 2_000);
    for (let left = profile.faults; left > 0 && !trace.violation; left--) {
      disturb(this);
      await sleep(scheduler, faults.fraction() * 2 * profile.everyMs);
    }
    if (trace.violation) return;
    this.#heal();
    await sleep(scheduler, recoveryMs);
    this.#expectLife();
    trace.note(`${checker.dispatches} dispatches, ${checker.writes} writes`);
  }

  #heal(): void {
    this.trace.note('── all is well again ──');
    this.isHealed = true;
    for (const { process, link } of this.peers) {
      link.isCut = false;
      link.slowness = 1;
      link.answersLateMs = 0;
      link.disturbed();
      if (process.isPaused) process.resume();
    }
    if (this.alive.length === 0) this.start();
  }

  #expectLife(): void {
    const { checker, trace, scheduler, profile } = this;
    const nowMs = scheduler.monotonicMs();
    const patienceMs = profile.idleMaxMs + 3 * Math.max(profile.stepMaxMs, profile.slowStepMaxMs) + 1_000;
    for (const cluster of this.clusters) {
      const owners = checker.owners(cluster).map(({ process }) => process.name);
      if (owners.length !== 1) trace.fail('live', `${cluster} is owned by ${owners.join(' and ') || 'nobody'}`);
      else if (nowMs - checker.lastDispatchMs(cluster) > patienceMs) trace.fail('live', `nobody works on ${cluster}`);
    }
  }

  /** Without recent faults, and with at most one failed request, a lapse is a violation. */
  #onLapse(process: PeerProcess): void {
    const { scheduler, trace } = this;
    trace.note(`${process.name} could not renew in time`);
    const { link } = this.peers.find((peer) => peer.process === process)!;
    const calmMs = scheduler.monotonicMs() - Math.max(process.lastDisturbedMs, link.lastDisturbedMs);
    if (process.isPaused || link.isDisturbed || calmMs < 12_000 || link.failuresInARow > 1) return;
    trace.fail('steady', `${process.name} gave up after ${link.failuresInARow} failures in a calm world`);
  }

  /** Records the lives that other peers declared dead, as the server sees them. */
  #noteEnds(): () => void {
    let version = this.server.version;
    const lives = new Map<string, string>();
    return () => {
      for (const { event, version: at } of this.server.changesSince(version)) {
        version = at;
        const { name: leaseName = '', annotations } = event.object.metadata;
        if (leaseName === ringLeaseName(group)) continue;
        const name = leaseName.split('.peer.')[1]!;
        const record = decodeRecord(annotations?.[recordAnnotation], name);
        const isTaken = record !== undefined && (lives.get(name) ?? record.id) !== record.id;
        const isDeclared = record?.endedBy !== undefined;
        if (record) lives.set(name, record.id);
        if (!isTaken && !isDeclared && event.type !== 'DELETED') continue;
        this.trace.note(`${name} is over: ${isTaken ? 'taken' : isDeclared ? 'declared dead' : 'deleted'}`);
        this.checker.ended(name);
      }
    };
  }
}
