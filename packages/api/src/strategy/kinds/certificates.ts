/** Certificate signing requests: their spec never changes, and approval and status each have their own part of the status. */

import { isAbsent, objectAt, objectsAt, structAt } from '../../defaults/access.ts';
import type { JsonObject, KubeObject } from '../../object.ts';
import { restore } from '../metadata.ts';
import type { KindRules, Now } from '../rules.ts';

/** The authenticated user of the request. */
export interface Requester {
  readonly username: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

const requesterFields = ['username', 'uid', 'groups', 'extra'] as const;

/** Called after `prepareForCreate`, which drops the identity claimed by the client. */
export function recordRequester(request: KubeObject, requester: Requester): void {
  const spec = structAt(request, 'spec');
  for (const name of requesterFields) {
    const value = requester[name];
    if (value !== undefined) spec[name] = structuredClone(value);
  }
}

export const certificateRules: Readonly<Record<string, KindRules>> = {
  'certificates.k8s.io/CertificateSigningRequest': {
    // Any name has always been allowed.
    name: () => [],
    create: (object) => {
      const spec = structAt(object, 'spec');
      for (const name of requesterFields) delete spec[name];
    },
    update: (object, old) => restore(object, old, 'spec'),
    resets: ['spec', 'status'],
    updateStatus: (object, old, now) => {
      const conditions = conditionsOf(object);
      const before = conditionsOf(old);
      for (const type of ['Approved', 'Denied']) keepConditions(conditions, before, type);
      stampConditions(conditions, before, now);
      if (conditions.length > 0) structAt(object, 'status')['conditions'] = conditions;
    },
    statusResets: ['spec', 'status.conditions'],
    subresources: {
      approval: {
        update: (object, old, now) => {
          const conditions = conditionsOf(object);
          stampConditions(conditions, conditionsOf(old), now);
          restore(object, old, 'spec');
          const { conditions: _before, ...status } = objectAt(old, 'status') ?? {};
          object['status'] = conditions.length > 0 ? { ...status, conditions } : status;
        },
        resets: ['spec', 'status.certificate'],
      },
    },
  },
};

const conditionsOf = (request: KubeObject): JsonObject[] =>
  objectsAt(objectAt(request, 'status'), 'conditions').map((condition) => ({ ...condition }));

/** Approvals and denials stay as they are, unless some were added or removed: then validation refuses. */
function keepConditions(conditions: JsonObject[], before: readonly JsonObject[], type: string): void {
  const kept = before.filter((one) => one['type'] === type);
  const places = conditions.flatMap((one, i) => (one['type'] === type ? [i] : []));
  if (kept.length === places.length) places.forEach((place, i) => (conditions[place] = { ...kept[i]! }));
}

function stampConditions(conditions: readonly JsonObject[], before: readonly JsonObject[], now: Now): void {
  const key = ({ type, status }: JsonObject): string => JSON.stringify([type, status]);
  const transitions = new Map<string, unknown>();
  for (const condition of before.toReversed()) {
    if (!isAbsent(condition['lastTransitionTime'])) transitions.set(key(condition), condition['lastTransitionTime']);
  }
  for (const condition of conditions) {
    if (isAbsent(condition['lastUpdateTime'])) condition['lastUpdateTime'] = now();
    if (isAbsent(condition['lastTransitionTime'])) {
      condition['lastTransitionTime'] = transitions.get(key(condition)) ?? now();
    }
  }
}
