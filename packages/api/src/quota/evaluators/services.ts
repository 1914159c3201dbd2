/** Services: how many, with how many load balancers and ports on every node. */

import type { KubeObject } from '../../object.ts';
import { count } from '../amounts.ts';
import type { List } from '../pod.ts';
import { neverInScope } from './evaluator.ts';
import type { Evaluator } from './evaluator.ts';

interface Service extends KubeObject {
  spec?: { type?: string; ports?: List<{ nodePort?: number }>; allocateLoadBalancerNodePorts?: boolean | null };
}

const names: ReadonlySet<string> = new Set([
  'count/services',
  'services',
  'services.nodeports',
  'services.loadbalancers',
]);

export const serviceEvaluator: Evaluator = {
  handles: ({ operation, subresource }) => subresource === '' && (operation === 'CREATE' || operation === 'UPDATE'),
  counts: (name) => names.has(name),
  usage: (object) =>
    new Map([
      ['count/services', count(1)],
      ['services', count(1)],
      ['services.loadbalancers', count((object as Service).spec?.type === 'LoadBalancer' ? 1 : 0)],
      ['services.nodeports', count(nodePortsOf(object as Service))],
    ]),
  matchesScope: neverInScope,
};

function nodePortsOf({ spec }: Service): number {
  const ports = spec?.ports ?? [];
  if (spec?.type === 'NodePort') return ports.length;
  if (spec?.type !== 'LoadBalancer') return 0;
  return spec.allocateLoadBalancerNodePorts === false ? ports.filter(({ nodePort }) => nodePort).length : ports.length;
}
