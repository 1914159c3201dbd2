/** An operator with the real sigs.k8s.io/multicluster-runtime engages the projects of `hangar up --projects`, and reconciles in each. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { connect, loadKubeconfig } from '@hangar/client';
import type { Client } from '@hangar/client';
import { ConfigMap } from '@hangar/client/kinds/core-v1';
import { Organization, Project } from '../../../operators/projects/src/index.ts';
import { createProject, until, untilReason } from '../../../operators/projects/src/testing/platform.ts';
import { ownProgram } from '../../../tools/own-program.ts';
import { Platform } from '../../platform/testing/platform.ts';

const greeting = { namespace: 'default', name: 'greeting' };
const projects = ['shop', 'blog', 'mail'];

/** Starts the operator. Its output is a line for each project that it engages or disengages. */
async function startOperator(kubeconfig: string) {
  const program = await ownProgram({ name: 'projects-multicluster', folder: import.meta.dirname }, console.error);
  const child = spawn(program, [`--management-kubeconfig=${kubeconfig}`], { stdio: ['ignore', 'pipe', 'pipe'] });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    /** Resolves when it has printed all of these lines, in any order. */
    async printed(...expected: readonly string[]): Promise<void> {
      const missing = new Set(expected);
      while (missing.size > 0) {
        const { value, done } = await lines.next();
        if (done) throw new Error(`the operator has exited before ${[...missing].join(', ')}:\n${errors}`);
        missing.delete(value);
      }
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}

const greeted = async (client: Client, project: string): Promise<void> => {
  const found = await until(client, ConfigMap, greeting, (one) => one?.data?.['project'] !== undefined);
  assert.deepEqual(found?.data, { project });
};

test('multicluster-runtime engages projects, reconciles in each, and disengages deleted ones', async () => {
  await using opened = new AsyncDisposableStack();
  const platform = opened.use(await Platform.prepare());
  const url = await platform.start('--projects', '--no-demo');
  const kubeconfig = join(platform.dataFolder, 'admin.kubeconfig');
  const config = await loadKubeconfig(kubeconfig);
  const clientOf = (path: string): Client => {
    const client = connect({ ...config, server: `${url}${path}` });
    opened.defer(() => client.close());
    return client;
  };
  const client = clientOf('');
  await platform.program.until(() =>
    client.list(Project).then(
      () => true,
      () => false,
    ),
  );
  await client.create(Organization, { metadata: { name: 'acme' }, spec: {} });
  await untilReason(client, Organization, 'acme', 'Ready');
  const operator = opened.use(await startOperator(kubeconfig));
  for (const name of projects) await createProject(client, name, 'acme');
  await operator.printed(...projects.map((name) => `engaged ${name}`));
  const inside = new Map(projects.map((name) => [name, clientOf(`/projects/${name}/control-plane`)]));
  for (const one of inside.values()) {
    await one.create(ConfigMap, { metadata: { ...greeting, labels: { greet: 'yes' } } });
  }
  for (const [name, one] of inside) await greeted(one, name);
  await client.delete(Project, { name: 'blog' });
  await operator.printed('disengaged blog');
  await until(client, Project, { name: 'blog' }, (one) => one === undefined);
  // The others are served as before, and a project of the same name is another one.
  await createProject(client, 'blog', 'acme');
  await operator.printed('engaged blog');
  for (const name of ['blog', 'shop']) {
    const metadata = { namespace: 'default', name: 'second', labels: { greet: 'yes' } };
    const one = inside.get(name)!;
    await one.create(ConfigMap, { metadata });
    await until(one, ConfigMap, { namespace: 'default', name: 'second' }, (found) => found?.data?.['project'] === name);
  }
});
