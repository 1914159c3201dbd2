import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock, systemRandom } from '@hangar/core';
import type { Clock } from '@hangar/core';
import { createAuthority } from '@hangar/pki';
import type { ClusterClient } from './cluster-client.ts';
import { DelegatedCertificates } from './delegated-authentication.ts';

const authority = createAuthority('users', 1, { clock: systemClock, random: systemRandom }).certificate;

/** A cluster that responds under control of the test, and a clock for it. */
function delegated(onAuthorities: (pem: string) => void) {
  const timers: (() => void)[] = [];
  const clock: Clock = {
    ...systemClock,
    after: (_, callback) => {
      timers.push(callback);
      return { cancel: () => void timers.splice(timers.indexOf(callback) >>> 0, 1) };
    },
  };
  let answer: () => Promise<object> = async () => ({ data: {} });
  const client = { get: () => answer() } as unknown as ClusterClient;
  const errors: Error[] = [];
  const onError = (error: Error): void => void errors.push(error);
  const certificates = new DelegatedCertificates({ client, clock, onAuthorities, onError });
  return {
    certificates,
    timers,
    errors,
    answers: (next: () => Promise<object>) => void (answer = next),
    /** Runs the next poll and its consequences. */
    async look(): Promise<void> {
      timers.shift()!();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

test('closed while the cluster is being asked, nothing is begun again', async () => {
  const told: string[] = [];
  const { certificates, timers, answers, look } = delegated((pem) => told.push(pem));
  await certificates.start();
  assert.deepEqual([told.length, timers.length], [1, 1]);
  const late = Promise.withResolvers<object>();
  answers(() => late.promise);
  await look();
  certificates.close();
  late.resolve({ data: { 'client-ca-file': authority } });
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual([told.length, timers.length], [1, 0]);
});

test('authorities that could not be put to use are tried again', async () => {
  const told: string[] = [];
  const { certificates, errors, answers, look } = delegated((pem) => {
    told.push(pem);
    if (told.length === 2) throw new Error('not now');
  });
  await certificates.start();
  answers(async () => ({ data: { 'client-ca-file': authority } }));
  await look();
  assert.deepEqual([told.length, errors.map(({ message }) => message)], [2, ['not now']]);
  await look();
  await look();
  assert.deepEqual(told, ['', authority, authority]);
  certificates.close();
});
