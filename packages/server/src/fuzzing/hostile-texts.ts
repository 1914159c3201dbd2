/** Texts for all places that a client controls: names, selectors, tokens, numbers, paths, headers. */

import { chance, pick } from '@hangar/core';
import type { Random } from '@hangar/core';

/** Names with a meaning in JavaScript. */
export const languageNames = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf', 'then'];

export const names = [
  'a',
  'default',
  'web',
  'x'.repeat(253),
  'x'.repeat(254),
  '',
  '.',
  '..',
  '-',
  'A',
  'a_b',
  'ü',
  '\u0000',
  '\ud800',
  '\u{1f680}',
  ...languageNames,
];

const percents = ['%', '%2', '%zz', '%00', '%2e%2e', '%2f', '%25', '%ff', '%c0%ae', '%ed%a0%80', '%E2%98%83'];

const collections = [
  '/api/v1/namespaces/default/configmaps',
  '/api/v1/namespaces/default/configmaps',
  '/api/v1/namespaces/default/secrets',
  '/api/v1/namespaces/default/pods',
  '/api/v1/namespaces/default/services',
  '/api/v1/namespaces/default/events',
  '/apis/apps/v1/namespaces/default/deployments',
  '/apis/coordination.k8s.io/v1/namespaces/default/leases',
  '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers',
  '/apis/fuzz.example.com/v1/namespaces/default/things',
  '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
  '/apis/rbac.authorization.k8s.io/v1/clusterroles',
  '/api/v1/namespaces',
  '/api/v1/nodes',
];

const subresources = [
  'status',
  'scale',
  'finalize',
  'log',
  'exec',
  'proxy',
  'eviction',
  'binding',
  'token',
  'odd',
  '__proto__',
];

const documents = [
  '/',
  '/api',
  '/apis',
  '/api/v1',
  '/apis/apps',
  '/openapi/v2',
  '/openapi/v3',
  '/version',
  '/healthz',
  '/livez/ping',
  '/readyz',
  '/metrics',
  '/favicon.ico',
];

export const collectionPath = (random: Random): string => pick(random, collections);

/** Returns a path that may or may not exist. */
export function path(random: Random): string {
  const collection = pick(random, collections);
  switch (random.below(12)) {
    case 0:
      return pick(random, documents);
    case 1:
      return collection.replace(
        pick(random, collection.split('/').slice(1)),
        pick(random, [...names.map(encoded), ...percents]),
      );
    case 2:
      return `${collection}/${pick(random, percents)}`;
    case 3:
      return pick(random, [
        '',
        '*',
        '//',
        '/../../etc/passwd',
        'http://elsewhere/api/v1/pods',
        '/api/v1/watch/pods',
        '/api/v1/watch',
        '/apis//v1/pods',
        '/api/v1/namespaces//pods',
        `/${'a/'.repeat(500)}`,
        `/api/v1/${'x'.repeat(20_000)}`,
        '/api/v1/namespaces/default/../../nodes',
      ]);
    case 4:
      return `/apis/${pick(random, languageNames)}/${pick(random, languageNames)}/${pick(random, languageNames)}`;
    case 5:
    case 6:
      return `${collection}/${encoded(pick(random, names))}/${pick(random, subresources)}`;
    case 7:
    case 8:
      return collection;
    default:
      return `${collection}/${encoded(pick(random, names))}`;
  }
}

function encoded(name: string): string {
  return encodeURIComponent(name.toWellFormed());
}

const selectors = [
  'a=b',
  'a in (b,c)',
  '!a',
  'a,!b,c notin (d)',
  'a>1',
  'a<x',
  '=',
  ',',
  ',,,',
  '(',
  ')',
  'a in (',
  'a in b',
  'a=b=c',
  '!',
  '!!a',
  'in',
  'notin in (in)',
  'a in ()',
  '\u0000',
  'ü=ü',
  ' a = b ',
  'a==b',
  'a!=b',
  'metadata.name=a',
  'metadata.name!=a,metadata.namespace=default',
  'status.phase=Running',
  'spec.nodeName=',
  'metadata.name\\=a=b',
  'a\\',
  ...languageNames.flatMap((name) => [name, `${name}=a`, `metadata.${name}=a`, `!${name}`, `${name} in (${name})`]),
  `a in (${Array.from({ length: 5_000 }, (_, at) => `v${at}`).join(',')})`,
  `${'('.repeat(5_000)}`,
  `${'a,'.repeat(5_000)}`,
  `${'x'.repeat(20_000)}=y`,
  `${'!'.repeat(10_000)}a`,
  `a=${'\\,'.repeat(5_000)}`,
];

const integers = [
  '0',
  '1',
  '-1',
  '500',
  '99999999999999999999',
  '1e9',
  'NaN',
  'Infinity',
  '0x10',
  '1.5',
  '+7',
  ' 1',
  '',
  '9007199254740993',
  '-9223372036854775809',
];

const tokens = [
  'odd',
  'e30',
  'bnVsbA',
  'W10',
  '\u0000',
  '%%%',
  'x'.repeat(10_000),
  ...[
    { v: 'meta.k8s.io/v1', rv: 1, start: 'a' },
    { v: 'meta.k8s.io/v1', rv: -1, start: 'default/a\u0000' },
    { v: 'meta.k8s.io/v1', rv: 1e300, start: 'a' },
    { v: 'meta.k8s.io/v1', rv: 1.5, start: 'a' },
    { v: 'meta.k8s.io/v1', rv: 99_999_999, start: 'default/a' },
    { v: 'meta.k8s.io/v1', rv: -5, start: '../../secrets' },
    { v: 'meta.k8s.io/v1', rv: 2, start: '/registry' },
    { v: 'meta.k8s.io/v1', rv: 2, start: 'k'.repeat(5_000) },
    { v: 'meta.k8s.io/v1', rv: 2, start: '\ud800' },
    { v: 'v9', rv: 2, start: 'a' },
    { v: ['meta.k8s.io/v1'], rv: {}, start: [] },
    { v: { toString: 1 }, rv: null, start: true },
  ].map((value) => Buffer.from(JSON.stringify(value)).toString('base64url')),
];

const flags = ['true', 'false', '', 'odd', '0', '1', 'TRUE'];

const parameters: Readonly<Record<string, readonly string[]>> = {
  labelSelector: selectors,
  fieldSelector: selectors,
  limit: integers,
  timeoutSeconds: ['1', '2', ...integers],
  resourceVersion: ['0', '1', '999999999', ...integers, 'x'.repeat(5_000)],
  resourceVersionMatch: ['Exact', 'NotOlderThan', 'odd', ...languageNames],
  continue: tokens,
  watch: flags,
  sendInitialEvents: flags,
  allowWatchBookmarks: flags,
  dryRun: ['All', 'odd', '', ...languageNames],
  fieldManager: ['a', 'x'.repeat(129), '\u0007', 'ü', ...languageNames],
  fieldValidation: ['Strict', 'Warn', 'Ignore', 'odd', ...languageNames],
  force: flags,
  gracePeriodSeconds: integers,
  propagationPolicy: ['Orphan', 'Background', 'Foreground', 'odd', ...languageNames],
  orphanDependents: flags,
  includeObject: ['None', 'Metadata', 'Object', 'odd'],
  pretty: flags,
  verbose: flags,
  timeout: ['1s', '34h', 'odd'],
  __proto__x: ['a'],
};

export function query(random: Random): string {
  const known = Object.keys(parameters);
  return Array.from({ length: 1 + random.below(3) }, () => {
    if (chance(random, 0.1))
      return pick(random, ['&&', '=', '%zz=%', '__proto__=a', 'constructor[prototype]=a', 'a'.repeat(3_000), ';', '?']);
    const name = pick(random, known);
    const value = pick(random, parameters[name]!);
    return `${name}=${chance(random, 0.05) ? pick(random, percents) : encoded(value)}`;
  }).join('&');
}

export const contentTypes = [
  'application/json',
  'application/yaml',
  'application/vnd.kubernetes.protobuf',
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
  'application/apply-patch+cbor',
  'application/cbor',
  'text/plain',
  'application/json; charset=latin1',
  'APPLICATION/JSON',
  '/',
  ';',
  ...languageNames,
];

export const accepts = [
  'application/json',
  'application/yaml',
  'application/vnd.kubernetes.protobuf',
  'application/json;as=Table;v=v1;g=meta.k8s.io',
  'application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
  'application/json;as=__proto__;v=v1;g=meta.k8s.io',
  'text/html',
  '*/*',
  '*/*;q=odd',
  ';;;=,,,',
  'application/json;q=0',
  `${'application/x,'.repeat(100)}`,
  `application/json;${'a=b;'.repeat(100)}`,
  ...languageNames,
];

export const userAgents = ['fuzz/1', '', '/', '\u00ff'.repeat(300), 'x'.repeat(5_000), ...languageNames];

export const methods = [
  'GET',
  'GET',
  'POST',
  'POST',
  'PUT',
  'PATCH',
  'PATCH',
  'DELETE',
  'HEAD',
  'OPTIONS',
  'TRACE',
  'FOO',
  '__proto__',
];
