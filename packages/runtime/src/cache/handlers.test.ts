import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, test } from 'node:test';
import type { ApiObject } from '@hangar/client';
import { Logger } from '@hangar/core';
import { virtualClock } from '@hangar/testkit';
import type { EventHandler } from './contract.ts';
import { Indexes } from './indexes.ts';
import { Replica } from './replica.ts';
import { Recorder } from './testing/recorder.ts';
import { Turns } from './turns.ts';

const object = (name: string, resourceVersion: number, uid = name): ApiObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default', uid, resourceVersion: `${resourceVersion}` },
});

function world() {
  const clock = virtualClock();
  const lines: string[] = [];
  const log = new Logger({ level: 'debug', format: 'text', clock, write: (line) => void lines.push(line) });
  const replica = new Replica<ApiObject>({ indexes: new Indexes(log), turns: new Turns(clock), log });
  const put = (name: string, version: number, uid?: string): void =>
    void replica.put(object(name, version, uid), false);
  return { clock, log, replica, put, lines, remove: (name: string) => replica.remove({ namespace: 'default', name }) };
}

describe('handlers', () => {
  test('one that comes late is told what is there, then what happened meanwhile, then what happens', async () => {
    const { clock, replica, put, remove } = world();
    for (let n = 0; n < 5_000; n++) put(`n${n}`, 1);
    const seen = new Recorder();
    const registration = replica.addHandler(seen, true);
    assert.equal(seen.events.length, 0, 'not before it is added');
    put('n4999', 2);
    remove('n0');
    put('later', 1);
    assert.equal(registration.hasSynced, false);
    await clock.run(registration.synced());
    assert.equal(seen.events.length, 5_003);
    assert.equal(seen.events.filter((event) => event.startsWith('*')).length, 5_000);
    assert.deepEqual(seen.events.slice(-3), ['~n4999', '-n0', '+later']);
    seen.take();
    put('later', 2);
    assert.deepEqual(seen.events, ['~later'], 'at once');
  });

  test('a long story does not keep a short one waiting, nor the process', async () => {
    const { clock, log } = world();
    const turns = new Turns(clock);
    const short = new Replica<ApiObject>({ indexes: new Indexes(log), turns, log });
    const long = new Replica<ApiObject>({ indexes: new Indexes(log), turns, log });
    for (let n = 0; n < 100_000; n++) long.put(object(`n${n}`, 1), false);
    short.put(object('a', 1), false);
    let count = 0;
    const first = long.addHandler({ onAdd: () => void count++ }, true);
    const second = short.addHandler({}, true);
    await second.synced();
    assert.ok(count <= 1_000, `${count} were told before`);
    let turnsTaken = 0;
    const counting = (): void => void (turnsTaken++, first.hasSynced || setImmediate(counting));
    counting();
    await first.synced();
    assert.equal(count, 100_000);
    assert.ok(turnsTaken >= 90, `${turnsTaken} turns of the event loop`);
  });

  test('many short stories do not keep the process waiting either', async () => {
    const { clock, log } = world();
    const turns = new Turns(clock);
    let told = 0;
    const registrations = Array.from({ length: 500 }, () => {
      const replica = new Replica<ApiObject>({ indexes: new Indexes(log), turns, log });
      for (let n = 0; n < 20; n++) replica.put(object(`n${n}`, 1), false);
      return replica.addHandler({ onAdd: () => void told++ }, true);
    });
    let most = 0;
    while (!registrations.every(({ hasSynced }) => hasSynced)) {
      const before = told;
      await new Promise((resolve) => setImmediate(resolve));
      most = Math.max(most, told - before);
    }
    assert.equal(told, 10_000);
    assert.ok(most <= 2_200, `${most} in one turn`);
  });

  test('one that throws or rejects is logged, and called again; others do not notice', async () => {
    const { clock, replica, put, lines } = world();
    const seen = new Recorder();
    let calls = 0;
    replica.addHandler(
      {
        onAdd() {
          calls++;
          throw new Error('by the test');
        },
      },
      true,
    );
    const rejecting = { onAdd: () => Promise.reject(new Error('later, by the test')) } as unknown as EventHandler;
    replica.addHandler(rejecting, true);
    replica.addHandler(seen, true);
    put('a', 1);
    put('b', 1);
    await clock.settle();
    assert.equal(calls, 2);
    assert.deepEqual(seen.events, ['+a', '+b']);
    assert.equal(lines.filter((line) => line.includes('by the test')).length, 4);
  });

  test('one that is removed hears nothing more, whenever that is', async () => {
    const { clock, replica, put, remove } = world();
    const [first, second] = [new Recorder(), new Recorder()];
    const registrations = [
      replica.addHandler({ onUpdate: () => registrations[2]!.remove(), onAdd: first.onAdd }, true),
      replica.addHandler({ onAdd: () => {}, onDelete: () => registrations[1]!.remove() }, true),
      replica.addHandler(second, true),
    ];
    put('a', 1);
    put('a', 2);
    assert.deepEqual(second.events, ['+a'], 'the first one removed it during the update');
    remove('a');
    for (let n = 0; n < 300; n++) put(`n${n}`, 1);
    const third = new Recorder();
    const replaying = replica.addHandler(third, true);
    const waiting = assert.rejects(replaying.synced(), { code: 'CacheNotSynced' });
    replaying.remove();
    replaying.remove();
    await waiting;
    await clock.settle();
    assert.deepEqual(third.events, []);
    let told = 0;
    const itself = replica.addHandler({ onAdd: () => void (++told === 10 && itself.remove()) }, true);
    await clock.settle();
    assert.equal(told, 10);
    assert.equal(replica.hasHandlers, true);
    registrations[0]!.remove();
    assert.equal(replica.hasHandlers, false);
  });

  test('one that is added by another during an event is told of it once', async () => {
    const { clock, replica, put } = world();
    const late = new Recorder();
    let isAdded = false;
    replica.addHandler(
      {
        onAdd() {
          if (!isAdded) replica.addHandler(late, true);
          isAdded = true;
        },
      },
      true,
    );
    put('a', 1);
    put('a', 2);
    await clock.settle();
    assert.deepEqual(late.events, ['*a', '~a']);
  });

  test('an object that was replaced by another of its name is deleted and added', () => {
    const { replica, put } = world();
    const seen = new Recorder();
    replica.addHandler(seen, true);
    put('a', 1, 'one');
    put('a', 2, 'two');
    assert.deepEqual(seen.events, ['+a', '-a', '+a']);
  });

  test('nobody is told of what is the same; the same version with other content is news', () => {
    const { replica, put } = world();
    const seen = new Recorder();
    replica.addHandler(seen, true);
    put('a', 1);
    put('a', 1);
    assert.deepEqual(seen.take(), ['+a']);
    replica.put({ ...object('a', 1), data: { set: 'back' } } as ApiObject, false);
    assert.deepEqual(seen.take(), ['~a']);
  });

  test('a wait for what is told ends with its signal', async () => {
    const { replica } = world();
    const registration = replica.addHandler({}, false);
    const controller = new AbortController();
    const waiting = assert.rejects(registration.synced(controller.signal), { code: 'Aborted' });
    controller.abort();
    await waiting;
    await assert.rejects(registration.synced(controller.signal), { code: 'Aborted' });
    const other = new AbortController();
    const succeeding = registration.synced(other.signal);
    replica.informerSynced();
    await succeeding;
    assert.equal(getEventListeners(other.signal, 'abort').length, 0);
    await registration.synced();
    assert.equal(registration.hasSynced, true);
  });
});
