/**
 * Authorizes kubelets: a user `system:node:NAME` in the group `system:nodes` may read the objects that pods on its node need, and write the
 * objects of its node. The admission plugin NodeRestriction checks the written objects, as authorization does not see the body.
 */

import { quote } from '@hangar/api';
import type { RequestInfo, ResourceRequest } from '../../../request/info.ts';
import { noRules } from '../../authorize.ts';
import type { Authorizer, Judgement, SubjectRules, Verdict } from '../../authorize.ts';
import { nodesGroup } from '../../user.ts';
import type { User } from '../../user.ts';
import { ruleAllows } from '../rbac/rules.ts';
import type { PolicyRule } from '../rbac/rules.ts';
import type { NodeGraph, OwnedKind } from './node-graph.ts';

const userPrefix = 'system:node:';

/** Returns undefined if the user is not a node, and an empty string for a node without a name. */
export const nodeNameOf = ({ name, groups }: User): string | undefined =>
  name.startsWith(userPrefix) && groups.includes(nodesGroup) ? name.slice(userPrefix.length) : undefined;

export class NodeAuthorizer implements Authorizer {
  readonly #graph: NodeGraph;
  readonly #loadRules: () => Promise<readonly PolicyRule[]>;
  #rules: readonly PolicyRule[] | undefined;

  /** `rules`: the permissions of all nodes, loaded with the first request of a node. */
  constructor(graph: NodeGraph, rules: () => Promise<readonly PolicyRule[]>) {
    this.#graph = graph;
    this.#loadRules = rules;
  }

  authorize(user: User, info: RequestInfo): Verdict | Promise<Verdict> {
    const node = nodeNameOf(user);
    if (node === undefined) return 'no opinion';
    return this.#graph.isReady && this.#rules ? this.#decide(user, node, info) : this.#decideLater(user, node, info);
  }

  rulesFor(user: User): SubjectRules {
    if (nodeNameOf(user) === undefined) return noRules;
    return { ...noRules, isIncomplete: true, problem: 'node authorizer does not support user rule resolution' };
  }

  close(): void {
    this.#graph.close();
  }

  async #decideLater(user: User, node: string, info: RequestInfo): Promise<Verdict> {
    await this.#graph.ready();
    this.#rules ??= await this.#loadRules();
    return this.#decide(user, node, info);
  }

  #decide(user: User, node: string, info: RequestInfo): Verdict {
    if (node === '') return no(`unknown node for user ${quote(user.name)}`);
    const special = info.isResource ? specials[`${info.group}/${info.resource}`] : undefined;
    if (special && info.isResource) return special({ graph: this.#graph, node, info });
    return this.#rules!.some((rule) => ruleAllows(rule, info)) ? 'allow' : 'no opinion';
  }
}

interface Question {
  readonly graph: NodeGraph;
  readonly node: string;
  readonly info: ResourceRequest;
}

type Answer = (question: Question) => Verdict;

const no = (reason: string): Judgement => ({ decision: 'no opinion', reason });

/** Allows requests for objects that the node needs. */
function tied({ graph, node, info }: Question, kind: OwnedKind): Verdict {
  if (info.name === '') return no('No Object name found');
  if (graph.isTied(node, kind, info.namespace, info.name)) return 'allow';
  return no(`no relationship found between node '${node}' and this object`);
}

const gets =
  (kind: OwnedKind): Answer =>
  (question) => {
    const { verb, subresource } = question.info;
    if (verb !== 'get') return no('can only get individual resources of this type');
    if (subresource !== '') return no('cannot get subresource');
    return tied(question, kind);
  };

const reads =
  (kind: OwnedKind): Answer =>
  (question) => {
    const { verb, subresource, namespace } = question.info;
    if (!isRead(verb)) return no('can only read resources of this type');
    if (subresource !== '') return no('cannot read subresource');
    if (namespace === '') return no('can only read namespaced object of this type');
    return tied(question, kind);
  };

const isRead = (verb: string): boolean => verb === 'get' || verb === 'list' || verb === 'watch';
const ownVerbs = new Set<string>(['get', 'create', 'update', 'patch', 'delete']);

const claims: Answer = (question) => {
  const { verb, subresource } = question.info;
  if (subresource !== 'status') return gets('persistentvolumeclaims')(question);
  if (verb !== 'update' && verb !== 'patch') return no('can only get/update/patch this type');
  return tied(question, 'persistentvolumeclaims');
};

const serviceAccounts: Answer = (question) => {
  const { verb, subresource, name } = question.info;
  if (verb === 'get' && subresource === '') return reads('serviceaccounts')(question);
  if (verb !== 'create' || name === '') return no('can only create tokens for individual service accounts');
  if (subresource !== 'token') return no('can only create token subresource of serviceaccount');
  return tied(question, 'serviceaccounts');
};

const leases: Answer = ({ node, info: { verb, namespace, name } }) => {
  if (!ownVerbs.has(verb)) return no('can only get, create, update, patch, or delete a node lease');
  if (namespace !== 'kube-node-lease') return no('can only access leases in the "kube-node-lease" system namespace');
  if (verb === 'create' || name === node) return 'allow';
  return no('can only access node lease with the same name as the requesting node');
};

const csiNodes: Answer = ({ node, info: { verb, subresource, name } }) => {
  if (!ownVerbs.has(verb)) return no('can only get, create, update, patch, or delete a CSINode');
  if (subresource !== '') return no('cannot authorize CSINode subresources');
  if (verb === 'create' || name === node) return 'allow';
  return no('can only access CSINode with the same name as the requesting node');
};

const selectsNode = ({ node, info }: Question): boolean =>
  info.selectors?.fields.requirements.some(
    ({ field, operator, value }) => field === 'spec.nodeName' && operator === '=' && value === node,
  ) ?? false;

const resourceSlices: Answer = (question) => {
  const { verb, subresource } = question.info;
  if (subresource !== '') return no('cannot authorize ResourceSlice subresources');
  switch (verb) {
    case 'create':
      return 'allow';
    case 'get':
    case 'update':
    case 'patch':
    case 'delete':
      return tied(question, 'resourceslices');
    case 'watch':
    case 'list':
    case 'deletecollection':
      if (selectsNode(question)) return 'allow';
      return no('can only list/watch/deletecollection resourceslices with nodeName field selector');
    default:
      return no(
        'only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection',
      );
  }
};

const nodes: Answer = ({ node, info: { verb, subresource, name } }) => {
  const isWrite = verb === 'update' || verb === 'patch';
  if (subresource === 'status') return isWrite ? 'allow' : 'no opinion';
  if (subresource !== '') return 'no opinion';
  if (verb === 'create' || isWrite) return 'allow';
  if (!isRead(verb)) return 'no opinion';
  if (name === node) return 'allow';
  if (name === '') return no(`node '${node}' cannot read all nodes, only its own Node object`);
  return no(`node '${node}' cannot read '${name}', only its own Node object`);
};

const pods: Answer = (question) => {
  const { verb, subresource, name } = question.info;
  switch (subresource) {
    case '':
      if (verb === 'get') return gets('pods')(question);
      if (verb === 'create' || verb === 'delete') return 'allow';
      if (!isRead(verb)) return 'no opinion';
      if (selectsNode(question)) return 'allow';
      if (name !== '') return tied(question, 'pods');
      return no('can only list/watch pods with spec.nodeName field selector');
    case 'status':
      return verb === 'update' || verb === 'patch' ? 'allow' : 'no opinion';
    case 'eviction':
      return verb === 'create' ? 'allow' : 'no opinion';
    default:
      return 'no opinion';
  }
};

/** By `group/resource`. The last entry is for a feature that is off. */
const specials: Readonly<Record<string, Answer>> = {
  '/secrets': reads('secrets'),
  '/configmaps': reads('configmaps'),
  '/persistentvolumeclaims': claims,
  '/persistentvolumes': gets('persistentvolumes'),
  'resource.k8s.io/resourceclaims': gets('resourceclaims'),
  'storage.k8s.io/volumeattachments': gets('volumeattachments'),
  '/serviceaccounts': serviceAccounts,
  'coordination.k8s.io/leases': leases,
  'storage.k8s.io/csinodes': csiNodes,
  'resource.k8s.io/resourceslices': resourceSlices,
  '/nodes': nodes,
  '/pods': pods,
  'certificates.k8s.io/podcertificaterequests': () => 'no opinion',
};
