/** Two servers on one etcd: one of them runs the operator and the controllers, and the other one takes over when it dies. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startEtcd } from '../../packages/store/src/drivers/etcd/testing/etcd-process.ts';
import { freePorts } from '../../tools/free-ports.ts';
import { Platform, Program } from './testing/platform.ts';

test('control planes are made whichever server is asked, and after the one that worked was killed', async () => {
  await using stack = new AsyncDisposableStack();
  const etcd = await startEtcd({ unsafeNoFsync: true });
  stack.defer(() => etcd.stop());
  const platform = stack.use(await Platform.prepare());
  const ports = await freePorts(2);
  // The address of the load balancer: here, of the surviving server.
  const externalUrl = `https://127.0.0.1:${ports[1]}`;
  const store = `--store=${etcd.endpoints[0]!.replace('http://', 'etcd://')}`;
  const server = async (port: number, name: string): Promise<Program> => {
    const kubeconfig = `--kubeconfig=${platform.file(name)}`;
    const program = new Program(
      'up',
      `--data-dir=${platform.dataFolder}`,
      `--port=${port}`,
      store,
      `--external-url=${externalUrl}`,
      kubeconfig,
    );
    stack.defer(async () => void (await program.stop('SIGKILL')));
    await program.until(() => program.output.stdout.includes('Ctrl-C'));
    return program;
  };
  const first = await server(ports[0]!, 'first.kubeconfig');
  await platform.kubectl(
    'first.kubeconfig',
    'wait',
    'lease/hangar-operator',
    '--for=create',
    '-n=kube-system',
    '--timeout=30s',
  );
  const second = await server(ports[1]!, 'second.kubeconfig');
  // Not a first start: the store is shared.
  assert.ok(!second.output.stdout.includes('demo'), second.output.stdout);

  const made = async (kubeconfig: string, name: string): Promise<void> => {
    await platform.kubectl(kubeconfig, 'create', '-f', await manifest(platform, name));
    await platform.kubectl(kubeconfig, 'wait', `controlplane/${name}`, '--for=condition=Ready', '--timeout=60s');
    const endpoint = await platform.kubectl(kubeconfig, 'get', 'controlplane', name, '-o=jsonpath={.status.endpoint}');
    assert.equal(endpoint, `${externalUrl}/clusters/${name}/control-plane`);
  };
  await made('second.kubeconfig', 'red');
  assert.equal((await first.stop('SIGKILL')).signal, 'SIGKILL');
  await made('second.kubeconfig', 'blue');
  // Its controllers work, too.
  await platform.kubectl('second.kubeconfig', 'create', 'namespace', 'new');
  await platform.kubectl('second.kubeconfig', 'wait', 'sa/default', '--for=create', '-n=new', '--timeout=30s');
  assert.equal((await second.stop('SIGTERM')).code, 0);
});

test('an etcd that is not there is one line that says so', async () => {
  await using platform = await Platform.prepare();
  const [port] = await freePorts(1);
  const program = platform.launch(`--store=etcd://127.0.0.1:${port}`);
  const { code } = await program.ended();
  assert.equal(code, 1);
  assert.match(
    program.output.stderr,
    new RegExp(`^hangar: etcd does not answer at http://127\\.0\\.0\\.1:${port}.*\n$`),
  );
});

async function manifest(platform: Platform, name: string): Promise<string> {
  const object = { apiVersion: 'controlplane.kplane.dev/v1alpha1', kind: 'ControlPlane', metadata: { name }, spec: {} };
  return platform.write(`${name}.json`, JSON.stringify(object));
}
