/** Kubeconfigs and addresses that change while a program runs. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endOf, readyIn, serverOf } from './testing/served.ts';
import { kubeconfigFor, World } from './testing/world.ts';

const server = serverOf('a');

test('other credentials: the program is started again, once, and after the one of before has ended', async () => {
  const world = new World();
  const served = await readyIn(world);
  const first = world.programs.of('a')!;
  world.secrets.put(served.secret, kubeconfigFor(server, 'another'));
  await world.clock.advance(900);
  assert.equal(world.programs.of('a'), first, 'not before it is settled');
  await served.until('Starting');
  await served.until('Ready', 5_000);
  assert.notEqual(world.programs.of('a'), first);
  assert.ok(world.programs.of('a')!.kubeconfig.includes('another'));
  await world.clock.advance(60_000);
  assert.equal(served.starts, 2);
  assert.equal(served.state.restarts, 1);
  await endOf(world, served);
});

test('a burst of changes is one restart, with the last of them', async () => {
  const world = new World();
  const served = await readyIn(world);
  for (let at = 0; at < 8; at++) {
    world.secrets.put(served.secret, kubeconfigFor(server, `token-${at}`));
    await world.clock.advance(700);
  }
  await world.clock.advance(60_000);
  assert.equal(served.starts, 2);
  assert.ok(world.programs.of('a')!.kubeconfig.includes('token-7'));
  await endOf(world, served);
});

test('a burst that does not end is not waited for longer than ten times the quiet time', async () => {
  const world = new World();
  const served = await readyIn(world);
  for (let at = 0; at < 22; at++) {
    world.secrets.put(served.secret, kubeconfigFor(server, `token-${at}`));
    await world.clock.advance(500);
  }
  assert.equal(served.starts, 2);
  await endOf(world, served);
});

test('a Secret that is written without another content, or in other words, restarts nothing', async () => {
  const world = new World();
  const served = await readyIn(world);
  const text = kubeconfigFor(server);
  world.secrets.put(served.secret, text);
  await world.clock.advance(30_000);
  world.secrets.put(served.secret, JSON.stringify(JSON.parse(text), undefined, 4));
  await world.clock.advance(30_000);
  assert.equal(served.starts, 1);
  await endOf(world, served);
});

test('a change that is taken back in time restarts nothing', async () => {
  const world = new World();
  const served = await readyIn(world);
  world.secrets.put(served.secret, kubeconfigFor(server, 'wrong'));
  await world.clock.advance(500);
  world.secrets.put(served.secret, kubeconfigFor(server));
  await world.clock.advance(60_000);
  assert.equal(served.starts, 1);
  await endOf(world, served);
});

test('a Secret that disappears leaves the program running, and says so, until it is there again', async () => {
  const world = new World();
  const served = await readyIn(world);
  world.secrets.put(served.secret, undefined);
  await served.until('Ready/KubeconfigPending');
  assert.match(served.state.message, /is running .*; warning: Secret "fleet\/a" has no kubeconfig/);
  await world.clock.advance(10 * 60_000);
  assert.equal(served.starts, 1);
  world.secrets.put(served.secret, kubeconfigFor(server));
  await served.until('Ready/Running');
  assert.equal(served.starts, 1);
  assert.ok(world.lines.some((line) => line.includes('no kubeconfig')));
  await endOf(world, served);
});

test('a kubeconfig that becomes unusable does the same', async () => {
  const world = new World();
  const served = await readyIn(world);
  world.secrets.put(served.secret, kubeconfigFor(server, 'x', { tokenFile: '/etc/passwd' }));
  await served.until('Ready/KubeconfigInvalid');
  await world.clock.advance(60_000);
  assert.equal(served.starts, 1);
  world.secrets.put(served.secret, kubeconfigFor(server, 'new'));
  await served.until('Starting');
  await served.until('Ready/Running');
  assert.equal(served.starts, 2);
  await endOf(world, served);
});

test('without a Secret nothing is started: a program that ends is waited with', async () => {
  const world = new World();
  const served = await readyIn(world);
  world.secrets.put(served.secret, undefined);
  await world.clock.advance(5_000);
  world.programs.of('a')!.exit({ code: 1 });
  await served.until('Waiting/KubeconfigPending');
  await world.clock.advance(60_000);
  assert.equal(served.starts, 1);
  world.secrets.put(served.secret, kubeconfigFor(server));
  await served.until('Ready');
  await endOf(world, served);
});

test('what runs goes on while its replacement could not: until the new cluster answers', async () => {
  const world = new World();
  const served = await readyIn(world);
  const first = world.programs.of('a');
  world.answers.set(serverOf('b'), 401);
  world.secrets.put(served.secret, kubeconfigFor(serverOf('b')));
  await served.until('Waiting/Unauthorized');
  assert.match(served.state.message, /keeps running with the previous kubeconfig/);
  await world.clock.advance(60_000);
  assert.equal(world.programs.of('a'), first);
  world.answers.set(serverOf('b'), 200);
  await served.until('Ready', 20_000);
  assert.equal(served.starts, 2);
  await endOf(world, served);
});

test('a replacement that does not work and is taken back costs no restart', async () => {
  const world = new World();
  const served = await readyIn(world);
  world.answers.set(serverOf('b'), 'refuses');
  world.secrets.put(served.secret, kubeconfigFor(serverOf('b')));
  await served.until('Waiting/Unreachable');
  world.secrets.put(served.secret, kubeconfigFor(server));
  await served.until('Ready', 1_000);
  await world.clock.advance(60_000);
  assert.equal(served.starts, 1);
  await endOf(world, served);
});

test('what runs and ends while its replacement is waited for is no second restart', async () => {
  const world = new World();
  const served = await readyIn(world);
  world.answers.set(serverOf('b'), 'refuses');
  world.secrets.put(served.secret, kubeconfigFor(serverOf('b')));
  await served.until('Waiting/Unreachable');
  world.programs.of('a')!.exit({ code: 1 });
  await served.until('BackingOff');
  await world.clock.advance(60_000);
  assert.equal(served.phase, 'Waiting/Unreachable');
  world.answers.delete(serverOf('b'));
  await served.until('Ready', 20_000);
  assert.equal(served.starts, 2);
  await endOf(world, served);
});

test('another address, or another Secret, is a change like any other', async () => {
  const world = new World();
  const served = await readyIn(world);
  served.update({ address: 'https://moved:6443' });
  await served.until('Starting');
  await served.until('Ready');
  assert.ok(world.programs.of('a')!.kubeconfig.includes('https://moved:6443'));
  const other = { namespace: 'fleet', name: 'other' };
  served.update({ secret: other });
  await world.clock.advance(30_000);
  assert.equal(served.phase, 'Ready/KubeconfigPending');
  assert.equal(served.starts, 2);
  world.secrets.put(served.secret, kubeconfigFor(server, 'of the old one'));
  world.secrets.put(other, kubeconfigFor(server, 'fresh'));
  await served.until('Starting');
  await served.until('Ready/Running');
  assert.equal(served.starts, 3);
  assert.ok(world.programs.of('a')!.kubeconfig.includes('fresh'));
  assert.equal(world.secrets.followers, 1);
  served.update({ labels: { a: 'b' } });
  await world.clock.advance(30_000);
  assert.equal(served.starts, 3);
  await endOf(world, served);
});

test('a change while a program comes up is one more start, not two programs', async () => {
  const world = new World();
  const served = world.serve('a');
  world.secrets.put(served.secret, kubeconfigFor(server));
  await served.until('Starting');
  await world.clock.advance(500);
  world.secrets.put(served.secret, kubeconfigFor(server, 'new'));
  await served.until('Ready');
  assert.equal(served.starts, 2);
  assert.ok(world.programs.of('a')!.kubeconfig.includes('new'));
  await endOf(world, served);
});

test('another kubeconfig ends a long pause', async () => {
  const world = new World();
  world.programs.behaviour.livesMs = 50;
  const served = world.serve('a');
  world.secrets.put(served.secret, kubeconfigFor(server));
  await world.clock.advance(30 * 60_000);
  world.programs.behaviour.livesMs = undefined;
  await served.until('BackingOff', 5 * 60_000);
  world.secrets.put(served.secret, kubeconfigFor(server, 'better'));
  await served.until('Ready', 5_000);
  await endOf(world, served);
});

test('a burst of changes in a long pause is one start, and the pauses begin anew', async () => {
  const world = new World();
  world.programs.behaviour.livesMs = 50;
  const served = world.serve('a');
  world.secrets.put(served.secret, kubeconfigFor(server));
  await world.clock.advance(30 * 60_000);
  await served.until('BackingOff', 5 * 60_000);
  await world.clock.advance(1_000);
  const before = served.starts;
  for (let at = 0; at < 5; at++) {
    world.secrets.put(served.secret, kubeconfigFor(server, `token-${at}`));
    await world.clock.advance(500);
  }
  assert.equal(served.starts, before);
  await world.clock.advance(600);
  assert.equal(served.starts, before + 1);
  assert.match(served.state.message, /retrying in 1 s/);
  await endOf(world, served);
});

test('what was told last counts, however long it took to be understood', async () => {
  const world = new World();
  const served = world.serve('a');
  world.secrets.put(served.secret, kubeconfigFor(server));
  world.secrets.put(served.secret, undefined);
  await world.clock.advance(60_000);
  assert.equal(served.phase, 'Waiting/KubeconfigPending');
  assert.equal(served.starts, 0);
  await endOf(world, served);
});

test('a kubeconfig that flaps for an hour is no storm of restarts', async () => {
  const world = new World();
  const served = await readyIn(world);
  for (let at = 0; at < 1_200; at++) {
    world.secrets.put(served.secret, kubeconfigFor(server, `token-${at}`));
    await world.clock.advance(3_000);
  }
  assert.ok(served.starts < 30, `${served.starts} starts`);
  await world.clock.advance(11 * 60_000);
  assert.equal(served.phase, 'Ready/Running');
  assert.ok(world.programs.of('a')!.kubeconfig.includes('token-1199'));
  await endOf(world, served);
});
