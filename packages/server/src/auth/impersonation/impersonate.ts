/**
 * A user acts as another one, when it may. There are narrow ways to allow it, which say both whom and what for
 * (`impersonate:user-info` and `impersonate-on:user-info:list`), and the old wide one (`impersonate`); the narrow ones are
 * tried first. What the user is told when none of them allows it is what the first said.
 *
 * Whoever was impersonated cannot impersonate further: the headers are looked at once, for who was authenticated.
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
  /** What it wants to do then. */
  readonly info: RequestInfo;
}

export interface Impersonated {
  readonly user: User;
  /** The narrow right that allowed it; empty when it was the wide one. */
  readonly constraint: string;
}

interface Mode {
  /** Empty: the old, wide one. */
  readonly name: '' | 'associated-node' | 'arbitrary-node' | 'serviceaccount' | 'user-info';
  /** Is such a user impersonated in this way at all? */
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

/** Everything that it must be allowed to be. Throws for what is never allowed in a narrow way. */
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

/** A service account in a pod on this very node: its token says so. */
function isOnNode({ name, extra }: User, node: string | undefined): boolean {
  const values = extra[nodeNameKey] ?? [];
  return node !== undefined && accountNameOf(name) !== undefined && values.length === 1 && values[0] === node;
}

/** One answer for all pods of an account: which of them asks, and on which node, makes no difference. */
const withoutValues = (user: User): User => ({
  ...user,
  extra: { 'authentication.kubernetes.io/associated-node-keys': Object.keys(user.extra).sort() },
});
