/** Reviews give the same results as in a real kube-apiserver, for an administrator with all permissions. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startRealServer } from '@hangar/api/testing';
import { compareServers } from '../testing/both-servers.ts';
import type { Step } from '../testing/both-servers.ts';
import { startInProcess } from '../testing/in-process.ts';

const authentication = '/apis/authentication.k8s.io/v1';
const authorization = '/apis/authorization.k8s.io/v1';
const ask = (path: string, body: object, rest: Partial<Step> = {}): Step => ({ method: 'POST', path, body, ...rest });
const self = (spec: object, rest: object = {}): Step =>
  ask(`${authorization}/selfsubjectaccessreviews`, {
    kind: 'SelfSubjectAccessReview',
    apiVersion: 'authorization.k8s.io/v1',
    ...rest,
    spec,
  });
const other = (spec: object, rest: object = {}): Step =>
  ask(`${authorization}/subjectaccessreviews`, {
    kind: 'SubjectAccessReview',
    apiVersion: 'authorization.k8s.io/v1',
    ...rest,
    spec,
  });
const local = (namespace: string, spec: object, rest: object = {}): Step =>
  ask(`${authorization}/namespaces/${namespace}/localsubjectaccessreviews`, {
    kind: 'LocalSubjectAccessReview',
    apiVersion: 'authorization.k8s.io/v1',
    ...rest,
    spec,
  });
const pods = { namespace: 'default', verb: 'create', resource: 'pods' };

const steps: readonly Step[] = [
  ask(`${authentication}/selfsubjectreviews`, {}),
  ask(`${authentication}/selfsubjectreviews`, {
    kind: 'SelfSubjectReview',
    apiVersion: 'authentication.k8s.io/v1',
    metadata: { labels: { a: 'b' } },
  }),
  ask(`${authentication}/selfsubjectreviews`, { kind: 'TokenReview', apiVersion: 'authentication.k8s.io/v1' }),
  { method: 'GET', path: `${authentication}/selfsubjectreviews` },
  ask(`${authentication}/tokenreviews`, {}),
  ask(`${authentication}/tokenreviews`, { spec: { token: 'unknown' } }),
  ask(`${authentication}/tokenreviews`, { spec: { token: 'unknown', audiences: ['other'] } }),
  self({ resourceAttributes: pods }),
  self({ nonResourceAttributes: { path: '/healthz', verb: 'get' } }),
  self({}),
  self({ resourceAttributes: pods, nonResourceAttributes: { path: '/a', verb: 'get' } }),
  self({ resourceAttributes: pods }, { metadata: { name: 'a' } }),
  self({ resourceAttributes: { ...pods, labelSelector: {} } }),
  self({
    resourceAttributes: {
      ...pods,
      fieldSelector: { rawSelector: 'a=b', requirements: [{ key: 'a', operator: 'In', values: ['b'] }] },
    },
  }),
  self({ resourceAttributes: { ...pods, unknown: 1 } }),
  other({ resourceAttributes: pods }),
  other({ resourceAttributes: pods, user: 'admin', groups: ['system:masters'], uid: 'x', extra: { a: ['b'] } }),
  local('default', { resourceAttributes: pods, groups: ['system:masters'] }),
  local('default', { resourceAttributes: { ...pods, namespace: 'other' }, groups: ['system:masters'] }),
  local('default', { nonResourceAttributes: { path: '/a', verb: 'get' }, groups: ['system:masters'] }),
  local('absent', { resourceAttributes: { ...pods, namespace: 'absent' }, groups: ['system:masters'] }),
  ask(`${authorization}/selfsubjectrulesreviews`, { spec: { namespace: 'default' } }),
  ask(`${authorization}/selfsubjectrulesreviews`, { spec: {} }),
  ask(`${authorization}/selfsubjectaccessreviews?dryRun=All`, { spec: { resourceAttributes: pods } }),
  ask(`${authorization}/selfsubjectaccessreviews?fieldManager=me`, { spec: { resourceAttributes: pods } }),
];

test('reviews are answered as by kube-apiserver', async () => {
  await using real = await startRealServer();
  await using hangar = await startInProcess();
  assert.deepEqual(await compareServers(real, hangar, steps), []);
});
