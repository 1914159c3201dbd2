/** IPAddress and ServiceCIDR: which addresses Services have, and from which blocks. */

import type { JsonObject, KubeObject } from '../../object.ts';
import { child, index, invalid, required } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import type { KindValidation } from '../contract.ts';
import {
  dnsSubdomainErrors,
  immutableErrors,
  immutableReason,
  invalidFor,
  pathSegmentErrors,
  pathSegmentReasons,
} from '../shared/checks.ts';
import { canonicalCidrErrors, parseCidr } from '../shared/cidr.ts';
import { isIpv4 } from '../shared/ip.ts';
import { optionalStruct, structOf, textOf, textsOf } from '../shared/read.ts';

const parentOf = (object: KubeObject): JsonObject | undefined => optionalStruct(structOf(object, 'spec'), 'parentRef');

function addressErrors(object: KubeObject): FieldError[] {
  const path = 'spec.parentRef';
  const parent = parentOf(object);
  if (!parent) return [required(path, '')];
  const [group, namespace] = [textOf(parent, 'group'), textOf(parent, 'namespace')];
  return [
    ...(group === '' ? [] : dnsSubdomainErrors(child(path, 'group'), group)),
    ...pathSegmentErrors(child(path, 'resource'), textOf(parent, 'resource')),
    ...pathSegmentErrors(child(path, 'name'), textOf(parent, 'name')),
    ...(namespace === '' ? [] : invalidFor(child(path, 'namespace'), namespace, pathSegmentReasons(namespace))),
  ];
}

const shownParent = (parent: JsonObject | undefined): JsonObject | null =>
  parent
    ? {
        Group: textOf(parent, 'group'),
        Resource: textOf(parent, 'resource'),
        Namespace: textOf(parent, 'namespace'),
        Name: textOf(parent, 'name'),
      }
    : null;

export const ipAddress: KindValidation = {
  create: addressErrors,
  update: (object, old) => [
    ...addressErrors(object),
    ...immutableErrors('spec.parentRef', parentOf(object), parentOf(old), shownParent(parentOf(object))),
  ],
};

const cidrsPath = 'spec.cidrs';
const cidrsOf = (object: KubeObject): readonly string[] => textsOf(structOf(object, 'spec'), 'cidrs');

function blockErrors(object: KubeObject): FieldError[] {
  const blocks = cidrsOf(object);
  if (blocks.length === 0) return [required(cidrsPath, 'at least one CIDR required')];
  if (blocks.length > 2) return [invalid(cidrsPath, { CIDRs: blocks }, 'may only hold up to 2 values')];
  const errors = blocks.flatMap((block, at) => canonicalCidrErrors(index(cidrsPath, at), block));
  const [first, second] = blocks.map((block) => parseCidr(block));
  if (first && second && isIpv4(first.network) === isIpv4(second.network)) {
    const rule = 'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64';
    errors.push(invalid(cidrsPath, blocks, rule));
  }
  return errors;
}

/** Blocks stay; one of the other family may be added. */
function blockChangeErrors(object: KubeObject, old: KubeObject): FieldError[] {
  const [blocks, before] = [cidrsOf(object), cidrsOf(old)];
  const isGrown = before.length === 1 && blocks.length === 2;
  if (blocks.length !== before.length && !isGrown) {
    return [invalid(cidrsPath, blocks.length === 0 ? null : blocks, immutableReason)];
  }
  const changed = before.flatMap((block, at) =>
    block === blocks[at] ? [] : [invalid(index(cidrsPath, at), blocks[at], immutableReason)],
  );
  return isGrown ? [...changed, ...blockErrors(object)] : changed;
}

export const serviceCidr: KindValidation = {
  create: blockErrors,
  update: (object, old, subresource) => (subresource === 'status' ? [] : blockChangeErrors(object, old)),
};
