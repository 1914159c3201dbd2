/** Addresses of a load balancer: in the status of Services and of Ingresses. */

import type { JsonObject } from '../../object.ts';
import { child, forbidden, index, invalid, required } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import { dnsSubdomainErrors, oneOfErrors } from '../shared/checks.ts';
import { ipErrors, parseIp } from '../shared/ip.ts';
import { isSet, structsOf, textOf } from '../shared/read.ts';

interface Options {
  /** Services have an IP mode. */
  readonly withMode: boolean;
}

export function loadBalancerErrors(
  path: string,
  status: JsonObject,
  oldStatus: JsonObject,
  { withMode }: Options,
): FieldError[] {
  const known = new Set(structsOf(oldStatus, 'ingress').map((ingress) => textOf(ingress, 'ip')));
  return structsOf(status, 'ingress').flatMap((ingress, at) => {
    const ip = textOf(ingress, 'ip');
    const hostname = textOf(ingress, 'hostname');
    return [
      ...(ip === '' ? [] : ipErrors(child(index(path, at), 'ip'), ip, known)),
      ...(withMode ? modeErrors(child(index(path, at), 'ipMode'), ingress) : []),
      ...(hostname === '' ? [] : hostnameErrors(child(index(path, at), 'hostname'), hostname)),
    ];
  });
}

function modeErrors(path: string, ingress: JsonObject): readonly FieldError[] {
  const hasIp = textOf(ingress, 'ip') !== '';
  if (!isSet(ingress, 'ipMode')) return hasIp ? [required(path, 'must be specified when `ip` is set')] : [];
  if (!hasIp) return [forbidden(path, 'may not be specified when `ip` is not set')];
  return oneOfErrors(path, textOf(ingress, 'ipMode'), ['Proxy', 'VIP']);
}

function hostnameErrors(path: string, hostname: string): FieldError[] {
  const errors = dnsSubdomainErrors(path, hostname);
  if (parseIp(hostname)) errors.push(invalid(path, hostname, 'must be a DNS name, not an IP address'));
  return errors;
}
