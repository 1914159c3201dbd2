/**
 * Impersonation of users. Constrained permissions limit both the impersonated user and the action (`impersonate:user-info` and
 * `impersonate-on:user-info:list`); the legacy permission (`impersonate`) is broad. Constrained permissions are tried first. If none
 * applies, the first denial is reported.
 *
 * An impersonated user cannot impersonate further: the headers are evaluated once, for the authenticated user.
 */

import { dnsSubdomainReasons } from '@hangar/api';
import type { RequestInfo, ResourceRequest, Verb } from '../../request/info.ts';
import { forbidden } from '../forbidden.ts';
import type { Guard } from '../guard.ts';
import { accountNameOf, groupsOf, nodeNameKey } from '../service-accounts/names.ts';
import { anonymous, authenticated, mastersGroup, nodesGroup, unauthenticatedGroup } from '../user.ts';
import type { User } from '../user.ts';

export interface Impersonation {
  readonly guard: Guard;
  readonly requestor: User;
  readonly wanted: User;
  /** The request to authorize as the impersonated user. */
  readonly info: RequestInfo;
}

export interface Impersonated {
  readonly user: User;
  /** The constrained permission that allowed it; empty for the legacy one. */
  readonly constraint: string;
}

interface Mode {
  /** Empty: the legacy permission. */
  readonly name: '' | 'associated-node' | 'arbitrary-node' | 'serviceaccount' | 'user-info';
  /** Reports whether this mode can impersonate such a user. */
  applies(wanted: User, requestor: User): boolean;
}

const modes: readonly Mode[] = [
  {
    name: 'associated-node',
    applies: (wanted, requestor) => hasNameOnly(wanted) && isOnNode(requestor, nodeNameOf(wanted.name)),
  },
  { name: 'arbitrary-node', applies: (wanted) => hasNameOnly(wanted) && nodeNameOf(wanted.name) !== undefined },
  { name: 'serviceaccount', applies: (wanted) => hasNameOnly(wanted) && accountNameOf(wanted.name) !== undefined },
  {
    name: 'user-info',
    applies: ({ name }) => nodeNameOf(name) === undefined && accountNameOf(name) === undefined,
  },
  { name: '', applies: () => true },
];

/** Rejects with 403. */
export async function impersonate(asked: Impersonation): Promise<Impersonated> {
  let first: unknown;
  for (const mode of modes) {
    if (!mode.applies(asked.wanted, asked.requestor)) continue;
    try {
      return await impersonateBy(mode, asked);
    } catch (error) {
      first ??= error;
    }
  }
  throw first;
}

async function impersonateBy({ name: mode }: Mode, asked: Impersonation): Promise<Impersonated> {
  const { guard, wanted, info } = asked;
  const requestor = mode === 'associated-node' ? withoutValues(asked.requestor) : asked.requestor;
  const insist = (what: RequestInfo): Promise<void> => insistOn(guard, requestor, what);
  if (mode !== '') await insist({ ...info, verb: `impersonate-on:${mode}:${info.verb}` as Verb });
  for (const one of rightsFor(mode, wanted, requestor)) await insist(one);
  return { user: asImpersonated(mode, wanted), constraint: mode === '' ? '' : `impersonate:${mode}` };
}

async function insistOn(guard: Guard, user: User, info: RequestInfo): Promise<void> {
  const { decision, reason, error } = await guard.judge(user, info);
  if (decision !== 'allow') throw forbidden(user, info, error?.message ?? reason);
}

/** Yields the required permissions. Throws if a constrained mode never allows the user. */
function* rightsFor(mode: Mode['name'], wanted: User, requestor: User): Generator<ResourceRequest> {
  const verb = (mode === '' ? 'impersonate' : `impersonate:${mode}`) as Verb;
  const authentication = { group: 'authentication.k8s.io', version: 'v1' };
  const own = mode === '' ? { group: '', version: 'v1' } : authentication;
  const right = (of: { group: string; version: string }, resource: string, name: string, rest = {}) => ({
    ...plain,
    verb,
    ...of,
    resource,
    name,
    ...rest,
  });
  const refuse = (what: ResourceRequest, why: string): Error => forbidden(requestor, what, why);
  const account = accountNameOf(wanted.name);
  const node = mode === '' ? undefined : nodeNameOf(wanted.name);
  if (account) yield right(own, 'serviceaccounts', account.name, { namespace: account.namespace });
  else if (node === undefined) yield right(own, 'users', wanted.name);
  else yield right(own, 'nodes', mode === 'associated-node' ? '*' : node);
  if (wanted.uid !== '') yield right(authentication, 'uids', wanted.uid);
  if (mode !== '' && wanted.groups.includes('')) {
    throw refuse(right(own, 'groups', ''), 'impersonating the empty string group is not allowed');
  }
  if (mode !== '' && wanted.groups.includes(mastersGroup)) {
    throw refuse(right(own, 'groups', mastersGroup), 'impersonating the system:masters group is not allowed');
  }
  for (const group of wanted.groups) yield right(own, 'groups', group);
  const problem = mode === '' ? undefined : extraProblem(wanted);
  if (problem !== undefined) throw refuse(right(authentication, 'userextras', ''), problem);
  for (const [key, values] of Object.entries(wanted.extra)) {
    for (const value of values) yield right(authentication, 'userextras', value, { subresource: key });
  }
}

const plain = { isResource: true, namespace: '', subresource: '', rest: '' } as const;

function extraProblem({ extra }: User): string | undefined {
  for (const [key, values] of Object.entries(extra)) {
    if (key === '') return 'impersonating the empty string key in extra is not allowed';
    const slash = key.indexOf('/');
    const isPath = slash > 0 && /^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/.test(key.slice(slash + 1));
    if (!isPath || dnsSubdomainReasons(key.slice(0, slash)).length > 0) {
      return `impersonating an invalid key in extra is not allowed: ${key}`;
    }
    if (key !== key.toLowerCase()) return `impersonating a non-lowercase key in extra is not allowed: "${key}"`;
    if (values.includes('')) return 'impersonating the empty string value in extra is not allowed';
  }
  return undefined;
}

function asImpersonated(mode: Mode['name'], wanted: User): User {
  const account = accountNameOf(wanted.name);
  const implied = account ? groupsOf(account.namespace) : mode.endsWith('-node') ? [nodesGroup] : [];
  const user = wanted.groups.length > 0 ? wanted : { ...wanted, groups: implied };
  if (user.name !== anonymous.name) return authenticated(user);
  if (user.groups.includes(unauthenticatedGroup)) return user;
  return { ...user, groups: [...user.groups, unauthenticatedGroup] };
}

const hasNameOnly = ({ uid, groups, extra }: User): boolean =>
  uid === '' && groups.length === 0 && Object.keys(extra).length === 0;

const nodePrefix = 'system:node:';

function nodeNameOf(username: string): string | undefined {
  if (!username.startsWith(nodePrefix)) return undefined;
  const name = username.slice(nodePrefix.length);
  return dnsSubdomainReasons(name).length === 0 ? name : undefined;
}

/** Reports whether the user is a service account whose token is bound to this node. */
function isOnNode({ name, extra }: User, node: string | undefined): boolean {
  const values = extra[nodeNameKey] ?? [];
  return node !== undefined && accountNameOf(name) !== undefined && values.length === 1 && values[0] === node;
}

/** Drops the values, so that the result is the same for all pods of an account on all nodes. */
const withoutValues = (user: User): User => ({
  ...user,
  extra: { 'authentication.kubernetes.io/associated-node-keys': Object.keys(user.extra).sort() },
});
