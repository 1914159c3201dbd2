/** Tests tokens of external issuers in tenants: they count for the tenant that names the issuer, as long as it does. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TestIssuer } from '../../auth/oidc/testing/issuer.ts';
import { Outbound } from '../../outbound/index.ts';
import type { OutboundAnswer, OutboundRequest } from '../../outbound/index.ts';
import { planePath, tenant, tenants, TenancyServer } from '../../testing/tenancy-server.ts';
import { TenantExternalUsers } from './external-users.ts';

const whoami = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
const reviews = '/apis/authentication.k8s.io/v1/tokenreviews';
const mergePatch = 'application/merge-patch+json';

/** Answers requests to issuers. Only clients of tenants get an answer: others would pass over the policy for tenants. */
class IssuerOutbound extends Outbound {
  readonly issuers = new Map<string, TestIssuer>();
  readonly #isTenant: boolean;
  closed = 0;

  constructor(issuers?: ReadonlyMap<string, TestIssuer>) {
    super({});
    this.#isTenant = issuers !== undefined;
    if (issuers) this.issuers = issuers as Map<string, TestIssuer>;
  }

  override forTenant(): Outbound {
    const made = new IssuerOutbound(this.issuers);
    made.close = () => void this.closed++;
    return made;
  }

  override async request({ url, isTrusted }: OutboundRequest): Promise<OutboundAnswer> {
    assert.ok(this.#isTenant && !isTrusted, 'the policy for tenants applies');
    const { origin, pathname } = new URL(url);
    const document = this.issuers.get(origin)?.document(pathname);
    if (!document) throw new Error(`${origin} is down`);
    return { status: 200, headers: {}, body: Buffer.from(JSON.stringify(document)) };
  }
}

const issuerUrl = 'https://issuer.example';

const jwt = (prefix: string, url = issuerUrl) => ({
  issuer: { url, audiences: ['hangar'] },
  claimMappings: { username: { claim: 'sub', prefix }, groups: { claim: 'groups', prefix } },
});

async function world() {
  const outbound = new IssuerOutbound();
  const issuer = new TestIssuer(issuerUrl);
  outbound.issuers.set(issuerUrl, issuer);
  const server = await TenancyServer.open({ outbound, tenancy: { strangersPaceMs: 0 } });
  const userAt = async (name: string, token: string): Promise<{ username: string; groups: string[] }> =>
    (await server.expect(201, 'POST', `${planePath(name)}${whoami}`, { body: {}, token })).status.userInfo;
  const refusedAt = (name: string, token: string): Promise<unknown> =>
    server.expect(401, 'POST', `${planePath(name)}${whoami}`, { body: {}, token });
  const change = (name: string, spec: object): Promise<unknown> =>
    server.expect(200, 'PATCH', `${tenants}/${name}`, { body: { spec }, contentType: mergePatch });
  return { outbound, issuer, server, userAt, refusedAt, change };
}

describe('a tenant with external users', () => {
  test('authenticates tokens of its issuers, and opens for them', async () => {
    const { server, issuer, userAt } = await world();
    await using _ = server;
    await server.make('demo', { authentication: { jwt: [jwt('oidc:')] } });
    assert.equal(server.tenancy.open.size, 0);
    const token = issuer.token({ groups: ['dev'] });
    const { username, groups } = await userAt('demo', token);
    assert.equal(username, 'oidc:jane');
    assert.deepEqual(groups, ['oidc:dev', 'system:authenticated']);
    const body = { spec: { token } };
    const { status } = await server.expect(201, 'POST', `${planePath('demo')}${reviews}`, { body });
    assert.equal(status.user.username, 'oidc:jane');
  });

  test('is the only one that accepts these tokens', async () => {
    const { server, issuer, userAt, refusedAt } = await world();
    await using _ = server;
    await server.make('one', { authentication: { jwt: [jwt('one:')] } });
    await server.make('two', { authentication: { jwt: [jwt('two:')] } });
    await server.make('none');
    const token = issuer.token({ groups: ['system:masters'] });
    assert.equal((await userAt('one', token)).username, 'one:jane');
    assert.equal((await userAt('two', token)).username, 'two:jane');
    for (const isOpen of [false, true]) {
      if (isOpen) await server.expect(200, 'GET', `${planePath('none')}/api/v1/namespaces`);
      await refusedAt('none', token);
    }
    await refusedAt('missing', token);
    await server.expect(401, 'POST', whoami, { body: {}, token });
  });

  test('is not opened by tokens that its issuer did not sign', async () => {
    const { server, issuer, refusedAt } = await world();
    await using _ = server;
    await server.make('demo', { authentication: { jwt: [jwt('oidc:')] } });
    const forged = new TestIssuer(issuerUrl).token({});
    for (const token of [forged, issuer.token({ aud: 'other' }), issuer.token({ exp: 1 })]) {
      await refusedAt('demo', token);
    }
    assert.equal(server.tenancy.open.size, 0);
  });

  test('answers 401 while its issuer cannot be reached, also when it is open', async () => {
    const { server, issuer, outbound, refusedAt } = await world();
    await using _ = server;
    await server.make('demo', { authentication: { jwt: [jwt('oidc:')] } });
    await server.expect(200, 'GET', `${planePath('demo')}/api/v1/namespaces`);
    outbound.issuers.clear();
    await refusedAt('demo', issuer.token({}));
    assert.deepEqual(server.problems, []);
  });

  test('follows changes of its issuers at once, also for tokens that it has accepted', async () => {
    const { server, issuer, outbound, userAt, refusedAt, change } = await world();
    await using _ = server;
    const other = new TestIssuer('https://other.example');
    outbound.issuers.set(other.url, other);
    await server.make('demo');
    await server.expect(200, 'GET', `${planePath('demo')}/api/v1/namespaces`);
    const token = issuer.token({});
    await refusedAt('demo', token);
    await change('demo', { authentication: { jwt: [jwt('a:')] } });
    assert.equal((await userAt('demo', token)).username, 'a:jane');
    await change('demo', { authentication: { jwt: [jwt('b:'), jwt('c:', other.url)] } });
    assert.equal((await userAt('demo', token)).username, 'b:jane');
    assert.equal((await userAt('demo', other.token({}))).username, 'c:jane');
    await change('demo', { authentication: null });
    await refusedAt('demo', token);
    await refusedAt('demo', other.token({}));
    assert.equal(outbound.closed, 2, 'the connections of former configurations are closed');
  });
});

test('an invalid configuration of a Tenant is rejected with its field', async () => {
  const { server } = await world();
  await using _ = server;
  const rejected = async (...all: object[]): Promise<string> =>
    (await server.expect(422, 'POST', tenants, { body: tenant('demo', { authentication: { jwt: all } }) })).message;
  assert.match(await rejected(jwt('', 'http://issuer.example')), /spec\.authentication\.jwt\[0\]\.issuer\.url.*https/);
  assert.match(await rejected(jwt(''), jwt('')), /jwt\[1\]\.issuer\.url.*duplicate/);
  assert.match(await rejected({ ...jwt(''), wrong: 1 }), /jwt\[0\]\.wrong.*unknown field/);
  const own = 'https://127.0.0.1:6443/clusters/demo/control-plane';
  assert.match(await rejected(jwt('', own)), /issuer of this server's own tokens/);
  const expression = { ...jwt(''), claimMappings: { username: { expression: 'claims.' } } };
  assert.match(await rejected(expression), /jwt\[0\]\.claimMappings\.username\.expression/);
  assert.match(await rejected(...Array<object>(17).fill(jwt(''))), /spec\.authentication\.jwt.*at most 16/);
  const large = { ...jwt(''), issuer: { ...jwt('').issuer, certificateAuthority: 'x'.repeat(70_000) } };
  assert.match(await rejected(large), /spec\.authentication.*must not be larger than 65536 bytes/);
});

test('the issuers of the least recently used tenant are dropped beyond the limit', async () => {
  const outbound = new IssuerOutbound();
  const issuer = new TestIssuer(issuerUrl);
  outbound.issuers.set(issuerUrl, issuer);
  const clock = { now: () => Date.now(), monotonicMs: () => 0 };
  const find = (path: string) => ({ path, uid: path, spec: { authentication: { jwt: [jwt(`${path}:`)] } } });
  const options = { outbound, clock, find, tenantsMax: 2 };
  const users = new TenantExternalUsers(options as unknown as ConstructorParameters<typeof TenantExternalUsers>[0]);
  const nameAt = async (path: string): Promise<string | undefined> =>
    (await users.userOf(path, issuer.token({})))?.name;
  for (const path of ['a', 'b', 'a', 'c']) assert.equal(await nameAt(path), `${path}:jane`);
  assert.equal(outbound.closed, 1);
  assert.equal(issuer.reads, 3);
  await nameAt('a');
  assert.equal(issuer.reads, 3, 'a is still kept');
  await nameAt('b');
  assert.equal(issuer.reads, 4);
});
