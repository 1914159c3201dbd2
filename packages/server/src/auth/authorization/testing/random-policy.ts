/** Policies, users and requests generated from a seed, small enough that requests match rules. */

import { seededRandom } from '@hangar/core';
import type { Random } from '@hangar/core';

export interface PolicyQuestion {
  readonly user: string;
  readonly groups: readonly string[];
  readonly resourceAttributes?: object;
  readonly nonResourceAttributes?: object;
}

export interface RandomPolicy {
  /** Path of the collection, and the object. */
  readonly objects: readonly { readonly path: string; readonly object: object }[];
  readonly questions: readonly PolicyQuestion[];
}

const rbac = '/apis/rbac.authorization.k8s.io/v1';
const namespaces = ['default', 'kube-public'];
const users = ['ann', 'bob', 'system:masters', 'system:serviceaccount:default:robot'];
const groups = ['devs', 'ops', 'ann'];
const verbs = ['get', 'list', 'create', 'delete', 'deletecollection', '*', 'use'];
const apiGroups = ['', 'apps', 'example.com', '*'];
const resources = ['pods', 'pods/log', 'pods/*', '*/scale', '*', 'deployments', 'deployments/scale', 'secrets', '*/*'];
const names = ['a', 'b', '*', ''];
const paths = ['/healthz', '/healthz/*', '/logs*', '*', '/a/b', '/a/*'];

export function randomPolicy(seed: number, questionCount: number): RandomPolicy {
  const random = seededRandom(seed);
  const one = <T>(list: readonly T[]): T => list[random.below(list.length)]!;
  const some = <T>(list: readonly T[]): T[] => list.filter(() => random.below(4) === 0);
  const filled = <T>(list: readonly T[]): T[] => {
    const drawn = some(list);
    return drawn.length > 0 ? drawn : [one(list)];
  };
  const rule = (isCluster: boolean): object =>
    isCluster && random.below(4) === 0
      ? { verbs: filled(verbs), nonResourceURLs: filled(paths) }
      : {
          verbs: filled(verbs),
          apiGroups: filled(apiGroups),
          resources: filled(resources),
          ...(random.below(3) === 0 ? { resourceNames: filled(names.slice(0, 3)) } : {}),
        };
  const rules = (isCluster: boolean): object[] => Array.from({ length: 1 + random.below(3) }, () => rule(isCluster));
  const subject = (): object => {
    if (random.below(5) === 0) return { kind: 'ServiceAccount', name: 'robot', namespace: one(namespaces) };
    const isGroup = random.below(2) === 0;
    return {
      kind: isGroup ? 'Group' : 'User',
      apiGroup: 'rbac.authorization.k8s.io',
      name: one(isGroup ? groups : users),
    };
  };
  const objects: { path: string; object: object }[] = [];
  for (let i = 0; i < 6; i++) {
    objects.push({ path: `${rbac}/clusterroles`, object: { metadata: { name: `c${i}` }, rules: rules(true) } });
    objects.push({
      path: `${rbac}/namespaces/${one(namespaces)}/roles`,
      object: { metadata: { name: `r${i}` }, rules: rules(false) },
    });
  }
  for (let i = 0; i < 8; i++) {
    const isCluster = random.below(3) === 0;
    const kind = isCluster || random.below(2) === 0 ? 'ClusterRole' : 'Role';
    objects.push({
      path: isCluster ? `${rbac}/clusterrolebindings` : `${rbac}/namespaces/${one(namespaces)}/rolebindings`,
      object: {
        metadata: { name: `b${i}` },
        // Some refer to missing roles.
        roleRef: {
          apiGroup: 'rbac.authorization.k8s.io',
          kind,
          name: `${kind === 'Role' ? 'r' : 'c'}${random.below(7)}`,
        },
        subjects: [subject(), ...(random.below(2) === 0 ? [subject()] : [])],
      },
    });
  }
  return { objects, questions: Array.from({ length: questionCount }, () => question(random, one, some)) };
}

function question(
  random: Random,
  one: <T>(list: readonly T[]) => T,
  some: <T>(list: readonly T[]) => T[],
): PolicyQuestion {
  const who = { user: one([...users, 'eve']), groups: some(groups) };
  if (random.below(5) === 0) {
    const path = one(['/healthz', '/healthz/', '/healthz/x', '/logs', '/logs/a', '/', '/a/b', '/a/', '/a']);
    return { ...who, nonResourceAttributes: { verb: one(verbs), path } };
  }
  const [resource = '', subresource] = one([
    'pods',
    'pods/log',
    'pods/*',
    'deployments',
    'deployments/scale',
    'secrets',
    '*',
    '*/scale',
  ]).split('/');
  return {
    ...who,
    resourceAttributes: {
      verb: one(verbs),
      group: one(['', 'apps', 'example.com', 'other']),
      resource,
      ...(subresource === undefined ? {} : { subresource }),
      namespace: one([...namespaces, '']),
      name: one(names),
    },
  };
}
