import assert from 'node:assert/strict';
import { test } from 'node:test';
import { array, assert as assertProperty, integer, nat, property, record } from 'fast-check';
import type { Project } from '../api/index.ts';
import { Admissions, isWithinQuota } from './quota.ts';

const projectOf = (at: number, second = at, isDeleted = false): Project =>
  ({
    metadata: {
      uid: `u${at}`,
      name: `p${at}`,
      creationTimestamp: `2026-01-01T00:00:${String(second).padStart(2, '0')}Z`,
      ...(isDeleted ? { deletionTimestamp: '2026-01-01T00:01:00Z' } : {}),
    },
  }) as Project;

test('the oldest projects come first, and those with a control plane keep it', () => {
  const projects = [projectOf(1), projectOf(2), projectOf(3)];
  const admitted = (projectsMax: number, provisioned: readonly string[] = []): string[] =>
    projects
      .filter((project) =>
        isWithinQuota({
          project,
          projects,
          projectsMax,
          hasControlPlane: ({ metadata }) => provisioned.includes(metadata.name!),
        }),
      )
      .map(({ metadata }) => metadata.name!);
  assert.deepEqual(admitted(2), ['p1', 'p2']);
  assert.deepEqual(admitted(2, ['p3']), ['p1', 'p3']);
  assert.deepEqual(admitted(0, ['p2', 'p3']), ['p2', 'p3']);
  assert.deepEqual(admitted(3), ['p1', 'p2', 'p3']);
});

test('in any order of reconciles, with caches that show no control plane yet, the quota is kept and used', () => {
  const arbitrary = record({
    seconds: array(integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 12 }),
    projectsMax: integer({ min: 0, max: 12 }),
    order: array(nat(11), { maxLength: 40 }),
  });
  assertProperty(
    property(arbitrary, ({ seconds, projectsMax, order }) => {
      const projects = seconds.map((second, at) => projectOf(at, second));
      const admissions = new Admissions();
      const reconcile = (at: number): boolean =>
        admissions.admit({ project: projects[at]!, projects, projectsMax, hasControlPlane: () => false });
      for (const at of order) if (at < projects.length) reconcile(at);
      assert.ok(admissions.size <= projectsMax);
      projects.forEach((_, at) => reconcile(at));
      projects.forEach((_, at) => reconcile(at));
      assert.equal(admissions.size, Math.min(projectsMax, projects.length));
    }),
  );
});
