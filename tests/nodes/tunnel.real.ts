/**
 * A node that the server does not connect to directly: its control plane has no networks, and all connections go through the real
 * konnectivity-agent on the node.
 */

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { ControlPlaneClass } from '@hangar/controlplane-operator';
import { tool } from '../../tools/tool.ts';
import { HangarForNodes } from './control-planes/hangar.ts';
import type { NodePlane } from './control-planes/node-plane.ts';
import { folderPrefix } from './machine/names.ts';
import { Nodes } from './machine/node.ts';
import { until } from '@hangar/cli/machine';
import type { Node, NodeProgram } from '@hangar/cli/machine';
import { Kubectl } from './testing/kubectl.ts';
import { pod } from './testing/objects.ts';
import { printLogsOfFailures, withLogs } from './testing/report.ts';
import { Session } from './testing/session.ts';

const counting = 'n=0; while true; do n=$((n+1)); echo line $n; sleep 0.1; done';

describe('a node behind NAT, with real konnectivity agents', () => {
  const opened = new AsyncDisposableStack();
  let nodes: Nodes;
  let hangar: HangarForNodes;
  let plane: NodePlane;
  let node: Node;
  let kubectl: Kubectl;
  let folder: string;
  const agents: NodeProgram[] = [];
  const logs = async (): Promise<string> => `${hangar?.logs}\n${await nodes?.logs()}`;
  const session = (...args: string[]): Session => new Session(kubectl.start(...args));

  before(() =>
    withLogs(logs, async () => {
      folder = await mkdtemp(`${folderPrefix()}tunnel-`);
      opened.defer(() => rm(folder, { recursive: true, force: true }));
      nodes = opened.use(await Nodes.create());
      hangar = opened.use(await HangarForNodes.start(nodes.network));
      const body = { spec: { nodes: { networks: [] } } };
      await hangar.up.client.patch(ControlPlaneClass, { name: 'nodes' }, { type: 'merge', body });
      plane = await hangar.createPlane('red');
      kubectl = await Kubectl.of(plane.kubeconfig);
      node = await nodes.startMember('node-a', plane);
      await kubectl.wait('create', 'node/node-a', 'serviceaccount/default');
      await kubectl.apply(
        pod('counting', { command: ['sh', '-c', counting] }),
        pod('server', { image: 'agnhost', command: ['/agnhost', 'netexec', '--http-port=8080'] }),
      );
      await kubectl.wait('condition=Ready', 'pod/counting', 'pod/server');
    }),
  );
  after(() => opened.disposeAsync());
  printLogsOfFailures(logs);

  /** Starts the agent on the node. Resolves when it is connected. */
  async function startAgent(name: string, healthPort: number): Promise<void> {
    const { hostname, port } = new URL(plane.server);
    const agent = await node.startProgram(name, await tool('konnectivity-agent', { log: console.log }), [
      `--proxy-server-host=${hostname}`,
      `--proxy-server-port=${port}`,
      `--ca-cert=${join(folder, 'ca.crt')}`,
      `--service-account-token-path=${join(folder, 'token')}`,
      `--agent-id=${name}`,
      `--health-server-port=${healthPort}`,
      `--admin-server-port=${healthPort + 1}`,
      '--v=2',
    ]);
    agents.push(agent);
    await until(`the agent ${name} is connected`, { program: agent }, async () =>
      (await readFile(agent.logFile, 'utf8')).includes('Start serving'),
    );
  }

  test('is not reachable without an agent', async () => {
    await using refused = session('logs', 'counting');
    assert.equal(await refused.exited(), 1);
    assert.match(refused.errors, /spec\.nodes\.networks is empty, and no tunnel agent is connected/);
  });

  test('is reachable when an agent has connected with a token of its service account', async () => {
    await kubectl.run('--namespace=kube-system', 'create', 'serviceaccount', 'konnectivity-agent');
    const audience = '--audience=system:konnectivity-server';
    const token = await kubectl.run('--namespace=kube-system', 'create', 'token', 'konnectivity-agent', audience);
    await writeFile(join(folder, 'token'), token.trim());
    await writeFile(join(folder, 'ca.crt'), plane.authority.certificate);
    await startAgent('agent-a', 8193);
    assert.match(await kubectl.run('logs', 'counting', '--limit-bytes=13'), /^line 1\nline 2/);
    await using following = session('logs', '--follow', '--tail=1', 'counting');
    const first = Number((await following.until(/^line (\d+)\n/))[1]);
    await following.until(new RegExp(`\\nline ${first + 10}\\n`));
  });

  test('runs commands with input, output and exit code', async () => {
    await using counted = session('exec', '--stdin', 'server', '--', 'sh', '-c', 'wc -c; exit 7');
    counted.write('x'.repeat(300_000));
    counted.endInput();
    assert.equal(await counted.exited(), 7);
    assert.equal(counted.output.trim(), '300000');
  });

  test('copies files in both directions', async () => {
    const [there, back] = [join(folder, 'there'), join(folder, 'back')];
    const content = randomBytes(3 * 1024 * 1024);
    await writeFile(there, content);
    await kubectl.run('cp', there, 'server:/tmp/copy');
    await kubectl.run('cp', 'server:/tmp/copy', back);
    assert.ok(content.equals(await readFile(back)));
  });

  test('forwards ports, and serves pods and its kubelet by proxy', async () => {
    await using forward = session('port-forward', 'pod/server', ':8080');
    const [, port] = await forward.until(/^Forwarding from 127\.0\.0\.1:(\d+) -> 8080$/m);
    const ask = async (): Promise<string> => (await fetch(`http://127.0.0.1:${port}/hostname`)).text();
    assert.deepEqual(await Promise.all([1, 2, 3].map(ask)), ['server', 'server', 'server']);
    const pods = '/api/v1/namespaces/default/pods';
    assert.equal(await kubectl.run('get', `--raw=${pods}/server:8080/proxy/hostname`), 'server');
    assert.equal(await kubectl.run('get', '--raw=/api/v1/nodes/node-a/proxy/healthz'), 'ok');
  });

  test('stays reachable through another agent when one is killed', async () => {
    await startAgent('agent-b', 8293);
    await agents[0]!.stop('SIGKILL');
    await until('requests use the other agent', {}, async () => {
      await using printed = session('logs', 'counting', '--tail=1');
      return (await printed.exited()) === 0;
    });
    assert.equal(await kubectl.run('exec', 'server', '--', 'hostname'), 'server\n');
  });
});
