import assert from 'node:assert/strict';
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { connect } from '@hangar/client';
import { systemClock } from '@hangar/core';
import { startTestCluster } from '@hangar/testkit';
import { ControlPlane } from '../kinds.ts';
import { makePlane } from '../testing/plain-operator.ts';
import { openTestWorld } from '../testing/test-session.ts';
import type { TestWorld } from '../testing/test-session.ts';
import { lifeOf } from './life.ts';

const dayMs = 86_400_000;

/** Installs a fake kubectl in front of the machine's kubectl. */
async function kubectlSays(world: TestWorld, script: string): Promise<void> {
  const folder = join(world.folder, 'programs');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'kubectl'), `#!/bin/sh\n${script}\n`);
  await chmod(join(folder, 'kubectl'), 0o755);
  world.env['PATH'] = `${folder}:/bin:/usr/bin`;
}

const says = (version: string): string => `echo '{"clientVersion":{"gitVersion":"${version}"}}'`;

async function listening(world: TestWorld): Promise<{ port: number; close(): void }> {
  // A server that does not speak TLS.
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.end('220 mail.example.com ESMTP\r\n');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await pointTo(world, `https://127.0.0.1:${port}`);
  return { port, close: () => server.close() };
}

const pointTo = (world: TestWorld, server: string): Promise<void> =>
  writeFile(
    join(world.folder, '.data', 'admin.kubeconfig'),
    `clusters: [{name: a, cluster: {server: '${server}'}}]\nusers: [{name: a, user: {token: x}}]\ncontexts: [{name: a, context: {cluster: a, user: a}}]\ncurrent-context: a\n`,
    { mode: 0o600 },
  );

describe('hangar doctor', () => {
  test('finds everything well where it is', async () => {
    await using world = await openTestWorld();
    await using cluster = await startTestCluster({ listen: true });
    await makePlane(world.client, 'demo');
    await kubectlSays(world, says('v1.36.0'));
    await writeFile(join(world.folder, '.data', 'admin.kubeconfig'), cluster.kubeconfig, { mode: 0o600 });
    const clock = { ...systemClock, now: () => Date.now() };
    const { code, out } = await world.runIn({ clock }, 'doctor');
    assert.match(out, /^✔ Node \d/);
    for (const line of [
      /^✔ data directory .* can be read and written$/m,
      /^✔ kubeconfig \.data\/admin\.kubeconfig for https:\/\/127\.0\.0\.1:\d+$/m,
      /^✔ your certificate is valid for \d+ more days$|^! your certificate is valid for \d+ more days$/m,
      /^✔ Hangar listens at 127\.0\.0\.1:\d+$/m,
      /^✔ server: Kubernetes v1\./m,
      /^✔ server: ready$/m,
      /^✔ kubectl: v1\.36\.0$/m,
      /^✔ definitions: installed$/m,
      /^✔ operator: 1 control plane, all ready$/m,
    ]) {
      assert.match(out, line);
    }
    assert.doesNotMatch(out, /✖/);
    assert.equal(code, 0);
  });

  test('says what to do where nothing is', async () => {
    await using world = await openTestWorld();
    await rm(join(world.folder, '.data'), { recursive: true });
    await kubectlSays(world, 'exit 1');
    const { code, out, err } = await world.run('doctor');
    assert.equal(code, 1);
    assert.equal(err, '');
    assert.match(out, /^! data directory .* does not exist\n {4}create it with: hangar up$/m);
    assert.match(out, /^✖ kubeconfig: the kubeconfig ".data\/admin.kubeconfig" does not exist/m);
    assert.match(out, /^! kubectl: did not report its version$/m);
  });

  test('tells a port that is free from one that somebody else has', async () => {
    await using world = await openTestWorld();
    const { port, close } = await listening(world);
    const taken = await world.run('doctor');
    assert.equal(taken.code, 1);
    assert.match(
      taken.out,
      new RegExp(`✖ 127\\.0\\.0\\.1:${port} is used by process ${process.pid} .*, which does not speak TLS`),
    );
    close();
    assert.match(
      (await world.run('doctor')).out,
      new RegExp(`✖ nothing listens at 127\\.0\\.0\\.1:${port}: Hangar is not running`),
    );
  });

  test('--port says which process listens on a port, and -o json is for programs', async () => {
    await using world = await openTestWorld();
    const { port, close } = await listening(world);
    const taken = await world.run('doctor', '--port', String(port));
    assert.match(taken.out, new RegExp(`! port ${port} is used by process ${process.pid} `));
    assert.match(taken.out, /to use another port: hangar up --port N/);
    const { code, out } = await world.run('doctor', '-o', 'json');
    const report = JSON.parse(out) as { isWell: boolean; findings: { state: string; what: string; next?: string }[] };
    assert.deepEqual([code, report.isWell], [1, false]);
    assert.equal(report.findings[0]!.state, 'good');
    assert.ok(report.findings.some(({ state, next }) => state === 'bad' && next?.includes('hangar up --port N')));
    close();
    assert.match((await world.run('doctor', '--port', String(port))).out, new RegExp(`✔ port ${port} is free`));
    for (const odd of ['x', '0', '65536']) assert.equal((await world.run('doctor', '--port', odd)).code, 2, odd);
  });

  test('finds a server that is another one than the kubeconfig says', async () => {
    await using world = await openTestWorld();
    await using cluster = await startTestCluster({ listen: true });
    await pointTo(world, cluster.url);
    const { out } = await world.runIn(
      { connect: async (config) => connect(config, { retry: { brokenMax: 0 } }) },
      'doctor',
    );
    assert.match(out, /✖ the server at .* does not match the kubeconfig: .*process \d+/);
    assert.match(out, /✖ server: /);
  });

  test('finds secrets that others can read, a kubectl that is too old, an operator that does nothing', async () => {
    await using world = await openTestWorld();
    await kubectlSays(world, says('v1.20.0\\u001b[2J'));
    await chmod(join(world.folder, '.data', 'admin.kubeconfig'), 0o644);
    await world.client.create(ControlPlane, { metadata: { name: 'left-alone' }, spec: {} });
    const clock = { ...systemClock, now: () => Date.now() + 60_000 };
    const { code, out } = await world.runIn({ clock }, 'doctor');
    assert.equal(code, 1);
    assert.match(out, /✖ .*admin\.kubeconfig can be read by other users\n {4}restrict it: chmod 600/);
    assert.match(out, /! kubectl: v1\.20\.0\\x1b\[2J, the server is v1\./);
    assert.match(out, /✖ operator: has not reconciled left-alone/);
  });

  test('finds that the kinds are not there', async () => {
    await using world = await openTestWorld({ isBare: true });
    assert.match((await world.run('doctor')).out, /✖ definitions: controlplanes, .* not found\n {4}.*--bare/);
  });

  test('never ends before the end, whatever it meets', async () => {
    await using world = await openTestWorld();
    await writeFile(join(world.folder, '.data', 'admin.kubeconfig'), 'users: {{{');
    const connect = () => Promise.reject(new Error('a surprise'));
    const { code, out, err } = await world.runIn({ connect }, 'doctor');
    assert.deepEqual([code, err], [1, '']);
    assert.match(out, /✖ kubeconfig: .*is not valid YAML/);
    assert.match(out, /kubectl/);
  });
});

test('what has an end is told in time', () => {
  const life = (days: number) => lifeOf('it', { from: 0, to: 100 * dayMs, now: days * dayMs, next: 'renew it' }).state;
  assert.deepEqual([-1, 1, 85, 87, 100, 101].map(life), ['bad', 'good', 'good', 'doubtful', 'bad', 'bad']);
  assert.equal(lifeOf('it', { from: Number.NaN, to: Number.NaN, now: 0, next: '' }).state, 'doubtful');
});
