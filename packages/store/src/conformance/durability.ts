/** Acknowledged writes exist after the store was closed and opened again. */

import assert from 'node:assert/strict';
import type { Revision } from '../contract.ts';
import { leaseTtlMinMs } from '../limits.ts';
import type { Scenario } from './harness.ts';
import { concurrently, refusal } from './subject.ts';
import { readUntil, readWhile, story } from './watching.ts';

export function durability(scenario: Scenario): void {
  scenario('entries survive with their revisions and versions', async (subject) => {
    await subject.put('a', '1');
    await subject.put('a', '2');
    await subject.commit(subject.write('b', ''), subject.write('🔑', 'ключ'));
    await subject.put('gone', '1');
    await subject.remove('gone');
    const before = await subject.store.range(subject.below());
    await subject.reopen();
    const after = await subject.store.range(subject.below());
    assert.deepEqual(
      after.entries.map((entry) => subject.plain(entry)),
      before.entries.map((entry) => subject.plain(entry)),
    );
    assert.equal(after.entries.length, 3);
    assert.ok(after.revision >= before.revision);
    assert.ok((await subject.put('a', '3')) > before.revision, 'a revision was given twice');
    assert.equal((await subject.entry('a'))?.version, 3);
  });

  scenario('an empty store opens again', async (subject) => {
    const before = await subject.store.revision();
    await subject.reopen();
    assert.deepEqual(await subject.list(), []);
    assert.ok((await subject.store.revision()) >= before);
    assert.ok((await subject.put('a', '1')) > before);
  });

  scenario('history survives: reads of the past and watches from it', async (subject) => {
    const first = await subject.put('a', '1');
    const { revision: second } = await subject.commit(subject.write('a', '2'), subject.write('b', '1'));
    const removed = await subject.remove('a');
    await subject.reopen();
    assert.deepEqual(await subject.list({ atRevision: first }), ['a=1']);
    assert.deepEqual(await subject.list({ atRevision: second }), ['a=2', 'b=1']);
    assert.deepEqual(await subject.list({ atRevision: removed }), ['b=1']);
    const watch = subject.watch({ fromRevision: first, previous: true });
    const last = await subject.put('a', '3');
    assert.deepEqual(story(subject, await readUntil(watch, last)), [
      'put a=1',
      'put a=2 (was 1), put b=1',
      'delete a (was 2)',
      'put a=3',
    ]);
  });

  scenario('a watch that ended with the store resumes without a gap or a repetition', async (subject) => {
    const expected: string[] = [];
    const seen: string[] = [];
    let next = ((await subject.store.revision()) + 1) as Revision;
    for (let round = 0; round < 4; round++) {
      const watch = subject.watch({ fromRevision: next });
      let middle = next;
      for (let at = 0; at < 10; at++) {
        const revision = await subject.put(`k${at % 3}`, `${round}-${at}`);
        expected.push(`put k${at % 3}=${round}-${at}`);
        if (at === 5) middle = revision;
      }
      seen.push(...story(subject, await readUntil(watch, middle)));
      next = (middle + 1) as Revision;
      await subject.reopen();
    }
    const last = await subject.put('end', '');
    seen.push(...story(subject, await readUntil(subject.watch({ fromRevision: next }), last)));
    assert.deepEqual(seen, [...expected, 'put end=']);
  });

  scenario('what was compacted stays compacted', async (subject) => {
    const old = await subject.put('a', '1');
    const compacted = await subject.put('a', '2');
    await subject.put('a', '3');
    await subject.store.compact(compacted);
    await subject.reopen();
    assert.equal(await refusal(() => subject.text('a', old)), 'Compacted');
    assert.equal(await refusal(() => subject.watch({ fromRevision: old }).next()), 'Compacted');
    assert.equal(await subject.text('a', compacted), '2');
    assert.equal(await subject.text('a'), '3');
    assert.equal((await subject.entry('a'))?.version, 3);
  });

  scenario('a deletion that was compacted stays a deletion, and its revision is not given again', async (subject) => {
    await subject.put('a', '1');
    await subject.put('b', '1');
    const removed = await subject.remove('a');
    await subject.store.compact(removed);
    for (let round = 0; round < 3; round++) {
      await subject.reopen();
      assert.deepEqual(await subject.list(), ['b=1']);
      assert.ok((await subject.store.revision()) >= removed);
    }
    assert.ok((await subject.put('a', '2', { expected: 0 as Revision })) > removed);
  });

  scenario('leases survive with their keys', async (subject) => {
    const lease = await subject.store.grantLease(600_000);
    const empty = await subject.store.grantLease(600_000);
    const revoked = await subject.store.grantLease(600_000);
    await subject.put('a', '1', { lease: lease.id });
    await subject.put('b', '1', { lease: lease.id });
    await subject.put('b', '2');
    await subject.put('c', '1', { lease: revoked.id });
    await subject.store.revokeLease(revoked.id);
    await subject.reopen();
    assert.deepEqual(await subject.list(), ['a=1', 'b=2']);
    assert.equal((await subject.entry('a'))?.lease, lease.id);
    assert.equal(await refusal(() => subject.store.renewLease(revoked.id)), 'LeaseNotFound');
    await subject.store.renewLease(lease.id);
    await subject.put('d', '1', { lease: empty.id });
    await subject.store.revokeLease(lease.id);
    assert.deepEqual(await subject.list(), ['b=2', 'd=1']);
    await subject.reopen();
    await subject.store.revokeLease(empty.id);
    assert.deepEqual(await subject.list(), ['b=2']);
  });

  scenario('a lease that was forgotten ends after a restart too', async (subject) => {
    const lease = await subject.store.grantLease(leaseTtlMinMs);
    const put = await subject.put('a', '1', { lease: lease.id });
    await subject.reopen();
    const watch = subject.watch({ fromRevision: (put + 1) as Revision });
    const batches = await readWhile(watch, (batch) => batch.events.length === 0);
    assert.deepEqual(story(subject, batches.slice(-1)), ['delete a']);
    assert.deepEqual(await subject.list(), []);
  });

  scenario(
    'commits that were acknowledged when the store was closed are there, the others whole or not',
    async (subject) => {
      const acknowledged = new Map<string, Revision>();
      const started: string[] = [];
      const writers = concurrently(400, 20, async (at) => {
        started.push(String(at));
        const writes = [subject.write(`${at}/x`, String(at)), subject.write(`${at}/y`, String(at))];
        const code = await refusal(async () => {
          const result = await subject.store.commit(writes);
          acknowledged.set(String(at), result.revision);
          if (acknowledged.size === 100) void subject.store.close();
        });
        assert.ok(['not refused', 'Closed', 'Unavailable'].includes(code), code);
      });
      await writers;
      assert.ok(acknowledged.size >= 100);
      await subject.reopen();
      const { entries } = await subject.store.range(subject.below());
      const stored = new Map(entries.map((entry) => [subject.name(entry.key), entry.modRevision]));
      for (const [at, revision] of acknowledged) assert.equal(stored.get(`${at}/x`), revision);
      for (const at of started) assert.equal(stored.get(`${at}/x`), stored.get(`${at}/y`), 'half a transaction');
    },
  );

  scenario('a thousand entries of several sizes survive', async (subject) => {
    const names = Array.from({ length: 1_000 }, (_, at) => `k${String(at).padStart(4, '0')}`);
    await subject.populate(names, (name) => name.repeat(Number(name.slice(1)) % 50));
    await subject.populate(names.slice(200, 400), () => 'changed');
    await subject.commit({ type: 'deleteRange', range: subject.below('k05') });
    const before = await subject.list();
    await subject.reopen();
    assert.deepEqual(await subject.list(), before);
    assert.equal(before.length, 900);
  });
}
