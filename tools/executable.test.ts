import assert from 'node:assert/strict';
import { test } from 'node:test';
import { catalogue } from './catalogue.ts';
import { versionOf } from './executable.ts';
import { it, testWorld } from './testing.ts';
import { formatVersion } from './version.ts';

const prints = (stdout: string) => ({ run: () => ({ stdout }) });

test('a program that names what it is made of before itself is known by its own version', async (context) => {
  const world = await testWorld(context, prints('kcp version v1.32.3+kcp-v0.28.1\n'));
  const version = await versionOf('/kcp', catalogue.kcp, world);
  assert.ok(typeof version === 'object');
  assert.equal(formatVersion(version), 'v0.28.1');
});

test('any other program is known by the first version that it prints', async (context) => {
  const world = await testWorld(context, prints('it v3.6.1, built with go1.26.8\n'));
  const version = await versionOf('/it', it, world);
  assert.ok(typeof version === 'object');
  assert.equal(formatVersion(version), 'v3.6.1');
});

test('a program that prints no version says so', async (context) => {
  const world = await testWorld(context, prints('hello\n'));
  assert.equal(await versionOf('/it', it, world), 'does not tell its version: no number in its answer');
});

test('a Go program that prints no version is known by its build information', async (context) => {
  const module = 'sigs.k8s.io/apiserver-network-proxy';
  const built = `/agent: go1.26.8\n\tpath\t${module}/cmd/agent\n\tdep\tk8s.io/api\tv0.36.4\n\tdep\t${module}\tv0.36.0\th1:x=\n`;
  const world = await testWorld(context, prints(built));
  const agent = catalogue['konnectivity-agent'];
  assert.match(String(await versionOf('/agent', agent, world)), /no go on PATH/);
  await world.install('go');
  const version = await versionOf('/agent', agent, world);
  assert.ok(typeof version === 'object');
  assert.equal(formatVersion(version), 'v0.36.0');
});

test('a Go program of another module has an unknown version', async (context) => {
  const world = await testWorld(context, prints('/agent: go1.26.8\n\tmod\texample.org/agent\tv0.36.0\n'));
  await world.install('go');
  assert.match(String(await versionOf('/agent', catalogue['konnectivity-agent'], world)), /does not name its module/);
});
