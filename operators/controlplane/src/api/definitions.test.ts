import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { CustomResourceDefinition } from '@hangar/client/kinds/apiextensions-v1';
import { startTestCluster } from '@hangar/testkit';
import type { TestCluster } from '@hangar/testkit';
import { definitions } from './generated/index.ts';
import { installDefinitions } from './install.ts';
import { ControlPlane } from './index.ts';
import { answersTo } from './testing/answers.ts';
import { cases } from './testing/cases.ts';

let cluster: TestCluster;
before(async () => {
  cluster = await startTestCluster();
  await installDefinitions(cluster.client);
});
after(() => cluster[Symbol.asyncDispose]());

describe('the definitions', () => {
  for (const one of cases) {
    test(`${one.kind.kind}: ${one.title}`, async () => {
      const answers = await answersTo(cluster.client, one);
      for (const [at, { refused }] of one.steps.entries()) {
        const { code, body } = answers[at]!;
        const { message } = body as { message?: string };
        if (refused === undefined) assert.ok(code === 200 || code === 201, `step ${at}: ${message}`);
        else assert.equal(code, 422, `step ${at} should be refused`);
        if (refused !== undefined) assert.ok(message!.includes(refused), `step ${at}: ${message}`);
      }
    });
  }

  test('fill in defaults', async () => {
    const made = await cluster.client.create(ControlPlane, { metadata: { name: 'defaults' } } as ControlPlane);
    assert.deepEqual(made.spec, { mode: 'Virtual' });
  });

  test('have short names, a category, a status of their own and a list-map of conditions', () => {
    const shortNames = definitions.map(({ spec }) => spec.names.shortNames);
    assert.deepEqual(shortNames, [['cp'], ['cpc'], ['cpe'], ['cpr']]);
    for (const { spec } of definitions) {
      assert.equal(spec.scope, 'Cluster');
      assert.deepEqual(spec.names.categories, ['kplane']);
      const [version] = spec.versions;
      assert.deepEqual(version!.subresources, { status: {} });
      const conditions = version!.schema!.openAPIV3Schema!.properties!['status']!.properties!['conditions']!;
      assert.deepEqual(conditions['x-kubernetes-list-map-keys'], ['type']);
    }
  });
});

describe('installDefinitions', () => {
  test('writes nothing when everything is there', async () => {
    const versions = async () =>
      (await cluster.client.list(CustomResourceDefinition)).items.map(({ metadata }) => metadata.resourceVersion);
    const first = await versions();
    await installDefinitions(cluster.client);
    assert.deepEqual(await versions(), first);
  });

  test('brings an older definition up to date, and two at once do not disturb each other', async () => {
    const name = definitions[0]!.metadata.name!;
    await cluster.client.patch(
      CustomResourceDefinition,
      { name },
      { type: 'json', body: [{ op: 'remove', path: '/spec/versions/0/additionalPrinterColumns/0' }] },
    );
    await Promise.all([installDefinitions(cluster.client), installDefinitions(cluster.client)]);
    const { spec } = await cluster.client.get(CustomResourceDefinition, { name });
    assert.deepEqual(
      spec.versions[0]!.additionalPrinterColumns,
      definitions[0]!.spec.versions[0]!.additionalPrinterColumns,
    );
  });

  test('rejects when another definition has the names, instead of waiting for ever', async () => {
    await using other = await startTestCluster();
    const [first] = definitions;
    const { names } = first!.spec;
    const taken = { ...names, plural: 'planes', singular: 'plane', kind: 'Plane', listKind: 'PlaneList' };
    await other.client.create(CustomResourceDefinition, {
      metadata: { name: `planes.${first!.spec.group}` },
      spec: { ...first!.spec, names: taken },
    });
    await assert.rejects(installDefinitions(other.client), { code: 'NamesConflict' });
  });

  test('ends by its signal', async () => {
    await assert.rejects(installDefinitions(cluster.client, { signal: AbortSignal.abort() }), { code: 'Aborted' });
  });
});
