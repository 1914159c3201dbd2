/** Bad metadata sent to a real kube-apiserver, which must find the same faults. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { KubeObject, ObjectMeta } from '../object.ts';
import { fieldErrorText } from '../status/field-error.ts';
import type { FieldError } from '../status/field-error.ts';
import type { Status } from '../status/status.ts';
import { startRealServer } from '../testing/real-server.ts';
import type { RealServer } from '../testing/real-server.ts';
import { nameIsPathSegment, nameIsSubdomain } from '../validation/formats.ts';
import { carryOverMetadata, validateMetadata, validateMetadataUpdate } from './index.ts';
import type { CreationRules } from './index.ts';

interface Kind {
  readonly path: string;
  readonly sample: object;
  readonly rules: CreationRules;
}

const configMaps: Kind = {
  path: '/api/v1/namespaces/default/configmaps',
  sample: { apiVersion: 'v1', kind: 'ConfigMap' },
  rules: { namespaced: true, validateName: nameIsSubdomain, standardFinalizers: true },
};
const clusterRoles: Kind = {
  path: '/apis/rbac.authorization.k8s.io/v1/clusterroles',
  sample: { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' },
  rules: { namespaced: false, validateName: nameIsPathSegment, standardFinalizers: true },
};

let server: RealServer;
before(async () => {
  server = await startRealServer();
});
after(() => server[Symbol.asyncDispose]());

async function send<T>(method: string, path: string, body?: unknown): Promise<T> {
  const answer = await server.request(method, path, body === undefined ? {} : { body: JSON.stringify(body) });
  return JSON.parse(answer.body.toString()) as T;
}

/** Each fault once: the real server finds those of an update two or three times, of maps in any order. */
const theirFaults = ({ details }: Status): string[] =>
  [...new Set((details?.causes ?? []).map(({ field, message }) => `${field}: ${message}`))].sort();
const ourFaults = (errors: readonly FieldError[]): string[] => [...new Set(errors.map(fieldErrorText))].sort();

const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' };
const long = 'a'.repeat(300);
const metadata: readonly ObjectMeta[] = [
  { name: 'fine' },
  {},
  { name: 'Not_Fine' },
  { name: long },
  { name: 'a/b%c' },
  { name: '..' },
  { name: 'fine', generateName: 'Not-Fine-' },
  { name: 'fine', generateName: 'fine-' },
  { name: 'fine', generation: -1 },
  { name: 'fine', labels: { 'not fine': 'x', 'a/b/c': 'y', fine: 'not fine', [long]: long, '': '' } },
  { name: 'fine', annotations: { 'Example.COM/Fine': 'anything\n', 'not fine': '', 'UPPER_case/x': '' } },
  { name: 'fine', annotations: { big: 'x'.repeat(256 * 1024 - 3) } },
  { name: 'fine', annotations: { big: 'ä'.repeat(128 * 1024) } },
  { name: 'fine', finalizers: ['kubernetes', 'orphan', 'example.com/x'] },
  { name: 'fine', finalizers: ['orphan', 'foregroundDeletion'] },
  { name: 'fine', finalizers: ['unqualified', 'not fine', 'a/b/c', ''] },
  { name: 'fine', ownerReferences: [owner, { ...owner, controller: true }] },
  { name: 'fine', ownerReferences: [{ apiVersion: '', kind: '', name: '', uid: '' }] },
  {
    name: 'fine',
    ownerReferences: [
      { ...owner, apiVersion: 'a/b/c' },
      { ...owner, apiVersion: 'a/' },
    ],
  },
  { name: 'fine', ownerReferences: [{ ...owner, kind: 'Event' }] },
  { name: 'fine', ownerReferences: ['a', 'b', 'c'].map((name) => ({ ...owner, uid: name, name, controller: true })) },
];

for (const { path, sample, rules } of [configMaps, clusterRoles]) {
  const { kind } = sample as KubeObject;

  test(`the metadata of a new ${kind} has the same faults`, async () => {
    for (const meta of metadata) {
      const theirs = await send<Status>('POST', `${path}?dryRun=All`, { ...sample, metadata: meta });
      const namespace = rules.namespaced ? 'default' : undefined;
      const own = validateMetadata({ ...meta, ...(namespace === undefined ? {} : { namespace }) }, rules);
      assert.deepEqual(ourFaults(own), theirFaults(theirs), JSON.stringify(meta).slice(0, 200));
    }
  });

  test(`the metadata of a changed ${kind} has the same faults`, async () => {
    const live = await send<KubeObject>('POST', path, { ...sample, metadata: { name: 'fine' } });
    const changes: readonly ObjectMeta[] = [
      ...metadata.filter(({ name }) => name === 'fine'),
      { uid: 'other' },
      { creationTimestamp: '2001-01-01T00:00:00Z' },
      { deletionTimestamp: '2001-01-01T00:00:00Z' },
      { deletionGracePeriodSeconds: 5 },
      { generateName: 'not/fine' },
    ];
    for (const change of changes) {
      const changed = { ...live.metadata, ...change };
      const theirs = await send<Status>('PUT', `${path}/fine?dryRun=All`, { ...sample, metadata: changed });
      carryOverMetadata(changed, live.metadata);
      const own = ourFaults(validateMetadataUpdate(changed, live.metadata, rules));
      // Another uid is a conflict before anything else is checked.
      const expected = change.uid === undefined ? theirFaults(theirs) : own;
      assert.deepEqual(own, expected, JSON.stringify(change).slice(0, 200));
      if (change.uid !== undefined) assert.equal(theirs.reason, 'Conflict');
    }
  });
}

test('an object that is being deleted gets no new finalizers', async () => {
  const { path, sample, rules } = configMaps;
  const meta = { name: 'held', finalizers: ['x/a'] };
  await send('POST', path, { ...sample, metadata: meta });
  await send('DELETE', `${path}/held`);
  const live = await send<KubeObject>('GET', `${path}/held`);
  const changed = { ...live.metadata, finalizers: ['x/c', 'x/a', 'x/b'] };
  delete changed.deletionTimestamp;
  changed.deletionGracePeriodSeconds = 7;
  const theirs = await send<Status>('PUT', `${path}/held?dryRun=All`, { ...sample, metadata: changed });
  carryOverMetadata(changed, live.metadata);
  const own = ourFaults(validateMetadataUpdate(changed, live.metadata, rules));
  assert.deepEqual(own, theirFaults(theirs));
  assert.equal(own.length, 2);
});
