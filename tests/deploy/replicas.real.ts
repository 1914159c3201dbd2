/** Two servers as the chart's Deployment starts them, on an etcd with TLS: one platform, which keeps working when one of them dies. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { connect } from 'node:tls';
import { openEtcdStore } from '@hangar/store/etcd';
import { Access } from '../tenancy/testing/access.ts';
import type { Data } from '../tenancy/testing/access.ts';
import { eventually } from '../tenancy/testing/hangars.ts';
import { deployHangars } from './testing/replicas.ts';
import type { DeployedHangars, DeployedReplica } from './testing/replicas.ts';

const controlPlanes = '/apis/controlplane.kplane.dev/v1alpha1/controlplanes';
const secrets = '/api/v1/namespaces/default/secrets';
/** A lease that is not renewed lasts 15 seconds; the rest is for slow machines. */
const takenOverMs = 40_000;

describe('two replicas of the chart', () => {
  let hangars: DeployedHangars;
  let one: DeployedReplica;
  let other: DeployedReplica;
  let keys: Record<string, string>;
  before(async () => {
    hangars = await deployHangars(2);
    [one, other] = hangars.replicas as [DeployedReplica, DeployedReplica];
    keys = await filesOf(hangars.pkiFolder);
  });
  after(() => hangars?.[Symbol.asyncDispose]());

  test('a certificate that one issued is accepted by the other, and so is one of the shared folder', async () => {
    for (const [here, there] of [
      [one, other],
      [other, one],
    ] as const) {
      using elsewhere = here.admin.as({ url: there.url });
      await elsewhere.get('/api/v1/namespaces');
    }
    const printed = ['pki', 'kubeconfig', `--pki-dir=${hangars.pkiFolder}`, `--server=${other.url}`];
    using admin = Access.from(await hangars.hangar(...printed));
    await admin.get('/api/v1/namespaces/kube-system/secrets');
    using stranger = Access.from(await hangars.hangar(...printed, '--user=jane'));
    await stranger.expect(403, 'GET', '/api/v1/namespaces/kube-system/secrets');
  });

  test('a token that one signed is accepted by the other', async () => {
    await one.admin.create('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'robot' } });
    const { status } = await one.admin.create('/api/v1/namespaces/default/serviceaccounts/robot/token', {
      kind: 'TokenRequest',
      apiVersion: 'authentication.k8s.io/v1',
      spec: {},
    });
    using robot = other.admin.withToken(status.token);
    const review = { kind: 'SelfSubjectReview', apiVersion: 'authentication.k8s.io/v1' };
    const { status: me } = await robot.create('/apis/authentication.k8s.io/v1/selfsubjectreviews', review);
    assert.equal(me.userInfo.username, 'system:serviceaccount:default:robot');
  });

  test('Prometheus reads the metrics of both by its token, and nothing else', async () => {
    for (const { admin } of [one, other]) {
      using prometheus = admin.withToken(keys['metrics-token']!);
      const { status, bytes } = await prometheus.ask('GET', '/metrics');
      assert.equal(status, 200);
      assert.match(bytes.toString(), /^apiserver_request_total/m);
      await prometheus.expect(403, 'GET', secrets);
      await prometheus.expect(403, 'GET', '/api/v1/namespaces');
    }
  });

  test('a Secret that one sealed is opened by the other, and closed to who reads etcd', async () => {
    const password = 'correct horse battery staple';
    await one.admin.create(secrets, { metadata: { name: 'sealed' }, stringData: { password } });
    const { data } = await other.admin.get(`${secrets}/sealed`);
    assert.equal(Buffer.from(data.password, 'base64').toString(), password);
    const { endpoints, tls } = hangars.etcd;
    const { ca, client } = tls!;
    const store = await openEtcdStore({ endpoints, tls: { ca, cert: client.cert, key: client.key } });
    try {
      const { entry } = await store.get('/registry/clusters/root/secrets/default/sealed');
      const stored = Buffer.from(entry!.value).toString('latin1');
      assert.match(stored, /^k8s:enc:secretbox:v1:/);
      assert.ok(!stored.includes(password) && !stored.includes(data.password));
    } finally {
      await store.close();
    }
  });

  test('both have the names of the Service in their certificates', async () => {
    for (const replica of [one, other]) {
      for (const name of ['hangar', 'hangar.hangar-system.svc', 'hangar.hangar-system.svc.cluster.local']) {
        await isTrustedAs(name, replica);
      }
    }
  });

  test('one of them leads; control planes get ready, with the address of the Service', async () => {
    await one.admin.create(controlPlanes, controlPlane('before'));
    await isReady(other, 'before');
    const { metadata, status } = await other.admin.get(`${controlPlanes}/before`);
    const { name, namespace } = status.kubeconfigSecretRef;
    assert.equal(status.endpoint, 'https://hangar.hangar-system.svc/clusters/before/control-plane', metadata.name);
    const { data } = await other.admin.get(`/api/v1/namespaces/${namespace}/secrets/${name}`);
    using tenant = Access.from(Buffer.from(data.kubeconfig, 'base64').toString());
    assert.equal(tenant.credentials.url, status.endpoint);
  });

  test('the one that leads is killed: the other goes on at once, and leads when the lease is over', async () => {
    const leader = await leaderOf(hangars.replicas);
    const survivor = leader === one ? other : one;
    const { metadata } = await survivor.admin.get('/api/v1/namespaces/default/configmaps');
    const target = `/api/v1/namespaces/default/configmaps?watch=true&resourceVersion=${metadata.resourceVersion}`;
    const told = survivor.admin.watch(target);
    await leader.end('SIGKILL');
    await survivor.admin.create('/api/v1/namespaces/default/configmaps', { metadata: { name: 'after-death' } });
    const { value } = await told.next();
    assert.equal(value!.object.metadata.name, 'after-death');
    await told.return();
    await survivor.admin.create(controlPlanes, controlPlane('after'));
    await isReady(survivor, 'after', takenOverMs);
    await isReady(survivor, 'before');
    assert.equal(await leaderOf([survivor]), survivor);
  });

  test('keys are read and never written; who is asked to end ends well, and says nothing of errors', async () => {
    assert.deepEqual(await filesOf(hangars.pkiFolder), keys);
    for (const { process, end, log } of [one, other]) {
      if (process.signalCode === null) assert.equal(await end('SIGTERM'), 0);
      const errors = log.filter((line) => /"level":(50|60)/.test(line));
      assert.deepEqual(errors, []);
    }
  });
});

const controlPlane = (name: string): object => ({
  apiVersion: 'controlplane.kplane.dev/v1alpha1',
  kind: 'ControlPlane',
  metadata: { name },
  spec: { deletionPolicy: 'Destroy' },
});

const isReady = ({ admin }: DeployedReplica, name: string, withinMs?: number): Promise<true> =>
  eventually(
    `${name} is ready`,
    async () => {
      const { status = {} } = await admin.get(`${controlPlanes}/${name}`);
      return status.conditions?.some(({ type, status }: Data) => type === 'Ready' && status === 'True');
    },
    withinMs,
  );

/** Returns the replica that reports itself as leader. */
async function leaderOf(replicas: readonly DeployedReplica[]): Promise<DeployedReplica> {
  const leading: DeployedReplica[] = [];
  for (const replica of replicas) {
    const { bytes } = await replica.admin.ask('GET', '/metrics');
    if (/^leader_election_master_status\{name="[^"]*hangar-operator"\} 1$/m.test(bytes.toString()))
      leading.push(replica);
  }
  assert.equal(leading.length, 1);
  return leading[0]!;
}

/** Asserts that the certificate is valid for the name. */
async function isTrustedAs(name: string, { url, admin }: DeployedReplica): Promise<void> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), servername: name, ca: admin.credentials.ca });
  await once(socket, 'secureConnect');
  socket.destroy();
}

const filesOf = async (folder: string): Promise<Record<string, string>> =>
  Object.fromEntries(
    await Promise.all((await readdir(folder)).map(async (name) => [name, await readFile(join(folder, name), 'utf8')])),
  );
