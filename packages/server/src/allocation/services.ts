/**
 * Allocates the cluster IPs and node ports of a Service. Its endpoints are not allocated, but deleted with it: deleting a service deletes
 * the Endpoints with its name.
 */

import type { KubeObject } from '@hangar/api';
import type { Write } from '@hangar/store';
import { objectKey } from '../control-plane.ts';
import type { Allocation, AllocationContext } from './allocation.ts';
import { ClusterIps } from './cluster-ips.ts';
import { isSettledDualStack, settleFamilies } from './ip-families.ts';
import { NodePorts } from './node-ports.ts';
import { readServiceRanges } from './service-cidrs.ts';
import { hasNodePorts, isExternalName, isHeadless, nodePortsOf, specOf } from './service-spec.ts';

export const serviceAllocation: Allocation = {
  async create(context, service) {
    const spec = specOf(service);
    if (isExternalName(spec)) return [];
    const ranges = await readServiceRanges(context.plane);
    settleFamilies(service, undefined, ranges.families);
    const addresses = isHeadless(spec) ? [] : await new ClusterIps(context, ranges, service).take(0);
    if (!hasNodePorts(spec)) return addresses;
    const ports = await NodePorts.open(context);
    ports.takeFor(service);
    return [...addresses, ...ports.writes()];
  },

  async update(context, service, old) {
    return [...(await changeAddresses(context, service, old)), ...(await changePorts(context, service, old))];
  },

  async remove(context, service) {
    if (context.isDryRun) return [];
    const spec = specOf(service);
    const writes = await endpointsWith(context, service);
    if (!isExternalName(spec) && !isHeadless(spec)) {
      const ranges = await readServiceRanges(context.plane);
      writes.push(...new ClusterIps(context, ranges, service).release(spec.clusterIPs ?? []));
    }
    if (nodePortsOf(spec).length === 0 && !spec.healthCheckNodePort) return writes;
    const ports = await NodePorts.open(context);
    ports.releaseAll(service);
    return [...writes, ...ports.writes()];
  },
};

async function changeAddresses(
  context: AllocationContext,
  service: KubeObject,
  old: KubeObject,
): Promise<readonly Write[]> {
  const [spec, before] = [specOf(service), specOf(old)];
  const isNamed = isExternalName(spec);
  if (isNamed && isExternalName(before)) return [];
  const ranges = await readServiceRanges(context.plane);
  settleFamilies(service, old, ranges.families);
  if (isSettledDualStack(spec, before)) return [];
  const addresses = new ClusterIps(context, ranges, service);
  if (isExternalName(before)) return isHeadless(spec) ? [] : addresses.take(0);
  if (isHeadless(before)) return [];
  if (isNamed) return addresses.release(before.clusterIPs ?? []);
  const [now, was] = [spec.ipFamilies?.length ?? 0, before.ipFamilies?.length ?? 0];
  if (was === 1 && now === 2) return addresses.take(1);
  if (was === 2 && now === 1) return addresses.release((before.clusterIPs ?? []).slice(1));
  return [];
}

async function changePorts(
  context: AllocationContext,
  service: KubeObject,
  old: KubeObject,
): Promise<readonly Write[]> {
  if (!hasNodePorts(specOf(service)) && !hasNodePorts(specOf(old))) return [];
  const ports = await NodePorts.open(context);
  ports.changeFor(service, old);
  return ports.writes();
}

const endpoints = { group: '', version: 'v1', resource: 'endpoints' };

async function endpointsWith({ plane }: AllocationContext, service: KubeObject): Promise<Write[]> {
  const { namespace = '', name = '' } = service.metadata;
  const resource = plane.catalogue.find(endpoints)!;
  const { entry } = await plane.store.get(objectKey(plane, resource, namespace, name));
  if (!entry || (resource.stored.object(entry).metadata.finalizers?.length ?? 0) > 0) return [];
  return [{ type: 'delete', key: entry.key, expected: entry.modRevision }];
}
