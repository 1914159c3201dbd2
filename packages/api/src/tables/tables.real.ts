/** Our tables against those of a real kube-apiserver, for samples of every kind that it serves. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { apiVersionOf, builtinGroups } from '../builtin/schemas.ts';
import type { BuiltinResource } from '../builtin/schemas.ts';
import type { KubeObject } from '../object.ts';
import { startRealServer } from '../testing/real-server.ts';
import type { RealServer } from '../testing/real-server.ts';
import { parseYaml } from '../yaml/parse.ts';
import {
  builtinTable,
  partialObjectMetadata,
  partialObjectMetadataList,
  scaleTable,
  tableOf,
  tableOfOne,
} from './index.ts';
import type { ListMeta, Table, TablePrinter } from './index.ts';

const asTable = 'application/json;as=Table;v=v1;g=meta.k8s.io';

let server: RealServer;
before(async () => {
  server = await startRealServer([
    '--runtime-config=api/all=true',
    '--feature-gates=AllAlpha=true,AllBeta=true',
    '--disable-admission-plugins=ServiceAccount,DefaultStorageClass',
  ]);
  await createSamples();
});
after(async () => server?.[Symbol.asyncDispose]());

async function send<T>(method: string, path: string, body?: unknown, accept = 'application/json'): Promise<T> {
  const answer = await server.request(method, path, {
    accept,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.body.toString()}`);
  return JSON.parse(answer.body.toString()) as T;
}

const resources: readonly BuiltinResource[] = builtinGroups()
  .flatMap(({ versions }) => versions.flatMap((version) => version.resources))
  .filter(({ verbs }) => verbs.includes('list'));

function pathOf({ group, version, name, namespaced }: BuiltinResource): string {
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  return namespaced ? `${root}/namespaces/default/${name}` : `${root}/${name}`;
}

const samples = (): KubeObject[] =>
  readFileSync(new URL('./samples.yaml', import.meta.url), 'utf8')
    .split(/^---$/m)
    .map((text) => parseYaml(Buffer.from(text)).value as KubeObject);

async function createSamples(): Promise<void> {
  const refusals: string[] = [];
  for (const sample of samples()) await create(sample).catch((error: unknown) => refusals.push(String(error)));
  assert.equal(refusals.join('\n'), '');
}

async function create(sample: KubeObject): Promise<void> {
  const { kind, apiVersion, metadata, status } = sample;
  const resource = resources.find((one) => one.kind === kind && apiVersionOf(one) === apiVersion);
  assert.ok(resource, `${apiVersion} ${kind} is served`);
  const path = pathOf(resource);
  const created = await send<KubeObject>('POST', path, sample);
  if (status !== undefined && resource.subresources.some(({ name }) => name === 'status')) {
    await send('PUT', `${path}/${metadata.name}/status`, { ...created, status });
  }
  if (metadata.finalizers) await send('DELETE', `${path}/${metadata.name}`);
}

/** Descriptions are not compared. */
const withoutProse = ({ columnDefinitions, ...table }: Table): unknown => ({
  ...table,
  columnDefinitions: columnDefinitions?.map((column) => ({ ...column, description: '' })) ?? null,
});

/** The server's clock is between our clock before and after: a cell may match either. */
function assertSameTable(real: Table, ours: (now: number) => Table, [before, after]: [number, number]): void {
  const early = ours(before);
  const late = ours(after);
  const rows =
    early.rows?.map((row, i) => ({
      ...row,
      cells: row.cells.map((cell, column) => {
        const alternative = late.rows?.[i]?.cells[column];
        return alternative === real.rows?.[i]?.cells[column] ? alternative : cell;
      }),
    })) ?? null;
  assert.deepEqual(withoutProse(real), withoutProse({ ...early, rows }));
}

async function timed<T>(action: () => Promise<T>): Promise<[T, [number, number]]> {
  const before = Date.now();
  return [await action(), [before, Date.now()]];
}

type List = { metadata: Table['metadata']; items: KubeObject[] };

const versionsOf = ({ items }: List): string => items.map(({ metadata }) => metadata.resourceVersion).join();

async function assertSameList(path: string, kind: string, apiVersion: string, printer: TablePrinter): Promise<number> {
  for (;;) {
    const list = await send<List>('GET', path);
    const [real, times] = await timed(() => send<Table>('GET', `${path}?includeObject=Object`, undefined, asTable));
    // The server renews leases and writes its own statuses: if it did so meanwhile, the two show different objects.
    if (versionsOf(await send<List>('GET', path)) !== versionsOf(list)) continue;
    const objects = list.items.map((item) => ({ ...item, kind, apiVersion }));
    // Components are listed in the order in which they answer.
    const order = (real.rows ?? []).map(({ cells }) => cells[0]);
    const place = ({ metadata }: KubeObject): number => order.indexOf(metadata.name);
    if (kind === 'ComponentStatus') objects.sort((a, b) => place(a) - place(b));
    const { resourceVersion } = real.metadata;
    const listMeta = { ...list.metadata, ...(resourceVersion === undefined ? {} : { resourceVersion }) };
    assertSameTable(real, (now) => tableOf(printer, objects, { includeObject: 'Object', now, listMeta }), times);
    return objects.length;
  }
}

for (const resource of resources) {
  const { kind } = resource;
  const apiVersion = apiVersionOf(resource);
  test(`${apiVersion} ${kind} prints as the real server prints it`, async () => {
    const count = await assertSameList(pathOf(resource), kind, apiVersion, builtinTable(resource));
    assert.ok(count > 0 || notStored.has(kind), 'there is a sample');
  });
}

/** Kinds that clients cannot create here. */
const notStored = new Set(['ComponentStatus', 'PodCertificateRequest']);

test('a list of nothing has no rows, or null where Kubernetes prints by default', async () => {
  for (const name of ['configmaps', 'roles']) {
    const resource = resources.find((one) => one.name === name)!;
    const path = pathOf(resource).replace('/default/', '/other/');
    const real = await send<Table>('GET', path, undefined, asTable);
    assert.deepEqual(real.rows, tableOf(builtinTable(resource), []).rows, name);
  }
});

const configMaps = builtinGroups()[0]!.versions[0]!.resources.find(({ name }) => name === 'configmaps')!;
const apiServices = resources.find(({ name }) => name === 'apiservices')!;

for (const includeObject of ['None', 'Metadata', 'Object', undefined] as const) {
  test(`a single object, includeObject ${includeObject}, is a table of one row`, async () => {
    const path = `${pathOf(configMaps)}/one`;
    const object = await send<KubeObject>('GET', path);
    const query = includeObject === undefined ? '' : `?includeObject=${includeObject}`;
    const [real, times] = await timed(() => send<Table>('GET', `${path}${query}`, undefined, asTable));
    const options = includeObject === undefined ? {} : { includeObject };
    assertSameTable(real, (now) => tableOfOne(builtinTable(configMaps), object, { ...options, now }), times);
  });
}

test('metadata only, of one object and of a list', async () => {
  const path = pathOf(configMaps);
  const object = await send<KubeObject>('GET', `${path}/one`);
  const accept = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io';
  assert.deepEqual(await send('GET', `${path}/one`, undefined, accept), partialObjectMetadata(object));
  const list = await send<{ metadata: ListMeta; items: KubeObject[] }>('GET', path);
  const acceptList = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';
  assert.deepEqual(
    await send('GET', path, undefined, acceptList),
    partialObjectMetadataList(list.items, { listMeta: list.metadata }),
  );
});

test('the scale subresource has a table of its own', async () => {
  const path = '/apis/apps/v1/namespaces/default/deployments/one/scale';
  const object = await send<KubeObject>('GET', path);
  const [real, times] = await timed(() => send<Table>('GET', path, undefined, asTable));
  assertSameTable(real, (now) => tableOfOne(scaleTable, object, { now }), times);
});

for (const resource of [configMaps, apiServices]) {
  test(`the events of a watch on ${resource.name} are tables, and so is the bookmark`, async () => {
    const query =
      '?watch=1&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    const watch = async (accept: string): Promise<{ type: string; object: never }[]> => {
      const { body } = await server.request('GET', `${pathOf(resource)}${query}&includeObject=None`, { accept });
      const events = body.toString().trim().split('\n');
      return events.map((line) => JSON.parse(line) as { type: string; object: never });
    };
    const upToEnd = <E extends { type: string }>(events: E[]): E[] =>
      events.slice(0, events.findIndex(({ type }) => type === 'BOOKMARK') + 1);
    const plain = upToEnd(await watch('application/json'));
    const [tables, times] = await timed(() => watch(asTable));
    assert.ok(plain.length > 1);
    plain.forEach(({ object }, i) => {
      const options = { includeObject: 'None', withColumns: i === 0 } as const;
      const real = tables[i]!.object as Table;
      const bookmark = plain[i]!.type === 'BOOKMARK';
      if (bookmark) (object as KubeObject).metadata.resourceVersion = real.metadata.resourceVersion!;
      assertSameTable(real, (now) => tableOfOne(builtinTable(resource), object, { ...options, now }), times);
    });
  });
}
