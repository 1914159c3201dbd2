/** Endpoints, the older form of EndpointSlice. Stored values stay valid. */

import type { JsonObject, KubeObject } from '../../object.ts';
import { child, index, required } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import type { KindValidation } from '../contract.ts';
import { dnsSubdomainReasons, portNumberReasons } from '../formats.ts';
import { dnsLabelErrors, invalidFor, qualifiedNameErrors, requiredOneOfErrors } from '../shared/checks.ts';
import { equalValues } from '../shared/equal.ts';
import { endpointIpErrors, ipWarnings, ipErrors } from '../shared/ip.ts';
import { numberOf, optionalText, structsOf, textOf } from '../shared/read.ts';

export const protocols = ['SCTP', 'TCP', 'UDP'];

const subsetErrors = (object: KubeObject): FieldError[] =>
  structsOf(object, 'subsets').flatMap((subset, at) => {
    const path = index('subsets', at);
    const ready = structsOf(subset, 'addresses');
    const notReady = structsOf(subset, 'notReadyAddresses');
    const ports = structsOf(subset, 'ports');
    const isEmpty = ready.length === 0 && notReady.length === 0;
    return [
      ...(isEmpty ? [required(path, 'must specify `addresses` or `notReadyAddresses`')] : []),
      ...ready.flatMap((address, i) => addressErrors(index(child(path, 'addresses'), i), address)),
      ...notReady.flatMap((address, i) => addressErrors(index(child(path, 'notReadyAddresses'), i), address)),
      ...ports.flatMap((port, i) => portErrors(index(child(path, 'ports'), i), port, ports.length > 1)),
    ];
  });

function addressErrors(path: string, address: JsonObject): FieldError[] {
  const ip = textOf(address, 'ip');
  const hostname = textOf(address, 'hostname');
  const node = optionalText(address, 'nodeName');
  return [
    ...ipErrors(child(path, 'ip'), ip),
    ...(hostname === '' ? [] : dnsLabelErrors(child(path, 'hostname'), hostname)),
    ...(node === undefined ? [] : invalidFor(child(path, 'nodeName'), node, dnsSubdomainReasons(node))),
    ...endpointIpErrors(child(path, 'ip'), ip),
  ];
}

function portErrors(path: string, port: JsonObject, needsName: boolean): FieldError[] {
  const name = textOf(port, 'name');
  const number = numberOf(port, 'port');
  const application = optionalText(port, 'appProtocol');
  const nameErrors =
    name === '' ? (needsName ? [required(child(path, 'name'), '')] : []) : dnsLabelErrors(child(path, 'name'), name);
  return [
    ...nameErrors,
    ...invalidFor(child(path, 'port'), number, portNumberReasons(number)),
    ...requiredOneOfErrors(child(path, 'protocol'), textOf(port, 'protocol'), protocols),
    ...(application === undefined ? [] : qualifiedNameErrors(child(path, 'appProtocol'), application)),
  ];
}

export const endpoints: KindValidation = {
  create: subsetErrors,
  update: (object, old) => (equalValues(object['subsets'], old['subsets']) ? [] : subsetErrors(object)),
  warnings(object) {
    if (object.metadata.labels?.['endpoints.kubernetes.io/managed-by'] === 'endpoint-controller') return [];
    return structsOf(object, 'subsets').flatMap((subset, at) =>
      ['addresses', 'notReadyAddresses'].flatMap((list) =>
        structsOf(subset, list).flatMap((address, i) =>
          ipWarnings(child(index(child(index('subsets', at), list), i), 'ip'), textOf(address, 'ip')),
        ),
      ),
    );
  },
};
