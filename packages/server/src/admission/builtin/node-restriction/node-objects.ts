/** Restricts writes of a node to its own Node: it must not attract pods with labels or taints that it may not set. */

import { quote } from '@hangar/api';
import type { KubeObject } from '@hangar/api';
import { equal } from '../equal.ts';
import type { List } from '../pod.ts';
import { forbid } from '../../refusal.ts';
import type { NodeRequest } from './plugin.ts';

interface NodeObject extends KubeObject {
  spec?: { configSource?: unknown; taints?: List<unknown> };
}

export function checkNode({ request, node: name }: NodeRequest): void {
  const { operation } = request;
  if (request.name !== name) {
    throw forbid(request, `node ${quote(name)} is not allowed to modify node ${quote(request.name)}`);
  }
  if (operation !== 'CREATE' && operation !== 'UPDATE') return;
  const node = request.object as NodeObject;
  const old = operation === 'UPDATE' ? (request.old as NodeObject) : undefined;
  if (old) checkUpdate({ request, name, node, old });
  else if (node.spec?.configSource) {
    throw forbid(request, `node ${quote(name)} is not allowed to create pods with a non-nil configSource`);
  }
  const labels = changedLabels(node, old).filter(isForbidden).sort();
  if (labels.length === 0) return;
  const what = old
    ? 'is not allowed to modify labels'
    : `node ${quote(name)} is not allowed to set the following labels`;
  throw forbid(request, `${what}: ${labels.join(', ')}`);
}

function checkUpdate({
  request,
  name,
  node,
  old,
}: {
  request: NodeRequest['request'];
  name: string;
  node: NodeObject;
  old: NodeObject;
}): void {
  const refuse = (what: string): Error => forbid(request, `node ${quote(name)} is not allowed to ${what}`);
  const { configSource, taints } = node.spec ?? {};
  if (configSource && !equal(configSource, old.spec?.configSource)) {
    throw refuse('update configSource to a new non-nil configSource');
  }
  if (!equal(taints, old.spec?.taints)) throw refuse('modify taints');
  if (!equal(node.metadata.ownerReferences, old.metadata.ownerReferences)) throw refuse('modify ownerReferences');
}

function changedLabels(node: NodeObject, old: NodeObject | undefined): string[] {
  const [now, before] = [node, old].map((one) => new Map(Object.entries(one?.metadata.labels ?? {})));
  return [...new Set([...now!.keys(), ...before!.keys()])].filter((label) => now!.get(label) !== before!.get(label));
}

/** Prefix of labels reserved for administrators. */
const restricted = 'node-restriction.kubernetes.io';

const kubeletLabels: ReadonlySet<string> = new Set([
  'kubernetes.io/hostname',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'beta.kubernetes.io/instance-type',
  'node.kubernetes.io/instance-type',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
]);
const kubeletDomains = ['kubelet.kubernetes.io', 'node.kubernetes.io'];

const isWithin = (domain: string, parent: string): boolean => domain === parent || domain.endsWith(`.${parent}`);

function isForbidden(label: string): boolean {
  const slash = label.indexOf('/');
  const domain = slash < 0 ? '' : label.slice(0, slash);
  if (isWithin(domain, restricted)) return true;
  if (!isWithin(domain, 'kubernetes.io') && !isWithin(domain, 'k8s.io')) return false;
  return !kubeletLabels.has(label) && !kubeletDomains.some((one) => isWithin(domain, one));
}
