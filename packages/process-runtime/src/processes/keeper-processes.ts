/**
 * Runs the program of a container under the keeper of @hangar/programs. The supervisor renews a lease of each program. A supervisor that
 * restarts before the lease ends adopts the program; otherwise the keeper kills the whole process group.
 *
 *     supervisor ── lease ──► keeper ── starts, kills ──► program
 *         ▲                     └── report (a file) ◄────────┘ exit status
 *         └───────── stdout, stderr (named pipes) ◄──────────┘
 */

import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, readlinkSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { asError, settledWithin, sleep } from '@hangar/core';
import type { Clock, Timer } from '@hangar/core';
import { bootId, findExecutable, identityOf, isAlive, keeperScript, signalGroup } from '@hangar/programs';
import type { ProcessIdentity } from '@hangar/programs';
import { ProcessRuntimeError } from '../errors.ts';
import type { LogSink } from '../logs/log-file.ts';
import type { ContainerProcess, ContainerProcesses, ProcessEnd, ProcessSpec } from './contract.ts';
import { Lease, makePipes, openForKeeper, openOutput } from './pipes.ts';
import { readProcessRecord, readReport, writeProcessRecord } from './record.ts';

export interface KeeperProcessesOptions {
  readonly clock: Clock;
  /** Time in which a restarted supervisor can adopt a program. */
  readonly leaseMs: number;
}

/** Renewals per lease: a supervisor that is stopped for a moment does not lose its programs. */
const renewalsPerLease = 4;
const beginWithinMs = 20_000;
const outputWithinMs = 500;
const pollMs = 100;
const beginPollMs = 5;
/** As shells report SIGKILL. */
const killedStatus = 137;

export class KeeperProcesses implements ContainerProcesses {
  readonly #clock: Clock;
  readonly #leaseMs: number;
  readonly #bash: string;
  readonly #mkfifo: string;
  readonly #running = new Set<KeptProcess>();
  #timer: Timer | undefined;
  #isReleased = false;

  /** Throws `NotSupported`. */
  constructor({ clock, leaseMs }: KeeperProcessesOptions) {
    this.#clock = clock;
    this.#leaseMs = leaseMs;
    this.#bash = required('bash');
    this.#mkfifo = required('mkfifo');
  }

  async start(spec: ProcessSpec): Promise<ContainerProcess> {
    const { folder } = spec;
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await makePipes(this.#mkfifo, folder);
      const { child, identity } = await this.#spawn(spec);
      const startedAt = new Date(this.#clock.now());
      // The keeper waits for the first renewal: a program without a record is never started.
      writeProcessRecord(folder, { bootId: bootId(), keeper: identity, startedAt: startedAt.toISOString() });
      const process = this.#keep({ folder, identity, startedAt, log: spec.log, child });
      process.renew(this.#leaseMs);
      await process.begun(beginWithinMs, spec.root);
      return process;
    } catch (error) {
      if (error instanceof ProcessRuntimeError) throw error;
      const reason = asError(error).message;
      throw new ProcessRuntimeError('RunContainerError', `failed to start ${spec.executable}: ${reason}`, {
        cause: error,
      });
    }
  }

  async adopt(folder: string, log: LogSink): Promise<ContainerProcess | undefined> {
    const record = readProcessRecord(folder);
    if (!record) return undefined;
    const startedAt = new Date(record.startedAt);
    const isOfThisBoot = record.bootId === bootId();
    if (!isOfThisBoot || !isAlive(record.keeper)) {
      const { pid, status, isFenced } = readReport(folder);
      return { pid: pid ?? 0, startedAt, ended: Promise.resolve({ exitCode: status, isFenced }), signal: () => {} };
    }
    const process = this.#keep({ folder, identity: record.keeper, startedAt, log, child: undefined });
    process.renew(this.#leaseMs);
    await process.begun(beginWithinMs);
    return process;
  }

  async release(): Promise<void> {
    this.#isReleased = true;
    this.#timer?.cancel();
    await Promise.all(Array.from(this.#running, (process) => process.release()));
  }

  async #spawn(spec: ProcessSpec): Promise<{ child: ChildProcess; identity: ProcessIdentity }> {
    const descriptors = openForKeeper(spec.folder);
    try {
      const [stdout, stderr, lease, report] = descriptors;
      // With -p, variables of the container such as BASH_ENV do not change the keeper.
      const child = spawn(
        this.#bash,
        ['--noprofile', '--norc', '-p', keeperScript, spec.argv0, spec.executable, ...spec.arguments],
        { cwd: spec.cwd, env: spec.env, detached: true, stdio: ['ignore', stdout, stderr, lease, report] },
      );
      if (child.pid === undefined) await once(child, 'spawn');
      child.on('error', () => {});
      child.unref();
      const identity = identityOf(child.pid!);
      if (!identity) throw new Error('it was killed before it started');
      return { child, identity };
    } finally {
      for (const descriptor of descriptors) closeSync(descriptor);
    }
  }

  #keep(options: Omit<KeptOptions, 'clock'>): KeptProcess {
    const process = new KeptProcess({ ...options, clock: this.#clock });
    this.#running.add(process);
    void process.ended.then(() => this.#running.delete(process));
    this.#timer ??= this.#renewLater();
    return process;
  }

  #renewLater(): Timer {
    return this.#clock.after(this.#leaseMs / renewalsPerLease, () => {
      if (this.#isReleased) return;
      for (const process of this.#running) process.renew(this.#leaseMs);
      this.#timer = this.#running.size > 0 ? this.#renewLater() : undefined;
    });
  }
}

interface KeptOptions {
  readonly folder: string;
  readonly identity: ProcessIdentity;
  readonly startedAt: Date;
  readonly log: LogSink;
  /** Undefined for an adopted program, which is not a child of this process. */
  readonly child: ChildProcess | undefined;
  readonly clock: Clock;
}

class KeptProcess implements ContainerProcess {
  readonly #options: KeptOptions;
  readonly #lease: Lease;
  readonly #outputs: Socket[];
  readonly #released = Promise.withResolvers<void>();
  readonly ended: Promise<ProcessEnd>;
  #hasEnded = false;
  #isKilled = false;

  constructor(options: KeptOptions) {
    const { folder, log } = options;
    this.#options = options;
    this.#lease = new Lease(folder);
    this.#outputs = (['stdout', 'stderr'] as const).map((name) => {
      const socket = openOutput(folder, name);
      log.follow(name, socket);
      return socket;
    });
    this.ended = this.#end();
  }

  get pid(): number {
    return readReport(this.#options.folder).pid ?? 0;
  }

  get startedAt(): Date {
    return this.#options.startedAt;
  }

  renew(forMs: number): void {
    this.#lease.renew(forMs);
  }

  /** Resolves when the program has started in its root folder or has already exited. */
  async begun(withinMs: number, root?: string): Promise<void> {
    const { clock, folder } = this.#options;
    const untilMs = clock.monotonicMs() + withinMs;
    while (!this.#hasEnded && !isIn(root, readReport(folder).pid)) {
      if (clock.monotonicMs() > untilMs) {
        this.signal('SIGKILL');
        throw new ProcessRuntimeError('RunContainerError', `the program did not start within ${withinMs} ms`);
      }
      await sleep(clock, beginPollMs);
    }
  }

  signal(signal: NodeJS.Signals): void {
    const { identity } = this.#options;
    if (this.#hasEnded || !isAlive(identity)) return;
    this.#isKilled ||= signal === 'SIGKILL';
    signalGroup(identity.pid, signal);
  }

  async release(): Promise<void> {
    this.#released.resolve();
    this.#lease.close();
    for (const socket of this.#outputs) socket.destroy();
  }

  async #end(): Promise<ProcessEnd> {
    const { folder, clock, log } = this.#options;
    await this.#exited();
    this.#hasEnded = true;
    this.#lease.close();
    const closed = Promise.all(this.#outputs.map((socket) => (socket.destroyed ? undefined : once(socket, 'close'))));
    await settledWithin(clock, outputWithinMs, closed);
    for (const socket of this.#outputs) socket.destroy();
    await log.flush();
    const { status, isFenced } = readReport(folder);
    // SIGKILL ends the keeper, too, which then reports no status.
    return { exitCode: status ?? (this.#isKilled ? killedStatus : undefined), isFenced };
  }

  async #exited(): Promise<void> {
    const { child, clock, identity } = this.#options;
    let isReleased = false;
    void this.#released.promise.then(() => (isReleased = true));
    if (child) {
      if (child.exitCode === null && child.signalCode === null) {
        await new Promise<void>((resolve) => child.once('exit', () => resolve()));
      }
      return;
    }
    while (isAlive(identity) && !isReleased) await sleep(clock, pollMs);
    // A released program continues without this supervisor.
    if (isReleased) await new Promise(() => {});
  }
}

function isIn(root: string | undefined, pid: number | undefined): boolean {
  if (pid === undefined || root === undefined) return pid !== undefined;
  try {
    return readlinkSync(`/proc/${pid}/root`) === root;
  } catch {
    // It has exited, which is reported separately, or belongs to a user whose processes cannot be inspected.
    return identityOf(pid) !== undefined;
  }
}

function required(name: string): string {
  const found = findExecutable(name);
  if (found === undefined) {
    throw new ProcessRuntimeError('NotSupported', `the process runtime needs ${name}, which is not in PATH`);
  }
  return found;
}
