/**
 * Test suite of a client for any cluster and connection: runs against Hangar in process and over sockets, and against the real
 * kube-apiserver.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Client, Watch, WatchEvent } from '../../client.ts';
import type { Impersonation } from '../../config/cluster-config.ts';
import { asMetadata, defineKind } from '../../kind.ts';
import type { ApiObject } from '../../kind.ts';
import type { RestOptions } from '../options.ts';

export interface SuiteCluster {
  client(options?: RestOptions): Client;
  /** Absent: the cluster does not support impersonation. */
  clientAs?(impersonate: Impersonation): Client;
  /** Absent: the cluster issues no tokens. */
  readonly issuesTokens?: boolean;
}

interface ConfigMap extends ApiObject {
  data?: Record<string, string>;
}
interface Scaled extends ApiObject {
  spec: { replicas: number };
}

const namespaced = { isNamespaced: true } as const;
const ConfigMap = defineKind<ConfigMap>({ apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps', ...namespaced });
const Pod = defineKind({ apiVersion: 'v1', kind: 'Pod', plural: 'pods', ...namespaced });
const ServiceAccount = defineKind({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  ...namespaced,
});
const Deployment = defineKind({ apiVersion: 'apps/v1', kind: 'Deployment', plural: 'deployments', ...namespaced });
const Namespace = defineKind({ apiVersion: 'v1', kind: 'Namespace', plural: 'namespaces', isNamespaced: false });
const SelfSubjectReview = defineKind({
  apiVersion: 'authentication.k8s.io/v1',
  kind: 'SelfSubjectReview',
  plural: 'selfsubjectreviews',
  isNamespaced: false,
});

const containers = [{ name: 'a', image: 'a:1' }];
const pod = (namespace: string, name: string) => ({ metadata: { namespace, name }, spec: { containers } });
const iterate = <T extends ApiObject>(watch: Watch<T>): AsyncIterator<WatchEvent<T>> => watch[Symbol.asyncIterator]();

/** `open` is called once; the caller stops the cluster. */
export function clientSuite(name: string, open: () => Promise<SuiteCluster>): void {
  describe(name, () => {
    let opening: Promise<SuiteCluster> | undefined;
    let count = 0;
    /** Each test has a separate namespace. */
    const world = async () => {
      const cluster = await (opening ??= open());
      const client = cluster.client();
      const namespace = `suite-${process.pid}-${++count}-${name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}`.slice(
        0,
        60,
      );
      await client.create(Namespace, { metadata: { name: namespace } });
      const map = (of: string, data?: Record<string, string>) => ({
        metadata: { namespace, name: of },
        ...(data ? { data } : {}),
      });
      return { cluster, client, namespace, map };
    };

    test('objects are made, read, changed and deleted, and refusals have their codes', async () => {
      const { client, namespace, map } = await world();
      const key = { namespace, name: 'one' };
      const made = await client.create(ConfigMap, map('one', { a: '1' }));
      assert.deepEqual([made.apiVersion, made.kind], ['v1', 'ConfigMap']);
      await assert.rejects(client.create(ConfigMap, map('one')), { code: 'AlreadyExists' });
      const changed = await client.update(ConfigMap, { ...made, data: { a: '2' } });
      await assert.rejects(client.update(ConfigMap, { ...made, data: { a: '3' } }), { code: 'Conflict' });
      assert.deepEqual(await client.get(ConfigMap, key), changed);
      const preconditions = { uid: '00000000-0000-0000-0000-000000000000' };
      await assert.rejects(client.delete(ConfigMap, key, { preconditions }), { code: 'Conflict' });
      assert.equal(await client.delete(ConfigMap, key), true);
      assert.equal(await client.delete(ConfigMap, key), false);
      await assert.rejects(client.get(ConfigMap, key), { code: 'NotFound' });
      await assert.rejects(client.create(ConfigMap, map('NOT A NAME')), { code: 'Invalid' });
    });

    test('every type of patch does what it says', async () => {
      const { client, namespace, map } = await world();
      const key = { namespace, name: 'one' };
      await client.create(ConfigMap, map('one', { a: '1', b: '2' }));
      await client.patch(ConfigMap, key, { type: 'merge', body: { data: { a: null, c: '3' } } });
      const body = [{ op: 'replace', path: '/data/b', value: '4' }];
      const { data } = await client.patch(ConfigMap, key, { type: 'json', body });
      assert.deepEqual(data, { b: '4', c: '3' });
      await client.create(Pod, pod(namespace, 'p'));
      const strategic = { spec: { containers: [{ name: 'a', image: 'a:2' }] } };
      const patched = await client.patch(Pod, { namespace, name: 'p' }, { type: 'strategic', body: strategic });
      assert.equal((patched['spec'] as { containers: { image: string }[] }).containers[0]!.image, 'a:2');
    });

    test('server-side apply makes, shares, refuses what others own, and takes it over by force', async () => {
      const { client, map } = await world();
      await client.apply(ConfigMap, map('one', { a: '1' }), { fieldManager: 'first' });
      await client.apply(ConfigMap, map('one', { b: '1' }), { fieldManager: 'second' });
      const taken = map('one', { a: '2' });
      await assert.rejects(client.apply(ConfigMap, taken, { fieldManager: 'second' }), { code: 'Conflict' });
      const forced = await client.apply(ConfigMap, taken, { fieldManager: 'second', force: true });
      assert.deepEqual(forced.data, { a: '2' });
    });

    test('subresources: status, scale and eviction', async () => {
      const { client, namespace } = await world();
      const key = { namespace, name: 'one' };
      const labels = { app: 'a' };
      await client.create(Deployment, {
        metadata: key,
        spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
      });
      const status = { status: { replicas: 3 }, spec: { replicas: 9 } };
      const after = await client.status.patch(Deployment, key, { type: 'merge', body: status });
      assert.equal((after['status'] as { replicas: number }).replicas, 3);
      assert.equal((after['spec'] as { replicas: number }).replicas, 1, 'of status only status is taken');
      const scale = client.subresource('scale');
      await scale.patch(Deployment, key, { type: 'merge', body: { spec: { replicas: 5 } } });
      assert.equal((await scale.get<Scaled>(Deployment, key)).spec.replicas, 5);
      await client.create(Pod, pod(namespace, 'p'));
      const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { namespace, name: 'p' } };
      await client.subresource('eviction').create(Pod, { namespace, name: 'p' }, eviction);
      await assert.rejects(client.get(Pod, { namespace, name: 'p' }), { code: 'NotFound' });
    });

    test('a token is issued for an account', async (context) => {
      const { cluster, client, namespace } = await world();
      if (!cluster.issuesTokens) return context.diagnostic('not by this one');
      await client.create(ServiceAccount, { metadata: { namespace, name: 'one' } });
      const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
      const { status } = await client
        .subresource('token')
        .create<{ status: { token: string } }>(ServiceAccount, { namespace, name: 'one' }, request);
      assert.match(status.token, /^[\w-]+\.[\w-]+\.[\w-]+$/);
    });

    test('lists come in pages, by labels and by fields', async () => {
      const { client, namespace, map } = await world();
      await Promise.all(
        Array.from({ length: 25 }, (_, at) => {
          const { metadata } = map(`n-${String(at).padStart(2, '0')}`);
          return client.create(ConfigMap, { metadata: { ...metadata, labels: { half: at % 2 ? 'odd' : 'even' } } });
        }),
      );
      const page = await client.list(ConfigMap, { namespace, limit: 10 });
      assert.equal(page.items.length, 10);
      assert.equal(page.remainingItemCount, 15);
      const rest = await client.list(ConfigMap, { namespace, limit: 100, continue: page.continue });
      assert.equal(rest.items.length, 15);
      assert.equal(rest.continue, undefined);
      const all: string[] = [];
      for await (const { metadata, kind } of client.listAll(ConfigMap, { namespace, limit: 4, resourceVersion: '' })) {
        assert.equal(kind, 'ConfigMap');
        all.push(metadata.name!);
      }
      assert.equal(new Set(all).size, 25);
      const odd = await client.list(ConfigMap, { namespace, labelSelector: { half: 'odd' } });
      assert.equal(odd.items.length, 12);
      const two = await client.list(ConfigMap, { namespace, labelSelector: 'half in (odd,even)', limit: 2 });
      assert.equal(two.items.length, 2);
      const named = await client.list(ConfigMap, { namespace, fieldSelector: { 'metadata.name': 'n-07' } });
      assert.deepEqual(
        named.items.map(({ metadata }) => metadata.name),
        ['n-07'],
      );
      await client.deleteCollection(ConfigMap, { namespace, labelSelector: { half: 'odd' } });
      assert.equal((await client.list(ConfigMap, { namespace })).items.length, 13);
    });

    test('a watch tells what happens from where a list was, and ends when its time is over', async () => {
      const { client, namespace, map } = await world();
      const { resourceVersion } = await client.list(ConfigMap, { namespace });
      const seen: string[] = [];
      const watching = (async () => {
        for await (const event of client.watch(ConfigMap, { namespace, resourceVersion, timeoutSeconds: 2 })) {
          if (event.type !== 'BOOKMARK') seen.push(`${event.type} ${event.object.metadata.name} ${event.object.kind}`);
        }
      })();
      const made = await client.create(ConfigMap, map('one'));
      await client.update(ConfigMap, { ...made, data: { a: '1' } });
      await client.delete(ConfigMap, { namespace, name: 'one' });
      await watching;
      assert.deepEqual(seen, ['ADDED one ConfigMap', 'MODIFIED one ConfigMap', 'DELETED one ConfigMap']);
    });

    test('a watch tells what exists first, then says so, then tells what happens', async () => {
      const { client, namespace, map } = await world();
      await client.create(ConfigMap, map('before'));
      const events = iterate(client.watch(ConfigMap, { namespace, sendInitialEvents: true }));
      const { value: first } = await events.next();
      assert.ok(first.type === 'ADDED' && first.object.metadata.name === 'before');
      const { value: end } = await events.next();
      assert.ok(end.type === 'BOOKMARK' && end.isInitialEventsEnd && Number(end.resourceVersion) > 0);
      await client.create(ConfigMap, map('behind'));
      let next = (await events.next()).value as WatchEvent<ConfigMap>;
      while (next.type === 'BOOKMARK') next = (await events.next()).value as WatchEvent<ConfigMap>;
      assert.equal(next.object.metadata.name, 'behind');
      await events.return?.();
    });

    test('a watch ends at once by its signal and by being left', async () => {
      const { client, namespace } = await world();
      const stopping = new AbortController();
      const events = iterate(client.watch(ConfigMap, { namespace, sendInitialEvents: true, signal: stopping.signal }));
      while ((await events.next()).value.type !== 'BOOKMARK');
      const waiting = events.next();
      stopping.abort();
      await assert.rejects(waiting, { code: 'Aborted' });
      const left = iterate(client.watch(ConfigMap, { namespace, sendInitialEvents: true }));
      while ((await left.next()).value.type !== 'BOOKMARK');
      const pending = left.next();
      await left.return?.();
      assert.equal((await pending).done, true);
    });

    test('metadata alone can be had, listed, watched, patched and deleted', async () => {
      const { client, namespace, map } = await world();
      const Partial = asMetadata(ConfigMap);
      const key = { namespace, name: 'one' };
      const { metadata } = await client.create(ConfigMap, map('one', { a: '1' }));
      const expected = { apiVersion: 'v1', kind: 'ConfigMap', metadata };
      assert.deepEqual(await client.metadata.get(Partial, key), expected);
      const list = await client.metadata.list(Partial, { namespace, fieldSelector: { 'metadata.name': 'one' } });
      assert.deepEqual(list.items, [expected]);
      for await (const object of client.metadata.listAll(Partial, { namespace })) assert.ok(!('data' in object));
      const events = iterate(client.metadata.watch(Partial, { namespace, resourceVersion: list.resourceVersion }));
      const body = { metadata: { labels: { a: 'b' } } };
      const patched = await client.metadata.patch(Partial, key, { type: 'merge', body });
      assert.deepEqual([patched.metadata.labels, 'data' in patched], [{ a: 'b' }, false]);
      const { value } = await events.next();
      assert.deepEqual(value, { type: 'MODIFIED', object: patched });
      await events.return?.();
      assert.equal(await client.metadata.delete(Partial, key), true);
    });

    test('a dry run changes nothing', async () => {
      const { client, namespace, map } = await world();
      const key = { namespace, name: 'one' };
      const dryRun = true;
      assert.ok((await client.create(ConfigMap, map('one'), { dryRun })).metadata.uid);
      await assert.rejects(client.get(ConfigMap, key), { code: 'NotFound' });
      await client.create(ConfigMap, map('one'));
      await client.patch(ConfigMap, key, { type: 'merge', body: { data: { a: '1' } } }, { dryRun });
      assert.equal(await client.delete(ConfigMap, key, { dryRun }), true);
      assert.equal((await client.get(ConfigMap, key)).data, undefined);
    });

    test('fields that nobody knows are refused or warned of, as was asked for', async () => {
      const { cluster, client, namespace } = await world();
      const unknown = { ...pod(namespace, 'p'), spec: { containers, nonsense: true } };
      await assert.rejects(client.create(Pod, unknown, { fieldValidation: 'Strict' }), { code: 'BadRequest' });
      const told: string[] = [];
      const warned = cluster.client({ onWarning: (text) => told.push(text) });
      await warned.create(Pod, unknown, { fieldValidation: 'Warn' });
      assert.deepEqual(told, ['unknown field "spec.nonsense"']);
      await client.create(Pod, { ...unknown, metadata: { namespace, name: 'q' } }, { fieldValidation: 'Ignore' });
    });

    test('what is no object is asked as it is', async () => {
      const { client } = await world();
      const answer = await client.raw({ method: 'GET', target: '/version' });
      assert.ok('gitVersion' in (JSON.parse((await answer.body()).toString()) as object));
      assert.equal((await client.raw({ method: 'GET', target: '/apis/nowhere' })).status, 404);
    });

    test('who is acted as is who the server sees', async (context) => {
      const { cluster } = await world();
      if (!cluster.clientAs) return context.diagnostic('not over this');
      const client = cluster.clientAs({
        user: 'jane',
        groups: ['dev', 'ops'],
        extra: { 'example.com/Scope': ['a', 'b'] },
      });
      const review = await client.create(SelfSubjectReview, { metadata: {} });
      const { userInfo } = review['status'] as { userInfo: { username: string; groups: string[]; extra: object } };
      assert.equal(userInfo.username, 'jane');
      assert.deepEqual(userInfo.groups.slice(0, 2), ['dev', 'ops']);
      assert.deepEqual(userInfo.extra, { 'example.com/scope': ['a', 'b'] });
    });
  });
}
