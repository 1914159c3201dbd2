/** Definitions sent to a real kube-apiserver and to ours: codes, messages, causes and bodies must be the same. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeObject } from '../../object.ts';
import { invalidObject } from '../../status/status.ts';
import { startRealServer } from '../../testing/real-server.ts';
import type { RealServer } from '../../testing/real-server.ts';
import { asDefinition, definitionConditions, definitionStrategy, noNamesTaken } from '../index.ts';
import { definitionCases, definitionUpdates } from '../testing/definition-cases.ts';
import { comparable, differenceOf } from '../testing/pipeline.ts';
import type { Outcome } from '../testing/pipeline.ts';

const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const groupKind = { group: 'apiextensions.k8s.io', kind: 'CustomResourceDefinition' };
let real: RealServer;

before(async () => {
  real = await startRealServer();
});

after(async () => {
  await real?.[Symbol.asyncDispose]();
});

async function send(method: string, url: string, body?: object): Promise<Outcome> {
  const answer = await real.request(method, url, body === undefined ? {} : { body: JSON.stringify(body) });
  return { code: answer.status, body: JSON.parse(answer.body.toString()) as KubeObject, warnings: [] };
}

function create(crd: KubeObject): Outcome {
  definitionStrategy.applyDefaults(crd);
  definitionStrategy.prepareForCreate(crd);
  const errors = definitionStrategy.validateCreate(crd);
  if (errors.length === 0) return { code: 201, body: crd, warnings: [] };
  const { status } = invalidObject(groupKind, crd.metadata.name!, errors);
  return { code: status.code!, body: status as unknown as KubeObject, warnings: [] };
}

function update(crd: KubeObject, old: KubeObject): Outcome {
  definitionStrategy.applyDefaults(crd);
  definitionStrategy.prepareForUpdate(crd, old, '');
  const errors = definitionStrategy.validateUpdate(crd, old, '');
  if (errors.length === 0) return { code: 200, body: crd, warnings: [] };
  const { status } = invalidObject(groupKind, crd.metadata.name!, errors);
  return { code: status.code!, body: status as unknown as KubeObject, warnings: [] };
}

/** For an accepted definition, only the changes of its defaults and preparation. */
function reduced(outcome: Outcome): object {
  if (outcome.code >= 400) return comparable(outcome);
  const { spec, status, metadata } = asDefinition(outcome.body);
  const { names, conversion } = spec;
  return { code: outcome.code, names, conversion, stored: status?.storedVersions, generation: metadata.generation };
}

function report(name: string, differences: readonly string[], total: number): void {
  console.log(`${name}: ${total - differences.length} of ${total} equal`);
  for (const difference of differences.slice(0, Number(process.env['SHOWN'] ?? 10))) console.log(difference);
  assert.equal(differences.length, 0, `${differences.length} of ${total} differ`);
}

/** Texts of errors with a different wording in the CEL package; each must still differ, or must be removed here. */
const known = ['(?<=a)b'];

test('creations of definitions get the same answers', async () => {
  const differences: string[] = [];
  const cases = definitionCases();
  for (const crd of cases) {
    const theirs = await send('POST', `${path}?dryRun=All`, crd);
    const ours = create(JSON.parse(JSON.stringify(crd)) as KubeObject);
    const difference = differenceOf(reduced(ours), reduced(theirs), crd['spec'], '');
    const isKnown = known.some((text) => JSON.stringify(crd['spec']).includes(text));
    assert.ok(!isKnown || difference !== undefined, 'a known difference is gone');
    if (difference !== undefined && !isKnown) differences.push(difference);
  }
  report('create definitions', differences, cases.length - known.length);
});

test('updates of a definition get the same answers, and its status is what the controllers write', async () => {
  const differences: string[] = [];
  const cases = definitionUpdates();
  const { from } = cases[0]!;
  const created = await send('POST', path, from);
  let old = created.body;
  const isEstablished = (): boolean =>
    asDefinition(old).status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True') ??
    false;
  for (let tries = 0; !isEstablished() && tries < 100; tries++) {
    await sleep(100);
    old = (await send('GET', `${path}/${from.metadata.name}`)).body;
  }
  const status = definitionConditions(created.body, noNamesTaken, '2020-01-01T00:00:00Z');
  const withoutTimes = (one: unknown): unknown =>
    JSON.parse(JSON.stringify(one, (name, value: unknown) => (name === 'lastTransitionTime' ? 'then' : value)));
  assert.deepEqual(withoutTimes(status), withoutTimes(asDefinition(old).status));
  for (const { to } of cases) {
    const crd = {
      ...to,
      metadata: { ...to.metadata, name: from.metadata.name!, resourceVersion: old.metadata.resourceVersion! },
    };
    const theirs = await send('PUT', `${path}/${from.metadata.name}?dryRun=All`, crd);
    const ours = update(JSON.parse(JSON.stringify(crd)) as KubeObject, old);
    const difference = differenceOf(reduced(ours), reduced(theirs), to['spec'], '');
    if (difference !== undefined) differences.push(difference);
  }
  report('update definitions', differences, cases.length);
});
