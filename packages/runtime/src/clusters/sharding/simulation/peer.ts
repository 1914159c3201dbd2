/** A peer of a simulated world: a process, its link, its coordinator, its work. */

import { seededRandom } from '@hangar/core';
import type { Random } from '@hangar/core';
import type { Scheduler } from '@hangar/core/simulation';
import { protocol } from '../protocol.ts';
import { ShardCoordinator } from '../shard-coordinator.ts';
import type { Checker } from './checker.ts';
import { Link } from './link.ts';
import type { ModelServer } from './model-server.ts';
import { PeerProcess } from './peer-process.ts';
import type { PeerClockOptions } from './peer-process.ts';
import type { PlantedBug } from './planted-bugs.ts';
import type { Profile } from './profile.ts';
import type { Trace } from './trace.ts';
import { Worker } from './worker.ts';

export interface PeerOptions {
  readonly name: string;
  readonly group: string;
  readonly world: Scheduler;
  readonly clock: PeerClockOptions;
  readonly server: ModelServer;
  readonly checker: Checker;
  readonly trace: Trace;
  readonly profile: Profile;
  readonly bug: PlantedBug;
  readonly clusters: readonly string[];
  readonly workload: Random;
  readonly links: Random;
  readonly onLapse: (process: PeerProcess) => void;
}

/** Well below the margin: only a server that checks tokens could reject a write with a longer latency. */
const wireMaxMs = 200;

export class Peer {
  readonly process: PeerProcess;
  readonly link: Link;
  readonly #options: PeerOptions;
  readonly #coordinator: ShardCoordinator;
  readonly #stop = new AbortController();
  isLeaving = false;

  constructor(options: PeerOptions) {
    const { name, group, world, clock, server, links, profile, bug, workload } = options;
    this.#options = options;
    this.process = new PeerProcess(name, world, clock);
    this.link = new Link({ world, server, process: this.process, random: links, quality: profile.quality });
    this.#coordinator = new ShardCoordinator(
      {
        client: bug.leases?.(this.link) ?? this.link,
        group,
        peer: name,
        clock: this.process.clock,
        random: seededRandom(workload.below(2 ** 32)),
      },
      { ...protocol, ...bug.protocol },
    );
  }

  start(): void {
    const { clusters, profile, world, checker, workload, bug, onLapse } = this.#options;
    for (const [i, cluster] of clusters.entries()) {
      const worker = new Worker({
        world,
        process: this.process,
        checker,
        random: workload,
        cluster,
        stepMaxMs: i === 0 ? profile.slowStepMaxMs : profile.stepMaxMs,
        idleMaxMs: profile.idleMaxMs,
        wireMaxMs,
        onLapse,
      });
      this.#coordinator.follow({ name: cluster }, bug.claim?.(worker) ?? worker);
    }
    void this.#coordinator.run(this.#stop.signal).then(() => {
      this.#options.trace.note(`${this.process.name} has left`);
      this.process.kill();
    });
  }

  /** Leaves gracefully. */
  leave(): void {
    this.isLeaving = true;
    this.process.enter(() => this.#stop.abort());
  }
}
