/**
 * A HostedControlPlane as the replica of a tenant, with the real programs: etcd is made from a snapshot of the tenant, follows it behind the fence,
 * and becomes writable. Objects keep their UIDs and resourceVersions, and credentials of the tenant stay valid. On the way back, the frames of
 * etcd have its content.
 */

import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Deployment } from '@hangar/client/kinds/apps-v1';
import { Secret } from '@hangar/client/kinds/core-v1';
import { hasCode, systemClock, systemRandom } from '@hangar/core';
import { prefixRange, replicaDigest, replicaFrames } from '@hangar/store';
import type { ReplicaEntry, ReplicaFrame, Revision, Store } from '@hangar/store';
import { openEtcdStore } from '@hangar/store/etcd';
import { annotations, HostedControlPlane } from '../../operators/hosted/src/api/index.ts';
import { hostedReplicas } from '../../operators/hosted/src/replica/index.ts';
import type { HostedReplica, HostedReplicaState, ReplicaKeys } from '../../operators/hosted/src/replica/index.ts';
import { ensureKubeApiServerStart } from '../../packages/server/src/bootstrap/kube-apiserver-start.ts';
import { openControlPlane } from '../../packages/server/src/open-control-plane.ts';
import { tool } from '../../tools/tool.ts';
import { until } from '../process-runtime/testing/until.ts';
import type { Access } from '../tenancy/testing/access.ts';
import { everything, listedPaths } from '../tenancy/testing/everything.ts';
import { administratorOf, startHangars, tenant, tenants } from '../tenancy/testing/hangars.ts';
import { makeObjects } from '../tenancy/testing/objects.ts';
import { key, namespace, ProcessCluster } from './testing/process-cluster.ts';

const { signal } = new AbortController();
const program = fileURLToPath(new URL('../../bin/hangar.js', import.meta.url));
const id = 'migration-1';
const prefix = '/registry/clusters/demo/';
/** Data of the server about the tenant. */
const omits = (entry: string): boolean => entry.startsWith('.');
const configMaps = '/api/v1/namespaces/default/configmaps';
const robot = '/api/v1/namespaces/default/serviceaccounts/robot';

describe('a HostedControlPlane as the replica of a tenant', () => {
  const opened = new AsyncDisposableStack();
  let [cluster, replica, root, administrator, source, token, keys]: [
    ProcessCluster,
    HostedReplica,
    Access,
    Access,
    Store,
    string,
    ReplicaKeys,
  ] = [] as never;
  let dedicated: Access;
  const following = new AbortController();

  before(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'hangar-replica-'));
    opened.defer(() => rm(folder, { recursive: true }));
    const hangars = opened.use(await startHangars(1));
    const [hangar] = hangars.replicas;
    root = hangar!.root;
    await root.create(tenants, tenant('demo'));
    administrator = opened.use(await administratorOf(hangar!, 'demo'));
    await makeObjects(administrator);
    await root.expect(200, 'POST', `${tenants}/demo/materialise`);
    const request = { kind: 'TokenRequest', apiVersion: 'authentication.k8s.io/v1', spec: {} };
    token = (await administrator.create(`${robot}/token`, request)).status.token;
    const { status } = await root.create(`${tenants}/demo/keys`, {});
    keys = { ...status, issuer: status.serviceAccountIssuer };
    source = opened.adopt(await openEtcdStore({ endpoints: [hangars.etcdUrl] }), (store) => store.close());
    await removeStartObjects(administrator, source);

    const image = join(folder, 'hangar');
    await writeFile(image, `#!/bin/sh\nexec ${process.execPath} ${program} "$@"\n`, { mode: 0o755 });
    cluster = opened.use(await ProcessCluster.start({ images: { etcdutl: await tool('etcdutl'), hangar: image } }));
    const replicas = hostedReplicas({
      client: cluster.client,
      reach: 'endpoint',
      scratchFolder: folder,
      image: 'localhost/hangar:1',
    });
    replica = replicas(key);
  });
  after(async () => {
    following.abort();
    await opened.disposeAsync();
  });

  const frames = (after?: Revision) => replicaFrames(source, { prefix, omits, signal: following.signal, after });
  const seed = () => replica.seed({ id, keys, frames: () => frames() }, signal);

  async function seeded(): Promise<HostedReplicaState> {
    let last = '';
    return until(
      'the replica is fenced and an API server responds',
      async () => {
        // A new namespace gets its service account soon.
        const state = await seed().catch((error: unknown) => {
          if (hasCode(error, 'Forbidden')) return undefined;
          throw error;
        });
        if (!state) return false;
        if (state.message !== last) console.log(`${state.phase}: ${(last = state.message)}`);
        return state.phase === 'Fenced' && state.remote !== undefined && state;
      },
      async () => JSON.stringify((await cluster.client.get(HostedControlPlane, key)).status, undefined, 1),
    );
  }

  const controllers = async (): Promise<(number | undefined)[]> => {
    const names = ['demo-controller-manager', 'demo-scheduler'];
    const all = await Promise.all(names.map((name) => cluster.client.get(Deployment, { namespace, name })));
    return all.map(({ spec }) => spec?.replicas);
  };

  test('is seeded with the keys of the tenant, and its API server can only read', async () => {
    assert.equal((await replica.state(signal)).phase, 'Absent');
    assert.equal((await seed()).phase, 'Absent');
    await cluster.client.create(HostedControlPlane, {
      metadata: { ...key, annotations: { [annotations.replicaOf]: id } },
      spec: { version: 'v1.36.4', replicas: 1, etcd: { replicas: 1 } },
    });
    await assert.rejects(replica.seed({ id: 'other', keys, frames }, signal), { code: 'Conflict' });
    const startedMs = performance.now();
    const { remote, revision } = await seeded();
    console.log(`seeded in ${Math.round(performance.now() - startedMs)} ms at revision ${revision}`);
    const ca = await cluster.client.get(Secret, { namespace, name: 'demo-ca' });
    assert.equal(Buffer.from(ca.data!['tls.key']!, 'base64').toString(), keys.authority.key);
    dedicated = opened.use(administrator.as({ url: remote!.server, ca: remote!.ca }));
    await dedicated.expect(500, 'POST', configMaps, { body: { metadata: { name: 'refused' } } });
    assert.equal((await replica.state(signal)).revision, revision);
    assert.deepEqual(await controllers(), [0, 0]);
  });

  test('follows the tenant at its revisions, and is activated with the same objects', async () => {
    await using session = await replica.open(id, signal);
    const follow = (async () => {
      for await (const frame of frames(await session.revision())) await session.apply([frame]);
    })();
    for (let at = 0; at < 20; at++)
      await administrator.create(configMaps, { metadata: { name: `while-following-${at}` } });
    await administrator.remove(`${configMaps}/while-following-0`);
    const service = { metadata: { name: 'late' }, spec: { type: 'NodePort', ports: [{ port: 81 }] } };
    await administrator.create('/api/v1/namespaces/default/services', service);
    await root.merge(`${tenants}/demo`, { spec: { suspension: 'ReadOnly' } });
    const last = await source.revision();
    await until('the replica has all writes', async () => (await session.revision()) >= last);
    following.abort();
    await follow;
    const at = await session.revision();
    assert.deepEqual(await session.digest(at), await replicaDigest(source, { prefix, omits, at }));

    // The API server follows etcd.
    await until('the API server lists the last object', async () => {
      const got = await dedicated.ask('GET', '/api/v1/namespaces/default/services/late');
      return got.status === 200;
    });
    const paths = await listedPaths(administrator);
    const [wanted, found] = [await everything(administrator, paths), await everything(dedicated, paths)];
    let count = 0;
    for (const [path, objects] of wanted) {
      for (const [name, object] of objects) {
        assert.deepEqual(found.get(path)?.get(name), object, `${path} ${name}`);
        count++;
      }
    }
    console.log(`${count} objects are the same behind the fence`);
    assert.ok(count > 200);

    const startedMs = performance.now();
    await session.activate();
    await dedicated.create(configMaps, { metadata: { name: 'after' } });
    console.log(`activated, and written to, in ${Math.round(performance.now() - startedMs)} ms`);
    assert.equal((await replica.state(signal)).phase, 'Active');
    using account = dedicated.withToken(token);
    await account.get(configMaps);
    await cluster.ready();
    assert.deepEqual(await controllers(), [1, 1]);
  });

  test('is fenced on the way back, and its frames have its content', async () => {
    const back = 'migration-2';
    await using session = await replica.open(back, signal);
    await dedicated.create(configMaps, { metadata: { name: 'before-the-way-back' } });
    const ending = new AbortController();
    const content = new Map<string, ReplicaEntry>();
    let received = 0;
    const receive = (async () => {
      for await (const frame of session.frames(ending.signal)) received = applyTo(content, frame) ?? received;
    })();
    await until('the snapshot was received', async () => content.has('configmaps/default/before-the-way-back'));
    await dedicated.create(configMaps, { metadata: { name: 'on-the-way-back' } });
    const last = await session.fence();
    await dedicated.expect(500, 'POST', configMaps, { body: { metadata: { name: 'refused' } } });
    await until('all changes were received', async () => received >= last);
    ending.abort();
    await receive;
    assert.ok(content.has('configmaps/default/on-the-way-back'));
    for (const [entry, { value }] of content) assert.equal(value[0], '{'.charCodeAt(0), entry);
    assert.equal((await replica.state(signal)).phase, 'Fenced');
    await until('controllers are stopped', async () => (await controllers()).every((one) => one === 0));
    await assert.rejects(replica.open('migration-3', signal), { code: 'Conflict' });

    await session.activate();
    await dedicated.create(configMaps, { metadata: { name: 'after-an-abort' } });
    await cluster.ready();
  });
});

/** Users delete and change objects that a kube-apiserver would create at its start. The server corrects them before the copy. */
async function removeStartObjects(administrator: Access, store: Store): Promise<void> {
  const { entries } = await store.range(prefixRange(prefix));
  const values = new Map(entries.map((entry) => [entry.key.slice(prefix.length), entry.value]));
  const rbac = '/apis/rbac.authorization.k8s.io/v1';
  const flowControl = '/apis/flowcontrol.apiserver.k8s.io/v1';
  for (const path of [
    `${rbac}/clusterroles/system:discovery`,
    `${rbac}/clusterrolebindings/system:basic-user`,
    `${rbac}/namespaces/kube-system/roles/system:controller:bootstrap-signer`,
    `${flowControl}/flowschemas/probes`,
    `${flowControl}/prioritylevelconfigurations/workload-low`,
    '/apis/scheduling.k8s.io/v1/priorityclasses/system-cluster-critical',
    '/apis/networking.k8s.io/v1/servicecidrs/kubernetes',
  ]) {
    await administrator.remove(path);
  }
  await administrator.merge(`${rbac}/clusterroles/system:node`, { rules: [] });
  await administrator.merge(`${flowControl}/flowschemas/service-accounts`, { spec: { matchingPrecedence: 9_123 } });
  const options = { name: 'demo', prefix: '/registry', store, clock: systemClock, random: systemRandom };
  const { plane, close } = await openControlPlane(options);
  try {
    await ensureKubeApiServerStart(plane, { value: (one) => values.get(one) });
  } finally {
    close();
  }
}

/** Returns the revision that the content has reached. */
function applyTo(content: Map<string, ReplicaEntry>, frame: ReplicaFrame): number | undefined {
  if (frame.type === 'entry') return void content.set(frame.entry.key, frame.entry);
  if (frame.type === 'batch') {
    for (const one of frame.deletes) content.delete(one);
    for (const one of frame.puts) content.set(one.key, one);
  }
  return frame.revision;
}
