/** A real kube-apiserver on a real etcd, for tests that compare with it. Loopback only, in a separate folder. */

import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts } from '../../../../tools/free-ports.ts';
import { tool } from '../../../../tools/tool.ts';
import { careless, etcdArguments, etcdUrl, kubernetesArguments, writeCredentials } from './real-programs.ts';
import type { RealUser } from './real-programs.ts';

export interface Answer {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: Buffer;
}

export interface RealServer extends AsyncDisposable {
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>;
  /** `https://127.0.0.1:port`, with a self-signed certificate. */
  readonly url: string;
  readonly etcdUrl: string;
  /** Every key of the storage, without values. */
  keys(): Promise<string[]>;
}

export interface RequestOptions {
  readonly body?: string | Uint8Array;
  readonly contentType?: string;
  readonly accept?: string;
  /** Absent: the administrator's. */
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
}

const startTimeoutMs = 120_000;

/** Rejects if it does not become ready; all started processes are stopped then. With `--etcd-servers`, no etcd is started. */
export async function startRealServer(
  extraArguments: readonly string[] = [],
  users: readonly RealUser[] = [],
): Promise<RealServer> {
  const folder = await mkdtemp(join(tmpdir(), 'hangar-api-'));
  const children: ChildProcess[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(children.reverse().map(end));
    await rm(folder, { recursive: true, force: true });
  };
  try {
    return await start(folder, children, { extraArguments, users }, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

async function start(
  folder: string,
  children: ChildProcess[],
  { extraArguments, users }: { extraArguments: readonly string[]; users: readonly RealUser[] },
  stop: () => Promise<void>,
): Promise<RealServer> {
  const [clientPort, peerPort, port] = await freePorts(3);
  const place = { folder, clientPort: clientPort!, peerPort: peerPort! };
  const etcdFlag = '--etcd-servers=';
  const given = extraArguments.find((one) => one.startsWith(etcdFlag))?.slice(etcdFlag.length);
  const url = given ?? etcdUrl(place);
  const token = randomUUID();
  const output: string[] = [];
  const run = (path: string, args: readonly string[]): void => {
    const child = spawn(path, args, { stdio: ['ignore', 'ignore', 'pipe'], cwd: folder });
    child.stderr.on('data', (text: Buffer) => output.push(text.toString()) > 200 && output.shift());
    children.push(child);
  };
  if (given === undefined) run(await tool('etcd'), [...etcdArguments(place), careless]);
  await writeCredentials(folder, [{ token, user: 'admin', groups: ['system:masters'] }, ...users]);
  run(
    await tool('kube-apiserver'),
    kubernetesArguments({ folder, etcdUrl: url, port: port! }, [
      // If given twice, both would apply.
      ...(extraArguments.some((one) => one.startsWith('--authorization-')) ? [] : ['--authorization-mode=AlwaysAllow']),
      // There is no controller that creates service accounts.
      ...(extraArguments.some((one) => one.startsWith('--disable-admission-plugins'))
        ? []
        : ['--disable-admission-plugins=ServiceAccount']),
      '--service-cluster-ip-range=10.0.0.0/24',
      ...extraArguments.filter((one) => !one.startsWith(etcdFlag)),
    ]),
  );
  const server: RealServer = {
    request: (method, path, options = {}) => send(port!, options.token ?? token, method, path, options),
    url: `https://127.0.0.1:${port}`,
    etcdUrl: url,
    keys: () => etcdKeys(url),
    [Symbol.asyncDispose]: stop,
  };
  const deadlineMs = Date.now() + startTimeoutMs;
  for (;;) {
    const answer = await server.request('GET', '/readyz').catch(() => undefined);
    if (answer?.status === 200) return server;
    const ended = children.find(({ exitCode }) => exitCode !== null);
    if (ended || Date.now() > deadlineMs) throw new Error(`the server did not start:\n${output.slice(-20).join('')}`);
    await sleep(100);
  }
}

async function send(
  port: number,
  token: string,
  method: string,
  path: string,
  { body, contentType = 'application/json', accept = 'application/json', headers: more }: RequestOptions,
): Promise<Answer> {
  const headers: Record<string, string | string[]> = { authorization: `Bearer ${token}`, accept, ...more };
  if (body !== undefined) {
    headers['content-type'] = contentType;
    // Node does not set the length for DELETE.
    headers['content-length'] = String(Buffer.byteLength(body));
  }
  // The certificate is self-signed.
  const outgoing = httpsRequest({ host: '127.0.0.1', port, method, path, headers, rejectUnauthorized: false });
  outgoing.end(body);
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  return { status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(chunks) };
}

/** Uses etcd's JSON gateway. */
async function etcdKeys(url: string): Promise<string[]> {
  const everything = Buffer.from('\0').toString('base64');
  const body = JSON.stringify({ key: everything, range_end: everything, keys_only: true });
  const answer = await fetch(`${url}/v3/kv/range`, { method: 'POST', body });
  const { kvs = [] } = (await answer.json()) as { kvs?: { key: string }[] };
  return kvs.map(({ key }) => Buffer.from(key, 'base64').toString());
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  // Its data is not kept: a graceful shutdown is not needed.
  child.kill('SIGKILL');
  await ended;
}
