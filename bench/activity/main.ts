/**
 * `npm run bench -- activity`: the activity service on its embedded driver: ingest of audit batches as the webhook delivers them, and queries
 * of the last hour among many events.
 *
 *     npm run bench -- activity [--events 10000000]
 */

import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultPolicies, defaultRetentionMs, openDatabase, ThreadedBackend } from '@hangar/activity-service';
import { readCommandLine } from '../../scripts/command-line.ts';
import { printBars } from '../bars.ts';
import { percentile, table, thousands } from '../table.ts';

const planes = 1_000;
const batchLength = 400;
const inFlight = 4;
const queries = 500;
const hourUs = 3_600_000_000;
/** The generated events are spread over this time. */
const spreadUs = 24 * hourUs;

export async function run(args: string[]): Promise<boolean> {
  const { values } = readCommandLine(args, {
    usage: 'npm run bench -- activity',
    names: [],
    options: {
      events: { value: 'N', help: 'number of events for the queries (default: 10000000)' },
      ingested: { value: 'N', help: 'number of events for the ingest (default: 200000)' },
    },
  });
  const folder = await mkdtemp(join(tmpdir(), 'hangar-bench-activity-'));
  try {
    const ingest = await measureIngest(join(folder, 'ingest.db'), Number(values.ingested ?? 200_000));
    const latency = await measureQueries(join(folder, 'queries.db'), Number(values.events ?? 10_000_000));
    return printBars([
      { what: 'ingest, in batches of 400', measured: ingest, bar: 10_000, must: 'at least', unit: ' events/s' },
      {
        what: 'query of the last hour, p99 of the slowest kind',
        measured: latency,
        bar: 100,
        must: 'at most',
        unit: ' ms',
      },
    ]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function measureIngest(address: string, events: number): Promise<number> {
  const onError = (error: Error): never => {
    throw error;
  };
  const backend = await ThreadedBackend.open({
    address,
    policies: defaultPolicies,
    retentionMs: defaultRetentionMs,
    onError,
  });
  try {
    const nowUs = Date.now() * 1_000;
    const bodies = Array.from({ length: Math.ceil(events / batchLength) }, () => batch(nowUs));
    const bytes = bodies.reduce((sum, body) => sum + body.length, 0);
    const startedMs = performance.now();
    const cpu = process.cpuUsage();
    const send = async (): Promise<void> => {
      for (let body = bodies.pop(); body; body = bodies.pop()) await backend.ingest(body, { plane: undefined });
    };
    await Promise.all(Array.from({ length: inFlight }, send));
    const seconds = (performance.now() - startedMs) / 1_000;
    const { user, system } = process.cpuUsage(cpu);
    const cpuSeconds = (user + system) / 1e6;
    console.log(
      `\ningest: ${thousands(events)} events of ${thousands(bytes / events)} bytes, a third of them changes with an activity\n` +
        `  ${thousands(events / seconds)} events/s; ${((cpuSeconds / events) * 1e6).toFixed(1)} µs of CPU time per event, ` +
        `${thousands(events / cpuSeconds)} events per second of CPU time`,
    );
    return events / seconds;
  } finally {
    await backend.close();
  }
}

const planeName = (at: number): string => `plane-${String(at).padStart(4, '0')}`;
const verbs = ['get', 'list', 'patch', 'watch', 'create', 'get'] as const;

function event(at: number, timeUs: number): object {
  const time = new Date(timeUs / 1_000).toISOString().replace('Z', '000Z');
  const verb = verbs[at % verbs.length]!;
  return {
    kind: 'Event',
    apiVersion: 'audit.k8s.io/v1',
    level: 'Metadata',
    auditID: randomUUID(),
    stage: 'ResponseComplete',
    requestURI: `/apis/apps/v1/namespaces/shop/deployments/web-${at % 50}`,
    verb,
    user: { username: `user-${at % 20}`, groups: ['system:authenticated'] },
    sourceIPs: ['192.0.2.1'],
    userAgent: 'kubectl/v1.36.4 (linux/amd64)',
    objectRef: {
      resource: 'deployments',
      namespace: 'shop',
      name: `web-${at % 50}`,
      apiGroup: 'apps',
      apiVersion: 'v1',
    },
    responseStatus: { metadata: {}, code: 200 },
    requestReceivedTimestamp: time,
    stageTimestamp: time,
    annotations: { 'tenancy.hangar.dev/tenant': planeName(at % planes), 'authorization.k8s.io/decision': 'allow' },
  };
}

let made = 0;

function batch(timeUs: number): Buffer {
  const items = Array.from({ length: batchLength }, () => event(made++, timeUs));
  return Buffer.from(JSON.stringify({ kind: 'EventList', apiVersion: 'audit.k8s.io/v1', metadata: {}, items }));
}

/** Writes rows directly: the ingest is measured separately. */
async function fill(address: string, events: number, endUs: number): Promise<void> {
  const database = await openDatabase(address);
  const atOnce = 20_000;
  try {
    for (let done = 0; done < events; done += atOnce) {
      const rows = Array.from({ length: Math.min(atOnce, events - done) }, (_, more) => {
        const at = done + more;
        const timeUs = Math.floor(endUs - spreadUs + (at / events) * spreadUs);
        const text = JSON.stringify(event(at, timeUs));
        return {
          row: {
            plane: planeName((at * 7_919) % planes),
            timeUs,
            digest: randomBytes(16),
            text,
            auditId: String(at),
            stage: 'ResponseComplete',
            verb: verbs[at % verbs.length]!,
            username: `user-${at % 20}`,
            apiGroup: 'apps',
            resource: 'deployments',
            subresource: '',
            namespace: 'shop',
            name: `web-${at % 50}`,
            code: 200,
          },
          withoutObjects: () => text,
          draft: undefined,
        };
      });
      await database.append(rows, endUs);
    }
  } finally {
    await database.close();
  }
}

async function measureQueries(address: string, events: number): Promise<number> {
  const endUs = Date.now() * 1_000;
  const startedMs = performance.now();
  await fill(address, events, endUs);
  console.log(
    `\nqueries: ${thousands(events)} events of ${planes} control planes, written in ${((performance.now() - startedMs) / 1_000).toFixed(0)} s`,
  );
  const onError = (error: Error): void => console.error(error);
  const backend = await ThreadedBackend.open({ address, policies: [], retentionMs: defaultRetentionMs, onError });
  try {
    const kinds = {
      'one control plane': (at: number) => ({
        planes: [{ name: planeName((at * 37) % planes), sinceUs: 0 }],
        filter: undefined,
      }),
      'one control plane, filter': (at: number) => ({
        planes: [{ name: planeName((at * 41) % planes), sinceUs: 0 }],
        filter: { type: 'compare', column: 'verb', operator: '=', value: 'create' } as const,
      }),
      'organization of 20': (at: number) => ({
        planes: Array.from({ length: 20 }, (_, more) => ({ name: planeName((at * 43 + more) % planes), sinceUs: 0 })),
        filter: undefined,
      }),
      platform: () => ({ planes: 'all' as const, filter: undefined }),
    };
    const rows: string[][] = [];
    let worst = 0;
    for (const [name, of] of Object.entries(kinds)) {
      const times: number[] = [];
      for (let at = 0; at < queries; at++) {
        const startMs = performance.now();
        const page = await backend.query({
          ...of(at),
          startUs: endUs - hourUs,
          endUs,
          after: undefined,
          limit: 100,
          scanMax: 100_000,
          bytesMax: 2 * 1024 * 1024,
        });
        for (const { text } of page.events) JSON.parse(text);
        times.push(performance.now() - startMs);
      }
      times.sort((a, b) => a - b);
      rows.push([name, ...[0.5, 0.9, 0.99].map((share) => percentile(times, share).toFixed(2))]);
      worst = Math.max(worst, percentile(times, 0.99));
    }
    console.log(table(['last hour, limit 100', 'p50 ms', 'p90 ms', 'p99 ms'], rows));
    return worst;
  } finally {
    await backend.close();
  }
}
