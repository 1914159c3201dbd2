import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { once } from 'node:events';
import { before, test } from 'node:test';
import type { TestContext } from 'node:test';
import { hasCode, systemClock, systemRandom } from '@hangar/core';
import { createAuthority, issueCertificate } from '@hangar/pki';
import { snapshotPath } from './member-volume.ts';
import { receiveSnapshot, sendSnapshot } from './transfer.ts';
import type { TlsFiles } from './transfer.ts';

const bytes = Buffer.alloc(3_000_000, 'page');
const sha256 = createHash('sha256').update(bytes).digest('hex');
const head = { restore: 'u1', bytes: bytes.length, sha256 };
const world = { clock: systemClock, random: systemRandom };
let [server, client, stranger]: TlsFiles[] = [];

before(async () => {
  const issue = async (
    authority: Awaited<ReturnType<typeof createAuthority>>,
    usage: 'server' | 'client',
    ca: string,
  ) => {
    const request = { commonName: usage, usage, hosts: ['member-0.etcd'], days: 1 };
    const { certificate, key } = await issueCertificate(authority, request, world);
    return { ca, cert: certificate, key };
  };
  const [authority, other] = [await createAuthority('etcd', 1, world), await createAuthority('other', 1, world)];
  server = await issue(authority, 'server', authority.certificate);
  client = await issue(authority, 'client', authority.certificate);
  stranger = await issue(other, 'client', authority.certificate);
});

async function* content(...parts: readonly Uint8Array[]): AsyncGenerator<Uint8Array, void, void> {
  yield* parts;
}

/** Starts a receiver on a free port. */
async function receiver(context: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'hangar-receive-'));
  const ending = new AbortController();
  const volume = { folder, restore: 'u1' };
  const listening = Promise.withResolvers<number>();
  const received = receiveSnapshot({
    volume,
    host: '127.0.0.1',
    port: 0,
    tls: server!,
    signal: ending.signal,
    onListening: listening.resolve,
  });
  received.catch(() => {});
  context.after(async () => {
    ending.abort();
    await received.catch(() => {});
    await rm(folder, { recursive: true });
  });
  const port = await listening.promise;
  const send = (change: Partial<Parameters<typeof sendSnapshot>[0]> = {}): Promise<void> =>
    sendSnapshot({
      host: '127.0.0.1',
      port,
      tls: client!,
      serverName: 'member-0.etcd',
      head,
      content: content(bytes),
      signal: ending.signal,
      ...change,
    });
  return { volume, port, received, send };
}

test('a snapshot is stored completely, then the receiver stops', async (context) => {
  const { volume, received, send } = await receiver(context);
  await send();
  await received;
  assert.ok((await readFile(snapshotPath(volume))).equals(bytes));
});

test('wrong bytes, a wrong size and a wrong restore are refused, and the next attempt succeeds', async (context) => {
  const { volume, received, send } = await receiver(context);
  const wrong = Buffer.from(bytes);
  wrong[1_000] = 0;
  const isRejected = (error: unknown): boolean => hasCode(error, 'Rejected');
  await assert.rejects(send({ content: content(wrong) }), isRejected);
  await assert.rejects(send({ head: { ...head, restore: 'u2' } }), isRejected);
  await assert.rejects(send({ head: { ...head, bytes: -1 } }), isRejected);
  async function* failing(): AsyncGenerator<Uint8Array, void, void> {
    yield bytes.subarray(0, 1_000_000);
    throw new Error('connection lost');
  }
  await assert.rejects(send({ content: failing() }), (error) => hasCode(error, 'Interrupted'));
  await send();
  await received;
  assert.deepEqual(await readdir(join(volume.folder, 'restore-u1')), ['snapshot.db']);
});

test('a client of another authority is refused', async (context) => {
  const { send } = await receiver(context);
  await assert.rejects(send({ tls: stranger! }), (error) => hasCode(error, 'Interrupted'));
});

test('a receiver with another name is refused', async (context) => {
  const { send } = await receiver(context);
  await assert.rejects(send({ serverName: 'member-1.etcd' }), (error) => hasCode(error, 'Interrupted'));
});

test('a connection that is reset after the response does not fail the receiver', async (context) => {
  const { volume, port, received } = await receiver(context);
  const { ca, cert, key } = client!;
  const tcp = createConnection({ host: '127.0.0.1', port });
  const socket = connect({ socket: tcp, ca, cert, key, servername: 'member-0.etcd' });
  socket.on('error', () => {});
  await once(socket, 'secureConnect');
  socket.write(`${JSON.stringify(head)}\n`);
  socket.write(bytes);
  const [response] = (await once(socket, 'data')) as [Buffer];
  assert.equal(response.toString(), '{"received":true}\n');
  tcp.resetAndDestroy();
  await received;
  assert.ok((await readFile(snapshotPath(volume))).equals(bytes));
});
