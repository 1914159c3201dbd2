/**
 * Sends a snapshot from the operator to the volume of a member, over TLS with certificates of the authority of etcd on both sides.
 *
 *     operator → receiver    {"restore":"UID","bytes":1048608,"sha256":"…"}\n   then the bytes
 *     receiver → operator    {"received":true}\n   or   {"error":"…"}\n
 *
 * The receiver serves one connection at a time: a new one ends the previous one, whose operator has stopped. It writes to a temporary
 * file, and renames it when the size and the digest are right. A broken connection leaves nothing, and the operator connects again. A
 * receiver that has the snapshot already answers at once.
 */

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { connect, createServer } from 'node:tls';
import type { TLSSocket } from 'node:tls';
import { asError, ChunkReader, CodedError, hasCode } from '@hangar/core';
import { prepareVolume, snapshotPath, syncFolder } from './member-volume.ts';
import type { MemberVolume } from './member-volume.ts';

/** `Rejected`: the receiver cannot store the snapshot. `Interrupted`: the connection failed, and the transfer can be repeated. */
export class TransferError extends CodedError<'Rejected' | 'Interrupted'> {}

export interface TlsFiles {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

export interface TransferHead {
  readonly restore: string;
  readonly bytes: number;
  readonly sha256: string;
}

const headBytesMax = 4_096;
const bytesMax = 64 * 2 ** 30;
/** A connection without progress is closed. */
const idleMs = 60_000;
const newline = 0x0a;

export interface ReceiveOptions {
  readonly volume: MemberVolume;
  readonly host: string;
  readonly port: number;
  readonly tls: TlsFiles;
  readonly signal: AbortSignal;
  /** Called when connections are accepted. */
  readonly onListening?: ((port: number) => void) | undefined;
}

/** Resolves when the volume has the snapshot. Rejects if it cannot be stored, for example because the volume is full. */
export async function receiveSnapshot(options: ReceiveOptions): Promise<void> {
  const { volume, host, port, tls, signal, onListening } = options;
  await prepareVolume(volume);
  const received = Promise.withResolvers<void>();
  let [latest, previous]: [TLSSocket | undefined, Promise<void>] = [undefined, Promise.resolve()];
  const server = createServer({ ...tls, requestCert: true, rejectUnauthorized: true }, (socket) => {
    socket.on('error', () => {});
    socket.setTimeout(idleMs, () => socket.destroy());
    latest?.destroy();
    latest = socket;
    previous = previous
      .then(() => receiveOn(socket, volume))
      .then((isReceived) => void (isReceived && received.resolve()), received.reject);
  });
  server.on('error', received.reject);
  const onAbort = (): void => received.reject(asError(signal.reason));
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    server.listen(port, host, () => onListening?.((server.address() as { port: number }).port));
    await received.promise;
  } finally {
    signal.removeEventListener('abort', onAbort);
    server.close();
  }
}

/** Returns false if the connection broke. Throws if the volume cannot store the snapshot. */
async function receiveOn(socket: TLSSocket, volume: MemberVolume): Promise<boolean> {
  let head: TransferHead;
  const reader = new ChunkReader(socket as AsyncIterable<Buffer>);
  try {
    head = await readHead(reader, volume);
  } catch (error) {
    answer(socket, { error: asError(error).message });
    return false;
  }
  try {
    if (!(await isStored(snapshotPath(volume), head)) && !(await store(reader, volume, head))) {
      answer(socket, { error: 'the bytes do not have the announced size or digest' });
      return false;
    }
  } catch (error) {
    answer(socket, { error: asError(error).message });
    throw error;
  }
  answer(socket, { received: true });
  // The sender may reset the connection after the response: the volume has the snapshot nevertheless.
  if (!socket.closed) await once(socket, 'close').catch(() => {});
  return true;
}

async function readHead(reader: ChunkReader, { restore }: MemberVolume): Promise<TransferHead> {
  const line: number[] = [];
  for (;;) {
    const byte = (await reader.take(1))?.[0];
    if (byte === undefined || line.length > headBytesMax) throw new Error('the first line is not a head');
    if (byte === newline) break;
    line.push(byte);
  }
  const head = JSON.parse(Buffer.from(line).toString()) as TransferHead;
  const isCounted = Number.isSafeInteger(head.bytes) && head.bytes > 0 && head.bytes <= bytesMax;
  if (!isCounted || !/^[0-9a-f]{64}$/.test(head.sha256)) throw new Error('the head is not valid');
  if (head.restore !== restore) throw new Error(`the pod belongs to restore ${restore}`);
  return head;
}

/** Returns false if the bytes are not those of the head. Throws errors of the volume. */
async function store(reader: ChunkReader, volume: MemberVolume, { bytes, sha256 }: TransferHead): Promise<boolean> {
  const path = snapshotPath(volume);
  const partial = `${path}.partial`;
  const hash = createHash('sha256');
  const file = await open(partial, 'w', 0o600);
  let isWhole = true;
  try {
    for (let left = bytes; left > 0 && isWhole;) {
      const chunk = await reader.take(Math.min(left, 2 ** 18)).catch(() => undefined);
      isWhole = chunk !== undefined;
      if (!chunk) break;
      hash.update(chunk);
      await file.writeFile(chunk);
      left -= chunk.length;
    }
    isWhole &&= hash.digest('hex') === sha256;
    if (isWhole) await file.sync();
  } finally {
    await file.close();
  }
  if (!isWhole) {
    await rm(partial, { force: true });
    return false;
  }
  await rename(partial, path);
  await syncFolder(dirname(path));
  return true;
}

/** Only complete files have this name. */
async function isStored(path: string, { bytes }: TransferHead): Promise<boolean> {
  try {
    return (await stat(path)).size === bytes;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false;
    throw error;
  }
}

const answer = (socket: TLSSocket, message: object): void => void socket.end(`${JSON.stringify(message)}\n`);

export interface SendOptions {
  readonly host: string;
  readonly port: number;
  readonly tls: TlsFiles;
  /** In the certificate of the receiver. */
  readonly serverName: string;
  readonly head: TransferHead;
  readonly content: AsyncIterable<Uint8Array>;
  readonly signal: AbortSignal;
}

/** Resolves when the receiver stored all bytes. Throws `Rejected` or `Interrupted`. */
export async function sendSnapshot(options: SendOptions): Promise<void> {
  const { host, port, tls, serverName, head, content, signal } = options;
  const socket = connect({ host, port, ...tls, servername: serverName, timeout: idleMs });
  const failure = Promise.withResolvers<never>();
  failure.promise.catch(() => {});
  socket.on('error', failure.reject);
  socket.on('timeout', () => failure.reject(new Error('the receiver does not respond')));
  socket.on('close', () => failure.reject(new Error('the connection was closed')));
  const onAbort = (): void => failure.reject(asError(signal.reason));
  signal.addEventListener('abort', onAbort, { once: true });
  const response = readResponse(socket);
  response.catch(() => {});
  try {
    await Promise.race([once(socket, 'secureConnect'), failure.promise]);
    socket.write(`${JSON.stringify(head)}\n`);
    await Promise.race([writeAll(socket, content, response), failure.promise]);
    const { received, error } = await Promise.race([response, failure.promise]);
    if (received !== true) throw new TransferError('Rejected', `the receiver refused the snapshot: ${error}`);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof TransferError) throw error;
    const message = `the transfer to ${host} was interrupted: ${asError(error).message}`;
    throw new TransferError('Interrupted', message, { cause: error });
  } finally {
    signal.removeEventListener('abort', onAbort);
    socket.destroy();
  }
}

/** Stops early when the receiver has responded: it has the snapshot already, or refuses it. */
async function writeAll(
  socket: TLSSocket,
  content: AsyncIterable<Uint8Array>,
  response: Promise<unknown>,
): Promise<void> {
  let isAnswered = false;
  const answered = response.then(
    () => (isAnswered = true),
    () => (isAnswered = true),
  );
  for await (const chunk of content) {
    if (isAnswered) return;
    if (!socket.write(chunk)) await Promise.race([once(socket, 'drain'), answered]);
  }
}

async function readResponse(socket: TLSSocket): Promise<{ received?: boolean; error?: string }> {
  let text = '';
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    text += chunk.toString();
    if (text.length > headBytesMax) break;
    const end = text.indexOf('\n');
    if (end >= 0) return JSON.parse(text.slice(0, end)) as { received?: boolean; error?: string };
  }
  throw new Error('the receiver closed the connection without a response');
}
