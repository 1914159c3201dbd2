/** close: the end of everything that the store gave out. */

import assert from 'node:assert/strict';
import type { LeaseId, Revision } from '../contract.ts';
import type { Scenario } from './harness.ts';
import { refusal } from './subject.ts';

export function closing(scenario: Scenario): void {
  scenario('a closed store refuses everything', async (subject) => {
    const { store } = subject;
    const revision = await subject.put('a', '1');
    await store.close();
    const actions: Record<string, () => unknown> = {
      revision: () => store.revision(),
      get: () => store.get(subject.key('a')),
      'get at': () => store.get(subject.key('a'), { atRevision: revision }),
      range: () => store.range(subject.below()),
      statistics: () => store.statistics(subject.below()),
      commit: () => store.commit([subject.write('a', '2')]),
      watch: () => store.watch({ prefix: subject.prefix }).next(),
      'watch from': () => store.watch({ prefix: subject.prefix, fromRevision: revision }).next(),
      compact: () => store.compact(revision),
      grantLease: () => store.grantLease(5_000),
      leaseTtlMs: () => store.leaseTtlMs('1' as LeaseId),
      renewLease: () => store.renewLease('1' as LeaseId),
      revokeLease: () => store.revokeLease('1' as LeaseId),
    };
    for (const [what, action] of Object.entries(actions)) assert.equal(await refusal(action), 'Closed', what);
  });

  scenario('close is idempotent', async ({ store }) => {
    await Promise.all([store.close(), store.close()]);
    await store.close();
  });

  scenario('close ends watches that wait, that have a backlog and that are behind', async (subject) => {
    const first = await subject.put('a', '1');
    const waiting = subject.watch({ prefix: subject.key('nothing/') });
    const backlog = subject.watch();
    const behind = subject.watch({ fromRevision: first });
    const next = refusal(() => waiting.next());
    await subject.put('a', '2');
    await subject.store.close();
    assert.equal(await next, 'Closed');
    for (const watch of [waiting, backlog, behind]) {
      assert.equal(await refusal(() => watch.next()), 'Closed');
      assert.equal(await refusal(() => watch.next()), 'Closed');
      watch.requestProgress();
      watch.close();
    }
  });

  scenario('a watch that was closed before the store stays quietly ended', async (subject) => {
    const watch = subject.watch();
    watch.close();
    await subject.store.close();
    assert.equal(await watch.next(), undefined);
  });

  scenario('a loop over a watch ends with the error when the store is closed', async (subject) => {
    const watch = subject.watch();
    const looping = refusal(async () => {
      for await (const batch of watch) if (batch.events.length > 0) await subject.store.close();
    });
    await subject.put('a', '1');
    assert.equal(await looping, 'Closed');
  });

  scenario('a read under way when the store is closed is answered or refused', async (subject) => {
    const names = Array.from({ length: 3_000 }, (_, at) => `k${at}`);
    await subject.populate(names);
    const reading = subject.store.range(subject.below());
    const code = refusal(async () => assert.equal((await reading).entries.length, names.length));
    await subject.store.close();
    assert.ok(['not refused', 'Closed'].includes(await code), await code);
  });

  scenario('nothing that is granted while the store closes lives on in it', async (subject) => {
    const { store } = subject;
    const [granted, written] = await Promise.all([
      refusal(() => store.grantLease(1_000)),
      refusal(() => store.commit([subject.write('a', '1', { expected: 0 as Revision })])),
      store.close(),
    ]);
    for (const code of [granted, written]) assert.ok(['not refused', 'Closed', 'Unavailable'].includes(code), code);
    assert.equal(await refusal(() => store.revision()), 'Closed');
  });
}
