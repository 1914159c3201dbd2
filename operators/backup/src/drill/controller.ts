/**
 * Restores backups from time to time to show that they can be restored: the newest backup of one control plane of a schedule becomes a
 * temporary control plane, whose content is compared with the backup, and which is deleted then. The start is recorded before anything is
 * created, and temporary control planes have a label, so that a restarted operator continues the drill or deletes what is left of it.
 */

import { find } from '@hangar/client';
import type { Client, Reader } from '@hangar/client';
import { isBeingDeleted, retryOnConflict, setCondition, writeStatus } from '@hangar/runtime';
import type { ControllerOptions, NewCondition, ReconcileContext, Reconciler, Result } from '@hangar/runtime';
import { ControlPlaneBackup, ControlPlaneBackupSchedule, labels } from '../api/index.ts';
import type { BackupDrillStatus } from '../api/index.ts';
import { wholeSeconds } from '../backup/outcome.ts';
import { ReferenceFault } from '../errors.ts';
import { faultOf } from '../faults.ts';
import { runRestore } from '../restore/run-restore.ts';
import type { RestoreResult } from '../restore/run-restore.ts';
import { sourceOfBackup } from '../restore/source.ts';
import { RetryTimes } from '../retry-times.ts';
import { historyOf } from '../schedule/backup-history.ts';
import { backupsOf, kindOf } from '../schedule/controller.ts';
import { parseCron } from '../schedule/cron.ts';
import { labelValue } from '../schedule/names.ts';
import type { BackupTarget, TargetName } from '../target.ts';
import { nameInTarget, targetOfKind } from '../world.ts';
import type { BackupWorld } from '../world.ts';
import { drillName, drillTimes, nextBackup } from './plan.ts';

/** Time from the start of a drill, after which it has failed. */
const drillMaxMs = 3_600_000;
const backOff = { baseMs: 5_000, maxMs: 120_000 };
/** Until a schedule without backups is evaluated again. */
const noBackupRetryMs = 600_000;
const requeueMaxMs = 3_600_000;

export interface DrillControllerOptions extends BackupWorld {
  /** Reads from the server. */
  readonly apiReader: Pick<Reader, 'get'>;
}

/** One drill at a time, so that they do not compete with the control planes for memory. */
export const drillController = (world: DrillControllerOptions): ControllerOptions<ControlPlaneBackupSchedule> => ({
  name: 'backup-drill',
  for: ControlPlaneBackupSchedule,
  concurrency: 1,
  reconcile: new DrillRunner(world).reconcile,
});

interface Drill {
  readonly schedule: ControlPlaneBackupSchedule;
  readonly target: BackupTarget;
  /** Of the temporary control plane. */
  readonly name: TargetName;
  readonly started: BackupDrillStatus;
}

interface Finding {
  readonly isSuccess: boolean;
  readonly reason: string;
  readonly message: string;
  readonly objects?: number;
}

class DrillRunner {
  readonly #world: DrillControllerOptions;
  readonly #retries: RetryTimes;
  readonly #failures = new Map<string, number>();
  /** Schedules without temporary control planes, as far as this process knows. */
  readonly #clean = new Set<string>();
  /** Drills whose backup was verified, by name of the temporary control plane. */
  readonly #verified = new Set<string>();

  constructor(world: DrillControllerOptions) {
    this.#world = world;
    this.#retries = new RetryTimes({ clock: world.clock, random: world.random, backOff });
  }

  readonly reconcile: Reconciler = async (request, context): Promise<Result | void> => {
    const key = `${request.namespace}/${request.name}`;
    const schedule = await find(context.client, ControlPlaneBackupSchedule, request);
    if (!schedule || isBeingDeleted(schedule)) {
      // Its kind is not known any longer.
      for (const target of this.#world.targets.values()) await this.#sweep(target, key, context.signal);
      return this.#forget(key);
    }
    const target = targetOfKind(this.#world, kindOf(schedule));
    if (!target) return;
    const { drill: current } = schedule.status ?? {};
    if (current?.result === 'Running') return this.#continue(schedule, target, current, context);
    if (!this.#clean.has(key)) await this.#sweep(target, key, context.signal);
    this.#observe(schedule);
    if (!schedule.spec.drill) return;
    try {
      return await this.#begin(schedule, context);
    } catch (error) {
      if (!(error instanceof ReferenceFault)) throw error;
      const condition = { status: 'Unknown', reason: error.code, message: error.message } as const;
      await this.#write(context, schedule, {}, condition);
    }
  };

  #forget(key: string): void {
    this.#retries.forget(key);
    this.#failures.delete(key);
    this.#clean.delete(key);
  }

  /** Deletes temporary control planes of the schedule. */
  async #sweep(target: BackupTarget, key: string, signal: AbortSignal): Promise<void> {
    const [namespace = ''] = key.split('/');
    const call = { signal, ...(target.isNamespaced && { namespace }) };
    for (const name of await target.list({ [labels.drill]: drillLabel(key) }, call))
      await target.delete(name, { signal });
    this.#clean.add(key);
  }

  #observe({ metadata, status }: ControlPlaneBackupSchedule): void {
    const { result, completionTime } = status?.drill ?? {};
    if (completionTime === undefined) return;
    this.#world.metrics.observeDrill(
      { namespace: metadata.namespace!, name: metadata.name! },
      { isSuccess: result === 'Succeeded', completedMs: Date.parse(completionTime) },
    );
  }

  /** Records the start of a drill that is due. The write enqueues the schedule again. */
  async #begin(schedule: ControlPlaneBackupSchedule, context: ReconcileContext): Promise<Result | void> {
    const { metadata, spec, status } = schedule;
    const nowMs = this.#world.clock.now();
    const startTime = status?.drill?.startTime;
    const { isDue, nextMs } = drillTimes(parseCron(spec.drill!.schedule, spec.timeZone), {
      createdMs: Date.parse(metadata.creationTimestamp!),
      lastStartMs: startTime === undefined ? undefined : Date.parse(startTime),
      nowMs,
    });
    const nextTime = nextMs === undefined ? undefined : wholeSeconds(nextMs);
    const waits = { requeueAfterMs: Math.max(100, Math.min((nextMs ?? Infinity) - nowMs, requeueMaxMs)) };
    if (!isDue || spec.suspend === true) {
      await this.#write(context, schedule, { ...status?.drill, nextTime });
      return waits;
    }
    const backups = backupsOf(context.cluster.cache, { namespace: metadata.namespace!, name: metadata.name! });
    const chosen = nextBackup(historyOf(backups), status?.drill?.controlPlane);
    if (!chosen) {
      const message = 'the schedule has no complete backup yet';
      await this.#write(
        context,
        schedule,
        { ...status?.drill, nextTime },
        { status: 'Unknown', reason: 'NoBackup', message },
      );
      return { requeueAfterMs: noBackupRetryMs };
    }
    await this.#write(context, schedule, {
      result: 'Running',
      controlPlane: chosen.spec.controlPlaneRef.name,
      backup: chosen.metadata.name!,
      startTime: wholeSeconds(nowMs),
      nextTime,
    });
  }

  async #continue(
    schedule: ControlPlaneBackupSchedule,
    target: BackupTarget,
    started: BackupDrillStatus,
    context: ReconcileContext,
  ): Promise<Result | void> {
    const { metadata } = schedule;
    const key = `${metadata.namespace}/${metadata.name}`;
    const waitMs = this.#retries.waitMs(key);
    if (waitMs > 0) return { requeueAfterMs: waitMs };
    this.#clean.delete(key);
    const name = drillName(metadata.uid!, started);
    const place = nameInTarget(target, { namespace: metadata.namespace!, name }, this.#world);
    const drill: Drill = { schedule, target, name: place, started };
    const outcome = await this.#attempt(drill, key, context);
    if ('requeueAfterMs' in outcome) return outcome;
    await this.#finish(drill, outcome, context);
    this.#verified.delete(name);
    this.#retries.forget(key);
    this.#failures.delete(key);
    await this.#sweep(target, key, context.signal);
  }

  async #attempt(
    drill: Drill,
    key: string,
    { client, signal }: ReconcileContext,
  ): Promise<Finding | { requeueAfterMs: number }> {
    const isLate = this.#world.clock.now() - Date.parse(drill.started.startTime!) >= drillMaxMs;
    let problem = 'the control plane is not ready';
    try {
      const result = await this.#restore(drill, key, client, signal);
      if (result.state === 'Complete') return findingOf(drill, result);
      if (!isLate) return { requeueAfterMs: result.retryAfterMs };
      problem = result.message;
    } catch (error) {
      if (signal.aborted) throw error;
      const { reason, message, isPermanent } = faultOf(error, 'restore');
      if (isPermanent) return { isSuccess: false, reason, message: `${textOf(drill)} cannot be restored: ${message}` };
      problem = message;
      if (!isLate) {
        const count = (this.#failures.get(key) ?? 0) + 1;
        this.#failures.set(key, count);
        return { requeueAfterMs: this.#retries.failed(key, count) };
      }
    }
    const limit = `${drillMaxMs / 60_000} minutes`;
    return {
      isSuccess: false,
      reason: 'DeadlineExceeded',
      message: `${textOf(drill)} is not restored after ${limit}: ${problem}`,
    };
  }

  async #restore(
    { schedule, target, name, started }: Drill,
    key: string,
    client: Client,
    signal: AbortSignal,
  ): Promise<RestoreResult> {
    const namespace = schedule.metadata.namespace!;
    const backup = await find(client, ControlPlaneBackup, { namespace, name: started.backup! });
    if (!backup) throw new ReferenceFault('BackupNotComplete', 'it was deleted during the drill');
    return runRestore(this.#world, {
      target,
      name,
      mode: 'New',
      source: sourceOfBackup(backup),
      uid: name.name,
      labels: { [labels.drill]: drillLabel(key), [labels.temporary]: 'true' },
      signal,
      isVerified: this.#verified.has(name.name),
      onVerified: async () => void this.#verified.add(name.name),
    });
  }

  async #finish({ schedule, started }: Drill, finding: Finding, context: ReconcileContext): Promise<void> {
    const { clock, events } = this.#world;
    const { isSuccess, reason, message, objects } = finding;
    const nowMs = clock.now();
    const drill: BackupDrillStatus = {
      ...started,
      result: isSuccess ? 'Succeeded' : 'Failed',
      completionTime: wholeSeconds(nowMs),
      duration: `${Math.max(0, (nowMs - Date.parse(started.startTime!)) / 1_000).toFixed(1)}s`,
      message,
      ...(objects !== undefined && { objects }),
    };
    const condition = { status: isSuccess ? 'True' : 'False', reason, message } as const;
    // A conflict must not repeat the drill.
    const { namespace, name } = schedule.metadata;
    await retryOnConflict(
      async () => {
        const current = await find(this.#world.apiReader, ControlPlaneBackupSchedule, { namespace, name: name! });
        if (current) this.#observe(await this.#write(context, current, drill, condition));
      },
      { signal: context.signal, clock, random: this.#world.random },
    );
    if (isSuccess) events.normal(schedule, 'DrillSucceeded', message);
    else events.warning(schedule, 'DrillFailed', message);
  }

  async #write(
    { client, signal }: ReconcileContext,
    object: ControlPlaneBackupSchedule,
    drill: BackupDrillStatus | { readonly nextTime: string | undefined },
    condition?: Omit<NewCondition, 'type'>,
  ): Promise<ControlPlaneBackupSchedule> {
    const { metadata, status } = object;
    const given = condition && { type: 'DrillSucceeded', ...condition, observedGeneration: metadata.generation };
    const conditions = given ? setCondition(status?.conditions, given, this.#world.clock) : status?.conditions;
    const fields = Object.fromEntries(Object.entries(drill).filter(([, value]) => value !== undefined));
    const next = {
      ...status,
      ...(Object.keys(fields).length > 0 && { drill: fields }),
      ...(conditions && { conditions }),
    };
    return writeStatus(client, { kind: ControlPlaneBackupSchedule, object, status: next, signal });
  }
}

const drillLabel = (key: string): string => labelValue(key.replace('/', '.'));

const textOf = ({ started }: Drill): string =>
  `ControlPlaneBackup ${JSON.stringify(started.backup)} of ${JSON.stringify(started.controlPlane)}`;

function findingOf(drill: Drill, { summary, comparison }: RestoreResult & { state: 'Complete' }): Finding {
  const { objects } = summary;
  if (comparison.isEqual) {
    const message = `${textOf(drill)} was restored with ${objects} objects and an equal digest`;
    return { isSuccess: true, reason: 'Restored', message, objects };
  }
  return { isSuccess: false, reason: 'ContentDiffers', message: `${textOf(drill)}: ${comparison.message}`, objects };
}
