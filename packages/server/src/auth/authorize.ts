/** May this user do this? Every request is asked about; the first authorizer with an opinion decides, none means no. */

import type { RequestInfo } from '../request/info.ts';
import { mastersGroup } from './user.ts';
import type { User } from './user.ts';

export type Decision = 'allow' | 'deny' | 'no opinion';

export interface Judgement {
  readonly decision: Decision;
  /** Shown to who asked when they may not, and in reviews; may be empty. */
  readonly reason: string;
  /** The authorizer could not find out: it counts as no, and the one who asked is told that it is the server's fault. */
  readonly error?: Error;
}

/** A decision alone has nothing to say about itself. */
export type Verdict = Decision | Judgement;

export interface Authorizer {
  /** At once when it can: every request waits for it. */
  authorize(user: User, info: RequestInfo): Verdict | Promise<Verdict>;
  /** Everything that the user may do in the namespace, for those who ask what they may do. Absent: it cannot be listed. */
  rulesFor?(user: User, namespace: string): SubjectRules | Promise<SubjectRules>;
  /** Stops following what it follows. */
  close?(): void;
}

export interface SubjectRules {
  readonly resourceRules: readonly ResourceRule[];
  readonly nonResourceRules: readonly NonResourceRule[];
  /** There may be more. */
  readonly isIncomplete: boolean;
  /** Why something is missing. */
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

/** Holders of an administrator's certificate may do everything, whatever the policy in the store says. */
export const privilegedGroup: Authorizer = {
  authorize: (user) => (user.groups.includes(mastersGroup) ? 'allow' : 'no opinion'),
  rulesFor: (user) => (user.groups.includes(mastersGroup) ? everything : noRules),
};
