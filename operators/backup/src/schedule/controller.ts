/**
 * Creates the ControlPlaneBackups of schedules, and deletes those that retention does not keep. A pass reads the backups of the schedule
 * from an index of the cache; its cost does not depend on other schedules, and it makes no request for a control plane whose backup exists.
 */

import { find, keyOf } from '@hangar/client';
import type { Reader } from '@hangar/client';
import { eachAtOnce, hasCode } from '@hangar/core';
import { isBeingDeleted, setCondition, writeStatus } from '@hangar/runtime';
import type { Cache, ControllerOptions, NewCondition, ReconcileContext, Reconciler, Result } from '@hangar/runtime';
import { ControlPlaneBackup, ControlPlaneBackupSchedule, labels } from '../api/index.ts';
import type { BackupSettings, ControlPlaneKind } from '../api/index.ts';
import { wholeSeconds } from '../backup/outcome.ts';
import { ReferenceFault } from '../errors.ts';
import type { BackupTarget } from '../target.ts';
import { nameInTarget, targetOfKind } from '../world.ts';
import type { BackupWorld } from '../world.ts';
import { expiredBackups, historyOf } from './backup-history.ts';
import type { PlaneHistory } from './backup-history.ts';
import { parseCron } from './cron.ts';
import type { CronTimes } from './cron.ts';
import { labelValue } from './names.ts';
import { dueSlot, runsOf } from './plan.ts';
import { figuresOf, statusOfHistory } from './schedule-status.ts';

const scheduleIndex = 'backup-schedule';
const indexValue = (namespace: string, schedule: string): string => `${namespace}/${schedule}`;
/** Requests of one pass that are in flight. */
const requestsAtOnce = 8;
const createsPerPass = 200;
const deletesPerPass = 100;
/** A schedule with many backups is evaluated at most once in this time, because each change of a backup enqueues it. */
const passIntervalMs = 5_000;
const manyBackups = 100;
/** Control planes that match a selector are listed again after this time. */
const listMaxAgeMs = 10_000;
/** The clock may be set. */
const requeueMaxMs = 3_600_000;

/** Adds the index that the controllers of schedules use. */
export const addScheduleIndex = (cache: Cache): void =>
  cache.addIndex(ControlPlaneBackup, scheduleIndex, ({ metadata }) => {
    const schedule = metadata.labels?.[labels.schedule];
    return schedule === undefined ? [] : [indexValue(metadata.namespace!, schedule)];
  });

/** Returns the backups of a schedule from the cache. */
export const backupsOf = (cache: Cache, { namespace, name }: { namespace: string; name: string }) =>
  cache.informer(ControlPlaneBackup).byIndex(scheduleIndex, indexValue(namespace, labelValue(name)));

export const kindOf = ({ spec }: ControlPlaneBackupSchedule): ControlPlaneKind =>
  spec.controlPlaneRef?.kind ?? spec.controlPlaneSelector?.kind ?? 'ControlPlane';

export interface ScheduleControllerOptions extends BackupWorld {
  /** Reads from the server. */
  readonly apiReader: Pick<Reader, 'get'>;
}

export function scheduleController(
  world: ScheduleControllerOptions,
): ControllerOptions<ControlPlaneBackupSchedule, [], [ControlPlaneBackup]> {
  return {
    name: 'controlplanebackupschedule',
    for: ControlPlaneBackupSchedule,
    watches: [{ kind: ControlPlaneBackup, map: schedulesOfBackup }],
    concurrency: 2,
    reconcile: new Scheduler(world).reconcile,
  };
}

/** A label value is shortened, so it is compared with the names of the schedules only if it is not a name. */
function schedulesOfBackup({ metadata }: ControlPlaneBackup, { cache }: { readonly cache: Cache }) {
  const [namespace, schedule] = [metadata.namespace!, metadata.labels?.[labels.schedule]];
  if (schedule === undefined) return [];
  const schedules = cache.informer(ControlPlaneBackupSchedule);
  if (schedules.get({ namespace, name: schedule })) return [{ namespace, name: schedule }];
  const found = Iterator.from(schedules.all(namespace)).filter((one) => labelValue(one.metadata.name!) === schedule);
  return found.map((one) => ({ namespace, name: one.metadata.name! })).toArray();
}

interface Pass {
  readonly schedule: ControlPlaneBackupSchedule;
  readonly target: BackupTarget;
  readonly cron: CronTimes;
  readonly history: ReadonlyMap<string, PlaneHistory>;
  readonly nowMs: number;
  readonly context: ReconcileContext;
}

class Scheduler {
  readonly #world: ScheduleControllerOptions;
  /** Time and generation of the last pass, of schedules with many backups. */
  readonly #passes = new Map<string, { readonly atMs: number; readonly generation: number | undefined }>();

  readonly #lists = new Map<
    string,
    { readonly atMs: number; readonly generation: number | undefined; readonly planes: readonly string[] }
  >();

  constructor(world: ScheduleControllerOptions) {
    this.#world = world;
  }

  readonly reconcile: Reconciler = async (request, context): Promise<Result | void> => {
    const { metrics } = this.#world;
    const name = { namespace: request.namespace!, name: request.name };
    const schedule = await find(context.client, ControlPlaneBackupSchedule, request);
    const target = schedule && targetOfKind(this.#world, kindOf(schedule));
    if (!schedule || !target || isBeingDeleted(schedule)) {
      this.#passes.delete(indexValue(name.namespace, name.name));
      this.#lists.delete(indexValue(name.namespace, name.name));
      return metrics.forgetSchedule(name);
    }
    const waitMs = this.#waitMs(schedule);
    if (waitMs > 0) return { requeueAfterMs: waitMs };
    const backups = Array.from(backupsOf(context.cluster.cache, name));
    this.#recordPass(schedule, backups.length);
    try {
      return await this.#pass(schedule, target, backups, context);
    } catch (error) {
      if (!(error instanceof ReferenceFault)) throw error;
      metrics.forgetSchedule(name);
      const condition = { type: 'Ready', status: 'False', reason: error.code, message: error.message } as const;
      await this.#write(schedule, { nextBackupTime: undefined }, condition, context);
    }
  };

  #waitMs({ metadata }: ControlPlaneBackupSchedule): number {
    const last = this.#passes.get(indexValue(metadata.namespace!, metadata.name!));
    if (!last || last.generation !== metadata.generation) return 0;
    return Math.max(0, last.atMs + passIntervalMs - this.#world.clock.monotonicMs());
  }

  #recordPass({ metadata }: ControlPlaneBackupSchedule, count: number): void {
    const key = indexValue(metadata.namespace!, metadata.name!);
    if (count < manyBackups) this.#passes.delete(key);
    else this.#passes.set(key, { atMs: this.#world.clock.monotonicMs(), generation: metadata.generation });
  }

  async #pass(
    schedule: ControlPlaneBackupSchedule,
    target: BackupTarget,
    backups: readonly ControlPlaneBackup[],
    context: ReconcileContext,
  ): Promise<Result> {
    const { clock, metrics } = this.#world;
    const { metadata, spec } = schedule;
    const cron = parseCron(spec.schedule, spec.timeZone);
    const [history, nowMs] = [historyOf(backups), clock.now()];
    const pass: Pass = { schedule, target, cron, history, nowMs, context };
    const started = await this.#start(pass, new Set(backups.map((one) => one.metadata.name!)));
    const retained = await this.#retain(pass);
    const nextMs = spec.suspend === true ? undefined : (started.nextMs ?? cron.next(nowMs));
    const isSuspended = spec.suspend === true;
    const condition: NewCondition = {
      type: 'Ready',
      status: 'True',
      reason: isSuspended ? 'Suspended' : 'Scheduled',
      message: isSuspended ? 'no backups are made while spec.suspend is true' : 'backups are made by the schedule',
    };
    const nextSlotMs = isSuspended ? undefined : cron.next(nowMs);
    await this.#write(
      schedule,
      {
        ...statusOfHistory(history),
        ...started.status,
        nextBackupTime: nextSlotMs === undefined ? undefined : wholeSeconds(nextSlotMs),
      },
      condition,
      context,
    );
    metrics.observeSchedule(
      { namespace: metadata.namespace!, name: metadata.name! },
      figuresOf(schedule, history, pass),
    );
    const isIncomplete = started.isIncomplete || retained.isIncomplete;
    const dueMs = Math.min(nextMs ?? Infinity, retained.nextMs ?? Infinity);
    return { requeueAfterMs: isIncomplete ? 1_000 : Math.max(100, Math.min(dueMs - nowMs, requeueMaxMs)) };
  }

  /** Creates the backups that are due. */
  async #start(
    { schedule, target, cron, history, nowMs, context }: Pass,
    existing: ReadonlySet<string>,
  ): Promise<{ nextMs?: number | undefined; isIncomplete: boolean; status: object }> {
    const { metadata, spec, status } = schedule;
    const name = metadata.name!;
    const slot = dueSlot({
      schedule: name,
      cron,
      nowMs,
      createdMs: Date.parse(metadata.creationTimestamp!),
      lastSlotMs: status?.lastScheduleTime === undefined ? undefined : Date.parse(status.lastScheduleTime),
      isSuspended: spec.suspend === true,
      isSpread: spec.controlPlaneSelector !== undefined,
    });
    const isKnown = status?.controlPlanes !== undefined && status.observedGeneration === metadata.generation;
    if (!slot && isKnown) return { isIncomplete: false, status: {} };
    const planes = await this.#planes(schedule, target, context.signal);
    const counted = { controlPlanes: planes.length };
    if (!slot) return { isIncomplete: false, status: counted };
    const unfinished = new Set(planes.filter((plane) => history.get(plane)?.unfinished.length));
    const { due, nextMs } = runsOf({ ...slot, schedule: name, nowMs, planes, existing, unfinished });
    await eachAtOnce(requestsAtOnce, due.slice(0, createsPerPass), (run) => this.#create(schedule, run, context));
    const isIncomplete = due.length > createsPerPass;
    const isDone = nextMs === undefined && !isIncomplete;
    return {
      nextMs,
      isIncomplete,
      status: { ...counted, ...(isDone && { lastScheduleTime: wholeSeconds(slot.slotMs) }) },
    };
  }

  async #planes(schedule: ControlPlaneBackupSchedule, target: BackupTarget, signal: AbortSignal) {
    const { namespace, name, generation } = schedule.metadata;
    const key = indexValue(namespace!, name!);
    const [known, atMs] = [this.#lists.get(key), this.#world.clock.monotonicMs()];
    if (known && known.generation === generation && atMs - known.atMs < listMaxAgeMs) return known.planes;
    const planes = await this.#list(schedule, target, signal);
    this.#lists.set(key, { atMs, generation, planes });
    return planes;
  }

  async #list({ metadata, spec }: ControlPlaneBackupSchedule, target: BackupTarget, signal: AbortSignal) {
    const namespace = metadata.namespace!;
    if (spec.controlPlaneRef) {
      return [nameInTarget(target, { namespace, name: spec.controlPlaneRef.name }, this.#world).name];
    }
    // Checks that the namespace may refer to this kind.
    nameInTarget(target, { namespace, name: '' }, this.#world);
    const call = { signal, ...(target.isNamespaced && { namespace }) };
    const [found, temporary] = await Promise.all([
      target.list(spec.controlPlaneSelector?.matchLabels ?? {}, call),
      target.list({ [labels.temporary]: 'true' }, call),
    ]);
    const excluded = new Set(temporary.map(({ name }) => name));
    return found.map(({ name }) => name).filter((name) => !excluded.has(name));
  }

  async #create(
    schedule: ControlPlaneBackupSchedule,
    { name, plane }: { readonly name: string; readonly plane: string },
    { client, signal }: ReconcileContext,
  ): Promise<void> {
    const own = { [labels.schedule]: labelValue(schedule.metadata.name!), [labels.controlPlane]: labelValue(plane) };
    const draft = {
      metadata: { name, namespace: schedule.metadata.namespace!, labels: own },
      spec: {
        ...settingsOf(schedule),
        controlPlaneRef: { kind: kindOf(schedule), name: plane },
        deletionPolicy: 'Delete' as const,
      },
    };
    await client.create(ControlPlaneBackup, draft, { signal }).catch((error: unknown) => {
      // Another operator created it, or the cache does not have it yet.
      if (!hasCode(error, 'AlreadyExists')) throw error;
    });
  }

  /** Deletes expired backups. */
  async #retain({ schedule, history, nowMs, context }: Pass): Promise<{ nextMs?: number; isIncomplete: boolean }> {
    const found = Array.from(history.values(), (one) => ({
      newest: one.complete[0],
      ...expiredBackups(one, schedule.spec.retention ?? {}, nowMs),
    }));
    let left = deletesPerPass;
    const chosen = found.filter(({ backups }) => backups.length > 0 && (left -= backups.length) + backups.length > 0);
    await eachAtOnce(requestsAtOnce, chosen, (one) => this.#delete(one, context));
    const nextMs = Math.min(...found.map((one) => one.nextMs ?? Infinity));
    return { ...(Number.isFinite(nextMs) && { nextMs }), isIncomplete: left < 0 };
  }

  /** Deletes nothing if the backup that must be kept was deleted in the meantime. */
  async #delete(
    {
      newest,
      backups,
    }: { readonly newest: ControlPlaneBackup | undefined; readonly backups: readonly ControlPlaneBackup[] },
    { client, signal }: ReconcileContext,
  ): Promise<void> {
    if (newest) {
      const current = await find(this.#world.apiReader, ControlPlaneBackup, keyOf(newest), { signal });
      const isKept = current?.metadata.uid === newest.metadata.uid && !isBeingDeleted(current!);
      if (!isKept || current?.status?.phase !== 'Complete') return;
    }
    for (const backup of backups) {
      const preconditions = { uid: backup.metadata.uid! };
      await client.delete(ControlPlaneBackup, keyOf(backup), { preconditions, signal }).catch((error: unknown) => {
        if (!hasCode(error, 'NotFound')) throw error;
      });
    }
  }

  async #write(
    schedule: ControlPlaneBackupSchedule,
    fields: object,
    condition: NewCondition,
    { client, signal }: ReconcileContext,
  ): Promise<void> {
    const observedGeneration = schedule.metadata.generation ?? 0;
    const conditions = setCondition(
      schedule.status?.conditions,
      { ...condition, observedGeneration },
      this.#world.clock,
    );
    const status = { ...schedule.status, ...fields, observedGeneration, conditions };
    await writeStatus(client, { kind: ControlPlaneBackupSchedule, object: schedule, status, signal });
  }
}

const settingsOf = ({ spec }: ControlPlaneBackupSchedule): BackupSettings => ({
  destination: spec.destination,
  ...(spec.encryption && { encryption: spec.encryption }),
  ...(spec.compression && { compression: spec.compression }),
  ...(spec.keys && { keys: spec.keys }),
});
