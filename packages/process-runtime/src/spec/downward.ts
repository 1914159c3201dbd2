/** The downward API: values of a pod in environment variables and files. */

import { formatQuantity, parseQuantity } from '@hangar/api/values';
import type { Container, Pod } from '@hangar/client/kinds/core-v1';
import type { ResourceFieldSelector } from '@hangar/client/kinds/core-v1';
import { ProcessRuntimeError } from '../errors.ts';

/** Addresses and the node of a pod, which its status has only later. */
export interface PodPlace {
  readonly podIP: string;
  readonly hostIP: string;
  readonly nodeName: string;
  /** Resources of the node: the limits of a container without limits. */
  readonly allocatable: Readonly<Record<string, string>>;
}

/** Returns the value of a field. Throws `CreateContainerConfigError` for a field that the downward API does not have. */
export function fieldValue(pod: Pod, place: PodPlace, path: string): string {
  const { metadata, spec } = pod;
  const keyed = /^metadata\.(labels|annotations)\['(.+)'\]$/.exec(path);
  if (keyed) return metadata[keyed[1] as 'labels' | 'annotations']?.[keyed[2]!] ?? '';
  switch (path) {
    case 'metadata.name':
      return metadata.name ?? '';
    case 'metadata.namespace':
      return metadata.namespace ?? '';
    case 'metadata.uid':
      return metadata.uid ?? '';
    case 'metadata.labels':
      return formatMap(metadata.labels ?? {});
    case 'metadata.annotations':
      return formatMap(metadata.annotations ?? {});
    case 'spec.nodeName':
      return place.nodeName;
    case 'spec.serviceAccountName':
      return spec?.serviceAccountName ?? '';
    case 'status.hostIP':
    case 'status.hostIPs':
      return place.hostIP;
    case 'status.podIP':
    case 'status.podIPs':
      return place.podIP;
    default:
      throw new ProcessRuntimeError('CreateContainerConfigError', `unsupported fieldPath: ${path}`);
  }
}

const formatMap = (map: Readonly<Record<string, string>>): string =>
  Object.keys(map)
    .sort()
    .map((key) => `${key}=${JSON.stringify(map[key])}`)
    .join('\n');

/** Returns a request or limit of a container as a whole number of the divisor, rounded up. */
export function resourceValue(
  containers: readonly Container[],
  place: PodPlace,
  selector: ResourceFieldSelector & { readonly container: string },
): string {
  const { resource, divisor = '1', container: name } = selector;
  const container = containers.find((one) => one.name === name);
  const [, list, resourceName] = /^(limits|requests)\.(.+)$/.exec(resource) ?? [];
  if (!container || list === undefined || resourceName === undefined) {
    throw new ProcessRuntimeError('CreateContainerConfigError', `unsupported container resource: ${resource}`);
  }
  const { limits = {}, requests = {} } = container.resources ?? {};
  const written = list === 'limits' ? limits[resourceName] : (requests[resourceName] ?? limits[resourceName]);
  const quantity = written ?? (list === 'limits' ? place.allocatable[resourceName] : undefined) ?? '0';
  const unit = parseQuantity(divisor === '0' ? '1' : String(divisor)).nanos;
  const { nanos, format } = parseQuantity(String(quantity));
  const whole = (nanos + unit - 1n) / unit;
  return format === 'decimal' || format === 'binary'
    ? String(whole)
    : formatQuantity({ nanos: whole * 1_000_000_000n, format });
}
