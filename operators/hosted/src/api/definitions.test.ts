import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { ApiObject, Kind, KindNames } from '@hangar/client';
import { installCrd, startTestCluster } from '@hangar/testkit';
import type { TestCluster } from '@hangar/testkit';
import { definitions } from './generated/index.ts';
import { HostedControlPlane } from './index.ts';
import { cases } from './testing/cases.ts';
import { runCase } from './testing/run-case.ts';

interface ScaleObject extends ApiObject {
  spec: { replicas: number };
  status: { replicas: number; selector: string };
}

/** The scale subresource of a HostedControlPlane. */
const scaleKind: Kind<ScaleObject> = { ...HostedControlPlane } as KindNames;

let cluster: TestCluster;
before(async () => {
  cluster = await startTestCluster();
  for (const definition of definitions) await installCrd(cluster.client, definition);
});
after(() => cluster[Symbol.asyncDispose]());

describe('the definitions', () => {
  for (const one of cases) {
    test(`${one.kind}: ${one.title}`, async () => {
      const responses = await runCase(cluster.client, one);
      for (const [at, { refused }] of one.steps.entries()) {
        const { code, body } = responses[at]!;
        if (refused === undefined) assert.ok(code === 200 || code === 201, `step ${at}: ${JSON.stringify(body)}`);
        else assert.equal(code, 422, `step ${at} should be refused`);
        if (refused !== undefined) assert.ok((body as string).includes(refused), `step ${at}: ${body as string}`);
      }
    });
  }

  test('the minimal object gets its defaults', async () => {
    const { client } = cluster;
    const metadata = { namespace: 'default', name: 'minimal' };
    const created = await client.create(HostedControlPlane, { metadata, spec: { version: 'v1.36.4' } });
    assert.deepEqual(created.spec, { version: 'v1.36.4', replicas: 2, etcd: { replicas: 3 } });
  });

  test('no field of a complete object is pruned', async () => {
    const complete = cases.find(({ title }) => title === 'every field')!;
    const [response] = await runCase(cluster.client, complete);
    assert.deepEqual((response!.body as { spec: unknown }).spec, complete.steps[0]!.spec);
  });

  test('the scale subresource reads and writes spec.replicas, and reports status.replicas and the selector', async () => {
    const { client } = cluster;
    const key = { namespace: 'default', name: 'scaled' };
    await client.create(HostedControlPlane, { metadata: key, spec: { version: 'v1.36.4', replicas: 3 } });
    const status = { replicas: 2, selector: 'a=b' };
    await client.status.patch(HostedControlPlane, key, { type: 'merge', body: { status } });
    const body = { spec: { replicas: 1 } };
    const scale: ScaleObject = await client.subresource('scale').patch(scaleKind, key, { type: 'merge', body });
    assert.equal(scale.spec.replicas, 1);
    assert.deepEqual(scale.status, status);
    assert.equal((await client.get(HostedControlPlane, key)).spec.replicas, 1);
  });

  test('have the names, labels and subresources of the contract of Cluster API', () => {
    const [plane, template] = definitions;
    for (const { metadata, spec } of [plane!, template!]) {
      assert.deepEqual(metadata.labels, {
        'cluster.x-k8s.io/provider': 'control-plane-hosted-control-plane',
        'cluster.x-k8s.io/v1beta1': 'v1alpha1',
        'cluster.x-k8s.io/v1beta2': 'v1alpha1',
      });
      assert.equal(spec.scope, 'Namespaced');
      assert.equal(spec.names.listKind, `${spec.names.kind}List`);
      assert.deepEqual(spec.names.categories, ['cluster-api']);
    }
    assert.deepEqual(plane!.spec.names.shortNames, ['hcp']);
    assert.deepEqual(template!.spec.names.shortNames, ['hcpt']);
    assert.deepEqual(plane!.spec.versions[0]!.subresources, {
      status: {},
      scale: {
        specReplicasPath: '.spec.replicas',
        statusReplicasPath: '.status.replicas',
        labelSelectorPath: '.status.selector',
      },
    });
    assert.equal(template!.spec.versions[0]!.subresources, undefined);
  });
});
