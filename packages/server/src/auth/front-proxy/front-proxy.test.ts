/** Front proxies over real TLS: accepted only with their CA and an allowed name; headers of other clients are ignored. */

import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { request as httpsRequest } from 'node:https';
import { test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import type { IncomingMessage } from 'node:http';
import { systemClock, systemRandom } from '@hangar/core';
import { createAuthority, issueCertificate } from '@hangar/pki';
import type { KeyPair } from '@hangar/pki';
import { listen } from '../../http/listener.ts';
import type { Listener } from '../../http/listener.ts';
import type { ServerRequest } from '../../http/message.ts';
import { bytesAnswer } from '../../objects/answers.ts';
import { CertificateAuthenticator } from '../authenticate.ts';
import { Guard } from '../guard.ts';
import type { User } from '../user.ts';
import { FrontProxyAuthenticator } from './front-proxy.ts';

const world = { clock: systemClock, random: systemRandom };
const users = createAuthority('users', 10, world);
const proxies = createAuthority('proxies', 10, world);
const strangers = createAuthority('strangers', 10, world);
const client = (authority: KeyPair, commonName: string, organizations: string[] = []): KeyPair =>
  issueCertificate(authority, { commonName, organizations, usage: 'client', days: 5 }, world);

class Server implements AsyncDisposable {
  readonly #listener: Listener;
  /** TLS session of the last connection. */
  session: Buffer | undefined;
  isReused = false;

  private constructor(listener: Listener) {
    this.#listener = listener;
  }

  /** Responds with the user of the request. */
  static async start(allowedNames: readonly string[] = ['front-proxy-client']): Promise<Server> {
    const guard = new Guard({
      authenticators: [
        new FrontProxyAuthenticator(systemClock, {
          authorities: proxies.certificate,
          allowedNames,
          usernameHeaders: ['X-Remote-User'],
          uidHeaders: ['X-Remote-Uid'],
          groupHeaders: ['X-Remote-Group'],
          extraHeaderPrefixes: ['X-Remote-Extra-'],
        }),
        new CertificateAuthenticator(systemClock, users.certificate),
      ],
      authorizers: [],
    });
    const answer = async (request: ServerRequest) =>
      bytesAnswer(200, 'application/json', Buffer.from(JSON.stringify((await guard.identify(request)) ?? null)));
    const own = issueCertificate(
      users,
      { commonName: 'server', usage: 'server', hosts: ['127.0.0.1'], days: 5 },
      world,
    );
    const listener = await listen({
      host: '127.0.0.1',
      port: 0,
      key: own.key,
      certificate: own.certificate,
      clientCas: `${users.certificate}\n${proxies.certificate}`,
      clock: systemClock,
      handler: answer,
    });
    return new Server(listener);
  }

  /** `session`: the TLS session of an earlier connection to resume. */
  async whoAsks(
    pair: KeyPair | undefined,
    headers: Record<string, string | string[]>,
    session?: Buffer,
  ): Promise<User | null> {
    const outgoing = httpsRequest({
      host: '127.0.0.1',
      port: this.#listener.port,
      ca: users.certificate,
      ...(pair ? { key: pair.key, cert: pair.certificate } : {}),
      headers,
      agent: false,
      ...(session ? { session } : {}),
    });
    outgoing.once('socket', (socket) => {
      socket.on('session', (made: Buffer) => (this.session = made));
      socket.once('secureConnect', () => (this.isReused = (socket as TLSSocket).isSessionReused()));
    });
    outgoing.end();
    const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    return JSON.parse(Buffer.concat(chunks).toString()) as User | null;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#listener.close();
  }
}

const headers = {
  'X-Remote-User': 'jane',
  'X-Remote-Uid': '7',
  'X-Remote-Group': ['dev', 'a, system:masters'],
  'X-Remote-Extra-Example.com%2fScopes': 'view',
};

test('a proxy says who asks', async () => {
  await using server = await Server.start();
  assert.deepEqual(await server.whoAsks(client(proxies, 'front-proxy-client'), headers), {
    name: 'jane',
    uid: '7',
    // One group with a comma in its name, not two groups.
    groups: ['dev', 'a, system:masters', 'system:authenticated'],
    extra: { 'example.com/scopes': ['view'] },
  });
});

test('headers of other clients are ignored', async () => {
  await using server = await Server.start();
  const admin = { ...headers, 'X-Remote-User': 'admin', 'X-Remote-Group': 'system:masters' };
  assert.equal(await server.whoAsks(undefined, admin), null);
  const jane = await server.whoAsks(client(users, 'jane', ['dev']), admin);
  assert.deepEqual([jane?.name, jane?.groups], ['jane', ['dev', 'system:authenticated']]);
  // An allowed name issued by the CA of users; another name issued by the CA of proxies; an allowed name issued by an untrusted CA.
  assert.equal((await server.whoAsks(client(users, 'front-proxy-client'), admin))?.name, 'front-proxy-client');
  assert.equal(await server.whoAsks(client(proxies, 'another'), admin), null);
  assert.equal(await server.whoAsks(client(strangers, 'front-proxy-client'), admin), null);
});

test("a certificate of the proxies' CA is no user itself", async () => {
  await using server = await Server.start();
  assert.equal(await server.whoAsks(client(proxies, 'front-proxy-client', ['system:masters']), {}), null);
  assert.equal(await server.whoAsks(client(proxies, 'admin', ['system:masters']), {}), null);
});

test('without a list of names every certificate of the CA is a proxy', async () => {
  await using server = await Server.start([]);
  assert.equal((await server.whoAsks(client(proxies, 'any'), headers))?.name, 'jane');
  assert.equal((await server.whoAsks(client(users, 'any'), headers))?.name, 'any');
});

test('a user is known by its certificate: name, groups, uid and digest', async () => {
  await using server = await Server.start();
  const request = { commonName: 'jane', organizations: ['a', 'b'], uid: '7', usage: 'client', days: 5 } as const;
  const pair = issueCertificate(users, request, world);
  const digest = new X509Certificate(pair.certificate).fingerprint256.replaceAll(':', '').toLowerCase();
  assert.deepEqual(await server.whoAsks(pair, {}), {
    name: 'jane',
    uid: '7',
    groups: ['a', 'b', 'system:authenticated'],
    extra: { 'authentication.kubernetes.io/credential-id': [`X509SHA256=${digest}`] },
  });
});

test('certificates out of their time, for servers or of strangers are nobody', async () => {
  await using server = await Server.start();
  const at = (days: number) => ({ ...world, clock: { ...systemClock, now: () => Date.now() + days * 86_400_000 } });
  const jane = { commonName: 'jane', usage: 'client', days: 5 } as const;
  for (const pair of [
    issueCertificate(users, jane, at(-6)),
    issueCertificate(users, jane, at(2)),
    issueCertificate(users, { ...jane, usage: 'server' }, world),
    issueCertificate(strangers, jane, world),
    issueCertificate(createAuthority('users', 10, world), jane, world),
  ]) {
    assert.equal(await server.whoAsks(pair, {}), null);
  }
  assert.equal((await server.whoAsks(issueCertificate(users, jane, world), {}))?.name, 'jane');
});

test('a connection that continues another one is the same user, and a proxy stays a proxy', async () => {
  await using server = await Server.start();
  for (const pair of [client(users, 'jane'), client(proxies, 'front-proxy-client')]) {
    const first = await server.whoAsks(pair, headers);
    assert.ok(server.session);
    assert.deepEqual(await server.whoAsks(undefined, headers, server.session), first);
    assert.ok(server.isReused);
  }
});
