/**
 * The design document's four manifests from deploy/examples, with kubectl, in every order: they become ready, are deleted in another order,
 * and leave nothing behind. On Hangar, and with a real Kubernetes as the management plane.
 */

import assert from 'node:assert/strict';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { freePorts } from '../../tools/free-ports.ts';
import { tool } from '../../tools/tool.ts';
import { orders } from '../../operators/controlplane/src/testing/examples.ts';
import { startReal } from '../conformance/servers/index.ts';
import { Processes } from '../conformance/servers/processes.ts';
import { Platform, Program } from '../platform/testing/platform.ts';

const folder = new URL('../../deploy/examples/', import.meta.url).pathname;
const files = [
  'control-plane.yaml',
  'control-plane-endpoint.yaml',
  'control-plane-class.yaml',
  'control-plane-registration.yaml',
];
const all = [...orders(files)];
const kinds = 'controlplanes,controlplaneendpoints,controlplaneclasses,controlplaneregistrations';

type Kubectl = (...args: readonly string[]) => Promise<string>;

interface Round {
  /** At the management plane, and at the Hangar that hosts the tenants. */
  readonly management: Kubectl;
  readonly hangar: Kubectl;
  readonly at: number;
}

const filed = (order: readonly string[]): string[] => order.flatMap((file) => ['-f', join(folder, file)]);

async function round({ management, hangar, at }: Round): Promise<void> {
  await management('apply', ...filed(all[at]!));
  const wait = ['--for=condition=Ready', '--timeout=30s'];
  await management('wait', ...wait, 'controlplane/example', 'controlplaneregistration/example');
  const tenants = await hangar('get', 'tenants', '--output=name');
  assert.match(tenants, /^tenant.tenancy.hangar.dev\/example$/m);
  // In another order than the creation. kubectl waits until each of them is gone.
  await management('delete', ...filed(all[(at * 7 + 5) % all.length]!), '--timeout=30s');
  // The namespace is deleted last, by the namespace controller.
  await management('wait', '--for=delete', 'namespace/kplane-cp-example', '--timeout=30s');
  assert.equal(await management('get', kinds, '--output=name'), '', 'one of the four kinds');
  assert.equal(await hangar('get', 'tenants', '--output=name'), '', 'a Tenant');
  const left = (await management('get', 'namespaces,secrets', '--all-namespaces', '--output=name')).split('\n');
  assert.deepEqual(
    left.filter((name) => /kplane-cp-|kubeconfig|controlplane-/.test(name)),
    [],
  );
}

test('in all orders on Hangar; what is kept of the control plane is found by the next one', async () => {
  await using platform = await Platform.prepare();
  await platform.start('--store=memory', '--no-demo');
  const kubectl: Kubectl = (...args) => platform.kubectl('admin.kubeconfig', ...args);
  const inside: Kubectl = (...args) => kubectl('--server', `${url(platform)}/clusters/example/control-plane`, ...args);
  assert.equal(all.length, 24);
  // Retain: objects of the first round exist in the last one.
  await kubectl('apply', ...filed(files));
  await kubectl('wait', '--for=condition=Ready', '--timeout=30s', 'controlplane/example');
  await inside('create', 'configmap', 'kept', '--from-literal=by=retain');
  for (let at = 0; at < all.length; at++) await round({ management: kubectl, hangar: kubectl, at });
  await kubectl('apply', ...filed(files));
  await kubectl('wait', '--for=condition=Ready', '--timeout=30s', 'controlplane/example');
  assert.equal(await inside('get', 'configmap', 'kept', '--output=jsonpath={.data.by}'), 'retain');
});

test('in several orders with a real Kubernetes as the management plane', async () => {
  await using stack = new AsyncDisposableStack();
  const platform = stack.use(await Platform.prepare());
  const [, management] = await Promise.all([platform.start('--bare'), startReal()]);
  stack.defer(() => management.stop());
  await copyFile(management.kubeconfig, platform.file('management.kubeconfig'));
  const program = await tool('kube-controller-manager', { log: console.log });
  // Deletes namespaces and collects garbage there.
  const controllers = await Processes.start('controllers', async (processes) => {
    const access = [`--kubeconfig=${management.kubeconfig}`, '--leader-elect=false', '--secure-port=0'];
    processes.run(program, [...access, '--controllers=namespace-controller,garbage-collector-controller']);
    return processes;
  });
  stack.defer(() => controllers.stop());
  const [port] = await freePorts(1);
  const operator = new Program(
    'operator',
    `--kubeconfig=${management.kubeconfig}`,
    `--tenants-kubeconfig=${platform.file('admin.kubeconfig')}`,
    '--install-definitions',
    `--metrics-listen=127.0.0.1:${port}`,
  );
  stack.defer(async () => void (await operator.stop('SIGKILL')));
  await operator.until(() =>
    fetch(`http://127.0.0.1:${port}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  const kubectl =
    (file: string): Kubectl =>
    (...args) =>
      platform.kubectl(file, ...args);
  const planes = { management: kubectl('management.kubeconfig'), hangar: kubectl('admin.kubeconfig') };
  for (const at of [0, 9, 14, 23]) await round({ ...planes, at });
  assert.ok(!operator.hasEnded, operator.output.stderr);
});

const url = ({ program }: Platform): string => program.output.stdout.split('\n', 1)[0]!.replace(/^ready /, '');
