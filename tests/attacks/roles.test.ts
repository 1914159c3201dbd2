/**
 * Roles that cost the server time: chains of aggregated ClusterRoles, roles and bindings with thousands of rules. Measures the CPU time of
 * single turns of the event loop, in which no other tenant is served.
 */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { TenancyServer } from '../../packages/server/src/testing/tenancy-server.ts';
import type { Data } from './testing/client.ts';
import { bestLongestTurnMs } from './testing/longest-turn.ts';

const rbac = '/apis/rbac.authorization.k8s.io/v1';
const roles = `${rbac}/clusterroles`;
/** The limit of a turn, with the time of a loaded machine's garbage collection. */
const turnMaxMs = 50;

let server: TenancyServer;
let plane: string;
before(async () => {
  server = await TenancyServer.open();
  plane = await server.make('red');
});
after(() => server[Symbol.asyncDispose]());

const rule = (resource: string): object => ({ verbs: ['get'], apiGroups: ['example.com'], resources: [resource] });
const create = (path: string, body: object): Promise<Data> => server.expect(201, 'POST', plane + path, { body });
const merge = (path: string, body: object): Promise<Data> =>
  server.expect(200, 'PATCH', plane + path, { body, contentType: 'application/merge-patch+json' });

async function untilCollected(name: string, resource: string): Promise<void> {
  for (;;) {
    const { rules } = await server.expect(200, 'GET', `${plane}${roles}/${name}`);
    if ((rules ?? []).some((one: Data) => one.resources[0] === resource)) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

describe('aggregated ClusterRoles', () => {
  test('a chain of 160 does not stop the server when its first role changes', async () => {
    const length = 160;
    for (let at = 0; at < length; at++) {
      await create(roles, {
        metadata: { name: `c${at}`, labels: { to: `c${at + 1}` } },
        aggregationRule: { clusterRoleSelectors: [{ matchLabels: { to: `c${at}` } }] },
      });
      await create(roles, { metadata: { name: `leaf${at}`, labels: { to: `c${at}` } }, rules: [rule(`r${at}`)] });
    }
    await untilCollected(`c${length - 1}`, 'r0');
    const longestMs = await bestLongestTurnMs(async (attempt) => {
      await merge(`${roles}/leaf0`, { rules: [rule(`changed${attempt}`)] });
      await untilCollected(`c${length - 1}`, `changed${attempt}`);
    });
    assert.ok(longestMs < turnMaxMs, `${longestMs} ms`);
  });

  test('a chain that collects more than the limit stops growing, and other roles are still collected', async () => {
    const big = (name: string): object => ({
      metadata: { name, labels: { big: 'yes' } },
      rules: Array.from({ length: 2_000 }, (_, at) => rule(`${name}-${at}`)),
    });
    const collector = { clusterRoleSelectors: [{ matchLabels: { big: 'yes' } }] };
    await create(roles, big('big0'));
    await create(roles, { metadata: { name: 'collector' }, aggregationRule: collector });
    await untilCollected('collector', 'big0-0');
    for (let at = 1; at < 4; at++) await create(roles, big(`big${at}`));
    const view = { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' };
    await create(roles, { metadata: { name: 'small', labels: view }, rules: [rule('small')] });
    await untilCollected('admin', 'small');
    const { rules } = await server.expect(200, 'GET', `${plane}${roles}/collector`);
    assert.ok(rules.length <= 5_000, `${rules.length} rules`);
  });
});

describe('many rules', () => {
  const count = 8_000;
  const owned = Array.from({ length: count }, (_, at) => rule(`r${at}`));
  const paths = Array.from({ length: count }, (_, at) => `/p${at}`);
  const as = (user: string) => ({ headers: { 'impersonate-user': user } });

  before(async () => {
    const writer = { verbs: ['create'], apiGroups: ['rbac.authorization.k8s.io'], resources: ['clusterroles'] };
    await create(roles, { metadata: { name: 'owner' }, rules: [...owned, writer] });
    await create(roles, { metadata: { name: 'paths' }, rules: [{ verbs: ['get'], nonResourceURLs: paths }] });
    for (const name of ['owner', 'paths']) {
      for (let at = 0; at < 20; at++) {
        await create(`${rbac}/clusterrolebindings`, {
          metadata: { name: `${name}-${at}` },
          subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'mallory' }],
          roleRef: { kind: 'ClusterRole', apiGroup: 'rbac.authorization.k8s.io', name },
        });
      }
    }
  });

  test('of a user are searched in slices for every new question', async () => {
    const longestMs = await bestLongestTurnMs(async (attempt) => {
      for (const path of [`/apis/example.com/v1/unknown${attempt}`, `/unknown${attempt}`, `/p${count - 1 - attempt}`]) {
        const { status } = await server.request('GET', plane + path, as('mallory'));
        assert.ok(status === 403 || status === 404, `${status}`);
      }
    });
    assert.ok(longestMs < turnMaxMs, `${longestMs} ms`);
  });

  test('that are granted are compared with those of the author in slices', async () => {
    const granted = [...owned.slice(0, 4_000), { verbs: ['get'], nonResourceURLs: paths.slice(0, 4_000) }];
    const body = { metadata: { name: 'granted' }, rules: granted };
    const longestMs = await bestLongestTurnMs(async () => {
      const { status, text } = await server.request('POST', `${plane}${roles}?dryRun=All`, { body, ...as('mallory') });
      assert.equal(status, 201, text);
    });
    assert.ok(longestMs < turnMaxMs, `${longestMs} ms`);
    const more = { metadata: { name: 'more' }, rules: [...granted, rule('else')] };
    const refused = await server.request('POST', `${plane}${roles}?dryRun=All`, { body: more, ...as('mallory') });
    assert.equal(refused.status, 403);
    assert.match(
      refused.data.message,
      /not currently held:\n\{APIGroups:\["example\.com"\], Resources:\["else"\], Verbs:\["get"\]\}/,
    );
  });
});
