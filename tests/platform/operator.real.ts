/** `hangar operator` on a real kube-apiserver, with the tenants of a Hangar without the kinds of control planes. */

import assert from 'node:assert/strict';
import { copyFile } from 'node:fs/promises';
import { test } from 'node:test';
import { startReal } from '../conformance/servers/index.ts';
import { freePorts } from '../../tools/free-ports.ts';
import { Platform, Program } from './testing/platform.ts';

test('a ControlPlane of a real cluster becomes a tenant of Hangar, and its kubeconfig leads there', async () => {
  await using stack = new AsyncDisposableStack();
  const platform = stack.use(await Platform.prepare());
  const [url, management] = await Promise.all([platform.start('--bare'), startReal()]);
  stack.defer(() => management.stop());
  await copyFile(management.kubeconfig, platform.file('management.kubeconfig'));
  const [port] = await freePorts(1);
  const operator = new Program(
    'operator',
    `--kubeconfig=${management.kubeconfig}`,
    `--tenants-kubeconfig=${platform.file('admin.kubeconfig')}`,
    '--external-url=https://hangar.example.com',
    '--install-definitions',
    '--leader-elect',
    `--metrics-listen=127.0.0.1:${port}`,
  );
  stack.defer(async () => void (await operator.stop('SIGKILL')));
  await operator.until(async () => (await statusOf(`http://127.0.0.1:${port}/readyz`)) === 200);

  const kubectl = (...args: string[]) => platform.kubectl('management.kubeconfig', ...args);
  const object = { apiVersion: 'controlplane.kplane.dev/v1alpha1', kind: 'ControlPlane', metadata: { name: 'red' } };
  await kubectl('create', '-f', await platform.write('red.json', JSON.stringify({ ...object, spec: {} })));
  await kubectl('wait', 'controlplane/red', '--for=condition=Ready', '--timeout=60s');
  const endpoints = await kubectl('get', 'controlplane', 'red', '-o=jsonpath={.status.endpoints[*].url}');
  assert.ok(endpoints.includes(`${url}/clusters/red/control-plane`), endpoints);
  assert.ok(endpoints.includes('https://hangar.example.com/clusters/red/control-plane'), endpoints);
  const secret = ['get', 'secret', 'controlplane-red-kubeconfig', '--namespace=kplane-cp-red'];
  const encoded = await kubectl(...secret, '-o=jsonpath={.data.kubeconfig}');
  await platform.write('data/red.kubeconfig', Buffer.from(encoded, 'base64').toString());
  assert.match(await platform.kubectl('red.kubeconfig', 'get', 'namespaces'), /kube-system/);

  assert.equal(await statusOf(`http://127.0.0.1:${port}/metrics`), 200);
  assert.equal((await operator.stop('SIGTERM')).code, 0, operator.output.stderr);
});

test('a kubeconfig that is not there is one line that names the flag', async () => {
  const operator = new Program('operator', '--kubeconfig=/nowhere/config');
  assert.equal((await operator.ended()).code, 2);
  assert.match(operator.output.stderr, /^hangar: --kubeconfig: .*\/nowhere\/config.*\n$/);
});

async function statusOf(url: string): Promise<number | undefined> {
  try {
    return (await fetch(url)).status;
  } catch {
    return undefined;
  }
}
