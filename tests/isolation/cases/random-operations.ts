/**
 * Random operations in several tenants and at the management plane, against a model of their contents. Everything that a tenant stores
 * contains its marker, and a tenant that was destroyed and recreated has another one: no answer, event, error or metric for one of them
 * contains the marker of another, and no key of one of them holds it.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { everything } from '@hangar/store';
import type { StoreEvent } from '@hangar/store';
import { definition, definitions } from '../../../packages/server/src/testing/test-server.ts';
import type { TestWatch } from '../../../packages/server/src/testing/test-server.ts';
import { inDefault, garbage, isMarked, marker, planePath, rbac, tenants } from '../testing/world.ts';
import type { Sent, World } from '../testing/world.ts';

const configMaps = `${inDefault}/configmaps`;
const mergePatch = 'application/merge-patch+json';
const names = ['clusters', 'control-plane', 'shared', 'x'];

interface Life {
  readonly marker: string;
  /** name → value; absent: does not exist. */
  readonly objects: Map<string, string>;
  readonly watches: TestWatch[];
  hasDefinition: boolean;
}

/** One control plane: a tenant, or `root`. */
class Model {
  readonly name: string;
  life: Life = newLife();
  suspension: 'ReadOnly' | 'Offline' | undefined;
  /** Continue token of the last list. */
  token = '';
  version = '1';
  etag = '"x"';

  constructor(name: string) {
    this.name = name;
  }

  get plane(): string {
    return this.name === 'root' ? '' : planePath(this.name);
  }
}

const newLife = (): Life => ({ marker: marker(), objects: new Map(), watches: [], hasDefinition: false });

const ordinary = [
  'create',
  'update',
  'patch',
  'apply',
  'delete',
  'delete all',
  'get',
  'list',
  'page',
  'replayed page',
  'replayed version',
  'replayed tag',
  'watch',
  'secret',
  'namespace',
  'role',
  'define',
  'undefine',
  'custom',
  'documents',
  'errors',
  'figures',
  'intrude',
] as const;

const ofLife = ['destroy and make again', 'retain and adopt', 'suspend', 'resume', 'resume', 'close', 'close'] as const;

type Operation = (typeof ordinary)[number] | (typeof ofLife)[number];

interface Step {
  readonly at: number;
  readonly other: number;
  readonly name: string;
  readonly operation: Operation;
}

/** One run: several control planes, and everything that they ever returned or stored. */
class Run {
  readonly #world: World;
  readonly #planes: readonly Model[];
  /** Of all lives, also past ones: the marker → its owner. */
  readonly #markers = new Map<string, Life>();
  #count = 0;

  constructor(world: World, planes: readonly Model[]) {
    this.#world = world;
    this.#planes = planes;
    for (const { life } of planes) this.#markers.set(life.marker, life);
  }

  async begin(): Promise<void> {
    for (const one of this.#planes) {
      if (one.name !== 'root') await this.#world.server.make(one.name, { deletionPolicy: 'Destroy' });
      const metadata = { name: `of-${one.life.marker}` };
      await this.#ask(one, 'POST', '/api/v1/namespaces', { body: { metadata } }, 201);
    }
  }

  async step({ at, other, name, operation }: Step): Promise<void> {
    const one = this.#planes[at % this.#planes.length]!;
    const foreign = this.#planes[(at + 1 + (other % (this.#planes.length - 1))) % this.#planes.length]!;
    const value = `${one.life.marker}-${++this.#count}`;
    const body = { metadata: { name, annotations: { value }, labels: { mark: one.life.marker } }, data: { value } };
    const { objects } = one.life;
    const isKnown = objects.has(name);
    const path = `${configMaps}/${name}`;
    switch (operation) {
      case 'create':
        if (await this.#write(one, 'POST', configMaps, { body }, isKnown ? 409 : 201)) objects.set(name, value);
        break;
      case 'update':
        if (await this.#write(one, 'PUT', path, { body }, isKnown ? 200 : 404)) objects.set(name, value);
        break;
      case 'patch':
        if (
          await this.#write(
            one,
            'PATCH',
            path,
            { body: { data: { value } }, contentType: mergePatch },
            isKnown ? 200 : 404,
          )
        )
          objects.set(name, value);
        break;
      case 'apply': {
        const applied = { apiVersion: 'v1', kind: 'ConfigMap', ...body };
        const sent = { body: applied, contentType: 'application/apply-patch+yaml' };
        const target = `${path}?fieldManager=${one.life.marker}&force=true`;
        if (await this.#write(one, 'PATCH', target, sent, isKnown ? 200 : 201)) objects.set(name, value);
        break;
      }
      case 'delete':
        if (await this.#write(one, 'DELETE', path, {}, isKnown ? 200 : 404)) objects.delete(name);
        break;
      case 'delete all':
        if (await this.#write(one, 'DELETE', `${configMaps}?labelSelector=mark`, {}, 200)) objects.clear();
        break;
      case 'get': {
        const received = await this.#read(one, path, isKnown ? 200 : 404);
        if (received?.status === 200) assert.equal(received.data.data.value, objects.get(name));
        break;
      }
      case 'list': {
        const received = await this.#read(one, `${configMaps}?labelSelector=mark`, 200);
        if (!received) break;
        const listed = received.data.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name);
        assert.deepEqual(listed, [...objects.keys()].sort());
        one.version = received.data.metadata.resourceVersion as string;
        break;
      }
      case 'page': {
        const received = await this.#read(one, '/api/v1/configmaps?limit=1', 200);
        one.token = (received?.data.metadata.continue as string | undefined) ?? one.token;
        break;
      }
      case 'replayed page':
        await this.#read(one, `/api/v1/configmaps?limit=9&continue=${encodeURIComponent(foreign.token)}`);
        break;
      case 'replayed version':
        await this.#read(one, `/api/v1/configmaps?resourceVersion=${foreign.version}&resourceVersionMatch=Exact`);
        break;
      case 'replayed tag': {
        const headers = { 'if-none-match': foreign.etag };
        const received = await this.#ask(one, 'GET', '/openapi/v3/apis/example.com/v1', { headers });
        one.etag = String(received.headers['etag'] ?? one.etag);
        break;
      }
      case 'watch':
        if (one.suspension === 'Offline' || one.life.watches.length > 2) break;
        one.life.watches.push(await this.#world.server.watch(`${one.plane}/api/v1/configmaps?watch=true`));
        break;
      case 'secret':
        await this.#ask(one, 'POST', `${inDefault}/secrets`, {
          body: { metadata: { name: value }, stringData: { value } },
        });
        break;
      case 'namespace':
        await this.#ask(one, 'POST', '/api/v1/namespaces', { body: { metadata: { name: value } } });
        break;
      case 'role': {
        const sent = { body: { metadata: { annotations: { value } } }, contentType: mergePatch };
        await this.#ask(one, 'PATCH', `${rbac}/clusterroles/view`, sent);
        break;
      }
      case 'define': {
        const described = definition({ spec: { size: { type: 'integer', description: one.life.marker } } });
        const { hasDefinition } = one.life;
        if (await this.#write(one, 'POST', definitions, { body: described }, hasDefinition ? 409 : 201))
          one.life.hasDefinition = true;
        break;
      }
      case 'undefine': {
        if (!one.life.hasDefinition) break;
        if (await this.#write(one, 'DELETE', `${definitions}/widgets.example.com`, {}, 200)) {
          // It is deleted when its objects are.
          const isGone = async (): Promise<boolean> =>
            (await this.#ask(one, 'GET', `${definitions}/widgets.example.com`)).status === 404;
          for (let wait = 0; wait < 200 && !(await isGone()); wait++)
            await new Promise((resolve) => setTimeout(resolve, 5));
          one.life.hasDefinition = false;
        }
        break;
      }
      case 'custom': {
        const widget = { kind: 'Widget', apiVersion: 'example.com/v1', metadata: body.metadata, spec: { size: 1 } };
        const target = '/apis/example.com/v1/namespaces/default/widgets';
        const { status } = await this.#ask(one, 'POST', target, { body: widget });
        if (!one.life.hasDefinition && one.suspension === undefined) assert.equal(status, 404);
        break;
      }
      case 'documents':
        for (const target of ['/apis', '/', '/openapi/v3/apis/example.com/v1', definitions]) {
          const { status, text } = await this.#ask(one, 'GET', target);
          // Its own texts are in its own schema, also if another tenant has a definition of the same name.
          const isDescribed = one.life.hasDefinition && status === 200 && !['/apis', '/'].includes(target);
          if (isDescribed) assert.ok(text.includes(one.life.marker), `${target} is not of ${one.name}`);
        }
        break;
      case 'errors':
        for (const [method, target] of [
          ['GET', `${configMaps}/${'y'.repeat(3_000)}`],
          ['GET', `/api/v1/configmaps?continue=${foreign.life.marker.length}`],
          ['POST', `${configMaps}/x/y/z`],
          ['DELETE', `/api/v1/namespaces/${name}`],
          ['GET', `/clusters/${foreign.name}/control-plane${configMaps}`],
        ] as const) {
          if (one.name !== 'root' || !target.startsWith('/clusters/')) await this.#ask(one, method, target);
        }
        break;
      case 'figures':
        await this.#ask(one, 'GET', '/metrics');
        this.#hasNoMarkers(this.#world.server.tenancy.metricsText(), undefined);
        break;
      case 'intrude':
        for (const shown of [this.#world.ada.administrator, this.#world.ada.robot, garbage]) {
          const { status, text } = await this.#world.ask('GET', `${one.plane}${path}`, shown);
          assert.equal(status, 401);
          this.#hasNoMarkers(text, undefined);
        }
        break;
      case 'destroy and make again':
        if (one.name !== 'root') await this.#again(one);
        break;
      case 'retain and adopt':
        if (one.name !== 'root') await this.#adopt(one);
        break;
      case 'suspend':
        if (one.name !== 'root') await this.#suspend(one, at % 2 ? 'ReadOnly' : 'Offline');
        break;
      case 'resume':
        if (one.name !== 'root') await this.#suspend(one, undefined);
        break;
      case 'close':
        this.#world.server.tenancy.open.drop(one.name);
        break;
    }
  }

  /** Checks the events of watches, and the final content of the store. */
  async end(events: readonly StoreEvent[]): Promise<void> {
    for (const life of this.#markers.values()) this.#checkWatches(life);
    for (const event of events) {
      if (event.type === 'put') this.#isInPlace(event.entry.key, event.entry.value);
    }
    const { entries } = await this.#world.server.store.range(everything);
    for (const { key, value } of entries) this.#isInPlace(key, value);
    for (const one of this.#planes) {
      if (one.name !== 'root') await this.#world.expect(200, 'DELETE', `${tenants}/${one.name}`);
    }
  }

  /** Asserts that a marker is only in the keys of its own control plane. */
  #isInPlace(key: string, value: Uint8Array): void {
    const text = `${key}${Buffer.from(value).toString()}`;
    for (const one of this.#planes) {
      if (key.startsWith(`/registry/clusters/${one.name}/`)) continue;
      assert.ok(!isMarked(text, one.life.marker), `the marker of ${one.name} is in ${key}`);
    }
  }

  #checkWatches(life: Life): void {
    for (const { sink } of life.watches) this.#hasNoMarkers(Buffer.concat(sink.chunks).toString(), life);
  }

  #hasNoMarkers(text: string, except: Life | undefined): void {
    for (const [known, life] of this.#markers) {
      if (life !== except) assert.ok(!isMarked(text, known), `a marker crossed: ${text.slice(0, 300)}`);
    }
  }

  async #ask(one: Model, method: string, target: string, sent: Sent = {}, expected?: number) {
    const received = await this.#world.ask(method, one.plane + target, sent);
    const what = `${method} ${one.name} ${target.slice(0, 200)}: ${received.status} ${received.text.slice(0, 300)}`;
    if (expected !== undefined) assert.equal(received.status, expected, what);
    assert.notEqual(received.status, 500, what);
    this.#hasNoMarkers(received.text + JSON.stringify(received.headers), one.life);
    return received;
  }

  /** Resolves with whether it was done; a suspended control plane refuses. */
  async #write(one: Model, method: string, target: string, sent: Sent, expected: number): Promise<boolean> {
    const refusal = one.suspension && { ReadOnly: 403, Offline: 503 }[one.suspension];
    await this.#ask(one, method, target, sent, refusal ?? expected);
    return refusal === undefined && expected < 300;
  }

  async #read(one: Model, target: string, expected?: number) {
    const isOffline = one.suspension === 'Offline';
    const received = await this.#ask(one, 'GET', target, {}, isOffline ? 503 : expected);
    return isOffline ? undefined : received;
  }

  async #again(one: Model): Promise<void> {
    const { life } = one;
    await this.#world.expect(200, 'DELETE', `${tenants}/${one.name}`);
    assert.deepEqual(await this.#world.entriesOf(`/registry/clusters/${one.name}/`), []);
    await this.#world.server.make(one.name, { deletionPolicy: 'Destroy' });
    one.life = newLife();
    one.suspension = undefined;
    this.#markers.set(one.life.marker, one.life);
    await this.#ask(one, 'POST', '/api/v1/namespaces', { body: { metadata: { name: `of-${one.life.marker}` } } }, 201);
    for (const watch of life.watches) await watch.ended();
  }

  async #adopt(one: Model): Promise<void> {
    await this.#patch(one, { deletionPolicy: 'Retain' });
    await this.#world.expect(200, 'DELETE', `${tenants}/${one.name}`);
    const { status } = await this.#world.ask('GET', `${one.plane}${configMaps}`, {});
    assert.equal(status, 404);
    await this.#world.server.make(one.name, { deletionPolicy: 'Destroy' });
    one.suspension = undefined;
  }

  async #suspend(one: Model, suspension: Model['suspension']): Promise<void> {
    await this.#patch(one, { suspension: suspension ?? null });
    one.suspension = suspension;
  }

  async #patch(one: Model, spec: object): Promise<void> {
    await this.#world.expect(200, 'PATCH', `${tenants}/${one.name}`, { body: { spec }, contentType: mergePatch });
  }
}

export function randomCases(get: () => World, runsByDefault: number): void {
  const numRuns = Number(process.env['HANGAR_ISOLATION_RUNS'] ?? runsByDefault);
  const step = fc.record({
    at: fc.nat(100),
    other: fc.nat(100),
    name: fc.constantFrom(...names),
    operation: fc.oneof(
      { weight: 12, arbitrary: fc.constantFrom<Operation>(...ordinary) },
      { weight: 1, arbitrary: fc.constantFrom<Operation>(...ofLife) },
    ),
  });

  describe('random operations', () => {
    test('in many tenants: every one is as its model says, and no byte of one is ever in another', async () => {
      const world = get();
      let runs = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 80, maxLength: 160, size: 'max' }), async (steps) => {
          runs++;
          const models = ['a', 'b', 'c', 'd'].map((name) => new Model(`run-${runs}-${name}`));
          const run = new Run(world, [...models, new Model('root')]);
          const watch = world.server.store.watch({ prefix: '' });
          const events: StoreEvent[] = [];
          const watching = (async () => {
            for await (const batch of watch) events.push(...batch.events);
          })();
          await run.begin();
          for (const one of steps) await run.step(one);
          await run.end(events);
          watch.close();
          await watching;
          await world.expect(200, 'DELETE', `${configMaps}?labelSelector=mark`);
          await world.ask('DELETE', `${definitions}/widgets.example.com`, {});
        }),
        { numRuns, seed: Number(process.env['HANGAR_ISOLATION_SEED'] ?? 5), endOnFailure: true },
      );
    });
  });
}
