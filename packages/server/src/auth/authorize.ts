/** Authorization of requests: the first authorizer with an opinion decides; without an opinion the request is denied. */

import type { RequestInfo } from '../request/info.ts';
import { mastersGroup } from './user.ts';
import type { User } from './user.ts';
import type { Visibility } from './visibility.ts';

export type Decision = 'allow' | 'deny' | 'no opinion';

export interface Judgement {
  readonly decision: Decision;
  /** Included in denials and reviews; may be empty. */
  readonly reason: string;
  /** The authorizer failed: the request is denied with an internal error. */
  readonly error?: Error;
  /** Allowed for these objects only. Absent: for all. */
  readonly visibility?: Visibility;
}

/** A plain decision has no reason. */
export type Verdict = Decision | Judgement;

export interface Authorizer {
  /** Synchronous if possible: every request waits for it. */
  authorize(user: User, info: RequestInfo): Verdict | Promise<Verdict>;
  /** Returns the permissions of the user in the namespace, for SelfSubjectRulesReviews. Absent: they cannot be listed. */
  rulesFor?(user: User, namespace: string): SubjectRules | Promise<SubjectRules>;
  /** Stops all watches. */
  close?(): void;
}

export interface SubjectRules {
  readonly resourceRules: readonly ResourceRule[];
  readonly nonResourceRules: readonly NonResourceRule[];
  /** True: the lists may lack rules. */
  readonly isIncomplete: boolean;
  /** Reason why rules are missing. */
  readonly problem?: string;
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

export const everything: SubjectRules = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  isIncomplete: false,
};
export const noRules: SubjectRules = { resourceRules: [], nonResourceRules: [], isIncomplete: false };

/** Allows everything to the group of administrator certificates, regardless of the stored policy. */
export const privilegedGroup: Authorizer = {
  authorize: (user) => (user.groups.includes(mastersGroup) ? 'allow' : 'no opinion'),
  rulesFor: (user) => (user.groups.includes(mastersGroup) ? everything : noRules),
};
