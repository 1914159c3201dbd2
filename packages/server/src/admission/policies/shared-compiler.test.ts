import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMap, configMaps, TestServer } from '../../testing/test-server.ts';
import { CacheBudget } from '../../objects/cache-budget.ts';
import { sharedCompiler } from './shared-compiler.ts';

const group = '/apis/admissionregistration.k8s.io/v1';

test('the same spec is compiled once, another one by itself', () => {
  const budget = new CacheBudget(1_000_000);
  let made = 0;
  const compiled = sharedCompiler((spec) => ({ spec, at: made++ }));
  const one = compiled({ failurePolicy: 'Fail' }, budget);
  assert.equal(compiled({ failurePolicy: 'Fail' }, budget), one);
  assert.notEqual(compiled({ failurePolicy: 'Ignore' }, budget), one);
  assert.equal(made, 2);
});

test('control planes with one policy each decide by their own, whatever others have', async () => {
  const servers = await Promise.all([1, 2, 3].map(() => TestServer.start()));
  try {
    // The first two servers have the same policy, bound only in the first; the third has a different policy of the same name.
    for (const [at, server] of servers.entries()) {
      const constraint = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] };
      await server.create(`${group}/validatingadmissionpolicies`, {
        metadata: { name: 'sizes' },
        spec: {
          matchConstraints: { resourceRules: [constraint] },
          validations: [{ expression: `object.metadata.name.size() < ${at === 2 ? 10 : 3}` }],
        },
      });
      if (at === 1) continue;
      await server.create(`${group}/validatingadmissionpolicybindings`, {
        metadata: { name: 'sizes' },
        spec: { policyName: 'sizes', validationActions: ['Deny'] },
      });
    }
    const outcomes = async (server: TestServer): Promise<number[]> => {
      const all = [];
      for (const name of ['a', 'medium', 'very-long-name']) {
        const { status } = await server.request('POST', configMaps, { body: configMap(name) });
        all.push(status);
      }
      return all;
    };
    await servers[0]!.until('policies are followed', async () => {
      const refused = await servers[0]!.request('POST', `${configMaps}?dryRun=All`, { body: configMap('medium') });
      return refused.status === 422;
    });
    await servers[2]!.until('policies are followed', async () => {
      const refused = await servers[2]!.request('POST', `${configMaps}?dryRun=All`, {
        body: configMap('very-long-name'),
      });
      return refused.status === 422;
    });
    assert.deepEqual(await outcomes(servers[0]!), [201, 422, 422]);
    assert.deepEqual(await outcomes(servers[1]!), [201, 201, 201]);
    assert.deepEqual(await outcomes(servers[2]!), [201, 201, 422]);
  } finally {
    for (const server of servers) await server[Symbol.asyncDispose]();
  }
});
