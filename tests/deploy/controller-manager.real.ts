/**
 * The controller manager as its chart's StatefulSet starts it: with the arguments of the chart and the token of its ServiceAccount, which
 * has exactly the permissions of the chart. The management plane is a Hangar, whose control planes are registered.
 */

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Namespace } from '@hangar/client/kinds/core-v1';
import { Lease } from '@hangar/client/kinds/coordination-v1';
import { template } from '../../scripts/generate/manifests/render.ts';
import { run } from '../../tools/run.ts';
import { tool } from '../../tools/tool.ts';
import { Ground } from '../controller-manager/testing/ground.ts';
import { ControllerManager } from '../controller-manager/testing/manager.ts';
import { collectGarbage, makeNamespace } from '../controller-manager/testing/work.ts';
import { eventually } from '../tenancy/testing/hangars.ts';
import { objectsOf, podTemplates } from './testing/files.ts';
import { inPod } from './testing/manager-options.ts';

const namespace = 'hangar-system';
const statefulSet = 'hangar-controller-manager';

describe('the controller manager of the chart', () => {
  const opened = new AsyncDisposableStack();
  let ground: Ground;
  before(async () => {
    ground = opened.use(await Ground.start());
    // The platform has it already, for backups.
    await ground.client.apply(Namespace, { metadata: { name: namespace } }, { fieldManager: 'test' });
    await Promise.all(['red', 'blue'].map((name) => ground.up.create(name)));
    await ground.register('red');
  });
  after(() => opened.disposeAsync());

  /** Installs the chart, and returns the arguments of its pods. */
  async function installed(...values: readonly string[]): Promise<string[]> {
    const rendered = await template(statefulSet, ...values);
    const file = join(ground.folder, 'chart.yaml');
    await writeFile(file, rendered);
    const apply = [
      'apply',
      '--server-side',
      '--filename',
      file,
      '--kubeconfig',
      `${ground.up.dataFolder}/admin.kubeconfig`,
    ];
    const { failure, stderr } = await run(await tool('kubectl'), apply, { timeoutMs: 60_000 });
    assert.equal(failure, undefined, stderr);
    const [, ...flags] = podTemplates(objectsOf(rendered))[0]!.spec.containers[0].args;
    return flags;
  }

  /** Returns a token of the ServiceAccount, as pods have one. */
  async function serviceAccount(): Promise<string> {
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${statefulSet}/token`;
    const { status } = (await ground.up.raw.create(path, { spec: {} })) as { status: { token: string } };
    const { url: server, dataFolder } = ground.up;
    const kubeconfig = {
      'current-context': 'it',
      contexts: [{ name: 'it', context: { cluster: 'it', user: 'it' } }],
      clusters: [{ name: 'it', cluster: { server, 'certificate-authority': join(dataFolder, 'pki/ca.crt') } }],
      users: [{ name: 'it', user: { token: status.token } }],
    };
    const file = join(ground.folder, 'service-account');
    await writeFile(file, JSON.stringify(kubeconfig), { mode: 0o600 });
    return file;
  }

  /** Starts a pod of the StatefulSet; only folder and port differ. */
  async function pod(
    ordinal: number,
    flags: readonly string[],
    more: readonly string[] = [],
  ): Promise<ControllerManager> {
    const peer = `${statefulSet}-${ordinal}`;
    const workFolder = join(ground.folder, peer);
    const own = inPod(flags, peer).map((flag) =>
      flag.replace('/var/lib/hangar/work', workFolder).replace('--secure-port=10257', '--secure-port=0'),
    );
    const kubeconfig = await serviceAccount();
    return opened.use(await ControllerManager.start({ kubeconfig, peer, workFolder, flags: [...own, ...more] }));
  }

  const owns = async (manager: ControllerManager, name: string): Promise<boolean> =>
    (await manager.cluster(name))?.isOwned === true;

  test('runs a kube-controller-manager for a registered control plane in one of two replicas', async () => {
    const flags = await installed();
    const program = [`--kube-controller-manager=${await tool('kube-controller-manager')}`];
    const pods = await Promise.all([0, 1].map((ordinal) => pod(ordinal, flags, program)));
    await ground.served('red');
    const owners = await Promise.all(pods.map((one) => owns(one, 'red')));
    assert.deepEqual(owners.toSorted(), [false, true]);
    assert.deepEqual(pods.map((one) => one.managers().length).toSorted(), [0, 1]);
    const inside = await ground.up.inside('red');
    await makeNamespace(inside, 'work');
    await collectGarbage(inside, 'work');
    // Replicas find each other by Leases in the namespace of the release.
    const { items } = await ground.client.list(Lease, { namespace });
    for (const { options } of pods) assert.ok(items.some(({ metadata }) => metadata.name!.includes(options.peer)));
    for (const one of pods) assert.equal((await one.get('/readyz')).status, 200);

    // Like an update: one is terminated, and the other takes over the cluster.
    const [ending, staying] = owners[0] ? [pods[0]!, pods[1]!] : [pods[1]!, pods[0]!];
    const { code, tookMs } = await ending.end('SIGTERM');
    assert.equal(code, 0, ending.log);
    assert.ok(tookMs < 5_000, `it took ${tookMs} ms to end`);
    await eventually(
      'the other replica runs it',
      async () => staying.managers().length === 1 && (await owns(staying, 'red')),
      15_000,
    );
    assert.equal((await staying.end('SIGTERM')).code, 0);
    for (const one of pods) assert.doesNotMatch(one.log, /forbidden/i);
  });

  test('serves by the essential engine with one Secret to read, in one namespace', async () => {
    await ground.unregister('red');
    const { namespace: scope, name } = await ground.register('blue');
    const flags = await installed(
      '--set=engine=essential',
      `--set=clusterNamespaceScope=${scope}`,
      `--set=secretNames={${name}}`,
    );
    const manager = await pod(0, flags);
    await ground.served('blue');
    assert.deepEqual(manager.managers(), [], 'no process is needed');
    const inside = await ground.up.inside('blue');
    await makeNamespace(inside, 'work');
    await collectGarbage(inside, 'work');
    assert.equal((await manager.end('SIGTERM')).code, 0);
    assert.doesNotMatch(manager.log, /forbidden/i);
  });
});
