import assert from 'node:assert/strict';
import { request as httpsRequest } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { StatusError } from '@hangar/api';
import { createAuthority, issueCertificate } from '@hangar/pki';
import type { KeyPair } from '@hangar/pki';
import { startHub, world } from '../aggregation/testing/hub.ts';
import type { Hub } from '../aggregation/testing/hub.ts';
import type { AdmissionPlugin } from '../admission/admission.ts';
import type { Authorizer } from '../auth/authorize.ts';
import { privilegedGroup } from '../auth/authorize.ts';
import type { Data } from '../testing/test-server.ts';
import { declareKind, schema } from './index.ts';
import { startNotes } from './testing/notes.ts';
import type { Notes } from './testing/notes.ts';

const group = 'notes.example.com';
const latin1 = (text: string): string => Buffer.from(text).toString('latin1');
const base = `/apis/${group}/v1`;
const path = `${base}/namespaces/default/notes`;

const note = (name: string, title = 'a title', more: object = {}): object => ({
  kind: 'Note',
  apiVersion: `${group}/v1`,
  metadata: { name, ...more },
  spec: { title },
});

/** An authorizer that only allows creating introductions. */
const visitor: Authorizer = {
  authorize: (user, info) =>
    user.name === 'visitor' && info.isResource && info.resource === 'introductions' ? 'allow' : 'no opinion',
};

const doorkeeper: AdmissionPlugin = {
  name: 'Doorkeeper',
  resources: new Set([`${group}/introductions`]),
  mutate: ({ object }) => void (object!.metadata.labels = { announced: 'yes' }),
  validate({ name, object, isDryRun }) {
    if (name === 'nobody') throw new StatusError('Forbidden', 'nobody comes in');
    object!.metadata.annotations = { uid: object!.metadata.uid!, isDryRun: String(isDryRun) };
  },
};

describe('an aggregated server behind a cluster', () => {
  const opened = new AsyncDisposableStack();
  let hub: Hub;
  let notes: Notes;

  before(async () => {
    const tokens = [{ token: 'visitor', user: 'visitor', uid: 'v1', groups: ['guests'] }];
    hub = opened.use(await startHub({ tokens, authorizers: [privilegedGroup, visitor] }));
    notes = await startNotes(hub.access, undefined, [doorkeeper]);
    opened.defer(() => notes.close());
    await hub.register(group, notes.port, notes.ca!);
    await hub.until('available', async () => (await hub.condition(group))?.status === 'True');
  });
  after(() => opened.disposeAsync());

  const expect = async (status: number, method: string, target: string, sent = {}): Promise<Data> => {
    const answer = await hub.request(method, target, sent);
    assert.equal(answer.status, status, answer.text);
    return answer.data;
  };
  const patch = (type: string) => `application/${type}`;

  for (const plural of ['notes', 'memos']) {
    const own = `${base}/namespaces/default/${plural}`;
    const kind = plural === 'notes' ? 'Note' : 'Memo';
    const object = (name: string, more: object = {}): Data =>
      plural === 'notes'
        ? note(name, 'a title', more)
        : { kind, apiVersion: `${group}/v1`, metadata: { name, ...more }, text: 'a' };

    test(`${plural} are created, read, changed by every kind of patch, and deleted`, async () => {
      const created = await expect(201, 'POST', own, { body: object('a') });
      assert.match(created.metadata.uid, /-/);
      assert.deepEqual((await expect(200, 'GET', `${own}/a`)).metadata, created.metadata);
      assert.equal((await expect(409, 'POST', own, { body: object('a') })).reason, 'AlreadyExists');
      const merge = { contentType: patch('merge-patch+json') };
      const labelled = await expect(200, 'PATCH', `${own}/a`, { ...merge, body: { metadata: { labels: { x: '1' } } } });
      assert.ok(Number(labelled.metadata.resourceVersion) > Number(created.metadata.resourceVersion));
      const steps = [{ op: 'add', path: '/metadata/labels/y', value: '2' }];
      await expect(200, 'PATCH', `${own}/a`, { contentType: patch('json-patch+json'), body: steps });
      const applied = await expect(200, 'PATCH', `${own}/a?fieldManager=me`, {
        contentType: patch('apply-patch+yaml'),
        body: object('a', { labels: { z: '3' } }),
      });
      assert.deepEqual(applied.metadata.labels, { x: '1', y: '2', z: '3' });
      const stale = await expect(409, 'PUT', `${own}/a`, { body: created });
      assert.match(stale.message, /the object has been modified/);
      const dry = await expect(200, 'DELETE', `${own}/a?dryRun=All`);
      assert.equal(dry.status, 'Success');
      await expect(200, 'DELETE', `${own}/a`);
      await expect(404, 'GET', `${own}/a`);
      // Apply creates a missing object.
      await expect(201, 'PATCH', `${own}/b?fieldManager=me`, {
        contentType: patch('apply-patch+yaml'),
        body: object('b'),
      });
      await expect(200, 'DELETE', `${own}/b`);
    });

    test(`watches of ${plural} tell every change from where they begin, with selectors and bookmarks`, async () => {
      const { metadata } = await expect(200, 'GET', own);
      const target = `${own}?watch=true&resourceVersion=${metadata.resourceVersion}&labelSelector=seen%3Dyes`;
      const stream = await hub.stream(target);
      const lines = createInterface({ input: stream })[Symbol.asyncIterator]();
      const next = async (): Promise<string> => {
        const { type, object: seen } = JSON.parse((await lines.next()).value as string);
        return `${type} ${seen.metadata.name}`;
      };
      await expect(201, 'POST', own, { body: object('unseen') });
      await expect(201, 'POST', own, { body: object('w', { labels: { seen: 'yes' } }) });
      assert.equal(await next(), 'ADDED w');
      const contentType = patch('merge-patch+json');
      await expect(200, 'PATCH', `${own}/w`, { contentType, body: { metadata: { labels: { more: '1' } } } });
      assert.equal(await next(), 'MODIFIED w');
      await expect(200, 'PATCH', `${own}/w`, { contentType, body: { metadata: { labels: { seen: 'no' } } } });
      assert.equal(await next(), 'DELETED w');
      stream.destroy();
      const initial = await hub.stream(
        `${own}?watch=true&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan`,
      );
      const all = createInterface({ input: initial })[Symbol.asyncIterator]();
      const types = [];
      for (let i = 0; i < 3; i++) types.push(JSON.parse((await all.next()).value as string).type);
      assert.deepEqual(types, ['ADDED', 'ADDED', 'BOOKMARK']);
      initial.destroy();
      const deleted = await expect(200, 'DELETE', own);
      assert.equal(deleted.items.length, 2);
    });

    test(`lists of ${plural} come in pages and as tables`, async () => {
      for (const name of ['c', 'a', 'b']) await expect(201, 'POST', own, { body: object(name) });
      const first = await expect(200, 'GET', `${own}?limit=2`);
      assert.deepEqual(
        first.items.map((one: Data) => one.metadata.name),
        ['a', 'b'],
      );
      assert.equal(first.metadata.remainingItemCount, 1);
      const rest = await expect(200, 'GET', `${own}?limit=2&continue=${first.metadata.continue}`);
      assert.deepEqual(
        rest.items.map((one: Data) => one.metadata.name),
        ['c'],
      );
      const table = await expect(200, 'GET', `${base}/${plural}`, {
        headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' },
      });
      assert.equal(table.kind, 'Table');
      assert.equal(table.rows.length, 3);
      await expect(200, 'DELETE', own);
      assert.equal((await expect(200, 'GET', own)).items.length, 0);
    });
  }

  test('objects are held to their schema', async () => {
    const wrong = await expect(422, 'POST', path, { body: note('a', 'far too long for a title') });
    assert.match(wrong.message, /spec.title: Too long: may not be more than 20 bytes/);
    const unknown = { ...note('a'), nonsense: true };
    const strict = await expect(400, 'POST', `${path}?fieldValidation=Strict`, { body: unknown });
    assert.match(strict.message, /unknown field "nonsense"/);
    const answer = await hub.request('POST', `${path}?dryRun=All`, { body: unknown });
    assert.equal(answer.headers.warning, '299 - "unknown field \\"nonsense\\""');
    assert.equal(answer.data.nonsense, undefined);
    await expect(404, 'GET', `${path}/a`);
  });

  test('status is a part of its own', async () => {
    await expect(201, 'POST', path, { body: { ...note('s'), status: { isRead: 'yes' } } });
    const contentType = patch('merge-patch+json');
    const body = { spec: { title: 'other' }, status: { isRead: 'no' } };
    const changed = await expect(200, 'PATCH', `${path}/s/status`, { contentType, body });
    assert.deepEqual([changed.spec, changed.status], [{ title: 'a title' }, { isRead: 'no' }]);
    await expect(200, 'DELETE', `${path}/s`);
  });

  test('verbs are what the storage can do', async () => {
    const { resources } = await expect(200, 'GET', base);
    const verbs = (name: string): string => resources.find((one: Data) => one.name === name).verbs.join();
    assert.equal(verbs('moons'), 'get,list');
    assert.equal(verbs('introductions'), 'create');
    assert.equal(verbs('notes'), 'delete,deletecollection,get,list,patch,create,update,watch');
    assert.equal((await expect(200, 'GET', `${base}/moons/luna`)).phase, 'full');
    assert.equal((await expect(200, 'GET', `${base}/moons`)).items.length, 1);
    for (const method of ['POST', 'DELETE']) await expect(405, method, `${base}/moons`, { body: {} });
    await expect(405, 'GET', `${base}/introductions`);
  });

  test('discovery and OpenAPI of the cluster have its kinds', async () => {
    const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
    const whole = await hub.request('GET', '/apis', { headers: { accept } });
    const item = whole.data.items.find((one: Data) => one.metadata.name === group);
    assert.equal(item.versions[0].freshness, 'Current');
    assert.equal(item.versions[0].resources.length, 4);
    const again = await hub.request('GET', '/apis', {
      headers: { accept, 'if-none-match': String(whole.headers['etag']) },
    });
    assert.equal(again.status, 304);
    const root = await expect(200, 'GET', '/openapi/v3');
    const { serverRelativeURL } = root.paths[`apis/${group}/v1`];
    assert.match(serverRelativeURL, /hash=[0-9A-F]{32,}/);
    const document = await expect(200, 'GET', serverRelativeURL);
    assert.ok(document.components.schemas['com.example.notes.v1.Note']);
    const v2 = await expect(200, 'GET', '/openapi/v2');
    assert.ok(v2.paths[`${base}/namespaces/{namespace}/notes/{name}`]);
    assert.ok(v2.definitions['com.example.notes.v1.Note']);
    assert.ok(v2.paths['/api/v1/namespaces']);
  });

  test('it sees who asks as the cluster does', async () => {
    const body = { kind: 'Introduction', apiVersion: `${group}/v1`, metadata: { name: 'me' } };
    await expect(201, 'POST', `${base}/introductions`, { body, token: 'visitor' });
    const { name, uid, groups } = notes.seen.at(-1)!;
    assert.deepEqual([name, uid, groups], ['visitor', 'v1', ['guests', 'system:authenticated']]);
    await expect(403, 'GET', path, { token: 'visitor' });
    const asked = await direct(`${base}/introductions`, { 'x-remote-user': latin1('jürgen') }, hub.frontProxy);
    assert.match(asked.text, /User \\"jürgen\\"/);
  });

  test('what is only created is admitted too', async () => {
    const body = (name: string) => ({ kind: 'Introduction', apiVersion: `${group}/v1`, metadata: { name } });
    const made = await expect(201, 'POST', `${base}/introductions?dryRun=All`, { body: body('somebody') });
    assert.deepEqual(made.metadata.labels, { announced: 'yes' });
    assert.deepEqual(made.metadata.annotations, { uid: made.metadata.uid, isDryRun: 'true' });
    const before = notes.seen.length;
    const refused = await expect(403, 'POST', `${base}/introductions`, { body: body('nobody') });
    assert.match(refused.message, /nobody comes in/);
    assert.equal(notes.seen.length, before);
  });

  /** Sends requests directly to the server, bypassing the cluster. */
  const direct = (target: string, headers: Record<string, string>, show?: KeyPair) =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      const outgoing = httpsRequest({
        host: '127.0.0.1',
        port: notes.port,
        path: target,
        ca: notes.ca,
        servername: 'notes.default.svc',
        agent: false,
        headers,
        ...(show ? { cert: show.certificate, key: show.key } : {}),
      });
      outgoing.on('error', reject);
      outgoing.on('response', async (response: IncomingMessage) => {
        const text = Buffer.concat(await response.toArray()).toString();
        resolve({ status: response.statusCode!, text });
      });
      outgoing.end();
    });
  const asAdmin = { 'x-remote-user': 'admin', 'x-remote-group': 'system:masters' };

  test('clients that do not prove to be the cluster are refused', async () => {
    const client = (authority: KeyPair, commonName: string): KeyPair =>
      issueCertificate(authority, { commonName, usage: 'client', days: 1 }, world);
    const forged = client(createAuthority('front-proxy', 1, world), 'front-proxy-client');
    const misnamed = client(hub.frontProxyCa, 'somebody-else');
    assert.equal((await direct(path, asAdmin)).status, 401);
    assert.equal((await direct(path, asAdmin, forged)).status, 401);
    assert.equal((await direct(path, asAdmin, misnamed)).status, 401);
    assert.equal((await direct(path, { authorization: 'Bearer nonsense' })).status, 401);
    assert.equal((await direct(path, asAdmin, hub.frontProxy)).status, 200);
    assert.equal((await direct(path, {}, hub.frontProxy)).status, 401);
  });

  test('the cluster is asked whose a token is, and what they may do', async () => {
    assert.equal((await direct(path, { authorization: 'Bearer admin' })).status, 200);
    const refused = await direct(path, { authorization: 'Bearer visitor' });
    assert.equal(refused.status, 403);
    assert.match(refused.text, /User \\"visitor\\" cannot list resource \\"notes\\"/);
    assert.equal((await direct(path, { 'x-remote-user': 'visitor' }, hub.frontProxy)).status, 403);
  });

  test('whether it is well may be asked by everybody, what it counts may not', async () => {
    for (const target of ['/healthz', '/livez', '/readyz']) assert.equal((await direct(target, {})).text, 'ok');
    assert.equal((await direct('/metrics', {})).status, 401);
    const metrics = await direct('/metrics', asAdmin, hub.frontProxy);
    assert.match(metrics.text, /apiserver_request_total/);
  });
});

test('a declaration that cannot be served says why', () => {
  const wrong = { group: 'a.example', version: 'one', kind: 'thing', plural: 'Things', schema: schema.string() };
  assert.throws(() => declareKind(wrong), /thing cannot be served: .*spec.names.plural/);
});

test('without a cluster that says who may come in, nothing is served', async () => {
  const access = { server: 'https://127.0.0.1:1' };
  await assert.rejects(startNotes(access), /ECONNREFUSED/);
});
