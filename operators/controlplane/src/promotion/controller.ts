/**
 * Measures the control planes of classes with `spec.promotion` every 30 s, and recommends or makes changes of their mode:
 *
 *     usage of the host ─► measurements ─► history ─► decide ─► condition, or spec.mode
 *
 * It is idle while no class has promotion. A change of `spec.mode` starts a migration, which other controllers do. A measurement that fails
 * changes nothing.
 */

import type { Client } from '@hangar/client';
import { asError, hasCode, orAborted, sleep } from '@hangar/core';
import type { Clock, Logger } from '@hangar/core';
import type { Cluster, ClusterEvents } from '@hangar/runtime';
import { ControlPlane, ControlPlaneClass } from '../api/index.ts';
import { Tenant } from '../host/index.ts';
import { candidateOf, hasStaleAnnotation } from './candidate.ts';
import { decide } from './decide.ts';
import type { Candidate } from './decide.ts';
import { needsCounts, promotionClasses } from './fleet.ts';
import type { FleetPlane, PromotionClass } from './fleet.ts';
import { withMeasurement } from './history.ts';
import type { History } from './history.ts';
import type { Measurements } from './policy.ts';
import type { TenantMeasurements } from './tenant-measurements.ts';
import { PromotionWriter } from './writer.ts';

/** Measures dedicated control planes. An unknown value is absent. */
export interface DedicatedMeasurements {
  measure(planes: readonly ControlPlane[], signal: AbortSignal): Promise<ReadonlyMap<string, Measurements>>;
}

export interface PromotionOptions {
  /** Reads are cached. */
  readonly management: Cluster;
  /** Writes to the management plane. */
  readonly client: Client;
  /** `tenantsOf(host)`. */
  readonly tenants: Cluster;
  readonly measurements: Pick<TenantMeasurements, 'measure'>;
  readonly dedicated: DedicatedMeasurements;
  readonly events: Pick<ClusterEvents, 'event'>;
  readonly clock: Clock;
  readonly log: Logger;
  /** For tests. Absent: 30 s. */
  readonly intervalMs?: number | undefined;
}

const defaultIntervalMs = 30_000;
/** A changed control plane counts as migrating for this long, until its migration is visible in the cache. */
const migrationVisibleMs = 120_000;

export class PromotionController {
  readonly name = 'promotion';
  readonly #options: PromotionOptions;
  readonly #writer: PromotionWriter;
  /** By uid of the control plane. */
  #histories = new Map<string, History>();
  /** Times of our changes, by uid. */
  readonly #changedAtMs = new Map<string, number>();
  #classChanged = Promise.withResolvers<void>();

  constructor(options: PromotionOptions) {
    this.#options = options;
    this.#writer = new PromotionWriter(options);
  }

  /** Runs until the signal. */
  async start(signal: AbortSignal): Promise<void> {
    const { management, tenants, clock, log, intervalMs = defaultIntervalMs } = this.#options;
    const wake = (): void => this.#classChanged.resolve();
    const classes = management.cache.informer(ControlPlaneClass);
    const registration = classes.addHandler({ onAdd: wake, onUpdate: wake, onDelete: wake });
    try {
      await Promise.all([
        classes.synced(signal),
        management.cache.informer(ControlPlane).synced(signal),
        tenants.cache.informer(Tenant).synced(signal),
      ]);
      for (;;) {
        this.#classChanged = Promise.withResolvers<void>();
        const isNeeded = await this.#pass(signal).catch((error: unknown) => {
          if (!signal.aborted) log.warn('cannot measure control planes for promotion', { error: asError(error) });
          return true;
        });
        if (isNeeded) await sleep(clock, intervalMs, signal);
        else await orAborted(this.#classChanged.promise, signal);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      registration.remove();
    }
  }

  /** Returns false if no class has promotion. */
  async #pass(signal: AbortSignal): Promise<boolean> {
    const { management, tenants } = this.#options;
    const classes = promotionClasses(management, tenants);
    await this.#writer.withdraw(management.cache.informer(ControlPlane).all(), classes, signal);
    if (classes.length === 0) {
      this.#histories.clear();
      return false;
    }
    const measured = await this.#measure(classes, signal);
    const histories = this.#histories;
    this.#histories = new Map();
    for (const one of classes) await this.#decide(one, { measured, histories, signal });
    return true;
  }

  async #measure(classes: readonly PromotionClass[], signal: AbortSignal): Promise<Map<string, Measurements>> {
    const { measurements, dedicated } = this.#options;
    const planes = classes.flatMap((one) => one.planes);
    const tenants = planes.map(({ tenant }) => tenant).filter((tenant) => tenant !== undefined);
    const byPath =
      tenants.length === 0
        ? new Map<string, Measurements>()
        : await measurements.measure(tenants, { isCounted: needsCounts(classes), signal });
    const returning = classes.filter(({ policy }) => policy.toVirtual !== undefined).flatMap((one) => one.planes);
    const dedicatedPlanes = returning.filter((one) => one.isMeasurable && !one.tenant).map(({ plane }) => plane);
    const byUid = new Map(await dedicated.measure(dedicatedPlanes, signal));
    for (const { plane, tenant } of planes) {
      if (tenant) byUid.set(plane.metadata.uid!, byPath.get(tenant.path) ?? {});
    }
    return byUid;
  }

  async #decide(
    { name: className, policy, planes }: PromotionClass,
    { measured, histories, signal }: Measuring,
  ): Promise<void> {
    const { clock, log } = this.#options;
    const nowMs = clock.now();
    const byName = new Map(planes.map((one) => [one.plane.metadata.name!, one.plane]));
    const candidates = planes.map((one): Candidate => {
      const uid = one.plane.metadata.uid!;
      const mode = one.plane.spec?.mode ?? 'Virtual';
      const figures = one.isMeasurable ? measured.get(uid) : undefined;
      const history = figures && withMeasurement(histories.get(uid), { mode, measured: figures, nowMs }, policy);
      if (history) this.#histories.set(uid, history);
      return { ...this.#candidate(one, nowMs), history };
    });
    for (const decision of decide(candidates, policy, nowMs)) {
      const plane = byName.get(decision.name)!;
      const { uid } = plane.metadata;
      try {
        const isChanged = await this.#writer.write(plane, decision, {
          className,
          history: this.#histories.get(uid!),
          signal,
        });
        if (isChanged) this.#changedAtMs.set(uid!, nowMs);
        if (hasStaleAnnotation(plane) && !this.#isChanging(uid!, nowMs)) await this.#writer.clean(plane, signal);
      } catch (error) {
        // Changed or deleted meanwhile: the next pass reads the new state.
        if (signal.aborted) throw error;
        if (hasCode(error, 'Conflict') || hasCode(error, 'NotFound')) continue;
        log.warn('cannot write the recommendation of a control plane', {
          controlPlane: decision.name,
          error: asError(error),
        });
      }
    }
  }

  #candidate({ plane }: FleetPlane, nowMs: number): Omit<Candidate, 'history'> {
    const candidate = candidateOf(plane);
    if (!this.#isChanging(plane.metadata.uid!, nowMs)) return candidate;
    return { ...candidate, isMigrating: true, isInBudget: true };
  }

  /** Reports whether we changed the mode a short time ago. */
  #isChanging(uid: string, nowMs: number): boolean {
    const atMs = this.#changedAtMs.get(uid);
    if (atMs !== undefined && nowMs - atMs < migrationVisibleMs) return true;
    this.#changedAtMs.delete(uid);
    return false;
  }
}

interface Measuring {
  readonly measured: ReadonlyMap<string, Measurements>;
  readonly histories: ReadonlyMap<string, History>;
  readonly signal: AbortSignal;
}
