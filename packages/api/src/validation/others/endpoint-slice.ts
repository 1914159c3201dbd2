/** EndpointSlice. Endpoints that are stored already stay acceptable. */

import type { JsonObject, KubeObject } from '../../object.ts';
import { child, duplicate, index, invalid, required, tooMany } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import type { KindValidation } from '../contract.ts';
import { dnsLabelReasons, dnsSubdomainReasons, labelValueReasons } from '../formats.ts';
import type { Reasons } from '../formats.ts';
import {
  append,
  dnsLabelErrors,
  immutableErrors,
  invalidFor,
  oneOfErrors,
  qualifiedNameErrors,
  requiredOneOfErrors,
} from '../shared/checks.ts';
import { equalValues } from '../shared/equal.ts';
import { endpointIpErrors, ipWarnings, isIpv4, ipErrors, parseIp, canonicalIpErrors } from '../shared/ip.ts';
import { labelsErrors } from '../shared/labels.ts';
import { mapOf, optionalStruct, optionalText, structsOf, textOf, textsOf } from '../shared/read.ts';
import { protocols } from './endpoints.ts';

const addressTypes = ['FQDN', 'IPv4', 'IPv6'];
const [endpointsMax, addressesMax, topologyMax, portsMax, hintsMax] = [1000, 100, 16, 20_000, 8];

const create = (object: KubeObject): FieldError[] => [
  ...requiredOneOfErrors('addressType', textOf(object, 'addressType'), addressTypes),
  ...portsErrors(structsOf(object, 'ports')),
  ...endpointsErrors(object),
];

function portsErrors(ports: readonly JsonObject[]): FieldError[] {
  if (ports.length > portsMax) return [tooMany('ports', ports.length, portsMax)];
  const names = new Set<string>();
  return ports.flatMap((port, at) => {
    const path = index('ports', at);
    const name = textOf(port, 'name');
    const errors = name === '' ? [] : dnsLabelErrors(child(path, 'name'), name);
    if (names.has(name)) errors.push(duplicate(child(path, 'name'), name));
    names.add(name);
    const protocol = optionalText(port, 'protocol');
    if (protocol === undefined) errors.push(required(child(path, 'protocol'), ''));
    else errors.push(...oneOfErrors(child(path, 'protocol'), protocol, protocols));
    const application = optionalText(port, 'appProtocol');
    if (application !== undefined) errors.push(...qualifiedNameErrors(child(path, 'appProtocol'), application));
    return errors;
  });
}

function endpointsErrors(object: KubeObject): FieldError[] {
  const list = structsOf(object, 'endpoints');
  if (list.length > endpointsMax) return [tooMany('endpoints', list.length, endpointsMax)];
  const type = textOf(object, 'addressType');
  return list.flatMap((endpoint, at) => endpointErrors(index('endpoints', at), endpoint, type));
}

function endpointErrors(path: string, endpoint: JsonObject, type: string): FieldError[] {
  const addresses = textsOf(endpoint, 'addresses');
  const addressesPath = child(path, 'addresses');
  const errors: FieldError[] = [];
  if (addresses.length === 0) errors.push(required(addressesPath, 'must contain at least 1 address'));
  if (addresses.length > addressesMax) errors.push(tooMany(addressesPath, addresses.length, addressesMax));
  addresses.forEach((address, at) => errors.push(...addressErrors(addressesPath, at, address, type)));
  const node = optionalText(endpoint, 'nodeName');
  if (node !== undefined) errors.push(...invalidFor(child(path, 'nodeName'), node, dnsSubdomainReasons(node)));
  const topology = mapOf(endpoint, 'deprecatedTopology');
  const topologyPath = child(path, 'deprecatedTopology');
  const labels = Object.keys(topology).length;
  if (labels > topologyMax) errors.push(tooMany(topologyPath, labels, topologyMax));
  append(errors, labelsErrors(topologyPath, topology));
  const hostname = optionalText(endpoint, 'hostname');
  if (hostname !== undefined) errors.push(...dnsLabelErrors(child(path, 'hostname'), hostname));
  return [...errors, ...hintsErrors(child(path, 'hints'), optionalStruct(endpoint, 'hints'))];
}

function addressErrors(list: string, at: number, address: string, type: string): FieldError[] {
  const path = index(list, at);
  if (type === 'FQDN') return domainErrors(path, address);
  if (type !== 'IPv4' && type !== 'IPv6') return [];
  const errors = type === 'IPv4' ? ipErrors(path, address) : canonicalIpErrors(path, address);
  if (errors.length > 0) return errors;
  const isOther = isIpv4(parseIp(address)!) !== (type === 'IPv4');
  return [
    ...(isOther ? [invalid(list, address, `must be an ${type} address`)] : []),
    ...endpointIpErrors(path, address),
  ];
}

/** At least two labels; a dot at the end is allowed. */
function domainErrors(path: string, domain: string): FieldError[] {
  if (domain === '') return [required(path, '')];
  const name = domain.endsWith('.') ? domain.slice(0, -1) : domain;
  const reasons = dnsSubdomainReasons(name);
  if (reasons.length > 0) return [invalid(path, name, reasons.join(','))];
  const labels = name.split('.');
  if (labels.length < 2) {
    return [invalid(path, name, 'should be a domain with at least two segments separated by dots')];
  }
  const bad = labels.find((label) => dnsLabelReasons(label).length > 0);
  return bad === undefined ? [] : [invalid(path, bad, dnsLabelReasons(bad).join(','))];
}

function hintsErrors(path: string, hints: JsonObject | undefined): FieldError[] {
  if (!hints) return [];
  const zones = structsOf(hints, 'forZones');
  const nodes = structsOf(hints, 'forNodes');
  if (zones.length > hintsMax) return [tooMany(child(path, 'forZones'), zones.length, hintsMax)];
  const errors = hintErrors(child(path, 'forZones'), zones, labelValueReasons);
  if (nodes.length > hintsMax) return [...errors, tooMany(child(path, 'forNodes'), nodes.length, hintsMax)];
  return [...errors, ...hintErrors(child(path, 'forNodes'), nodes, dnsSubdomainReasons)];
}

function hintErrors(path: string, hints: readonly JsonObject[], reasons: (name: string) => Reasons): FieldError[] {
  const names = new Set<string>();
  return hints.flatMap((hint, at) => {
    const name = textOf(hint, 'name');
    const namePath = child(index(path, at), 'name');
    const repeated = names.has(name) ? [duplicate(namePath, name)] : [];
    names.add(name);
    return [...repeated, ...invalidFor(namePath, name, reasons(name))];
  });
}

const ourControllers = new Set(['endpointslice-controller.k8s.io', 'endpointslicemirroring-controller.k8s.io']);

export const endpointSlice: KindValidation = {
  create,
  update(object, old) {
    const isUnchanged = equalValues(object['endpoints'], old['endpoints']);
    const errors = isUnchanged ? create({ ...object, endpoints: [] }) : create(object);
    return [...errors, ...immutableErrors('addressType', textOf(object, 'addressType'), textOf(old, 'addressType'))];
  },
  warnings(object, old) {
    const isDeprecated = old === undefined && textOf(object, 'addressType') === 'FQDN';
    const warnings = isDeprecated ? ['spec.addressType: FQDN endpoints are deprecated'] : [];
    const manager = object.metadata.labels?.['endpointslice.kubernetes.io/managed-by'];
    if (manager !== undefined && ourControllers.has(manager)) return warnings;
    const addressWarnings = structsOf(object, 'endpoints').flatMap((endpoint, at) =>
      textsOf(endpoint, 'addresses').flatMap((address, i) =>
        ipWarnings(index(child(index('endpoints', at), 'addresses'), i), address),
      ),
    );
    return [...warnings, ...addressWarnings];
  },
};
