/** May this user do this? Every request is asked about; the first authorizer with an opinion decides, none means no. */

import type { RequestInfo } from '../request/info.ts';
import { mastersGroup } from './user.ts';
import type { User } from './user.ts';

export type Decision = 'allow' | 'deny' | 'no opinion';

export interface Authorizer {
  authorize(user: User, info: RequestInfo): Decision | Promise<Decision>;
  /** Everything that the user may do in the namespace, for those who ask what they may do. Absent: it cannot be listed. */
  rulesFor?(user: User, namespace: string): SubjectRules | Promise<SubjectRules>;
}

export interface SubjectRules {
  readonly resourceRules: readonly ResourceRule[];
  readonly nonResourceRules: readonly NonResourceRule[];
  /** There may be more. */
  readonly isIncomplete: boolean;
}

export interface ResourceRule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
}

export interface NonResourceRule {
  readonly verbs: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

const everything: SubjectRules = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  isIncomplete: false,
};
const nothing: SubjectRules = { resourceRules: [], nonResourceRules: [], isIncomplete: false };

/** Holders of an administrator's certificate may do everything, whatever the policy in the store says. */
export const privilegedGroup: Authorizer = {
  authorize: (user) => (user.groups.includes(mastersGroup) ? 'allow' : 'no opinion'),
  rulesFor: (user) => (user.groups.includes(mastersGroup) ? everything : nothing),
};
