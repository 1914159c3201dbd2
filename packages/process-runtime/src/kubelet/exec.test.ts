/** Commands, output and connections through the kubelet API, as an API server opens them. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { Ground, shell, until } from '../testing/ground.ts';
import { clients, CollectedStream, kubeletPort, signServingRequest, spdy } from '../testing/kubelet-client.ts';

const forever = 'trap "exit 0" TERM; while :; do sleep 1 & wait $!; done';
const protocol = 'v4.channel.k8s.io';

async function startGround(mounts: 'rewrite' | undefined): Promise<{ ground: Ground; port: number }> {
  const ground = await Ground.start({ mounts, kubelet: { clientCa: clients.certificate } });
  await signServingRequest(ground.client);
  return { ground, port: await kubeletPort(ground.client) };
}

for (const mounts of [undefined, 'rewrite'] as const) {
  test(`a command has input, both outputs and an exit code (${mounts ?? 'the detected way of mounting'})`, async () => {
    const { ground, port } = await startGround(mounts);
    await using _ = ground;
    await ground.create('target', {
      volumes: [{ name: 'shared', emptyDir: {} }],
      containers: [
        shell(`echo from-volume > /shared/file; ${forever}`, {
          env: [{ name: 'WORD', value: 'from-env' }],
          volumeMounts: [{ name: 'shared', mountPath: '/shared' }],
          readinessProbe: { exec: { command: ['grep', 'from', '/shared/file'] }, periodSeconds: 1, timeoutSeconds: 60 },
        }),
      ],
    });
    await ground.isReady('target');
    const script = 'read -r line; echo "$line $WORD $(cat /shared/file)"; echo problem >&2; exit 7';
    const query = new URLSearchParams([
      ['input', '1'],
      ['output', '1'],
      ['error', '1'],
    ]);
    for (const word of ['sh', '-c', script]) query.append('command', word);
    const connection = await spdy(port, `/exec/default/target/main?${query}`, protocol);
    const [error, stdin, stdout, stderr] = ['error', 'stdin', 'stdout', 'stderr'].map(
      (streamtype) => new CollectedStream(connection, { streamtype }),
    );
    connection.write(stdin!.id, Buffer.from('typed\n'));
    connection.finish(stdin!.id);
    assert.equal(await stdout!.ended, 'typed from-env from-volume\n');
    assert.equal(await stderr!.ended, 'problem\n');
    const { status, reason, details } = JSON.parse(await error!.ended) as Record<string, unknown>;
    assert.deepEqual([status, reason], ['Failure', 'NonZeroExitCode']);
    assert.deepEqual(details, { causes: [{ reason: 'ExitCode', message: '7' }] });
  });
}

test('a closed connection ends its command', async () => {
  const { ground, port } = await startGround(undefined);
  await using _ = ground;
  await ground.create('target', { containers: [shell(forever)] });
  await ground.isReady('target');
  const command = 'echo $$; exec sleep 1000';
  const query = new URLSearchParams([
    ['output', '1'],
    ['command', 'sh'],
    ['command', '-c'],
    ['command', command],
  ]);
  const connection = await spdy(port, `/exec/default/target/main?${query}`, protocol);
  connection.open({ streamtype: 'error' }, { data: () => {}, end: () => {} });
  const stdout = new CollectedStream(connection, { streamtype: 'stdout' });
  const pid = await until('the pid of the command', () => Number(stdout.text) || undefined);
  connection.close();
  await until('the end of the command', () => {
    try {
      process.kill(pid, 0);
      return false;
    } catch {
      return true;
    }
  });
});

test('an unknown container and an unknown protocol are refused', async () => {
  const { ground, port } = await startGround(undefined);
  await using _ = ground;
  await ground.create('target', { containers: [shell(forever)] });
  await ground.isReady('target');
  await assert.rejects(
    spdy(port, '/exec/default/target/none?command=ls', protocol),
    /^Error: 404: container "none" not found$/,
  );
  await assert.rejects(spdy(port, '/exec/default/target/main?command=ls', 'v9.channel.k8s.io'), /^Error: 403: /);
});

test('attach has the output from now on, and the exit code', async () => {
  const { ground, port } = await startGround(undefined);
  await using _ = ground;
  await ground.create('talks', {
    restartPolicy: 'Never',
    volumes: [{ name: 'shared', hostPath: { path: ground.folder } }],
    containers: [
      shell('echo before; while ! test -e /shared/go; do echo tick; sleep 0.05; done; exit 4', {
        volumeMounts: [{ name: 'shared', mountPath: '/shared' }],
      }),
    ],
  });
  await ground.isReady('talks');
  const unit = ground.runtime.pods.byName('default', 'talks')!.unit('main')!;
  await until('the log', () => existsSync(unit.logPath()));
  const connection = await spdy(port, '/attach/default/talks/main?output=1', protocol);
  const error = new CollectedStream(connection, { streamtype: 'error' });
  const stdout = new CollectedStream(connection, { streamtype: 'stdout' });
  await until('output', () => stdout.text.includes('tick'));
  writeFileSync(`${ground.folder}/go`, '');
  assert.match(await stdout.ended, /^(?:tick\n)+$/);
  assert.match(await error.ended, /"ExitCode","message":"4"/);
});

test('a port of a pod is forwarded, and a closed port is an error', async (context) => {
  const { ground, port } = await startGround(undefined);
  await using _ = ground;
  await ground.create('target', { containers: [shell(forever)] });
  const { status } = await ground.isReady('target');
  const server = createServer((socket) => socket.on('data', (piece) => socket.end(piece.toString().toUpperCase())));
  server.listen(0, status!.podIP);
  await once(server, 'listening');
  context.after(() => server.close());
  const { port: target } = server.address() as { port: number };
  const connection = await spdy(port, '/portForward/default/target', 'portforward.k8s.io');
  const open = (number: number, request: string) => {
    const headers = { port: String(number), requestid: request };
    const error = new CollectedStream(connection, { ...headers, streamtype: 'error' });
    return { error, data: new CollectedStream(connection, { ...headers, streamtype: 'data' }) };
  };
  const good = open(target, '0');
  connection.write(good.data.id, Buffer.from('hello'));
  assert.equal(await good.data.ended, 'HELLO');
  connection.finish(good.data.id);
  assert.equal(await good.error.ended, '');
  await new Promise((resolve) => server.close(resolve));
  const bad = open(target, '1');
  assert.match(
    await bad.error.ended,
    new RegExp(`^error forwarding port ${target} to pod target: connect ECONNREFUSED`),
  );
  connection.close();
});
