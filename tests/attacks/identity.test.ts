/** Impersonating another user without their credentials: by certificates, by headers of proxies, by impersonation. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { connect } from 'node:tls';
import type { TLSSocket } from 'node:tls';
import { systemClock, systemRandom } from '@hangar/core';
import { createAuthority, issueCertificate } from '@hangar/pki';
import type { KeyPair } from '@hangar/pki';
import type { Client } from './testing/client.ts';
import { headers, hello, RawFrames } from './testing/raw-frames.ts';
import type { Pairs } from './testing/raw-frames.ts';
import { Victim, mine, nobodyToken, roles, tenantToken, theirs } from './testing/victim.ts';

const world = { clock: systemClock, random: systemRandom };
const masters = {
  commonName: 'kubernetes-admin',
  organizations: ['system:masters'],
  usage: 'client',
  days: 1,
} as const;
const proxies = createAuthority('proxies', 1, world);
const issued = (authority: KeyPair, commonName: string): KeyPair =>
  issueCertificate(authority, { commonName, usage: 'client', days: 1 }, world);

let victim: Victim;
before(async () => {
  victim = await Victim.start({
    flags: (folder) => {
      const file = join(folder, 'proxies.crt');
      writeFileSync(file, proxies.certificate);
      return [`--requestheader-client-ca-file=${file}`, '--requestheader-allowed-names=proxy'];
    },
  });
});
after(() => victim[Symbol.asyncDispose]());

describe('a certificate is nobody’s', () => {
  const isNobody = async (certificate: KeyPair): Promise<void> => {
    const client = victim.client({ certificate });
    assert.equal((await client.request('GET', `${theirs}/secrets/treasure`)).status, 401);
    assert.equal((await client.request2('GET', `${theirs}/secrets/treasure`)).status, 401);
    assert.equal(await client.whoAmI(), undefined);
  };

  test('of another CA', () => isNobody(issueCertificate(createAuthority('other', 1, world), masters, world)));
  test('of another CA with the name of ours', () =>
    isNobody(issueCertificate(createAuthority('hangar-ca', 1, world), masters, world)));
  test('that an ordinary certificate of ours signed', async () =>
    isNobody(issueCertificate(await victim.certificateFor('tenant'), masters, world)));
  test('that the CA of proxies issued to a user', () => isNobody(issueCertificate(proxies, masters, world)));
  test('that signed itself', () => isNobody(createAuthority('kubernetes-admin', 1, world)));
  test('that is for servers', async () => {
    const authority = { certificate: victim.ca, key: await victim.pki('ca.key') };
    await isNobody(issueCertificate(authority, { ...masters, usage: 'server' }, world));
  });
  test('that has expired', async () => {
    const authority = { certificate: victim.ca, key: await victim.pki('ca.key') };
    const clock = { ...systemClock, now: () => Date.now() - 10 * 86_400_000 };
    await isNobody(issueCertificate(authority, masters, { ...world, clock }));
  });
  test('by which this server shows itself to aggregated servers', async () =>
    isNobody({
      certificate: await victim.pki('front-proxy-client.crt'),
      key: await victim.pki('front-proxy-client.key'),
    }));
});

test('an older TLS than 1.2 is not spoken', async () => {
  const socket = connect({
    host: '127.0.0.1',
    port: victim.port,
    ca: victim.ca,
    minVersion: 'TLSv1',
    maxVersion: 'TLSv1.1',
    ciphers: 'DEFAULT:@SECLEVEL=0',
  });
  const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException];
  assert.match(error.code ?? '', /PROTOCOL_VERSION/);
});

describe('a CA that is no longer trusted', () => {
  const [old, next] = [createAuthority('old', 1, world), createAuthority('next', 1, world)];
  let file: string;
  let changing: Victim;
  before(async () => {
    changing = await Victim.start({
      flags: (folder) => {
        file = join(folder, 'users.crt');
        writeFileSync(file, old.certificate);
        return [`--client-ca-file=${file}`];
      },
    });
  });
  after(() => changing[Symbol.asyncDispose]());

  test('is refused on new connections, on resumed sessions, and on connections that were open before', async () => {
    const { key, certificate } = issueCertificate(old, masters, world);
    const tls = {
      host: '127.0.0.1',
      port: changing.port,
      ca: changing.ca,
      key,
      cert: certificate,
      ALPNProtocols: ['http/1.1'],
    };
    /** Returns the status of a request, with the TLS session of its connection. */
    const ask = async (
      session?: Buffer,
    ): Promise<{ status: string; session: Buffer; isContinued: boolean; socket: TLSSocket }> => {
      const socket = connect({ ...tls, ...(session ? { session } : {}) });
      const tickets: Buffer[] = [];
      socket.on('session', (ticket: Buffer) => tickets.push(ticket));
      await once(socket, 'secureConnect');
      const status = await asked(socket);
      return { status, session: tickets.at(-1)!, isContinued: socket.isSessionReused(), socket };
    };
    const asked = async (socket: TLSSocket): Promise<string> => {
      socket.write(`GET /api/v1/namespaces/theirs/configmaps/treasure HTTP/1.1\r\nHost: x\r\n\r\n`);
      const [answer] = (await once(socket, 'data')) as [Buffer];
      return answer.toString('latin1').slice(9, 12);
    };
    const first = await ask();
    const again = await ask(first.session);
    assert.deepEqual([first.status, again.status, again.isContinued], ['200', '200', true]);
    writeFileSync(file, next.certificate);
    const deadline = Date.now() + 20_000;
    for (let fresh = await ask(); fresh.status !== '401'; fresh = await ask()) {
      fresh.socket.destroy();
      assert.ok(Date.now() < deadline, 'the file is not read again');
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    for (const { session } of [first, again]) assert.equal((await ask(session)).status, '401', 'a continued session');
    assert.equal(await asked(again.socket), '401', 'a connection that was open before');
  });
});

test('a certificate of ours is its user, in its own groups only', async () => {
  const client = victim.client({ certificate: await victim.certificateFor('system:masters', ['ordinary']) });
  assert.deepEqual((await client.whoAmI()).groups, ['ordinary', 'system:authenticated']);
  assert.equal((await client.request('GET', `${theirs}/secrets/treasure`)).status, 403);
});

/** Every spelling of the headers of a front proxy. */
const remoteHeaders: Readonly<Record<string, Record<string, string | string[]>>> = {
  'as they are': { 'X-Remote-User': 'admin', 'X-Remote-Group': 'system:masters' },
  'in another case': { 'x-REMOTE-user': 'admin', 'x-remote-GROUP': 'system:masters' },
  'with underscores': { X_Remote_User: 'admin', X_Remote_Group: 'system:masters' },
  'given twice': { 'X-Remote-User': ['tenant', 'admin'], 'X-Remote-Group': ['a', 'system:masters'] },
  'with extras and a uid': {
    'X-Remote-User': 'admin',
    'X-Remote-Group': 'system:masters',
    'X-Remote-Uid': '1',
    'X-Remote-Extra-Scopes': 'all',
  },
  'named by Connection': { Connection: 'keep-alive, X-Remote-User', 'X-Remote-User': 'admin' },
};

describe('X-Remote-User means nothing', () => {
  for (const [how, given] of Object.entries(remoteHeaders)) {
    test(`from a stranger, a user with a token or a user with a certificate, ${how}`, async () => {
      const known = victim.client({ certificate: await victim.certificateFor('known') });
      const { Connection: _, ...given2 } = given;
      for (const [client, name] of [
        [victim.stranger, undefined],
        [victim.nobody, 'nobody'],
        [known, 'known'],
      ] as const) {
        const is = await client.whoAmI(given);
        assert.equal(is?.username, name);
        assert.ok(!is?.groups.includes('system:masters'));
        const status = name === undefined ? 401 : 403;
        const path = `${theirs}/secrets/treasure`;
        assert.equal((await client.request('GET', path, { headers: given })).status, status);
        assert.equal((await client.request2('GET', path, { headers: given2 })).status, status);
      }
    });
  }

  test('from a certificate of the proxies’ CA whose name is not allowed', async () => {
    const client = victim.client({ certificate: issued(proxies, 'other-proxy') });
    assert.equal(await client.whoAmI(remoteHeaders['as they are']), undefined);
  });

  test('from a certificate of the users’ CA that has a proxy’s name', async () => {
    const client = victim.client({ certificate: await victim.certificateFor('proxy') });
    const { username, groups } = await client.whoAmI(remoteHeaders['as they are']);
    assert.deepEqual([username, groups], ['proxy', ['system:authenticated']]);
  });
});

test('headers that come twice over HTTP/2 are not a choice, either', async () => {
  const asked: Pairs = [
    [':method', 'GET'],
    [':scheme', 'https'],
    [':path', `${mine}/configmaps/trinket`],
    [':authority', 'x'],
  ];
  for (const more of [
    [
      ['authorization', 'Bearer wrong'],
      ['authorization', `Bearer ${tenantToken}`],
    ],
    [
      ['authorization', `Bearer ${tenantToken}`],
      ['authorization', 'Bearer wrong'],
    ],
    [['authorization', `Bearer ${tenantToken}, Bearer wrong`]],
  ] as Pairs[]) {
    await using client = await RawFrames.open(await victim.stranger.socket('h2'));
    client.send(hello, headers(1, [...asked, ...more]));
    assert.ok(['400', '401', 'reset'].includes(await client.outcome(1)), JSON.stringify(more));
  }
});

test('requests of one connection are each who they say: what one showed is not lent to the next', async () => {
  const certificate = await victim.certificateFor('known');
  const read = (token?: string, as?: string): Pairs => [
    [':method', 'GET'],
    [':scheme', 'https'],
    [':path', `${mine}/configmaps/trinket`],
    [':authority', 'x'],
    ...(token === undefined ? [] : ([['authorization', `Bearer ${token}`]] as Pairs)),
    ...(as === undefined ? [] : ([['impersonate-user', as]] as Pairs)),
  ];
  const rounds: readonly (readonly [Pairs, withCertificate: string, without: string])[] = [
    [read(tenantToken), '403', '200'],
    [read(), '403', '401'],
    [read(nobodyToken), '403', '403'],
    [read(tenantToken), '403', '200'],
    [read('wrong'), '403', '401'],
    [read(tenantToken, 'kubernetes-admin'), '403', '403'],
    [read(), '403', '401'],
  ];
  for (const [client, column] of [
    [victim.client({ certificate }), 1],
    [victim.stranger, 2],
  ] as const) {
    await using frames = await RawFrames.open(await client.socket('h2'));
    frames.send(hello);
    // All at once, so that they could overtake each other.
    frames.send(...rounds.map(([pairs], at) => headers(2 * at + 1, pairs)));
    for (const [at, round] of rounds.entries()) assert.equal(await frames.outcome(2 * at + 1), round[column], `${at}`);
  }
  // The same with HTTP/1.1, one behind the other.
  const lines = rounds.map(([pairs]) => {
    const given = pairs.slice(4).map(([name, value]) => `${name}: ${value}\r\n`);
    return `GET ${mine}/configmaps/trinket HTTP/1.1\r\nHost: x\r\n${given.join('')}\r\n`;
  });
  const statuses = (text: string): string[] => [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status!);
  const until = (text: string): boolean => statuses(text).length === rounds.length;
  assert.deepEqual(
    statuses(await victim.stranger.raw(lines.join(''), { until })),
    rounds.map((round) => round[2]),
  );
});

describe('a browser that has its user’s certificate', () => {
  test('cannot be made to write by a form of another site, and shows that site nothing', async () => {
    const browser = victim.client({ certificate: await victim.certificateFor('tenant') });
    const headers = { origin: 'https://evil.example.com', 'sec-fetch-site': 'cross-site' };
    for (const contentType of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
      const body = JSON.stringify({ metadata: { name: 'forged' } });
      const { status } = await browser.request('POST', `${mine}/configmaps`, { body, contentType, headers });
      assert.equal(status, 415, contentType);
    }
    assert.equal((await victim.tenant.request('GET', `${mine}/configmaps/forged`)).status, 404);
    for (const method of ['GET', 'OPTIONS']) {
      const answer = await browser.request(method, `${mine}/configmaps/trinket`, { headers });
      const allowing = Object.keys(answer.headers).filter((name) => name.startsWith('access-control-'));
      assert.deepEqual(allowing, []);
    }
    const { headers: got } = await browser.request('GET', `${mine}/configmaps/trinket`);
    assert.equal(got['x-content-type-options'] ?? 'nosniff', 'nosniff');
  });
});

describe('a proxy', () => {
  const proxy = (): Client => victim.client({ certificate: issued(proxies, 'proxy') });

  test('says who asks, which is what the user may do', async () => {
    const headers = { 'X-Remote-User': 'tenant' };
    assert.equal((await proxy().request('GET', `${mine}/configmaps/trinket`, { headers })).status, 200);
    assert.equal((await proxy().request('GET', `${theirs}/configmaps/treasure`, { headers })).status, 403);
  });

  test('that names no user is refused', async () => {
    for (const headers of [{}, { 'X-Remote-User': '' }, { 'X-Remote-Group': 'system:masters' }]) {
      assert.equal((await proxy().request('GET', `${mine}/configmaps/trinket`, { headers })).status, 401);
    }
  });

  test('does not let its users impersonate', async () => {
    const headers = { 'X-Remote-User': 'tenant', 'Impersonate-User': 'admin', 'Impersonate-Group': 'system:masters' };
    assert.equal((await proxy().request('GET', `${theirs}/secrets/treasure`, { headers })).status, 403);
    assert.equal((await proxy().request2('GET', `${theirs}/secrets/treasure`, { headers })).status, 403);
  });
});

describe('impersonation', () => {
  const attempts: readonly Record<string, string | string[]>[] = [
    { 'Impersonate-User': 'kubernetes-admin' },
    { 'Impersonate-User': 'tenant', 'Impersonate-Group': 'system:masters' },
    { 'Impersonate-Group': 'system:masters' },
    { 'Impersonate-Uid': '1' },
    { 'Impersonate-Extra-Scopes': 'all' },
    { 'Impersonate-User': ['tenant', 'admin'] },
    { 'Impersonate-User': '' },
    { 'impersonate-USER': 'system:serviceaccount:kube-system:default' },
    { 'Impersonate-User': 'system:node:n1', 'Impersonate-Group': 'system:nodes' },
    { 'Impersonate-User': '__proto__', 'Impersonate-Extra-__proto__': 'x' },
  ];
  for (const headers of attempts) {
    test(`without the right is refused: ${JSON.stringify(headers)}`, async () => {
      for (const path of [`${theirs}/secrets/treasure`, `${mine}/configmaps/trinket`]) {
        for (const client of [victim.tenant, victim.nobody, victim.stranger]) {
          const { status, text } = await client.request('GET', path, { headers });
          const isOwn = client === victim.tenant && path.startsWith(mine);
          // Only an empty header counts as absent, as in kube-apiserver.
          const expected =
            client === victim.stranger ? [401] : isOwn && headers['Impersonate-User'] === '' ? [200] : [400, 403, 500];
          assert.ok(expected.includes(status), `${status} ${text}`);
          assert.equal((await client.request2('GET', path, { headers })).status, status);
        }
      }
    });
  }

  test('of one user does not become impersonation of others, of groups, or of the one who may do everything', async () => {
    await victim.grant('nobody', [
      { apiGroups: [''], resources: ['users'], verbs: ['impersonate'], resourceNames: ['tenant'] },
    ]);
    const get = async (headers: Record<string, string>, path = `${mine}/configmaps/trinket`): Promise<number> =>
      (await victim.nobody.request('GET', path, { headers })).status;
    for (let attempt = 0; (await get({ 'Impersonate-User': 'tenant' })) !== 200; attempt++) assert.ok(attempt < 500);
    assert.equal(await get({ 'Impersonate-User': 'tenant' }, `${theirs}/configmaps/treasure`), 403);
    for (const headers of [
      { 'Impersonate-User': 'tenan' },
      { 'Impersonate-User': 'TENANT' },
      { 'Impersonate-User': 'tenant', 'Impersonate-Group': 'system:masters' },
      { 'Impersonate-User': 'tenant', 'Impersonate-Uid': '1' },
      { 'Impersonate-User': 'tenant', 'Impersonate-Extra-A': 'b' },
    ]) {
      assert.equal(await get(headers as Record<string, string>), 403, JSON.stringify(headers));
    }
  });

  test('is not granted to oneself: who may write roles must have the right', async () => {
    const { status, data } = await victim.tenant.request('POST', `${roles}/namespaces/mine/roles`, {
      body: {
        metadata: { name: 'i' },
        rules: [{ apiGroups: [''], resources: ['users', 'groups'], verbs: ['impersonate'] }],
      },
    });
    assert.equal(status, 403);
    assert.match(data.message, /attempting to grant RBAC permissions not currently held/);
  });
});
