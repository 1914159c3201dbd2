import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { Tenant } from '@hangar/controlplane-operator';
import { keysOf } from './keys.ts';
import { startTestServer } from './testing/server.ts';

const subject = (pem: string): string => new X509Certificate(pem).subject;

test('the management plane signs with its own keys, each tenant with its own, and one made anew with others', async () => {
  await using server = await startTestServer('--no-demo');
  const { inside, clients } = server;
  let asked = 0;
  const client = {
    ...clients.root,
    subresource(name: string) {
      asked++;
      return clients.root.subresource(name);
    },
  };
  const keys = keysOf({ inside, client });
  const root = await keys('root');
  assert.deepEqual([root.authority, root.url], [inside.keys().authority, inside.url]);
  assert.equal(root.serviceAccountIssuer, 'https://kubernetes.default.svc.cluster.local');

  await clients.root.create(Tenant, { metadata: { name: 'red' }, spec: { deletionPolicy: 'Destroy' } });
  const [first, again] = await Promise.all([keys('red'), keys('red')]);
  assert.equal(asked, 1);
  assert.deepEqual(first, again);
  assert.notEqual(first.authority.certificate, root.authority.certificate);
  assert.equal(first.url, `${inside.url}/clusters/red/control-plane`);
  assert.equal(subject(first.servingCa), subject(root.authority.certificate));

  await clients.root.delete(Tenant, { name: 'red' });
  await assert.rejects(keys('red'), { code: 'NotFound' });
  await clients.root.create(Tenant, { metadata: { name: 'red' } });
  assert.notEqual((await keys('red')).authority.key, first.authority.key);
});
