/** Test fixture for real TLS: a port with any handler, and clients with any certificate. */

import { once } from 'node:events';
import { connect } from 'node:tls';
import type { ConnectionOptions } from 'node:tls';
import { systemClock, systemRandom } from '@hangar/core';
import { createAuthority, issueCertificate } from '@hangar/pki';
import type { KeyPair } from '@hangar/pki';
import { listen } from '../listener.ts';
import type { Listener, ListenOptions } from '../listener.ts';
import type { Handler } from '../message.ts';

export const world = { clock: systemClock, random: systemRandom };

/** CA of the port. */
export const serving = createAuthority('serving', 10, world);

export class TestPort implements AsyncDisposable {
  readonly listener: Listener;
  /** Session of the last connection, for resumption. */
  session: Buffer | undefined;
  isReused = false;

  private constructor(listener: Listener) {
    this.listener = listener;
  }

  static async open(handler: Handler, options: Partial<ListenOptions> & Pick<ListenOptions, 'clientCas'>) {
    const own = issueCertificate(
      serving,
      { commonName: 'port', usage: 'server', hosts: ['localhost', '127.0.0.1'], days: 5 },
      world,
    );
    const basics = {
      host: '127.0.0.1',
      port: 0,
      key: own.key,
      certificate: own.certificate,
      clock: systemClock,
      handler,
    };
    return new TestPort(await listen({ ...basics, ...options }));
  }

  /** Returns the body of the response, and the certificate of the port. */
  async ask(options: ConnectionOptions = {}): Promise<{ body: string; shown: string }> {
    const socket = connect({
      host: '127.0.0.1',
      port: this.listener.port,
      ca: serving.certificate,
      servername: 'localhost',
      ALPNProtocols: ['http/1.1'],
      ...options,
    });
    socket.on('session', (session: Buffer) => (this.session = session));
    await once(socket, 'secureConnect');
    this.isReused = socket.isSessionReused();
    const shown = socket.getPeerX509Certificate()?.subjectAltName ?? '';
    socket.write(`GET / HTTP/1.1\r\nHost: ${options.servername ?? 'localhost'}\r\nConnection: close\r\n\r\n`);
    const answer = (await socket.toArray()).join('');
    return { body: answer.split('\r\n\r\n')[1] ?? '', shown };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.listener.close();
  }
}

/** Client options: a certificate with its key, and additional certificates to send. */
export const showing = (pair: KeyPair, ...more: readonly string[]): ConnectionOptions => ({
  cert: [pair.certificate, ...more].join(''),
  key: pair.key,
});
