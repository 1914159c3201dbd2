/**
 * Host names of control planes at the front door, and who may have them:
 *
 *     demo.team.hosted.example.com          only control planes of namespace `team`
 *     shop.hosted.example.com               any namespace; the control plane that was created first
 *     shop.example.org                      the same, if the operator allows names outside of its domains
 *     konnectivity.<host>                   belongs to the host, for konnectivity agents
 *
 * The names that a control plane claims follow from its name, its namespace and `spec.frontDoor`, which cannot change. So an older control
 * plane cannot claim a name after another one has it.
 */

import { groupOf } from '@hangar/client';
import { annotations, clusterApiGroup } from '../api/index.ts';
import type { HostedControlPlane } from '../api/index.ts';
import type { Fault } from '../fault.ts';
import { konnectivityHost } from '../render/index.ts';
import type { FrontDoorSettings } from './settings.ts';

/** Labels in front of the host must fit into 253 characters. */
const hostLengthMax = 253 - konnectivityHost('').length;

type Domains = Pick<FrontDoorSettings, 'domains' | 'allowsAnyHost'>;

/** Returns the host names that a control plane can have. The first one is the default. */
export function candidateHosts(
  { name, namespace, host }: { readonly name: string; readonly namespace: string; readonly host: string | undefined },
  { domains }: Domains,
): readonly string[] {
  return host === undefined ? domains.map((domain) => `${name}.${namespace}.${domain}`) : [host];
}

/** Returns why a namespace may not have a host name. */
export function hostFault(host: string, namespace: string, { domains, allowsAnyHost }: Domains): Fault | undefined {
  if (host.length > hostLengthMax) {
    return { reason: 'NameTooLong', message: `the host name ${host} is longer than ${hostLengthMax} characters` };
  }
  // The longest one: a domain can be below another.
  const [domain] = domains.filter((one) => host.endsWith(`.${one}`)).sort((a, b) => b.length - a.length);
  if (domain === undefined) {
    if (allowsAnyHost && !domains.includes(host)) return undefined;
    return { reason: 'HostNotAllowed', message: `the host name ${host} is not below ${domains.join(' or ')}` };
  }
  const labels = host.slice(0, -domain.length - 1).split('.');
  if (labels.length === 1 || labels.at(-1) === namespace) return undefined;
  const message = `the host name ${host} is reserved for namespace ${JSON.stringify(labels.at(-1))}: use one label below ${domain}, or names that end with ${namespace}.${domain}`;
  return { reason: 'HostNotAllowed', message };
}

/** Returns all host names that a control plane claims. None: it is not exposed at the front door, or may not have its host name. */
export function claimedHosts(object: HostedControlPlane, settings: Domains): readonly string[] {
  const { spec, metadata } = object;
  if (!spec.frontDoor && metadata.annotations?.[annotations.exposure] !== 'front-door') return [];
  const owner = metadata.ownerReferences?.find((one) => one.kind === 'Cluster' && groupOf(one) === clusterApiGroup);
  const namespace = metadata.namespace!;
  const name = owner?.name ?? metadata.name!;
  return candidateHosts({ name, namespace, host: spec.frontDoor?.host }, settings)
    .filter((host) => !hostFault(host, namespace, settings))
    .flatMap(withKonnectivity);
}

export const withKonnectivity = (host: string): readonly string[] => [host, konnectivityHost(host)];

/** Orders control planes by the time of their creation. The uid decides between those of the same second. */
export function byCreation({ metadata: a }: HostedControlPlane, { metadata: b }: HostedControlPlane): number {
  const [first, second] = [a.creationTimestamp ?? '', b.creationTimestamp ?? ''];
  if (first !== second) return first < second ? -1 : 1;
  return (a.uid ?? '') < (b.uid ?? '') ? -1 : 1;
}
