import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import type { Revision } from '@hangar/store';
import type { RemoteApiServer, TenantIdentity } from '../identity.ts';
import { held, passedTo, released, servedAgain } from './transitions.ts';
import type { Current, Transition } from './transitions.ts';

const born: TenantIdentity = { seed: 's', createdAt: '2026-01-01T00:00:00Z' };
const remote: RemoteApiServer = { server: 'https://10.0.0.1:6443', ca: 'ca' };
const at = (identity: TenantIdentity, revision = 7): Current => ({ identity, revision: revision as Revision });

const table: readonly (readonly [string, Transition, Transition['type'], Partial<TenantIdentity>?])[] = [
  ['hold', held(at(born), 'm'), 'Change', { heldBy: 'm', since: 7 as Revision }],
  ['hold again', held(at({ ...born, heldBy: 'm' }), 'm'), 'Done'],
  ['hold of another', held(at({ ...born, heldBy: 'n' }), 'm'), 'Refused'],
  ['hold during a restore', held(at({ ...born, next: born }), 'm'), 'Refused'],
  ['hold keeps the history', held(at({ ...born, since: 3 as Revision }), 'm'), 'Change', { since: 3 as Revision }],
  ['hold of a Remote tenant', held(at({ ...born, remote }), 'm'), 'Change', { heldBy: 'm', remote }],
  ['release', released(at({ ...born, heldBy: 'm' }), 'm'), 'Change', {}],
  ['release again', released(at(born), 'm'), 'Done'],
  ['release of another', released(at({ ...born, heldBy: 'n' }), 'm'), 'Refused'],
  ['pass on', passedTo(at({ ...born, heldBy: 'm' }), 'm', remote), 'Change', { remote }],
  ['pass on again', passedTo(at({ ...born, remote }), 'm', remote), 'Done'],
  ['pass on without a hold', passedTo(at(born), 'm', remote), 'Refused'],
  ['pass on elsewhere without a hold', passedTo(at({ ...born, remote }), 'm', { ...remote, ca: 'b' }), 'Refused'],
  ['pass on by another', passedTo(at({ ...born, heldBy: 'n' }), 'm', remote), 'Refused'],
  [
    'serve',
    servedAgain(at({ ...born, remote, heldBy: 'm', since: 3 as Revision }), 'm', 9 as Revision),
    'Change',
    { isMaterialised: true, resumesFrom: 10 as Revision },
  ],
  ['serve again', servedAgain(at({ ...born, resumesFrom: 10 as Revision }), 'm', 9 as Revision), 'Done'],
  ['serve a Local tenant', servedAgain(at({ ...born, heldBy: 'm' }), 'm', 9 as Revision), 'Refused'],
  ['serve without a hold', servedAgain(at({ ...born, remote }), 'm', 9 as Revision), 'Refused'],
  ['serve by another', servedAgain(at({ ...born, remote, heldBy: 'n' }), 'm', 9 as Revision), 'Refused'],
];

describe('a transition of the identity', () => {
  for (const [name, transition, type, next] of table) {
    test(`${name}: ${type}`, () => {
      assert.equal(transition.type, type);
      if (!next || transition.type !== 'Change') return;
      for (const [field, value] of Object.entries(next)) {
        assert.deepEqual(transition.next[field as keyof TenantIdentity], value, field);
      }
      assert.equal(transition.next.seed, born.seed);
    });
  }

  test('of a migration that does not hold the tenant never changes the holder or the server', () => {
    type Step = (current: Current, id: string) => Transition;
    const steps: readonly Step[] = [
      held,
      released,
      (current, id) => passedTo(current, id, remote),
      (current, id) => servedAgain(current, id, current.revision),
    ];
    const sequence = fc.array(fc.tuple(fc.constantFrom(...steps), fc.constantFrom('m', 'n', 'o')), { maxLength: 30 });
    fc.assert(
      fc.property(sequence, (all) => {
        let current = at(born, 1);
        for (const [step, id] of all) {
          const transition = step(current, id);
          if (transition.type !== 'Change') continue;
          const { heldBy, remote: before } = current.identity;
          const { next } = transition;
          if (heldBy !== undefined) assert.equal(heldBy, id);
          if (before?.server !== next.remote?.server) assert.equal(heldBy, id);
          // A repeated step after the change is Done or refused, and changes nothing.
          current = { identity: next, revision: (current.revision + 1) as Revision };
          assert.notEqual(step(current, id).type, step === held ? 'Change' : 'Never');
          if (next.since !== undefined) assert.ok(next.since < current.revision);
        }
      }),
    );
  });
});
