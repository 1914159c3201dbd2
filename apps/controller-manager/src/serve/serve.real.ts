/** Scrapes and merges the metrics of the real kube-controller-manager and kube-scheduler. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { breathe, systemClock } from '@hangar/core';
import { MetricsRegistry } from '@hangar/runtime';
import { startTestCluster } from '@hangar/testkit';
import { freePorts } from '../../../../tools/free-ports.ts';
import { tool } from '../../../../tools/tool.ts';
import type { ToolName } from '../../../../tools/tool.ts';
import type { ClusterRow, ServiceState } from '../contract.ts';
import { readExposition } from './metrics/exposition.ts';
import { MergedExposition } from './metrics/merged.ts';
import { loopbackScrape } from './metrics/scrape.ts';
import type { Scrape } from './metrics/scrape.ts';
import { ControllerManagerMetrics } from './own-metrics.ts';
import { parseMetrics } from './testing/parsed-metrics.ts';
import type { ParsedMetrics } from './testing/parsed-metrics.ts';
import { row, state } from './testing/rows.ts';
import { ask, serving } from './testing/serving.ts';

const opened = new AsyncDisposableStack();
let controllers: ServiceState;
let scheduler: ServiceState;

before(async () => {
  const paths = await Promise.all([
    tool('kube-controller-manager', { log: console.log }),
    tool('kube-scheduler' satisfies ToolName, { log: console.log }),
  ]);
  const cluster = opened.use(await startTestCluster({ listen: true }));
  const folder = await mkdtemp(join(tmpdir(), 'hangar-serve-'));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'kubeconfig'), cluster.kubeconfig, { mode: 0o600 });
  const ports = await freePorts(2);
  [controllers, scheduler] = (await Promise.all(
    paths.map((path, at) => startProgram(path, ports[at]!, join(folder, 'kubeconfig'), join(folder, `certs-${at}`))),
  )) as [ServiceState, ServiceState];
});
after(() => opened.disposeAsync());

async function startProgram(path: string, port: number, kubeconfig: string, certs: string): Promise<ServiceState> {
  const child = spawn(
    path,
    [
      `--kubeconfig=${kubeconfig}`,
      '--leader-elect=false',
      `--secure-port=${port}`,
      '--bind-address=127.0.0.1',
      `--cert-dir=${certs}`,
      '--authorization-always-allow-paths=/healthz,/livez,/readyz,/metrics',
    ],
    { stdio: 'ignore' },
  );
  opened.defer(() => end(child));
  for (let waited = 0; !(await isHealthy(port)); waited += 100) {
    assert.ok(waited < 30_000 && child.exitCode === null, `${path} does not start`);
    await pause(100);
  }
  return state({ process: { pid: child.pid!, port, startedAt: new Date() } });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

const isHealthy = async (port: number): Promise<boolean> => {
  try {
    return (await ask(port, '/healthz')).status === 200;
  } catch {
    return false;
  }
};

const seriesOf = (metrics: ParsedMetrics): string[] =>
  [...metrics.values()].flatMap(({ samples }) => [...samples.keys()]);

/** Scrapes each process once: its metrics grow while it works, and the two clusters must be equal. */
function scrapedOnce(): { readonly scrape: Scrape; readonly texts: Map<number, Promise<Uint8Array>> } {
  const scrape = loopbackScrape();
  const texts = new Map<number, Promise<Uint8Array>>();
  return {
    texts,
    scrape: (process, limits) => {
      const text = texts.get(process.port) ?? scrape(process, limits);
      texts.set(process.port, text);
      return text;
    },
  };
}

test('metrics of two clusters with two services each are one text that Prometheus can read', async () => {
  const rows: ClusterRow[] = [row('red', { controllers, scheduler }), row('blue', { controllers, scheduler })];
  const registry = new MetricsRegistry();
  new ControllerManagerMetrics(() => rows).register(registry);
  const { scrape, texts } = scrapedOnce();
  await using server = await serving({ rows: () => rows, ownMetrics: () => registry.text(), scrape });
  const { text, status } = await server.ask('/metrics');
  assert.equal(status, 200);
  const merged = parseMetrics(text);
  for (const [service, { port }] of [
    ['controllers', controllers.process!],
    ['scheduler', scheduler.process!],
  ] as const) {
    const alone = parseMetrics(Buffer.from(await texts.get(port)!).toString());
    assert.ok(seriesOf(alone).length > 500, `${seriesOf(alone).length} series`);
    for (const cluster of ['red', 'blue']) {
      const its = seriesOf(merged).filter(
        (series) => series.includes(`cluster="${cluster}"`) && series.includes(`service="${service}"`),
      );
      const theirs = its.filter((series) => !series.startsWith('hangar_controller_manager_'));
      assert.equal(theirs.length, seriesOf(alone).length);
    }
    for (const [name, { type, help }] of alone) {
      assert.equal(merged.get(name)?.type, type, name);
      assert.ok(merged.get(name)?.help !== undefined || help === undefined, name);
    }
    const value = (family: string): number =>
      Number(merged.get(family)!.samples.get(`${family}{cluster="red",service="${service}"}`)?.value);
    assert.equal(value('hangar_controller_manager_scrape_up'), 1);
    assert.ok(value('hangar_controller_manager_child_memory_bytes') > 20e6);
    assert.ok(value('hangar_controller_manager_child_cpu_seconds_total') > 0.01);
    assert.ok(value('process_start_time_seconds') > 1e9);
  }
});

test('twenty of them are merged in less than 150 ms of CPU', async () => {
  const raw = (await ask(controllers.process!.port, '/metrics')).body;
  const merge = async (): Promise<number> => {
    const merged = new MergedExposition();
    for (let i = 0; i < 20; i++) {
      const labels = { cluster: `cluster-${i}`, service: 'controllers' };
      merged.add(await readExposition(raw, () => breathe(systemClock), { labels }), i);
    }
    let bytes = 0;
    for (const chunk of merged.chunks()) bytes += chunk.length;
    return bytes;
  };
  const measured: { readonly ms: number; readonly bytes: number }[] = [];
  for (let i = 0; i < 5; i++) {
    const before = process.cpuUsage();
    const bytes = await merge();
    const { user, system } = process.cpuUsage(before);
    measured.push({ ms: (user + system) / 1_000, bytes });
  }
  const [first] = measured;
  const best = Math.min(...measured.map(({ ms }) => ms));
  console.log(
    `20 × ${(raw.length / 1024).toFixed(0)} KiB → ${(first!.bytes / 1024).toFixed(0)} KiB: first ${first!.ms.toFixed(0)} ms, then ${best.toFixed(0)} ms of CPU`,
  );
  assert.ok(best < 150, `${best} ms`);
});
