/** Compares admission policies with a real kube-apiserver: the same responses, warnings and objects. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startRealServer } from '@hangar/api/testing';
import type { RealServer } from '@hangar/api/testing';
import type { Authorizer } from '../../auth/authorize.ts';
import { compareServers } from '../../testing/both-servers.ts';
import { startInProcess } from '../../testing/in-process.ts';
import { definition, version } from '../../testing/test-server.ts';
import { matchingCases } from './testing/matching-cases.ts';
import { mutatingCases } from './testing/mutating-cases.ts';
import { paramCases } from './testing/param-cases.ts';
import { refusedPolicies } from './testing/refused-policies.ts';
import { createConfigMap, mutating, post, setupOf, validating } from './testing/policy-case.ts';
import { validatingCases } from './testing/validating-cases.ts';

const everything: Authorizer = { authorize: () => 'allow' };
const size = { size: { type: 'integer' } };
const widgets = definition({ versions: [version('v1', size), version('v2', size, { storage: false })] });

/** The last policies of their kind: when these are in force, all others are. */
const sentinels = [
  validating('the last that validates', { validations: [{ expression: 'false' }] }, () => []),
  mutating(
    'the last that mutates',
    { mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'Object{nothing: 1}' } }] },
    () => [],
  ),
];

async function inForce(real: RealServer, namespace: string): Promise<void> {
  const { path, body } = createConfigMap(namespace, 'sentinel');
  for (let attempt = 0; attempt < 100; attempt++) {
    const { status } = await real.request('POST', `${path}?dryRun=All`, { body: JSON.stringify(body) });
    if (status >= 400) return;
    await sleep(200);
  }
  assert.fail(`the policies never came into force in ${namespace}`);
}

test('policies answer as in a real server', { timeout: 180_000 }, async (t) => {
  await using real = await startRealServer();
  await using hangar = await startInProcess({ authorizers: [everything] });
  const cases = [...validatingCases, ...matchingCases, ...paramCases, ...mutatingCases, ...sentinels].map(
    (one, at) => ({
      one,
      namespace: `case-${at}`,
    }),
  );
  const crd = post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', widgets, { codeOnly: true });
  assert.deepEqual(await compareServers(real, hangar, [crd]), []);
  for (let attempt = 0; (await real.request('GET', '/apis/example.com/v1/widgets')).status !== 200; attempt++) {
    assert.ok(attempt < 50, 'the definition is never served');
    await sleep(100);
  }
  const setup = cases.flatMap(({ one, namespace }) => setupOf(one, namespace));
  assert.deepEqual(await compareServers(real, hangar, setup), []);
  for (const { namespace } of cases.slice(-sentinels.length)) await inForce(real, namespace);
  await t.test('expressions that are refused when they are written', async () => {
    assert.deepEqual(await compareServers(real, hangar, refusedPolicies), []);
  });
  for (const { one, namespace } of cases) {
    await t.test(`${one.kind}: ${one.name}`, async () => {
      assert.deepEqual(await compareServers(real, hangar, one.requests(namespace)), []);
    });
  }
});
