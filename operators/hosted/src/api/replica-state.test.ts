import assert from 'node:assert/strict';
import { test } from 'node:test';
import { annotations } from './names.ts';
import { replicaHoldOf, replicaStateOf } from './replica-state.ts';
import type { ReplicaPhase, ReplicaState } from './replica-state.ts';

const state: ReplicaState = {
  id: 'm1',
  phase: 'Seeding',
  attempt: 1,
  issuer: 'https://i',
  serviceCidrs: ['10.0.0.0/24'],
};
const annotated = (notes: Record<string, string>) => ({ metadata: { annotations: notes } });
const withState = (text: string) => annotated({ [annotations.replica]: text });

test('a state is read as it was written, and other texts are malformed', () => {
  assert.deepEqual(replicaStateOf(withState(JSON.stringify(state))), state);
  assert.equal(replicaStateOf({ metadata: {} }), undefined);
  const wrong = [
    { phase: 'Other' },
    { id: 7 },
    { attempt: 1.5 },
    { issuer: {} },
    { servingCa: 1 },
    { serviceCidrs: [] },
    { serviceCidrs: [1] },
  ];
  const texts = ['', 'x', 'null', '[]', '{}', ...wrong.map((change) => JSON.stringify({ ...state, ...change }))];
  for (const text of texts) assert.equal(replicaStateOf(withState(text)), 'malformed', text);
});

test('etcd, API servers and controllers start only when the state allows it', () => {
  const table: [Parameters<typeof replicaHoldOf>[0], string | undefined][] = [
    [{ metadata: {} }, undefined],
    [annotated({ [annotations.replicaOf]: 'm1' }), 'everything'],
    [withState('?'), 'everything'],
    ...(['Preparing', 'Seeding', 'Fenced', 'Active'] as ReplicaPhase[]).map(
      (phase, at): [Parameters<typeof replicaHoldOf>[0], string | undefined] => [
        annotated({ [annotations.replicaOf]: 'm1', [annotations.replica]: JSON.stringify({ ...state, phase }) }),
        ['everything', 'api-servers', 'controllers', undefined][at],
      ],
    ),
  ];
  for (const [object, hold] of table) assert.equal(replicaHoldOf(object), hold, JSON.stringify(object));
});
