import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defineKind } from '@hangar/client';
import type { ApiObject } from '@hangar/client';
import { Tenant } from '../kinds.ts';
import { openTestWorld } from '../testing/test-session.ts';
import type { TestWorld } from '../testing/test-session.ts';

const ConfigMap = defineKind<ApiObject>({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  isNamespaced: true,
});

async function retain(world: TestWorld, name: string, before?: () => Promise<unknown>): Promise<void> {
  const client = await world.fleet.createCluster(name);
  await client.create(ConfigMap, { metadata: { namespace: 'default', name: 'kept' } });
  await world.client.patch(Tenant, { name }, { type: 'merge', body: { spec: { deletionPolicy: 'Retain' } } });
  await before?.();
  await world.client.delete(Tenant, { name });
}

describe('get --retained', () => {
  test('lists the data that deleted control planes left', async () => {
    await using world = await openTestWorld();
    assert.deepEqual(await world.run('get', '--retained'), { code: 0, out: '', err: 'no data is retained\n' });
    await retain(world, 'red');
    await world.fleet.createCluster('blue');
    const { code, out, err } = await world.run('get', '--retained');
    assert.equal(code, 0, err);
    assert.match(out, /^PATH +MODE +OBJECTS +SIZE +MATERIALISED +AGE\nred +Virtual +1 +[\d.]+B +false +\d+s\n$/);
    assert.equal((await world.run('get', '--retained', '-o', 'name')).out, 'retainedtenant.tenancy.hangar.dev/red\n');
    assert.equal(JSON.parse((await world.run('get', '--retained', 'red', '-o', 'json')).out).status.objects, 1);
    const missing = await world.run('get', '--retained', 'blue');
    assert.equal(missing.code, 1);
    assert.match(missing.err, /no data is retained at path "blue"\n +to list retained data: hangar get --retained/);
    assert.equal((await world.run('get', '--retained', '-w')).code, 2);
  });
});

describe('purge', () => {
  test('destroys retained data after the path was typed, or with --yes', async () => {
    await using world = await openTestWorld();
    await retain(world, 'red');
    const refused = await world.run('purge', 'red');
    assert.deepEqual([refused.code, refused.out], [1, '']);
    assert.match(refused.err, /no terminal for the confirmation\n +to destroy it without confirmation, add --yes\n$/);
    const questions: string[] = [];
    const ask = (answer: string) => async (question: string) => {
      questions.push(question);
      return answer;
    };
    const no = await world.runIn({ ask: ask('y') }, 'purge', 'red');
    assert.deepEqual([no.code, no.err], [1, 'hangar: nothing was destroyed\n']);
    const yes = await world.runIn({ ask: ask('red') }, 'purge', 'red');
    assert.equal(yes.code, 0, yes.err);
    assert.match(yes.out, /^data at path red destroyed \(.*B\)\n$/);
    assert.equal(questions.length, 2);
    assert.match((await world.run('get', '--retained')).err, /no data is retained/);
    await retain(world, 'green');
    assert.equal((await world.run('purge', 'green', '--yes')).code, 0);
  });

  test('does not touch materialised data, and says how to destroy it', async () => {
    await using world = await openTestWorld();
    await retain(world, 'red', () => world.client.subresource('materialise').create(Tenant, { name: 'red' }, {}));
    assert.match((await world.run('get', '--retained')).out, /\nred +Virtual +\d+ +[\d.]+[KM]iB +true +\d+s\n$/);
    const ask = () => assert.fail('asked');
    const { code, out, err } = await world.runIn({ ask }, 'purge', 'red');
    assert.deepEqual([code, out], [1, '']);
    assert.match(err, /data at path "red" was not destroyed: it is materialised, so a kube-apiserver may serve it\n/);
    assert.match(err, /to destroy it: hangar create red, then hangar delete red --destroy\n$/);
    assert.equal((await world.run('purge', 'red', '--yes')).code, 1);
    assert.match((await world.run('get', '--retained')).out, /\nred /);
  });

  test('does not touch a control plane that exists', async () => {
    await using world = await openTestWorld();
    const client = await world.fleet.createCluster('blue');
    await client.create(ConfigMap, { metadata: { namespace: 'default', name: 'kept' } });
    const { code, err } = await world.run('purge', 'blue', '--yes');
    assert.equal(code, 1);
    assert.match(err, /no data is retained at path "blue"/);
    await client.get(ConfigMap, { namespace: 'default', name: 'kept' });
  });
});
