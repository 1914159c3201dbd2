/** Users in other control planes than their own; and users of the management plane in tenants. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createAuthority } from '@hangar/pki';
import { attempts } from '../testing/requests.ts';
import { claimsOf } from '../testing/tokens.ts';
import { isPublic, selfReviews, waysTo, withHeaders } from '../testing/ways.ts';
import {
  isMarked,
  inDefault,
  garbage,
  nothing,
  peerWith,
  pkiWorld,
  plain,
  platformPeer,
  rbac,
  until,
} from '../testing/world.ts';
import type { Received, Resident, Shown, World } from '../testing/world.ts';

/** Asserts 401 with each of the given tenants, and at the management plane. */
async function isNobody(world: World, shown: Shown, ...residents: Resident[]): Promise<void> {
  for (const plane of [...residents.map((one) => one.plane), '']) {
    const { status, text } = await world.ask('POST', `${plane}${selfReviews}`, { body: {}, ...shown });
    assert.equal(status, 401, `${plane}: ${text}`);
  }
}

const whoIs = ({ data }: Received): string | undefined => data?.status?.userInfo?.username;

export function whoIsWhoCases(get: () => World): void {
  describe('who somebody else is', () => {
    test('is not told: a TokenReview knows the tokens of its own tenant', async () => {
      const { ada, bob } = get();
      const review = async (token: string, audiences?: string[]) =>
        (await bob.create('/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token, audiences } })).status;
      assert.equal((await review(bob.robot.token!)).authenticated, true);
      for (const { token } of [ada.robot, ada.legacy, ada.bootstrapper, plain, garbage]) {
        for (const audiences of [undefined, [String(claimsOf(ada.robot.token!)['iss'])]]) {
          const status = await review(token!, audiences);
          assert.ok(!status.authenticated, JSON.stringify(status));
          assert.equal(status.user?.username, undefined);
          assert.ok(!JSON.stringify(status).includes(ada.marker));
        }
      }
    });

    test('is not decided by others: a SubjectAccessReview asks the roles of its own tenant', async () => {
      const { ada, bob } = get();
      await ada.create(`${rbac}/clusterrolebindings`, {
        metadata: { name: 'everybody' },
        subjects: [
          { kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'jane' },
          { kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'system:authenticated' },
          { kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'system:unauthenticated' },
        ],
        roleRef: { kind: 'ClusterRole', apiGroup: 'rbac.authorization.k8s.io', name: 'cluster-admin' },
      });
      const resourceAttributes = { namespace: 'default', verb: 'get', resource: 'secrets' };
      const spec = { user: 'jane', groups: ['system:authenticated'], resourceAttributes };
      const may = async (one: Resident): Promise<boolean> =>
        (await one.create('/apis/authorization.k8s.io/v1/subjectaccessreviews', { spec })).status.allowed === true;
      await until('the binding counts', () => may(ada));
      assert.equal(await may(bob), false);
      await ada.expect(200, 'GET', `${inDefault}/secrets/treasure`, ada.user);
      await bob.expect(403, 'GET', `${inDefault}/secrets/treasure`, bob.user);
      const rules = await bob.expect(201, 'POST', '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', {
        body: { spec: { namespace: 'default' } },
        ...bob.user,
      });
      assert.ok(!JSON.stringify(rules.status).includes('"resources":["*"]'));
      await ada.remove(`${rbac}/clusterrolebindings/everybody`);
    });

    test('a member of system:masters of a tenant is one in that tenant alone', async () => {
      const { ada, bob } = get();
      const headers = { 'impersonate-user': 'admin', 'impersonate-group': ['system:masters', 'root'] };
      const own = await ada.request('POST', selfReviews, { body: {}, headers });
      assert.deepEqual([own.status, whoIs(own)], [201, 'admin']);
      await isNobody(get(), withHeaders(ada.administrator, headers), bob);
      assert.equal((await ada.request('GET', '/apis/tenancy.hangar.dev/v1alpha1/tenants')).status, 404);
    });

    test('the issuer that a tenant tells of is its own, with its own keys', async () => {
      const { ada, bob } = get();
      const documents = async (one: Resident) => [
        await one.get('/.well-known/openid-configuration'),
        await one.expect(200, 'GET', '/openid/v1/jwks', { accept: '*/*' }),
      ];
      const [[issuer, keys], [otherIssuer, otherKeys]] = [await documents(ada), await documents(bob)];
      assert.equal(issuer.issuer, 'https://127.0.0.1:6443/clusters/ada/control-plane');
      assert.equal(issuer.jwks_uri, 'https://127.0.0.1:6443/clusters/ada/control-plane/openid/v1/jwks');
      assert.ok(!JSON.stringify([issuer, keys]).includes('bob'));
      assert.equal(otherIssuer.issuer, 'https://127.0.0.1:6443/clusters/bob/control-plane');
      assert.equal(keys.keys.length, 1);
      assert.notDeepEqual(keys, otherKeys);
    });
  });

  describe('users of the management plane', () => {
    test('that are no masters find every tenant absent, with every verb', async () => {
      const world = get();
      const accounts = '/api/v1/namespaces/default/serviceaccounts';
      await world.expect(201, 'POST', accounts, { body: { metadata: { name: 'of-root' } } });
      const { status } = await world.expect(201, 'POST', `${accounts}/of-root/token`, { body: { spec: {} } });
      for (const shown of [
        plain,
        { token: status.token as string },
        { token: null, peer: platformPeer('someone', ['anyone']) },
        withHeaders(plain, { 'impersonate-user': 'admin', 'impersonate-group': 'system:masters' }),
        withHeaders(plain, { 'x-remote-user': 'admin', 'x-remote-group': 'system:masters' }),
        withHeaders({ token: null, peer: platformPeer('someone') }, { 'x-remote-group': 'system:masters' }),
      ]) {
        await world.touchesOnly([], async () => {
          for (const { before, host } of waysTo(world.bob)) {
            for (const { method, target, ...sent } of attempts) {
              const asked = host === undefined ? shown : withHeaders(shown, { host });
              const received = await world.ask(method, before + target, { ...sent, ...asked });
              const isHealth = host !== undefined && isPublic(target) && shown.token === null;
              assert.equal(received.status, isHealth ? 200 : 404, `${method} ${before}${target}: ${received.text}`);
              assert.ok(!isMarked(received.text, world.bob.marker));
            }
          }
        });
      }
    });

    test('that are masters enter as themselves, and what they are there they are not elsewhere', async () => {
      const { bob, server } = get();
      const received = await server.request('POST', bob.plane + selfReviews, { body: {} });
      assert.equal(whoIs(received), 'admin');
      const headers = { 'impersonate-user': 'jane' };
      const acting = await server.request('GET', `${bob.plane}${inDefault}/secrets/treasure`, { headers });
      assert.equal(acting.status, 403);
    });

    test('of a certificate and of a token are not mixed up on one connection', async () => {
      const { ada, bob, server } = get();
      // The connection authenticates a master of the platform; the token is one of a tenant.
      const peer = platformPeer('boss', ['system:masters']);
      for (const one of [ada, bob]) {
        const received = await server.request('POST', one.plane + selfReviews, { body: {}, ...ada.robot, peer });
        assert.equal(whoIs(received), 'boss');
      }
      const weak = { token: bob.robot.token!, peer: platformPeer('someone') };
      assert.equal((await server.request('GET', `${ada.plane}/api`, weak)).status, 404);
    });

    test('the view of all tenants is for masters alone', async () => {
      const { ada, bob } = get();
      for (const shown of [...Object.values(ada.credentials), garbage, nothing]) {
        for (const { method, target, ...sent } of attempts) {
          const received = await get().ask(method, `/clusters/*/control-plane${target}`, { ...sent, ...shown });
          assert.equal(received.status, 401, `${method} ${target}`);
        }
      }
      for (const target of ['/api/v1/configmaps', `${inDefault}/configmaps/shared`, '/api/v1/secrets?watch=true']) {
        const received = await get().ask('GET', `/clusters/*/control-plane${target}`, plain);
        assert.ok(received.status === 403 || received.status === 404, received.text);
        assert.ok(!isMarked(received.text, bob.marker));
      }
    });
  });

  test('who shows nothing is told nothing, not even that a tenant is well', async () => {
    const world = get();
    for (const shown of [nothing, { token: null, peer: peerWith(createAuthority('nobody', 1, pkiWorld)) }]) {
      for (const { method, target, ...sent } of attempts) {
        for (const name of ['bob', 'nobodys']) {
          const asked = { ...sent, ...shown };
          const received = await world.ask(method, `/clusters/${name}/control-plane${target}`, asked);
          assert.equal(received.status, 401, `${method} ${name} ${target}`);
        }
      }
    }
  });
}
