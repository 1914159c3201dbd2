/**
 * Role-based access control. The rules that match a verb on a kind are cached for each user until the policy changes, so that a request
 * costs two lookups. Names are compared each time, as they are unbounded.
 */

import { inSlices, Slicer, systemClock } from '@hangar/core';
import type { Steps } from '@hangar/core';
import type { RequestInfo, ResourceRequest } from '../../../request/info.ts';
import type { Authorizer, Judgement, SubjectRules } from '../../authorize.ts';
import type { User } from '../../user.ts';
import { problemsText } from './policy.ts';
import type { Grant, Policy } from './policy.ts';
import { allowsKind, ruleAllows } from './rules.ts';
import type { PolicyRule } from './rules.ts';

/** Limit on cached views, grants and conclusions of all users together. The cache is cleared when it is full. */
const keptMax = 20_000;
/** Longer keys are not cached: they do not occur in normal use. */
const keyLengthMax = 1_000;

/** Lengths of the fields of a key, which has no delimiters: reviews can contain any strings, also with spaces. */
interface Lengths {
  readonly verb: number;
  readonly group: number;
  readonly namespace: number;
  readonly resource: number;
}

/** The rules that match a verb on a kind, in order, up to the first that matches all names. */
interface Conclusion {
  readonly about: Lengths;
  readonly rules: readonly { readonly names: ReadonlySet<string> | undefined; readonly judgement: Judgement }[];
  readonly otherwise: Judgement;
}

/** Cached results for one user under the current policy. */
interface View {
  readonly grants: Map<string, readonly Grant[]>;
  readonly conclusions: Map<string, Conclusion>;
}

export class RbacAuthorizer implements Authorizer {
  readonly #policy: Policy;
  #generation = -1;
  /** All requests of a connection have the same user object. */
  #viewsOfUsers = new WeakMap<User, View>();
  #views = new Map<string, View>();
  readonly #names = new WeakMap<readonly string[], ReadonlySet<string>>();
  #kept = 0;

  constructor(policy: Policy) {
    this.#policy = policy;
  }

  authorize(user: User, info: RequestInfo): Judgement | Promise<Judgement> {
    return this.#policy.isReady ? this.#decide(user, info) : this.#decideLater(user, info);
  }

  async rulesFor(user: User, namespace: string): Promise<SubjectRules> {
    await this.#policy.ready();
    const grants = this.#policy.allGrants(user, namespace);
    const rules = grants.flatMap((grant) => grant.rules);
    const problem = problemsText(grants);
    return {
      resourceRules: rules
        .filter(({ resources }) => resources?.length)
        .map(({ verbs, apiGroups, resources, resourceNames }) => ({
          verbs,
          ...(apiGroups?.length ? { apiGroups } : {}),
          resources: resources!,
          ...(resourceNames?.length ? { resourceNames } : {}),
        })),
      nonResourceRules: rules
        .filter(({ nonResourceURLs }) => nonResourceURLs?.length)
        .map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs: nonResourceURLs! })),
      isIncomplete: false,
      ...(problem === '' ? {} : { problem }),
    };
  }

  async #decideLater(user: User, info: RequestInfo): Promise<Judgement> {
    await this.#policy.ready();
    return this.#decide(user, info);
  }

  #decide(user: User, info: RequestInfo): Judgement | Promise<Judgement> {
    if (this.#generation !== this.#policy.generation) this.#forget();
    const view = this.#viewOf(user);
    if (!info.isResource) return this.#decidePath(user, view, info);
    const { verb, group, resource, subresource, namespace, name } = info;
    const key = `${verb} ${group} ${namespace} ${resource} ${subresource}`;
    const known = view.conclusions.get(key);
    if (known && isAbout(known, info)) return judged(known, name);
    const generation = this.#generation;
    const concluded = (conclusion: Conclusion): Judgement => {
      if (generation === this.#policy.generation) this.#keep(view.conclusions, key, conclusion);
      return judged(conclusion, name);
    };
    const conclusion = inSlices(new Slicer(systemClock), this.#conclude(user, view, info));
    return conclusion instanceof Promise ? conclusion.then(concluded) : concluded(conclusion);
  }

  #decidePath(user: User, view: View, info: RequestInfo): Judgement | Promise<Judgement> {
    return inSlices(new Slicer(systemClock), pathJudgement(this.#grants(user, view, ''), info));
  }

  *#conclude(user: User, view: View, info: ResourceRequest): Steps<Conclusion> {
    const { verb, group, namespace, resource } = info;
    const about = {
      verb: verb.length,
      group: group.length,
      namespace: namespace.length,
      resource: resource.length,
    };
    const rules: { names: ReadonlySet<string> | undefined; judgement: Judgement }[] = [];
    const cluster = this.#grants(user, view, '');
    const grants = namespace === '' ? cluster : [...cluster, ...this.#grants(user, view, namespace)];
    let work = 0;
    for (const grant of grants) {
      for (const rule of grant.rules) {
        if ((work += sizeOf(rule)) >= pauseSize) {
          work = 0;
          yield;
        }
        if (!allowsKind(rule, info)) continue;
        const names = rule.resourceNames?.length ? this.#namesOf(rule.resourceNames) : undefined;
        rules.push({ names, judgement: allowedBy(grant) });
        if (!names) return { about, rules, otherwise: noOpinion };
      }
    }
    return { about, rules, otherwise: refused(grants) };
  }

  #grants(user: User, view: View, scope: string): readonly Grant[] {
    let grants = view.grants.get(scope);
    if (!grants) this.#keep(view.grants, scope, (grants = this.#policy.grants(user, scope)));
    return grants;
  }

  #viewOf(user: User): View {
    let view = this.#viewsOfUsers.get(user);
    if (view) return view;
    const id = JSON.stringify([user.name, user.groups]);
    view = this.#views.get(id);
    if (!view) this.#keep(this.#views, id, (view = { grants: new Map(), conclusions: new Map() }));
    this.#viewsOfUsers.set(user, view);
    return view;
  }

  #keep<T>(where: Map<string, T>, key: string, what: T): void {
    if (key.length > keyLengthMax) return;
    if (this.#kept++ >= keptMax) this.#forget();
    else where.set(ownText(key), what);
  }

  /** Returns one set for all conclusions, regardless of the number of verbs. */
  #namesOf(resourceNames: readonly string[]): ReadonlySet<string> {
    let names = this.#names.get(resourceNames);
    if (!names) this.#names.set(resourceNames, (names = new Set(resourceNames)));
    return names;
  }

  #forget(): void {
    this.#generation = this.#policy.generation;
    this.#viewsOfUsers = new WeakMap();
    this.#views = new Map();
    this.#kept = 0;
  }
}

/** Number of rule elements that are compared before work may pause. */
const pauseSize = 2_048;

/** Lists stored by other servers may be null. */
const sizeOf = ({ verbs, apiGroups, resources, nonResourceURLs }: PolicyRule): number =>
  1 + (verbs?.length ?? 0) + (apiGroups?.length ?? 0) + (resources?.length ?? 0) + (nonResourceURLs?.length ?? 0);

function judged({ rules, otherwise }: Conclusion, name: string): Judgement {
  for (const { names, judgement } of rules) if (!names || names.has(name)) return judgement;
  return otherwise;
}

function* pathJudgement(grants: readonly Grant[], info: RequestInfo): Steps<Judgement> {
  let work = 0;
  for (const grant of grants) {
    for (const rule of grant.rules) {
      if (ruleAllows(rule, info)) return allowedBy(grant);
      if ((work += sizeOf(rule)) < pauseSize) continue;
      work = 0;
      yield;
    }
  }
  return refused(grants);
}

/** Compares two requests with the same key. */
const isAbout = ({ about }: Conclusion, { verb, group, namespace, resource }: ResourceRequest): boolean =>
  about.verb === verb.length &&
  about.group === group.length &&
  about.namespace === namespace.length &&
  about.resource === resource.length;

/** Returns a copy of any code units: a slice would keep the whole text of the request alive. */
const ownText = (text: string): string => Buffer.from(text, 'utf16le').toString('utf16le');

const noOpinion: Judgement = { decision: 'no opinion', reason: '' };

const allowedBy = (grant: Grant): Judgement => ({
  decision: 'allow',
  reason: `RBAC: allowed by ${'source' in grant ? grant.source() : ''}`,
});

/** A missing role grants nothing, and is reported. */
function refused(grants: readonly Grant[]): Judgement {
  const problems = problemsText(grants);
  return problems === '' ? noOpinion : { decision: 'no opinion', reason: `RBAC: ${problems}` };
}
