/** A credential of one control plane is worthless in another, with any other headers. */

import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { describe, test } from 'node:test';
import { createAuthority, issueCertificate } from '@hangar/pki';
import { frontProxyCertificate } from '../../../packages/server/src/tenancy/keys/front-proxy.ts';
import { anonymousPeer } from '../../../packages/server/src/testing/tenancy-server.ts';
import { attempts } from '../testing/requests.ts';
import { claimsOf, edited, keyIdOf, signed, unsigned } from '../testing/tokens.ts';
import { isPublic, selfReviews, waysTo, withHeaders } from '../testing/ways.ts';
import { isMarked, inDefault, pkiWorld, withCertificate } from '../testing/world.ts';
import type { Received, Resident, Shown, World } from '../testing/world.ts';

/** Asserts that no user is authenticated, nothing is shown, and nothing is changed. */
async function isShutTo(world: World, victim: Resident, shown: Shown, isAll = true): Promise<void> {
  await world.touchesOnly([], async () => {
    for (const { before, host } of waysTo(victim)) {
      for (const { method, target, ...sent } of isAll ? attempts : attempts.slice(26, 60)) {
        const asked = host === undefined ? shown : withHeaders(shown, { host });
        const received = await world.ask(method, before + target, { ...sent, ...asked });
        const isHealth = host !== undefined && isPublic(target) && shown.token === null;
        assert.equal(received.status, isHealth ? 200 : 401, `${method} ${before}${target}: ${received.text}`);
        assert.ok(!isMarked(received.text, victim.marker), 'a marker crossed');
      }
    }
  });
}

/** Asserts 401 with each of the given tenants, and at the management plane. */
async function isNobody(world: World, shown: Shown, ...residents: Resident[]): Promise<void> {
  for (const plane of [...residents.map((one) => one.plane), '']) {
    const { status, text } = await world.ask('POST', `${plane}${selfReviews}`, { body: {}, ...shown });
    assert.equal(status, 401, `${plane}: ${text}`);
  }
}

const whoIs = ({ data }: Received): string | undefined => data?.status?.userInfo?.username;

const isDocument = /^\/(metrics|version|livez|readyz|healthz|openapi\/v[23])(\/|\?|$)/;

export function credentialCases(get: () => World): void {
  describe('credentials of one tenant in another', () => {
    for (const kind of [
      'the administrator’s certificate',
      'a user’s certificate',
      'a service account’s token',
      'a token in a Secret',
      'a bootstrap token',
      'a certificate and a token together',
    ]) {
      test(`${kind} opens nothing there, by any way in, verb or subresource`, async () => {
        const { ada, bob } = get();
        await isShutTo(get(), bob, ada.credentials[kind]!);
      });
    }

    test('the management plane accepts none of them', async () => {
      const world = get();
      await world.touchesOnly([], async () => {
        for (const [what, shown] of Object.entries(world.ada.credentials)) {
          for (const { method, target, ...sent } of attempts) {
            const received = await world.ask(method, target, { ...sent, ...shown });
            // Documents are refused with a hint that depends on the credential only.
            const isHint =
              received.status === 404 && /not accept the credential of a control plane/.test(received.text);
            const isFine =
              received.status === 401 ||
              (isDocument.test(target) && isHint) ||
              (isPublic(target) && shown.token === null && received.status === 200);
            assert.ok(isFine, `${what} ${method} ${target}: ${received.status} ${received.text}`);
          }
        }
      });
    });

    test('they open nothing with impersonation, of whomever', async () => {
      const { ada, bob } = get();
      for (const headers of [
        { 'impersonate-user': 'admin', 'impersonate-group': 'system:masters' },
        { 'impersonate-user': 'system:admin' },
        { 'impersonate-user': 'system:serviceaccount:default:robot' },
        { 'impersonate-user': 'plain', 'impersonate-uid': 'plain', 'impersonate-extra-a': 'b' },
      ]) {
        for (const shown of [ada.administrator, ada.robot]) {
          await isShutTo(get(), bob, withHeaders(shown, headers), false);
          await isNobody(get(), withHeaders(shown, headers), bob);
        }
      }
    });

    test('they open nothing with the headers of front proxies and load balancers', async () => {
      const { ada, bob } = get();
      const claims = {
        'x-remote-user': 'admin',
        'x-remote-group': 'system:masters',
        'x-remote-extra-scopes': 'everything',
        'x-forwarded-user': 'admin',
        'x-forwarded-host': ada.host,
        'x-forwarded-for': '127.0.0.1',
        'x-original-url': `${ada.plane}/api`,
        'x-rewrite-url': `${ada.plane}/api`,
        'x-forwarded-client-cert': `Subject="CN=admin,O=system:masters"`,
        forwarded: `host=${ada.host}`,
        'x-cluster': 'ada',
        'x-kubernetes-cluster': 'ada',
        'ssl-client-subject-dn': 'CN=admin,O=system:masters',
      };
      for (const shown of [ada.administrator, ada.robot]) await isShutTo(get(), bob, withHeaders(shown, claims), false);
      await isNobody(get(), withHeaders(ada.administrator, claims), bob);
      await isNobody(get(), withHeaders({ token: null, peer: anonymousPeer }, claims), ada, bob);
    });

    test('headers that name another tenant do not lead there', async () => {
      const { ada, bob } = get();
      const headers = {
        'x-forwarded-host': bob.host,
        forwarded: `host=${bob.host}`,
        'x-original-url': `${bob.plane}${inDefault}/configmaps/shared`,
        'x-rewrite-url': `${bob.plane}${inDefault}/configmaps/shared`,
        'x-forwarded-prefix': bob.plane,
        'x-http-method-override': 'DELETE',
      };
      const { data } = await ada.expect(200, 'GET', `${inDefault}/configmaps/shared`, { headers });
      assert.deepEqual(data, { mark: ada.marker });
      await ada.get(`${inDefault}/configmaps/shared`);
    });

    test('a connection that was used in one tenant has no user in the next, and has the same user again in the first', async () => {
      const { ada, bob, server } = get();
      // One connection: authenticators cache by this object.
      const peer = ada.administrator.peer!;
      for (const shown of [
        { token: null, peer },
        { token: ada.robot.token!, peer: anonymousPeer },
      ]) {
        for (const [plane, status] of [
          [ada.plane, 201],
          [bob.plane, 401],
          ['', 401],
          [ada.plane, 201],
          [bob.plane, 401],
        ] as const) {
          const received = await server.request('POST', plane + selfReviews, { body: {}, ...shown });
          assert.equal(received.status, status, plane);
        }
      }
      const both = { ...bob.robot, peer };
      assert.equal(whoIs(await server.request('POST', ada.plane + selfReviews, { body: {}, ...both })), 'admin');
      assert.equal(
        whoIs(await server.request('POST', bob.plane + selfReviews, { body: {}, ...both })),
        'system:serviceaccount:default:robot',
      );
    });
  });

  describe('tokens that were made up', () => {
    test('with the claims of the other tenant under one’s own signature', async () => {
      const { ada, bob } = get();
      const [own, theirs] = [ada.robot.token!, bob.robot.token!];
      const { iss, aud, sub, exp } = claimsOf(theirs);
      for (const token of [
        edited(own, { iss }),
        edited(own, { iss, aud }),
        edited(own, claimsOf(theirs)),
        edited(theirs, { sub: 'system:serviceaccount:kube-system:admin' }),
        [theirs.split('.')[0], theirs.split('.')[1], own.split('.')[2]].join('.'),
        [own.split('.')[0], theirs.split('.')[1], own.split('.')[2]].join('.'),
      ]) {
        await isNobody(get(), { token }, ada, bob);
      }
      assert.ok(iss && aud && sub && exp);
    });

    test('signed by the key of the one tenant with everything that the other’s say', async () => {
      const { ada, bob } = get();
      const claims = claimsOf(bob.robot.token!);
      const kid = keyIdOf(bob.keys.serviceAccountKey);
      for (const header of [{}, { kid }, { kid: '' }, { kid: undefined }, { typ: 'at+jwt', kid }]) {
        await isNobody(get(), { token: signed(ada.keys.serviceAccountKey, claims, header) }, ada, bob);
      }
      // The account exists under the same name, with another uid.
      const own = claimsOf(ada.robot.token!) as Record<string, object>;
      const foreign = { ...own, 'kubernetes.io': claims['kubernetes.io'] };
      await isNobody(get(), { token: signed(ada.keys.serviceAccountKey, foreign) }, ada, bob);
    });

    test('without a signature, with a public key as a secret, or with a key that they bring along', async () => {
      const { ada, bob } = get();
      const theirs = bob.robot.token!;
      const { privateKey } = generateKeyPairSync('ec', {
        namedCurve: 'P-256',
        publicKeyEncoding: { type: 'spki', format: 'pem' },
        privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      });
      const { keys } = await bob.expect(200, 'GET', '/openid/v1/jwks', { accept: '*/*' });
      const brought = { jwk: keys[0], jku: `https://127.0.0.1/${ada.plane}/openid/v1/jwks`, kid: keys[0].kid };
      for (const token of [
        unsigned(theirs),
        `${unsigned(theirs)}x`,
        signed(privateKey, claimsOf(theirs), brought),
        signed(privateKey, claimsOf(theirs), { ...brought, alg: 'HS256' }),
        signed(privateKey, claimsOf(theirs), { ...brought, alg: 'none' }),
        signed(ada.keys.serviceAccountKey, claimsOf(theirs), { ...brought, crit: ['kid'] }),
      ]) {
        await isNobody(get(), { token }, ada, bob);
      }
    });

    test('that a tenant issues for the audience of another, or of the platform, are refused there', async () => {
      const { ada, bob } = get();
      for (const audience of [
        'https://127.0.0.1:6443/clusters/bob/control-plane',
        'https://kubernetes.default.svc',
        'https://127.0.0.1:6443',
        'bob',
        'system:masters',
      ]) {
        const body = { spec: { audiences: [audience] } };
        const { status } = await ada.create(`${inDefault}/serviceaccounts/robot/token`, body);
        await isNobody(get(), { token: status.token as string }, bob);
        assert.equal(claimsOf(status.token as string)['iss'], 'https://127.0.0.1:6443/clusters/ada/control-plane');
      }
    });

    test('by an old Secret that is copied from one tenant into the other', async () => {
      const { ada } = get();
      const victim = await get().tenant();
      const { data, type, metadata } = await ada.get(`${inDefault}/secrets/robot-token`);
      await victim.remove(`${inDefault}/secrets/robot-token`);
      const copied = { metadata: { name: metadata.name, annotations: metadata.annotations }, type, data };
      await victim.create(`${inDefault}/secrets`, copied);
      await isNobody(get(), ada.legacy, victim);
    });
  });

  describe('certificates', () => {
    test('of one tenant’s CA are refused elsewhere, with any names in them', async () => {
      const { ada, bob } = get();
      for (const request of [
        { commonName: 'system:admin', organizations: ['system:masters'] },
        { commonName: 'kubernetes-admin', organizations: ['kubeadm:cluster-admins', 'system:masters'] },
        { commonName: 'system:kube-controller-manager' },
        { commonName: 'system:node:n', organizations: ['system:nodes'] },
        { commonName: 'front-proxy-client' },
        { commonName: 'hangar-ca', organizations: ['system:masters'] },
        { commonName: 'bob', organizations: ['bob', 'root'] },
      ]) {
        await isNobody(get(), withCertificate(ada.certificate(request)), bob);
      }
    });

    test('of a CA with the name that all tenants’ CAs have are refused everywhere', async () => {
      const { ada, bob } = get();
      const forged = createAuthority('hangar-tenant-ca', 1, pkiWorld);
      const request = { commonName: 'admin', organizations: ['system:masters'], usage: 'client', days: 1 } as const;
      await isNobody(get(), withCertificate(issueCertificate(forged, request, pkiWorld)), ada, bob);
      await isNobody(get(), withCertificate(forged), ada, bob);
      // Everything in it is as the other tenant's CA would write it, except the signature.
      const { certificate } = bob.keys.authority;
      for (const { key } of [ada.keys.authority, forged]) {
        await isNobody(get(), withCertificate(issueCertificate({ certificate, key }, request, pkiWorld)), ada, bob);
      }
      await isNobody(get(), withCertificate(ada.keys.authority), ada, bob);
      // A user's certificate is not a CA.
      const user = ada.certificate({ commonName: 'hangar-tenant-ca' });
      await isNobody(get(), withCertificate(issueCertificate(user, request, pkiWorld)), ada, bob);
    });

    test('of a tenant’s front proxy do not allow acting for others, in any control plane', async () => {
      const { ada, bob } = get();
      const pair = frontProxyCertificate({ keys: ada.keys, ...pkiWorld })();
      const speaking = withHeaders(withCertificate(pair), {
        'x-remote-user': 'admin',
        'x-remote-group': 'system:masters',
      });
      await isNobody(get(), speaking, ada, bob);
    });

    test('of a server are refused', async () => {
      const { ada, bob } = get();
      await isNobody(get(), withCertificate(ada.certificate({ usage: 'server', commonName: 'admin' })), ada, bob);
    });

    test('that a tenant says it trusts count nowhere: what it publishes is not what it is asked for', async () => {
      const own = await get().tenant();
      const mine = createAuthority('mine', 1, pkiWorld);
      await own.merge('/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication', {
        data: { 'client-ca-file': mine.certificate, 'requestheader-client-ca-file': mine.certificate },
      });
      const request = { commonName: 'x', organizations: ['system:masters'], usage: 'client', days: 1 } as const;
      const shown = withCertificate(issueCertificate(mine, request, pkiWorld));
      await isNobody(get(), withHeaders(shown, { 'x-remote-user': 'admin' }), own, get().bob);
      const { data } = await get().bob.get(
        '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication',
      );
      assert.ok(!JSON.stringify(data).includes(mine.certificate.slice(40, 80)));
    });
  });
}
