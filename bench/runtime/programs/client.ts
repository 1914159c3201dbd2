/** A client that sends the next request as soon as the last one is answered. */

import { connect, hasCode } from '@hangar/client';
import { ConfigMap } from '@hangar/client/kinds/core-v1';
import { configOf, say, told } from './talk.ts';

export interface ClientOptions {
  readonly kubeconfig: string;
  readonly durationMs: number;
  readonly rounds: number;
}

export interface Requests {
  /** Absent: negotiated, which is HTTP/2 with every API server. */
  readonly protocol?: 'http/1.1';
  readonly inFlight: number;
  readonly perSecond: number;
  /** CPU time of this process per request. */
  readonly cpuUs: number;
}

const { kubeconfig, durationMs, rounds } = told<ClientOptions>();
const key = { namespace: 'default', name: 'small' };

for (const only of [{}, { protocol: 'http/1.1' }] as const) {
  const protocols = 'protocol' in only ? { protocols: [only.protocol] } : {};
  const client = connect(await configOf(kubeconfig), protocols);
  await client.create(ConfigMap, { metadata: key, data: { a: '1' } }).catch((error: unknown) => {
    if (!hasCode(error, 'AlreadyExists')) throw error;
  });
  const ask = async (inFlight: number, forMs: number): Promise<Omit<Requests, 'protocol'>> => {
    let done = 0;
    const begunMs = performance.now();
    const before = process.cpuUsage();
    const loop = async (): Promise<void> => {
      for (; performance.now() < begunMs + forMs; done++) await client.get(ConfigMap, key);
    };
    await Promise.all(Array.from({ length: inFlight }, loop));
    const { user, system } = process.cpuUsage(before);
    return { inFlight, perSecond: done / ((performance.now() - begunMs) / 1_000), cpuUs: (user + system) / done };
  };
  await ask(64, durationMs / 2);
  for (const inFlight of [64, 1]) {
    const all: Omit<Requests, 'protocol'>[] = [];
    for (let round = 0; round < rounds; round++) all.push(await ask(inFlight, durationMs));
    all.sort((one, other) => one.perSecond - other.perSecond);
    say('requests', { ...only, ...all[Math.floor(all.length / 2)]! } satisfies Requests);
  }
  await client.close();
}
say('done');
process.disconnect!();
