/**
 * The metrics of Hangar and of the real kube-apiserver after the same requests: same shapes, same counts. The real promtool evaluates rules
 * equivalent to kubernetes-mixin's over the scraped metrics of both.
 */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { tool } from '../../../tools/tool.ts';
import { startHangar, startReal } from '../servers/index.ts';
import type { ControlPlane } from '../servers/index.ts';
import { readFamilies, shapeOf } from './exposition.ts';
import type { Family } from './exposition.ts';
import { rules } from './rules.ts';

const run = promisify(execFile);

/** Families that must have the same type, labels and bounds. */
const agreed = [
  'apiserver_request_total',
  'apiserver_request_duration_seconds',
  'apiserver_request_sli_duration_seconds',
  'apiserver_response_sizes',
  'apiserver_current_inflight_requests',
  'apiserver_client_certificate_expiration_seconds',
  'apiserver_admission_controller_admission_duration_seconds',
  'apiserver_admission_step_admission_duration_seconds',
  'apiserver_cel_compilation_duration_seconds',
  'apiserver_cel_evaluation_duration_seconds',
  'apiserver_requested_deprecated_apis',
  'apiserver_tls_handshake_errors_total',
  'apiserver_audit_event_total',
  'apiserver_watch_events_total',
  'apiserver_watch_events_sizes',
  'aggregator_unavailable_apiservice',
  'authenticated_user_requests',
  'authentication_attempts',
  'authentication_duration_seconds',
  'authorization_attempts_total',
  'authorization_duration_seconds',
  'kubernetes_build_info',
  'process_cpu_seconds_total',
  'process_max_fds',
  'process_open_fds',
  'process_resident_memory_bytes',
  'process_start_time_seconds',
  'process_virtual_memory_bytes',
];

const templates = '/api/v1/namespaces/default/podtemplates';
const apply = 'application/apply-patch+yaml';
const merge = 'application/merge-patch+json';
const podTemplate = (name: string): object => ({
  kind: 'PodTemplate',
  apiVersion: 'v1',
  metadata: { name },
  template: { spec: { containers: [{ name: 'main', image: 'example.com/main' }] } },
});

type Step = readonly [method: string, target: string, body?: object, contentType?: string];

/** Neither server uses pod templates itself. */
const steps: readonly Step[] = [
  ['POST', templates, podTemplate('a')],
  ['POST', templates, podTemplate('a')],
  ['POST', `${templates}?dryRun=All`, podTemplate('b')],
  ['POST', `${templates}?dryRun=Some`, podTemplate('b')],
  ['GET', `${templates}/a`],
  ['GET', `${templates}/missing`],
  ['GET', templates],
  ['GET', '/api/v1/podtemplates'],
  ['GET', `${templates}?watch=true&timeoutSeconds=1&resourceVersion=0`],
  ['PATCH', `${templates}/a`, { metadata: { labels: { x: 'y' } } }, merge],
  ['PATCH', `${templates}/c?fieldManager=test`, podTemplate('c'), apply],
  ['PATCH', `${templates}/c?fieldManager=test&dryRun=All`, podTemplate('c'), apply],
  ['PUT', `${templates}/a`, podTemplate('a')],
  ['PUT', `${templates}/missing-too`, podTemplate('other')],
  ['DELETE', `${templates}/a`],
  ['DELETE', `${templates}/a`],
  ['DELETE', templates],
  ['GET', '/api/v1/namespaces/default/endpoints'],
  ['GET', '/api/v1/evil'],
  ['GET', `${templates}/a/evil`],
  ['POST', `${templates}/a`, podTemplate('a')],
];

interface Watched {
  readonly plane: ControlPlane;
  /** Scrapes: before, between and after two rounds of the same requests. */
  readonly scrapes: string[];
}

const watched: Watched[] = [];

before(async () => {
  for (const start of [startReal, () => startHangar([], { inTenant: false })]) {
    const plane = await start();
    const one: Watched = { plane, scrapes: [] };
    watched.push(one);
    const proxy = await startProxy(plane);
    try {
      one.scrapes.push(await scrape(proxy.url));
      for (let round = 0; round < 2; round++) {
        for (const step of steps) await ask(proxy.url, step);
        one.scrapes.push(await scrape(proxy.url));
      }
    } finally {
      proxy.stop();
    }
  }
});

after(async () => {
  for (const { plane } of watched) await plane.stop();
});

async function ask(url: string, [method, target, body, contentType = 'application/json']: Step): Promise<void> {
  const answer = await fetch(`${url}${target}`, {
    method,
    ...(body && { body: JSON.stringify(body), headers: { 'content-type': contentType } }),
  });
  // A watch is counted when it has ended.
  await answer.arrayBuffer();
}

const scrape = async (url: string): Promise<string> => (await fetch(`${url}/metrics`)).text();

/** kubectl proxy adds the credentials and passes requests on unchanged. */
async function startProxy({ kubeconfig }: ControlPlane): Promise<{ url: string; stop(): void }> {
  const child = execFile(await tool('kubectl'), ['proxy', '--port=0', `--kubeconfig=${kubeconfig}`]);
  const url = await new Promise<string>((resolve, reject) => {
    let text = '';
    child.stdout!.on('data', (chunk: string) => {
      text += chunk;
      const [, address] = /Starting to serve on (\S+)/.exec(text) ?? [];
      if (address !== undefined) resolve(`http://${address}`);
    });
    child.once('exit', () => reject(new Error(`kubectl proxy exited: ${text}`)));
  });
  return { url, stop: () => void child.kill() };
}

const familiesOf = (at: number, scrapeAt = 2): ReadonlyMap<string, Family> =>
  readFamilies(watched[at]!.scrapes[scrapeAt]!);

test('the metrics have the types, labels and bounds of kube-apiserver', () => {
  const [real, ours] = [familiesOf(0), familiesOf(1)];
  for (const name of agreed) {
    const expected = shapeOf(real.get(name));
    assert.ok(expected, `kube-apiserver has no ${name}`);
    assert.deepEqual(shapeOf(ours.get(name)), expected, name);
  }
});

/** Returns the counts of pod templates by their labels. kube-apiserver does not count requests without a handler. */
function counts(at: number, scrapeAt: number): Record<string, number> {
  const { samples } = familiesOf(at, scrapeAt).get('apiserver_request_total')!;
  const names = ['verb', 'resource', 'scope', 'subresource', 'code', 'dry_run', 'component', 'group', 'version'];
  return Object.fromEntries(
    samples
      .filter(({ labels }) => labels['resource'] === 'podtemplates')
      .map(({ labels, value }) => [names.map((name) => `${name}=${labels[name]}`).join(' '), value] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

/** Differences between two scrapes: the real server has requests of its own before the first. */
function increases(at: number, from: number, to: number): Record<string, number> {
  const [first, last] = [counts(at, from), counts(at, to)];
  return Object.fromEntries(
    Object.entries(last)
      .map(([key, value]) => [key, value - (first[key] ?? 0)] as const)
      .filter(([, value]) => value !== 0),
  );
}

test('the same requests have the same counts', () => {
  const expected = increases(0, 0, 2);
  assert.ok(Object.keys(expected).length >= 12, JSON.stringify(expected));
  assert.deepEqual(increases(1, 0, 2), expected);
});

test('counters only rise', () => {
  for (const [name, value] of Object.entries(counts(1, 1))) assert.ok(counts(1, 2)[name]! >= value, name);
});

test('the rules of kubernetes-mixin record data for both servers', async () => {
  const [there, here] = [await recorded(watched[0]!.scrapes), await recorded(watched[1]!.scrapes)];
  console.log(`rules that record on kube-apiserver: ${there.size} of ${rules.length}; on Hangar: ${here.size}`);
  assert.deepEqual([...here].sort(), [...there].sort());
  assert.equal(there.size, rules.length);
});

const intervalMinutes = 1;

/** Returns the rules that record data when the scrapes are one minute apart. The first scrape is repeated, so that windows have a start. */
async function recorded(scrapes: readonly string[]): Promise<ReadonlySet<string>> {
  const folder = await mkdtemp(join(tmpdir(), 'hangar-metrics-'));
  try {
    const groups = [{ name: 'api-server', interval: `${intervalMinutes}m`, rules }];
    await writeFile(join(folder, 'rules.json'), JSON.stringify({ groups }));
    const cases = {
      name: 'recorded',
      interval: `${intervalMinutes}m`,
      input_series: seriesOf(scrapes),
      // Each expectation of no sample fails where the rule records one.
      promql_expr_test: rules.map(({ record }) => ({ expr: `count(${record})`, eval_time: '4m', exp_samples: [] })),
    };
    const file = { rule_files: ['rules.json'], evaluation_interval: `${intervalMinutes}m`, tests: [cases] };
    await writeFile(join(folder, 'test.json'), JSON.stringify(file));
    const output = await run(await tool('promtool'), ['test', 'rules', 'test.json'], {
      cwd: folder,
      maxBuffer: 64 * 1024 * 1024,
    }).then(
      ({ stdout }) => stdout,
      (error: { stdout: string; stderr: string }) => `${error.stdout}${error.stderr}`,
    );
    if (!/FAILED|SUCCESS/.test(output)) throw new Error(output);
    const found = [...output.matchAll(/expr: "count\(([^)]+)\)"/g)].map(([, record]) => record!);
    return new Set(found);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Series in the notation of promtool: the value of the first scrape twice, then those of the others, and the last one again. */
function seriesOf(scrapes: readonly string[]): { series: string; values: string }[] {
  const values = new Map<string, (number | undefined)[]>();
  const columns = [scrapes[0]!, ...scrapes, scrapes.at(-1)!];
  for (const [at, text] of columns.entries()) {
    for (const line of text.split('\n')) {
      const [, name, value] =
        /^((?:apiserver_request_|apiserver_client_|aggregator_|kubernetes_build_|process_)\S*?(?:\{.*\})?) (\S+)$/.exec(
          line,
        ) ?? [];
      if (name === undefined) continue;
      let row = values.get(name);
      if (!row) values.set(name, (row = columns.map(() => undefined)));
      row[at] = Number(value);
    }
  }
  return [...values].map(([name, row]) => ({
    series: name.includes('{') ? name.replace('{', '{job="kube-apiserver",') : `${name}{job="kube-apiserver"}`,
    values: row.map((one) => (one === undefined ? '_' : String(one))).join(' '),
  }));
}
