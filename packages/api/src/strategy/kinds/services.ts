/**
 * Services. The server allocates addresses and ports before these rules run. These rules depend on the objects alone: allocated values are
 * kept, and dropped when the type no longer needs them.
 */

import { isExternallyAccessible } from '../../defaults/core.ts';
import {
  isAbsent,
  isEmpty,
  numberAt,
  objectAt,
  objectsAt,
  stringAt,
  stringsAt,
  structAt,
} from '../../defaults/access.ts';
import type { JsonObject, KubeObject } from '../../object.ts';
import { nameIsLabel } from '../../validation/formats.ts';
import type { KindRules } from '../rules.ts';
import { equalJson } from '../../fields/semantic-equality.ts';

export const serviceRules: Readonly<Record<string, KindRules>> = {
  Service: { name: nameIsLabel, createsOnUpdate: true, create: createService, update: updateService },
  Endpoints: { createsOnUpdate: true },
};

function createService(object: KubeObject): void {
  const spec = structAt(object, 'spec');
  const address = stringAt(spec, 'clusterIP');
  if (address !== '' && stringsAt(spec, 'clusterIPs').length === 0) spec['clusterIPs'] = [address];
  hideTrafficPolicy(spec);
}

/** An ExternalName service has no traffic inside the cluster; the server stores the policy but never shows it. */
function hideTrafficPolicy(spec: JsonObject): void {
  if (!needsClusterIp(spec)) delete spec['internalTrafficPolicy'];
}

function updateService(object: KubeObject, old: KubeObject): void {
  const spec = structAt(object, 'spec');
  const before = objectAt(old, 'spec') ?? {};
  keepAllocated(spec, before);
  followClusterIp(spec, before);
  dropUnneeded(spec, before);
  hideTrafficPolicy(spec);
  const status = objectAt(object, 'status');
  if (spec['type'] !== 'LoadBalancer' && status !== undefined) object['status'] = { ...status, loadBalancer: {} };
}

const needsClusterIp = (spec: JsonObject): boolean => spec['type'] !== 'ExternalName';
const hasNodePorts = ({ type }: JsonObject): boolean => type === 'NodePort' || type === 'LoadBalancer';
const getsNodePorts = (spec: JsonObject): boolean =>
  hasNodePorts(spec) && !(spec['type'] === 'LoadBalancer' && spec['allocateLoadBalancerNodePorts'] === false);
const needsHealthCheck = (spec: JsonObject): boolean =>
  spec['type'] === 'LoadBalancer' && spec['externalTrafficPolicy'] === 'Local';

/** Keeps allocated values, so that a client can send the same manifest again. */
function keepAllocated(spec: JsonObject, before: JsonObject): void {
  if (needsClusterIp(before) && needsClusterIp(spec)) {
    for (const name of ['clusterIP', 'clusterIPs']) {
      if (isEmpty(spec[name]) && !isEmpty(before[name])) spec[name] = before[name];
    }
  }
  if (getsNodePorts(before) && getsNodePorts(spec)) keepNodePorts(objectsAt(spec, 'ports'), objectsAt(before, 'ports'));
  if (needsHealthCheck(before) && needsHealthCheck(spec) && isEmpty(spec['healthCheckNodePort'])) {
    const port = numberAt(before, 'healthCheckNodePort');
    if (port !== 0) spec['healthCheckNodePort'] = port;
  }
}

function keepNodePorts(ports: readonly JsonObject[], before: readonly JsonObject[]): void {
  const now = new Set(ports.map((port) => numberAt(port, 'nodePort')));
  const byName = new Map(before.map((port) => [stringAt(port, 'name'), numberAt(port, 'nodePort')]));
  for (const port of ports) {
    const known = byName.get(stringAt(port, 'name')) ?? 0;
    if (isEmpty(port['nodePort']) && known !== 0 && !now.has(known)) port['nodePort'] = known;
  }
}

/** Older clients use only `clusterIP`: `clusterIPs` follows it if the client did not change it. */
function followClusterIp(spec: JsonObject, before: JsonObject): void {
  const now = stringAt(spec, 'clusterIP');
  const was = stringAt(before, 'clusterIP');
  const isUntouched = equalJson(stringsAt(spec, 'clusterIPs'), stringsAt(before, 'clusterIPs'));
  if (now === was) {
    if (isEmpty(spec['clusterIPs']) && !isEmpty(before['clusterIPs'])) spec['clusterIPs'] = before['clusterIPs'];
  } else if (isUntouched && now !== '') spec['clusterIPs'] = [now];
  else if (isUntouched) delete spec['clusterIPs'];
}

/** Drops fields that the new type does not use, unless the client changed them too: then validation refuses. */
function dropUnneeded(spec: JsonObject, before: JsonObject): void {
  const same = (name: string): boolean => equalJson(spec[name] ?? null, before[name] ?? null);
  const drop = (...names: string[]): void => names.forEach((name) => delete spec[name]);
  if (needsClusterIp(before) && !needsClusterIp(spec)) {
    if (same('clusterIP') && same('clusterIPs')) drop('clusterIP', 'clusterIPs');
    if (same('ipFamilies')) drop('ipFamilies');
    if (same('ipFamilyPolicy')) drop('ipFamilyPolicy');
  }
  if (hasNodePorts(before) && !hasNodePorts(spec)) dropNodePorts(objectsAt(spec, 'ports'), objectsAt(before, 'ports'));
  if (needsHealthCheck(before) && !needsHealthCheck(spec) && same('healthCheckNodePort')) drop('healthCheckNodePort');
  if (before['type'] === 'LoadBalancer' && spec['type'] !== 'LoadBalancer') {
    if (!isAbsent(spec['allocateLoadBalancerNodePorts']) && same('allocateLoadBalancerNodePorts')) {
      drop('allocateLoadBalancerNodePorts');
    }
    if (same('loadBalancerClass')) drop('loadBalancerClass');
  }
  if (isExternallyAccessible(before) && !isExternallyAccessible(spec) && same('externalTrafficPolicy')) {
    drop('externalTrafficPolicy');
  }
}

function dropNodePorts(ports: readonly JsonObject[], before: readonly JsonObject[]): void {
  const known = new Set(before.map((port) => numberAt(port, 'nodePort')));
  if (ports.some((port) => numberAt(port, 'nodePort') !== 0 && !known.has(numberAt(port, 'nodePort')))) return;
  for (const port of ports) delete port['nodePort'];
}
