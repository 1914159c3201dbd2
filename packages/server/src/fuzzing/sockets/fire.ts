/** Misuses sockets against a listener of the subject, while a well-behaved client is served. */

import assert from 'node:assert/strict';
import { pick, systemClock, systemRandom } from '@hangar/core';
import type { Random } from '@hangar/core';
import { createAuthority, issueCertificate } from '@hangar/pki';
import type { KeyPair } from '@hangar/pki';
import { listen } from '../../http/listener.ts';
import { checkPrototypes } from '../judge.ts';
import type { Subject } from '../subject.ts';
import { http1Acts } from './http1.ts';
import { http2Acts } from './http2.ts';
import { Target } from './target.ts';

/** Misuses a connection; returns the number of requests sent. */
export type Act = (random: Random, target: Target) => Promise<number>;

const world = { clock: systemClock, random: systemRandom };
let credentials: Promise<{ authority: KeyPair; server: KeyPair }> | undefined;

async function makeCredentials(): Promise<{ authority: KeyPair; server: KeyPair }> {
  const authority = await createAuthority('fuzz-ca', 1, world);
  const server = await issueCertificate(
    authority,
    { commonName: 'fuzz', usage: 'server', hosts: ['127.0.0.1'], days: 1 },
    world,
  );
  return { authority, server };
}

/** Returns the number of requests. */
export async function fireOverSockets(random: Random, subject: Subject, count: number): Promise<number> {
  const { authority, server } = await (credentials ??= makeCredentials());
  const problems: Error[] = [];
  const listener = await listen({
    host: '127.0.0.1',
    port: 0,
    key: server.key,
    certificate: server.certificate,
    clientCas: authority.certificate,
    clock: systemClock,
    handler: subject.handle,
    onError: (error) => problems.push(error),
  });
  const target = new Target({ port: listener.port, token: subject.token, authority: authority.certificate });
  let requests = 0;
  try {
    for (let at = 0; at < count; at++) {
      const [name, act] = pick(random, acts);
      try {
        requests += await act(random, target);
        await target.canary();
        requests++;
      } catch (error) {
        throw new Error(`over a socket: ${name}`, { cause: error });
      }
    }
    assert.deepEqual(problems.map(String), [], 'failures below the handler');
    assert.deepEqual(subject.failures.map(String), [], 'failures of its own');
  } finally {
    target.close();
    await listener.close();
  }
  checkPrototypes();
  return requests;
}

const acts: readonly (readonly [name: string, act: Act])[] = [
  ...Object.entries(http1Acts),
  ...Object.entries(http2Acts),
];
