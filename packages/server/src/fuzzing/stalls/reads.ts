/** Reads: Accept headers, selectors, queries and paths that are long or request expensive formats; reviews and other headers. */

import { chance, pick } from '@hangar/core';
import type { Random } from '@hangar/core';
import { configMap, configMaps, get, list, post, record, size, someAccept, text } from './input.ts';
import type { Generator, Step } from './input.ts';

const collections = [
  configMaps,
  '/api/v1/configmaps',
  '/api/v1/pods',
  '/apis/rbac.authorization.k8s.io/v1/clusterroles',
  '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
  '/apis',
  '/openapi/v2',
  '/openapi/v3',
  '/metrics',
];

/** Limit of a request line. */
const longMax = 12_000;

const selectors: readonly ((random: Random) => string)[] = [
  (random) => list(size(random, 1_000), (at) => `k${at}=v`).join(),
  (random) => `a in (${list(size(random, 3_000), (at) => `v${at}`).join()})`,
  (random) => `a notin (${list(size(random, 3_000), () => 'v').join()})`,
  (random) => list(size(random, 1_000), () => '!a').join(),
  (random) => '('.repeat(size(random, 3_000)),
  (random) => `a=${text(random, 500)}`,
  (random) => ','.repeat(size(random, 5_000)),
];

function query(random: Random): string {
  switch (random.below(7)) {
    case 0:
      return `labelSelector=${encodeURIComponent(pick(random, selectors)(random))}`;
    case 1:
      return `fieldSelector=${encodeURIComponent(list(size(random, 500), () => 'metadata.name!=x').join())}`;
    case 2:
      return list(size(random, 1_000), (at) => `k${at}=v`).join('&');
    case 3:
      return list(size(random, 1_000), () => `labelSelector=a`).join('&');
    case 4:
      return `continue=${Buffer.from(text(random, 3_000)).toString('base64url')}&limit=${size(random, 500)}`;
    case 5:
      return `watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`;
    default:
      return '%25'.repeat(size(random, 3_000));
  }
}

function longAccept(random: Random): string {
  const type = pick(random, [
    'application/json',
    'a/b',
    '*/*',
    'application/json;as=Table;g=meta.k8s.io;v=v1',
    ';',
    ',',
  ]);
  return list(size(random, 1_000), (at) => `${type};q=0.${at % 10}`).join(pick(random, [',', ', ', ' , ']));
}

const path = (random: Random): string =>
  pick(random, [
    () => '/a'.repeat(size(random, 4_000)),
    () => '/'.repeat(size(random, 8_000)),
    () => `${configMaps}/${'%2e%2e%2f'.repeat(size(random, 800))}`,
    () => `/apis/${'x'.repeat(size(random, longMax))}/v1/things`,
    () => pick(random, collections),
  ])();

/** Lists with a large total size, in every format. */
export const lists: Generator = (random) => {
  const [count, keys] = [size(random, 30), size(random, 100)];
  const name = `o${random.below(1e9)}`;
  const objects = list(count, (at) =>
    post(
      configMaps,
      configMap(`${name}-${at}`, {
        metadata: { name: `${name}-${at}`, labels: record(size(random, 20), () => 'v') },
        data: record(keys, () => text(random, 100)),
      }),
    ),
  );
  const reads = list(4, () => {
    const asked = query(random).slice(0, longMax);
    return get(`${pick(random, collections.slice(0, 2))}?${chance(random, 0.5) ? asked : ''}`, someAccept(random));
  });
  return {
    name: `${count} objects of ${keys} keys, listed`,
    steps: [...objects, ...reads, { method: 'DELETE', target: configMaps }],
  };
};

export const reads: Generator = (random) => {
  const steps = list(5, (): Step => {
    const target = `${path(random)}?${query(random)}`.slice(0, longMax);
    const accept = chance(random, 0.5) ? longAccept(random) : someAccept(random);
    return get(target, accept.slice(0, longMax));
  });
  return { name: steps.map(({ target }) => target.slice(0, 60)).join(' '), steps };
};

/** Large reviews, and identities in headers. */
export const reviews: Generator = (random) => {
  const count = size(random, 5_000);
  const authorization = '/apis/authorization.k8s.io/v1';
  const groups = list(count, (at) => `g${at}`);
  const access = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: {
      user: 'u',
      groups,
      extra: record(size(random, 500), () => ['v']),
      resourceAttributes: {
        verb: 'get',
        resource: 'pods',
        labelSelector: { rawSelector: pick(random, selectors)(random) },
      },
    },
  };
  const rules = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectRulesReview',
    spec: { namespace: 'default' },
  };
  const token = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: text(random, 20_000) } };
  return {
    name: `reviews of ${count} groups`,
    steps: [
      post(`${authorization}/subjectaccessreviews`, access),
      post(`${authorization}/selfsubjectrulesreviews`, rules),
      post('/apis/authentication.k8s.io/v1/tokenreviews', token),
      {
        ...get(configMaps),
        headers: { 'impersonate-user': 'u', 'impersonate-group': groups.join(', ').slice(0, longMax) },
      },
      {
        ...get(configMaps),
        headers: {
          'user-agent': text(random, longMax)
            .replace(/[^ -~]/g, 'x')
            .slice(0, longMax),
        },
      },
    ],
  };
};
