/** Runs h2spec, the common conformance tests of HTTP/2 and HPACK, against the listener over TLS. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { systemClock, systemRandom } from '@hangar/core';
import { createAuthority, issueCertificate } from '@hangar/pki';
import { tool } from '../../../../tools/tool.ts';
import { listen } from './listener.ts';
import type { Listener } from './listener.ts';

const world = { clock: systemClock, random: systemRandom };
const runTimeoutMs = 100_000;

async function start(problems: Error[]): Promise<Listener> {
  const authority = createAuthority('h2spec', 1, world);
  const pair = issueCertificate(
    authority,
    { commonName: 'h2spec', usage: 'server', hosts: ['127.0.0.1'], days: 1 },
    world,
  );
  return listen({
    host: '127.0.0.1',
    port: 0,
    key: pair.key,
    certificate: pair.certificate,
    clientCas: authority.certificate,
    clock: systemClock,
    handler: async (request) => {
      // Errors in a body show only when it is read.
      await request.body(1_000_000).catch(() => {});
      return { status: 200, headers: { 'content-type': 'text/plain' }, body: Buffer.alloc(1_024, 0x61) };
    },
    onError: (error) => problems.push(error),
  });
}

function run(path: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(path, args, { timeout: runTimeoutMs, killSignal: 'SIGKILL' }, (error, stdout, stderr) =>
      resolve(`${stdout}${stderr}${error ? `\n${error.message}` : ''}`),
    );
  });
}

test('every case of h2spec passes: generic, HPACK and HTTP/2', { timeout: 300_000 }, async () => {
  const h2spec = await tool('h2spec', { log: console.error });
  const problems: Error[] = [];
  const listener = await start(problems);
  try {
    const output = await run(h2spec, ['-h', '127.0.0.1', '-p', String(listener.port), '-t', '-k', '--strict']);
    const counts = /(\d+) tests, (\d+) passed, (\d+) skipped, (\d+) failed/.exec(output);
    assert.ok(counts, output);
    console.log(counts[0]);
    assert.deepEqual(counts.slice(3), ['0', '0'], output);
    assert.ok(Number(counts[1]) > 140, 'hardly any ran');
    assert.deepEqual(problems, []);
  } finally {
    await listener.close();
  }
});
