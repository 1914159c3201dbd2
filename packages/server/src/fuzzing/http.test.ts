import { strict as assert } from 'node:assert';
import { describe, test } from 'node:test';
import { seededRandom } from '@hangar/core';
import type { Write } from '@hangar/store';
import { fuzz } from './http.fuzz.ts';
import { fireInProcess, prepare } from './in-process.ts';
import { checkNothingStored } from './refused-writes.ts';
import { openSubject } from './subject.ts';
import type { Subject } from './subject.ts';

// Two of the runs of `npm run fuzz -- http`. Seed 18 once attributed a write of the server itself to a refused request.
for (const seed of [0, 18]) {
  test(`the fuzz target http finds nothing with seed ${seed}`, () => fuzz(seededRandom(seed)));
}

describe('a refused request that stores something is found', () => {
  const text = (object: object): Uint8Array => Buffer.from(JSON.stringify(object));
  const put = (key: string, object: object): Write => ({ type: 'put', key, value: text(object) });

  async function withSubject(act: (subject: Subject) => Promise<void>): Promise<void> {
    const subject = await openSubject(seededRandom(1));
    // The server's timers are unreferenced.
    const alive = setInterval(() => {}, 60_000);
    try {
      await act(subject);
    } finally {
      clearInterval(alive);
      await subject.close();
    }
  }

  test('among hostile requests, with a server that writes before it refuses', () =>
    withSubject(async (subject) => {
      await prepare(subject);
      const planted: Subject = {
        ...subject,
        handle: async (request) => {
          const answer = await subject.handle(request);
          if (answer.status === 422) await subject.store.commit([put('/registry/configmaps/default/planted', {})]);
          return answer;
        },
      };
      await assert.rejects(fireInProcess(seededRandom(1), planted, 1_000), (error: Error) => {
        assert.match(String(error.cause), /answered 422, but stored something.*planted/s);
        return true;
      });
    }));

  const apiService = (labels: object, manager: string): object => ({
    kind: 'APIService',
    metadata: { name: 'v1.x', labels, managedFields: [{ manager }] },
  });
  const key = '/registry/apiregistration.k8s.io/apiservices/v1.x';
  const automanaged = { 'kube-aggregator.kubernetes.io/automanaged': 'true' };
  for (const [name, write, isFound] of [
    ['an APIService of the server', put(key, apiService(automanaged, 'hangar')), false],
    ['an APIService of a client', put(key, apiService(automanaged, 'curl')), true],
    ['an APIService that is not automanaged', put(key, apiService({}, 'hangar')), true],
    ['another object', put('/registry/pods/default/a', {}), true],
  ] as const) {
    test(`${name}: ${isFound ? 'found' : 'not counted'}`, () =>
      withSubject(async ({ store }) => {
        const before = await store.revision();
        await store.commit([write]);
        if (!isFound) return checkNothingStored(store, before, 422);
        await assert.rejects(checkNothingStored(store, before, 422), /answered 422, but stored something/);
      }));
  }
});
