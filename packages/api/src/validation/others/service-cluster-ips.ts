/** A Service's cluster IPs and IP families: their form, and how they may change between one and two families. */

import type { JsonObject } from '../../object.ts';
import { duplicate, index, invalid, required } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import { append, oneOfErrors, repeatedIn } from '../shared/checks.ts';
import { isIpv4, ipErrors, parseIp } from '../shared/ip.ts';
import { isSet, textOf, textsOf } from '../shared/read.ts';

const ipsPath = 'spec.clusterIPs';
const familiesPath = 'spec.ipFamilies';
const policyPath = 'spec.ipFamilyPolicy';
const policies = ['PreferDualStack', 'RequireDualStack', 'SingleStack'];

export function isHeadless(spec: JsonObject): boolean {
  const ips = textsOf(spec, 'clusterIPs');
  return ips.length === 1 && ips[0] === 'None';
}

/** Also what an allocator checks before it allocates. */
export function clusterIpErrors(spec: JsonObject, oldSpec: JsonObject | undefined): FieldError[] {
  if (textOf(spec, 'type') === 'ExternalName') return [];
  const ips = textsOf(spec, 'clusterIPs');
  const families = textsOf(spec, 'ipFamilies');
  const errors = firstIpErrors(textOf(spec, 'clusterIP'), ips);
  const known = new Set(textsOf(oldSpec, 'clusterIPs'));
  const repeated = repeatedIn(families);
  families.forEach((family, at) => {
    errors.push(...oneOfErrors(index(familiesPath, at), family, ['IPv4', 'IPv6']));
    if (repeated.has(at)) errors.push(duplicate(index(familiesPath, at), family));
  });
  if (isSet(spec, 'ipFamilyPolicy')) errors.push(...oneOfErrors(policyPath, textOf(spec, 'ipFamilyPolicy'), policies));

  const formErrors = ips.flatMap((ip, at) => {
    if (at > 0 || ip !== 'None') return ipErrors(index(ipsPath, at), ip, known);
    return ips.length > 1 ? [invalid(ipsPath, ips, "'None' must be the first and only value")] : [];
  });
  append(errors, formErrors);
  if (ips.length > 2) errors.push(invalid(ipsPath, ips, 'may only hold up to 2 values'));
  // The rest would speak of families that broken addresses do not have.
  if (formErrors.length > 0) return errors;
  if (ips.length > 1 && !isDualStack(ips)) {
    errors.push(invalid(ipsPath, ips, 'may specify no more than one IP for each IP family'));
  }
  if (!isHeadless(spec)) append(errors, familyErrors(ips, families));
  return errors;
}

function firstIpErrors(ip: string, ips: readonly string[]): FieldError[] {
  if (ip === '') {
    return ips.length === 0 ? [] : [invalid(ipsPath, ips, 'must be empty when `clusterIP` is not specified')];
  }
  if (ips.length === 0) return [required(ipsPath, '')];
  return ips[0] === ip ? [] : [invalid(ipsPath, ips, 'first value must match `clusterIP`')];
}

const isFour = (ip: string): boolean => {
  const address = parseIp(ip);
  return address !== undefined && isIpv4(address);
};
const isSix = (ip: string): boolean => {
  const address = parseIp(ip);
  return address !== undefined && !isIpv4(address);
};
const isDualStack = (ips: readonly string[]): boolean => ips.some(isFour) && ips.some(isSix);

function familyErrors(ips: readonly string[], families: readonly string[]): FieldError[] {
  return ips.slice(0, families.length).flatMap((ip, at) => {
    const family = families[at];
    const isWrong = (family === 'IPv4' && isSix(ip)) || (family === 'IPv6' && !isSix(ip));
    if (!isWrong) return [];
    return [invalid(index(ipsPath, at), ip, `expected an ${family} value as indicated by \`ipFamilies[${at}]\``)];
  });
}

const shownList = (list: readonly string[]): readonly string[] | null => (list.length === 0 ? null : list);

/** Allocated addresses are immutable; only the second family may be added and removed. */
export function clusterIpUpdateErrors(spec: JsonObject, oldSpec: JsonObject): FieldError[] {
  if (textOf(spec, 'type') === 'ExternalName' || textOf(oldSpec, 'type') === 'ExternalName') return [];
  const [isNow, was] = [isHeadless(spec), isHeadless(oldSpec)];
  if (isNow && was) return [];
  const errors = ipChangeErrors(spec, oldSpec);
  return isNow || was ? errors : [...errors, ...familyChangeErrors(spec, oldSpec)];
}

function ipChangeErrors(spec: JsonObject, oldSpec: JsonObject): FieldError[] {
  const [ips, oldIps] = [textsOf(spec, 'clusterIPs'), textsOf(oldSpec, 'clusterIPs')];
  const changed = (at: number): FieldError => invalid(index(ipsPath, at), shownList(ips), 'may not change once set');
  if (ips.length === oldIps.length) return oldIps.flatMap((ip, at) => (ip === ips[at] ? [] : [changed(at)]));
  const errors: FieldError[] = [];
  if (ips.length === 0) errors.push(invalid(index(ipsPath, 0), null, 'primary clusterIP can not be unset'));
  if (ips.length > 0 && oldIps.length > 0 && ips[0] !== oldIps[0]) errors.push(changed(0));
  if (ips.length < oldIps.length && ips.length === 1) errors.push(...releaseErrors(spec, 'clusterIP'));
  return errors;
}

function familyChangeErrors(spec: JsonObject, oldSpec: JsonObject): FieldError[] {
  const [families, oldFamilies] = [textsOf(spec, 'ipFamilies'), textsOf(oldSpec, 'ipFamilies')];
  const first = index(familiesPath, 0);
  const rule = 'may not change once set';
  if (families.length === oldFamilies.length) {
    return oldFamilies.flatMap((family, at) =>
      family === families[at] ? [] : [invalid(first, shownList(families), rule)],
    );
  }
  const ips = shownList(textsOf(spec, 'clusterIPs'));
  const isReleased = families.length < oldFamilies.length;
  const errors: FieldError[] = [];
  if (isReleased && ips === null) {
    errors.push(invalid(first, shownList(families), 'primary ipFamily can not be unset'));
  }
  if (families.length > 0 && oldFamilies.length > 0 && families[0] !== oldFamilies[0]) {
    // Kubernetes shows the addresses here.
    errors.push(invalid(first, ips, rule));
  }
  if (isReleased && families.length === 1) errors.push(...releaseErrors(spec, 'ipFamily'));
  return errors;
}

function releaseErrors(spec: JsonObject, what: string): FieldError[] {
  const policy = textOf(spec, 'ipFamilyPolicy');
  if (policy === 'SingleStack') return [];
  const rule = `must be set to 'SingleStack' when releasing the secondary ${what}`;
  return [invalid(policyPath, isSet(spec, 'ipFamilyPolicy') ? policy : null, rule)];
}
