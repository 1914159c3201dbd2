/**
 * `npm run bench -- front-door [--quick]`: the CPU time of the front door beside that of a plain pipe between two sockets, each in its own
 * process: for bytes from the backend to the client, and for new connections. Both take turns.
 */

import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { helloOf } from '../../packages/front-door/src/testing/hellos.ts';
import { readCommandLine } from '../../scripts/command-line.ts';
import { printBars } from '../bars.ts';
import { table } from '../table.ts';

const mebibyte = 1024 * 1024;
const kinds = ['pipe', 'front-door'] as const;
type Kind = (typeof kinds)[number];

class Relay implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly port: number;

  private constructor(child: ChildProcess, port: number) {
    this.#child = child;
    this.port = port;
  }

  static async start(kind: Kind, backendPort: number): Promise<Relay> {
    const child = fork(new URL('relay.ts', import.meta.url), [kind, String(backendPort)]);
    const [port] = (await once(child, 'message')) as [number];
    return new Relay(child, port);
  }

  /** CPU time in milliseconds. */
  async cpuMs(): Promise<number> {
    this.#child.send('cpu');
    const [{ user, system }] = (await once(this.#child, 'message')) as [NodeJS.CpuUsage];
    return (user + system) / 1000;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const exited = once(this.#child, 'exit');
    this.#child.disconnect();
    await exited;
  }
}

export async function run(args: string[]): Promise<boolean> {
  const { values } = readCommandLine(args, {
    usage: 'npm run bench -- front-door',
    names: [],
    options: { quick: { help: 'for development: smaller and shorter' } },
  });
  const [mebibytes, connections, rounds] = values.quick ? [32, 100, 3] : [128, 1_000, 7];
  const hello = await helloOf({ servername: 'bench.example.com' });
  await using opened = new AsyncDisposableStack();
  const backend = await startBackend(hello.length, mebibytes);
  opened.defer(() => void backend.close());
  const { port } = backend.address() as AddressInfo;
  const relays = new Map<Kind, Relay>();
  for (const kind of kinds) relays.set(kind, opened.use(await Relay.start(kind, port)));
  const cost = { pipe: { bytes: [], connections: [] }, 'front-door': { bytes: [], connections: [] } } as Record<
    Kind,
    { bytes: number[]; connections: number[] }
  >;
  // The first round compiles the code.
  for (let round = 0; round <= rounds; round++) {
    for (const kind of kinds) {
      const relay = relays.get(kind)!;
      const bytes = await spent(relay, () => transfer(relay.port, hello, 'bytes'));
      const connecting = await spent(relay, async () => {
        for (let i = 0; i < connections; i++) await transfer(relay.port, hello, 'nothing');
      });
      if (round === 0) continue;
      cost[kind].bytes.push(bytes);
      cost[kind].connections.push(connecting / connections);
    }
  }
  const row = (what: string, part: 'bytes' | 'connections', digits: number) => [
    what,
    ...kinds.map((kind) => `${median(cost[kind][part]).toFixed(digits)} ms`),
  ];
  console.log(
    table(
      ['CPU time', ...kinds],
      [row(`${mebibytes} MiB to a client`, 'bytes', 0), row('a connection', 'connections', 3)],
    ),
  );
  const ratio = (part: 'bytes' | 'connections') => median(cost['front-door'][part]) / median(cost.pipe[part]);
  return printBars([
    { what: 'CPU time of bytes, front door / pipe', measured: ratio('bytes'), bar: 1.25, must: 'at most' },
    { what: 'CPU time of a connection, front door / pipe', measured: ratio('connections'), bar: 2.5, must: 'at most' },
  ]);
}

/** Sends `mebibytes` to a client whose bytes after the ClientHello start with `b`, and closes other connections. */
async function startBackend(helloBytes: number, mebibytes: number): Promise<Server> {
  const chunk = Buffer.alloc(mebibyte, 'x');
  const server = createServer((socket) => {
    let received = 0;
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      const isComplete = received <= helloBytes && received + bytes.length > helloBytes;
      received += bytes.length;
      if (!isComplete) return;
      if (bytes.at(-1) === 'b'.charCodeAt(0)) void send(socket, chunk, mebibytes);
      else socket.end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

async function send(socket: Socket, chunk: Buffer, count: number): Promise<void> {
  for (let i = 0; i < count; i++) if (!socket.write(chunk)) await once(socket, 'drain');
  socket.end();
}

/** Resolves when the backend has closed the connection. */
async function transfer(port: number, hello: Buffer, what: 'bytes' | 'nothing'): Promise<void> {
  const socket = connect({ host: '127.0.0.1', port });
  socket.write(Buffer.concat([hello, Buffer.from(what.slice(0, 1))]));
  socket.resume();
  await once(socket, 'close');
}

async function spent(relay: Relay, work: () => Promise<void>): Promise<number> {
  const before = await relay.cpuMs();
  await work();
  return (await relay.cpuMs()) - before;
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!;
