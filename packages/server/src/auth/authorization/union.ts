/** Combines several authorizers: the first with an opinion decides. Without an opinion, the reasons of all are reported. */

import { asError } from '@hangar/core';
import type { RequestInfo } from '../../request/info.ts';
import type { Authorizer, Decision, Judgement, SubjectRules, Verdict } from '../authorize.ts';
import type { User } from '../user.ts';

export class AuthorizerUnion {
  readonly #authorizers: readonly Authorizer[];

  constructor(authorizers: readonly Authorizer[]) {
    this.#authorizers = authorizers;
  }

  /** Synchronous if all consulted authorizers are. Never rejects: errors are part of the judgement. */
  judge(user: User, info: RequestInfo): Judgement | Promise<Judgement> {
    let others: Judgement[] | undefined;
    for (let at = 0; at < this.#authorizers.length; at++) {
      const verdict = ask(this.#authorizers[at]!, user, info);
      if (verdict instanceof Promise) return this.#judgeLater(user, info, others ?? [], at, verdict);
      if (verdict === 'no opinion') continue;
      const judgement = asJudgement(verdict);
      if (judgement.decision !== 'no opinion') return judgement;
      (others ??= []).push(judgement);
    }
    return others ? undecided(others) : none;
  }

  async #judgeLater(
    user: User,
    info: RequestInfo,
    others: Judgement[],
    from: number,
    first: Promise<Verdict>,
  ): Promise<Judgement> {
    for (let at = from; at < this.#authorizers.length; at++) {
      const judgement = asJudgement(await (at === from ? first : ask(this.#authorizers[at]!, user, info)));
      if (judgement.decision !== 'no opinion') return judgement;
      others.push(judgement);
    }
    return undecided(others);
  }

  /** Returns the rules of all authorizers; incomplete if one of them cannot list its rules. */
  async rulesFor(user: User, namespace: string): Promise<SubjectRules> {
    const all = await Promise.all(this.#authorizers.map(async (one) => one.rulesFor?.(user, namespace)));
    return {
      resourceRules: all.flatMap((rules) => rules?.resourceRules ?? []),
      nonResourceRules: all.flatMap((rules) => rules?.nonResourceRules ?? []),
      isIncomplete: all.some((rules) => rules?.isIncomplete ?? true),
      ...problemsOf(all),
    };
  }
}

function problemsOf(all: readonly (SubjectRules | undefined)[]): { problem?: string } {
  const problems = all.flatMap((rules) => rules?.problem ?? []);
  if (problems.length === 0) return {};
  return { problem: problems.length > 1 ? `[${problems.join(', ')}]` : problems[0]! };
}

/** An error in an authorizer counts as no opinion. */
function ask(authorizer: Authorizer, user: User, info: RequestInfo): Verdict | Promise<Verdict> {
  try {
    const verdict = authorizer.authorize(user, info);
    return verdict instanceof Promise ? verdict.catch(failed) : verdict;
  } catch (error) {
    return failed(error);
  }
}

const failed = (error: unknown): Judgement => ({ decision: 'no opinion', reason: '', error: asError(error) });

const silent: Readonly<Record<Decision, Judgement>> = {
  allow: { decision: 'allow', reason: '' },
  deny: { decision: 'deny', reason: '' },
  'no opinion': { decision: 'no opinion', reason: '' },
};
const none = silent['no opinion'];

const asJudgement = (verdict: Verdict): Judgement => (typeof verdict === 'string' ? silent[verdict] : verdict);

function undecided(all: readonly Judgement[]): Judgement {
  const said = all.filter(({ reason, error }) => reason !== '' || error);
  if (said.length < 2) return said[0] ?? none;
  const reason = said.flatMap((one) => (one.reason === '' ? [] : [one.reason])).join('\n');
  const errors = said.flatMap((one) => one.error ?? []);
  if (errors.length < 2) return { decision: 'no opinion', reason, ...(errors[0] ? { error: errors[0] } : {}) };
  const message = `[${errors.map((one) => one.message).join(', ')}]`;
  return { decision: 'no opinion', reason, error: new AggregateError(errors, message) };
}
