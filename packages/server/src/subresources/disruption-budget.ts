/** Disruption budgets for evictions: decides whether one more pod may be evicted. */

import {
  forbiddenRequest,
  formatTime,
  labelSelectorOf,
  notFound,
  StatusError,
  timedOut,
  updateManagedFields,
} from '@hangar/api';
import type { JsonObject, KubeObject, LabelSelectorObject } from '@hangar/api';
import { prefixRange } from '@hangar/store';
import type { Entry } from '@hangar/store';
import { collectionPrefix } from '../control-plane.ts';
import type { ControlPlane } from '../control-plane.ts';
import type { Resource } from '../resources/resource.ts';
import { timestamp } from '../verbs/metadata.ts';

interface BudgetStatus extends JsonObject {
  observedGeneration?: number;
  disruptionsAllowed?: number;
  currentHealthy?: number;
  desiredHealthy?: number;
  disruptedPods?: Record<string, string>;
  conditions?: JsonObject[];
}

export interface Budget {
  readonly name: string;
  readonly entry: Entry;
  /** Unready pods may be evicted regardless of the budget. */
  readonly allowsUnready: boolean;
}

const resourceOf = (plane: ControlPlane): Resource =>
  plane.catalogue.find({ group: 'policy', version: 'v1', resource: 'poddisruptionbudgets' })!;

const statusOf = (budget: KubeObject): BudgetStatus => (budget['status'] ??= {}) as BudgetStatus;

/** Returns the budgets whose selector matches the pod. */
export async function budgetsOf(plane: ControlPlane, pod: KubeObject): Promise<Budget[]> {
  const resource = resourceOf(plane);
  const { entries } = await plane.store.range(prefixRange(collectionPrefix(plane, resource, pod.metadata.namespace!)));
  return entries.flatMap((entry) => {
    const object = resource.stored.object(entry);
    if (!selects(object, pod)) return [];
    return [{ name: object.metadata.name!, entry, allowsUnready: allowsUnready(object) }];
  });
}

function selects(budget: KubeObject, pod: KubeObject): boolean {
  const { selector } = (budget['spec'] ?? {}) as { selector?: LabelSelectorObject };
  // A missing selector matches nothing, an empty one everything.
  if (!selector) return false;
  try {
    return labelSelectorOf(selector).matches(pod.metadata.labels ?? {});
  } catch {
    return false;
  }
}

function allowsUnready(budget: KubeObject): boolean {
  const { unhealthyPodEvictionPolicy } = (budget['spec'] ?? {}) as { unhealthyPodEvictionPolicy?: string };
  const { currentHealthy = 0, desiredHealthy = 0 } = statusOf(budget);
  return unhealthyPodEvictionPolicy === 'AlwaysAllow' || (currentHealthy >= desiredHealthy && desiredHealthy > 0);
}

/** Retries while a budget changes during an eviction. */
const attemptsMax = 20;
/** Limit of evictions that the budget's controller has not yet processed. */
const disruptedPodsMax = 2_000;

/** Decrements the allowance and records the pod. Throws 429 if no pod may be evicted now. */
export async function takeDisruption(
  plane: ControlPlane,
  budget: Budget,
  pod: string,
  isDryRun: boolean,
): Promise<void> {
  const resource = resourceOf(plane);
  let entry: Entry | undefined = budget.entry;
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    if (!entry) throw notFound({ group: 'policy', resource: resource.name }, budget.name);
    const live = resource.stored.object(entry);
    checkAllowance(live);
    if (isDryRun) return;
    const value = resource.stored.encode(countedDown(plane, resource, live, pod));
    const result = await plane.store.commit([{ type: 'put', key: entry.key, value, expected: entry.modRevision }]);
    if (result.committed) return;
    entry = result.conflicts[0]?.entry;
  }
  throw timedOut(`couldn't update PodDisruptionBudget "${budget.name}" due to conflicts`, 10);
}

function countedDown(plane: ControlPlane, resource: Resource, live: KubeObject, pod: string): KubeObject {
  const object = structuredClone(live);
  const status = statusOf(object);
  status.disruptionsAllowed = (status.disruptionsAllowed ?? 0) - 1;
  if (status.disruptionsAllowed === 0) setInsufficient(status, plane.clock.now());
  status.disruptedPods = { ...status.disruptedPods, [pod]: timestamp(plane.clock) };
  updateManagedFields({
    type: resource.mergeType,
    live,
    object,
    manager: 'hangar',
    apiVersion: resource.apiVersion,
    subresource: 'status',
    now: timestamp(plane.clock),
    resetFields: resource.strategy.resetFields('status'),
  });
  return object;
}

function checkAllowance(budget: KubeObject): void {
  const { name = '', generation = 0 } = budget.metadata;
  const status = statusOf(budget);
  const allowed = status.disruptionsAllowed ?? 0;
  const refused = { group: 'policy', resource: 'poddisruptionbudget' };
  if ((status.observedGeneration ?? 0) < generation) throw stillProcessed(name);
  if (allowed < 0) throw forbiddenRequest(refused, name, 'pdb disruptions allowed is negative');
  if (Object.keys(status.disruptedPods ?? {}).length > disruptedPodsMax) {
    const message = 'DisruptedPods map too big - too many evictions not confirmed by PDB controller';
    throw forbiddenRequest(refused, name, message);
  }
  if (allowed === 0) throw wouldViolate(whyNone(name, status), 0);
}

function whyNone(name: string, { conditions, currentHealthy = 0, desiredHealthy = 0 }: BudgetStatus): string {
  const none = `The disruption budget ${name} does not allow evicting pods currently`;
  const condition = conditions?.find(({ type }) => type === 'DisruptionAllowed');
  const message = condition?.['status'] === 'False' ? condition['message'] || undefined : undefined;
  if (message !== undefined && condition!['reason'] === 'SyncFailed') {
    return `${none} because it failed sync: ${message as string}`;
  }
  if (currentHealthy <= desiredHealthy) {
    return `The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`;
  }
  return message === undefined ? none : `${none} (${condition!['reason'] as string}): ${message as string}`;
}

function wouldViolate(why: string, retryAfterSeconds: number): StatusError {
  return new StatusError('TooManyRequests', "Cannot evict pod as it would violate the pod's disruption budget.", {
    details: {
      causes: [{ reason: 'DisruptionBudget', message: why }],
      ...(retryAfterSeconds > 0 ? { retryAfterSeconds } : {}),
    },
  });
}

/** The controller has not seen the latest generation, or the pod changed during the eviction. */
export const stillProcessed = (name: string): StatusError =>
  wouldViolate(`The disruption budget ${name} is still being processed by the server.`, 10);

function setInsufficient(status: BudgetStatus, now: number): void {
  const conditions = [...(status.conditions ?? [])];
  const at = conditions.findIndex(({ type }) => type === 'DisruptionAllowed');
  const known = conditions[at];
  const lastTransitionTime =
    known?.['status'] === 'False' ? known['lastTransitionTime'] : formatTime(Math.floor(now / 1_000), 'second');
  conditions.splice(at < 0 ? conditions.length : at, 1, {
    type: 'DisruptionAllowed',
    status: 'False',
    observedGeneration: status.observedGeneration,
    lastTransitionTime,
    reason: 'InsufficientPods',
    message: '',
  });
  status.conditions = conditions;
}
