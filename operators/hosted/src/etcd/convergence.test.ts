import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { confirmedLosses, followLosses } from './losses.ts';
import type { Losses } from './losses.ts';
import { quorumOf } from './observation.ts';
import { planNext } from './plan.ts';
import { ClusterModel } from './testing/cluster-model.ts';

const times = { certainMs: 1_000, absentMs: 5_000 };

/** One round of the operator. Its memory of losses can be lost by a restart. */
function round(model: ClusterModel, losses: Losses, nowMs: number): Losses {
  const observation = model.observe();
  const after = followLosses(losses, observation, nowMs);
  const action = planNext(observation, confirmedLosses(after, nowMs, times));
  if (!action) return after;
  const had = model.hasQuorum();
  const [voters, healthy] = [model.voters.length, model.healthyVoters().length];
  model.run(action);
  assert.ok(
    !had || model.voters.length === 1 || model.hasQuorum(),
    `${action.type} lost the quorum of ${healthy} of ${voters}`,
  );
  return after;
}

type Event =
  | { readonly type: 'wipe' | 'damage' | 'delete' | 'restart'; readonly ordinal: number }
  | { readonly type: 'scale'; readonly to: number }
  | { readonly type: 'template' | 'operatorRestart' | 'nothing' };

const event: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constantFrom('wipe', 'damage', 'delete', 'restart'), ordinal: fc.nat(4) }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('scale'), to: fc.constantFrom(1, 3, 5) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constantFrom('template', 'operatorRestart') }) },
  { weight: 8, arbitrary: fc.record({ type: fc.constant('nothing') }) },
) as fc.Arbitrary<Event>;

/** Faults that lose the quorum by themselves are left out: no action could prevent it. */
function inject(model: ClusterModel, one: Event): boolean {
  if (one.type === 'scale') model.desired = one.to;
  if (one.type === 'template') model.revision++;
  if (!('ordinal' in one)) return true;
  const others = model.healthyVoters().filter(({ ordinal }) => ordinal !== one.ordinal).length;
  if (others < quorumOf(model.voters.length)) return false;
  model.lose(one.ordinal, one.type);
  return true;
}

test('after any faults, roll-outs and changes of size, all members are healthy again and the quorum was never lost', () => {
  const actions = new Map<string, number>();
  fc.assert(
    fc.property(fc.constantFrom(1, 3, 5), fc.array(event, { maxLength: 60 }), (size, events) => {
      const model = new ClusterModel(size);
      let [losses, nowMs]: [Losses, number] = [new Map(), 0];
      const next = (): void => {
        losses = round(model, losses, (nowMs += 1_000));
        model.step();
      };
      for (const one of events) {
        if (one.type === 'operatorRestart') losses = new Map();
        inject(model, one);
        next();
        actions.set(one.type, (actions.get(one.type) ?? 0) + 1);
      }
      for (let rounds = 0; !model.isSettled(); rounds++) {
        assert.ok(rounds < 200, `not settled: ${JSON.stringify([model.desired, model.members, model.membership])}`);
        next();
      }
    }),
    { numRuns: 2_000, seed: 18 },
  );
  for (const type of ['wipe', 'damage', 'delete', 'restart', 'scale', 'template', 'operatorRestart']) {
    assert.ok(actions.has(type), type);
  }
});
