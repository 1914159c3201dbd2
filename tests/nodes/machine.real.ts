/** A node leaves nothing behind, also when its test is killed. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { listCgroups, until } from '@hangar/cli/machine';
import { removeLeftovers } from './machine/leftovers.ts';
import { interfaceName } from './machine/names.ts';
import { archivesOf, Nodes } from './machine/node.ts';
import type { HeldNode } from './testing/hold-node.ts';
import { Session } from './testing/session.ts';

test('a node that is stopped and disposed leaves no process, folder, cgroup or network interface', async () => {
  const nodes = await Nodes.create();
  const node = await nodes.start('node-a', { images: ['pause'] });
  const { pid } = node.namespaces;
  assert.match(await node.run('ip', 'route'), /^default via 10\.77\.\d+\.1 dev eth0/);
  await nodes[Symbol.asyncDispose]();
  assert.ok(!existsSync(`/proc/${pid}`));
  assert.ok(!existsSync(nodes.folder));
  assert.ok(!existsSync(`/sys/class/net/${interfaceName()}`));
  assert.ok(!(await listCgroups()).has(node.cgroup));
});

test('a node that is started again has its files and images', async () => {
  await using nodes = await Nodes.create();
  const node = await nodes.start('node-a', { images: ['pause'] });
  await node.run('touch', '/etc/written');
  await node.stop();
  await node.start({ images: await archivesOf(['pause']) });
  await node.run('ls', '/etc/written');
  assert.ok(!existsSync('/etc/written'));
});

test('the processes of a node end with a test that is killed, and the next test removes the rest', async () => {
  const program = fileURLToPath(new URL('testing/hold-node.ts', import.meta.url));
  await using session = new Session(spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'pipe'] }));
  const [, text] = await session.until(/^held (.*)$/m);
  const held = JSON.parse(text!) as HeldNode;
  assert.ok(existsSync(`/proc/${held.pid}`));
  await session[Symbol.asyncDispose]();
  await until('the first process of the node has ended', {}, async () => !existsSync(`/proc/${held.pid}`));
  assert.ok(existsSync(held.folder));
  assert.ok((await listCgroups()).has(held.cgroup));
  await removeLeftovers();
  assert.ok(!existsSync(held.folder));
  assert.ok(!existsSync(`/sys/class/net/${held.bridge}`));
  assert.ok(!(await listCgroups()).has(held.cgroup));
});
