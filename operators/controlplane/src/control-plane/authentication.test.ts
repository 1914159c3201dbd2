/** External users, from a class and a ControlPlane to the Tenant. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { ControlPlane, ControlPlaneClass } from '../api/index.ts';
import { Tenant } from '../host/index.ts';
import { startTestPlatform } from '../testing/platform.ts';
import { until, untilReady } from '../testing/until.ts';
import { authenticationOf } from './authentication.ts';

const issuer = (host: string, rules: object = {}) => ({
  issuer: { url: `https://${host}`, audiences: ['hangar'] },
  claimMappings: { username: { claim: 'sub', prefix: 'oidc:' } },
  ...rules,
});

const given = (authentication: object | undefined, ofClass: object | undefined) =>
  authenticationOf({
    controlPlane: { spec: authentication ? { authentication } : {} } as ControlPlane,
    class: ofClass ? ({ spec: { authentication: ofClass } } as ControlPlaneClass) : undefined,
  });

const urlsOf = (...all: Parameters<typeof given>): string[] | undefined =>
  given(...all)?.jwt?.map((one) => one.issuer.url);

test('the issuers of a control plane replace those of its class', () => {
  assert.equal(urlsOf(undefined, undefined), undefined);
  assert.deepEqual(urlsOf(undefined, { jwt: [issuer('a')] }), ['https://a']);
  assert.deepEqual(urlsOf({}, { jwt: [issuer('a')] }), ['https://a']);
  assert.deepEqual(urlsOf({ jwt: [issuer('b')] }, { jwt: [issuer('a')] }), ['https://b']);
  assert.equal(urlsOf({ jwt: [] }, { jwt: [issuer('a')] }), undefined);
});

test('reserved names are rejected in addition to the rules of an issuer', () => {
  const own = { expression: 'user.username != "root"' };
  const [one, two] = given({ jwt: [issuer('a', { userValidationRules: [own] }), issuer('b')] }, undefined)!.jwt!;
  const expressions = (of: typeof one): string[] => of!.userValidationRules!.map(({ expression }) => expression);
  const reserved = ["!user.username.startsWith('system:')", "user.groups.all(group, !group.startsWith('system:'))"];
  assert.deepEqual(expressions(one), [own.expression, ...reserved]);
  assert.deepEqual(expressions(two), reserved);
});

test('a Tenant has the issuers of its control plane or of the class, and follows both', async () => {
  await using platform = await startTestPlatform();
  platform.start();
  const { client } = platform;
  const untilIssuers = (urls: string[] | undefined): Promise<unknown> =>
    until(client, Tenant, 'demo', (one) =>
      isDeepStrictEqual(
        (one?.spec?.authentication?.jwt as ReturnType<typeof issuer>[] | undefined)?.map((each) => each.issuer.url),
        urls,
      ),
    );
  const patch = (kind: typeof ControlPlane | typeof ControlPlaneClass, name: string, spec: object) =>
    client.patch(kind as typeof ControlPlane, { name }, { type: 'merge', body: { spec } });
  const spec = { authentication: { jwt: [issuer('a')] } };
  await client.create(ControlPlaneClass, { metadata: { name: 'users' }, spec });
  await client.create(ControlPlane, { metadata: { name: 'demo' }, spec: { classRef: { name: 'users' } } });
  await untilReady(client, 'demo');
  await untilIssuers(['https://a']);
  await patch(ControlPlaneClass, 'users', { authentication: { jwt: [issuer('a'), issuer('b')] } });
  await untilIssuers(['https://a', 'https://b']);
  await patch(ControlPlane, 'demo', { authentication: { jwt: [issuer('c')] } });
  await untilIssuers(['https://c']);
  const wrong = { ...issuer('c'), claimMappings: { username: { expression: 'claims.' } } };
  await patch(ControlPlane, 'demo', { authentication: { jwt: [wrong] } });
  await until(client, ControlPlane, 'demo', (one) =>
    (one?.status?.conditions ?? []).some(
      ({ type, reason, message }) =>
        type === 'Programmed' && reason === 'AuthenticationRejected' && message.includes('username.expression'),
    ),
  );
  await patch(ControlPlane, 'demo', { authentication: { jwt: [] } });
  await untilIssuers(undefined);
});
