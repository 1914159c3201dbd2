/** From the moment that a write is sent to the moment that a watcher has its event. */

import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from './connection.ts';
import type { Protocol } from './connection.ts';
import type { Server } from './servers.ts';
import { percentile } from '../table.ts';

const writes = 100;
const pauseMs = 20;

export interface WatchLatency {
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export async function watchLatency(server: Server, watchers: number, protocol: Protocol): Promise<WatchLatency> {
  const { port, token } = server;
  const open = (): Promise<Connection> => Connection.open({ port, token, protocol });
  const sentAt = new Map<string, number>();
  const latencies: number[] = [];
  const all = await Promise.all(Array.from({ length: watchers }, open));
  const writer = await open();
  try {
    const list = await writer.request('GET', '/api/v1/namespaces/bench/secrets');
    // The list's own version comes first; the body may be in chunks, so it is not parsed.
    const resourceVersion = /"resourceVersion":"(\d+)"/.exec(list.body.toString())![1];
    for (const connection of all) {
      connection.stream(`/api/v1/namespaces/bench/secrets?watch=1&resourceVersion=${resourceVersion}`, (piece) => {
        const now = performance.now();
        for (const [, name] of piece.toString('latin1').matchAll(/"name":"(watched-[^"]+)"/g)) {
          const sent = sentAt.get(name!);
          if (sent !== undefined) latencies.push(now - sent);
        }
      });
    }
    await sleep(1_000);
    const run = Math.floor(performance.now());
    for (let n = 0; n < writes; n++) {
      const name = `watched-${run}-${n}`;
      const body = Buffer.from(JSON.stringify({ apiVersion: 'v1', kind: 'Secret', metadata: { name } }));
      sentAt.set(name, performance.now());
      const { status } = await writer.request('POST', '/api/v1/namespaces/bench/secrets', { body });
      if (status !== 201) throw new Error(`${server.name}: ${status}`);
      await sleep(pauseMs);
    }
    await sleep(1_000);
  } finally {
    for (const connection of [...all, writer]) connection.close();
  }
  if (latencies.length < writes * watchers) {
    throw new Error(`${server.name}: ${latencies.length} of ${writes * watchers} events came`);
  }
  latencies.sort((a, b) => a - b);
  return { p50Ms: percentile(latencies, 0.5), p99Ms: percentile(latencies, 0.99) };
}
