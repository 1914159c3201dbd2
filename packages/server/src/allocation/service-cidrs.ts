/** Ranges and families of service addresses, from all ServiceCIDRs in the store. */

import type { KubeObject } from '@hangar/api';
import { prefixRange } from '@hangar/store';
import { collectionPrefix } from '../control-plane.ts';
import type { ControlPlane } from '../control-plane.ts';
import { AddressRange } from './address-range.ts';
import type { IpFamily } from './address-range.ts';

const serviceCidrs = { group: 'networking.k8s.io', version: 'v1', resource: 'servicecidrs' };
/** ServiceCIDR that every control plane has. It determines the families. */
const defaultName = 'kubernetes';

export interface ServiceRanges {
  /** Ranges that addresses may be taken from. */
  readonly ready: readonly AddressRange[];
  readonly all: readonly AddressRange[];
  /** The default family first. */
  readonly families: readonly IpFamily[];
}

export async function readServiceRanges(plane: ControlPlane): Promise<ServiceRanges> {
  const resource = plane.catalogue.find(serviceCidrs)!;
  const { entries } = await plane.store.range(prefixRange(collectionPrefix(plane, resource, '')));
  const cidrs = entries.map((entry) => resource.stored.object(entry));
  const all = cidrs.flatMap(rangesOf);
  const main = cidrs.find(({ metadata }) => metadata.name === defaultName);
  const families = new Set((main ? rangesOf(main) : all).map(({ family }) => family));
  return { ready: cidrs.filter(isReady).flatMap(rangesOf), all, families: [...families] };
}

/** Kubernetes accepts no larger IPv6 range. */
const ipv6PrefixLengthMin = 64;

function rangesOf(cidr: KubeObject): AddressRange[] {
  const { cidrs } = (cidr['spec'] ?? {}) as { cidrs?: string[] };
  return (cidrs ?? []).flatMap((text) => {
    const range = AddressRange.parse(text);
    const isTooLarge = range?.family === 'IPv6' && Number(text.split('/')[1]) < ipv6PrefixLengthMin;
    return range && !isTooLarge ? [range] : [];
  });
}

/** Reports whether no condition says otherwise and the range is not being deleted. */
function isReady(cidr: KubeObject): boolean {
  const { conditions } = (cidr['status'] ?? {}) as { conditions?: { type: string; status: string }[] };
  const ready = conditions?.find(({ type }) => type === 'Ready');
  return cidr.metadata.deletionTimestamp === undefined && (ready === undefined || ready.status === 'True');
}
