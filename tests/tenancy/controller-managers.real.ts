/**
 * The real kube-controller-manager, unmodified, once for each of three tenants of one Hangar at the same time: each does its work in its
 * own control plane, on objects of the same names, without effects in another one.
 */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { existsSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { tool } from '../../tools/tool.ts';
import { apiOf } from '../conformance/components/api.ts';
import type { Api } from '../conformance/components/api.ts';
import { flags, installationInTenant } from '../conformance/components/cluster.ts';
import { ComponentLog } from '../conformance/components/component-log.ts';
import { deployment, job, namespace } from '../conformance/components/workloads.ts';
import { describeControlPlane, isReady } from '../conformance/servers/control-plane.ts';
import { Processes } from '../conformance/servers/processes.ts';

const program = fileURLToPath(new URL('../../bin/hangar.js', import.meta.url));
const names = ['red', 'green', 'blue'] as const;
/** Replicas of each tenant: a mix-up would change the sums. */
const replicas = { red: 1, green: 2, blue: 3 } as const;

/** Optimistic writers collide and retry, which they log; more often than this they are stuck. */
const sameErrorMax = 5;

describe('a kube-controller-manager for each of three tenants', () => {
  let processes: Processes;
  const apis = new Map<string, Api>();
  const logs = new Map<string, ComponentLog>();

  before(async () => {
    const manager = await tool('kube-controller-manager', { log: console.log });
    processes = await Processes.start('tenants', async (started) => {
      const { folder } = started;
      const kubeconfig = join(folder, 'kubeconfig');
      started.run(process.execPath, [
        program,
        'up',
        // Real controller managers do the work of Hangar's own.
        '--bare',
        `--data-dir=${folder}/data`,
        '--listen=127.0.0.1:0',
        `--kubeconfig=${kubeconfig}`,
      ]);
      await started.until(async () => existsSync(kubeconfig) && (await isReady(kubeconfig)));
      for (const name of names) {
        const installation = await installationInTenant({ kubeconfig, name, folder });
        const log = new ComponentLog();
        logs.set(name, log);
        const credentials = await installation.kubeconfigOf('kube-controller-manager');
        const settings = flags['kube-controller-manager'](installation);
        started.run(manager, [`--kubeconfig=${credentials}`, ...settings], { onOutput: log.add });
        apis.set(name, await apiOf(await describeControlPlane('hangar', installation.kubeconfig, started.stop)));
      }
      return started;
    });
  });
  after(async () => {
    for (const api of apis.values()) api[Symbol.dispose]();
    await processes?.stop();
  });

  const inEach = (act: (api: Api, name: (typeof names)[number]) => Promise<void>): Promise<unknown> =>
    Promise.all(names.map((name) => act(apis.get(name)!, name)));

  test('namespaces get accounts and certificates, Deployments their pods, Jobs theirs', async () => {
    await inEach(async (api, name) => {
      await api.create('/api/v1/namespaces', namespace('work'));
      await api.eventually('the account', () => api.get('/api/v1/namespaces/work/serviceaccounts/default'));
      await api.eventually('the certificates', () => api.get('/api/v1/namespaces/work/configmaps/kube-root-ca.crt'));
      await api.create('/apis/apps/v1/namespaces/work/deployments', deployment('web', replicas[name]));
      await api.create('/apis/batch/v1/namespaces/work/jobs', job('once'));
      await api.eventually(`${replicas[name] + 2} pods`, async () => {
        const pods = await api.list('/api/v1/namespaces/work/pods');
        return pods.length === replicas[name] + 2;
      });
    });
  });

  test('no object of one is in another', async () => {
    const uids = new Map<string, string>();
    await inEach(async (api, name) => {
      const paths = ['/api/v1/pods', '/apis/apps/v1/replicasets', '/api/v1/serviceaccounts', '/api/v1/namespaces'];
      for (const path of paths) {
        for (const { metadata } of await api.list(path)) {
          assert.equal(uids.get(metadata.uid!), undefined, `${name}: ${path} ${metadata.name}`);
          uids.set(metadata.uid!, name);
        }
      }
    });
  });

  test('garbage is collected, and a namespace is emptied and ends, in the one where it was asked for', async () => {
    const [red, green, blue] = names.map((name) => apis.get(name)!);
    await red!.remove('/apis/apps/v1/namespaces/work/deployments/web');
    await green!.remove('/api/v1/namespaces/work');
    await red!.eventually('the end of the pods', async () => {
      const pods = await red!.list('/api/v1/namespaces/work/pods?labelSelector=app%3Dweb');
      return pods.length === 0;
    });
    await green!.eventually('the end of the namespace', async () => !(await green!.get('/api/v1/namespaces/work')));
    assert.equal((await blue!.list('/api/v1/namespaces/work/pods?labelSelector=app%3Dweb')).length, 3);
    assert.ok(await red!.get('/api/v1/namespaces/work'));
  });

  test('none of them complains again and again', () => {
    for (const [name, log] of logs) assert.deepEqual(log.repeatedErrors(sameErrorMax), [], name);
  });
});
