/** Adds tolerations of five minutes for nodes that are unreachable or not ready, unless the pod sets its own. */

import type { AdmissionPlugin } from '../admission.ts';
import { podOf, podResources, specOf } from './pod.ts';
import type { Toleration } from './pod.ts';

export interface TolerationSeconds {
  readonly notReady: number;
  readonly unreachable: number;
}

export const defaultTolerationSeconds = (
  seconds: TolerationSeconds = { notReady: 300, unreachable: 300 },
): AdmissionPlugin => ({
  name: 'DefaultTolerationSeconds',
  resources: podResources,
  mutate(request) {
    const pod = podOf(request);
    if (!pod) return;
    const spec = specOf(pod);
    const given = spec.tolerations ?? [];
    const added = [
      ...missing(given, 'node.kubernetes.io/not-ready', seconds.notReady),
      ...missing(given, 'node.kubernetes.io/unreachable', seconds.unreachable),
    ];
    if (added.length > 0) spec.tolerations = [...given, ...added];
  },
});

function missing(given: readonly Toleration[], key: string, tolerationSeconds: number): Toleration[] {
  const tolerates = given.some((one) => (!one.key || one.key === key) && (!one.effect || one.effect === 'NoExecute'));
  return tolerates ? [] : [{ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds }];
}
