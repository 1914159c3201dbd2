import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Scheduler } from '@hangar/core/simulation';
import type { ServerRequest } from '../../http/message.ts';
import { sentRequest, virtualClock } from '../../testing/test-server.ts';
import type { Tenant } from '../tenant.ts';
import { HeldRequests } from './held-requests.ts';
import type { HeldRequestsOptions } from './held-requests.ts';

const request = sentRequest('GET', '/api');
const heldAt = (ms: number): string => new Date(ms).toISOString();

interface World {
  readonly clock: Scheduler;
  readonly held: HeldRequests;
  wait(path?: string, asked?: ServerRequest): Promise<string>;
  release(path?: string): void;
}

function world(options: Partial<HeldRequestsOptions> = {}): World {
  const clock = virtualClock();
  const held = new HeldRequests({ clock, ...options });
  const releasedPaths = new Set<string>();
  return {
    clock,
    held,
    async wait(path = 'demo', asked = request) {
      const serving = { mode: 'Local' as const, heldBy: 'm', heldAt: heldAt(clock.now()) };
      const tenant = { path, serving } as unknown as Tenant;
      const isHeld = (): boolean => !releasedPaths.has(path);
      const refusal = await held.wait(tenant, asked, { sinceMs: clock.monotonicMs(), isHeld });
      return refusal ? refusal.code : 'released';
    },
    release(path = 'demo') {
      releasedPaths.add(path);
      held.changed(path);
    },
  };
}

describe('a request to a held tenant', () => {
  test('waits until the tenant is released', async () => {
    const { held, wait, release } = world();
    const waiting = [wait(), wait()];
    assert.equal(held.count('demo'), 2);
    held.changed('demo');
    assert.equal(held.count('demo'), 2, 'another change of the tenant does not end the wait');
    release();
    assert.deepEqual(await Promise.all(waiting), ['released', 'released']);
    assert.equal(held.count('demo'), 0);
  });

  test('is refused after the longest wait', async () => {
    const { clock, held, wait } = world({ waitMaxMs: 500 });
    const waiting = wait();
    await clock.advance(499);
    assert.equal(held.count('demo'), 1);
    await clock.advance(2);
    assert.equal(await waiting, 'ServiceUnavailable');
    assert.equal(held.count('demo'), 0);
  });

  test('is refused at once when too many wait, of its tenant or of all', async () => {
    const { held, wait, release } = world({ perTenantMax: 2, totalMax: 3 });
    const waiting = [wait('a'), wait('a'), wait('b')];
    assert.equal(await wait('a'), 'ServiceUnavailable');
    assert.equal(await wait('b'), 'ServiceUnavailable');
    release('a');
    release('b');
    assert.deepEqual(await Promise.all(waiting), ['released', 'released', 'released']);
    assert.equal(held.count('a') + held.count('b'), 0);
  });

  test('does not wait for a migration that no longer renews its hold', async () => {
    const { clock, held } = world();
    const serving = { mode: 'Local' as const, heldBy: 'm', heldAt: heldAt(clock.now() - 61_000) };
    const tenant = { path: 'demo', serving } as unknown as Tenant;
    const refusal = await held.wait(tenant, request, { sinceMs: clock.monotonicMs(), isHeld: () => true });
    assert.equal(refusal?.code, 'ServiceUnavailable');
  });

  test('stops waiting when its client disconnects', async () => {
    const { held, wait } = world();
    let gone: (() => void) | undefined;
    const passing = { body: undefined as never, onGone: (callback: () => void) => ((gone = callback), () => {}) };
    const waiting = wait('demo', { ...request, passing });
    gone!();
    assert.equal(await waiting, 'ServiceUnavailable');
    assert.equal(held.count('demo'), 0);
  });
});
