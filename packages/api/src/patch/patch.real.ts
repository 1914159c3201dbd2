/**
 * Patches sent to a real kube-apiserver and applied here. Our result is sent there as an update: both must result in the same object, or in
 * the same refusal.
 */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { schemaOf } from '../builtin/schemas.ts';
import type { JsonObject } from '../object.ts';
import { StatusError } from '../status/status.ts';
import { startRealServer } from '../testing/real-server.ts';
import type { RealServer } from '../testing/real-server.ts';
import { seededRandom } from '../testing/random-object.ts';
import { applyJsonPatch, applyMergePatch, applyStrategicMergePatch } from './index.ts';
import {
  randomDeploymentPatch,
  randomJsonPatch,
  randomMergePatch,
  sampleDeployment,
  sampleDocument,
} from './random-patch.ts';

type PatchType = 'json' | 'merge' | 'strategic-merge';

interface Outcome {
  readonly status: number;
  readonly body: JsonObject;
}

let server: RealServer;
const configMap = '/api/v1/namespaces/default/configmaps/sample';
const deployment = '/apis/apps/v1/namespaces/default/deployments/sample';
const document = '/apis/example.com/v1/namespaces/default/documents/sample';

before(async () => {
  server = await startRealServer();
  const data = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'sample' }, data: { a: '1', b: '2' } };
  await create('/api/v1/namespaces/default/configmaps', data);
  await create('/apis/apps/v1/namespaces/default/deployments', sampleDeployment);
  await create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition);
  await create('/apis/example.com/v1/namespaces/default/documents', sampleDocument);
});

after(() => server[Symbol.asyncDispose]());

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'documents.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'documents', singular: 'document', kind: 'Document' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};

/** A kind that was just defined is served after a moment. */
async function create(path: string, object: unknown): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    const { status, body } = await server.request('POST', path, { body: JSON.stringify(object) });
    if (status === 201) return;
    assert.ok(status === 404 && attempt < 200, body.toString());
    await sleep(50);
  }
}

async function send(method: string, path: string, body: string, contentType = 'application/json'): Promise<Outcome> {
  const answer = await server.request(method, `${path}?dryRun=All`, { body, contentType });
  return { status: answer.status, body: JSON.parse(answer.body.toString()) as JsonObject };
}

function applyOurs(type: PatchType, live: JsonObject, patch: unknown): unknown {
  if (type === 'json') return applyJsonPatch(live, patch);
  if (type === 'merge') return applyMergePatch(live, patch);
  return applyStrategicMergePatch(live, patch, schemaOf(live['apiVersion'] as string, live['kind'] as string)!);
}

/** Returns the server's answer to an update with our result, or our refusal. */
async function ours(type: PatchType, path: string, live: JsonObject, patch: string): Promise<Outcome> {
  const before = JSON.stringify(live);
  try {
    const patched = applyOurs(type, live, JSON.parse(patch));
    return await send('PUT', path, JSON.stringify(patched));
  } catch (error) {
    assert.ok(error instanceof StatusError, `${patch}: ${String(error)}`);
    return { status: error.status.code!, body: error.status as unknown as JsonObject };
  } finally {
    assert.equal(JSON.stringify(live), before, 'the live object was changed');
  }
}

/** A patch with two errors is refused for the one that Go's random order finds first: repeat until it is ours. */
const attemptsMax = 20;

async function compare(type: PatchType, path: string, patch: string): Promise<Outcome> {
  const live = JSON.parse((await server.request('GET', path)).body.toString()) as JsonObject;
  const own = await ours(type, path, live, patch);
  for (let attempt = 1; ; attempt++) {
    const theirs = await send('PATCH', path, patch, `application/${type}-patch+json`);
    const areRefusals = own.status >= 400 && theirs.status >= 400;
    // An undecodable object is refused with the message of a patch there, of an update here.
    const isDecoding = String(theirs.body['message']).startsWith(' "" is invalid: patch:');
    if (areRefusals && isDecoding) return theirs;
    const mayRetry = areRefusals && attempt < attemptsMax && comparable(own) !== comparable(theirs);
    if (mayRetry) continue;
    assert.equal(comparable(own), comparable(theirs), `${type} ${path} ${patch}`);
    return theirs;
  }
}

function comparable({ status, body }: Outcome): string {
  if (status >= 300) return JSON.stringify({ status, message: body['message'], reason: body['reason'] }, null, 1);
  const { managedFields: _, ...metadata } = body['metadata'] as JsonObject;
  return JSON.stringify({ status, body: { ...body, metadata } }, null, 1);
}

const refusals: readonly [PatchType, string, string][] = [
  ['json', configMap, '{}'],
  ['json', configMap, '"text"'],
  ['json', configMap, 'null'],
  ['json', configMap, '[5]'],
  ['json', configMap, '[null]'],
  ['json', configMap, '[{"op":5,"path":"/data/a"}]'],
  ['json', configMap, '[{"path":true,"op":"add"}]'],
  ['json', configMap, '[{"op":"nothing","path":"/data"}]'],
  ['json', configMap, '[{"op":"test","path":"/data/a","value":"2"}]'],
  ['json', configMap, '[{"op":"remove","path":"/data/none"}]'],
  ['json', configMap, '[{"op":"replace","path":"","value":5}]'],
  [
    'json',
    configMap,
    `[${Array.from({ length: 10_001 }, () => '{"op":"test","path":"/data/a","value":"1"}').join(',')}]`,
  ],
  ['merge', configMap, '[]'],
  ['merge', configMap, 'null'],
  ['merge', configMap, 'true'],
  ['strategic-merge', configMap, '[]'],
  ['strategic-merge', configMap, 'null'],
  ['strategic-merge', configMap, '{"metadata":{"$patch":"unknown","x":{"b":[1,null,0.5],"a":"t"}}}'],
  ['strategic-merge', configMap, '{"data":{"$patch":5}}'],
  ['strategic-merge', configMap, '{"$retainKeys":5}'],
  ['strategic-merge', configMap, '{"$retainKeys":["metadata"],"data":{}}'],
  ['strategic-merge', configMap, '{"metadata":{"$deleteFromPrimitiveList":["a"]}}'],
  ['strategic-merge', configMap, '{"metadata":{"$setElementOrderX/a":["a"]}}'],
  ['strategic-merge', configMap, '{"metadata":{"$setElementOrder/finalizers":"a"}}'],
  ['strategic-merge', configMap, '{"metadata":{"$setElementOrder/none":["a"]}}'],
  ['strategic-merge', configMap, '{"metadata":{"$setElementOrder/labels":["a"]}}'],
  ['strategic-merge', configMap, '{"data":{"$setElementOrder/a":["a"]}}'],
  ['strategic-merge', configMap, '{"metadata":{"finalizers":["a/b"],"$setElementOrder/finalizers":["c/d"]}}'],
  ['strategic-merge', deployment, '{"spec":{"template":{"spec":{"containers":[{"image":"x"}]}}}}'],
  ['strategic-merge', deployment, '{"spec":{"template":{"spec":{"containers":[{"$patch":"delete"}]}}}}'],
  ['strategic-merge', deployment, '{"spec":{"template":{"spec":{"containers":[{"name":"a","$patch":"merge"}]}}}}'],
  ['strategic-merge', deployment, '{"spec":{"template":{"spec":{"containers":["a"]}}}}'],
  [
    'strategic-merge',
    deployment,
    '{"spec":{"template":{"spec":{"tolerations":[],"$setElementOrder/tolerations":[]}}}}',
  ],
  ['strategic-merge', deployment, '{"spec":{"$patch":{"a":[null,1,"t"]}}}'],
  ['strategic-merge', deployment, '{"spec":{"template":{"spec":{"containers":[["a"]]}}}}'],
  ['strategic-merge', deployment, '{"spec":{"template":{"spec":{"$setElementOrder/containers":["a"]}}}}'],
  [
    'strategic-merge',
    deployment,
    '{"spec":{"template":{"spec":{"$deleteFromPrimitiveList/containers":[{"image":"a"}]}}}}',
  ],
];

test('patches that are refused are refused in the same words', async () => {
  for (const [type, path, patch] of refusals) await compare(type, path, patch);
});

const random = (seed: number): (() => number) => seededRandom(seed);

test('random strategic merge patches of a Deployment end in the same object', async () => {
  let accepted = 0;
  for (let seed = 0; seed < 150; seed++) {
    const patch = JSON.stringify(randomDeploymentPatch(random(seed)));
    const { status } = await compare('strategic-merge', deployment, patch);
    if (status === 200) accepted++;
  }
  assert.ok(accepted > 50, `only ${accepted} patches were accepted`);
});

test('random JSON patches of free-form data end in the same object', async () => {
  let accepted = 0;
  for (let seed = 0; seed < 200; seed++) {
    const { status } = await compare('json', document, JSON.stringify(randomJsonPatch(random(seed))));
    if (status === 200) accepted++;
  }
  assert.ok(accepted > 50, `only ${accepted} patches were accepted`);
});

test('random merge patches of free-form data end in the same object', async () => {
  for (let seed = 0; seed < 100; seed++) {
    const { status } = await compare('merge', document, JSON.stringify({ spec: randomMergePatch(random(seed)) }));
    assert.equal(status, 200);
  }
});
