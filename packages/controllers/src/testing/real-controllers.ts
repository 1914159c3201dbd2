/** The real kube-apiserver with some controllers of the real kube-controller-manager, for comparison in tests. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startRealServer } from '@hangar/api/testing';
import { connect } from '@hangar/client';
import type { Client } from '@hangar/client';
import { tool } from '../../../../tools/tool.ts';

export interface RealControllers extends AsyncDisposable {
  readonly client: Client;
}

const token = 'of-the-test';

/** Calls `prepare` before the controllers start: they discover later kinds only after half a minute. */
export async function startRealControllers(
  controllers: readonly string[],
  prepare: (client: Client) => Promise<unknown>,
  moreFlags: readonly string[] = [],
): Promise<RealControllers> {
  await using opened = new AsyncDisposableStack();
  const path = await tool('kube-controller-manager', { log: console.log });
  const server = opened.use(await startRealServer([], [{ token, user: 'test', groups: ['system:masters'] }]));
  const credentials = { headers: () => ({ authorization: `Bearer ${token}` }) };
  const client = connect({ server: server.url, isInsecure: true, credentials });
  opened.defer(() => client.close());
  await prepare(client);
  const folder = await mkdtemp(join(tmpdir(), 'hangar-real-controllers-'));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'kubeconfig'), kubeconfigOf(server.url), { mode: 0o600 });
  const flags = [`--kubeconfig=${folder}/kubeconfig`, '--secure-port=0', '--leader-elect=false'];
  const manager = spawn(path, [...flags, `--controllers=${controllers.join(',')}`, ...moreFlags], { stdio: 'ignore' });
  opened.defer(async () => {
    if (manager.exitCode !== null) return;
    manager.kill('SIGKILL');
    await once(manager, 'exit');
  });
  const closing = opened.move();
  return { client, [Symbol.asyncDispose]: () => closing.disposeAsync() };
}

const kubeconfigOf = (server: string): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'real', cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'test', user: { token } }],
    contexts: [{ name: 'real', context: { cluster: 'real', user: 'test' } }],
    'current-context': 'real',
  });
