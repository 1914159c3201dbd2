/** Conditions in a pod's status. */

import { formatTime } from '@hangar/api';
import type { JsonObject, KubeObject } from '@hangar/api';

export interface PodCondition extends JsonObject {
  readonly type: string;
  readonly status: 'True' | 'False';
}

/** Adds the condition, or replaces the one of its type; the transition time changes only with the status. */
export function setPodCondition(pod: KubeObject, condition: PodCondition, now: number): void {
  const status = (pod['status'] ??= {}) as { conditions?: JsonObject[] };
  const conditions = [...(status.conditions ?? [])];
  const at = conditions.findIndex(({ type }) => type === condition.type);
  const known = conditions[at];
  const isSame = known?.['status'] === condition.status;
  const lastTransitionTime = isSame ? known['lastTransitionTime'] : formatTime(Math.floor(now / 1_000), 'second');
  conditions.splice(at < 0 ? conditions.length : at, 1, { ...condition, lastProbeTime: null, lastTransitionTime });
  status.conditions = conditions;
}

export const isPodReady = (pod: KubeObject): boolean => {
  const { conditions } = (pod['status'] ?? {}) as { conditions?: JsonObject[] };
  return conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
};
