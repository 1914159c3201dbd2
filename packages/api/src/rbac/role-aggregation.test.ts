import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { RoleAggregation } from './index.ts';
import type { AggregationLimits, AggregationResult, ClusterRoleView, PolicyRule } from './index.ts';

const rule = (resource: string): PolicyRule => ({ verbs: ['get'], apiGroups: ['example.com'], resources: [resource] });

interface Sketch {
  readonly labels?: Record<string, string>;
  readonly collects?: readonly Record<string, string>[];
  readonly rules?: readonly string[];
}

const role = (name: string, { labels = {}, collects, rules = [] }: Sketch = {}): ClusterRoleView => ({
  name,
  labels,
  rules: rules.map(rule),
  selectors: (collects ?? []).map((matchLabels) => ({ matchLabels })),
  isAggregated: collects !== undefined,
});

/** The roles of a control plane, their aggregation, and the cost of the last update. */
class Roles {
  readonly all = new Map<string, ClusterRoleView>();
  readonly aggregation: RoleAggregation;
  pauses = 0;

  constructor(roles: readonly ClusterRoleView[], limits: Partial<AggregationLimits> = {}) {
    this.aggregation = new RoleAggregation(limits);
    this.put(...roles);
  }

  put(...roles: readonly ClusterRoleView[]): void {
    for (const one of roles) this.all.set(one.name, one);
  }

  update(): AggregationResult {
    const steps = this.aggregation.update(this.all);
    for (this.pauses = 0; ; this.pauses++) {
      const { done, value } = steps.next();
      if (done) return value;
    }
  }

  /** Updates, and writes the outdated roles, until there are none. */
  settle(): string[] {
    const written: string[] = [];
    for (;;) {
      const { outdated } = this.update();
      if (outdated.length === 0) return written;
      for (const { role: one, rules } of outdated) {
        written.push(one.name);
        this.put({ ...one, rules });
      }
    }
  }

  collected(name: string): string[] | undefined {
    return this.aggregation.collected(name)?.flatMap(({ resources }) => resources!);
  }
}

const changes = ({ outdated }: AggregationResult): Record<string, string[]> =>
  Object.fromEntries(outdated.map(({ role: one, rules }) => [one.name, rules.flatMap((each) => each.resources!)]));

describe('an aggregated role', () => {
  test('has the rules of the roles that it selects by the order of selectors, then of names, each once', () => {
    const roles = new Roles([
      role('z', { labels: { to: 'a' }, rules: ['one', 'two'] }),
      role('c', { labels: { to: 'b' }, rules: ['three'] }),
      role('b', { labels: { to: 'b' }, rules: ['two'] }),
      role('m', { labels: { to: 'b' }, rules: ['own'], collects: [{ to: 'b' }, { to: 'a' }, { to: 'b' }] }),
    ]);
    assert.deepEqual(changes(roles.update()), { m: ['two', 'three', 'one'] });
  });

  test('is found by selectors without a pair of label and value', () => {
    const general = (name: string, ...selectors: ClusterRoleView['selectors']): ClusterRoleView => ({
      ...role(name, { collects: [] }),
      selectors,
    });
    const roles = new Roles([
      general('exists', { matchExpressions: [{ key: 'to', operator: 'Exists' }] }),
      general('in', { matchExpressions: [{ key: 'to', operator: 'In', values: ['a', 'b'] }] }),
      general('not', { matchExpressions: [{ key: 'to', operator: 'NotIn', values: ['a'] }] }),
      general('invalid', { matchExpressions: [{ key: 'to', operator: 'Near' }] }),
      role('x', { labels: { to: 'a' }, rules: ['x'] }),
      role('y', { labels: { to: 'c' }, rules: ['y'] }),
    ]);
    assert.deepEqual(changes(roles.update()), { exists: ['x', 'y'], in: ['x'], not: ['x', 'y'] });
  });

  test('that is collected by others comes first, whatever the names', () => {
    const roles = new Roles([
      role('a-admin', { collects: [{ to: 'admin' }] }),
      role('b-edit', { labels: { to: 'admin' }, collects: [{ to: 'edit' }] }),
      role('c-view', { labels: { to: 'edit' }, collects: [{ to: 'view' }] }),
      role('d', { labels: { to: 'view' }, rules: ['one'] }),
    ]);
    assert.deepEqual(changes(roles.update()), { 'a-admin': ['one'], 'b-edit': ['one'], 'c-view': ['one'] });
  });

  test('follows every kind of change', () => {
    const roles = new Roles([
      role('all', { collects: [{ to: 'all' }] }),
      role('more', { labels: { to: 'all' }, collects: [{ to: 'more' }] }),
      role('leaf', { labels: { to: 'more' }, rules: ['one'] }),
    ]);
    assert.deepEqual(roles.settle(), ['all', 'more']);
    assert.deepEqual(roles.settle(), [], 'nothing changed');
    const becomes = (expected: string[], ...changed: readonly ClusterRoleView[]): void => {
      roles.put(...changed);
      roles.settle();
      assert.deepEqual(roles.collected('all'), expected);
    };
    becomes(['one', 'two'], role('leaf', { labels: { to: 'more' }, rules: ['one', 'two'] }));
    becomes([], role('leaf', { labels: { to: 'nobody' }, rules: ['one'] }));
    becomes(['one'], role('leaf', { labels: { to: 'all' }, rules: ['one'] }));
    becomes([], role('all', { collects: [{ to: 'else' }] }));
    becomes(['one'], role('all', { collects: [{ to: 'else' }, { to: 'all' }] }));
    becomes(['one', 'own'], role('more', { labels: { to: 'all' }, rules: ['own'] }));
    becomes(['one'], role('more', { labels: { to: 'all' }, collects: [] }));
    roles.all.delete('leaf');
    becomes([]);
    becomes(['two'], role('leaf', { labels: { to: 'all' }, rules: ['two'] }));
    becomes(['two'], role('all', { collects: [{ to: 'all' }], rules: ['overwritten'] }));
    assert.deepEqual(roles.all.get('all')!.rules, [rule('two')]);
  });

  test('that others wrote by half is outdated until it is right, also when a write failed', () => {
    const roles = new Roles([
      role('all', { collects: [{ to: 'all' }] }),
      role('leaf', { labels: { to: 'all' }, rules: ['one'] }),
    ]);
    assert.deepEqual(changes(roles.update()), { all: ['one'] });
    assert.deepEqual(changes(roles.update()), { all: ['one'] }, 'the write failed');
    roles.put(role('all', { collects: [{ to: 'all' }], rules: ['one', 'two'] }));
    assert.deepEqual(changes(roles.update()), { all: ['one'] });
    roles.put(role('all', { collects: [{ to: 'all' }], rules: ['one'] }));
    assert.deepEqual(changes(roles.update()), {});
  });

  test('is written in another order only when its rules differ', () => {
    const roles = new Roles([
      role('all', { collects: [{ to: 'all' }], rules: ['two', 'one'] }),
      role('leaf', { labels: { to: 'all' }, rules: ['one', 'two'] }),
    ]);
    assert.deepEqual(changes(roles.update()), {});
  });
});

test('roles that collect each other agree, and forget what has gone', () => {
  const ring = [0, 1, 2, 3].map((at) =>
    role(`c${at}`, { labels: { of: `c${(at + 3) % 4}` }, collects: [{ of: `c${at}` }] }),
  );
  const roles = new Roles([
    ...ring,
    role('leaf-a', { labels: { of: 'c0' }, rules: ['a'] }),
    role('leaf-b', { labels: { of: 'c2' }, rules: ['b'] }),
  ]);
  roles.settle();
  for (const { name } of ring) assert.deepEqual(roles.collected(name)!.toSorted(), ['a', 'b']);
  roles.put(role('leaf-b', { labels: { of: 'c2' } }));
  roles.settle();
  for (const { name } of ring) assert.deepEqual(roles.collected(name), ['a']);
  roles.all.delete('leaf-a');
  roles.settle();
  for (const { name } of ring) assert.deepEqual(roles.collected(name), []);
});

describe('the work of an update', () => {
  /** Each role collects the one before it, and its own leaf. */
  const chain = (length: number): ClusterRoleView[] =>
    Array.from({ length }, (_, at) => [
      role(`c${at}`, { labels: { to: `c${at + 1}` }, collects: [{ to: `c${at}` }] }),
      role(`leaf${at}`, { labels: { to: `c${at}` }, rules: [`r${at}`] }),
    ]).flat();

  test('follows the dependents of what changed, and stops where nothing changes', () => {
    const roles = new Roles(chain(200));
    roles.settle();
    roles.update();
    assert.equal(roles.pauses, 0, 'nothing changed');
    roles.put({ ...roles.all.get('leaf199')! });
    roles.put(role('leaf199', { labels: { to: 'c199' }, rules: ['other'] }));
    assert.deepEqual(Object.keys(changes(roles.update())), ['c199']);
    const atEnd = roles.pauses;
    roles.put(role('leaf0', { labels: { to: 'c0' }, rules: ['other'] }));
    assert.equal(roles.update().outdated.length, 200);
    assert.ok(atEnd * 20 < roles.pauses, `${atEnd} pauses for one role, ${roles.pauses} for all`);
  });

  test('grows with the rules that are collected, not with a power of the length of a chain', () => {
    const pauses = (length: number): number => {
      const roles = new Roles(chain(length));
      roles.settle();
      roles.put(role('leaf0', { labels: { to: 'c0' }, rules: ['other'] }));
      assert.equal(roles.update().outdated.length, length);
      return roles.pauses;
    };
    // A chain of twice the length collects four times the rules.
    const [some, more] = [pauses(100), pauses(200)];
    assert.ok(more < some * 5, `${some} and ${more} pauses`);
  });

  test('pauses after every few comparisons', () => {
    const roles = new Roles(chain(300));
    roles.update();
    const collected = (300 * 301) / 2;
    assert.ok(roles.pauses > collected / 200, `${roles.pauses} pauses for ${collected} rules`);
  });

  test('is limited: everything is refused and nothing is written', () => {
    const roles = new Roles(chain(50), { stepsMax: 1_000 });
    const { outdated, refused } = roles.update();
    assert.deepEqual([outdated.length, refused.length], [0, 50]);
    assert.equal(refused[0]!.reason, 'the aggregation of the ClusterRoles takes more than 1000 comparisons');
    for (const { name } of [...roles.all.values()].slice(20)) roles.all.delete(name);
    assert.equal(roles.update().outdated.length, 10, 'fewer roles are collected again');
  });
});

describe('a role over a limit keeps its rules', () => {
  const leaf = (count: number): ClusterRoleView =>
    role('leaf', { labels: { to: 'all' }, rules: Array.from({ length: count }, (_, at) => `r${at}`) });
  const all = role('all', { labels: { to: 'top' }, collects: [{ to: 'all' }], rules: ['before'] });
  const top = role('top', { collects: [{ to: 'top' }] });

  for (const [limits, reason] of [
    [{ rulesMax: 10 }, 'it would have more than 10 rules'],
    [{ lengthMax: 400 }, 'its rules would have more than 400 characters'],
    [{ totalLengthMax: 400 }, 'the rules of all aggregated ClusterRoles together would have more than 400 characters'],
    [{ sourcesMax: 0 }, 'it selects more than 0 ClusterRoles'],
  ] as const) {
    test(JSON.stringify(limits), () => {
      const roles = new Roles([leaf(11), all], limits);
      const { outdated, refused } = roles.update();
      assert.deepEqual(outdated, []);
      assert.deepEqual(
        refused.map((one) => [one.role.name, one.reason]),
        [['all', reason]],
      );
    });
  }

  test('and roles that collect it have those', () => {
    const roles = new Roles([leaf(11), all, top], { rulesMax: 10 });
    roles.settle();
    assert.deepEqual(roles.collected('top'), ['before']);
    roles.put(leaf(3));
    roles.settle();
    assert.deepEqual(roles.collected('top'), ['r0', 'r1', 'r2']);
    assert.deepEqual(roles.update().refused, []);
  });
});
