/**
 * Two Hangars pass the requests of a tenant on to a real kube-apiserver, which has the keys of the tenant. Clients use the addresses and
 * credentials that they had before.
 */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { tool } from '../../tools/tool.ts';
import type { Access, Data } from './testing/access.ts';
import { administratorOf, startHangars, tenant, tenants } from './testing/hangars.ts';
import { startOnTenant } from './testing/kube-apiserver.ts';
import { makeObjects } from './testing/objects.ts';

const run = promisify(execFile);
const configMaps = '/api/v1/namespaces/default/configmaps';
const robot = '/api/v1/namespaces/default/serviceaccounts/robot';

const userOf = async (access: Access): Promise<Data> => {
  const review = { kind: 'SelfSubjectReview', apiVersion: 'authentication.k8s.io/v1' };
  return (await access.create('/apis/authentication.k8s.io/v1/selfsubjectreviews', review)).status.userInfo;
};

test('a real kube-apiserver serves a tenant behind its addresses', async () => {
  await using hangars = await startHangars(2);
  const [one, other] = hangars.replicas as [(typeof hangars.replicas)[0], (typeof hangars.replicas)[0]];
  await one.root.create(tenants, tenant('demo'));
  using admin = await administratorOf(one, 'demo');
  await makeObjects(admin);
  const request = { kind: 'TokenRequest', apiVersion: 'authentication.k8s.io/v1', spec: {} };
  const { token } = (await admin.create(`${robot}/token`, request)).status;
  await one.root.expect(200, 'POST', `${tenants}/demo/materialise`);
  const keys = (await one.root.create(`${tenants}/demo/keys`, {})).status;
  await using dedicated = await startOnTenant({
    etcdUrl: hangars.etcdUrl,
    path: 'demo',
    keys,
    administrator: admin,
  });
  const { url: server, ca } = dedicated.administrator.credentials;

  using elsewhere = admin.as({ url: other.tenantUrl('demo') });
  const before = await elsewhere.create(configMaps, { metadata: { name: 'before' } });
  const { resourceVersion } = before.metadata;
  const watch = elsewhere.watch(`${configMaps}?watch=true&resourceVersion=${resourceVersion}`);
  const events: string[] = [];
  const following = (async () => {
    for await (const { type, object } of watch) events.push(`${type} ${object.metadata?.name}`);
  })();
  await one.root.create(`${tenants}/demo/hold?id=m`, {});
  // Waits on the other server until the tenant is passed on.
  const waiting = elsewhere.create(configMaps, { metadata: { name: 'during' } });
  await following;
  assert.deepEqual(events, [], 'the watch ends without an error');
  await one.root.create(`${tenants}/demo/remote?id=m`, { spec: { server, ca: String(ca) } });
  const during = await waiting;

  for (const access of [admin, elsewhere]) {
    assert.deepEqual(await access.get(`${configMaps}/during`), during);
    const { username, groups } = await userOf(access);
    assert.equal(username, 'admin');
    assert.deepEqual(groups, ['system:masters', 'system:authenticated']);
    using ofRobot = access.withToken(token);
    assert.equal((await userOf(ofRobot)).username, 'system:serviceaccount:default:robot');
    await ofRobot.expect(403, 'GET', '/api/v1/namespaces/default/secrets');
    using forged = access.withToken(`${token.slice(0, -4)}AAAA`);
    await forged.expect(401, 'GET', configMaps);
  }
  const { gitVersion } = await admin.get('/version');
  assert.deepEqual(gitVersion, (await dedicated.administrator.get('/version')).gitVersion);

  // A watch resumes at the revision that the client had before.
  const resumed = admin.watch(`${configMaps}?watch=true&resourceVersion=${resourceVersion}`);
  assert.equal((await resumed.next()).value!.object.metadata.name, 'during');
  await elsewhere.create(configMaps, { metadata: { name: 'after' } });
  assert.equal((await resumed.next()).value!.object.metadata.name, 'after');
  await one.root.create(`${tenants}/demo/hold?id=back`, {});
  assert.ok((await resumed.next()).done);
  await one.root.create(`${tenants}/demo/release?id=back`, {});

  const { status } = await one.root.create(`${tenants}/demo/kubeconfig`, {});
  const kubeconfig = join(hangars.folder, 'demo.kubeconfig');
  const own = new URL(one.tenantUrl('demo'));
  await writeFile(kubeconfig, status.kubeconfig.replace('https://hangar.test:6443', own.origin), { mode: 0o600 });
  const kubectl = async (...words: string[]): Promise<string> => {
    const env = { ...process.env, KUBECONFIG: kubeconfig, HOME: hangars.folder };
    return (await run(await tool('kubectl'), words, { env, timeout: 60_000 })).stdout;
  };
  assert.match(await kubectl('auth', 'whoami'), /Username +admin/);
  await kubectl('create', 'configmap', 'by-kubectl', '--from-literal=a=b');
  assert.match(await kubectl('get', 'configmaps'), /^by-kubectl /m);
  assert.match(await kubectl('auth', 'whoami', '--as=jane', '--as-group=dev'), /Username +jane/);
  assert.match(await kubectl('explain', 'configmap.data'), /FIELD: data/);
  assert.match(await kubectl('delete', 'configmap', 'by-kubectl'), /deleted/);
});
