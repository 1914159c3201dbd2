import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { aborted, Logger, seededRandom } from '@hangar/core';
import { virtualClock } from '@hangar/testkit';
import { Supervisor } from './supervise.ts';

function world() {
  const clock = virtualClock();
  const lines: string[] = [];
  const log = new Logger({ level: 'info', format: 'text', clock, write: (line) => lines.push(line) });
  const supervisor = new Supervisor({ clock, random: seededRandom(1), log });
  return { clock, lines, supervisor, stop: new AbortController() };
}

test('who fails is told and begun anew, each time after a longer wait, and after a minute of work as at first', async () => {
  const { clock, lines, supervisor, stop } = world();
  const begunAt: number[] = [];
  let isWell = false;
  const ended = supervisor.run(
    {
      name: 'x',
      async run(signal) {
        begunAt.push(clock.monotonicMs());
        if (!isWell) throw new Error('broken');
        const over = new AbortController();
        clock.after(70_000, () => over.abort());
        await Promise.race([aborted(over.signal), aborted(signal)]);
        throw new Error('broken later');
      },
    },
    stop.signal,
  );
  for (let at = 0; at < 30; at++) await clock.advance(10_000);
  const waits = begunAt.slice(1).map((ms, at) => ms - begunAt[at]!);
  assert.ok(waits[0]! <= 500 && waits[1]! > 500 && waits.every((ms) => ms <= 30_000), waits.join());
  assert.ok(
    waits.slice(8).every((ms) => ms >= 15_000),
    waits.join(),
  );
  isWell = true;
  const before = begunAt.length;
  for (let at = 0; at < 20; at++) await clock.advance(10_000);
  assert.ok(begunAt.length >= before + 2);
  const last = begunAt.at(-1)! - begunAt.at(-2)!;
  assert.ok(last >= 70_000 && last <= 70_500, String(last));
  assert.match(supervisor.text(), new RegExp(`hangar_service_restarts_total\\{service="x"\\} ${begunAt.length - 1}`));
  assert.match(lines[0]!, /a service failed, restarting.*broken/);
  stop.abort();
  await ended;
  assert.equal(getEventListeners(stop.signal, 'abort').length, 0);
});

test('it is well while it runs and not before; a stop ends it without a word', async () => {
  const { clock, lines, supervisor, stop } = world();
  const begun = Promise.withResolvers<void>();
  const ended = supervisor.run(
    {
      name: 'x',
      async run(signal, running) {
        await begun.promise;
        running();
        await aborted(signal);
      },
    },
    stop.signal,
  );
  assert.equal(supervisor.problem('x'), 'the service is starting');
  assert.match(supervisor.text(), /hangar_service_up\{service="x"\} 0/);
  begun.resolve();
  await clock.advance(1);
  assert.equal(supervisor.problem('x'), undefined);
  assert.match(supervisor.text(), /hangar_service_up\{service="x"\} 1/);
  stop.abort();
  await ended;
  assert.deepEqual(lines, []);
  assert.equal(supervisor.problem('x'), 'the service is not running');
});

test('a stop ends the wait, and who ends by itself is begun anew, too', async () => {
  const { clock, supervisor, stop } = world();
  let begun = 0;
  const ended = supervisor.run({ name: 'x', run: () => Promise.resolve(void begun++) }, stop.signal);
  await clock.advance(600);
  assert.equal(begun, 2);
  stop.abort();
  await ended;
  assert.equal(begun, 2);
});
