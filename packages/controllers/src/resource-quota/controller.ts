/**
 * Maintains `status` of ResourceQuotas. Admission charges created objects; this controller counts existing objects, so that the usage of
 * deleted objects is released, and charges for objects that were never stored.
 *
 *     the limits of the quota changed        at once
 *     a counted object was deleted           at once, but rate-limited: changes are batched for a moment
 *     a pod, service or claim changed        the same
 *     its status changed                     soon, when none of its charges can be in flight
 *     a pod exceeds its grace period         at the end of the grace period
 *
 * Every write of a status causes another count, by the status rule; a count without a change writes nothing and stops the cycle. Recent
 * charges are not released before they had time to be stored (`recent-raises.ts`): a count in between must not make room in a full quota.
 */

import type { KubeObject } from '@hangar/api';
import { amountsOf, evaluatorOf, isEqual, readQuota } from '@hangar/api/quota';
import { ResourceQuota } from '@hangar/client/kinds/core-v1';
import { find } from '@hangar/client';
import type { Clock } from '@hangar/core';
import type { Request, Result } from '@hangar/runtime';
import type { Ask, Change, ControllerContext, ControllerWorld, FleetController, ResourceId } from '../contract.ts';
import { countUsage } from './count.ts';
import { KnownQuotas, keyOfResource, settleMs } from './known-quotas.ts';
import type { KnownQuota } from './known-quotas.ts';
import { wantedStatus } from './status.ts';

const pauseMsMin = 250;
/** Counts of a quota take at most one part in this many of the time. */
const pauseFactor = 9;

export class ResourceQuotaController implements FleetController {
  readonly name = 'resourcequota';
  readonly #clock: Clock;
  readonly #quotas = new KnownQuotas();

  constructor({ clock }: Pick<ControllerWorld, 'clock'>) {
    this.#clock = clock;
  }

  wants(resource: ResourceId): boolean {
    return evaluatorOf(resource) !== undefined;
  }

  changed(change: Change, ask: Ask): void {
    if (isOf(change, '', 'resourcequotas')) this.#quotaChanged(change, ask);
    if (isOf(change, 'apiextensions.k8s.io', 'customresourcedefinitions')) this.#definitionChanged(change, ask);
    if (change.isInitial || change.namespace === '') return;
    const { cluster } = change;
    for (const { namespace, name, counts } of this.#quotas.inNamespace(cluster, change.namespace)) {
      if (counts.has(keyOfResource(change)) && canFree(change)) ask({ cluster, namespace, name });
    }
  }

  reset(): void {
    this.#quotas.clear();
  }

  clusterGone(cluster: string): void {
    this.#quotas.forget(cluster);
  }

  async reconcile({ cluster, namespace = '', name }: Request, context: ControllerContext): Promise<Result | void> {
    const known = this.#quotas.find(cluster, namespace, name);
    if (!known) return;
    const startedMs = this.#clock.monotonicMs();
    if (startedMs < known.notBeforeMs) return { requeueAfterMs: known.notBeforeMs - startedMs };
    try {
      return await this.#count(known, context);
    } finally {
      const endedMs = this.#clock.monotonicMs();
      known.notBeforeMs = endedMs + Math.max(pauseMsMin, pauseFactor * (endedMs - startedMs));
    }
  }

  /** Read, count, conditional write: a concurrent charge causes a conflict and a retry. */
  async #count(known: KnownQuota, { client, signal }: ControllerContext): Promise<Result | void> {
    const { namespace, name } = known;
    const quota = await find(client, ResourceQuota, { namespace, name }, { signal });
    if (!quota) return;
    // Read before the count: a later charge makes the write conflict.
    const inFlight = known.raises.inFlight(amountsOf(quota.status?.used), this.#clock.monotonicMs());
    const nowMs = this.#clock.now();
    const limits = Object.keys(quota.spec?.hard ?? {});
    const selectors = readQuota(quota as unknown as KubeObject).selectors;
    const counted = await countUsage({ client, namespace, quota: { selectors }, limits, nowMs, signal });
    const { status, isProvisional } = wantedStatus(quota, counted.used, inFlight);
    if (status) await client.status.update(ResourceQuota, { ...quota, status }, { signal });
    const nextMs = Math.min(isProvisional ? settleMs : Infinity, (counted.endsAtMs ?? Infinity) - nowMs);
    if (nextMs < Infinity) return { requeueAfterMs: Math.max(1, nextMs) };
  }

  #quotaChanged(change: Change, ask: Ask): void {
    const { cluster, namespace, name } = change;
    if (change.type === 'delete') {
      this.#quotas.delete(cluster, { namespace, name });
      return;
    }
    const { spec, status } = change.object() as { spec?: QuotaPart; status?: QuotaPart };
    const { raises } = this.#quotas.put(cluster, { namespace, name }, Object.keys(spec?.hard ?? {}));
    raises.told(amountsOf(status?.used), this.#clock.monotonicMs());
    const isCurrent = isEqual(amountsOf(spec?.hard), amountsOf(status?.hard)) && status?.used !== undefined;
    ask({ cluster, namespace, name }, { afterMs: isCurrent && !change.isInitial ? 2 * settleMs : 0 });
  }

  /** A resource that was not served can be counted now. */
  #definitionChanged({ cluster, name: resource, isInitial }: Change, ask: Ask): void {
    if (isInitial) return;
    for (const { namespace, name, counts } of this.#quotas.inCluster(cluster)) {
      if (counts.has(resource)) ask({ cluster, namespace, name }, { afterMs: settleMs });
    }
  }
}

interface QuotaPart {
  hard?: Record<string, string>;
  used?: Record<string, string>;
}

const isOf = (change: Change, group: string, resource: string): boolean =>
  change.resource === resource && change.group === group;

/** For most resources only the number of objects counts, which an update does not change. */
const canFree = (change: Change): boolean => change.type === 'delete' || !evaluatorOf(change)!.isPlainCount;
