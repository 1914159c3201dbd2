/** Taints new nodes until the node controller observes that they are ready. */

import type { KubeObject } from '@hangar/api';
import type { AdmissionPlugin } from '../admission.ts';
import type { List } from './pod.ts';

interface Taint {
  readonly key?: string;
  readonly effect?: string;
}

interface Node extends KubeObject {
  spec?: { taints?: List<Taint> };
}

const notReady: Taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };

export const taintNodesByCondition: AdmissionPlugin = {
  name: 'TaintNodesByCondition',
  resources: new Set(['/nodes']),
  mutate({ operation, subresource, object }) {
    if (operation !== 'CREATE' || subresource !== '') return;
    const node = object as Node;
    const spec = (node.spec ??= {});
    const taints = spec.taints ?? [];
    if (taints.some(({ key, effect }) => key === notReady.key && effect === notReady.effect)) return;
    spec.taints = [...taints, { ...notReady }];
  },
};
