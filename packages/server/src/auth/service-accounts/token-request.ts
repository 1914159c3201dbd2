/** serviceaccounts/token: issues a token for a service account without storing anything. */

import { badRequest, conflict, invalid, invalidObject, notFound, parseApiVersion, StatusError } from '@hangar/api';
import type { JsonObject, KubeObject } from '@hangar/api';
import { lazy, uuid } from '@hangar/core';
import type { Answer } from '../../http/message.ts';
import { objectAnswer, wantedBy } from '../../objects/answers.ts';
import { kindReader } from '../../objects/kind-reader.ts';
import type { KindReader } from '../../objects/kind-reader.ts';
import { readPosted } from '../../subresources/posted.ts';
import { warn } from '../../verbs/call.ts';
import type { Call } from '../../verbs/call.ts';
import { admissionRequest } from '../../verbs/admission-request.ts';
import { timestamp } from '../../verbs/metadata.ts';
import type { BoundClaims } from './claims.ts';
import { find } from './lookup.ts';
import type { DependedOn } from './lookup.ts';
import type { Reference } from './names.ts';
import type { ServiceAccounts } from './service-accounts.ts';

interface Spec {
  audiences: readonly string[];
  expirationSeconds: number;
  readonly boundObjectRef?: {
    readonly kind?: string;
    readonly apiVersion?: string;
    readonly name?: string;
    readonly uid?: string;
  } | null;
}

const requestKind = { group: 'authentication.k8s.io', kind: 'TokenRequest' };
const defaultSeconds = 3_600;
const secondsMin = 600;
const secondsMax = 2 ** 32;

const tokenRequests = lazy<KindReader>(() => ({
  ...kindReader('authentication.k8s.io/v1', 'TokenRequest'),
  strategy: {
    applyDefaults(request) {
      const spec = (request['spec'] ?? {}) as Partial<Spec>;
      request['spec'] = { ...spec, expirationSeconds: spec.expirationSeconds ?? defaultSeconds };
    },
  },
}));

export async function issueToken(call: Call): Promise<Answer> {
  const want = wantedBy(call);
  const { plane, guard, info } = call;
  const accounts = guard.serviceAccounts;
  if (!accounts) throw notIssued();
  const { object, options } = await readPosted(call, tokenRequests(), { keepsSystemFields: true });
  const admission = admissionRequest(call, object, options);
  await plane.admission.mutate(admission);
  const account = await accountOf(call, object);
  const spec = settle(object, account, accounts, call);
  await plane.admission.validate(admission);
  const bound = await boundObject(call, spec);
  shorten(call, spec, accounts);
  const nowSeconds = Math.floor(plane.clock.now() / 1_000);
  const extended = bound.pod && accounts.extendedSeconds(spec.expirationSeconds, spec.audiences);
  const token = accounts.issue({
    namespace: info.namespace,
    name: info.name,
    uid: account.metadata.uid!,
    ...bound,
    id: uuid(plane.random),
    audiences: spec.audiences,
    now: nowSeconds,
    expiresAt: nowSeconds + (extended ?? spec.expirationSeconds),
    ...(extended === undefined ? {} : { warnAfter: nowSeconds + spec.expirationSeconds }),
  });
  const status: JsonObject = { token, expirationTimestamp: timestamp(plane.clock, spec.expirationSeconds) };
  return objectAnswer(call, want, { ...object, spec: { boundObjectRef: null, ...spec }, status }, 201);
}

const notIssued = (): StatusError =>
  new StatusError('MethodNotAllowed', 'this server does not issue tokens for service accounts', {
    details: { kind: 'serviceaccounts/token' },
  });

async function accountOf({ plane, info }: Call, { metadata }: KubeObject): Promise<KubeObject> {
  if (metadata.name && metadata.name !== info.name) {
    throw invalidObject(requestKind, info.name, [
      invalid('metadata.name', metadata.name, 'must match the service account name if specified'),
    ]);
  }
  const found = await find(plane, 'serviceaccounts', info.namespace, info.name);
  if (!found) throw notFound({ group: '', resource: 'serviceaccounts' }, info.name);
  const { uid } = found.object.metadata;
  if (metadata.uid && metadata.uid !== uid) {
    const why = `the UID in the token request (${metadata.uid}) does not match the UID of the service account (${uid})`;
    throw conflict({ group: requestKind.group, resource: requestKind.kind }, info.name, why);
  }
  return found.object;
}

/** Sets defaults and validates the spec. */
function settle(object: KubeObject, account: KubeObject, accounts: ServiceAccounts, { plane }: Call): Spec {
  const { name, namespace, uid } = account.metadata;
  Object.assign(object.metadata, { name, namespace, uid, creationTimestamp: timestamp(plane.clock) });
  delete object['status'];
  const spec = object['spec'] as Spec;
  if (!spec.audiences?.length) spec.audiences = accounts.audiences;
  const { expirationSeconds } = spec;
  const refused = (why: string) =>
    invalidObject(requestKind, '', [invalid('spec.expirationSeconds', expirationSeconds, why)]);
  if (expirationSeconds < secondsMin) throw refused('may not specify a duration less than 10 minutes');
  if (expirationSeconds > secondsMax) throw refused('may not specify a duration larger than 2^32 seconds');
  return spec;
}

function shorten(call: Call, spec: Spec, { expirationSecondsMax }: ServiceAccounts): void {
  const { expirationSeconds } = spec;
  if (expirationSecondsMax === 0 || expirationSeconds <= expirationSecondsMax) return;
  warn(call, `requested expiration of ${expirationSeconds} seconds shortened to ${expirationSecondsMax} seconds`);
  spec.expirationSeconds = expirationSecondsMax;
}

type Bound = Pick<BoundClaims, 'pod' | 'node' | 'secret'>;

/** Returns the object that the lifetime of the token is bound to. */
async function boundObject(call: Call, { boundObjectRef: asked }: Spec): Promise<Bound> {
  if (!asked) return {};
  const { kind = '', name = '', uid = '' } = asked;
  const { group, version } = parseApiVersion(asked.apiVersion ?? '');
  const type = group === '' ? bindable[kind] : undefined;
  if (!type || !Object.hasOwn(bindable, kind)) {
    throw badRequest(`cannot bind token to object of type ${group}/${version}, Kind=${kind}`);
  }
  const namespace = type === 'nodes' ? '' : call.info.namespace;
  const found = await find(call.plane, type, namespace, name);
  if (!found) throw notFound({ group: '', resource: type }, name);
  const reference: Reference = { name, uid: found.object.metadata.uid! };
  const bound = type === 'pods' ? await ofPod(call, found.object, reference) : { [kind.toLowerCase()]: reference };
  if (uid !== '' && uid !== reference.uid) {
    const why = `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`;
    throw conflict({ group: '', resource: kind }, name, why);
  }
  return bound;
}

const bindable: Readonly<Record<string, DependedOn>> = { Pod: 'pods', Node: 'nodes', Secret: 'secrets' };

/** Includes the node of the pod, even if it does not exist. */
async function ofPod({ plane, info }: Call, object: KubeObject, pod: Reference): Promise<Bound> {
  const { serviceAccountName = '', nodeName } = (object['spec'] ?? {}) as {
    serviceAccountName?: string;
    nodeName?: string;
  };
  if (serviceAccountName !== info.name) {
    throw badRequest(
      `cannot bind token for serviceaccount "${info.name}" to pod running with different serviceaccount name.`,
    );
  }
  if (!nodeName) return { pod };
  const node = await find(plane, 'nodes', '', nodeName);
  return { pod, node: { name: nodeName, uid: node?.object.metadata.uid ?? '' } };
}
