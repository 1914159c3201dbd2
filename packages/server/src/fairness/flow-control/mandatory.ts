/** The mandatory schemas and levels, which exist regardless of the store: the API does not allow changes of their specs. */

import type { JsonObject } from '@hangar/api';
import { readFlowSchema } from './flow-schema.ts';
import { readPriorityLevel } from './priority-level.ts';

const everything: JsonObject = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
};
const group = (name: string): JsonObject => ({ kind: 'Group', group: { name } });
const named = (name: string, spec: JsonObject) => ({ metadata: { name, uid: '' }, spec });

export const mandatorySchemas = [
  named('exempt', {
    priorityLevelConfiguration: { name: 'exempt' },
    matchingPrecedence: 1,
    rules: [{ subjects: [group('system:masters')], ...everything }],
  }),
  named('catch-all', {
    priorityLevelConfiguration: { name: 'catch-all' },
    matchingPrecedence: 10_000,
    distinguisherMethod: { type: 'ByUser' },
    rules: [{ subjects: [group('system:unauthenticated'), group('system:authenticated')], ...everything }],
  }),
].map((object) => readFlowSchema(object as never));

export const mandatoryLevels = [
  named('exempt', { type: 'Exempt', exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } }),
  named('catch-all', {
    type: 'Limited',
    limited: { nominalConcurrencyShares: 5, lendablePercent: 0, limitResponse: { type: 'Reject' } },
  }),
].map((object) => readPriorityLevel(object as never));
