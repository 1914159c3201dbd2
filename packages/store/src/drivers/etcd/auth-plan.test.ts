import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { fenceChanges, readerRole, readEverything } from './auth-plan.ts';
import type { AuthChange, AuthState } from './auth-plan.ts';
import type { Permission } from './messages/auth.ts';

const names = { reader: 'kube-apiserver-etcd-client', operator: 'hangar' };
const everything = { ...readEverything, type: 'readwrite' } as const;

/** Applies a change as etcd does. Throws where etcd refuses. */
function after(state: AuthState, change: AuthChange): AuthState {
  const users = new Map(state.users);
  const rolesOf = (user: string): readonly string[] => users.get(user) ?? assert.fail(`no user ${user}`);
  const permissions = (): readonly Permission[] => state.readerRole ?? assert.fail('no role');
  const isOther = (one: Permission, { start, end }: Permission): boolean => one.start !== start || one.end !== end;
  switch (change.type) {
    case 'addUser':
      assert.ok(!users.has(change.user));
      return { ...state, users: users.set(change.user, []) };
    case 'addRole':
      assert.equal(state.readerRole, undefined);
      return { ...state, readerRole: [] };
    case 'grantRole':
      if (change.role !== 'root') permissions();
      return { ...state, users: users.set(change.user, [...rolesOf(change.user), change.role]) };
    case 'revokeRole':
      assert.ok(rolesOf(change.user).includes(change.role));
      return {
        ...state,
        users: users.set(
          change.user,
          rolesOf(change.user).filter((role) => role !== change.role),
        ),
      };
    case 'grantPermission':
      return {
        ...state,
        readerRole: [...permissions().filter((one) => isOther(one, change.permission)), change.permission],
      };
    case 'revokePermission':
      return { ...state, readerRole: permissions().filter((one) => isOther(one, change.permission)) };
    case 'enable':
      assert.ok(rolesOf('root').includes('root'));
      return { ...state, enabled: true };
  }
}

const canOnlyRead = ({ enabled, users, readerRole: permissions }: AuthState): boolean =>
  enabled &&
  users.get(names.reader)!.join() === readerRole &&
  permissions!.length === 1 &&
  permissions![0]!.type === 'read' &&
  users.get('root')!.includes('root') &&
  users.get(names.operator)!.includes('root');

test('a new etcd gets the users and the role, and authentication last', () => {
  const changes = fenceChanges({ enabled: false, users: new Map() }, names);
  assert.deepEqual(
    changes.map(({ type }) => type),
    'addUser grantRole addUser grantRole addRole grantPermission addUser grantRole enable'.split(' '),
  );
});

test('an etcd that was fenced before is fenced by one change', () => {
  const users = new Map([
    ['root', ['root']],
    [names.operator, ['root']],
    [names.reader, [readerRole]],
  ]);
  const state = { enabled: false, users, readerRole: [readEverything] };
  assert.deepEqual(fenceChanges(state, names), [{ type: 'enable' }]);
  assert.deepEqual(fenceChanges({ ...state, enabled: true }, names), []);
});

test('from any state, and after an interruption between any two changes, the reader can only read in the end', () => {
  const roles = fc.uniqueArray(fc.constantFrom('root', 'writers', readerRole));
  const state = fc.record({
    enabled: fc.boolean(),
    roles: fc.dictionary(fc.constantFrom('root', names.operator, names.reader), roles),
    readerRole: fc.option(
      fc.uniqueArray(fc.constantFrom<Permission>(readEverything, everything, { type: 'write', start: '/a', end: '' }), {
        selector: ({ start, end }) => `${start}-${end}`,
      }),
      { nil: undefined },
    ),
  });
  fc.assert(
    fc.property(state, fc.array(fc.nat(12), { maxLength: 4 }), ({ roles: byName, ...rest }, stops) => {
      let now: AuthState = { ...rest, users: new Map(Object.entries(byName)) };
      for (const stop of [...stops, Infinity, Infinity]) {
        for (const change of fenceChanges(now, names).slice(0, stop)) now = after(now, change);
      }
      assert.deepEqual(fenceChanges(now, names), []);
      assert.ok(canOnlyRead(now));
    }),
    { numRuns: 500 },
  );
});
