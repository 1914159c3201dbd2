/**
 * Streams between clients and a kubelet that supports only SPDY: the server translates WebSockets for it. Kubelets that support WebSockets
 * get them unchanged, see `cases/streams.ts`. With the newest and the oldest supported kubectl.
 */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { HangarForNodes } from './control-planes/hangar.ts';
import { Nodes } from './machine/node.ts';
import { Kubectl } from './testing/kubectl.ts';
import { pod } from './testing/objects.ts';
import { printLogsOfFailures, withLogs } from './testing/report.ts';
import { Session } from './testing/session.ts';

describe('a node whose kubelet supports only SPDY', () => {
  const opened = new AsyncDisposableStack();
  let nodes: Nodes;
  let hangar: HangarForNodes;
  let newest: Kubectl;
  let oldest: Kubectl;
  const logs = async (): Promise<string> => `${hangar?.logs}\n${await nodes?.logs()}`;

  before(() =>
    withLogs(logs, async () => {
      nodes = opened.use(await Nodes.create());
      hangar = opened.use(await HangarForNodes.start(nodes.network));
      const plane = await hangar.createPlane('red');
      newest = await Kubectl.of(plane.kubeconfig);
      oldest = await Kubectl.of(plane.kubeconfig, 'kubectl-1.32');
      const configuration = { featureGates: { ExtendWebSocketsToKubelet: false } };
      await nodes.startMember('node-a', { ...plane, join: { ...plane.join, configuration } });
      await newest.wait('create', 'node/node-a', 'serviceaccount/default');
      await newest.apply(
        pod('echoing', { command: ['sh', '-c', 'while read -r line; do echo "got $line"; done'], stdin: true }),
        pod('server', { image: 'agnhost', command: ['/agnhost', 'netexec', '--http-port=8080'] }),
      );
      await newest.wait('condition=Ready', 'pod/echoing', 'pod/server');
    }),
  );
  after(() => opened.disposeAsync());
  printLogsOfFailures(logs);

  test('the kubelet does not declare support for WebSockets', async () => {
    const declared = await newest.value('{.status.declaredFeatures}', 'node', 'node-a');
    assert.ok(!declared.includes('ExtendWebSocketsToKubelet'), declared);
  });

  for (const version of ['newest', 'oldest'] as const) {
    const kubectl = (): Kubectl => (version === 'newest' ? newest : oldest);
    const session = (...args: string[]): Session => new Session(kubectl().start(...args));

    test(`exec of the ${version} kubectl passes input, its end, output and the exit code`, async () => {
      await using counted = session('exec', '--stdin', 'server', '--', 'sh', '-c', 'wc -c; echo problem >&2; exit 7');
      const input = 'x'.repeat(300_000);
      counted.write(input);
      counted.endInput();
      assert.equal(await counted.exited(), 7);
      assert.equal(counted.output.trim(), String(input.length));
    });

    test(`exec of the ${version} kubectl transfers much output`, async () => {
      const output = await kubectl().run('exec', 'server', '--', 'sh', '-c', 'yes 0123456789 | head -c 5000000');
      assert.equal(output.length, 5_000_000);
      assert.match(output, /^(?:0123456789\n)+/);
    });

    test(`attach of the ${version} kubectl reads and writes the streams of a container`, async () => {
      await using attached = session('attach', '--stdin', 'echoing');
      attached.write('hello\n');
      await attached.until(/got hello\n/);
    });

    test(`port-forward of the ${version} kubectl leads to a port of a pod, for several connections`, async () => {
      await using forward = session('port-forward', 'pod/server', ':8080');
      const [, port] = await forward.until(/^Forwarding from 127\.0\.0\.1:(\d+) -> 8080$/m);
      const ask = async (): Promise<string> => (await fetch(`http://127.0.0.1:${port}/hostname`)).text();
      assert.deepEqual(await Promise.all([1, 2, 3].map(ask)), ['server', 'server', 'server']);
    });
  }
});
