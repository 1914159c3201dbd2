import { strict as assert } from 'node:assert';
import { describe, test } from 'node:test';
import { checkInputs } from './stalls.fuzz.ts';
import type { StallInput } from './stalls/input.ts';
import type { StallServer } from './stalls/server.ts';
import { measureSlices } from './stalls/slice-meter.ts';

function burn(cpuMs: number): void {
  const usedMs = (): number => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1_000;
  };
  for (const startMs = usedMs(); usedMs() - startMs < cpuMs;);
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the slice meter', () => {
  test('counts work that continues over promises as one slice', async () => {
    const { longestMs } = await measureSlices(async () => {
      for (let at = 0; at < 10; at++) {
        burn(4);
        await Promise.resolve();
      }
    });
    assert.ok(longestMs >= 40, `${longestMs} ms`);
  });

  test('counts work that lets the event loop turn as many slices', async () => {
    const { longestMs } = await measureSlices(async () => {
      for (let at = 0; at < 20; at++) {
        burn(5);
        await turn();
      }
    });
    assert.ok(longestMs >= 5 && longestMs < 60, `${longestMs} ms of 100`);
  });

  test('counts what the action leaves behind', async () => {
    const { longestMs } = await measureSlices(async () => {
      setImmediate(() => burn(30));
    });
    assert.ok(longestMs >= 30, `${longestMs} ms`);
  });

  test('does not count waiting', async () => {
    const { longestMs } = await measureSlices(() => new Promise((resolve) => setTimeout(resolve, 100)));
    assert.ok(longestMs < 50, `${longestMs} ms`);
  });
});

describe('a server that stalls', () => {
  const input: StallInput = {
    name: 'two requests',
    steps: [
      { method: 'GET', target: '/apis' },
      { method: 'POST', target: '/api/v1/things', body: { a: 'b' } },
    ],
  };

  /** A server that uses this CPU time in the given tries, each of which opens another server. */
  function planted(cpuMs: number, isSlow: (opened: number) => boolean): () => Promise<StallServer> {
    let opened = 0;
    return async () => {
      const slow = isSlow(++opened);
      return {
        async send({ method }) {
          if (slow && method === 'POST') burn(cpuMs);
          return 201;
        },
        async [Symbol.asyncDispose]() {},
      };
    };
  }

  test('is found, with the input and the request', async () => {
    await assert.rejects(
      checkInputs(
        planted(80, () => true),
        () => [input],
      ),
      /^Error: a slice of \d+ ms: two requests\nPOST \/api\/v1\/things .* → 201 {"a":"b"}$/,
    );
  });

  test('is not reported when another try is fast', async () => {
    await checkInputs(
      planted(80, (opened) => opened < 3),
      () => [input],
    );
  });
});
