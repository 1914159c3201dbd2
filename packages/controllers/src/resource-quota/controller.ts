/**
 * `status` of ResourceQuotas. Admission charges what is created; this counts what is there, so that what went is given back, and a
 * charge for something that was never stored after all.
 *
 *     the quota's limits changed             at once
 *     something that it counts went          at once, but not all the time: changes are collected for a moment
 *     a pod, a service, a claim changed      the same
 *     its status changed                     soon, when nothing of it can be in flight any more
 *     a pod is late in ending                when its time is over
 *
 * Every write of a status is looked at once more, by the last but one rule; a count that finds nothing new writes nothing and ends it.
 * What was charged lately is not given back before it had time to be stored (`recent-raises.ts`): whoever counts in between must not
 * make room in a quota that is full.
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
/** Of the time that a quota's counts take, at most one part in so many is spent on them. */
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

  /** Read, count, write if that is the one that was read: whoever is charged meanwhile makes it a conflict, and it is tried again. */
  async #count(known: KnownQuota, { client, signal }: ControllerContext): Promise<Result | void> {
    const { namespace, name } = known;
    const quota = await find(client, ResourceQuota, { namespace, name }, { signal });
    if (!quota) return;
    // Before it is counted: what is charged from now on makes the write a conflict.
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

  /** What was not served can be counted now. */
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

/** Of most resources only the number counts, which a change of one does not change. */
const canFree = (change: Change): boolean => change.type === 'delete' || !evaluatorOf(change)!.isPlainCount;
