import assert from 'node:assert/strict';
import type { Duplex } from 'node:stream';
import { describe, test } from 'node:test';
import { sleep } from '../clock.ts';
import { seededRandom } from '../random.ts';
import { Scheduler } from './scheduler.ts';
import { VirtualNetwork } from './virtual-network.ts';

const server = { host: 'server', port: 2379 };

function world(seed = 1, latencyMaxMs = 5) {
  const random = seededRandom(seed);
  const scheduler = new Scheduler(random);
  return { random, scheduler, network: new VirtualNetwork({ clock: scheduler, random, latencyMaxMs }) };
}

/** Returns everything that arrives, as text, until the end or an error; an error's code comes last. */
async function received(connection: Duplex): Promise<string[]> {
  const chunks: string[] = [];
  try {
    for await (const chunk of connection) chunks.push(String(chunk));
  } catch (error) {
    chunks.push((error as NodeJS.ErrnoException).code!);
  }
  return chunks;
}

describe('the virtual network', () => {
  test('carries bytes both ways, in order, and the end of them', async () => {
    const { scheduler, network } = world();
    await scheduler.run(
      (async () => {
        await network.listen(server, (connection) => connection.pipe(connection));
        const connection = await network.connect(server);
        for (let at = 0; at < 20; at++) connection.write(`${at},`);
        connection.end();
        const all = (await received(connection)).join('');
        assert.equal(all, Array.from({ length: 20 }, (_, at) => `${at},`).join(''));
      })(),
    );
    assert.ok(scheduler.monotonicMs() > 0, 'it took virtual time');
  });

  test('refuses where nobody listens, and a second listener', async () => {
    const { scheduler, network } = world();
    await scheduler.run(
      (async () => {
        await assert.rejects(network.connect(server), { code: 'ECONNREFUSED' });
        const listener = await network.listen(server, () => {});
        await assert.rejects(
          network.listen(server, () => {}),
          { code: 'EADDRINUSE' },
        );
        await listener.close();
        await assert.rejects(network.connect(server), { code: 'ECONNREFUSED' });
        await network.listen(server, () => {});
        await network.connect(server);
      })(),
    );
  });

  test('gives out ports of its own', async () => {
    const { network } = world();
    const listeners = await Promise.all([1, 2, 3].map(() => network.listen({ host: 'server', port: 0 }, () => {})));
    assert.equal(new Set(listeners.map((listener) => listener.address.port)).size, 3);
  });

  test('a cut resets both ends and refuses new connections until it is healed', async () => {
    const { scheduler, network } = world();
    await scheduler.run(
      (async () => {
        const accepted: Duplex[] = [];
        await network.listen(server, (connection) => accepted.push(connection));
        const connection = await network.connect(server);
        const ends = [received(connection), received(accepted[0]!)];
        network.cut(server);
        assert.deepEqual(await Promise.all(ends), [['ECONNRESET'], ['ECONNRESET']]);
        await assert.rejects(network.connect(server), { code: 'ECONNREFUSED' });
        network.heal(server);
        (await network.connect(server)).destroy();
      })(),
    );
  });

  test('a cut is of one address only', async () => {
    const { scheduler, network } = world();
    await scheduler.run(
      (async () => {
        const other = { host: 'other', port: 2379 };
        for (const address of [server, other])
          await network.listen(address, (connection) => connection.pipe(connection));
        const connection = await network.connect(other);
        network.cut(server);
        connection.end('still here');
        assert.deepEqual(await received(connection), ['still here']);
      })(),
    );
  });

  test('a reset loses what is under way and lets the next connection in', async () => {
    const { scheduler, network } = world();
    await scheduler.run(
      (async () => {
        const accepted: Duplex[] = [];
        await network.listen(server, (connection) => accepted.push(connection));
        const connection = await network.connect(server);
        connection.write('lost');
        network.reset(server);
        assert.deepEqual(await received(accepted[0]!), ['ECONNRESET']);
        const next = await network.connect(server);
        next.end('found');
        assert.deepEqual(await received(accepted[1]!), ['found']);
      })(),
    );
  });

  test('closing the listener ends what it accepted', async () => {
    const { scheduler, network } = world();
    await scheduler.run(
      (async () => {
        const listener = await network.listen(server, () => {});
        const connection = await network.connect(server);
        const end = received(connection);
        await listener.close();
        assert.deepEqual(await end, ['ECONNRESET']);
      })(),
    );
  });

  test('destroying one end closes the other', async () => {
    const { scheduler, network } = world();
    await scheduler.run(
      (async () => {
        const accepted: Duplex[] = [];
        await network.listen(server, (connection) => accepted.push(connection));
        (await network.connect(server)).destroy();
        await sleep(scheduler, 10);
        assert.ok(accepted[0]!.destroyed);
      })(),
    );
  });

  test('an abort ends a connection attempt', async () => {
    const { scheduler, network } = world();
    await scheduler.run(
      (async () => {
        await network.listen(server, () => assert.fail('a connection was accepted'));
        await assert.rejects(network.connect(server, AbortSignal.abort()), { code: 'Aborted' });
      })(),
    );
  });

  test('the same seed delays in the same way', async () => {
    const trace = async (seed: number) => {
      const { scheduler, network } = world(seed);
      const lines: string[] = [];
      await scheduler.run(
        (async () => {
          await network.listen(server, (connection) => connection.pipe(connection));
          const clients = ['a', 'b', 'c'].map(async (name) => {
            const connection = await network.connect(server);
            connection.end(name);
            for await (const chunk of connection) lines.push(`${chunk} at ${scheduler.monotonicMs()}`);
          });
          await Promise.all(clients);
        })(),
      );
      return lines.join();
    };
    const [first, other] = [await trace(1), await trace(2)];
    assert.equal(await trace(1), first);
    assert.notEqual(other, first);
  });
});
