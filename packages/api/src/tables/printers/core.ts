/** Kinds of the core group that are not about pods, traffic or storage. */

import { ageOf } from '../age.ts';
import { none } from '../selector-text.ts';
import { sortKeys } from '../../values/key-order.ts';
import { printer, unknown } from './printer.ts';
import type { Condition, Printers, WithConditions } from './printer.ts';

type Quantities = Readonly<Record<string, string>>;

interface Node {
  readonly spec?: { readonly unschedulable?: boolean };
  readonly status?: WithConditions & {
    readonly addresses?: readonly { readonly type: string; readonly address: string }[];
    readonly nodeInfo?: {
      readonly kubeletVersion?: string;
      readonly osImage?: string;
      readonly kernelVersion?: string;
      readonly architecture?: string;
      readonly containerRuntimeVersion?: string;
    };
  };
}

interface ResourceQuota {
  readonly status?: { readonly hard?: Quantities; readonly used?: Quantities };
}

interface ComponentStatus {
  readonly conditions?: readonly (Condition & { readonly error?: string })[];
}

function nodeStatus({ spec, status }: Node): string {
  const ready = status?.conditions?.findLast(({ type }) => type === 'Ready');
  const state = !ready ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady';
  return spec?.unschedulable ? `${state},SchedulingDisabled` : state;
}

const rolePrefix = 'node-role.kubernetes.io/';

function nodeRoles(labels: Readonly<Record<string, string>> = {}): string {
  const roles = new Set<string>();
  for (const [key, value] of Object.entries(labels)) {
    const role = key.startsWith(rolePrefix) ? key.slice(rolePrefix.length) : key === 'kubernetes.io/role' ? value : '';
    if (role !== '') roles.add(role);
  }
  return sortKeys([...roles]).join(',') || none;
}

const nodeAddress = ({ status }: Node, type: string): string =>
  status?.addresses?.find((address) => address.type === type)?.address ?? none;

/** Limits have their own column. */
function quotaCells({ status }: ResourceQuota): [requests: string, limits: string] {
  const requests: string[] = [];
  const limits: string[] = [];
  const { hard = {}, used = {} } = status ?? {};
  for (const name of sortKeys(Object.keys(hard))) {
    const usage = `${name}: ${Object.hasOwn(used, name) ? used[name] : '0'}/${hard[name]}`;
    (name.startsWith('limits.') ? limits : requests).push(usage);
  }
  return [requests.join(', '), limits.join(', ')];
}

const size = (map: object | undefined): number => Object.keys(map ?? {}).length;

export const corePrinters: Printers = {
  '/Namespace': printer<{ status?: { phase?: string } }>((namespace, now) => [
    namespace.metadata.name,
    namespace.status?.phase ?? '',
    ageOf(namespace, now),
  ]),
  '/ConfigMap': printer<{ data?: object; binaryData?: object }>((map, now) => [
    map.metadata.name,
    size(map.data) + size(map.binaryData),
    ageOf(map, now),
  ]),
  '/Secret': printer<{ type?: string; data?: object }>((secret, now) => [
    secret.metadata.name,
    secret.type ?? '',
    size(secret.data),
    ageOf(secret, now),
  ]),
  '/Node': printer<Node>((node, now) => {
    const { kubeletVersion, osImage, kernelVersion, architecture, containerRuntimeVersion } =
      node.status?.nodeInfo ?? {};
    return [
      node.metadata.name,
      nodeStatus(node),
      nodeRoles(node.metadata.labels),
      ageOf(node, now),
      kubeletVersion ?? '',
      nodeAddress(node, 'InternalIP'),
      nodeAddress(node, 'ExternalIP'),
      osImage || unknown,
      `${kernelVersion || unknown}${architecture ? ` (${architecture})` : ''}`,
      containerRuntimeVersion || unknown,
    ];
  }),
  '/ResourceQuota': printer<ResourceQuota>((quota, now) => [
    quota.metadata.name,
    ...quotaCells(quota),
    ageOf(quota, now),
  ]),
  '/ComponentStatus': printer<ComponentStatus>(({ metadata, conditions }) => {
    const health = conditions?.find(({ type }) => type === 'Healthy');
    const status = !health ? 'Unknown' : health.status === 'True' ? 'Healthy' : 'Unhealthy';
    return [metadata.name, status, health?.message ?? '', health?.error ?? ''];
  }),
};
