/** The server under test: a control plane on an in-memory store, with one administrator who also has a token. */

import { randomUUID } from 'node:crypto';
import { tooLarge } from '@hangar/api';
import { systemClock } from '@hangar/core';
import type { Clock, Random } from '@hangar/core';
import { openMemoryStore } from '@hangar/store';
import type { Store } from '@hangar/store';
import { CertificateAuthenticator, StaticTokenAuthenticator } from '../auth/authenticate.ts';
import { privilegedGroup } from '../auth/authorize.ts';
import type { Answer, Peer, ServerRequest } from '../http/message.ts';
import { ApiServer } from '../server.ts';
import { openTestPlane } from '../testing/open-server.ts';
import type { HostileRequest } from './hostile-request.ts';

export interface Subject {
  readonly store: Store;
  /** Token of the administrator, for requests over a socket. */
  readonly token: string;
  /** Internal errors of the server. No input may cause any. */
  readonly failures: readonly Error[];
  handle(request: ServerRequest): Promise<Answer>;
  close(): Promise<void>;
}

const timesFaster = 1_000;

/** Requests for future revisions wait for seconds each: a million requests need a faster clock. */
export const hastyClock: Clock = {
  ...systemClock,
  monotonicMs: () => systemClock.monotonicMs() * timesFaster,
  after: (delayMs, callback) => systemClock.after(delayMs / timesFaster, callback),
};

export async function openSubject(random: Random): Promise<Subject> {
  const store = await openMemoryStore();
  const open = await openTestPlane(store, { clock: hastyClock, random });
  const failures: Error[] = [];
  const token = randomUUID();
  const server = new ApiServer({
    plane: open.plane,
    authenticators: [
      new CertificateAuthenticator(systemClock),
      new StaticTokenAuthenticator([{ token, user: 'admin', groups: ['system:masters'] }]),
    ],
    authorizers: [privilegedGroup],
    health: { livez: [], readyz: [] },
    address: () => '127.0.0.1:6443',
    onError: (error) => failures.push(error),
  });
  return {
    store,
    token,
    failures,
    handle: (request) => server.handle(request),
    async close() {
      open.close();
      await store.close();
    },
  };
}

const peer: Peer = {
  address: '127.0.0.1',
  certificate: { commonName: 'admin', organizations: ['system:masters'], expiresAt: Infinity },
};

/** Builds the request as a socket would deliver it. */
export function asServerRequest({ method, target, headers, body }: HostileRequest): ServerRequest {
  return {
    method,
    target,
    peer,
    header: (name) => (Object.hasOwn(headers, name) ? headers[name] : undefined),
    headerValues: (name) => (Object.hasOwn(headers, name) ? [headers[name]!] : []),
    headerNames: () => Object.keys(headers),
    body: async (bytesMax) => {
      if (body !== undefined && body.length > bytesMax) throw tooLarge(`limit is ${bytesMax}`);
      return body ?? new Uint8Array();
    },
  };
}
