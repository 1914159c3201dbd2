/** Defaults of the core group's other kinds. */

import type { JsonObject } from '../object.ts';
import {
  fill,
  fillEmpty,
  isAbsent,
  isEmpty,
  numberAt,
  objectAt,
  elementsAt,
  put,
  putMissing,
  stringAt,
  stringsAt,
  structAt,
} from './access.ts';
import type { Defaulters } from './plan.ts';

export const coreDefaulters: Defaulters = {
  'core/v1.Service': service,
  'core/v1.Endpoints': endpoints,
  'core/v1.Secret': secret,
  'core/v1.Namespace': namespace,
  'core/v1.NamespaceStatus': (status) => fillEmpty(status, { phase: 'Active' }),
  'core/v1.NodeSpec': nodeSpec,
  'core/v1.NodeStatus': nodeStatus,
  'core/v1.LimitRangeItem': limitRangeItem,
  'core/v1.ReplicationController': replicationController,
};

const clientAffinitySeconds = 10_800;

function service(one: JsonObject): void {
  const spec = structAt(one, 'spec');
  fillEmpty(spec, { sessionAffinity: 'None', type: 'ClusterIP' });
  sessionAffinity(spec);
  for (const port of elementsAt(spec, 'ports')) {
    fillEmpty(port, { protocol: 'TCP', targetPort: numberAt(port, 'port') });
  }
  const type = stringAt(spec, 'type');
  if (isExternallyAccessible(spec)) fillEmpty(spec, { externalTrafficPolicy: 'Cluster' });
  if (type === 'NodePort' || type === 'LoadBalancer' || type === 'ClusterIP')
    fill(spec, { internalTrafficPolicy: 'Cluster' });
  if (type !== 'LoadBalancer') return;
  fill(spec, { allocateLoadBalancerNodePorts: true });
  for (const ingress of elementsAt(objectAt(objectAt(one, 'status'), 'loadBalancer'), 'ingress')) {
    if (stringAt(ingress, 'ip') !== '') fill(ingress, { ipMode: 'VIP' });
  }
}

function sessionAffinity(spec: JsonObject): void {
  if (spec['sessionAffinity'] === 'None') delete spec['sessionAffinityConfig'];
  if (spec['sessionAffinity'] !== 'ClientIP') return;
  const seconds = objectAt(objectAt(spec, 'sessionAffinityConfig'), 'clientIP')?.['timeoutSeconds'];
  if (isAbsent(seconds)) spec['sessionAffinityConfig'] = { clientIP: { timeoutSeconds: clientAffinitySeconds } };
}

export function isExternallyAccessible(spec: JsonObject | undefined): boolean {
  const type = stringAt(spec, 'type');
  return (
    type === 'LoadBalancer' ||
    type === 'NodePort' ||
    (type === 'ClusterIP' && stringsAt(spec, 'externalIPs').length > 0)
  );
}

function endpoints(one: JsonObject): void {
  for (const subset of elementsAt(one, 'subsets')) {
    for (const port of elementsAt(subset, 'ports')) fillEmpty(port, { protocol: 'TCP' });
  }
}

/** `stringData` is write-only: its values are moved to `data`. */
function secret(one: JsonObject): void {
  fillEmpty(one, { type: 'Opaque' });
  const texts = objectAt(one, 'stringData');
  if (texts !== undefined) {
    const data = structAt(one, 'data');
    for (const key of Object.keys(texts)) put(data, key, Buffer.from(String(texts[key] ?? '')).toString('base64'));
  }
  delete one['stringData'];
}

export const namespaceNameLabel = 'kubernetes.io/metadata.name';

/** A name that is still to be generated gets its label when it is there. */
function namespace(one: JsonObject): void {
  const metadata = structAt(one, 'metadata');
  const name = stringAt(metadata, 'name');
  if (name !== '') put(structAt(metadata, 'labels'), namespaceNameLabel, name);
}

/** `podCIDR` is the first of `podCIDRs`; where they differ the older field wins. */
function nodeSpec(spec: JsonObject): void {
  const single = stringAt(spec, 'podCIDR');
  const first = stringsAt(spec, 'podCIDRs')[0];
  if (single !== '' && first !== single) spec['podCIDRs'] = [single];
  else if (first !== undefined) spec['podCIDR'] = first;
}

function nodeStatus(status: JsonObject): void {
  const capacity = objectAt(status, 'capacity');
  if (capacity !== undefined && isAbsent(status['allocatable'])) status['allocatable'] = { ...capacity };
}

/** For containers: the limit defaults to the maximum; the request defaults to the limit, then the minimum. */
function limitRangeItem(item: JsonObject): void {
  if (item['type'] !== 'Container') return;
  const limits = structAt(item, 'default');
  const requests = structAt(item, 'defaultRequest');
  putMissing(limits, objectAt(item, 'max'));
  putMissing(requests, limits);
  putMissing(requests, objectAt(item, 'min'));
}

/** Selector and labels follow the template. */
function replicationController(one: JsonObject): void {
  const spec = structAt(one, 'spec');
  const labels = objectAt(objectAt(objectAt(spec, 'template'), 'metadata'), 'labels');
  if (labels === undefined) return;
  const metadata = structAt(one, 'metadata');
  if (isEmpty(spec['selector'])) spec['selector'] = { ...labels };
  if (isEmpty(metadata['labels'])) metadata['labels'] = { ...labels };
}
