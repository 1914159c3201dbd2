/**
 * Roles that are written to cost the server time: chains of aggregated ClusterRoles, roles and bindings with thousands of rules. What
 * is measured is the CPU time of single turns of the event loop, in which no other tenant is served.
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
