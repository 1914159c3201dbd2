import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { systemClock } from '@hangar/core';
import { readEgress } from './index.ts';
import { startKonnectivityServer } from './testing/konnectivity-server.ts';
import type { EgressMode } from './testing/konnectivity-server.ts';

const modes: readonly EgressMode[] = ['http-connect over TCP', 'http-connect over UDS', 'grpc over UDS'];

describe('egress through the real konnectivity-server', () => {
  for (const mode of modes) {
    test(`by ${mode} carries bytes unchanged, and reports the errors of the agent`, async () => {
      await using server = await startKonnectivityServer(mode);
      const { nodeAddress: host, ports } = server;
      const dialer = (await readEgress(server.config, systemClock))!;

      const source = await dialer.dial({ host, port: ports.source });
      source.write('3000000');
      assert.equal(Buffer.concat(await source.toArray()).length, 3_000_000);

      const echo = await dialer.dial({ host, port: ports.echo });
      const sent = randomBytes(2_000_000);
      const hash = createHash('sha256');
      let received = 0;
      const all = new Promise<void>((resolve) => {
        echo.on('data', (chunk: Buffer) => {
          hash.update(chunk);
          received += chunk.length;
          if (received >= sent.length) resolve();
        });
      });
      for (let at = 0; at < sent.length; at += 100_000) {
        if (!echo.write(sent.subarray(at, at + 100_000))) await once(echo, 'drain');
      }
      await all;
      assert.equal(hash.digest('hex'), createHash('sha256').update(sent).digest('hex'));
      echo.destroy();

      await assert.rejects(dialer.dial({ host, port: 1 }), {
        code: 'Unreachable',
        message: new RegExp(`dial tcp ${host}:1: connect: connection refused`),
      });
      const abort = new AbortController();
      abort.abort();
      await assert.rejects(dialer.dial({ host, port: ports.echo, signal: abort.signal }), { code: 'Aborted' });
    });
  }
});
