/**
 * Determines the IP families of a service from its policy, its addresses and the families of this control plane. Runs before addresses are
 * allocated, including dry runs. The client sees the defaults that it sets.
 */

import { clusterIpErrors, invalid, invalidObject } from '@hangar/api';
import type { FieldError, KubeObject } from '@hangar/api';
import { parseAddress } from './address-range.ts';
import type { IpFamily } from './address-range.ts';
import { hasSelector, isExternalName, isSameList, specOf } from './service-spec.ts';
import type { ServiceSpec } from './service-spec.ts';

const policyPath = 'spec.ipFamilyPolicy';

/** `families`: the families that this control plane has addresses of, the default one first. Throws 422. */
export function settleFamilies(service: KubeObject, old: KubeObject | undefined, families: readonly IpFamily[]): void {
  const spec = specOf(service);
  const before = old && specOf(old);
  if (isExternalName(spec) || (before && isSettledDualStack(spec, before))) return;
  spec.ipFamilyPolicy ??= before?.ipFamilyPolicy ?? (isOpenHeadless(spec) ? 'RequireDualStack' : 'SingleStack');
  refuse(service, clusterIpErrors(spec, before));
  refuse(service, [
    ...(before ? reductionErrors(spec, before) : []),
    ...singleStackErrors(spec),
    ...inferFamilies(spec, families),
  ]);
  if (isOpenHeadless(spec)) {
    spec.ipFamilies = withOther(spec.ipFamilies?.length ? spec.ipFamilies : [families[0]!], spec);
    return;
  }
  refuse(service, missingErrors(spec, families));
  if (!spec.ipFamilies?.length) spec.ipFamilies = [families[0]!];
  if (families.length === 2) spec.ipFamilies = withOther(spec.ipFamilies, spec);
}

/** Without a selector the families of its endpoints are unknown. */
const isOpenHeadless = (spec: ServiceSpec): boolean => spec.clusterIP === 'None' && !hasSelector(spec);

function withOther(families: readonly IpFamily[], { ipFamilyPolicy }: ServiceSpec): IpFamily[] {
  if (families.length !== 1 || ipFamilyPolicy === 'SingleStack') return [...families];
  return [families[0]!, families[0] === 'IPv4' ? 'IPv6' : 'IPv4'];
}

/** A service that prefers dual-stack is not changed when the cluster gets or loses a family. */
export function isSettledDualStack(spec: ServiceSpec, before: ServiceSpec): boolean {
  return (
    spec.ipFamilyPolicy === 'PreferDualStack' &&
    spec.type === before.type &&
    !isExternalName(spec) &&
    (before.ipFamilyPolicy === undefined || before.ipFamilyPolicy === 'PreferDualStack') &&
    isSameList(spec.clusterIPs, before.clusterIPs) &&
    isSameList(spec.ipFamilies, before.ipFamilies)
  );
}

/** SingleStack drops the second address and family. Without that policy, they must not be omitted. */
function reductionErrors(spec: ServiceSpec, before: ServiceSpec): FieldError[] {
  const rules = [
    { name: 'clusterIPs', what: 'cluster IP' },
    { name: 'ipFamilies', what: 'IP family' },
  ] as const;
  return rules.flatMap(({ name, what }) => {
    const [now, was] = [spec[name] ?? [], before[name] ?? []];
    if (spec.ipFamilyPolicy === 'SingleStack') {
      if (isSameList(now, was) && now.length > 1) spec[name] = now.slice(0, 1) as string[] & IpFamily[];
      return [];
    }
    if (now.length === 0 || now.length >= was.length) return [];
    return [invalid(policyPath, spec.ipFamilyPolicy, `must be 'SingleStack' to release the secondary ${what}`)];
  });
}

function singleStackErrors({ ipFamilyPolicy, clusterIPs, ipFamilies }: ServiceSpec): FieldError[] {
  if (ipFamilyPolicy !== 'SingleStack') return [];
  const rule = (what: string): string =>
    `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${what} are specified`;
  return [
    ...(clusterIPs?.length === 2 ? [invalid(policyPath, ipFamilyPolicy, rule('cluster IPs'))] : []),
    ...(ipFamilies?.length === 2 ? [invalid(policyPath, ipFamilyPolicy, rule('IP families'))] : []),
  ];
}

function inferFamilies(spec: ServiceSpec, known: readonly IpFamily[]): FieldError[] {
  const errors: FieldError[] = [];
  const ips = spec.clusterIPs ?? [];
  if (ips[0] === 'None') return errors;
  for (let at = spec.ipFamilies?.length ?? 0; at < ips.length; at++) {
    const family = parseAddress(ips[at]!)!.family;
    if (known.includes(family)) (spec.ipFamilies ??= []).push(family);
    else errors.push(invalid(`spec.clusterIPs[${at}]`, ips, `${family} is not configured on this cluster`));
  }
  return errors;
}

function missingErrors({ ipFamilyPolicy, ipFamilies }: ServiceSpec, known: readonly IpFamily[]): FieldError[] {
  const errors: FieldError[] = [];
  if (ipFamilyPolicy === 'RequireDualStack' && known.length < 2) {
    errors.push(invalid(policyPath, ipFamilyPolicy, 'this cluster is not configured for dual-stack services'));
  }
  ipFamilies?.forEach((family, at) => {
    if (known.includes(family)) return;
    errors.push(invalid(`spec.ipFamilies[${at}]`, family, 'not configured on this cluster'));
  });
  return errors;
}

export function refuse(service: KubeObject, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalidObject({ group: '', kind: 'Service' }, service.metadata.name ?? '', errors);
}
