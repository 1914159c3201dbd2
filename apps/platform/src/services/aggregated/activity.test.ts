import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { request as httpsRequest } from 'node:https';
import type { RequestOptions } from 'node:https';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { systemClock, systemRandom } from '@hangar/core';
import { createAuthority, issueCertificate } from '@hangar/pki';
import type { KeyPair } from '@hangar/pki';
import { startTestServer } from '../testing/server.ts';
import type { TestServer } from '../testing/server.ts';
import { aggregatedService } from './index.ts';

const world = { clock: systemClock, random: systemRandom };
const base = '/apis/activity.miloapis.com/v1alpha1';
const configMaps = '/api/v1/namespaces/default/configmaps';
const apiService = '/apis/apiregistration.k8s.io/v1/apiservices/v1alpha1.activity.miloapis.com';
const published = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication';

// oxlint-disable-next-line typescript/no-explicit-any
type Data = any;

interface Answered {
  readonly status: number;
  readonly data: Data;
}

const query = (spec: object = {}): object => ({
  kind: 'AuditLogQuery',
  apiVersion: 'activity.miloapis.com/v1alpha1',
  metadata: { name: 'q' },
  spec: { startTime: 'now-1h', ...spec },
});

describe('the activity service of a Hangar with tenants', () => {
  const opened = new AsyncDisposableStack();
  let server: TestServer;
  let port = 0;

  before(async () => {
    server = opened.use(await startTestServer('--services=activity', '--no-demo'));
    const { inside, log } = server;
    const stop = new AbortController();
    const ready = Promise.withResolvers<void>();
    const service = aggregatedService('activity', { inside, log, electsLeader: false, tellMetrics: () => undefined });
    const ended = service.run(stop.signal, ready.resolve);
    ended.catch(ready.reject);
    opened.defer(async () => {
      stop.abort();
      await ended;
    });
    await ready.promise;
    const objects = await registrations();
    port = objects.find((one: Data) => one.kind === 'APIService').spec.service.port;
    for (const name of ['red', 'blue']) {
      await expect(201, 'POST', '', '/apis/tenancy.hangar.dev/v1alpha1/tenants', {
        body: { kind: 'Tenant', apiVersion: 'tenancy.hangar.dev/v1alpha1', metadata: { name } },
      });
      await expect(201, 'POST', name, configMaps, { body: { metadata: { name: `of-${name}` } } });
      for (const object of objects) {
        const path =
          object.kind === 'Service'
            ? '/api/v1/namespaces/kube-system/services'
            : '/apis/apiregistration.k8s.io/v1/apiservices';
        await expect(201, 'POST', name, path, { body: object });
      }
    }
    for (const plane of ['', 'red', 'blue']) {
      await until(`the API service of "${plane}" is available`, async () => {
        const { data } = await ask('GET', plane, apiService);
        return data.status?.conditions?.some((one: Data) => one.type === 'Available' && one.status === 'True');
      });
    }
    await until('events of both tenants are stored', async () => {
      const { data } = await ask('GET', '', `${base}/activities?limit=500`);
      const planes = new Set(data.items?.map((one: Data) => one.spec.plane));
      return planes.has('red') && planes.has('blue') && planes.has('root');
    });
  });
  after(() => opened.disposeAsync());

  const registrations = async (): Promise<Data[]> =>
    JSON.parse(await readFile(join(server.folder, 'activity', 'api-service.json'), 'utf8')).items;

  /** `plane` is empty for the management plane. */
  async function ask(
    method: string,
    plane: string,
    target: string,
    sent: { readonly body?: object; readonly headers?: Record<string, string> } = {},
  ): Promise<Answered> {
    const prefix = plane === '' ? '' : `/clusters/${plane}/control-plane`;
    const answer = await server.clients.transport.request({
      method,
      target: prefix + target,
      headers: { 'content-type': 'application/json', accept: 'application/json', ...sent.headers },
      ...(sent.body && { body: Buffer.from(JSON.stringify(sent.body)) }),
    });
    const text = (await answer.body()).toString();
    return { status: answer.status, data: text.startsWith('{') ? JSON.parse(text) : { text } };
  }

  async function expect(status: number, ...all: Parameters<typeof ask>): Promise<Data> {
    const answer = await ask(...all);
    assert.equal(answer.status, status, JSON.stringify(answer.data));
    return answer.data;
  }

  /** Sends a request to the port of the service over TLS, without a control plane in between. */
  function direct(target: string, headers: Record<string, string>, pair?: KeyPair, body?: object): Promise<Answered> {
    const options: RequestOptions = {
      host: '127.0.0.1',
      port,
      path: target,
      method: body ? 'POST' : 'GET',
      headers: { 'content-type': 'application/json', ...headers },
      rejectUnauthorized: false,
      agent: false,
      ...(pair && { key: pair.key, cert: pair.certificate }),
    };
    return new Promise((resolve, reject) => {
      const outgoing = httpsRequest(options, (response) => {
        void Array.fromAsync(response as AsyncIterable<Buffer>).then((chunks) => {
          const text = Buffer.concat(chunks).toString();
          resolve({ status: response.statusCode!, data: text.startsWith('{') ? JSON.parse(text) : { text } });
        }, reject);
      });
      outgoing.on('error', reject);
      outgoing.end(body && JSON.stringify(body));
    });
  }

  const planesOf = async (plane: string, headers: Record<string, string> = {}): Promise<string[]> => {
    const { status } = await expect(201, 'POST', plane, `${base}/auditlogqueries`, {
      body: query({ limit: 1_000 }),
      headers,
    });
    const marks = status.results.map((one: Data) => one.annotations?.['tenancy.hangar.dev/tenant'] ?? 'root');
    const { items } = await expect(200, 'GET', plane, `${base}/activities?limit=500`, { headers });
    return [...new Set([...marks, ...items.map((one: Data) => one.spec.plane)])].sort();
  };

  test('a control plane sees its events, the management plane those of all', async () => {
    assert.deepEqual(await planesOf('red'), ['red']);
    assert.deepEqual(await planesOf('blue'), ['blue']);
    assert.deepEqual(await planesOf(''), ['blue', 'red', 'root']);
    const { items } = await expect(200, 'GET', 'red', `${base}/activities?limit=500`);
    assert.ok(items.some((one: Data) => one.spec.summary.includes('created ConfigMap of-red in namespace default')));
  });

  test('users that an administrator of a tenant impersonates see no more, and extras of scopes cannot be impersonated', async () => {
    const as = { 'impersonate-user': 'kubernetes-admin', 'impersonate-group': 'system:masters' };
    assert.deepEqual(await planesOf('red', { ...as, 'impersonate-extra-example.com%2fscope': 'blue' }), ['red']);
    for (const [type, name] of [
      ['Organization', 'acme'],
      ['Project', 'blue'],
      ['Platform', 'root'],
    ] as const) {
      const headers = {
        ...as,
        'impersonate-extra-iam.miloapis.com%2fparent-type': type,
        'impersonate-extra-iam.miloapis.com%2fparent-name': name,
      };
      for (const plane of ['red', '']) await expect(403, 'GET', plane, `${base}/activities?limit=1`, { headers });
    }
    const identity = { 'x-remote-user': 'kubernetes-admin', 'x-remote-group': 'system:masters' };
    assert.deepEqual(await planesOf('red', identity), ['red'], 'headers of the client are not passed on');
  });

  test('an activity of another control plane does not exist, and its cursor is refused', async () => {
    const [other] = (await expect(200, 'GET', 'blue', `${base}/activities?limit=500`)).items;
    await expect(200, 'GET', 'blue', `${base}/activities/${other.metadata.name}`);
    await expect(404, 'GET', 'red', `${base}/activities/${other.metadata.name}`);
    const { status } = await expect(201, 'POST', 'blue', `${base}/auditlogqueries`, { body: query({ limit: 1 }) });
    const spec = { limit: 1, continue: status.continue };
    await expect(201, 'POST', 'blue', `${base}/auditlogqueries`, { body: query(spec) });
    await expect(422, 'POST', 'red', `${base}/auditlogqueries`, { body: query(spec) });
    const changed = query({ ...spec, filter: 'verb == "get"' });
    await expect(422, 'POST', 'blue', `${base}/auditlogqueries`, { body: changed });
  });

  test('headers of a front proxy without its certificate do not authenticate', async () => {
    const headers = { 'x-remote-user': 'kubernetes-admin', 'x-remote-group': 'system:masters' };
    assert.ok([401, 403].includes((await direct(`${base}/activities`, headers)).status));
  });

  test('a token of the management plane is not accepted at the port of the service, which serves health to every client', async () => {
    const accounts = '/api/v1/namespaces/default/serviceaccounts';
    await expect(201, 'POST', '', accounts, { body: { metadata: { name: 'reader' } } });
    await expect(201, 'POST', '', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
      body: {
        metadata: { name: 'reader' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
        subjects: [{ kind: 'ServiceAccount', namespace: 'default', name: 'reader' }],
      },
    });
    const made = await expect(201, 'POST', '', `${accounts}/reader/token`, { body: { spec: {} } });
    const headers = { authorization: `Bearer ${made.status.token}` };
    await expect(200, 'GET', '', `${base}/activities?limit=1`, { headers });
    assert.equal((await direct(`${base}/activities?limit=1`, headers)).status, 401);
    assert.equal((await direct('/readyz', {})).status, 200);
  });

  test('a certificate of a CA that only has the name of the CA of another tenant is refused', async () => {
    const headers = { 'x-remote-user': 'kim', 'x-remote-group': 'system:masters' };
    const certified = (ca: KeyPair): KeyPair =>
      issueCertificate(ca, { commonName: 'front-proxy-client', usage: 'client', days: 1 }, world);
    const forged = createAuthority('hangar-blue-front-proxy-ca', 1, world);
    assert.ok([401, 403].includes((await direct(`${base}/activities`, headers, certified(forged))).status));
    // The administrator of a tenant publishes other CAs in it: for another tenant they have no effect.
    const own = createAuthority('hangar-red-front-proxy-ca', 1, world);
    const { data } = await expect(200, 'GET', 'red', published);
    const ca = data['requestheader-client-ca-file'] + forged.certificate + own.certificate;
    await expect(200, 'PATCH', 'red', published, {
      body: { data: { 'requestheader-client-ca-file': ca } },
      headers: { 'content-type': 'application/merge-patch+json' },
    });
    await until('the service reads the CAs of the tenant again', async () => {
      const answer = await direct(`${base}/activities?limit=500`, headers, certified(own));
      if (answer.status !== 200) return false;
      const planes = answer.data.items.map((one: Data) => one.spec.plane);
      assert.deepEqual([...new Set(planes)], ['red'], 'a front proxy of the tenant sees the tenant');
      return true;
    });
    assert.ok([401, 403].includes((await direct(`${base}/activities`, headers, certified(forged))).status));
    assert.deepEqual(await planesOf('blue'), ['blue']);
  });

  test('a tenant reaches the port of the service, and no other port of this machine', async () => {
    const [, object] = await registrations();
    const body = {
      ...object,
      metadata: { name: 'v1.example.com' },
      spec: {
        ...object.spec,
        group: 'example.com',
        version: 'v1',
        service: { ...object.spec.service, port: Number(new URL(server.inside.url).port) },
      },
    };
    await expect(201, 'POST', 'red', '/apis/apiregistration.k8s.io/v1/apiservices', { body });
    const { data } = await ask('GET', 'red', '/apis/example.com/v1/things');
    const { data: state } = await ask('GET', 'red', '/apis/apiregistration.k8s.io/v1/apiservices/v1.example.com');
    assert.doesNotMatch(JSON.stringify(data), /paths|Unauthorized/);
    assert.ok(!state.status?.conditions?.some((one: Data) => one.status === 'True'), JSON.stringify(state.status));
  });

  for (const [what, spec, field] of [
    ['an invalid time', { startTime: 'yesterday' }, /spec\.startTime/],
    ['an end before the start', { endTime: 'now-2h' }, /spec\.endTime/],
    ['an invalid filter', { filter: 'verb ==' }, /spec\.filter/],
    ['a limit above the maximum', { limit: 100_000 }, /spec\.limit/],
    ['a cursor that was not issued', { continue: 'e30.e30' }, /spec\.continue/],
  ] as const) {
    test(`${what}: 422 with the field`, async () => {
      const { message } = await expect(422, 'POST', 'red', `${base}/auditlogqueries`, { body: query(spec) });
      assert.match(message, field);
    });
  }

  test('a query is answered in pages without gap or repetition, and a filter selects', async () => {
    for (let at = 0; at < 5; at++) {
      await expect(201, 'POST', 'blue', configMaps, { body: { metadata: { name: `page-${at}` } } });
    }
    const filter = 'objectRef.resource == "configmaps" && objectRef.name.startsWith("page-") && verb == "create"';
    const read = async (): Promise<string[]> => {
      const names: string[] = [];
      let next: string | undefined;
      do {
        const body = query({ filter, limit: 2, ...(next && { continue: next }) });
        const { status } = await expect(201, 'POST', 'blue', `${base}/auditlogqueries`, { body });
        names.push(...status.results.map((one: Data) => one.objectRef.name));
        next = status.continue;
      } while (next);
      return names;
    };
    await until('all events are stored', async () => (await read()).length === 5);
    assert.deepEqual((await read()).sort(), ['page-0', 'page-1', 'page-2', 'page-3', 'page-4']);
  });

  test('a watch from the version of a list has every later activity once, and a list in pages is one state', async () => {
    const list = await expect(200, 'GET', 'blue', `${base}/activities?limit=2`);
    const { continue: next, resourceVersion } = list.metadata;
    const answer = await server.clients.transport.request({
      method: 'GET',
      target: `/clusters/blue/control-plane${base}/activities?watch=true&resourceVersion=${resourceVersion}`,
    });
    for (let at = 0; at < 3; at++) {
      await expect(201, 'POST', 'blue', configMaps, { body: { metadata: { name: `watched-${at}` } } });
      await expect(201, 'POST', 'red', configMaps, { body: { metadata: { name: `watched-${at}` } } });
    }
    const seen: string[] = [];
    let text = '';
    for await (const chunk of answer.stream()) {
      text += Buffer.from(chunk).toString();
      const lines = text.split('\n');
      text = lines.pop()!;
      for (const line of lines) {
        const { object } = JSON.parse(line);
        assert.equal(object.spec.plane, 'blue');
        if (object.spec.resource.name?.startsWith('watched-')) seen.push(object.spec.resource.name);
      }
      if (seen.length >= 3) break;
    }
    assert.deepEqual(seen, ['watched-0', 'watched-1', 'watched-2']);
    if (next) {
      const rest = await expect(200, 'GET', 'blue', `${base}/activities?limit=500&continue=${next}`);
      assert.equal(rest.metadata.resourceVersion, resourceVersion);
      assert.ok(!rest.items.some((one: Data) => one.spec.resource.name?.startsWith('watched-')));
    }
  });
});

const patienceMs = 60_000;

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const deadlineMs = performance.now() + patienceMs;
  while (!(await isSo())) {
    assert.ok(performance.now() < deadlineMs, `timed out: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
