/** Requests that arrive while their tenant is being opened, and concurrent events. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { seededRandom } from '@hangar/core';
import { Scheduler } from '@hangar/core/simulation';
import { openMemoryStore, StoreError } from '@hangar/store';
import type { Store } from '@hangar/store';
import { ForwardingStore } from '../objects/forwarding-store.ts';
import { planePath, tenants, TenancyServer } from '../testing/tenancy-server.ts';
import type { OpenTenant } from './open-tenant.ts';
import { OpenTenants } from './open-tenants.ts';
import type { Tenant } from './tenant.ts';

/** Store whose next list waits or fails. */
class SlowStore extends ForwardingStore implements AsyncDisposable {
  #act: (() => Promise<void>) | undefined;

  override async range(...asked: Parameters<Store['range']>): ReturnType<Store['range']> {
    const act = this.#act;
    if (act && JSON.stringify(asked[0]).includes('/registry/clusters/demo/')) {
      this.#act = undefined;
      await act();
    }
    return super.range(...asked);
  }

  /** `held` resolves when a list starts to wait. */
  hold(): { held: Promise<void>; release: () => void } {
    const [held, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    this.#act = () => {
      held.resolve();
      return released.promise;
    };
    return { held: held.promise, release: released.resolve };
  }

  fail(): void {
    this.#act = () => Promise.reject(new StoreError('Unavailable', 'no leader'));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

const atOnce = { tenancy: { strangersPaceMs: 0 } };
const namespaces = `${planePath('demo')}/api/v1/namespaces`;

describe('while a tenant is being opened', () => {
  const suspend = (server: TenancyServer, suspension: string | null) =>
    server.expect(200, 'PATCH', `${tenants}/demo`, {
      body: { spec: { suspension } },
      contentType: 'application/merge-patch+json',
    });
  const happenings: Readonly<Record<string, [number, (server: TenancyServer) => Promise<unknown>]>> = {
    'it is made independent': [200, (server) => server.expect(200, 'POST', `${tenants}/demo/materialise`)],
    'it is suspended to nothing': [503, (server) => suspend(server, 'Offline')],
    'it is suspended and resumed': [
      200,
      async (server) => {
        await suspend(server, 'Offline');
        await suspend(server, null);
      },
    ],
    'it is suspended to reads': [200, (server) => suspend(server, 'ReadOnly')],
    'it is destroyed': [404, (server) => server.expect(200, 'DELETE', `${tenants}/demo`)],
    'it is destroyed and made anew': [
      200,
      async (server) => {
        await server.expect(200, 'DELETE', `${tenants}/demo`);
        await server.make('demo');
      },
    ],
  };
  for (const [what, [status, act]] of Object.entries(happenings)) {
    test(`${what}: who waits is answered by what it is then`, async () => {
      await using store = new SlowStore(await openMemoryStore());
      await using server = await TenancyServer.open({ ...atOnce, store });
      await server.make('demo', { deletionPolicy: 'Destroy' });
      const { held, release } = store.hold();
      const asking = server.request('GET', namespaces);
      await held;
      await act(server);
      release();
      const answer = await asking;
      assert.equal(answer.status, status, answer.text);
      if (status === 503) assert.match(answer.data.message, /is suspended/);
      assert.deepEqual(server.problems, []);
    });
  }

  test('it turns out that it cannot be: strangers do not learn of it, others try again', async () => {
    await using store = new SlowStore(await openMemoryStore());
    await using server = await TenancyServer.open({ ...atOnce, store });
    await server.make('demo');
    const { held, release } = store.hold();
    const known = server.answer('GET', namespaces);
    await held;
    const stranger = server.answer('GET', namespaces, { token: 'junk' });
    // Opening a tenant lists more than once.
    store.fail();
    release();
    assert.deepEqual([(await known).status, (await stranger).status], [503, 401]);
    assert.equal(server.problems.length, 1);
    assert.equal((await server.answer('GET', namespaces)).status, 200);
  });
});

describe('open tenants', () => {
  const one: Tenant = { path: 'a', uid: 'a', revision: 1, madeAt: 1, spec: {} } as unknown as Tenant;
  const opened = (closed: string[], name = 'a'): OpenTenant =>
    ({ close: () => closed.push(name) }) as unknown as OpenTenant;

  test('are given up when they take too long, and closed when they come after all', async () => {
    const clock = new Scheduler(seededRandom(1));
    const closed: string[] = [];
    const late = Promise.withResolvers<OpenTenant>();
    const answers = [late.promise, Promise.resolve(opened(closed, 'second'))];
    const open = new OpenTenants({ clock, openingMaxMs: 10_000, open: () => answers.shift()! });
    await assert.rejects(clock.run(open.enter(one)), /timed out opening a tenant after 10000 ms/);
    assert.equal(clock.monotonicMs(), 10_000);
    assert.equal(open.size, 0);
    const visit = await clock.run(open.enter(one));
    late.resolve(opened(closed, 'first'));
    await clock.advance(0);
    assert.deepEqual(closed, ['first']);
    visit!.leave();
    open.close();
  });

  test('are closed when they were idle for so long, each of them', async () => {
    const clock = new Scheduler(seededRandom(1));
    const closed: string[] = [];
    const open = new OpenTenants({
      clock,
      idleMs: 30_000,
      open: (link) => Promise.resolve(opened(closed, link.tenant().path)),
    });
    for (const path of ['a', 'b']) {
      (await clock.run(open.enter({ ...one, path, uid: path })))!.leave();
      await clock.advance(20_000);
    }
    assert.deepEqual(closed, ['a']);
    await clock.advance(9_000);
    assert.deepEqual(closed, ['a']);
    await clock.advance(1_001);
    assert.deepEqual(closed, ['a', 'b'], 'and not when the timer comes around a second time');
    assert.equal(open.size, 0);
  });
});
