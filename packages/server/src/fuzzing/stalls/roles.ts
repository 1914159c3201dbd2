/** ClusterRoles that aggregate others: chains, cycles and graphs of them, and one change at the start. */

import { chance, pick } from '@hangar/core';
import { list, patch, post, record, size } from './input.ts';
import type { Generator, Step } from './input.ts';

const clusterRoles = '/apis/rbac.authorization.k8s.io/v1/clusterroles';

export const roles: Generator = (random) => {
  const id = `g${random.below(1e9)}`;
  const shape = pick(random, ['chain', 'circle', 'star', 'graph'] as const);
  const count = size(random, chance(random, 0.05) ? 160 : 20);
  const rulesEach = size(random, Math.max(1, 1_000 / count));
  // The server processes roles by name: a chain in reverse order needs the most rounds.
  const isReversed = chance(random, 0.5);
  const nameOf = (at: number): string => `${id}-${String(isReversed ? count - at : at).padStart(4, '0')}`;
  const label = (at: number | string): object => ({ [`${id}.example.com/l${at}`]: 'true' });
  const role = (name: string, labels: object, more: object): Step =>
    post(clusterRoles, {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name, labels },
      ...more,
    });
  const rule = (at: number): object => ({ apiGroups: [''], resources: [`r${at}`], verbs: ['get', 'list'] });
  const sources = (at: number): number[] => {
    if (shape === 'chain') return at === 0 ? [] : [at - 1];
    if (shape === 'circle') return [(at + count - 1) % count];
    if (shape === 'star') return at === 0 ? list(count - 1, (place) => place + 1) : [];
    return list(size(random, 5), () => random.below(count)).filter((place) => place !== at);
  };
  // Each of them aggregates one role with rules, and the aggregated roles of the others.
  const collecting = list(count, (at) => {
    const clusterRoleSelectors = [`p${at}`, ...sources(at)].map((source) => ({ matchLabels: label(source) }));
    return role(nameOf(at), label(at), { aggregationRule: { clusterRoleSelectors }, rules: [] });
  });
  const plain = list(count, (at) => {
    const rules = list(rulesEach, (place) => rule(at * rulesEach + place));
    return role(`${id}-plain-${at}`, label(`p${at}`), { rules });
  });
  const first = `${clusterRoles}/${id}-plain-0`;
  return {
    name: `a ${isReversed ? 'reversed ' : ''}${shape} of ${count} roles with ${rulesEach} rules each`,
    steps: [
      ...(chance(random, 0.5) ? [...collecting, ...plain] : [...plain, ...collecting]),
      patch(first, 'merge', { rules: [rule(1_000_000)] }),
      patch(first, 'merge', { metadata: { labels: record(3, () => 'true') } }),
      { method: 'DELETE', target: first },
    ],
  };
};
