/** Copies the topology labels of a node to a pod that is bound to it. */

import type { KubeObject } from '@hangar/api';
import type { ControlPlane } from '../../control-plane.ts';
import type { AdmissionPlugin } from '../admission.ts';
import { read } from './lookup.ts';
import { podResources, specOf } from './pod.ts';

const nodes = { group: '', version: 'v1', resource: 'nodes' };
const copied = ['topology.kubernetes.io/zone', 'topology.kubernetes.io/region'];

export const podTopologyLabels = (plane: ControlPlane): AdmissionPlugin => ({
  name: 'PodTopologyLabels',
  resources: podResources,
  mutate({ operation, subresource, object }) {
    if (operation !== 'CREATE') return undefined;
    const node = subresource === '' ? specOf(object!).nodeName : subresource === 'binding' ? targetOf(object!) : '';
    return node ? copyLabels(plane, node, object!) : undefined;
  },
});

function targetOf(binding: KubeObject): string {
  const { target } = binding as { target?: { kind?: string; name?: string } };
  return target?.kind === 'Node' ? (target.name ?? '') : '';
}

async function copyLabels(plane: ControlPlane, name: string, { metadata }: KubeObject): Promise<void> {
  const node = await read(plane, nodes, '', name);
  for (const label of copied) {
    const value = node?.metadata.labels?.[label];
    if (value !== undefined) metadata.labels = { ...metadata.labels, [label]: value };
  }
}
