/**
 * `node packages/client/src/rest/rest-client.bench.ts [seconds]`: GET of a small object and a list of 5,000, with TLS, against Hangar in a
 * separate thread. Prints the rate, and the rate for each second of CPU time of the client thread: on a shared machine only the latter is
 * comparable. The list is measured with and without compression.
 */

import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { startTestCluster } from '@hangar/testkit';
import type { ClientCertificate } from '../config/cluster-config.ts';
import { defineKind } from '../kind.ts';
import { httpTransport } from '../transport/http-transport.ts';
import { RestClient } from './rest-client.ts';

const ConfigMap = defineKind({ apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps', isNamespaced: true });
const namespace = 'default';
const key = { namespace, name: 'small' };
const listed = 5_000;
const inFlight = 64;
const measuredMs = Number(process.argv[2] ?? 3) * 1_000;

interface Reached {
  readonly server: string;
  readonly ca: string;
  readonly pair: ClientCertificate;
}

async function serve(): Promise<void> {
  const { client, config } = await startTestCluster({ listen: true });
  await client.create(ConfigMap, { metadata: key, data: { a: '1' } });
  for (let at = 0; at < listed; at++) {
    const data = { text: `${at} `.repeat(100) };
    await client.create(ConfigMap, { metadata: { namespace, name: `n-${at}` }, data });
  }
  const pair = await config.credentials!.clientCertificate!();
  parentPort!.postMessage({ server: config.server, ca: config.ca, pair });
}

interface Rate {
  readonly perSecond: number;
  readonly perProcessorSecond: number;
}

async function measured(ask: () => Promise<unknown>, atOnce: number): Promise<Rate> {
  let done = 0;
  const endMs = performance.now() + measuredMs;
  const loop = async (): Promise<void> => {
    for (; performance.now() < endMs; done++) await ask();
  };
  const begunMs = performance.now();
  const before = process.threadCpuUsage();
  await Promise.all(Array.from({ length: atOnce }, loop));
  const { user, system } = process.threadCpuUsage(before);
  const perSecond = (done * 1_000) / (performance.now() - begunMs);
  return { perSecond, perProcessorSecond: (done * 1_000_000) / (user + system) };
}

const line = (what: string, ...figures: readonly string[]): void =>
  console.log(what.padEnd(40) + figures.map((one) => one.padStart(24)).join(''));

async function measure({ server, ca, pair }: Reached): Promise<void> {
  const credentials = { headers: () => ({}), clientCertificate: () => Promise.resolve(pair) };
  const config = { server, ca, credentials };
  for (const protocol of ['h2', 'http/1.1'] as const) {
    const client = new RestClient(httpTransport(config, { protocols: [protocol] }));
    await measured(() => client.get(ConfigMap, key), inFlight);
    for (const atOnce of [inFlight, 1]) {
      const { perSecond, perProcessorSecond } = await measured(() => client.get(ConfigMap, key), atOnce);
      const figures = [`${perSecond.toFixed(0)}/s`, `${perProcessorSecond.toFixed(0)}/s of CPU`];
      line(`GET, TLS, ${protocol}, ${atOnce} in flight`, ...figures);
    }
    await client.close();
  }
  for (const disableCompression of [false, true]) {
    const client = new RestClient(httpTransport({ ...config, disableCompression }));
    const { perSecond, perProcessorSecond } = await measured(() => client.list(ConfigMap, { namespace }), 1);
    const figures = [`${(1_000 / perSecond).toFixed(0)} ms`, `${(1_000 / perProcessorSecond).toFixed(0)} ms of CPU`];
    line(`list of ${listed}, TLS, h2, ${disableCompression ? 'plain' : 'gzip'}`, ...figures);
    await client.close();
  }
}

if (isMainThread) {
  const worker = new Worker(new URL(import.meta.url));
  worker.once('message', (reached: Reached) => {
    void measure(reached).finally(() => worker.terminate());
  });
} else await serve();
