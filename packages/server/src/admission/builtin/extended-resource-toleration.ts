/** Nodes with special devices are tainted with the name of the device. Adds the matching toleration to pods that request the device. */

import type { AdmissionPlugin } from '../admission.ts';
import { podOf, podResources, specOf } from './pod.ts';
import { isExtendedResource } from '@hangar/api/quota';

export const extendedResourceToleration: AdmissionPlugin = {
  name: 'ExtendedResourceToleration',
  resources: podResources,
  mutate(request) {
    const pod = podOf(request);
    if (!pod) return;
    const spec = specOf(pod);
    const asked = [...(spec.containers ?? []), ...(spec.initContainers ?? [])].flatMap(({ resources }) =>
      Object.keys(resources?.requests ?? {}).filter(isExtendedResource),
    );
    for (const key of [...new Set(asked)].sort()) {
      const given = spec.tolerations ?? [];
      const isTolerated = given.some(
        (one) => one.key === key && one.operator === 'Exists' && one.effect === 'NoSchedule' && !one.value,
      );
      if (!isTolerated) spec.tolerations = [...given, { key, operator: 'Exists', effect: 'NoSchedule' }];
    }
  },
};
