import assert from 'node:assert/strict';
import { createHash, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { createAuthority, issueCertificate } from '@hangar/pki';
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
  readonly #connections: NodeConnections;

  constructor(kubelet: TestKubelet) {
    this.#connections = new NodeConnections({
      dialer: {
        async dial() {
          const socket = connect(kubelet.port, '127.0.0.1');
          await once(socket, 'connect');
          return socket;
        },
      },
      credentials: () => this.credentials,
      clock: { ...world.clock, monotonicMs: () => this.nowMs },
    });
  }

  /** Opens a connection, makes a request, and reports whether the connection resumed a session. */
  async isResumed(backend: Partial<Backend> = {}): Promise<boolean> {
    const whole: Backend = { scheme: 'https', host: '10.0.0.5', port: 10250, peer: 'kubelet', ...backend };
    const socket = (await this.#connections.open(whole)) as TLSSocket;
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
});
