/** Leases: granted, renewed, revoked, and ended by time. Real time: TTLs are the shortest that drivers allow. */

import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { LeaseId, Revision } from '../contract.ts';
import { leaseTtlMinMs } from '../limits.ts';
import type { Scenario } from './harness.ts';
import { refusal } from './subject.ts';
import { readAll, readUntil, readWhile, story } from './watching.ts';

const longMs = 600_000;

export function leases(scenario: Scenario): void {
  scenario('a lease lasts at least as long as asked for', async ({ store }) => {
    for (const ttlMs of [leaseTtlMinMs, 1_500, 60_000]) {
      const lease = await store.grantLease(ttlMs);
      assert.ok(lease.ttlMs >= ttlMs, `${lease.ttlMs} for ${ttlMs}`);
      await store.revokeLease(lease.id);
    }
  });

  scenario('the remaining time of a lease decreases, and a renewal restores it', async ({ store }) => {
    const { id, ttlMs } = await store.grantLease(60_000);
    const granted = await store.leaseTtlMs(id);
    assert.ok(granted > ttlMs - 30_000 && granted <= ttlMs, `${granted} of ${ttlMs}`);
    await delay(1_100);
    const later = await store.leaseTtlMs(id);
    // Whole seconds in some drivers.
    assert.ok(later < ttlMs && later <= granted, `${later} after ${granted}`);
    await store.renewLease(id);
    assert.ok((await store.leaseTtlMs(id)) >= later);
    await store.revokeLease(id);
    assert.equal(await refusal(() => store.leaseTtlMs(id)), 'LeaseNotFound');
    assert.equal(await refusal(() => store.leaseTtlMs('never' as LeaseId)), 'LeaseNotFound');
  });

  scenario('leases have ids of their own', async ({ store }) => {
    const granted = await Promise.all(Array.from({ length: 20 }, () => store.grantLease(longMs)));
    assert.equal(new Set(granted.map((lease) => lease.id)).size, 20);
    await Promise.all(granted.map((lease) => store.revokeLease(lease.id)));
  });

  scenario('a key carries its lease in reads, of the past too, and in events', async (subject) => {
    const lease = await subject.store.grantLease(longMs);
    const watch = subject.watch({ previous: true });
    const first = await subject.put('a', '1', { lease: lease.id });
    const last = await subject.put('a', '2');
    assert.equal((await subject.entry('a', first))?.lease, lease.id);
    assert.equal((await subject.entry('a'))?.lease, undefined);
    const [put, changed] = await readUntil(watch, last);
    const event = put!.events[0]!;
    assert.equal(event.type === 'put' && event.entry.lease, lease.id);
    assert.equal(changed!.events[0]!.previous?.lease, lease.id);
    const past = await readUntil(subject.watch({ fromRevision: first }), last);
    const pastEvent = past[0]!.events[0]!;
    assert.equal(pastEvent.type === 'put' && pastEvent.entry.lease, lease.id);
    await subject.store.revokeLease(lease.id);
  });

  scenario('revoking a lease deletes its keys, which is one revision for those who watch', async (subject) => {
    const lease = await subject.store.grantLease(longMs);
    const other = await subject.store.grantLease(longMs);
    await subject.commit(
      subject.write('a', '1', { lease: lease.id }),
      subject.write('b', '1', { lease: lease.id }),
      subject.write('c', '1', { lease: other.id }),
      subject.write('d', '1'),
    );
    const watch = subject.watch({ previous: true });
    const before = await subject.store.revision();
    await subject.store.revokeLease(lease.id);
    assert.deepEqual(await subject.list(), ['c=1', 'd=1']);
    const batches = await readAll(subject, watch);
    assert.deepEqual(story(subject, batches), ['delete a (was 1), delete b (was 1)']);
    assert.ok(batches[0]!.revision > before);
    assert.equal(await subject.text('a', before), '1', 'the past keeps what the lease deleted');
    await subject.store.revokeLease(other.id);
    assert.deepEqual(await subject.list(), ['d=1']);
  });

  scenario('a lease that was revoked is not found', async (subject) => {
    const { id } = await subject.store.grantLease(longMs);
    await subject.store.revokeLease(id);
    assert.equal(await refusal(() => subject.store.renewLease(id)), 'LeaseNotFound');
    assert.equal(await refusal(() => subject.store.revokeLease(id)), 'LeaseNotFound');
    assert.equal(await refusal(() => subject.put('a', '1', { lease: id })), 'LeaseNotFound');
    const mixed = [subject.write('b', '1'), subject.write('c', '1', { lease: id })];
    assert.equal(await refusal(() => subject.store.commit(mixed)), 'LeaseNotFound');
    assert.deepEqual(await subject.list(), []);
  });

  scenario('revoking a lease without keys changes nothing', async (subject) => {
    const watch = subject.watch();
    const { id } = await subject.store.grantLease(longMs);
    await subject.store.renewLease(id);
    await subject.store.revokeLease(id);
    assert.deepEqual(await readAll(subject, watch), []);
  });

  scenario('a put decides anew which lease a key has', async (subject) => {
    const one = await subject.store.grantLease(longMs);
    const other = await subject.store.grantLease(longMs);
    await subject.put('detached', '1', { lease: one.id });
    await subject.put('moved', '1', { lease: one.id });
    await subject.put('attached', '1');
    await subject.put('recreated', '1', { lease: one.id });
    await subject.put('detached', '2');
    await subject.put('moved', '2', { lease: other.id });
    await subject.put('attached', '2', { lease: one.id });
    await subject.remove('recreated');
    await subject.put('recreated', '2');
    await subject.store.revokeLease(one.id);
    assert.deepEqual(await subject.list(), ['detached=2', 'moved=2', 'recreated=2']);
    await subject.store.revokeLease(other.id);
    assert.deepEqual(await subject.list(), ['detached=2', 'recreated=2']);
  });

  scenario('a transaction that conflicts leaves leases as they were', async (subject) => {
    const { id } = await subject.store.grantLease(longMs);
    await subject.put('a', '1', { lease: id });
    const stale = [subject.write('a', '2'), subject.write('b', '1', { expected: 1 as Revision })];
    assert.equal((await subject.store.commit(stale)).committed, false);
    await subject.store.revokeLease(id);
    assert.deepEqual(await subject.list(), []);
  });

  scenario('a lease that nobody renews ends with its keys; one that is renewed lives on', async (subject) => {
    const watch = subject.watch();
    const [kept, left] = await Promise.all([
      subject.store.grantLease(leaseTtlMinMs),
      subject.store.grantLease(leaseTtlMinMs),
    ]);
    const renewing = keepRenewing(subject.store.renewLease.bind(subject.store), kept.id);
    try {
      await subject.commit(
        subject.write('kept', '1', { lease: kept.id }),
        subject.write('left', '1', { lease: left.id }),
      );
      const batches = await readWhile(watch, (batch) => !batch.events.some((event) => event.type === 'delete'));
      assert.deepEqual(story(subject, batches.slice(-1)), ['delete left']);
      assert.deepEqual(await subject.list(), ['kept=1']);
      assert.equal(await refusal(() => subject.store.renewLease(left.id)), 'LeaseNotFound');
      // Once more its time, and a half: only the renewals can have kept it.
      await delay(kept.ttlMs * 1.5);
      assert.deepEqual(await subject.list(), ['kept=1']);
    } finally {
      await renewing.stop();
    }
    const batches = await readWhile(watch, (batch) => batch.events.length === 0);
    assert.deepEqual(story(subject, batches.slice(-1)), ['delete kept']);
    assert.equal(await refusal(() => subject.put('a', '1', { lease: kept.id })), 'LeaseNotFound');
  });
}

/** Renews several times within each TTL until stopped; `stop` rejects when a renewal was refused. */
function keepRenewing(renew: (id: LeaseId) => Promise<void>, id: LeaseId): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const loop = (async () => {
    while (!stopping.signal.aborted) {
      await renew(id);
      await delay(leaseTtlMinMs / 5);
    }
  })();
  loop.catch(() => {}); // reported by stop
  return {
    stop: () => {
      stopping.abort();
      return loop;
    },
  };
}
