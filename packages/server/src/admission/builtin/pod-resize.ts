/** Allows resizing a pod only up to the capacity of its node, and only if the node supports it. */

import { quote, StatusError } from '@hangar/api';
import type { KubeObject } from '@hangar/api';
import type { ControlPlane } from '../../control-plane.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../admission.ts';
import { amountOf, amountsOf, compare, millisOf, podTotal, unitsOf, zero } from '@hangar/api/quota';
import { read } from './lookup.ts';
import { podResources, specOf } from './pod.ts';
import type { Pod, ResourceList } from './pod.ts';
import { forbid } from '../refusal.ts';

const nodes = { group: '', version: 'v1', resource: 'nodes' };

export const podResizeValidator = (plane: ControlPlane): AdmissionPlugin => ({
  name: 'PodResizeValidator',
  resources: podResources,
  validate(request) {
    if (request.operation !== 'UPDATE' || request.subresource !== 'resize') return undefined;
    const [pod, old] = [request.object as Pod, request.old as Pod];
    const { nodeName } = specOf(pod);
    if (!nodeName || pod.metadata.generation === old.metadata.generation) return undefined;
    return checkNode(plane, request, pod, nodeName);
  },
});

async function checkNode(plane: ControlPlane, request: AdmissionRequest, pod: Pod, name: string): Promise<void> {
  const node = await read(plane, nodes, '', name);
  if (!node) throw forbid(request, `node ${quote(name)} not found`);
  const os = node.metadata.labels?.['kubernetes.io/os'] ?? 'linux';
  if (os !== 'linux') {
    const why = `pod resize is only supported on linux nodes, node ${quote(name)} is ${quote(os)}`;
    throw withCause(forbid(request, why), 'UnsupportedPlatform');
  }
  const lacking = lackingOf(pod, node);
  if (lacking.length === 0) return;
  const why = `node didn't have enough allocatable resources: ${lacking.join('; ')}`;
  throw withCause(forbid(request, why), 'NodeCapacity');
}

function lackingOf(pod: Pod, node: KubeObject): string[] {
  const { allocatable } = (node['status'] ?? {}) as { allocatable?: ResourceList };
  const room = amountsOf(allocatable);
  const total = podTotal(pod, 'requests', { countsStatus: false });
  const [cpu, cpuRoom] = [total.get('cpu') ?? zero, room.get('cpu') ?? amountOf('0')];
  const [memory, memoryRoom] = [total.get('memory') ?? zero, room.get('memory') ?? amountOf('0')];
  return [
    ...(compare(cpu, cpuRoom) > 0 ? [`cpu, requested: ${millisOf(cpu)}, allocatable: ${millisOf(cpuRoom)}`] : []),
    ...(compare(memory, memoryRoom) > 0
      ? [`memory, requested: ${unitsOf(memory)}, allocatable: ${unitsOf(memoryRoom)}`]
      : []),
  ];
}

const withCause = (refused: StatusError, reason: string): StatusError =>
  new StatusError('Forbidden', refused.message, { details: { ...refused.status.details, causes: [{ reason }] } });
