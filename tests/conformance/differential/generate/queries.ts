/** Queries: options of writes, selectors of lists. */

import { chance, pick } from '@hangar/core';
import type { Random } from '@hangar/core';

export function writeQuery(random: Random, p = 0.4): Record<string, string> {
  if (!chance(random, p)) return {};
  return pick(random, [
    { fieldValidation: 'Strict' },
    { fieldValidation: 'Strict' },
    { fieldValidation: 'Ignore' },
    { fieldValidation: 'Warn' },
    { fieldValidation: 'Odd' },
    { dryRun: 'All' },
    { dryRun: 'All', fieldValidation: 'Strict' },
    { dryRun: 'Odd' },
    { fieldManager: 'bob' },
    { fieldManager: 'x'.repeat(129) },
    { fieldManager: 'tab\tbed' },
    { force: 'true' },
  ]);
}

export function listQuery(random: Random): Record<string, string> {
  const query: Record<string, string> = {};
  if (chance(random, 0.5)) query['labelSelector'] = pick(random, labelSelectors);
  if (chance(random, 0.3)) query['fieldSelector'] = pick(random, fieldSelectors);
  if (chance(random, 0.2)) query['limit'] = pick(random, ['1', '0', '500', '-1', 'odd']);
  if (chance(random, 0.1)) query['resourceVersion'] = pick(random, ['0', '{rv}', 'odd']);
  if (chance(random, 0.05)) query['resourceVersionMatch'] = pick(random, ['Exact', 'NotOlderThan', 'Odd']);
  if (chance(random, 0.03)) query['continue'] = pick(random, ['odd', 'e30=']);
  return query;
}

const labelSelectors = [
  'a=x',
  'a==x,b!=y',
  'a in (x,y)',
  'a notin (x)',
  '!a',
  'a',
  'app,!b',
  'a>1',
  'a in x',
  'a=x y',
  ',',
  'a in ()',
  'A b',
  `${'x'.repeat(64)}=a`,
  'a=-',
];

const fieldSelectors = [
  'metadata.name=a',
  'metadata.name!=a',
  'metadata.namespace={ns}',
  'metadata.namespace=other',
  'status.phase=Pending',
  'spec.size=1',
  'type=Opaque',
  'metadata.labels=a',
  'a',
  'metadata.name=a,metadata.name=b',
  'metadata.name=',
  'spec.nodeName=',
];
