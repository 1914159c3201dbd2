/**
 * Sets the service account of every pod, by default `default`; the account must exist. Adds its token and its image pull secrets to the
 * pod. Mirror pods belong to the node: they get neither, and may not use service accounts.
 */

import { sleep } from '@hangar/core';
import { notFound } from '@hangar/api';
import type { KubeObject } from '@hangar/api';
import type { ControlPlane } from '../../../control-plane.ts';
import { Followed } from '../../../objects/followed.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../../admission.ts';
import { find } from '../lookup.ts';
import { isMirror, podResources, specOf } from '../pod.ts';
import type { List, Pod } from '../pod.ts';
import { forbid } from '../../refusal.ts';
import { mountToken } from './token-volume.ts';
import { ephemeralSecretProblem, hasSecrets, secretProblem } from './secret-references.ts';

export interface ServiceAccount {
  readonly name: string;
  readonly automount: boolean | undefined;
  readonly secrets: ReadonlySet<string>;
  readonly pullSecrets: readonly string[];
  /** Pods may use only the secrets of the account. */
  readonly limitsSecrets: boolean;
}

const accounts = { group: '', version: 'v1', resource: 'serviceaccounts' };
const defaultName = 'default';

/** A controller creates the default account of a new namespace: requests wait for it for a short time. */
const defaultAttemptsMax = 10;
const retryMs = { min: 100, spread: 100 };

export function serviceAccount(plane: ControlPlane): AdmissionPlugin {
  const followed = new Followed(plane, accounts, readAccount);

  const accountOf = async (request: AdmissionRequest, name: string): Promise<ServiceAccount> => {
    const attemptsMax = name === defaultName ? defaultAttemptsMax : 1;
    const waitMs = retryMs.min + plane.random.below(retryMs.spread);
    for (let attempt = 1; ; attempt++) {
      const account = await find(followed, `${request.namespace}/${name}`);
      if (account) return account;
      if (attempt >= attemptsMax) break;
      await sleep(plane.clock, waitMs);
    }
    const problem = notFound({ group: '', resource: 'serviceaccount' }, name).message;
    throw forbid(request, `error looking up service account ${request.namespace}/${name}: ${problem}`);
  };

  const check = async (request: AdmissionRequest, pod: Pod): Promise<void> => {
    if (isMirror(pod)) return checkMirror(request, pod);
    const { serviceAccountName = '' } = specOf(pod);
    if (serviceAccountName === '') throw nobody(request, pod);
    const account = await accountOf(request, serviceAccountName);
    const problem = account.limitsSecrets ? secretProblem(specOf(pod), account) : undefined;
    if (problem !== undefined) throw forbid(request, problem);
  };

  return {
    name: 'ServiceAccount',
    resources: podResources,
    async mutate(request) {
      if (request.operation !== 'CREATE' || request.subresource !== '') return;
      const pod = request.object as Pod;
      if (isMirror(pod)) return checkMirror(request, pod);
      const spec = specOf(pod);
      const account = await accountOf(request, spec.serviceAccountName || defaultName);
      // Sets both names of the field, as in responses.
      spec.serviceAccountName ||= defaultName;
      spec.serviceAccount = spec.serviceAccountName;
      if (spec.automountServiceAccountToken ?? account.automount ?? true) mountToken(spec, plane.random);
      if (!spec.imagePullSecrets?.length && account.pullSecrets.length > 0) {
        spec.imagePullSecrets = account.pullSecrets.map((name) => (name === '' ? {} : { name }));
      }
      await check(request, pod);
    },
    async validate(request) {
      const { operation, subresource } = request;
      const pod = request.object as Pod;
      if (operation === 'CREATE' && subresource === '') return check(request, pod);
      if (operation !== 'UPDATE' || subresource !== 'ephemeralcontainers') return;
      const { serviceAccountName = '' } = specOf(pod);
      if (serviceAccountName === '') throw nobody(request, pod);
      const account = await accountOf(request, serviceAccountName);
      const problem = account.limitsSecrets ? ephemeralSecretProblem(specOf(pod), account) : undefined;
      if (problem !== undefined) throw problem;
    },
    close: () => followed.close(),
  };
}

const nobody = (request: AdmissionRequest, { metadata }: Pod): Error =>
  forbid(request, `no service account specified for pod ${request.namespace}/${metadata.name ?? ''}`);

function checkMirror(request: AdmissionRequest, pod: Pod): void {
  const spec = specOf(pod);
  if (spec.serviceAccountName) throw forbid(request, 'a mirror pod may not reference service accounts');
  if (hasSecrets(spec)) throw forbid(request, 'a mirror pod may not reference secrets');
  const usesToken = spec.volumes?.some(({ projected }) => projected?.sources?.some((one) => one.serviceAccountToken));
  if (usesToken) throw forbid(request, 'a mirror pod may not use ServiceAccountToken volume projections');
}

/** Values that Go parses as true. */
const trueTexts: ReadonlySet<string | undefined> = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);

function readAccount(object: KubeObject): ServiceAccount {
  const { metadata } = object;
  const { automountServiceAccountToken, secrets, imagePullSecrets } = object as {
    automountServiceAccountToken?: boolean | null;
    secrets?: List<{ name?: string }>;
    imagePullSecrets?: List<{ name?: string }>;
  };
  return {
    name: metadata.name!,
    automount: automountServiceAccountToken ?? undefined,
    secrets: new Set(secrets?.map(({ name = '' }) => name)),
    pullSecrets: imagePullSecrets?.map(({ name = '' }) => name) ?? [],
    limitsSecrets: trueTexts.has(metadata.annotations?.['kubernetes.io/enforce-mountable-secrets']),
  };
}
