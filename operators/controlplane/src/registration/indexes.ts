/** Indexes that find the registrations that depend on a changed object. */

import type { ObjectKey } from '@hangar/client';
import { Secret } from '@hangar/client/kinds/core-v1';
import type { Cache, RequestLike } from '@hangar/runtime';
import { ControlPlaneRegistration } from '../api/index.ts';
import type { SecretReference } from '../api/index.ts';
import { registrationOf } from './own-secret.ts';
import { controlPlaneOf, ownSecretOf } from './resolution.ts';

const byControlPlane = 'registrations-of-control-plane';
const byEndpoint = 'registrations-of-endpoint';
const bySecret = 'registrations-of-secret';
const byRegistration = 'secrets-of-registration';

/** Called before the controllers are added. */
export function addRegistrationIndexes(cache: Pick<Cache, 'addIndex'>): void {
  cache.addIndex(ControlPlaneRegistration, byControlPlane, (one) => [controlPlaneOf(one)]);
  cache.addIndex(ControlPlaneRegistration, byEndpoint, ({ spec }) => [spec?.endpointRef?.name ?? '']);
  cache.addIndex(ControlPlaneRegistration, bySecret, secretsOf);
  cache.addIndex(Secret, byRegistration, (secret) => [registrationOf(secret) ?? ''].filter((name) => name !== ''));
}

/** Includes the control plane's Secret even if another is named: it may be the same, and the index must not depend on other objects. */
const secretsOf = (registration: ControlPlaneRegistration): string[] => {
  const named = registration.spec?.kubeconfigSecretRef;
  const own = ownSecretOf(controlPlaneOf(registration));
  return [textOf(own), ...(named ? [textOf(named)] : [])];
};

export const ofControlPlane = (cache: Pick<Cache, 'informer'>, name: string): Iterable<ControlPlaneRegistration> =>
  cache.informer(ControlPlaneRegistration).byIndex(byControlPlane, name);

export const requestsOfControlPlane = (cache: Pick<Cache, 'informer'>, name: string): RequestLike[] =>
  Array.from(ofControlPlane(cache, name), requestOf);

export const requestsOfEndpoint = (cache: Pick<Cache, 'informer'>, name: string): RequestLike[] =>
  Array.from(cache.informer(ControlPlaneRegistration).byIndex(byEndpoint, name), requestOf);

/** Returns the registrations that use it, and the one that it was created for, also when that is deleted. */
export function requestsOfSecret(cache: Pick<Cache, 'informer'>, secret: Secret): RequestLike[] {
  const { namespace = '', name = '' } = secret.metadata;
  const all = cache.informer(ControlPlaneRegistration).byIndex(bySecret, textOf({ namespace, name }));
  const madeFor = registrationOf(secret);
  return [...Array.from(all, requestOf), ...(madeFor === undefined ? [] : [{ name: madeFor }])];
}

/** Secrets that were created for a registration. */
export const madeFor = (cache: Pick<Cache, 'informer'>, registration: string): Iterable<Secret> =>
  cache.informer(Secret).byIndex(byRegistration, registration);

const requestOf = ({ metadata }: ControlPlaneRegistration): ObjectKey => ({ name: metadata.name! });

const textOf = ({ namespace, name }: SecretReference): string => `${namespace}/${name}`;
