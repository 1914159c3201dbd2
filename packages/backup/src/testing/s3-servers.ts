/** Real S3 servers on loopback, for tests. */

import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts } from '../../../../tools/free-ports.ts';
import { pythonProgram } from '../../../../tools/python-program.ts';
import { tool } from '../../../../tools/tool.ts';
import type { S3Credentials } from '../destinations/index.ts';

export interface S3Server extends AsyncDisposable {
  readonly name: string;
  /** http://127.0.0.1:PORT */
  readonly endpoint: string;
  readonly credentials: S3Credentials;
  /** Process id. */
  readonly pid: number;
  createBucket(name: string): Promise<void>;
}

const credentials: S3Credentials = { accessKeyId: 'test', secretAccessKey: 'test-secret' };
const startAttempts = 600;

/** Starts versitygw: an S3 server in Go that verifies signatures and checksums, over a temporary folder. */
export async function startVersitygw(
  options: { readonly tls?: { cert: string; key: string } } = {},
): Promise<S3Server> {
  const program = await tool('versitygw', { log: console.error });
  const folder = await mkdtemp(join(tmpdir(), 'hangar-versitygw-'));
  const [port] = await freePorts(1);
  const [data, metadata] = [join(folder, 'data'), join(folder, 'metadata')];
  for (const one of [data, metadata]) await mkdir(one);
  const { accessKeyId, secretAccessKey } = credentials;
  const child = spawn(
    program,
    [
      `--access=${accessKeyId}`,
      `--secret=${secretAccessKey}`,
      `--port=127.0.0.1:${port}`,
      '--quiet',
      '--keep-alive',
      ...(options.tls ? [`--cert=${options.tls.cert}`, `--key=${options.tls.key}`] : []),
      'posix',
      `--sidecar=${metadata}`,
      data,
    ],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  const endpoint = `${options.tls ? 'https' : 'http'}://127.0.0.1:${port}`;
  return started({
    name: 'versitygw',
    child,
    endpoint,
    folder,
    createBucket: (name) => mkdir(join(data, name)).then(() => undefined),
  });
}

/** Starts moto: a simulation of AWS in Python, with objects in memory. It accepts any credentials. */
export async function startMoto(): Promise<S3Server> {
  const program = await pythonProgram(
    { name: 'moto', version: '5.2.5', extras: ['server', 's3'], executable: 'moto_server' },
    console.error,
  );
  const [port] = await freePorts(1);
  const folder = await mkdtemp(join(tmpdir(), 'hangar-moto-'));
  const child = spawn(program, ['-H', '127.0.0.1', '-p', String(port)], { stdio: 'ignore', cwd: folder });
  const endpoint = `http://127.0.0.1:${port}`;
  const headers = { authorization: 'AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/s3/aws4_request' };
  return started({
    name: 'moto',
    child,
    endpoint,
    folder,
    async createBucket(name) {
      const { status } = await fetch(`${endpoint}/${name}`, { method: 'PUT', headers });
      if (status !== 200) throw new Error(`moto: PUT of bucket ${name}: ${status}`);
    },
  });
}

interface Starting {
  readonly name: string;
  readonly child: ChildProcess;
  readonly endpoint: string;
  readonly folder: string;
  createBucket(name: string): Promise<void>;
}

/** Resolves when the server answers. */
async function started({ name, child, endpoint, folder, createBucket }: Starting): Promise<S3Server> {
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    }
    await rm(folder, { recursive: true, force: true });
  };
  for (let left = startAttempts; ; left--) {
    if (await answers(endpoint)) break;
    if (left === 0 || child.exitCode !== null) {
      await stop();
      throw new Error(`${name} does not answer at ${endpoint}`);
    }
    await sleep(50);
  }
  return { name, endpoint, credentials, pid: child.pid!, createBucket, [Symbol.asyncDispose]: stop };
}

/** Any byte is an answer; over TLS the certificate is not checked here. */
async function answers(endpoint: string): Promise<boolean> {
  const { port } = new URL(endpoint);
  const { connect } = await import('node:net');
  return new Promise((resolve) => {
    const socket = connect(Number(port), '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
