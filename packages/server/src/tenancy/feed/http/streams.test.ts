import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { systemClock } from '@hangar/core';
import { Auditor } from '../../../audit/auditor.ts';
import type { AuditEvent } from '../../../audit/event.ts';
import { AuditPolicy } from '../../../audit/policy.ts';
import { isStreaming, nobody } from '../../../http/message.ts';
import { tenants, TenancyServer } from '../../../testing/tenancy-server.ts';
import { virtualClock } from '../../../testing/test-server.ts';
import type { Data } from '../../../testing/test-server.ts';
import { add, merge } from '../../wildcard/testing.ts';
import { FeedRecorder } from '../testing.ts';
import { streamsMax, streamsOfOneMax } from './streams.ts';
import { feedTarget, followed, HttpFeed, openStream, readers, ReadingSink } from './testing.ts';

const big = Buffer.from(JSON.stringify({ metadata: { name: 'big' }, data: { x: 'x'.repeat(1_500_000) } }));

/** Writes 1.5 MB into the tenant `red`, directly to the store. */
const putBig = (server: TenancyServer, name: string) =>
  server.store.commit([{ type: 'put', key: `/registry/clusters/red/configmaps/default/${name}`, value: big }]);

/** Encodes a value as kube-apiserver stores it, of an unknown kind. */
function unknownKind(apiVersion: string, kind: string): Buffer {
  const field = (at: number, bytes: Buffer): Buffer =>
    Buffer.concat([Buffer.from([(at << 3) | 2, bytes.length]), bytes]);
  const type = Buffer.concat([field(1, Buffer.from(apiVersion)), field(2, Buffer.from(kind))]);
  const raw = field(1, field(1, Buffer.from('a')));
  return Buffer.concat([Buffer.from([0x6b, 0x38, 0x73, 0]), field(1, type), field(2, raw)]);
}

describe('a feed over HTTP', () => {
  test('begins with its session, tells tenants before what is in them, and says when that was all', async () => {
    await using server = await TenancyServer.open();
    const red = await server.make('red');
    await add(server, red, 'a');
    await using recorder = await followed(server);
    assert.match(recorder.feed.session!, /^[-0-9a-f]{36}$/);
    assert.deepEqual(recorder.news(), ['cluster red', 'initial put red configmaps default/a', 'synced']);
    assert.equal((recorder.tenants.get('red') as Data).metadata.name, 'red');
    assert.match((recorder.tenants.get('red') as Data).metadata.resourceVersion, /^\d+$/);
    await merge(server, `${red}/api/v1/namespaces/default/configmaps/a`, { data: { x: 'y' } });
    await server.expect(200, 'DELETE', `${red}/api/v1/namespaces/default/configmaps/a`);
    await server.expect(200, 'DELETE', `${tenants}/red`);
    await recorder.until(() => recorder.told.includes('gone red'));
    assert.deepEqual(recorder.news(), ['put red configmaps default/a', 'delete red configmaps default/a', 'gone red']);
    assert.deepEqual((recorder.changes.at(-1)!.object() as Data).data, { x: 'y' }, 'what it was last');
  });

  test('tells nothing of the management plane', async () => {
    await using server = await TenancyServer.open();
    await using recorder = await followed(server);
    await add(server, '', 'own');
    await add(server, await server.make('red'), 'a');
    await recorder.until(() => recorder.told.includes('put red configmaps default/a'));
    assert.ok(!recorder.told.some((one) => / root /.test(one)));
    assert.ok(recorder.feed.heads.every(({ cluster }) => cluster !== 'root'));
  });

  test('has of a Secret its metadata and type, and nothing of what is in it', async () => {
    await using server = await TenancyServer.open();
    const red = await server.make('red');
    const secrets = `${red}/api/v1/namespaces/default/secrets`;
    const body = (name: string) => ({
      kind: 'Secret',
      apiVersion: 'v1',
      type: 'example.com/kind',
      metadata: {
        name,
        labels: { app: 'x' },
        annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{"data":{"password":"aHVudGVyMg=="}}' },
        finalizers: ['example.com/stay'],
      },
      data: { password: 'aHVudGVyMg==' },
      stringData: { other: 'hunter2' },
    });
    await server.expect(201, 'POST', secrets, { body: body('early') });
    let sent = '';
    const sink = new ReadingSink((chunk) => (sent += chunk.toString()));
    await openStream(server, sink);
    await using recorder = await followed(server);
    await server.expect(201, 'POST', secrets, { body: body('late') });
    await merge(server, `${secrets}/late`, { metadata: { finalizers: null } });
    await server.expect(200, 'DELETE', `${secrets}/late`);
    await recorder.caughtUp(server, 'red');
    const changes = recorder.changes.filter(({ resource }) => resource === 'secrets');
    assert.deepEqual(
      changes.map(({ type, name }) => `${type} ${name}`),
      ['put early', 'put late', 'put late', 'delete late'],
    );
    for (const change of changes) {
      const object: Data = change.object();
      assert.deepEqual(Object.keys(object), ['kind', 'apiVersion', 'metadata', 'type']);
      assert.equal(object.type, 'example.com/kind');
      assert.equal(object.metadata.labels.app, 'x');
      assert.equal(object.metadata.annotations, undefined);
      assert.equal(object.metadata.managedFields, undefined);
      assert.ok(object.metadata.uid);
    }
    assert.deepEqual((changes[0]!.object() as Data).metadata.finalizers, ['example.com/stay']);
    await recorder.until(() => sent.includes('"delete"'));
    assert.ok(!/aHVudGVyMg|aHVudGVyMg==|hunter2|password/.test(sent));
    sink.end();
  });

  test('has what no JSON is in the place of a Secret by its name alone', async () => {
    await using server = await TenancyServer.open();
    await server.make('red');
    const key = '/registry/clusters/red/secrets/default/odd';
    await server.store.commit([{ type: 'put', key, value: Buffer.from('hunter2') }]);
    await using recorder = await followed(server);
    assert.deepEqual(recorder.changes.at(-1)!.object(), { metadata: { namespace: 'default', name: 'odd' } });
  });

  test('has what nobody can decode by its name alone, of any kind, reports it, and goes on', async () => {
    const reported: Error[] = [];
    const onError = (error: Error): void => void reported.push(error);
    await using server = await TenancyServer.open({ tenancy: { onError } });
    const red = await server.make('red');
    const keyOf = (resource: string, name: string) => `/registry/clusters/red/${resource}/default/${name}`;
    const value = unknownKind('example.com/v9', 'Unheard');
    const put = (name: string) =>
      server.store.commit(
        ['secrets', 'configmaps'].map((resource) => ({ type: 'put', key: keyOf(resource, name), value }) as const),
      );
    await put('early');
    await using recorder = await followed(server);
    await put('late');
    await server.store.commit([{ type: 'delete', key: keyOf('secrets', 'late') }]);
    await add(server, red, 'fine');
    await recorder.until(() => recorder.told.includes('put red configmaps default/fine'));
    const odd = recorder.changes.filter(({ name }) => name !== 'fine');
    assert.deepEqual(
      odd.map(({ type, resource, name }) => `${type} ${resource} ${name}`),
      ['put configmaps early', 'put secrets early', 'put secrets late', 'put configmaps late', 'delete secrets late'],
    );
    for (const change of odd) {
      assert.deepEqual(change.object(), { metadata: { namespace: 'default', name: change.name } });
    }
    assert.ok(!recorder.told.includes('reset'));
    assert.deepEqual(
      reported.map((error) => (error as Data).code),
      odd.map(() => 'UndecodableValue'),
    );
    assert.match(reported[0]!.message, /configmaps default\/early of tenant red/);
  });

  test('says something every ten seconds, also when nothing happens', async () => {
    const clock = virtualClock();
    const server = await clock.run(TenancyServer.open({ clock }));
    const feed = new HttpFeed(server);
    const recorder = new FeedRecorder(feed);
    await clock.run(recorder.until(() => recorder.told.includes('synced')));
    const pings = (): number => feed.heads.filter(({ type }) => type === 'ping').length;
    await clock.advance(9_000);
    assert.equal(pings(), 0);
    await clock.advance(31_500);
    assert.equal(pings(), 4);
    await clock.run(recorder[Symbol.asyncDispose]());
    await clock.advance(60_000);
    assert.equal(pings(), 4, 'not to somebody who has left');
    await clock.run(server[Symbol.asyncDispose]());
  });

  test('ends in good order with the server', async () => {
    const server = await TenancyServer.open();
    const feed = new HttpFeed(server);
    const recorder = await followed(server, feed);
    await server[Symbol.asyncDispose]();
    await recorder[Symbol.asyncDispose]();
    assert.equal(feed.sink.isClosed, true);
    assert.equal(feed.sink.wasCut, false);
  });

  test('cuts off who does not read, and the server and others go on', async () => {
    await using server = await TenancyServer.open();
    await server.make('red');
    await using other = await followed(server);
    const slow = new HttpFeed(server);
    const recorder = await followed(server, slow);
    slow.sink.takesMore = false;
    let writes = 0;
    for (; !slow.sink.isClosed && writes < 80; writes++) {
      await putBig(server, 'big');
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.equal(slow.sink.wasCut, true);
    assert.ok(writes >= 40, `after ${writes} of 1.5 MB`);
    await other.caughtUp(server, 'red');
    assert.equal((await slow.post(['red'])).status, 404, 'nothing of it is left');
    await recorder[Symbol.asyncDispose]();
  });

  test('tells who reads slowly what is there as slowly, however much it is', async () => {
    await using server = await TenancyServer.open();
    await server.make('red');
    for (let at = 0; at < 20; at++) await putBig(server, `m${at}`);
    const feed = new HttpFeed(server);
    feed.sink.takesMore = false;
    const recorder = new FeedRecorder(feed);
    let waitingMax = 0;
    while (!recorder.told.includes('synced')) {
      const before = feed.sink.bytes;
      await new Promise((resolve) => setTimeout(resolve, 1));
      feed.sink.drain();
      feed.sink.takesMore = false;
      waitingMax = Math.max(waitingMax, feed.sink.bytes - before);
    }
    assert.equal(feed.sink.wasCut, false);
    assert.equal(recorder.told.filter((one) => one.includes('default/m')).length, 20);
    assert.ok(waitingMax < 6_000_000, `${waitingMax}`);
    await recorder[Symbol.asyncDispose]();
  });

  test('is one of sixteen at most; who leaves makes room, and a HEAD takes none', async () => {
    await using server = await TenancyServer.open(readers);
    for (let at = 0; at < 20; at++) {
      const { status, body } = await server.answer('HEAD', feedTarget);
      assert.equal(status, 200);
      assert.ok(isStreaming(body));
      body.start(nobody);
    }
    const sinks: ReadingSink[] = [];
    for (let at = 0; at < streamsMax; at++) {
      sinks.push(new ReadingSink());
      await openStream(server, sinks[at]!, { token: at < streamsOfOneMax ? 'reader' : 'other' });
    }
    const { status, headers, data } = await server.request('GET', feedTarget);
    assert.deepEqual([status, headers['retry-after'], data.reason], [429, '5', 'TooManyRequests']);
    assert.match(data.message, /too many open tenant feeds: the limit of this server is 16/);
    sinks[3]!.end();
    sinks[3] = new ReadingSink();
    await openStream(server, sinks[3]);
    for (const sink of sinks) sink.end();
  });

  test('is one of eight at most of one user', async () => {
    await using server = await TenancyServer.open(readers);
    const sinks = Array.from({ length: streamsOfOneMax }, () => new ReadingSink());
    for (const sink of sinks) await openStream(server, sink, { token: 'reader' });
    const { status, data } = await server.request('GET', feedTarget, { token: 'reader' });
    assert.equal(status, 429);
    assert.match(data.message, /too many open tenant feeds of user reader: the limit is 8/);
    const other = new ReadingSink();
    await openStream(server, other, { token: 'other' });
    sinks[0]!.end();
    sinks[0] = new ReadingSink();
    await openStream(server, sinks[0], { token: 'reader' });
    for (const sink of [other, ...sinks]) sink.end();
  });

  test('is one request in the audit log, from its beginning to its end', async () => {
    const events: AuditEvent[] = [];
    const policy = AuditPolicy.read('apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: RequestResponse}]');
    const log = { write: (text: string) => void events.push(JSON.parse(text)), close: () => Promise.resolve() };
    const auditor = new Auditor({ policy, sinks: [log], clock: systemClock });
    await using server = await TenancyServer.open({ auditor });
    await add(server, await server.make('red'), 'a');
    await (await followed(server))[Symbol.asyncDispose]();
    const ofFeed = events.filter(({ requestURI }) => requestURI === feedTarget);
    assert.deepEqual(
      ofFeed.map(({ stage }) => stage),
      ['RequestReceived', 'ResponseStarted', 'ResponseComplete'],
    );
    const { objectRef, responseObject } = ofFeed.at(-1)! as Data;
    assert.deepEqual([objectRef.resource, objectRef.subresource, objectRef.name], ['tenants', 'feed', '*']);
    assert.equal(responseObject, undefined, 'what it told is not written down');
  });

  test('is found in discovery beside the other things that can be asked of tenants', async () => {
    await using server = await TenancyServer.open();
    const { resources } = await server.expect(200, 'GET', '/apis/tenancy.hangar.dev/v1alpha1');
    const { verbs } = resources.find(({ name }: Data) => name === 'tenants/feed');
    assert.deepEqual(verbs.toSorted(), ['create', 'get']);
  });
});

describe('who asks a stream to tell a tenant again', () => {
  test('is told all that the tenant has stored, and that this was it', async () => {
    await using server = await TenancyServer.open();
    const red = await server.make('red');
    await add(server, red, 'a');
    await add(server, await server.make('blue'), 'b');
    await using recorder = await followed(server);
    await using other = await followed(server);
    recorder.news();
    const { status, data } = await recorder.feed.post(['red', 'unknown']);
    assert.deepEqual([status, data.kind, data.status], [202, 'Status', 'Success']);
    await recorder.until(() => recorder.told.includes('told red'));
    assert.deepEqual(recorder.news(), ['initial put red configmaps default/a', 'told red']);
    await other.caughtUp(server, 'red');
    assert.ok(!other.told.includes('told red'), 'others are not');
  });

  test('is told the end of the last time alone, with its mark, however often it asks', async () => {
    await using server = await TenancyServer.open();
    const red = await server.make('red');
    for (const name of ['a', 'b', 'c']) await add(server, red, name);
    await using recorder = await followed(server);
    const { feed } = recorder;
    recorder.news();
    const ask = (mark?: unknown) =>
      server.request('POST', feedTarget, { body: { session: feed.session, retell: ['red'], mark } });
    // The first retell does not complete while the reader does not read.
    feed.sink.takesMore = false;
    for (let at = 0; at < 4; at++) await putBig(server, `big${at}`);
    await recorder.until(() => recorder.told.length > 0);
    assert.equal((await ask(1)).status, 202);
    await new Promise((resolve) => setTimeout(resolve, 20));
    for (const mark of [2, 3]) assert.equal((await ask(mark)).status, 202);
    feed.sink.drain();
    await recorder.until(() => recorder.told.includes('told red'));
    await recorder.caughtUp(server, 'red');
    const ends = feed.heads.filter(({ type }) => type === 'told');
    assert.deepEqual(ends, [{ type: 'told', cluster: 'red', mark: 3 }]);
    assert.equal(recorder.told.filter((one) => one === 'initial put red configmaps default/a').length, 2);
    assert.equal((await ask()).status, 202);
    await recorder.until(() => recorder.told.filter((one) => one === 'told red').length === 2);
    assert.deepEqual(feed.heads.at(-1), { type: 'told', cluster: 'red' });
    assert.equal((await ask('x')).status, 400);
  });

  test('says which one: another’s, one of nobody and one that has ended are 404', async () => {
    await using server = await TenancyServer.open(readers);
    await server.make('red');
    const feed = new HttpFeed(server, { token: 'reader' });
    const recorder = await followed(server, feed);
    const ask = async (session: unknown, token: string): Promise<number> =>
      (await server.request('POST', feedTarget, { token, body: { session, retell: ['red'] } })).status;
    assert.equal(await ask(feed.session, 'other'), 404);
    assert.equal(await ask('constructor', 'reader'), 404);
    assert.equal(await ask('', 'reader'), 404);
    assert.equal(await ask(feed.session, 'reader'), 202);
    await recorder[Symbol.asyncDispose]();
    assert.equal(await ask(feed.session, 'reader'), 404);
  });

  test('is told what is wrong with a body that is none', async () => {
    await using server = await TenancyServer.open();
    await using recorder = await followed(server);
    const { session } = recorder.feed;
    for (const [body, message] of [
      ['', /not valid JSON/],
      ['{', /not valid JSON/],
      ['null', /session must be a string/],
      ['[]', /session must be a string/],
      [{ retell: [] }, /session must be a string/],
      [{ session }, /retell must be a list/],
      [{ session, retell: 'red' }, /retell must be a list/],
      [{ session, retell: [7] }, /7 in retell/],
      [{ session, retell: ['root'] }, /"root" in retell/],
      [{ session, retell: ['../red'] }, /in retell/],
    ] as const) {
      const { reason, ...status } = await server.expect(400, 'POST', feedTarget, { body });
      assert.equal(reason, 'BadRequest');
      assert.match(status.message, message);
    }
  });
});
