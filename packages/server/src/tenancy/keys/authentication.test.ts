/**
 * Tokens of tenants. Both tenants use the same data, so service accounts, Secrets and UIDs are identical, and only keys and issuers
 * separate them.
 */

import assert from 'node:assert/strict';
import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import type { JsonObject } from '@hangar/api';
import { systemClock } from '@hangar/core';
import { createAuthority } from '@hangar/pki';
import { openMemoryStore } from '@hangar/store';
import type { Store } from '@hangar/store';
import { signJwt } from '../../auth/jwt/jwt.ts';
import { signingKeyOf } from '../../auth/service-accounts/keys.ts';
import type { ControlPlane } from '../../control-plane.ts';
import type { Peer } from '../../http/message.ts';
import { world } from '../../http/testing/test-port.ts';
import { ApiServer } from '../../server.ts';
import { newTokenKey } from '../../testing/authentication.ts';
import { openTestPlane, serverRequest } from '../../testing/open-server.ts';
import type { Data } from '../../testing/test-server.ts';
import { tenantAuthorityName } from './advertised-authority.ts';
import { tenantAuthentication } from './authentication.ts';
import type { TenantAuthenticationOptions } from './authentication.ts';
import type { TenantKeys } from './keys.ts';
import { client } from './testing.ts';

const newKeys = (): TenantKeys => ({
  authority: createAuthority(tenantAuthorityName, 10, world),
  frontProxyAuthority: createAuthority('front-proxy', 10, world),
  serviceAccountKey: newTokenKey(),
});

const host = 'https://hangar.example.com:8443';
const issuerOf = (path: string): string => `${host}/clusters/${path}/control-plane`;

class TestTenant {
  readonly keys: TenantKeys;
  readonly #server: ApiServer;
  readonly #admin: Peer;

  constructor(plane: ControlPlane, options: Partial<TenantAuthenticationOptions> & { issuer: string }) {
    this.keys = options.keys ?? newKeys();
    this.#server = new ApiServer({
      plane,
      ...tenantAuthentication({ plane, keys: this.keys, clock: systemClock, ...options }),
      authorizers: [{ authorize: () => 'allow' }],
      health: { livez: [], readyz: [] },
      address: () => 'elsewhere.example.com:6443',
      onError: (error) => assert.fail(error),
    });
    const { raw } = new X509Certificate(client(this.keys.authority).certificate);
    this.#admin = { address: '', certificate: undefined, unverified: { der: () => raw } };
  }

  /** Sends a request as an administrator of the tenant, or with a token. */
  async ask(method: string, target: string, body?: object, token?: string): Promise<{ status: number; data: Data }> {
    const headers = new Map([
      ['accept', ['*/*']],
      ['content-type', ['application/json']],
    ]);
    if (token !== undefined) headers.set('authorization', [`Bearer ${token}`]);
    const bytes = body ? Buffer.from(JSON.stringify(body)) : new Uint8Array();
    const answer = await this.#server.handle(
      serverRequest({ method, target, headers, body: bytes, ...(token === undefined ? { peer: this.#admin } : {}) }),
    );
    const all = [answer.body as Uint8Array | Uint8Array[]].flat();
    return { status: answer.status, data: JSON.parse(Buffer.concat(all).toString()) };
  }

  async token(audiences?: readonly string[]): Promise<string> {
    const { status, data } = await this.ask('POST', `${accounts}/robot/token`, { spec: { audiences } });
    assert.equal(status, 201, JSON.stringify(data));
    return data.status.token;
  }

  /** Returns the name of the user, or the status of the refusal. */
  async whoIs(token: string): Promise<string | number> {
    const { status, data } = await this.ask('POST', selfReviews, {}, token);
    return status === 201 ? data.status.userInfo.username : status;
  }
}

const accounts = '/api/v1/namespaces/default/serviceaccounts';
const selfReviews = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
const robot = 'system:serviceaccount:default:robot';

const claimsIn = (token: string): JsonObject =>
  JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as JsonObject;
const resigned = (claims: JsonObject, pem: string): string => signJwt(claims, signingKeyOf(pem));

describe('in a tenant', () => {
  let store: Store;
  let plane: ControlPlane;
  let close: () => void;
  let a: TestTenant;
  let b: TestTenant;
  let uid: string;

  before(async () => {
    store = await openMemoryStore();
    ({ plane, close } = await openTestPlane(store));
    a = new TestTenant(plane, { issuer: issuerOf('a') });
    b = new TestTenant(plane, { issuer: issuerOf('b') });
    const made = await a.ask('POST', accounts, {
      kind: 'ServiceAccount',
      apiVersion: 'v1',
      metadata: { name: 'robot' },
    });
    assert.equal(made.status, 201);
    uid = made.data.metadata.uid;
  });
  after(async () => {
    close();
    await store.close();
  });

  test('tokens of its service accounts count, and those of another tenant do not', async () => {
    const token = await a.token();
    assert.equal(claimsIn(token)['iss'], issuerOf('a'));
    assert.deepEqual(claimsIn(token)['aud'], [issuerOf('a')]);
    assert.equal(await a.whoIs(token), robot);
    assert.equal(await b.whoIs(token), 401);
    // Also if the other tenant is its audience.
    assert.equal(await b.whoIs(await a.token([issuerOf('b')])), 401);
  });

  test('tokens that another tenant signs in its name do not count', async () => {
    const claims = claimsIn(await b.token());
    assert.equal(await b.whoIs(resigned(claims, b.keys.serviceAccountKey)), robot);
    assert.equal(await b.whoIs(resigned(claims, a.keys.serviceAccountKey)), 401);
    const key = createPrivateKey(a.keys.serviceAccountKey);
    // With the ID of the tenant's key, and without an ID.
    for (const id of [signingKeyOf(b.keys.serviceAccountKey).id, '']) {
      assert.equal(await b.whoIs(signJwt(claims, { id, key })), 401);
    }
  });

  test('tokens of another issuer do not count, even with its own key', async () => {
    const claims = { ...claimsIn(await b.token()), iss: issuerOf('a') };
    assert.equal(await b.whoIs(resigned(claims, b.keys.serviceAccountKey)), 401);
  });

  test('tokens of a former issuer count when it is named, new ones are of the present one', async () => {
    const old = await a.token();
    const { keys } = a;
    const renamed = new TestTenant(plane, { issuer: issuerOf('new'), keys });
    assert.equal(await renamed.whoIs(old), 401);
    const kind = new TestTenant(plane, { issuer: issuerOf('new'), formerIssuers: [issuerOf('a')], keys });
    assert.equal(await kind.whoIs(old), robot);
    assert.equal(claimsIn(await kind.token())['iss'], issuerOf('new'));
    const foreign = new TestTenant(plane, { issuer: issuerOf('new'), formerIssuers: [issuerOf('a')] });
    assert.equal(await foreign.whoIs(old), 401);
  });

  test('tokens that are kept in secrets count where they were signed only', async () => {
    const own = 'kubernetes.io/serviceaccount/';
    const token = resigned(
      {
        iss: 'kubernetes/serviceaccount',
        [`${own}namespace`]: 'default',
        [`${own}secret.name`]: 'robot-token',
        [`${own}service-account.name`]: 'robot',
        [`${own}service-account.uid`]: uid,
        sub: robot,
      },
      a.keys.serviceAccountKey,
    );
    const made = await a.ask('POST', '/api/v1/namespaces/default/secrets', {
      kind: 'Secret',
      apiVersion: 'v1',
      metadata: { name: 'robot-token', annotations: { 'kubernetes.io/service-account.name': 'robot' } },
      type: 'kubernetes.io/service-account-token',
      stringData: { token },
    });
    assert.equal(made.status, 201, JSON.stringify(made.data));
    assert.equal(await a.whoIs(token), robot);
    assert.equal(await b.whoIs(token), 401);
  });

  test('bootstrap tokens are those of its own secrets', async () => {
    const made = await a.ask('POST', '/api/v1/namespaces/kube-system/secrets', {
      kind: 'Secret',
      apiVersion: 'v1',
      metadata: { name: 'bootstrap-token-abcdef' },
      type: 'bootstrap.kubernetes.io/token',
      stringData: {
        'token-id': 'abcdef',
        'token-secret': '0123456789abcdef',
        'usage-bootstrap-authentication': 'true',
      },
    });
    assert.equal(made.status, 201, JSON.stringify(made.data));
    assert.equal(await a.whoIs('abcdef.0123456789abcdef'), 'system:bootstrap:abcdef');
    assert.equal(await a.whoIs('abcdef.0123456789abcdee'), 401);
  });

  test('the documents by which others verify its tokens name its own places, and its own key', async () => {
    for (const [tenant, path] of [
      [a, 'a'],
      [b, 'b'],
    ] as const) {
      const { data } = await tenant.ask('GET', '/.well-known/openid-configuration');
      assert.equal(data.issuer, issuerOf(path));
      assert.equal(data.jwks_uri, `${issuerOf(path)}/openid/v1/jwks`);
      const { keys } = (await tenant.ask('GET', '/openid/v1/jwks')).data;
      const { x, y } = createPublicKey(tenant.keys.serviceAccountKey).export({ format: 'jwk' });
      assert.deepEqual(
        keys.map((key: Data) => [key.x, key.y]),
        [[x, y]],
      );
    }
  });
});
