/**
 * Enforces the Pod Security Standards by the labels of the namespace: denies pods that violate the enforced level, and adds warnings and
 * audit annotations for pods and for objects with pod templates. There are no exemptions.
 */

import { invalidObject, quote, StatusError } from '@hangar/api';
import type { ObjectMeta } from '@hangar/api';
import type { ControlPlane } from '../../../control-plane.ts';
import { Followed } from '../../../objects/followed.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../../admission.ts';
import { find } from '../lookup.ts';
import { specOf } from '../pod.ts';
import type { Container, Pod, PodSpec } from '../pod.ts';
import { forbid } from '../../refusal.ts';
import { detailText, violationsOf } from './evaluate.ts';
import { warningsForPods } from './existing-pods.ts';
import { isSame, isStricter, levelText, readPolicy } from './policy.ts';
import type { LevelVersion, ReadPolicy } from './policy.ts';
import { resourcesWithTemplates, templateOf } from './templates.ts';

const namespaces = { group: '', version: 'v1', resource: 'namespaces' };
const annotationPrefix = 'pod-security.kubernetes.io/';

const ignoredSubresources: ReadonlySet<string> = new Set([
  'exec',
  'attach',
  'binding',
  'eviction',
  'log',
  'portforward',
  'proxy',
  'status',
]);

export function podSecurity(plane: ControlPlane): AdmissionPlugin {
  const policies = new Followed(plane, namespaces, ({ metadata }) => readPolicy(metadata.labels));
  const policyOf = (namespace: string): ReadPolicy | undefined | Promise<ReadPolicy | undefined> =>
    policies.all?.get(namespace) ?? find(policies, namespace);

  return {
    name: 'PodSecurity',
    resources: new Set(['/pods', '/namespaces', ...resourcesWithTemplates]),
    validate(request) {
      if (request.operation !== 'CREATE' && request.operation !== 'UPDATE') return undefined;
      const { name } = request.resource;
      if (name === 'namespaces') return request.subresource === '' ? checkNamespace(plane, request) : undefined;
      if (name === 'pods' ? ignoredSubresources.has(request.subresource) : request.subresource !== '') return undefined;
      const policy = policyOf(request.namespace);
      return policy instanceof Promise ? policy.then((one) => check(request, one)) : check(request, policy);
    },
    close: () => policies.close(),
  };
}

function check(request: AdmissionRequest, policy: ReadPolicy | undefined): void {
  const isPod = request.resource.name === 'pods';
  if (!policy) {
    if (isPod)
      throw new StatusError(
        'InternalError',
        `Internal error occurred: failed to lookup namespace ${quote(request.namespace)}`,
      );
    return;
  }
  const { enforce, audit, warn, errors } = policy;
  const isLenient = errors.length === 0 && audit.level === 'privileged' && warn.level === 'privileged';
  if (isLenient && !isPod) return;
  if (isLenient && enforce.level === 'privileged') {
    request.annotate(`${annotationPrefix}enforce-policy`, 'privileged:latest');
    return;
  }
  if (isPod) {
    const pod = request.object as Pod;
    if (request.operation === 'UPDATE' && !isSignificant(specOf(pod), specOf(request.old!))) return;
    evaluate(request, policy, { metadata: pod.metadata, spec: specOf(pod), enforces: true });
  } else {
    const template = templateOf(request.resource, request.object!);
    if (template) evaluate(request, policy, { ...template, enforces: false });
  }
}

interface Evaluated {
  readonly metadata: ObjectMeta;
  readonly spec: PodSpec;
  readonly enforces: boolean;
}

function evaluate(request: AdmissionRequest, policy: ReadPolicy, { metadata, spec, enforces }: Evaluated): void {
  const { enforce, audit, warn } = policy;
  const violated = (at: LevelVersion): string => {
    const violations = violationsOf(at, metadata, spec);
    return violations.length === 0 ? '' : `violate PodSecurity ${quote(levelText(at))}: ${detailText(violations)}`;
  };
  const refused = enforces ? violated(enforce) : '';
  if (enforces) request.annotate(`${annotationPrefix}enforce-policy`, levelText(enforce));
  const audited = violated(audit);
  if (audited !== '') request.annotate(`${annotationPrefix}audit-violations`, `would ${audited}`);
  if (refused !== '') throw forbid(request, refused.replace('violate', 'violates'));
  const warned = enforces && isSame(warn, enforce) ? refused : violated(warn);
  if (warned !== '') request.warn(`would ${warned}`);
}

/** Reports whether containers or images changed: no other update can make a pod less secure. */
function isSignificant(spec: PodSpec, old: PodSpec): boolean {
  return (
    hasOtherImages(spec.containers ?? [], old.containers ?? []) ||
    hasOtherImages(spec.initContainers ?? [], old.initContainers ?? []) ||
    (spec.ephemeralContainers ?? []).some(
      ({ name, image }) => old.ephemeralContainers?.find((one) => one.name === name)?.image !== image,
    )
  );
}

const hasOtherImages = (containers: readonly Container[], old: readonly Container[]): boolean =>
  containers.length !== old.length || containers.some(({ image }, at) => image !== old[at]!.image);

async function checkNamespace(plane: ControlPlane, request: AdmissionRequest): Promise<void> {
  const { operation, object, old } = request;
  const now = readPolicy(object!.metadata.labels);
  const before = operation === 'UPDATE' ? readPolicy(old!.metadata.labels) : undefined;
  // Errors that existed before are tolerated, so that other fields of the namespace can change.
  if (now.errors.length > 0 && JSON.stringify(now.errors) !== JSON.stringify(before?.errors)) {
    throw invalidObject({ group: '', kind: 'Namespace' }, request.name, now.errors);
  }
  if (!before || isSame(now.enforce, before.enforce) || now.enforce.level === 'privileged') return;
  const isSameVersion = now.enforce.version === before.enforce.version;
  if (isSameVersion && !isStricter(now.enforce.level, before.enforce.level)) return;
  for (const warning of await warningsForPods(plane, object!.metadata.name!, now.enforce)) request.warn(warning);
}
