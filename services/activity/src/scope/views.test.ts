import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '@hangar/core';
import type { AggregatedView, ServerRequest, User } from '@hangar/server/library';
import type { VisiblePlanes } from '../storage/contract.ts';
import type { PlaneDirectory } from './directory.ts';
import type { Scope } from './scope.ts';
import { parentName, parentType, scopedViews } from './views.ts';

const shop = { name: 'shop', sinceUs: 1 };
const lab = { name: 'lab', sinceUs: 2 };
const directory: PlaneDirectory = {
  plane: () => Promise.resolve(undefined),
  planesOf: (organization) => Promise.resolve(organization === 'acme' ? [shop, lab] : []),
  planeOf: (project) => Promise.resolve(project === 'shop' ? shop : undefined),
};
const activities = '/apis/activity.miloapis.com/v1alpha1/activities';
const requestOf = (target: string): ServerRequest => ({ target, peer: { address: '127.0.0.1' } }) as ServerRequest;
const view: AggregatedView = { handle: () => Promise.reject(new Error('no request is sent')), close: () => {} };

/** Returns the control planes that a user of the management plane may read; undefined: the view of the platform. */
async function planesOf(extra: User['extra']): Promise<VisiblePlanes | undefined> {
  let opened: Scope | undefined;
  const select = scopedViews({
    directory,
    clock: systemClock,
    kindsOf(scope) {
      opened = scope;
      return [];
    },
  });
  const user: User = { name: 'kim', uid: '', groups: [], extra };
  const selected = await select(requestOf(activities), { open: () => view, proxiedUserOf: () => user });
  assert.equal(selected === undefined, opened === undefined);
  return opened?.planes();
}

test('the extras of a user narrow the view to a project or to the projects of an organization', async () => {
  assert.equal(await planesOf({ scopes: ['a'] }), undefined);
  assert.deepEqual(await planesOf({ [parentType]: ['Project'], [parentName]: ['shop'] }), [shop]);
  assert.deepEqual(await planesOf({ [parentType]: ['Organization'], [parentName]: ['acme'] }), [shop, lab]);
  assert.deepEqual(await planesOf({ [parentType]: ['Organization'], [parentName]: ['other'] }), []);
});

test('extras that do not name one scope are refused', async () => {
  for (const [types, names] of [
    [['Project'], ['unknown']],
    [['Planet'], ['shop']],
    [['Organization'], ['']],
    [['Project'], []],
    [[], ['shop']],
    [
      ['Project', 'Organization'],
      ['shop', 'acme'],
    ],
  ]) {
    await assert.rejects(planesOf({ [parentType]: types!, [parentName]: names! }), { code: 'Forbidden' });
  }
});

test('requests that do not come from a front proxy get 401, except for health and version', async () => {
  const select = scopedViews({ directory, clock: systemClock, kindsOf: () => [] });
  const world = { open: () => view, proxiedUserOf: () => undefined };
  for (const target of [activities, `${activities}?watch=true`, '/apis', '/openapi/v3', '/metrics', '/', '//livez']) {
    await assert.rejects(async () => select(requestOf(target), world), { code: 'Unauthorized' }, target);
  }
  for (const target of ['/livez', '/readyz?verbose', '/healthz/ping', '/version']) {
    assert.equal(await select(requestOf(target), world), undefined);
  }
});
