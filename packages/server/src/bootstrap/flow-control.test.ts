import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TestServer } from '../testing/test-server.ts';
import type { Data } from '../testing/test-server.ts';
import { ensureFlowControl } from './ensure-flow-control.ts';
import { autoUpdateAnnotation, flowSchemas, priorityLevels } from './flow-control.ts';

const group = '/apis/flowcontrol.apiserver.k8s.io/v1';
const schema = (name: string): string => `${group}/flowschemas/${name}`;
const level = (name: string): string => `${group}/prioritylevelconfigurations/${name}`;
const autoUpdate = (value: string | null): Data => ({ metadata: { annotations: { [autoUpdateAnnotation]: value } } });

describe('priority levels and flow schemas', () => {
  test('are there from the start, valid, and every schema leads to a level', async () => {
    await using server = await TestServer.start();
    const { items: levels } = await server.get(`${group}/prioritylevelconfigurations`);
    const { items: schemas } = await server.get(`${group}/flowschemas`);
    assert.deepEqual([levels.length, schemas.length], [priorityLevels().length, flowSchemas().length]);
    const names = new Set(levels.map((one: Data) => one.metadata.name));
    for (const { spec, metadata } of schemas as Data[]) {
      assert.ok(names.has(spec.priorityLevelConfiguration.name), metadata.name);
    }
    // Declared objects pass the validation of client objects and are not changed by it.
    for (const one of [...levels, ...schemas] as Data[]) {
      const path = 'rules' in one.spec ? schema(one.metadata.name) : level(one.metadata.name);
      const answer = await server.merge(path, { metadata: { annotations: { touched: 'yes' } } });
      assert.deepEqual([answer.spec, answer.metadata.generation], [one.spec, 1]);
    }
  });

  test('are not written again when nothing changed', async () => {
    await using server = await TestServer.start();
    const revision = await server.store.revision();
    await ensureFlowControl(server.plane);
    assert.equal(await server.store.revision(), revision);
  });

  test('suggested ones follow what is declared, until their annotation says otherwise', async () => {
    await using server = await TestServer.start();
    await server.merge(schema('probes'), { spec: { matchingPrecedence: 7 } });
    await server.merge(schema('service-accounts'), { ...autoUpdate('false'), spec: { matchingPrecedence: 9_001 } });
    await server.merge(schema('global-default'), autoUpdate(null));
    await server.merge(schema('system-nodes'), { ...autoUpdate(null), spec: { matchingPrecedence: 501 } });
    await server.merge(schema('kube-scheduler'), { ...autoUpdate('perhaps'), spec: { matchingPrecedence: 801 } });
    await ensureFlowControl(server.plane);
    const seen = async (name: string) => {
      const { metadata, spec } = await server.get(schema(name));
      return [spec.matchingPrecedence, metadata.annotations[autoUpdateAnnotation], metadata.generation];
    };
    assert.deepEqual(await seen('probes'), [2, 'true', 3]);
    assert.deepEqual(await seen('service-accounts'), [9_001, 'false', 2], 'an administrator took it over');
    assert.deepEqual(await seen('global-default'), [9_900, 'true', 1], 'never changed: still the server’s');
    assert.deepEqual(await seen('system-nodes'), [501, 'false', 2], 'changed, and says nothing: taken over');
    assert.deepEqual(await seen('kube-scheduler'), [801, 'false', 2], 'what cannot be read says nothing');
    const { metadata } = await server.get(schema('probes'));
    const owners = metadata.managedFields.filter((one: Data) => one.fieldsV1['f:spec']?.['f:matchingPrecedence']);
    assert.deepEqual(
      owners.map((one: Data) => one.manager),
      ['api-priority-and-fairness-config-producer-v1'],
    );
  });

  test('mandatory ones are put right, but for what an administrator may choose', async () => {
    await using server = await TestServer.start();
    const shares = { exempt: { nominalConcurrencyShares: 77 } };
    await server.merge(level('exempt'), { ...autoUpdate('false'), spec: shares });
    await server.merge(schema('catch-all'), autoUpdate('false'));
    await ensureFlowControl(server.plane);
    const exempt = await server.get(level('exempt'));
    assert.deepEqual(exempt.spec, { type: 'Exempt', exempt: { nominalConcurrencyShares: 77, lendablePercent: 0 } });
    assert.equal(exempt.metadata.annotations[autoUpdateAnnotation], 'true');
    assert.equal((await server.get(schema('catch-all'))).metadata.annotations[autoUpdateAnnotation], 'true');
  });

  test('what was deleted comes back, what nobody declares any more goes, what users made stays', async () => {
    await using server = await TestServer.start();
    await server.request('DELETE', level('node-high'));
    const made = async (name: string, annotations: Data) => {
      const spec = { type: 'Limited', limited: { nominalConcurrencyShares: 1, limitResponse: { type: 'Reject' } } };
      await server.create(`${group}/prioritylevelconfigurations`, {
        kind: 'PriorityLevelConfiguration',
        apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
        metadata: { name, annotations },
        spec,
      });
    };
    await made('mine', {});
    await made('from-the-past', { [autoUpdateAnnotation]: 'true' });
    await ensureFlowControl(server.plane);
    const { items } = await server.get(`${group}/prioritylevelconfigurations`);
    const names = new Set(items.map((one: Data) => one.metadata.name));
    assert.deepEqual([names.has('node-high'), names.has('mine'), names.has('from-the-past')], [true, true, false]);
  });
});
