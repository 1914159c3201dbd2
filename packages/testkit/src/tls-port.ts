/** Serves a handler with TLS on loopback with a separate CA, for tests that need a real socket. */

import type { ClusterConfig, InProcessHandler } from '@hangar/client';
import { systemClock } from '@hangar/core';
import { kubeconfig } from '@hangar/pki';
import { listen } from '@hangar/server';
import type { Handler } from '@hangar/server';
import { tellError } from './root-plane.ts';
import { testAuthority } from './test-authority.ts';
import type { TestPair } from './test-authority.ts';
import { administrator } from './users.ts';
import type { TestUser } from './users.ts';

export interface TlsPort {
  /** `https://127.0.0.1:port`. */
  readonly url: string;
  /** `path`: path of a control plane behind the same port. */
  configOf(user?: TestUser, path?: string): ClusterConfig;
  kubeconfigOf(user?: TestUser, path?: string): string;
  close(): Promise<void>;
}

export async function openTlsPort(handler: InProcessHandler): Promise<TlsPort> {
  const authority = testAuthority();
  const { certificate, key } = authority.serving();
  const listener = await listen({
    host: '127.0.0.1',
    port: 0,
    key,
    certificate,
    clientCas: authority.certificate,
    // Sockets do not use virtual time.
    clock: systemClock,
    handler: handler as Handler,
    closeGraceMs: 0,
    onError: tellError,
  });
  const url = `https://127.0.0.1:${listener.port}`;
  const pairs = new Map<string, TestPair>();
  const pairOf = ({ name, groups }: TestUser): TestPair => {
    const id = JSON.stringify([name, groups]);
    let pair = pairs.get(id);
    if (pair === undefined) pairs.set(id, (pair = authority.client(name, groups)));
    return pair;
  };
  return {
    url,
    configOf(user = administrator, path = '') {
      const pair = pairOf(user);
      return {
        server: `${url}${path}`,
        ca: authority.certificate,
        credentials: {
          headers: () => ({}),
          clientCertificate: () => Promise.resolve(pair),
          fingerprint: pair.certificate,
        },
      };
    },
    kubeconfigOf: (user = administrator, path = '') =>
      kubeconfig({
        name: 'test',
        user: user.name,
        server: `${url}${path}`,
        authority: authority.certificate,
        credentials: pairOf(user),
      }),
    close: () => listener.close(),
  };
}
