/** One container of a pod over all its runs: its process, its probes and its state for the status of the pod. */

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type {
  Container,
  ContainerState,
  ContainerStateTerminated,
  ContainerStatus,
  LifecycleHandler,
} from '@hangar/client/kinds/core-v1';
import { parseQuantity } from '@hangar/api/values';
import { asError, settledWithin, sleep } from '@hangar/core';
import type { Timer } from '@hangar/core';
import { residentBytes } from '@hangar/programs';
import { LogFile, makeLogFolder, removeLog } from '../logs/log-file.ts';
import { lastBytes, tailOf } from '../logs/tail.ts';
import { runProbe } from '../probes/probe.ts';
import type { ProbeTarget } from '../probes/probe.ts';
import { Prober } from '../probes/prober.ts';
import type { ContainerProcess, ProcessEnd } from '../processes/contract.ts';
import { mountsOf } from '../volumes/volumes.ts';
import { nextBackOff, remainingMs } from './back-off.ts';
import type { BackOffState } from './back-off.ts';
import type { ContainerRecord } from './pod-record.ts';
import { prepareContainer, rewriterFor, terminationFile } from './prepared-container.ts';
import type { ContainerSetting } from './prepared-container.ts';
import { runCommand, spawnCommand } from './run-command.ts';

export interface ContainerUnitOptions {
  /** Folder of the pod. */
  readonly podFolder: string;
  readonly logFolder: string;
  /** Current pod, volumes and place. */
  readonly setting: () => ContainerSetting;
  /** Called after each change of the state. */
  readonly onChange: () => void;
}

export interface StopOptions {
  readonly graceMs: number;
  /** Waiting message of an Event. Absent: `Stopping container <name>`. */
  readonly note?: string;
}

const memoryEveryMs = 2_000;
/** As in the kubelet: bytes of a termination message, and of one that is taken from the log. */
const messageBytesMax = 4_096;
const logMessageBytesMax = 2_048;

/** Changes when a container must be restarted. As in the kubelet, only its image can change. */
export const hashOf = ({ name, image }: Container): string =>
  createHash('sha256').update(JSON.stringify({ name, image })).digest('hex').slice(0, 16);

export class ContainerUnit {
  readonly name: string;
  readonly #options: ContainerUnitOptions;
  state: ContainerState = { waiting: { reason: 'ContainerCreating' } };
  restartCount = 0;
  /** Hash of the running spec. */
  hash = '';
  #last: ContainerStateTerminated | undefined;
  #imageId = '';
  #process: ContainerProcess | undefined;
  #prober: Prober | undefined;
  #memoryTimer: Timer | undefined;
  #backOff: BackOffState | undefined;
  #stopping: { kill: (graceMs: number) => void; done: Promise<void> } | undefined;
  #killReason: string | undefined;
  #hasRun = false;
  /** Resolves when the end of the current run is recorded. */
  #recorded: Promise<void> = Promise.resolve();

  constructor(name: string, options: ContainerUnitOptions) {
    this.name = name;
    this.#options = options;
  }

  get isRunning(): boolean {
    return this.#process !== undefined;
  }

  /** Of the running program. */
  get pid(): number | undefined {
    return this.#process?.pid;
  }

  get isStarted(): boolean {
    return this.isRunning && this.#prober?.isStarted === true;
  }

  get isReady(): boolean {
    return this.isRunning && this.#prober?.isReady === true;
  }

  get isStopping(): boolean {
    return this.#stopping !== undefined;
  }

  get hasRun(): boolean {
    return this.#hasRun;
  }

  /** The end of the current or the previous run. */
  get terminated(): ContainerStateTerminated | undefined {
    return this.state.terminated ?? (this.state.waiting && this.#hasRun ? this.#last : undefined);
  }

  get record(): ContainerRecord | undefined {
    if (!this.#hasRun) return undefined;
    return {
      hash: this.hash,
      restartCount: this.restartCount,
      terminated: this.isRunning ? undefined : this.terminated,
      last: this.#last,
      backOff: this.#backOff,
      imageId: this.#imageId,
    };
  }

  /** Log file of a run. */
  logPath(run: number = this.restartCount): string {
    return join(this.#options.logFolder, this.name, `${run}.log`);
  }

  /** Time to wait before the next restart. */
  backOffMs(): number {
    const { clock, backOff } = this.#world;
    const finishedAt = Date.parse(this.terminated?.finishedAt ?? '') || 0;
    return remainingMs(this.#backOff, backOff, { finishedAt, now: clock.now() });
  }

  get backOffDelayMs(): number {
    return this.#backOff?.delayMs ?? this.#world.backOff.baseMs;
  }

  wait(reason: string, message?: string): void {
    if (this.state.terminated) this.#last = this.state.terminated;
    this.#setState({ waiting: message === undefined ? { reason } : { reason, message } });
  }

  /** Starts the next run. Rejects with the waiting reason as the code. */
  async start(): Promise<void> {
    const { world, pod, container } = this.#options.setting();
    const run = this.#hasRun ? this.restartCount + 1 : 0;
    const folder = this.#runFolder(run);
    await rm(folder, { recursive: true, force: true });
    const { image, spec, warnings } = await prepareContainer(this.#options.setting(), folder);
    for (const note of warnings) world.events.warning(pod, 'InvalidEnvironmentVariableNames', note);
    const quotedImage = JSON.stringify(container.image);
    world.events.normal(pod, 'Pulled', `Container image ${quotedImage} already present on machine`, this.name);
    await makeLogFolder(this.logPath(run));
    world.events.normal(pod, 'Created', 'Container created', this.name);
    const process = await world.processes.start({ ...spec, log: this.#logFile(run) });
    if (this.#hasRun) {
      this.#last = this.terminated ?? this.#last;
      this.#backOff = nextBackOff(this.#backOff, world.backOff, world.clock.now());
      if (run >= 2) void this.#removeRun(run - 2).catch(() => {});
    }
    this.#hasRun = true;
    this.restartCount = run;
    this.hash = hashOf(container);
    this.#imageId = image.id;
    world.events.normal(pod, 'Started', 'Container started', this.name);
    this.#follow(process);
    await this.#postStart(container.lifecycle?.postStart);
  }

  /** Continues the run of an earlier supervisor. Resolves with false if nothing can be continued. */
  async adopt(record: ContainerRecord): Promise<boolean> {
    this.restartCount = record.restartCount;
    this.hash = record.hash;
    this.#last = record.last;
    this.#backOff = record.backOff;
    this.#imageId = record.imageId;
    this.#hasRun = true;
    if (record.terminated) {
      this.state = { terminated: record.terminated };
      return true;
    }
    const process = await this.#world.processes.adopt(
      this.#runFolder(record.restartCount),
      this.#logFile(record.restartCount),
    );
    if (!process) {
      this.state = { waiting: { reason: 'ContainerCreating' } };
      this.#hasRun = false;
      return false;
    }
    this.#follow(process);
    return true;
  }

  /** Runs the preStop hook, then terminates, and kills after the grace period. A second call can only shorten the time. */
  stop({ graceMs, note }: StopOptions): Promise<void> {
    const process = this.#process;
    if (!process) return Promise.resolve();
    if (this.#stopping) {
      this.#stopping.kill(graceMs);
      return this.#stopping.done;
    }
    const { world, pod } = this.#options.setting();
    world.events.normal(pod, 'Killing', note ?? `Stopping container ${this.name}`, this.name);
    this.#prober?.close();
    let timer: Timer | undefined;
    let killAtMs = Number.POSITIVE_INFINITY;
    const kill = (afterMs: number): void => {
      const atMs = world.clock.monotonicMs() + afterMs;
      if (atMs >= killAtMs) return;
      killAtMs = atMs;
      timer?.cancel();
      timer = world.clock.after(afterMs, () => process.signal('SIGKILL'));
    };
    kill(graceMs);
    const done = this.#terminate(process, graceMs).then(() => timer?.cancel());
    this.#stopping = { kill, done };
    return done;
  }

  /** Restarts a container whose probe failed or whose memory is above its limit. */
  kill(options: StopOptions & { reason?: string }): void {
    this.#killReason = options.reason;
    void this.stop(options);
  }

  /** Starts a command in the container. Throws if it does not run. */
  async spawn(command: readonly string[], { isTty }: { isTty: boolean }): Promise<ReturnType<typeof spawnCommand>> {
    return spawnCommand({ ...(await this.#commandOptions(command)), isTty });
  }

  status(): ContainerStatus {
    const { container } = this.#options.setting();
    return {
      name: this.name,
      state: this.state,
      lastState: this.#last && !this.state.terminated ? { terminated: this.#last } : {},
      ready: this.isReady || this.state.terminated?.exitCode === 0,
      restartCount: this.restartCount,
      image: container.image ?? '',
      imageID: this.#imageId,
      started: this.isStarted,
      ...(this.#hasRun ? { containerID: this.#containerId() } : {}),
    };
  }

  get #world() {
    return this.#options.setting().world;
  }

  #containerId(run = this.restartCount): string {
    return `process://${this.#options.setting().pod.metadata.uid}/${this.name}/${run}`;
  }

  #runFolder(run: number): string {
    return join(this.#options.podFolder, 'containers', this.name, String(run));
  }

  /** As in the kubelet, only the current and the previous run have logs. */
  async #removeRun(run: number): Promise<void> {
    await removeLog(this.logPath(run));
    await rm(this.#runFolder(run), { recursive: true, force: true });
  }

  #logFile(run: number): LogFile {
    const { clock, log, logBytesMax, logFilesMax } = this.#world;
    return new LogFile({ path: this.logPath(run), clock, log, bytesMax: logBytesMax, filesMax: logFilesMax });
  }

  #follow(process: ContainerProcess): void {
    const { world, pod, container } = this.#options.setting();
    this.#process = process;
    this.#killReason = undefined;
    this.#recorded = process.ended.then((end) => this.#end(process, end));
    this.#prober = new Prober({
      ...this.#probeTarget(),
      random: world.random,
      onAttempt: (name, isSuccess) => world.metrics.probed(name, isSuccess),
      onUnhealthy: (name, output) =>
        world.events.warning(pod, 'Unhealthy', `${name} probe failed: ${output}`, `${this.name}:${name}`),
      onChange: () => this.#options.onChange(),
      onDead: (name, probe) => {
        const seconds = probe.terminationGracePeriodSeconds ?? pod.spec?.terminationGracePeriodSeconds ?? 30;
        const note = `Container ${this.name} failed ${name.toLowerCase()} probe, will be restarted`;
        this.kill({ graceMs: seconds * 1_000, note });
      },
    });
    this.#watchMemory(container.resources?.limits?.['memory'], process);
    this.#setState({ running: { startedAt: timeText(process.startedAt) } });
  }

  #probeTarget(): ProbeTarget {
    const { world, container, place } = this.#options.setting();
    return {
      container,
      podIP: place.podIP,
      clock: world.clock,
      run: async (command, timeoutMs) => runCommand(await this.#commandOptions(command), world.clock, timeoutMs),
    };
  }

  async #commandOptions(command: readonly string[]) {
    const setting = this.#options.setting();
    const process = this.#process;
    if (!process) throw new Error(`container ${this.name} is not running`);
    const mounts = await mountsOf(setting.container, setting.volumes, {});
    const { enclosure } = setting.world;
    return { pid: process.pid, command, enclosure, rewrite: rewriterFor(setting, mounts) };
  }

  /** There are no cgroups: the memory of the program is measured, and the program is killed above its limit. */
  #watchMemory(limit: string | undefined, process: ContainerProcess): void {
    if (limit === undefined) return;
    const { clock } = this.#world;
    const limitBytes = Number(parseQuantity(String(limit)).nanos / 1_000_000_000n);
    const look = (): void => {
      if (this.#process !== process) return;
      if ((residentBytes(process.pid) ?? 0) > limitBytes) {
        this.#killReason = 'OOMKilled';
        process.signal('SIGKILL');
      } else {
        this.#memoryTimer = clock.after(memoryEveryMs, look);
      }
    };
    this.#memoryTimer = clock.after(memoryEveryMs, look);
  }

  async #terminate(process: ContainerProcess, graceMs: number): Promise<void> {
    const { clock } = this.#world;
    const { preStop, stopSignal } = this.#options.setting().container.lifecycle ?? {};
    if (preStop && graceMs > 0) {
      const hook = this.#runHook(preStop, graceMs, 'FailedPreStopHook');
      await Promise.race([settledWithin(clock, graceMs, hook), process.ended]);
    }
    process.signal((stopSignal as NodeJS.Signals | undefined) ?? 'SIGTERM');
    await this.#recorded;
  }

  async #postStart(handler: LifecycleHandler | undefined): Promise<void> {
    if (!handler) return;
    const { pod } = this.#options.setting();
    const graceMs = (pod.spec?.terminationGracePeriodSeconds ?? 30) * 1_000;
    const isSuccess = await this.#runHook(handler, graceMs, 'FailedPostStartHook');
    if (!isSuccess) this.kill({ graceMs, note: 'FailedPostStartHook' });
  }

  async #runHook(handler: LifecycleHandler, timeoutMs: number, reason: string): Promise<boolean> {
    const { world, pod } = this.#options.setting();
    if (handler.sleep) {
      await sleep(world.clock, Math.min(handler.sleep.seconds * 1_000, timeoutMs));
      return true;
    }
    const { isSuccess, output } = await runProbe(handler, this.#probeTarget(), timeoutMs);
    if (!isSuccess) world.events.warning(pod, reason, `${reason.replace(/^Failed/, '')} failed: ${output}`, this.name);
    return isSuccess;
  }

  async #end(process: ContainerProcess, { exitCode, isFenced }: ProcessEnd): Promise<void> {
    if (this.#process !== process) return;
    const { clock } = this.#world;
    const code = exitCode ?? 137;
    const message = await this.#message(code, isFenced, exitCode === undefined).catch(() => '');
    this.#process = undefined;
    this.#stopping = undefined;
    this.#prober?.close();
    this.#memoryTimer?.cancel();
    const unknown = exitCode === undefined ? 'ContainerStatusUnknown' : undefined;
    const reason = this.#killReason ?? unknown ?? (code === 0 ? 'Completed' : 'Error');
    this.#setState({
      terminated: {
        exitCode: code,
        reason,
        ...(message === '' ? {} : { message }),
        startedAt: timeText(process.startedAt),
        finishedAt: timeText(new Date(clock.now())),
        containerID: this.#containerId(),
      },
    });
  }

  async #message(code: number, isFenced: boolean, isLost: boolean): Promise<string> {
    if (isFenced) return 'the supervisor did not renew the lease of the container';
    if (isLost) return 'The container could not be located when the pod was terminated';
    const file = join(this.#runFolder(this.restartCount), terminationFile);
    const { text } = existsSync(file) ? await lastBytes(file, messageBytesMax) : { text: '' };
    if (text !== '') return text;
    const { terminationMessagePolicy } = this.#options.setting().container;
    if (code === 0 || terminationMessagePolicy !== 'FallbackToLogsOnError') return '';
    return tailOf(this.logPath(), logMessageBytesMax);
  }

  #setState(state: ContainerState): void {
    if (JSON.stringify(state) === JSON.stringify(this.state)) return;
    this.state = state;
    this.#options.onChange();
  }
}

/** Times of Kubernetes have seconds. */
export const timeText = (date: Date): string => `${date.toISOString().slice(0, 19)}Z`;

/** Formats an error for a waiting message. */
export const messageOf = (error: unknown): string => asError(error).message;
