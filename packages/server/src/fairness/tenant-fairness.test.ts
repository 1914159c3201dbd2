/** Fairness for requests to a server. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Scheduler } from '@hangar/core/simulation';
import type { ControlPlane } from '../control-plane.ts';
import { configMap, configMaps, TestServer, virtualClock } from '../testing/test-server.ts';
import type { Sent } from '../testing/test-server.ts';
import { FairQueue } from './fair-queue.ts';
import type { Ticket } from './fair-queue.ts';
import { TenantFairness } from './tenant-fairness.ts';
import type { TenantFairnessOptions } from './tenant-fairness.ts';

const group = '/apis/flowcontrol.apiserver.k8s.io/v1';
const jane: Sent = { token: 'jane' };
const uids = ['x-kubernetes-pf-flowschema-uid', 'x-kubernetes-pf-prioritylevel-uid'];

type Options = Partial<TenantFairnessOptions> & { readonly name?: string };

async function start(options: Options = {}, queue?: FairQueue) {
  const clock = virtualClock();
  const shared = queue ?? new FairQueue({ clock });
  let fairness: TenantFairness;
  const server = await TestServer.start({
    clock,
    tokens: [{ token: 'jane', user: 'jane', groups: [] }],
    authorizers: [{ name: 'everybody', authorize: () => 'allow' } as never],
    fairness: (plane) =>
      (fairness = new TenantFairness({
        queue: shared,
        ...options,
        plane: (options.name === undefined ? plane : { ...plane, name: options.name }) as ControlPlane,
      })),
  });
  return {
    server,
    clock,
    queue: shared,
    async [Symbol.asyncDispose]() {
      fairness.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

const statuses = async (server: TestServer, count: number, sent: Sent = {}): Promise<number[]> => {
  const all: number[] = [];
  for (let n = 0; n < count; n++) all.push((await server.request('GET', `${configMaps}/none`, sent)).status);
  return all;
};

test('a request whose credentials are refused is not charged to the next tenant', async () => {
  const queue = new FairQueue({ clock: virtualClock() });
  let refused = 0;
  queue.refusedUnknown = () => void refused++;
  await using one = await start({}, queue);
  assert.deepEqual(await statuses(one.server, 1, jane), [404]);
  assert.equal(refused, 0);
  assert.deepEqual(await statuses(one.server, 1, { token: 'wrong' }), [401]);
  assert.equal(refused, 1);
});

describe('so many requests a second', () => {
  test('are answered, those beyond refused with the limit in the text, and told when to come again', async () => {
    await using one = await start({ name: 'acme', requestsPerSecond: () => 3 });
    const { server, clock } = one;
    assert.deepEqual(await statuses(server, 3), [404, 404, 404]);
    const begunMs = clock.monotonicMs();
    const refused = await server.request('GET', `${configMaps}/none`);
    assert.ok(clock.monotonicMs() - begunMs >= 500, 'not at once');
    assert.equal(refused.status, 429);
    assert.equal(refused.headers['retry-after'], '1');
    assert.deepEqual(refused.data, {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'Too many requests, please try again later: control plane "acme" is limited to 3 requests per second.',
      reason: 'TooManyRequests',
      details: { retryAfterSeconds: 1 },
      code: 429,
    });
    await clock.advance(1_000);
    assert.deepEqual(await statuses(server, 4), [404, 404, 404, 429]);
  });

  test('may change at any time, and are not asked for where the limit is gone', async () => {
    let limit: number | undefined = 1;
    await using one = await start({ name: 'acme', requestsPerSecond: () => limit });
    assert.deepEqual(await statuses(one.server, 2), [404, 429]);
    limit = undefined;
    assert.deepEqual(await statuses(one.server, 20), Array(20).fill(404));
  });

  test('do not count health and version', async () => {
    await using one = await start({ name: 'acme', requestsPerSecond: () => 0 });
    for (const path of ['/livez', '/readyz', '/version']) {
      assert.equal((await one.server.request('GET', path)).status, 200, path);
    }
    assert.deepEqual(await statuses(one.server, 1), [429]);
  });
});

describe('flow schemas', () => {
  test('of the root plane are told with every answer, from its first request on', async () => {
    await using one = await start();
    const { server, clock } = one;
    await statuses(server, 1);
    await clock.advance(10);
    const uidOf = async (path: string) => (await server.get(`${group}/${path}`)).metadata.uid as string;
    const said = async (sent: Sent) => {
      const { headers } = await server.request('GET', `${configMaps}/none`, sent);
      return uids.map((name) => headers[name]);
    };
    assert.deepEqual(await said({}), [
      await uidOf('flowschemas/exempt'),
      await uidOf('prioritylevelconfigurations/exempt'),
    ]);
    assert.deepEqual(await said(jane), [
      await uidOf('flowschemas/global-default'),
      await uidOf('prioritylevelconfigurations/global-default'),
    ]);
  });

  test('of a tenant are not read while nobody has to wait', async () => {
    await using one = await start({ name: 'acme' });
    await statuses(one.server, 50, jane);
    await one.clock.advance(10);
    const { headers } = await one.server.request('GET', `${configMaps}/none`, jane);
    assert.deepEqual(
      uids.filter((name) => name in headers),
      [],
    );
  });

  test('of a tenant count as soon as somebody writes one', async () => {
    await using one = await start({ name: 'acme' });
    const { server, clock } = one;
    const schema = {
      kind: 'FlowSchema',
      apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
      metadata: { name: 'janes' },
      spec: {
        priorityLevelConfiguration: { name: 'workload-high' },
        matchingPrecedence: 50,
        rules: [
          {
            subjects: [{ kind: 'User', user: { name: 'jane' } }],
            resourceRules: [
              { verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] },
            ],
          },
        ],
      },
    };
    const { metadata } = await server.create(`${group}/flowschemas`, schema);
    await clock.advance(10);
    const { headers } = await server.request('GET', `${configMaps}/none`, jane);
    assert.equal(headers[uids[0]!], metadata.uid);
  });
});

describe('who belongs to the privileged group of a tenant and has to wait', () => {
  const administrators = ['system:masters', 'system:authenticated'];
  const asked = (name: string, groups: string[]) => ({
    user: { name, uid: '', groups, extra: {} },
    info: getOne,
    request: {} as never,
  });

  async function full() {
    const clock = virtualClock();
    const queue = new FairQueue({ clock, readOnlyMax: 1, mutatingMax: 1 });
    const reads: string[] = [];
    const server = await TestServer.start({
      clock,
      wrapStore: (store) =>
        new Proxy(store, {
          get: (target, name) => {
            const value = Reflect.get(target, name) as unknown;
            if (typeof value !== 'function') return value;
            return (...given: unknown[]) => {
              if (/flowschemas|prioritylevel/.test(JSON.stringify(given))) reads.push(String(name));
              return Reflect.apply(value, target, given) as unknown;
            };
          },
        }),
    });
    reads.length = 0;
    const fairness = new TenantFairness({ queue, plane: { ...server.plane, name: 'acme' } });
    const sitting = fairness.enter(asked('sits', administrators));
    const leave = () => void sitting.left(empty, undefined);
    return { server, clock, queue, reads, fairness, leave };
  }

  test('goes first without anybody reading flow schemas, which are what they always are', async () => {
    const { server, clock, queue, reads, fairness, leave } = await full();
    await using _ = server;
    const turn = fairness.enter(asked('admin', administrators));
    assert.ok(turn.waiting);
    await clock.advance(10);
    assert.deepEqual(reads, []);
    leave();
    await clock.advance(10);
    await turn.waiting;
    assert.match(
      queue.text(),
      /^apiserver_flowcontrol_dispatched_requests_total\{priority_level="exempt",flow_schema="exempt"\} 1$/m,
    );
    assert.deepEqual(turn.left(empty, undefined).headers, {}, 'nothing is said of objects that were not read');
    fairness.close();
  });

  test('is told of them once they were read for somebody else', async () => {
    const { server, clock, reads, fairness, leave } = await full();
    await using _ = server;
    const other = fairness.enter(asked('jane', []));
    await clock.advance(10);
    assert.notDeepEqual(reads, []);
    leave();
    await clock.advance(10);
    await other.waiting;
    other.left(empty, undefined);
    const { headers } = fairness.enter(asked('admin', administrators)).left(empty, undefined);
    const { metadata } = await server.get(`${group}/flowschemas/exempt`);
    assert.equal(headers[uids[0]!], metadata.uid);
    fairness.close();
  });
});

describe('who waits', () => {
  /** One seat, which is taken, as if the webhooks of a plane did not respond. */
  const oneSeat = (clock: Scheduler) => new FairQueue({ clock, readOnlyMax: 1, mutatingMax: 1, waitMaxMs: 2_000 });

  test('is refused in the end; the root plane is never kept from its administrators', async () => {
    const clock = virtualClock();
    const queue = oneSeat(clock);
    let fairness: TenantFairness | undefined;
    await using server = await TestServer.start({
      clock,
      tokens: [{ token: 'jane', user: 'jane', groups: [] }],
      authorizers: [{ name: 'everybody', authorize: () => 'allow' } as never],
      fairness: (plane) => (fairness = new TenantFairness({ queue, plane })),
    });
    const { user, info } = { user: { name: 'x', uid: '', groups: [], extra: {} }, info: getOne };
    const sitting = fairness!.enter({ user, info, request: {} as never });
    assert.equal(sitting.waiting, undefined);
    assert.deepEqual(await statuses(server, 1, jane), [429]);
    assert.deepEqual(await statuses(server, 1), [404]);
    sitting.left(empty, undefined);
    assert.deepEqual(await statuses(server, 1, jane), [404]);
    fairness!.close();
  });

  test('is counted', async () => {
    const clock = virtualClock();
    await using one = await start({ name: 'acme', requestsPerSecond: () => 1 });
    await statuses(one.server, 2, jane);
    await clock.advance(10);
    assert.match(
      one.queue.text(),
      /^apiserver_flowcontrol_rejected_requests_total\{priority_level="",flow_schema="",reason="rate-limit"\} 1$/m,
    );
  });
});

test('a watch has no seat once it has begun, and its watchers are counted until it ends', async () => {
  const clock = virtualClock();
  const charged: number[] = [];
  class Watched extends FairQueue {
    override charge(ticket: Ticket, laterMs: number): void {
      charged.push(laterMs);
      super.charge(ticket, laterMs);
    }
  }
  const queue = new Watched({ clock, readOnlyMax: 1, mutatingMax: 1 });
  let fairness: TenantFairness | undefined;
  await using server = await TestServer.start({
    clock,
    fairness: (plane) => (fairness = new TenantFairness({ queue, plane: { ...plane, name: 'acme' } })),
  });
  /** Returns the estimated later cost of a write, without the bytes of its response. */
  const written = async (path: string, object: object): Promise<number> => {
    charged.length = 0;
    const { bytes } = await server.request('POST', path, { body: object });
    assert.equal(charged.length, 1);
    return Math.round((charged[0]! - bytes.length / 1_048_576) * 1e6) / 1e6;
  };
  const alone = await written(configMaps, configMap('alone'));
  const watches = [await server.watch(`${configMaps}?watch=true`), await server.watch(`${configMaps}?watch=true`)];
  assert.deepEqual(await watches[0]!.told(1), ['ADDED alone']);
  const watched = await written(configMaps, configMap('watched'));
  assert.ok(Math.abs(watched - alone - 0.02) < 1e-6, `${alone} alone, ${watched} with two who watch`);
  const secret = { kind: 'Secret', apiVersion: 'v1', metadata: { name: 'a' } };
  assert.equal(await written('/api/v1/namespaces/default/secrets', secret), alone, 'of other kinds nobody is told');
  watches[0]!.close();
  const byOne = await written(configMaps, configMap('by-one'));
  assert.ok(Math.abs(byOne - alone - 0.01) < 1e-6, `${byOne}`);
  watches[1]!.close();
  assert.equal(await written(configMaps, configMap('by-none')), alone);
  fairness!.close();
});

const empty = { status: 200, headers: {}, body: new Uint8Array() };

const getOne = {
  isResource: true,
  verb: 'get',
  group: '',
  version: 'v1',
  resource: 'configmaps',
  namespace: 'default',
  name: 'a',
  subresource: '',
  rest: '',
} as const;
