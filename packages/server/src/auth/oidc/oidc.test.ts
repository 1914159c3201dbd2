import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { seededRandom } from '@hangar/core';
import { Scheduler } from '@hangar/core/simulation';
import type { TokenIdentity } from '../tokens.ts';
import { OidcAuthenticator } from './authenticator.ts';
import { AuthenticationConfigurationError, readAuthenticationConfiguration } from './configuration.ts';
import { TestIssuer } from './testing/issuer.ts';

const url = 'https://issuer.example';
const claimMapping = { username: { claim: 'sub', prefix: 'oidc:' } };

const configuration = (jwt: object = {}): string =>
  JSON.stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AuthenticationConfiguration',
    jwt: [{ issuer: { url, audiences: ['hangar'] }, claimMappings: claimMapping, ...jwt }],
  });

function world(jwt: object = {}) {
  const issuer = new TestIssuer(url);
  const clock = new Scheduler(seededRandom(1), Date.now());
  const state = { isDown: false };
  const authenticator = new OidcAuthenticator({
    issuers: readAuthenticationConfiguration(configuration(jwt), []).issuers,
    clock,
    async fetch(address) {
      const document = state.isDown ? undefined : issuer.document(new URL(address).pathname);
      if (!document) throw new Error('down');
      return document;
    },
  });
  const ask = async (token: string): Promise<TokenIdentity | undefined> => authenticator.authenticateToken(token);
  return { issuer, clock, state, ask, refused: (token: string, why: RegExp) => assert.rejects(ask(token), why) };
}

test('claims become a user, with prefixes', async () => {
  const { issuer, ask } = world({ claimMappings: { ...claimMapping, groups: { claim: 'roles', prefix: 'role:' } } });
  const identity = await ask(issuer.token({ roles: ['a', 'b'], jti: '7' }));
  assert.deepEqual(identity?.user, {
    name: 'oidc:jane',
    uid: '',
    groups: ['role:a', 'role:b'],
    extra: { 'authentication.kubernetes.io/credential-id': ['JTI=7'] },
  });
  const one = await ask(issuer.token({ roles: 'only' }));
  assert.deepEqual(one?.user.groups, ['role:only']);
});

test('expressions map claims, and rules over claims and users refuse', async () => {
  const { issuer, ask, refused } = world({
    claimMappings: {
      username: { expression: 'claims.org + "/" + claims.sub' },
      groups: { expression: 'claims.roles.split(",")' },
      uid: { expression: 'claims.?id.orValue("none")' },
      extra: [{ key: 'example.com/level', valueExpression: 'claims.level' }],
    },
    claimValidationRules: [
      { claim: 'tenant', requiredValue: 'blue' },
      { expression: 'claims.level != "low"', message: 'too low' },
    ],
    userValidationRules: [{ expression: '!user.username.startsWith("system:")', message: 'reserved' }],
  });
  const claims = { org: 'acme', roles: 'a,b', level: 'high', tenant: 'blue' };
  const identity = await ask(issuer.token(claims));
  assert.deepEqual(identity?.user, {
    name: 'acme/jane',
    uid: 'none',
    groups: ['a', 'b'],
    extra: { 'example.com/level': ['high'] },
  });
  await refused(issuer.token({ ...claims, tenant: 'red' }), /required claim tenant value does not match/);
  await refused(issuer.token({ ...claims, tenant: undefined }), /required claim tenant not present/);
  await refused(
    issuer.token({ ...claims, level: 'low' }),
    /validation expression 'claims.level != "low"' failed: too low/,
  );
  await refused(issuer.token({ ...claims, org: 'system:x' }), /reserved/);
  await refused(issuer.token({ ...claims, roles: 7 }), /error evaluating group claim expression/);
});

test('an email that is not verified is refused', async () => {
  const { issuer, ask, refused } = world({ claimMappings: { username: { claim: 'email', prefix: '' } } });
  await refused(issuer.token({ email: 'a@example.com', email_verified: false }), /email not verified/);
  assert.equal((await ask(issuer.token({ email: 'a@example.com' })))?.user.name, 'a@example.com');
  assert.throws(
    () =>
      readAuthenticationConfiguration(
        configuration({ claimMappings: { username: { expression: 'claims.email' } } }),
        [],
      ),
    /email_verified must be used/,
  );
});

test('tokens that are forged, expired, early, or for others are refused', async () => {
  const { issuer, clock, refused, ask } = world();
  const now = clock.now() / 1_000;
  await refused(issuer.token({ exp: now - 10 }), /expired/);
  await refused(issuer.token({ exp: undefined }), /expired/);
  await refused(issuer.token({ nbf: now + 3_600 }), /not valid yet/);
  await refused(issuer.token({ aud: 'other' }), /expected audience/);
  await refused(issuer.token({ aud: undefined }), /expected audience/);
  const good = issuer.token({});
  const [head, , signature] = good.split('.');
  const body = Buffer.from(JSON.stringify({ iss: url, aud: 'hangar', sub: 'root', exp: now + 99 })).toString(
    'base64url',
  );
  await refused(`${head}.${body}.${signature}`, /failed to verify signature/);
  const none = Buffer.from('{"alg":"none"}').toString('base64url');
  await refused(`${none}.${good.split('.')[1]}.`, /failed to verify signature/);
  const hmac = Buffer.from('{"alg":"HS256","kid":"first"}').toString('base64url');
  const text = `${hmac}.${good.split('.')[1]}`;
  const publicKey = JSON.stringify(issuer.document('/keys'));
  await refused(`${text}.${createHmac('sha256', publicKey).update(text).digest('base64url')}`, /failed to verify/);
  await refused(new TestIssuer(url).token({}), /failed to verify/);
  assert.equal(await ask(new TestIssuer('https://other.example').token({})), undefined);
  assert.equal(await ask('not a token'), undefined);
});

test('a rotated key is found when a token comes with it, and unknown keys do not make the server ask often', async () => {
  const { issuer, clock, ask, refused } = world();
  const before = issuer.token({});
  assert.ok(await ask(before));
  issuer.addKey('second');
  const stranger = new TestIssuer(url);
  stranger.addKey('unknown');
  for (let i = 0; i < 10; i++) await refused(stranger.token({}), /failed to verify/);
  assert.equal(issuer.reads, 1);
  await clock.advance(6_000);
  assert.ok(await ask(issuer.token({})));
  assert.equal(issuer.reads, 2);
  issuer.removeOldKeys();
  assert.ok(await ask(before), 'known until the keys are read again');
  await clock.advance(3_600_001);
  await refused(before, /failed to verify|expired/);
});

test('an issuer that is down is told; what is known of it still counts', async () => {
  const { issuer, clock, state, ask, refused } = world();
  state.isDown = true;
  await refused(issuer.token({}), /failed to fetch the keys of https:\/\/issuer.example: down/);
  state.isDown = false;
  await clock.advance(6_000);
  assert.ok(await ask(issuer.token({})));
  state.isDown = true;
  await clock.advance(60_000);
  assert.ok(await ask(issuer.token({})));
});

for (const [jwt, message] of [
  [{ issuer: { url: 'http://plain.example', audiences: ['a'] } }, /issuer\.url: must be an https URL/],
  [{ issuer: { url, audiences: [] } }, /audiences: at least one/],
  [{ issuer: { url, audiences: ['a', 'b'] } }, /audienceMatchPolicy/],
  [{ issuer: { url, audiences: ['a'], discoveryURL: url } }, /discoveryURL: must differ/],
  [{ claimMappings: {} }, /username: claim or expression is required/],
  [{ claimMappings: { username: { claim: 'sub' } } }, /username\.prefix: is required/],
  [{ claimMappings: { username: { expression: 'claims.' } } }, /username\.expression/],
  [{ claimMappings: { username: { expression: '1' } } }, /must be of type string/],
  [{ claimValidationRules: [{}] }, /either claim or expression is required/],
  [{ claimValidationRules: [{ claim: '' }] }, /either claim or expression is required/],
  [{ claimValidationRules: [{ claim: 5 }] }, /claimValidationRules\[0\]\.claim: must be a string/],
  [{ claimValidationRules: [{ claim: 'a', requiredValue: true }] }, /requiredValue: must be a string/],
  [{ claimValidationRules: [{ claim: 'a', value: 'b' }] }, /claimValidationRules\[0\]\.value: unknown field/],
  [{ claimValidationRule: [{ claim: 'a' }] }, /jwt\[0\]\.claimValidationRule: unknown field/],
  [{ issuer: { url, audiences: ['a'], egressSelectorType: 'cluster' } }, /egressSelectorType: unknown field/],
  [{ issuer: { url, audiences: ['a'], certificateAuthority: 5 } }, /certificateAuthority: must be a string/],
  [{ claimMappings: { ...claimMapping, groups: { claim: 5, prefix: '' } } }, /groups\.claim: must be a string/],
  [{ claimMappings: { ...claimMapping, groups: { prefix: '' } } }, /groups\.claim: is required/],
  [{ claimMappings: { ...claimMapping, uid: { claim: 'a', prefix: '' } } }, /uid\.prefix: unknown field/],
  [{ userValidationRules: [{ expression: 'true', claim: 'a' }] }, /userValidationRules\[0\]\.claim: unknown field/],
  [{ claimValidationRules: [{ expression: 'claims.a' }] }, undefined],
  [{ claimValidationRules: [{ expression: '"a"' }] }, /must be of type bool/],
  [{ userValidationRules: [{ expression: 'user.nothing == ""' }] }, /userValidationRules\[0\]\.expression/],
  [{ claimMappings: { ...claimMapping, extra: [{ key: 'k8s.io/a', valueExpression: '""' }] } }, /reserved/],
] as const) {
  test(`a configuration is ${message ? `refused with ${message}` : `taken: ${JSON.stringify(jwt)}`}`, () => {
    const read = () => readAuthenticationConfiguration(configuration(jwt), []);
    if (message)
      assert.throws(read, (error) => error instanceof AuthenticationConfigurationError && message.test(error.message));
    else assert.ok(read());
  });
}

test('a field that is there twice is no configuration, as one of them would not count', () => {
  const twice = configuration().replace('"jwt":', '"jwt":[],"jwt":');
  assert.throws(() => readAuthenticationConfiguration(twice, []), /"jwt" already set/);
});

test('no other issuer may have the name of the server’s own issuer', () => {
  assert.throws(() => readAuthenticationConfiguration(configuration(), [url]), /issuer of this server's own tokens/);
});
