/**
 * Permissions on resource claims that the right to write the claim does not include:
 *
 * - Admin access to devices in use: only in namespaces labelled for it, for all users.
 * - Allocated devices and consumers, in `status`: requires `resourceclaims/binding` in all namespaces.
 * - Device status reported by a driver, in `status`: requires `resourceclaims/driver` for the driver's name, with a verb that states
 *   whether the driver runs on the same node.
 *
 * Always enabled: kube-apiserver does these checks in validation, not in a plugin.
 */

import { forbidden, invalidObject } from '@hangar/api';
import type { FieldError, KubeObject } from '@hangar/api';
import { forbidden as refusal } from '../../auth/forbidden.ts';
import type { User } from '../../auth/user.ts';
import type { ResourceRequest, Verb } from '../../request/info.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../admission.ts';
import { equal } from './equal.ts';
import { read } from './lookup.ts';

const group = 'resource.k8s.io';
const adminLabel = 'resource.kubernetes.io/admin-access';
const nodeNameExtra = 'authentication.kubernetes.io/node-name';

interface DeviceRequest {
  readonly exactly?: { readonly adminAccess?: boolean };
  /** Location of the field in older versions. */
  readonly adminAccess?: boolean;
}

interface ClaimSpec {
  readonly devices?: { readonly requests?: readonly DeviceRequest[] };
}

interface DeviceStatus {
  readonly driver?: string;
  readonly pool?: string;
  readonly device?: string;
  readonly shareID?: string;
}

interface ClaimStatus {
  readonly allocation?: {
    readonly devices?: { readonly results?: readonly { readonly adminAccess?: boolean }[] };
    readonly nodeSelector?: { readonly nodeSelectorTerms?: readonly SelectorTerm[] };
  };
  readonly reservedFor?: readonly unknown[];
  readonly devices?: readonly DeviceStatus[];
}

interface SelectorTerm {
  readonly matchExpressions?: readonly unknown[];
  readonly matchFields?: readonly { readonly key: string; readonly operator: string; readonly values?: string[] }[];
}

export const deviceClaimCheck: AdmissionPlugin = {
  name: 'DeviceClaims',
  resources: new Set([`${group}/resourceclaims`, `${group}/resourceclaimtemplates`]),
  validate(request) {
    const { object, operation, subresource } = request;
    if (!object) return undefined;
    // The spec is immutable.
    if (operation === 'CREATE' && subresource === '') return checkSpec(request, object);
    return subresource === 'status' ? checkStatus(request, object) : undefined;
  },
};

function checkSpec(request: AdmissionRequest, object: KubeObject): void | Promise<void> {
  const spec = object['spec'] as (ClaimSpec & { readonly spec?: ClaimSpec }) | undefined;
  const { devices } = (object.kind === 'ResourceClaimTemplate' ? spec?.spec : spec) ?? {};
  const at = devices?.requests?.findIndex((one) => one.exactly?.adminAccess ?? one.adminAccess) ?? -1;
  if (at < 0) return undefined;
  return adminErrors(request, `spec.devices.requests[${at}].adminAccess`).then((errors) => refuse(request, errors));
}

async function adminErrors({ plane, namespace }: AdmissionRequest, path: string): Promise<FieldError[]> {
  const found = await read(plane, { group: '', version: 'v1', resource: 'namespaces' }, '', namespace);
  if (found?.metadata.labels?.[adminLabel] === 'true') return [];
  const needed = `admin access to devices requires the \`${adminLabel}: true\` label on the containing namespace`;
  return [forbidden(path, needed)];
}

async function checkStatus(request: AdmissionRequest, object: KubeObject): Promise<void> {
  const now = statusOf(object);
  const before = statusOf(request.old);
  refuse(request, [
    ...(await adminStatusErrors(request, now, before)),
    ...(await bindingErrors(request, now, before)),
    ...(now.allocation ? await driverErrors(request, now, before) : []),
  ]);
}

const statusOf = (object: KubeObject | undefined): ClaimStatus => (object?.['status'] ?? {}) as ClaimStatus;

async function adminStatusErrors(request: AdmissionRequest, now: ClaimStatus, before: ClaimStatus) {
  const granted = ({ allocation }: ClaimStatus): number =>
    allocation?.devices?.results?.findIndex(({ adminAccess }) => adminAccess) ?? -1;
  const at = granted(now);
  if (at < 0 || granted(before) >= 0) return [];
  return adminErrors(request, `status.allocation.devices.results[${at}].adminAccess`);
}

async function bindingErrors(request: AdmissionRequest, now: ClaimStatus, before: ClaimStatus): Promise<FieldError[]> {
  const isAsAllocated = !now.allocation === !before.allocation && equal(now.allocation, before.allocation);
  if (isAsAllocated && equal(now.reservedFor, before.reservedFor)) return [];
  const { verb } = request;
  const why = await refusalOf(request, { verb, subresource: 'binding', namespace: '', name: '' });
  if (why === undefined) return [];
  const needed = `changing status.allocation or status.reservedFor requires resource="resourceclaims/binding", verb="${verb}" permission`;
  return [forbidden('status.allocation', `${needed}: ${why}`)];
}

async function driverErrors(request: AdmissionRequest, now: ClaimStatus, before: ClaimStatus): Promise<FieldError[]> {
  const { verb } = request;
  const verbs = [
    ...(isOnItsNode(request.user, now) ? [`associated-node:${verb}` as Verb] : []),
    `arbitrary-node:${verb}` as Verb,
  ];
  const errors: FieldError[] = [];
  for (const driver of changedDrivers(now, before)) {
    let why: string | undefined;
    for (const one of verbs) {
      const asked = { verb: one, subresource: 'driver', namespace: request.namespace, name: driver };
      const refused = await refusalOf(request, asked);
      why = refused === undefined ? undefined : (why ?? refused);
      if (refused === undefined) break;
    }
    if (why === undefined) continue;
    const needed = `changing status.devices requires resource="resourceclaims/driver", verb="[${verbs.join(' ')}]" permission`;
    errors.push(forbidden('status.devices', `${needed}: ${why}`));
  }
  return errors;
}

/** Returns the drivers with added, changed or removed devices, sorted by name. */
function changedDrivers(now: ClaimStatus, before: ClaimStatus): string[] {
  const keyOf = ({ driver, pool, device, shareID }: DeviceStatus): string =>
    JSON.stringify([driver, pool, device, shareID ?? '']);
  const old = new Map((before.devices ?? []).map((one) => [keyOf(one), one]));
  const drivers = new Set<string>();
  for (const one of now.devices ?? []) {
    if (!old.has(keyOf(one)) || !equal(old.get(keyOf(one)), one)) drivers.add(one.driver ?? '');
    old.delete(keyOf(one));
  }
  for (const one of old.values()) drivers.add(one.driver ?? '');
  return [...drivers].toSorted();
}

/** Reports whether the user is a service account whose token names the only node that the claim is allocated to. */
function isOnItsNode({ name, extra }: User, { allocation }: ClaimStatus): boolean {
  const terms = allocation?.nodeSelector?.nodeSelectorTerms ?? [];
  const { matchExpressions = [], matchFields = [] } = terms[0] ?? {};
  const [field] = matchFields;
  if (terms.length !== 1 || matchExpressions.length > 0 || matchFields.length !== 1) return false;
  if (field!.key !== 'metadata.name' || field!.operator !== 'In' || field!.values?.length !== 1) return false;
  const nodes = Object.hasOwn(extra, nodeNameExtra) ? extra[nodeNameExtra]! : [];
  return name.startsWith('system:serviceaccount:') && nodes.length === 1 && nodes[0] === field!.values[0];
}

type Asked = Pick<ResourceRequest, 'verb' | 'subresource' | 'namespace' | 'name'>;

/** Returns undefined if allowed. */
async function refusalOf({ guard, user, resource }: AdmissionRequest, asked: Asked): Promise<string | undefined> {
  const { version } = resource;
  const question: ResourceRequest = {
    isResource: true,
    group,
    version,
    resource: 'resourceclaims',
    rest: '',
    ...asked,
  };
  const { decision, reason } = await guard.judge(user, question);
  return decision === 'allow' ? undefined : refusal(user, question, reason).message;
}

function refuse({ resource, object }: AdmissionRequest, errors: readonly FieldError[]): void {
  if (errors.length === 0) return;
  throw invalidObject({ group: resource.group, kind: resource.kind }, object?.metadata.name ?? '', errors);
}
