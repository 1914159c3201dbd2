/** Custom resources sent to a real kube-apiserver and to ours: codes, messages, causes and bodies must be the same. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeObject } from '../../object.ts';
import { StatusError } from '../../status/status.ts';
import { startRealServer } from '../../testing/real-server.ts';
import type { RealServer } from '../../testing/real-server.ts';
import { compileVersion } from '../index.ts';
import { gadgets, plainGadgets } from '../testing/definitions.ts';
import { createBodies, updatePairs } from '../testing/gadget-cases.ts';
import {
  looseDefinition,
  ratchetedChanges,
  ratchetedFrom,
  ratchetedStatus,
  ratchetedStatuses,
  strictDefinition,
} from '../testing/ratcheting-cases.ts';
import { comparable, differenceOf, runCreate, runUpdate } from '../testing/pipeline.ts';
import type { Outcome } from '../testing/pipeline.ts';

const root = '/apis/test.example.com/v1/namespaces/default';
let real: RealServer;

before(async () => {
  real = await startRealServer();
  for (const crd of [gadgets, plainGadgets, looseDefinition]) {
    const created = await send('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd);
    assert.equal(created.code, 201, JSON.stringify(created.body));
  }
  for (const plural of ['gadgets', 'plains', 'ratchets']) {
    for (let tries = 0; (await send('GET', `${root}/${plural}`)).code !== 200; tries++) {
      assert.ok(tries < 100, 'the resource is not served');
      await sleep(100);
    }
  }
});

after(async () => {
  await real?.[Symbol.asyncDispose]();
});

async function send(method: string, path: string, body?: object): Promise<Outcome> {
  const answer = await real.request(method, path, body === undefined ? {} : { body: JSON.stringify(body) });
  const warnings = (String(answer.headers['warning'] ?? '').match(/299 - "(?:[^"\\]|\\.)*"/g) ?? []) as string[];
  // A path that is not served yet is answered with plain text.
  const text = answer.body.toString();
  return { code: answer.status, body: JSON.parse(text.startsWith('{') ? text : '{}') as KubeObject, warnings };
}

function report(name: string, differences: readonly string[], total: number): void {
  console.log(`${name}: ${total - differences.length} of ${total} equal`);
  for (const difference of differences.slice(0, Number(process.env['SHOWN'] ?? 10))) console.log(difference);
  assert.equal(differences.length, 0, `${differences.length} of ${total} differ`);
}

for (const [plural, crd] of [
  ['gadgets', gadgets],
  ['plains', plainGadgets],
] as const) {
  test(`creations of ${plural} get the same answers`, async () => {
    const version = compileVersion(crd, 'v1')!;
    const differences: string[] = [];
    let total = 0;
    for (const [i, fields] of createBodies().entries()) {
      const validation = ['Strict', 'Warn', 'Ignore'][i % 3]!;
      for (const fieldValidation of i % 5 === 0 ? ['Strict', 'Warn', 'Ignore'] : [validation]) {
        const object = {
          apiVersion: 'test.example.com/v1',
          kind: version.kind,
          metadata: { name: `a${i}` },
          ...fields,
        };
        const theirs = await send('POST', `${root}/${plural}?dryRun=All&fieldValidation=${fieldValidation}`, object);
        const ours = runCreate(version, structuredClone(object) as KubeObject, fieldValidation);
        const difference = differenceOf(comparable(ours), comparable(theirs), object, fieldValidation);
        total += 1;
        if (difference !== undefined) differences.push(difference);
      }
    }
    report(`create ${plural}`, differences, total);
  });

  test(`updates of ${plural} get the same answers`, async () => {
    const version = compileVersion(crd, 'v1')!;
    const differences: string[] = [];
    let total = 0;
    for (const [i, { from, to, subresource = '' }] of updatePairs().entries()) {
      if (subresource !== '' && !version.hasStatus) continue;
      const base = { apiVersion: 'test.example.com/v1', kind: version.kind, metadata: { name: `u${i}` } };
      const created = await send('POST', `${root}/${plural}`, { ...base, ...from });
      assert.equal(created.code, 201, JSON.stringify(created.body));
      const { resourceVersion, uid } = created.body.metadata;
      const object = { ...base, metadata: { ...base.metadata, resourceVersion, uid }, ...to } as KubeObject;
      const suffix = subresource === '' ? '' : `/${subresource}`;
      const theirs = await send('PUT', `${root}/${plural}/u${i}${suffix}?dryRun=All&fieldValidation=Strict`, object);
      const ours = runUpdate(version, structuredClone(object), created.body, subresource);
      const difference = differenceOf(comparable(ours), comparable(theirs), { from, to }, subresource);
      total += 1;
      if (difference !== undefined) differences.push(difference);
    }
    report(`update ${plural}`, differences, total);
  });
}

test('what was wrong before a definition became stricter may stay', async () => {
  const object = { apiVersion: 'test.example.com/v1', kind: 'Ratchet', metadata: { name: 'old' } };
  const url = `${root}/ratchets/old`;
  assert.equal((await send('POST', `${root}/ratchets`, { ...object, ...ratchetedFrom })).code, 201);
  const crdUrl = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/ratchets.test.example.com';
  let old = (await send('GET', url)).body;
  old = (await send('PUT', `${url}/status`, { ...old, status: ratchetedStatus })).body;
  const crd = (await send('GET', crdUrl)).body;
  assert.equal((await send('PUT', crdUrl, { ...strictDefinition, metadata: crd.metadata })).code, 200);
  const probe = { ...object, metadata: { name: 'probe' }, ...ratchetedFrom };
  for (let tries = 0; (await send('POST', `${root}/ratchets?dryRun=All`, probe)).code !== 422; tries++) {
    assert.ok(tries < 100, 'the new schema is not in use');
    await sleep(100);
  }
  const version = compileVersion(strictDefinition, 'v1')!;
  const differences: string[] = [];
  const bodies: [KubeObject, string][] = [
    ...ratchetedChanges().map((fields): [KubeObject, string] => [{ ...structuredClone(old), ...fields }, '']),
    ...ratchetedStatuses().map((status): [KubeObject, string] => [{ ...structuredClone(old), status }, 'status']),
  ];
  for (const [body, subresource] of bodies) {
    const suffix = subresource === '' ? '' : `/${subresource}`;
    const theirs = await send('PUT', `${url}${suffix}?dryRun=All&fieldValidation=Strict`, body);
    const ours = runUpdate(version, JSON.parse(JSON.stringify(body)) as KubeObject, old, subresource);
    const difference = differenceOf(
      comparable(ours),
      comparable(theirs),
      { ...body, metadata: undefined },
      subresource,
    );
    if (difference !== undefined) differences.push(difference);
  }
  report('ratcheted updates', differences, bodies.length);
});

test('scales are read and written alike', async () => {
  const version = compileVersion(gadgets, 'v1')!;
  const object = {
    apiVersion: 'test.example.com/v1',
    kind: 'Gadget',
    metadata: { name: 'scaled' },
    spec: { name: 'abc', replicas: 3 },
  };
  const created = await send('POST', `${root}/gadgets`, object);
  const theirs = await send('GET', `${root}/gadgets/scaled/scale`);
  assert.deepEqual({ ...version.scale!.scaleOf(created.body) }, theirs.body);
  const changed = { ...theirs.body, spec: { replicas: 5 } } as KubeObject;
  const put = await send('PUT', `${root}/gadgets/scaled/scale?dryRun=All`, changed);
  const ours = structuredClone(created.body);
  version.scale!.applyScale(ours, changed);
  assert.equal(put.code, 200);
  assert.deepEqual(version.scale!.scaleOf(ours).spec, put.body['spec']);
  assert.throws(() => version.scale!.applyScale(ours, { ...changed, spec: { replicas: -(2 ** 31) } }), StatusError);
});
