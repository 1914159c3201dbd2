/** Cases that depend on real connections: authentication by TLS, server names, and sequences of requests. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import type { ConnectionOptions } from 'node:tls';
import { issueCertificate } from '@hangar/pki';
import { platformCa, Port, request2, serving, showing, statusesIn } from '../testing/port.ts';
import { isMarked, inDefault, pkiWorld, tenants, until } from '../testing/world.ts';
import type { Resident, World } from '../testing/world.ts';

const shared = `${inDefault}/configmaps/shared`;

const masters = { commonName: 'admin', organizations: ['system:masters'] };
const adminOf = (one: Resident): ConnectionOptions => showing(one.certificate(masters));

interface Line {
  readonly target: string;
  readonly host?: string;
  readonly token?: string;
  readonly more?: string;
}

const head = ({ target, host = 'localhost', token, more = '' }: Line, isLast = false): string =>
  [
    `GET ${target} HTTP/1.1`,
    `Host: ${host}`,
    ...(token === undefined ? [] : [`Authorization: Bearer ${token}`]),
    ...(isLast ? ['Connection: close'] : []),
    `${more}\r\n`,
  ].join('\r\n');

const pipelined = (lines: readonly Line[]): string =>
  lines.map((line, at) => head(line, at === lines.length - 1)).join('');

export function connectionCases(get: () => World): void {
  describe('over real connections', () => {
    let port: Port;
    before(async () => {
      port = await Port.open(get());
    });
    after(() => port?.[Symbol.asyncDispose]());

    test('one connection with one tenant’s certificate has no user in the others, between requests to its own', async () => {
      const { ada, bob } = get();
      const targets = [ada.plane, bob.plane, '', ada.plane, `/projects/${bob.name}/control-plane`, ada.plane];
      const text = await port.raw(pipelined(targets.map((plane) => ({ target: plane + shared }))), adminOf(ada));
      assert.deepEqual(statusesIn(text), [200, 401, 401, 200, 401, 200]);
      assert.ok(text.includes(ada.marker) && !isMarked(text, bob.marker));
    });

    test('one connection with tokens of several tenants takes each where it belongs, pipelined in any order', async () => {
      const { ada, bob } = get();
      const tokens = [ada.robot.token!, bob.robot.token!];
      const lines = [0, 1, 0, 0, 1, 1].flatMap((at) => [
        { target: ada.plane + shared, token: tokens[at]! },
        { target: bob.plane + shared, token: tokens[at]! },
      ]);
      const statuses = statusesIn(await port.raw(pipelined(lines)));
      assert.deepEqual(
        statuses,
        [0, 1, 0, 0, 1, 1].flatMap((at) => (at === 0 ? [200, 401] : [401, 200])),
      );
    });

    test('a certificate of one tenant and a token of another on one connection are two people', async () => {
      const { ada, bob } = get();
      const token = bob.robot.token!;
      const lines = [
        { target: bob.plane + shared, token },
        { target: ada.plane + shared, token },
        { target: bob.plane + shared },
      ];
      assert.deepEqual(statusesIn(await port.raw(pipelined(lines), adminOf(ada))), [200, 200, 401]);
    });

    test('streams of one HTTP/2 connection, all at once, are each for their own tenant', async () => {
      const { ada, bob } = get();
      const session = port.http2(adminOf(ada));
      const answers = await Promise.all(
        Array.from({ length: 40 }, (_, at) => request2(session, { ':path': (at % 2 ? ada : bob).plane + shared })),
      );
      for (const [at, { status, text }] of answers.entries()) {
        assert.equal(status, at % 2 ? 200 : 401);
        assert.ok(!isMarked(text, bob.marker));
      }
      session.destroy();
    });

    test('a connection that was opened for one host is for no other, by Host and by :authority', async () => {
      const { ada, bob } = get();
      for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
        const options = { ...adminOf(ada), servername: bob.host, maxVersion };
        const hosts = [ada.host, bob.host, 'localhost', 'nobody.example.com', `${ada.host}:443`];
        const text = await port.raw(pipelined(hosts.map((host) => ({ target: shared, host }))), options);
        assert.deepEqual(statusesIn(text), [421, 401, 421, 421, 421]);
        const session = port.http2(options);
        for (const [authority, expected] of [
          [ada.host, 421],
          [bob.host, 401],
          ['localhost', 421],
        ] as const) {
          assert.equal((await request2(session, { ':path': shared, ':authority': authority })).status, expected);
        }
        session.destroy();
      }
    });

    test('two names in one request are refused', async () => {
      const { ada, bob } = get();
      const twice = head({ target: shared, host: ada.host, more: `Host: ${bob.host}\r\n` }, true);
      assert.deepEqual(statusesIn(await port.raw(twice, adminOf(ada))), [400]);
      const session = port.http2(adminOf(ada));
      const { status } = await request2(session, { ':path': shared, ':authority': ada.host, host: bob.host });
      assert.ok(status === 400 || status === 0, String(status));
      session.destroy();
    });

    test('names that are nearly a host’s lead to no tenant', async () => {
      const { bob } = get();
      for (const host of [
        `${bob.host}.`,
        `x${bob.host}`,
        `${bob.host}.evil.org`,
        'xn--bb-emc.example.com',
        `${bob.host}%00`,
        `ada@${bob.host}`,
        `[${bob.host}]`,
        `${bob.host},localhost`,
      ]) {
        const statuses = statusesIn(await port.raw(head({ target: shared, host }, true), adminOf(bob)));
        assert.ok([400, 401].includes(statuses[0]!), `${host}: ${statuses.join()}`);
      }
      // Exact, in any case and with a port, it does.
      for (const host of [bob.host, bob.host.toUpperCase(), `${bob.host}:6443`]) {
        assert.deepEqual(statusesIn(await port.raw(head({ target: shared, host }, true), adminOf(bob))), [200], host);
      }
    });

    test('targets with a host, a way around or an escape in them lead to no other tenant', async () => {
      const { ada, bob } = get();
      for (const target of [
        `https://${bob.host}${shared}`,
        `https://127.0.0.1${bob.plane}${shared}`,
        `http://${bob.host}${shared}`,
        `//${bob.host}${shared}`,
        `//clusters/bob/control-plane${shared}`,
        `${ada.plane}/../../bob/control-plane${shared}`,
        `${ada.plane}/%2e%2e/%2e%2e/bob/control-plane${shared}`,
        `${ada.plane}/%252e%252e/%252e%252e/bob/control-plane${shared}`,
        `${ada.plane}/..;/..;/bob/control-plane${shared}`,
        `${ada.plane}\\..\\..\\bob\\control-plane${shared}`,
        `/clusters/ada/control-plane%2f..%2f..%2fbob/control-plane${shared}`,
        `/clusters/ada/../bob/control-plane${shared}`,
        `/clusters/ada%2f..%2fbob/control-plane${shared}`,
        `/Clusters/bob/control-plane${shared}`,
        `/clusters/BOB/control-plane${shared}`,
        `/clusters/bob;a=b/control-plane${shared}`,
        `/clusters/bob/control-plane;a=b${shared}`,
        `*`,
        `?${bob.plane}${shared}`,
        `${bob.plane}${shared}#${ada.plane}`,
      ]) {
        for (const host of ['localhost', ada.host, bob.host]) {
          const text = await port.raw(head({ target, host }, true), adminOf(ada));
          const [status] = statusesIn(text);
          assert.ok(status === undefined || status >= 400, `${target} at ${host}: ${text.slice(0, 300)}`);
          assert.ok(!isMarked(text, bob.marker), target);
        }
        const session = port.http2(adminOf(ada));
        const answer = await request2(session, { ':path': target });
        assert.ok((answer.status === 0 || answer.status >= 400) && !isMarked(answer.text, bob.marker), target);
        session.destroy();
      }
    });

    test('headers that tell proxies where to go are not obeyed', async () => {
      const { ada, bob } = get();
      const more = [
        `X-Forwarded-Host: ${bob.host}`,
        `X-Forwarded-Server: ${bob.host}`,
        `X-Host: ${bob.host}`,
        `Forwarded: host=${bob.host};proto=https`,
        `X-Original-URL: ${bob.plane}${shared}`,
        `X-Rewrite-URL: ${bob.plane}${shared}`,
        `X-Remote-User: admin`,
        `X-Remote-Group: system:masters`,
        '',
      ].join('\r\n');
      const text = await port.raw(head({ target: ada.plane + shared, more }, true), adminOf(ada));
      assert.deepEqual(statusesIn(text), [200]);
      assert.ok(text.includes(ada.marker) && !isMarked(text, bob.marker));
      const other = await port.raw(head({ target: bob.plane + shared, more }, true), adminOf(ada));
      assert.deepEqual(statusesIn(other), [401]);
    });

    test('a body that could be another request is not taken for one', async () => {
      const { ada, bob } = get();
      const hidden = head({ target: bob.plane + shared, token: 'admin' });
      const bytes = [
        `POST ${ada.plane}${inDefault}/configmaps HTTP/1.1`,
        'Host: localhost',
        `Content-Length: ${hidden.length}`,
        'Transfer-Encoding: chunked',
        '',
        `0\r\n\r\n${hidden}`,
      ].join('\r\n');
      const text = await port.raw(bytes, adminOf(ada), 1);
      assert.deepEqual(statusesIn(text), [400]);
      assert.ok(!isMarked(text, bob.marker));
    });

    test('a session that is resumed under another name is still of the same client', async () => {
      const { ada, bob } = get();
      for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
        const first = { ...adminOf(ada), servername: ada.host, maxVersion };
        assert.deepEqual(statusesIn(await port.raw(head({ target: shared, host: ada.host }, true), first)), [200]);
        const { session } = port;
        assert.ok(session);
        const resumed = { ...adminOf(bob), servername: bob.host, maxVersion, session };
        const text = await port.raw(head({ target: shared, host: bob.host }, true), resumed);
        const [status] = statusesIn(text);
        // Resumed, it belongs to ada; otherwise it is authenticated by its own certificate.
        assert.ok(status === 401 || status === 421 || text.includes(bob.marker), text.slice(0, 200));
        const stolen = { servername: bob.host, maxVersion, session };
        const other = await port.raw(head({ target: shared, host: bob.host }, true), stolen);
        assert.ok(!isMarked(other, bob.marker) && statusesIn(other)[0]! >= 400);
      }
    });

    test('a certificate for a host names that host alone', async () => {
      const { ada, bob } = get();
      for (const [servername, expected] of [
        [ada.host, `DNS:${ada.host}`],
        [bob.host, `DNS:${bob.host}`],
      ] as const) {
        const socket = await port.socket({ servername });
        const certificate = socket.getPeerX509Certificate()!;
        assert.equal(certificate.subjectAltName, expected);
        assert.ok(!certificate.subject.includes('ada') && !certificate.subject.includes('bob'));
        socket.destroy();
      }
      const socket = await port.socket({ servername: 'localhost' });
      assert.ok(!/ada|bob/.test(socket.getPeerX509Certificate()!.subjectAltName!));
      socket.destroy();
    });

    test('users of the platform by their certificates: masters enter, all others find nothing', async () => {
      const { bob } = get();
      const user = (commonName: string, organizations: string[]) =>
        showing(issueCertificate(platformCa, { commonName, organizations, usage: 'client', days: 1 }, pkiWorld));
      const lines = [{ target: bob.plane + shared }, { target: '/clusters/nobodys/control-plane/api' }];
      assert.deepEqual(statusesIn(await port.raw(pipelined(lines), user('boss', ['system:masters']))), [200, 404]);
      const plain = await port.raw(pipelined(lines), user('someone', ['people']));
      assert.deepEqual(statusesIn(plain), [404, 404]);
      const [first, second] = plain
        .split(/HTTP\/1\.1 404/)
        .slice(1)
        .map((one) => one.replace(/date: [^\r]*\r\n|connection: [^\r]*\r\n|keep-alive: [^\r]*\r\n/gi, ''));
      assert.equal(first, second);
    });

    test('an upgrade to another tenant is refused before anything is taken over', async () => {
      const { ada, bob } = get();
      const more =
        'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n';
      for (const rest of [
        `${inDefault}/pods/x/exec?command=sh`,
        `${inDefault}/configmaps?watch=true`,
        '/apis/x.example.com/v1/y',
      ]) {
        const text = await port.raw(head({ target: bob.plane + rest, more }), adminOf(ada), 1);
        assert.deepEqual(statusesIn(text), [401]);
      }
    });

    test('a connection from before a tenant was destroyed has no user in the tenant that replaced it', async () => {
      const world = get();
      const old = await world.tenant({ deletionPolicy: 'Destroy' });
      const socket = await port.socket(adminOf(old));
      const answers: string[] = [];
      socket.on('data', (chunk: Buffer) => answers.push(chunk.toString()));
      const ask = async (token?: string): Promise<number> => {
        const before = statusesIn(answers.join('')).length;
        socket.write(
          head({ target: `${old.plane}${inDefault}/configmaps`, ...(token === undefined ? {} : { token }) }),
        );
        while (statusesIn(answers.join('')).length === before) await once(socket, 'data');
        return statusesIn(answers.join('')).at(-1)!;
      };
      assert.deepEqual([await ask(), await ask(old.robot.token!)], [200, 200]);
      await world.expect(200, 'DELETE', `${tenants}/${old.name}`);
      assert.deepEqual([await ask(), await ask(old.robot.token!)], [401, 401]);
      await world.server.make(old.name);
      assert.deepEqual([await ask(), await ask(old.robot.token!)], [401, 401]);
      socket.destroy();
    });

    test('an aggregated API or webhook that leads back to this server has no user there, on any path', async () => {
      const world = get();
      const { bob } = world;
      const own = await world.tenant();
      await own.create(`${inDefault}/services`, {
        metadata: { name: 'loop' },
        spec: { type: 'ExternalName', externalName: 'localhost' },
      });
      const begun = port.answered.length;
      const before = await bob.stored();
      // The path of an aggregated API is the path to a tenant: the server calls itself, as this tenant's front proxy.
      await own.create('/apis/apiregistration.k8s.io/v1/apiservices', {
        metadata: { name: 'v1alpha1.resourcemanager.miloapis.com' },
        spec: {
          group: 'resourcemanager.miloapis.com',
          version: 'v1alpha1',
          service: { name: 'loop', namespace: 'default', port: port.number },
          groupPriorityMinimum: 100,
          versionPriority: 10,
          insecureSkipTLSVerify: true,
        },
      });
      const way = `/apis/resourcemanager.miloapis.com/v1alpha1/projects/bob/control-plane${shared}`;
      await until('it is handed on', async () => (await own.request('GET', way)).status !== 404);
      for (const method of ['GET', 'DELETE']) {
        const answer = await world.server.answer(method, own.plane + way, own.administrator);
        assert.ok(answer.status >= 400, `${answer.status}`);
      }
      await until('it has asked itself', async () => port.answered.length > begun);
      const asked = port.answered.length;
      await own.create('/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', {
        metadata: { name: 'loop' },
        webhooks: [
          {
            name: 'loop.example.com',
            clientConfig: {
              url: `https://127.0.0.1:${port.number}${bob.plane}${inDefault}/configmaps`,
              caBundle: Buffer.from(serving.certificate).toString('base64'),
            },
            rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE'] }],
            sideEffects: 'None',
            failurePolicy: 'Fail',
            admissionReviewVersions: ['v1'],
          },
        ],
      });
      await until('it is called', async () => {
        const body = { metadata: { generateName: 'x-' } };
        return (await own.request('POST', `${inDefault}/configmaps`, { body })).status !== 201;
      });
      assert.ok(port.answered.length > asked);
      for (const { target, status } of port.answered.slice(begun)) assert.equal(status, 401, target);
      assert.deepEqual(await bob.stored(), before);
    });
  });
}
