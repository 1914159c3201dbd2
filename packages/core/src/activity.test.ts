import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Activity, currentActivity, detachedClock, runActivity, runForTenant } from './activity.ts';
import { breathe, systemClock } from './clock.ts';

describe('an activity', () => {
  test('is known in every slice of its work, with other work in between, and nowhere else', async () => {
    const seen: string[] = [];
    const work = async (name: string): Promise<void> => {
      for (let slice = 0; slice < 3; slice++) {
        seen.push(`${name} ${currentActivity()?.resource}`);
        await breathe(systemClock);
      }
    };
    await Promise.all(['a', 'b'].map((name) => runActivity(new Activity('GET', name), () => work(name))));
    assert.deepEqual(seen, ['a a', 'b b', 'a a', 'b b', 'a a', 'b b']);
    assert.equal(currentActivity(), undefined);
  });

  test('is accountable when the tenant has issued the credentials, not before, and not for platform administrators', () => {
    const activity = new Activity('GET', '/');
    activity.enterTenant('shop');
    assert.equal(activity.isAccountable, false);
    activity.authenticated('ada', true);
    assert.equal(activity.isAccountable, true);
    activity.authenticated('root-admin', false);
    assert.equal(activity.isAccountable, false);
  });

  test('of the platform for a tenant is accountable, as whichever user it enters', () => {
    runForTenant({ tenant: 'shop', user: 'system:hangar:controllers', verb: 'reconcile', resource: 'x' }, () => {
      currentActivity()!.authenticated('somebody', false);
      assert.equal(currentActivity()!.isAccountable, true);
      assert.equal(currentActivity()!.user, 'system:hangar:controllers');
    });
  });

  test('does not reach what a detached clock runs', async () => {
    const seen: unknown[] = [];
    await runActivity(new Activity('GET', '/'), () => {
      const clock = detachedClock(systemClock);
      const note = (resolve: () => void) => (): void => {
        seen.push(currentActivity());
        resolve();
      };
      return Promise.all([
        new Promise<void>((resolve) => clock.soon(note(resolve))),
        new Promise<void>((resolve) => clock.after(1, note(resolve))),
      ]);
    });
    assert.deepEqual(seen, [undefined, undefined]);
  });
});
