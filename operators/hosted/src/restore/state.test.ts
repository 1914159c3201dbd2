import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { annotations } from '../api/index.ts';
import { bumpRevisionFor, holdOf, restoreStateOf, revisionMargin } from './state.ts';
import type { RestorePhase, RestoreState } from './state.ts';

const state: RestoreState = {
  uid: 'u1',
  phase: 'Stopping',
  isNew: false,
  members: 3,
  snapshot: { bytes: 1, sha256: 'a', revision: 5, entries: 2, contentDigest: 'b' },
  bumpRevision: 10,
  failures: 0,
  since: '2026-01-01T00:00:00.000Z',
};
const withState = (text: string) => ({ metadata: { annotations: { [annotations.restore]: text } } });

test('a state is read as it was written, and other texts are malformed', () => {
  assert.deepEqual(restoreStateOf(withState(JSON.stringify(state))), state);
  assert.equal(restoreStateOf({ metadata: {} }), undefined);
  for (const text of ['', 'x', '{}', JSON.stringify({ ...state, phase: 'Other' }), 'null', '[]']) {
    assert.equal(restoreStateOf(withState(text)), 'malformed', text);
  }
});

test('etcd and API servers are held until their data is known to be right', () => {
  const holds = (phase: RestorePhase) => holdOf(withState(JSON.stringify({ ...state, phase })));
  for (const phase of ['Preparing', 'Stopping', 'Restoring', 'Activating', 'Reverting'] as const) {
    assert.equal(holds(phase), 'etcd');
  }
  assert.equal(holds('Checking'), 'api-servers');
  assert.equal(holds('Starting'), undefined);
  assert.equal(holds('Cleaning'), undefined);
  assert.equal(holdOf(withState('?')), 'etcd');
  assert.equal(holdOf({ metadata: {} }), undefined);
});

test('restored revisions are always higher than all revisions before', () => {
  const revision = fc.integer({ min: 1, max: 1_000_000 });
  const restores = fc.array(fc.tuple(revision, revision, fc.boolean()), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(restores, (all) => {
      let [current, lastRestored]: [number, number | undefined] = [1, undefined];
      for (const [snapshot, writes, isReachable] of all) {
        current += writes;
        const bump = bumpRevisionFor({ snapshot, current: isReachable ? current : undefined, lastRestored });
        // Without a member that responds, an upper limit of the writes since the last restore is assumed.
        assert.ok(snapshot + bump > current || (!isReachable && lastRestored === undefined && writes > revisionMargin));
        current = lastRestored = snapshot + bump;
      }
    }),
  );
});
