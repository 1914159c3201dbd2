import assert from 'node:assert/strict';
import { createHash, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { describe, test } from 'node:test';
import { checkServerIdentity as checkIdentity, connect as connectTls } from 'node:tls';
import type { TLSSocket } from 'node:tls';
import { createAuthority, issueCertificate } from '@hangar/pki';
import { DirectConnection } from '../outbound/direct-connection.ts';
import type { DirectTlsOptions } from '../outbound/index.ts';
import { NodeConnections } from './node-connections.ts';
import type { Backend, NodeCredentials } from './node-connections.ts';
import { startKubelet, world } from './testing/kubelet.ts';
import type { TestKubelet } from './testing/kubelet.ts';

const authority = createAuthority('nodes', 1, world);
const newCredentials = (): NodeCredentials => ({
  ca: authority.certificate,
  clientCertificate: issueCertificate(authority, { commonName: 'apiserver', usage: 'client', days: 1 }, world),
});

class Connections {
  nowMs = 0;
  credentials = newCredentials();
  isTunneled = false;
  readonly #connections: NodeConnections;

  constructor(kubelet: TestKubelet) {
    this.#connections = new NodeConnections({
      dialer: {
        async dial() {
          const socket = connect(kubelet.port, '127.0.0.1');
          await once(socket, 'connect');
          return socket;
        },
        dialTls: (_, tls) => (this.isTunneled ? undefined : this.#dialTls(kubelet.port, tls)),
      },
      credentials: () => this.credentials,
      clock: { ...world.clock, monotonicMs: () => this.nowMs },
    });
  }

  async #dialTls(port: number, { host = '', ...tls }: DirectTlsOptions): Promise<TLSSocket> {
    const checkServerIdentity: typeof checkIdentity = (_, certificate) => checkIdentity(host, certificate);
    return connectTls({ ...tls, host: '127.0.0.1', port, checkServerIdentity });
  }

  open(backend: Partial<Backend> = {}, isDirect = false): Promise<Duplex> {
    const whole: Backend = { scheme: 'https', host: '10.0.0.5', port: 10250, peer: 'kubelet', ...backend };
    return this.#connections.open(whole, isDirect ? { use: 'upgrade' } : {});
  }

  /** Opens a connection, makes a request, and reports whether the connection resumed a session. */
  async isResumed(backend: Partial<Backend> = {}): Promise<boolean> {
    const socket = (await this.open(backend)) as TLSSocket;
    const isResumed = socket.isSessionReused();
    socket.end('GET /healthz HTTP/1.1\r\nHost: node\r\nConnection: close\r\n\r\n');
    await socket.toArray();
    return isResumed;
  }
}

describe('connections to a kubelet', () => {
  test('resume the session of an earlier connection, with the same client certificate', async () => {
    await using kubelet = await startKubelet({ authority, hosts: ['10.0.0.5'] });
    const connections = new Connections(kubelet);
    assert.deepEqual([await connections.isResumed(), await connections.isResumed()], [false, true]);
    const [first, second] = kubelet.requests;
    assert.deepEqual([first!.user, second!.user], ['apiserver', 'apiserver']);
    assert.deepEqual([first!.isAuthorized, second!.isAuthorized], [true, true]);
  });

  test('verify the kubelet again after ten minutes, also if sessions were resumed meanwhile', async () => {
    await using kubelet = await startKubelet({ authority, hosts: ['10.0.0.5'] });
    const connections = new Connections(kubelet);
    await connections.isResumed();
    connections.nowMs = 6 * 60_000;
    assert.equal(await connections.isResumed(), true);
    connections.nowMs = 12 * 60_000;
    assert.equal(await connections.isResumed(), false);
    assert.equal(await connections.isResumed(), true);
  });

  test('begin a new session with new credentials', async () => {
    await using kubelet = await startKubelet({ authority, hosts: ['10.0.0.5'] });
    const connections = new Connections(kubelet);
    await connections.isResumed();
    connections.credentials = newCredentials();
    assert.equal(await connections.isResumed(), false);
  });

  test('never resume the session of another address', async () => {
    await using kubelet = await startKubelet({ authority, hosts: ['10.0.0.5'] });
    const connections = new Connections(kubelet);
    await connections.isResumed();
    assert.equal(await connections.isResumed({ port: 10255 }), false);
    await assert.rejects(
      connections.isResumed({ host: '10.0.0.6' }),
      /certificate is valid for|not in the cert's list/,
    );
  });

  test('resume the session of a kubelet with a pinned certificate only with the same pin', async () => {
    await using kubelet = await startKubelet({ authority: createAuthority('other', 1, world), hosts: ['10.0.0.5'] });
    const connections = new Connections(kubelet);
    const pin = createHash('sha256').update(new X509Certificate(kubelet.certificate).raw).digest('hex');
    assert.deepEqual([await connections.isResumed({ pin }), await connections.isResumed({ pin })], [false, true]);
    for (let attempt = 0; attempt < 2; attempt++) {
      await assert.rejects(connections.isResumed({ pin: '00' }), /the SHA-256 of the certificate is/);
    }
    await assert.rejects(connections.isResumed(), /failed to verify certificate/);
  });

  test('resume no session of a kubelet that was not verified', async () => {
    await using kubelet = await startKubelet({ authority, hosts: ['10.0.0.5'] });
    const connections = new Connections(kubelet);
    const peer = 'unverified-kubelet';
    assert.deepEqual([await connections.isResumed({ peer }), await connections.isResumed({ peer })], [false, false]);
    assert.equal(await connections.isResumed(), false);
  });

  test('verify the kubelet of a direct connection', async () => {
    await using kubelet = await startKubelet({ authority: createAuthority('other', 1, world), hosts: ['10.0.0.5'] });
    const connections = new Connections(kubelet);
    await assert.rejects(connections.open({}, true), /failed to verify certificate/);
    await assert.rejects(connections.open({ pin: '00' }, true), /the SHA-256 of the certificate is/);
    const pin = createHash('sha256').update(new X509Certificate(kubelet.certificate).raw).digest('hex');
    (await connections.open({ pin }, true)).destroy();
  });

  test('are direct only if the dialer opens them from this process', async () => {
    await using kubelet = await startKubelet({ authority, hosts: ['10.0.0.5'] });
    const connections = new Connections(kubelet);
    for (const isTunneled of [false, true]) {
      connections.isTunneled = isTunneled;
      const connection = await connections.open({}, true);
      assert.equal(connection instanceof DirectConnection, !isTunneled);
      connection.end('GET /healthz HTTP/1.1\r\nHost: node\r\nConnection: close\r\n\r\n');
      assert.match(Buffer.concat(await connection.toArray()).toString(), /\r\n\r\nok$/);
    }
  });
});
