/** watch: ordered, unique, atomic, gapless, whether the events are yet to come or long past. */

import assert from 'node:assert/strict';
import type { Revision, WatchBatch } from '../contract.ts';
import type { Scenario } from './harness.ts';
import { concurrently, during, refusal } from './subject.ts';
import type { Subject } from './subject.ts';
import { readAll, readUntil, readWhile, story } from './watching.ts';

/** Writes to random keys from many sides at once; answers what each revision did, in order. */
async function writeConcurrently(subject: Subject, count: number): Promise<{ revision: Revision; line: string }[]> {
  const made = await concurrently(count, 64, async (at) => {
    const name = `k${at % 50}`;
    return { revision: await subject.put(name, String(at)), line: `put ${name}=${at}` };
  });
  return made.sort((a, b) => a.revision - b.revision);
}

export function watches(scenario: Scenario): void {
  scenario('a watch from now shows what is committed after it began and nothing before', async (subject) => {
    for (let round = 0; round < 30; round++) {
      await subject.put('before', String(round));
      const watch = subject.watch();
      const revision = await subject.put('after', String(round));
      const batch = await watch.next();
      assert.deepEqual(story(subject, [batch!]), [`put after=${round}`]);
      assert.equal(batch?.revision, revision);
      watch.close();
    }
  });

  scenario('a watch from now shows nothing that could be read before it began, amid writers', async (subject) => {
    await during(writeConcurrently(subject, 600), async (round) => {
      const { revision } = await subject.store.range(subject.below(), { keysOnly: true });
      const watch = subject.watch();
      watch.requestProgress();
      const batch = await watch.next();
      const late = batch!.events.length > 0 ? batch!.revision > revision : batch!.revision >= revision;
      assert.ok(late, `round ${round}: ${batch!.revision} after ${revision} was read`);
      watch.close();
    });
  });

  scenario('an event carries the whole entry', async (subject) => {
    const watch = subject.watch();
    const created = await subject.put('a', 'one');
    const changed = await subject.put('a', 'two');
    const batches = await readUntil(watch, changed);
    const entries = batches.flatMap((batch) =>
      batch.events.flatMap((event) => (event.type === 'put' ? [event.entry] : [])),
    );
    assert.deepEqual(
      entries.map((entry) => subject.plain(entry)),
      [
        { name: 'a', text: 'one', createRevision: created, modRevision: created, version: 1, lease: undefined },
        { name: 'a', text: 'two', createRevision: created, modRevision: changed, version: 2, lease: undefined },
      ],
    );
  });

  scenario(
    'the deletion of a large range is one batch with previous values, live and past, in order',
    async (subject) => {
      const names = Array.from({ length: 2_500 }, (_, at) => `range/${String(at).padStart(4, '0')}`);
      await concurrently(names.length, 64, (at) => subject.put(names[at]!, String(at)));
      const live = [subject.watch(), subject.watch({ previous: true })];
      const before = await subject.put('before', '1');
      const { revision } = await subject.commit({ type: 'deleteRange', range: subject.below('range/') });
      const after = await subject.put('after', '1');
      const past = [subject.watch({ fromRevision: before }), subject.watch({ fromRevision: before, previous: true })];
      for (const watch of [...live, ...past]) {
        const batches = await readUntil(watch, after);
        assert.deepEqual(
          batches.map((batch) => [batch.revision, batch.events.length]),
          [
            [before, 1],
            [revision, names.length],
            [after, 1],
          ],
        );
        const { events } = batches[1]!;
        assert.deepEqual(
          events.map((event) => event.type === 'delete' && event.key),
          names.map((name) => subject.key(name)),
        );
        if (watch !== live[1] && watch !== past[1]) continue;
        assert.ok(events.every((event, at) => Buffer.from(event.previous!.value).toString() === String(at)));
      }
    },
  );

  scenario('a put, a deletion and a put again are three batches', async (subject) => {
    const live = subject.watch();
    const first = await subject.put('a', '1');
    await subject.remove('a');
    const last = await subject.put('a', '2');
    const past = subject.watch({ fromRevision: first });
    for (const watch of [live, past]) {
      const batches = await readUntil(watch, last);
      assert.deepEqual(story(subject, batches), ['put a=1', 'delete a', 'put a=2']);
      const event = batches[2]!.events[0]!;
      assert.ok(event.type === 'put' && event.entry.version === 1 && event.entry.createRevision === last);
    }
  });

  scenario('a watch from a past revision begins with that revision, then goes on live', async (subject) => {
    await subject.put('a', '1');
    const second = await subject.put('b', '2');
    await subject.put('a', '3');
    const watch = subject.watch({ fromRevision: second });
    const between = subject.watch({ fromRevision: (second + 1) as Revision });
    await readAll(subject, subject.watch());
    const last = await subject.put('c', '4');
    assert.deepEqual(story(subject, await readUntil(watch, last)), ['put b=2', 'put a=3', 'put c=4']);
    assert.deepEqual(story(subject, await readUntil(between, last)), ['put a=3', 'put c=4']);
  });

  scenario('a watch from a future revision waits for it', async (subject) => {
    const fromRevision = ((await subject.put('a', '0')) + 10) as Revision;
    const watch = subject.watch({ fromRevision });
    const expected: string[] = [];
    let last = 0 as Revision;
    for (let at = 1; expected.length < 3; at++) {
      last = await subject.put('a', String(at));
      if (last >= fromRevision) expected.push(`put a=${at}`);
    }
    assert.deepEqual(story(subject, await readUntil(watch, last)), expected);
  });

  scenario('a watch from revision 0 begins with the first event of all, if that is not compacted', async (subject) => {
    const last = await subject.put('a', '1');
    const watch = subject.watch({ fromRevision: 0 as Revision });
    const code = await refusal(async () => assert.deepEqual(story(subject, await readUntil(watch, last)), ['put a=1']));
    assert.ok(code === 'not refused' || code === 'Compacted', code);
  });

  scenario('events have previous values when asked, live and from the past', async (subject) => {
    const live = subject.watch({ previous: true });
    const plain = subject.watch();
    const first = await subject.put('a', '1');
    const changed = await subject.put('a', '2');
    await subject.remove('a');
    await subject.put('a', '3');
    await subject.put('b', '1');
    const { revision: last } = await subject.commit({ type: 'deleteRange', range: subject.below() });
    const past = subject.watch({ previous: true, fromRevision: first });
    for (const watch of [live, past]) {
      const batches = await readUntil(watch, last);
      assert.deepEqual(story(subject, batches), [
        'put a=1',
        'put a=2 (was 1)',
        'delete a (was 2)',
        'put a=3',
        'put b=1',
        'delete a (was 3), delete b (was 1)',
      ]);
      assert.deepEqual(subject.plain(batches[2]!.events[0]!.previous!), {
        name: 'a',
        text: '2',
        createRevision: first,
        modRevision: changed,
        version: 2,
        lease: undefined,
      });
    }
    const without = await readUntil(plain, last);
    assert.ok(without.every((batch) => batch.events.every((event) => event.previous === undefined)));
  });

  scenario('all events of a transaction come in one batch', async (subject) => {
    await subject.put('gone', '0');
    const live = subject.watch();
    const { revision: first } = await subject.commit(
      subject.write('a', '1'),
      subject.write('b', '1'),
      subject.deletion('gone'),
    );
    const { revision: last } = await subject.commit(subject.write('b', '2'), subject.write('c', '2'));
    const past = subject.watch({ fromRevision: first });
    for (const watch of [live, past]) {
      const batches = await readUntil(watch, last);
      assert.deepEqual(story(subject, batches), ['delete gone, put a=1, put b=1', 'put b=2, put c=2']);
      assert.deepEqual(
        batches.map((batch) => batch.revision),
        [first, last],
      );
    }
  });

  scenario('large transactions come whole from the past too', async (subject) => {
    const live = subject.watch();
    const names = Array.from({ length: 3_000 }, (_, at) => `k${String(at).padStart(4, '0')}`);
    const before = await subject.store.revision();
    await subject.populate(names);
    const { revision: last } = await subject.commit({ type: 'deleteRange', range: subject.below() });
    const past = subject.watch({ fromRevision: (before + 1) as Revision, previous: true });
    for (const watch of [live, past]) {
      const batches = await readUntil(watch, last);
      assert.deepEqual(
        batches.map((batch) => batch.events.length),
        [...Array.from({ length: 30 }, () => 100), 3_000],
      );
    }
  });

  scenario('a watch shows its prefix only, of a transaction only its part', async (subject) => {
    const live = subject.watch({ prefix: subject.key('a/') });
    const first = await subject.put('a/1', '1');
    await subject.put('a', 'no');
    await subject.put('a0', 'no');
    await subject.put('b/1', 'no');
    await subject.commit(subject.write('a/2', '1'), subject.write('b/2', 'no'), subject.write('A/2', 'no'));
    await subject.commit({ type: 'deleteRange', range: subject.below() });
    const last = await subject.put('a/', '1');
    const past = subject.watch({ prefix: subject.key('a/'), fromRevision: first });
    for (const watch of [live, past]) {
      assert.deepEqual(story(subject, await readUntil(watch, last)), [
        'put a/1=1',
        'put a/2=1',
        'delete a/1, delete a/2',
        'put a/=1',
      ]);
    }
  });

  scenario('the empty prefix watches everything', async (subject) => {
    const first = await subject.put('a', '1');
    for (const watch of [subject.watch({ prefix: '' }), subject.watch({ prefix: '', fromRevision: first })]) {
      const last = await subject.put('b', '2');
      const batches = await readUntil(watch, last);
      assert.ok(batches.at(-1)!.events.some((event) => event.type === 'put' && event.entry.key === subject.key('b')));
      watch.close();
    }
  });

  scenario('a watch of a full key sees it and the keys that it is a prefix of', async (subject) => {
    const watch = subject.watch({ prefix: subject.key('key') });
    await subject.put('key', '1');
    await subject.put('ke', 'no');
    const last = await subject.put('keys', '2');
    assert.deepEqual(story(subject, await readUntil(watch, last)), ['put key=1', 'put keys=2']);
  });

  scenario('concurrent writers: every event once and in the order of revisions', async (subject) => {
    const live = subject.watch();
    const expected = await writeConcurrently(subject, 1_000);
    const past = subject.watch({ fromRevision: expected[0]!.revision });
    for (const watch of [live, past]) {
      const batches = await readUntil(watch, expected.at(-1)!.revision);
      assert.deepEqual(
        batches.map((batch) => batch.revision),
        expected.map((made) => made.revision),
      );
      assert.deepEqual(
        story(subject, batches),
        expected.map((made) => made.line),
      );
    }
  });

  scenario('a watch from the past that races with writers has no gap where it catches up', async (subject) => {
    const first = await subject.put('k0', 'first');
    const writing = writeConcurrently(subject, 1_500);
    const watches: Promise<WatchBatch[]>[] = [];
    for (let at = 0; at < 10; at++) {
      await subject.put('pause', String(at));
      watches.push(readWhile(subject.watch({ fromRevision: first }), (batch) => !isEnd(subject, batch)));
    }
    const made = (await writing).map(({ revision }) => revision);
    await subject.put('end', 'end');
    for (const batches of await Promise.all(watches)) {
      const seen = new Set(batches.map((batch) => batch.revision));
      assert.deepEqual(
        made.filter((revision) => !seen.has(revision)),
        [],
        'revisions are missing',
      );
      assert.deepEqual(
        batches.map((batch) => batch.revision),
        [...seen],
        'a revision came twice',
      );
    }
  });

  scenario('a consumer that sleeps through 5,000 revisions misses none', async (subject) => {
    const watch = subject.watch();
    const withPrevious = subject.watch({ previous: true });
    const expected = await writeConcurrently(subject, 5_000);
    for (const sleeper of [watch, withPrevious]) {
      const batches = await readUntil(sleeper, expected.at(-1)!.revision);
      assert.deepEqual(
        batches.map((batch) => batch.revision),
        expected.map((made) => made.revision),
      );
    }
    const last = await subject.put('k0', 'awake');
    assert.deepEqual(story(subject, await readUntil(watch, last)), ['put k0=awake']);
  });

  scenario('two watches see the same', async (subject) => {
    const watches = [subject.watch({ previous: true }), subject.watch({ previous: true })];
    await writeConcurrently(subject, 200);
    const last = await subject.remove('k0');
    const [one, other] = await Promise.all(watches.map((watch) => readUntil(watch, last)));
    assert.equal(one!.length, 201);
    assert.deepEqual(story(subject, one!), story(subject, other!));
  });

  scenario('many watches each get their own', async (subject) => {
    const watches = Array.from({ length: 200 }, (_, at) => subject.watch({ prefix: subject.key(`tenant-${at}/`) }));
    const all = subject.watch();
    const made = await concurrently(400, 32, (at) => subject.put(`tenant-${at % 200}/k`, String(at)));
    for (const [at, watch] of watches.entries()) {
      const last = Math.max(made[at]!, made[at + 200]!) as Revision;
      const batches = await readUntil(watch, last);
      assert.equal(batches.length, 2);
      assert.ok(story(subject, batches).every((line) => line.startsWith(`put tenant-${at}/k=`)));
    }
    const last = Math.max(...made) as Revision;
    assert.equal((await readUntil(all, last)).length, 400);
  });

  scenario('close ends a waiting next and every later one', async (subject) => {
    const watch = subject.watch();
    const waiting = watch.next();
    watch.close();
    watch.close();
    assert.equal(await waiting, undefined);
    await subject.put('a', '1');
    assert.equal(await watch.next(), undefined);
    watch.requestProgress();
    assert.equal(await watch.next(), undefined);
  });

  scenario('close ends a watch that has something to deliver', async (subject) => {
    const first = await subject.put('a', '1');
    const live = subject.watch();
    const past = subject.watch({ fromRevision: first });
    await subject.put('a', '2');
    const catchingUp = past.next();
    live.close();
    past.close();
    assert.equal(await live.next(), undefined);
    const raced = await catchingUp;
    assert.ok(raced === undefined || raced.revision === first);
    assert.equal(await past.next(), undefined);
  });

  scenario('leaving the loop closes the watch', async (subject) => {
    const watch = subject.watch();
    await subject.put('a', '1');
    await subject.put('a', '2');
    const seen: WatchBatch[] = [];
    for await (const batch of watch) {
      if (batch.events.length === 0) continue;
      seen.push(batch);
      break;
    }
    assert.deepEqual(story(subject, seen), ['put a=1']);
    assert.equal(await watch.next(), undefined);
  });

  scenario('closing the watch ends its loop', async (subject) => {
    const watch = subject.watch();
    const looping = (async () => {
      const lines: string[] = [];
      for await (const batch of watch) {
        lines.push(...story(subject, [batch]));
        if (lines.includes('put a=2')) watch.close();
      }
      return lines.filter((line) => line !== '');
    })();
    await subject.put('a', '1');
    await subject.put('a', '2');
    assert.deepEqual(await looping, ['put a=1', 'put a=2']);
  });
}

function isEnd(subject: Subject, batch: WatchBatch): boolean {
  return batch.events.some((event) => event.type === 'put' && event.entry.key === subject.key('end'));
}
