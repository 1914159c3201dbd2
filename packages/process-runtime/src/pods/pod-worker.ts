/**
 * Runs one pod. `sync` compares the pod with its containers and is repeated after each change, one at a time:
 *
 *     volumes ─► init containers in order, sidecars stay ─► containers ─► status
 *
 * A pod that is deleted or finished is terminated: containers first, then sidecars in reverse order, then volumes, then the object.
 */

import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Container, Pod, PodStatus } from '@hangar/client/kinds/core-v1';
import { Pod as PodKind } from '@hangar/client/kinds/core-v1';
import { asError, hasCode } from '@hangar/core';
import type { Timer } from '@hangar/core';
import { ProcessRuntimeError } from '../errors.ts';
import { HostsWriter } from '../network/hosts-writer.ts';
import { hostsFile } from '../network/hosts.ts';
import type { PodPlace } from '../spec/downward.ts';
import { setUpVolumes } from '../volumes/volumes.ts';
import type { VolumePaths } from '../volumes/volumes.ts';
import { ContainerUnit, hashOf, messageOf, timeText } from './container-unit.ts';
import { PodJournal } from './pod-record.ts';
import type { PodRecord } from './pod-record.ts';
import { isSidecar, podStatus } from './pod-status.ts';
import { hostnameOf } from './prepared-container.ts';
import type { PodWorld } from './world.ts';

export interface PodWorkerOptions {
  readonly world: PodWorld;
  readonly pod: Pod;
  /** Of an earlier supervisor. */
  readonly record: PodRecord | undefined;
  /** Called when the address or the readiness of the pod changes. */
  readonly onNetworkChange: () => void;
  /** Called after the pod and its folder are removed. */
  readonly onGone: () => void;
}

/** Retry delays of volumes, images and starts. */
const retryMs = { first: 500, max: 30_000 };
/** A pod whose object is gone gets this time, as in the kubelet. */
const orphanGraceMs = 2_000;
const secondMs = 1_000;

type Outcome = 'running' | 'waiting' | 'succeeded' | 'failed';

export class PodWorker {
  readonly #options: PodWorkerOptions;
  readonly #world: PodWorld;
  readonly #folder: string;
  readonly #hosts: HostsWriter;
  readonly #journal: PodJournal;
  readonly #units = new Map<string, ContainerUnit>();
  readonly #retries = new Map<string, number>();
  readonly #claimFolders = new Map<string, string>();
  readonly address: string;
  readonly #startTime: string;
  #pod: Pod;
  #volumes: VolumePaths = new Map();
  #wakeTimer: Timer | undefined;
  #isSyncing = false;
  #looping: Promise<void> = Promise.resolve();
  #isPoked = false;
  #isClosed = false;
  #isObjectGone = false;
  #isRemoved = false;
  #failure: { reason: string; message: string } | undefined;
  #isFinished = false;
  #wasReady = false;
  #adopting: Promise<void> | undefined;

  constructor(options: PodWorkerOptions) {
    this.#options = options;
    this.#world = options.world;
    this.#pod = options.pod;
    const { uid, namespace, name } = options.pod.metadata;
    this.#folder = join(this.#world.podsFolder, uid!);
    this.#hosts = new HostsWriter(join(this.#folder, 'etc'));
    this.#journal = new PodJournal(this.#folder);
    const isHost = options.pod.spec?.hostNetwork === true;
    const { network, hostIP, clock } = this.#world;
    const kept = options.record?.address;
    // The addresses of adopted pods are reserved before a new pod takes one.
    this.address = kept ?? (isHost ? hostIP : network.pods.take());
    this.#startTime = options.record?.startTime ?? timeText(new Date(clock.now()));
    const logFolder = join(this.#world.logsFolder, `${namespace}_${name}_${uid}`);
    for (const { name: container } of this.#containers()) {
      const unit = new ContainerUnit(container, {
        podFolder: this.#folder,
        logFolder,
        setting: () => this.#setting(container),
        onChange: () => this.#changed(),
      });
      if (this.#initContainers.length > 0 && !this.#isInit(container))
        unit.state = { waiting: { reason: 'PodInitializing' } };
      this.#units.set(container, unit);
    }
    this.#adopting = this.#adopt(options.record);
    this.poke();
  }

  get pod(): Pod {
    return this.#pod;
  }

  get isReady(): boolean {
    return this.#wasReady;
  }

  units(): ContainerUnit[] {
    return [...this.#units.values()];
  }

  unit(container: string): ContainerUnit | undefined {
    return this.#units.get(container);
  }

  update(pod: Pod): void {
    // The watch can be behind the own writes of the status.
    if (Number(pod.metadata.resourceVersion) < Number(this.#pod.metadata.resourceVersion)) return;
    this.#pod = pod;
    this.poke();
  }

  /** The object of the pod is deleted. */
  objectGone(): void {
    this.#isObjectGone = true;
    this.poke();
  }

  /** Runs `sync` soon. Calls during a `sync` cause one more. */
  poke(): void {
    this.#isPoked = true;
    if (!this.#isSyncing && !this.#isClosed) this.#looping = this.#loop();
  }

  /** Stops the supervision. The containers continue. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#wakeTimer?.cancel();
    await this.#adopting;
    // No container is started after this.
    await this.#looping;
    await this.#hosts.settled();
    this.#wakeTimer?.cancel();
  }

  /** Terminates the containers within the grace period of the pod or this one, whichever is shorter. The next supervisor starts them again. */
  async shutDown(graceMaxMs: number): Promise<void> {
    await this.close();
    await this.#stopAll(Math.min(this.#graceMs, graceMaxMs));
  }

  /** Writes the names of Services and pods for the programs of the pod. */
  async writeHosts(): Promise<void> {
    if (this.#isRemoved || this.#isClosed) return;
    const { metadata, spec } = this.#pod;
    await this.#hosts.write(() =>
      hostsFile({
        namespace: metadata.namespace!,
        hostname: hostnameOf(this.#pod),
        subdomain: spec?.subdomain,
        podIP: this.address,
        aliases: spec?.hostAliases ?? [],
        names: this.#world.network.names,
      }),
    );
  }

  get #initContainers(): readonly Container[] {
    return this.#pod.spec?.initContainers ?? [];
  }

  #containers(): Container[] {
    return [...this.#initContainers, ...(this.#pod.spec?.containers ?? [])];
  }

  #isInit(name: string): boolean {
    return this.#initContainers.some((one) => one.name === name);
  }

  get #place(): PodPlace {
    const { hostIP, nodeName, allocatable } = this.#world;
    return { podIP: this.address, hostIP, nodeName, allocatable };
  }

  #setting(name: string) {
    return {
      world: this.#world,
      pod: this.#pod,
      container: this.#containers().find((one) => one.name === name)!,
      place: this.#place,
      volumes: this.#volumes,
      podFiles: join(this.#folder, 'etc'),
    };
  }

  async #adopt(record: PodRecord | undefined): Promise<void> {
    for (const [name, container] of Object.entries(record?.containers ?? {})) {
      await this.#units.get(name)?.adopt(container);
    }
    this.#adopting = undefined;
  }

  #changed(): void {
    if (!this.#isRemoved) this.#save();
    this.poke();
  }

  /** Returns false if the journal cannot be written, for example on a full disk. */
  #save(): boolean {
    try {
      this.#writeRecord();
      return true;
    } catch (error) {
      const { namespace, name } = this.#pod.metadata;
      const fields = { pod: `${namespace}/${name}`, error: asError(error).message };
      this.#world.log.warn('failed to write the journal of a pod, retrying', fields);
      return false;
    }
  }

  #writeRecord(): void {
    const { namespace, name, uid } = this.#pod.metadata;
    const containers = Object.fromEntries(
      Array.from(this.#units.values(), (unit) => [unit.name, unit.record] as const).filter(([, record]) => record),
    ) as PodRecord['containers'];
    this.#journal.write({
      namespace: namespace!,
      name: name!,
      uid: uid!,
      address: this.address,
      startTime: this.#startTime,
      containers,
    });
  }

  async #loop(): Promise<void> {
    this.#isSyncing = true;
    try {
      while (this.#isPoked && !this.#isClosed && !this.#isRemoved) {
        this.#isPoked = false;
        this.#wakeTimer?.cancel();
        await this.#adopting;
        await this.#sync();
      }
    } catch (error) {
      const { namespace, name } = this.#pod.metadata;
      this.#world.log.error('failed to sync a pod, retrying', { pod: `${namespace}/${name}`, error: asError(error) });
      this.#wakeAfter(this.#retryMs('sync'));
    } finally {
      this.#isSyncing = false;
    }
  }

  /** Runs `sync` after this delay, or earlier. */
  #wakeAfter(delayMs: number): void {
    this.#wakeTimer?.cancel();
    this.#wakeTimer = this.#world.clock.after(delayMs, () => this.poke());
  }

  async #sync(): Promise<void> {
    if (this.#isObjectGone || this.#pod.metadata.deletionTimestamp !== undefined) return this.#terminate();
    const phase = this.#pod.status?.phase;
    if (phase === 'Succeeded' || phase === 'Failed' || this.#failure) {
      await this.#stopAll(this.#graceMs);
      return this.#report();
    }
    if (!this.#isFinished) {
      // Without a journal, no container is started: the next supervisor would not find it.
      if (!this.#save()) {
        this.#wakeAfter(this.#retryMs('journal'));
        return this.#report();
      }
      this.#retries.delete('journal');
      const untilMs = this.#deadlineMs();
      if (untilMs !== undefined && untilMs <= 0)
        return this.#fail('DeadlineExceeded', 'Pod was active on the node longer than the specified deadline');
      const delayMs = Math.min(await this.#converge(), untilMs ?? Number.POSITIVE_INFINITY);
      if (Number.isFinite(delayMs)) this.#wakeAfter(Math.max(delayMs, 1));
    }
    await this.#report();
  }

  #deadlineMs(): number | undefined {
    const seconds = this.#pod.spec?.activeDeadlineSeconds;
    return seconds === undefined
      ? undefined
      : Date.parse(this.#startTime) + seconds * secondMs - this.#world.clock.now();
  }

  async #fail(reason: string, message: string): Promise<void> {
    this.#failure = { reason, message };
    this.#world.events.warning(this.#pod, reason, message);
    await this.#stopAll(this.#graceMs);
    await this.#report();
  }

  /** Brings the containers to the state of the spec. Returns the delay until it must be repeated; Infinity: after a change only. */
  async #converge(): Promise<number> {
    try {
      this.#volumes = await setUpVolumes({
        ...this.#world,
        pod: this.#pod,
        place: this.#place,
        folder: join(this.#folder, 'volumes'),
        token: (pod, projection) => this.#world.token(pod, projection),
        claimFolder: (_pod, claim) => this.#claimFolder(claim),
      });
      this.#retries.delete('volumes');
    } catch (error) {
      this.#world.events.warning(this.#pod, 'FailedMount', messageOf(error));
      return this.#retryMs('volumes');
    }
    await this.writeHosts();
    const delays: number[] = [];
    const isInitialized = await this.#initialize(delays);
    if (isInitialized) {
      const outcomes = await Promise.all(
        (this.#pod.spec?.containers ?? []).map(({ name }) => this.#ensure(name, this.#restarts, delays)),
      );
      this.#isFinished = outcomes.every((outcome) => outcome === 'succeeded' || outcome === 'failed');
    }
    if (this.#isFinished) await this.#stopAll(this.#graceMs);
    return Math.min(...delays, Number.POSITIVE_INFINITY);
  }

  /** The folder of a bound claim does not change: a stable pod causes no requests. */
  async #claimFolder(claim: string): Promise<string> {
    const known = this.#claimFolders.get(claim);
    if (known !== undefined) return known;
    const folder = await this.#world.claimFolder(this.#pod, claim);
    this.#claimFolders.set(claim, folder);
    return folder;
  }

  #restarts = (exitCode: number): boolean => {
    const { restartPolicy = 'Always' } = this.#pod.spec ?? {};
    return restartPolicy === 'Always' || (restartPolicy === 'OnFailure' && exitCode !== 0);
  };

  /** Returns true when the containers can start. */
  async #initialize(delays: number[]): Promise<boolean> {
    // Containers that ran already prove that the pod was initialized: only sidecars are kept running.
    const isAgain = (this.#pod.spec?.containers ?? []).some(({ name }) => this.#units.get(name)!.hasRun);
    for (const { name } of this.#initContainers) {
      const isAside = isSidecar(this.#pod, name);
      if (!isAside && isAgain) continue;
      const restarts = isAside ? () => true : (code: number) => code !== 0 && this.#restartsInit;
      const outcome = await this.#ensure(name, restarts, delays);
      if (isAgain) continue;
      if (isAside && this.#units.get(name)!.isStarted) continue;
      if (outcome === 'succeeded') continue;
      if (outcome === 'failed' && !isAside) this.#isFinished = true;
      return false;
    }
    return true;
  }

  get #restartsInit(): boolean {
    return (this.#pod.spec?.restartPolicy ?? 'Always') !== 'Never';
  }

  async #ensure(name: string, restarts: (exitCode: number) => boolean, delays: number[]): Promise<Outcome> {
    const unit = this.#units.get(name)!;
    if (unit.isStopping || this.#isClosed) return 'waiting';
    if (unit.isRunning) {
      const { container } = this.#setting(name);
      if (unit.hash === hashOf(container)) return 'running';
      unit.kill({ graceMs: this.#graceMs, note: `Container ${name} definition changed, will be restarted` });
      return 'waiting';
    }
    const end = unit.terminated;
    if (end && !restarts(end.exitCode)) return end.exitCode === 0 ? 'succeeded' : 'failed';
    if (end) {
      const delayMs = unit.backOffMs();
      if (delayMs > 0) {
        this.#backOff(unit);
        delays.push(delayMs);
        return 'waiting';
      }
    }
    return this.#start(unit, delays);
  }

  #backOff(unit: ContainerUnit): void {
    const { namespace, name, uid } = this.#pod.metadata;
    const full = `${name}_${namespace}(${uid})`;
    const seconds = Math.round(unit.backOffDelayMs / secondMs);
    const isNew = unit.state.waiting?.reason !== 'CrashLoopBackOff';
    const length = seconds >= 60 ? `${Math.floor(seconds / 60)}m${seconds % 60}s` : `${seconds}s`;
    unit.wait('CrashLoopBackOff', `back-off ${length} restarting failed container=${unit.name} pod=${full}`);
    if (isNew) {
      const note = `Back-off restarting failed container ${unit.name} in pod ${full}`;
      this.#world.events.warning(this.#pod, 'BackOff', note, unit.name);
    }
  }

  async #start(unit: ContainerUnit, delays: number[]): Promise<Outcome> {
    try {
      await unit.start();
      this.#world.metrics.started();
      this.#retries.delete(unit.name);
      return 'running';
    } catch (error) {
      const code = error instanceof ProcessRuntimeError ? error.code : 'CreateContainerError';
      this.#world.metrics.startFailed(code);
      const isImage = code === 'ErrImagePull';
      const image = JSON.stringify(this.#setting(unit.name).container.image);
      const isAgain = this.#retries.has(unit.name);
      const message = messageOf(error);
      if (isImage)
        this.#world.events.warning(
          this.#pod,
          'Failed',
          `Failed to pull image ${image}: ${message}`,
          `${unit.name}:pull`,
        );
      this.#world.events.warning(this.#pod, 'Failed', `Error: ${isImage ? 'ErrImagePull' : message}`, unit.name);
      if (isImage && isAgain)
        unit.wait('ImagePullBackOff', `Back-off pulling image ${image}: ErrImagePull: ${message}`);
      else unit.wait(code, message);
      delays.push(this.#retryMs(unit.name));
      return 'waiting';
    }
  }

  /** Doubles with each failure of the same part. */
  #retryMs(part: string): number {
    const count = this.#retries.get(part) ?? 0;
    this.#retries.set(part, count + 1);
    return Math.min(retryMs.first * 2 ** count, retryMs.max);
  }

  get #graceMs(): number {
    const { metadata, spec } = this.#pod;
    const seconds = metadata.deletionGracePeriodSeconds ?? spec?.terminationGracePeriodSeconds ?? 30;
    return this.#isObjectGone ? Math.min(orphanGraceMs, seconds * secondMs) : seconds * secondMs;
  }

  /** Containers first, then sidecars in reverse order. */
  async #stopAll(graceMs: number): Promise<void> {
    const fromMs = this.#world.clock.monotonicMs();
    const leftMs = (): number => Math.max(0, graceMs - (this.#world.clock.monotonicMs() - fromMs));
    const sidecars = this.#initContainers.map(({ name }) => name).filter((name) => isSidecar(this.#pod, name));
    const others = [...this.#units.values()].filter(({ name }) => !sidecars.includes(name));
    await Promise.all(others.map((unit) => unit.stop({ graceMs })));
    for (const name of sidecars.toReversed()) await this.#units.get(name)!.stop({ graceMs: leftMs() });
  }

  async #terminate(): Promise<void> {
    const running = [...this.#units.values()].filter((unit) => unit.isRunning);
    if (running.length > 0) {
      // Not awaited: a shorter grace period or the end of the object must be noticed meanwhile.
      if (running.some((unit) => !unit.isStopping)) {
        this.#isFinished = true;
        void this.#stopAll(this.#graceMs).then(() => this.poke());
      } else if (this.#graceMs < this.#stopGraceMs) {
        for (const unit of running) void unit.stop({ graceMs: this.#graceMs });
      }
      this.#stopGraceMs = Math.min(this.#stopGraceMs, this.#graceMs);
      return this.#report();
    }
    this.#isFinished = true;
    await this.#report();
    await this.#remove();
  }

  #stopGraceMs = Number.POSITIVE_INFINITY;

  async #remove(): Promise<void> {
    const { client, network, hostIP } = this.#world;
    const { namespace, name, uid } = this.#pod.metadata;
    if (!this.#isObjectGone) {
      try {
        const preconditions = { uid: uid! };
        await client.delete(PodKind, { namespace, name: name! }, { gracePeriodSeconds: 0, preconditions });
      } catch (error) {
        // Conflict: another pod has the name now.
        if (!hasCode(error, 'Conflict') && !hasCode(error, 'NotFound')) throw error;
      }
    }
    this.#isRemoved = true;
    this.#wakeTimer?.cancel();
    await this.#hosts.settled();
    if (existsSync(this.#folder)) await rm(this.#folder, { recursive: true, force: true });
    await rm(join(this.#world.logsFolder, `${namespace}_${name}_${uid}`), { recursive: true, force: true });
    if (this.address !== hostIP) network.pods.release(this.address);
    this.#options.onGone();
  }

  async #report(): Promise<void> {
    const status = this.#status();
    const ready = status.conditions?.find(({ type }) => type === 'Ready')?.status === 'True';
    if (ready !== this.#wasReady) {
      this.#wasReady = ready;
      this.#options.onNetworkChange();
    }
    if (this.#isObjectGone || isSameStatus(this.#pod.status, status)) return;
    const { namespace, name, uid } = this.#pod.metadata;
    try {
      this.#pod = await this.#world.client.status.patch(
        PodKind,
        { namespace, name: name! },
        { type: 'merge', body: { metadata: { uid }, status } },
      );
    } catch (error) {
      if (hasCode(error, 'NotFound') || hasCode(error, 'Conflict')) return; // The watch reports the deletion.
      throw error;
    }
  }

  #status(): PodStatus {
    const of = (containers: readonly Container[]) => containers.map(({ name }) => this.#units.get(name)!.status());
    return podStatus({
      pod: this.#pod,
      podIP: this.address,
      hostIP: this.#world.hostIP,
      startTime: this.#startTime,
      initStatuses: of(this.#initContainers),
      statuses: of(this.#pod.spec?.containers ?? []),
      failure: this.#failure,
      isFinished: this.#isFinished && [...this.#units.values()].every((unit) => !unit.isRunning),
      now: timeText(new Date(this.#world.clock.now())),
    });
  }
}

/** Compares only the fields that the runtime writes. */
function isSameStatus(before: PodStatus | undefined, after: PodStatus): boolean {
  return (Object.keys(after) as (keyof PodStatus)[]).every(
    (field) => canonical(before?.[field]) === canonical(after[field]),
  );
}

const canonical = (value: unknown): string =>
  JSON.stringify(value, (_key, one: unknown) =>
    one !== null && typeof one === 'object' && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  ) ?? '';
