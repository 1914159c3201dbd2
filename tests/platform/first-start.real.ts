/** The five minutes after `npm ci`: a first start, a control plane to use, Ctrl-C, and a restart with all data. */

import assert from 'node:assert/strict';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Platform } from './testing/platform.ts';

/** Generous: the machine may be busy. The time on an idle one is in docs/benchmarks.md. */
const stopMaxMs = 10_000;

test('the first start makes demo, which is used, kept, and not made again when it was deleted', async () => {
  await using platform = await Platform.prepare();
  const url = await platform.start();
  const { stdout } = platform.program.output;
  assert.match(url, /^https:\/\/127\.0\.0\.1:\d+$/);
  assert.equal(stdout.match(/^ready /gm)?.length, 1);
  assert.ok(stdout.includes(`kubectl --kubeconfig ${platform.file('demo.kubeconfig')} `), stdout);
  assert.match(stdout, new RegExp(`hangar(\\.js)? create NAME --data-dir ${platform.dataFolder}\\n`));
  for (const file of ['admin.kubeconfig', 'demo.kubeconfig']) {
    assert.equal(statSync(platform.file(file)).mode & 0o777, 0o600, file);
  }
  await platform.kubectl('demo.kubeconfig', 'create', 'configmap', 'hello', '--from-literal=from=hangar');
  // Its controllers work: a deleted namespace is removed with its content.
  await platform.kubectl('demo.kubeconfig', 'create', 'namespace', 'short');
  await platform.kubectl('demo.kubeconfig', 'create', 'configmap', 'x', '--namespace=short');
  await platform.kubectl('demo.kubeconfig', 'delete', 'namespace', 'short', '--timeout=30s');
  // Users of demo have no access to the management plane.
  await assert.rejects(platform.kubectl('demo.kubeconfig', '--server', url, 'get', 'controlplanes'));
  const first = await platform.program.stop('SIGINT');
  assert.deepEqual([first.code, first.tookMs < stopMaxMs], [0, true], JSON.stringify(first));
  assert.doesNotMatch(platform.program.output.stderr, /"level":(50|60)/);

  const again = await platform.start();
  assert.notEqual(again, '');
  const hello = await platform.kubectl(
    'demo.kubeconfig',
    'get',
    'configmap',
    'hello',
    '--output=jsonpath={.data.from}',
  );
  assert.equal(hello, 'hangar');
  assert.ok(platform.program.output.stdout.includes('demo.kubeconfig'));
  await platform.kubectl('admin.kubeconfig', 'delete', 'controlplane', 'demo', '--timeout=30s');
  await platform.program.until(() => !existsSync(platform.file('demo.kubeconfig')));
  assert.equal((await platform.program.stop('SIGTERM')).code, 0);

  await platform.start();
  assert.ok(!platform.program.output.stdout.includes('demo'), platform.program.output.stdout);
  const left = await platform.kubectl('admin.kubeconfig', 'get', 'controlplanes', '--output=name');
  assert.equal(left, '');
  assert.equal((await platform.program.stop()).code, 0);
});

test('a first start that is killed at any moment is made good by the next one', async () => {
  await using platform = await Platform.prepare();
  for (const afterMs of [150, 250, 350, 450, 550, 700, 850, 1_000]) {
    const program = platform.launch();
    // Random moments of the start, not of readiness: the state by then differs from run to run, and must not matter.
    await sleep(afterMs);
    await program.stop('SIGKILL');
  }
  await platform.start();
  await platform.kubectl('demo.kubeconfig', 'create', 'configmap', 'hello');
  assert.equal((await platform.program.stop()).code, 0);
});

test('a configuration file says what a command line would, and mistakes in it are one line', async () => {
  await using platform = await Platform.prepare();
  const file = join(platform.folder, 'hangar.yaml');
  writeFileSync(file, 'store: memory\nhost: [hangar.test]\nno-demo: true\nlog-format: text\n');
  const url = await platform.start('--config', file);
  assert.ok(platform.program.output.stdout.includes('all data is lost'));
  const args = ['--server', url, '--tls-server-name=hangar.test'];
  assert.match(await platform.kubectl('admin.kubeconfig', ...args, 'get', 'namespaces'), /kube-system/);
  assert.equal(await platform.kubectl('admin.kubeconfig', ...args, 'get', 'controlplanes', '--output=name'), '');
  assert.equal((await platform.program.stop()).code, 0);
  writeFileSync(file, 'data_dir: x\n');
  const program = platform.launch('--config', file);
  assert.equal((await program.ended()).code, 2);
  assert.equal(program.output.stderr, `hangar: --config: ${file}: data_dir: unknown flag; did you mean data-dir?\n`);
});

test('the API server alone has neither operator nor controllers nor demo', async () => {
  await using platform = await Platform.prepare();
  await platform.start('--bare');
  await assert.rejects(platform.kubectl('admin.kubeconfig', 'get', 'controlplanes'));
  assert.doesNotMatch(await platform.kubectl('admin.kubeconfig', 'get', '--raw', '/readyz?verbose'), /operator/);
  assert.ok(!existsSync(platform.file('demo.kubeconfig')));
  assert.equal((await platform.program.stop()).code, 0);
});

test('health and metrics tell of what runs beside the server', async () => {
  await using platform = await Platform.prepare();
  await platform.start('--store=memory');
  const health = await platform.kubectl('admin.kubeconfig', 'get', '--raw', '/readyz?verbose');
  assert.match(health, /\[\+\]operator ok\n\[\+\]backup-operator ok\n\[\+\]controllers ok\nreadyz check passed/);
  const metrics = await platform.kubectl('admin.kubeconfig', 'get', '--raw', '/metrics');
  assert.match(metrics, /^hangar_service_up\{service="operator"\} 1$/m);
  assert.match(metrics, /^hangar_service_restarts_total\{service="controllers"\} 0$/m);
  assert.match(metrics, /^controller_runtime_reconcile_total\{/m);
  const heads = [...metrics.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name);
  assert.deepEqual(heads, [...new Set(heads)], 'a family stands once');
  assert.equal((await platform.program.stop()).code, 0);
});
