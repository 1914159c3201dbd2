/** NetworkPolicy. */

import type { JsonObject, KubeObject } from '../../object.ts';
import { child, forbidden, index, invalid, required } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import type { KindValidation } from '../contract.ts';
import { portNameReasons, portNumberReasons } from '../formats.ts';
import { append, invalidFor, oneOfErrors } from '../shared/checks.ts';
import { cidrErrors, cidrWarnings, isStrictSubset, parseCidr } from '../shared/cidr.ts';
import { labelSelectorErrors } from '../shared/labels.ts';
import { checkPart } from '../shared/part.ts';
import { isSet, optionalNumber, optionalStruct, structOf, structsOf, textOf, textsOf } from '../shared/read.ts';

/** Rules of each direction, and where they name the other side. */
const directions = [
  ['ingress', 'from'],
  ['egress', 'to'],
] as const;
const policyTypes = ['Ingress', 'Egress'];

interface Tolerance {
  readonly invalidValues: boolean;
  /** Stored already, from when more was allowed. */
  readonly knownCidrs: ReadonlySet<string>;
}

function specErrors(object: KubeObject, tolerance: Tolerance): FieldError[] {
  const spec = structOf(object, 'spec');
  const types = textsOf(spec, 'policyTypes');
  const errors = labelSelectorErrors('spec.podSelector', structOf(spec, 'podSelector'), tolerance);
  for (const [direction, peers] of directions) {
    structsOf(spec, direction).forEach((rule, at) => {
      const path = index(child('spec', direction), at);
      checkPart(errors, (own) => {
        structsOf(rule, 'ports').forEach((port, i) => append(own, portErrors(index(child(path, 'ports'), i), port)));
        structsOf(rule, peers).forEach((peer, i) =>
          append(own, peerErrors(index(child(path, peers), i), peer, tolerance)),
        );
      });
    });
  }
  if (types.length > 2)
    return [...errors, invalid('spec.policyTypes', types, 'may not specify more than two policyTypes')];
  return [...errors, ...types.flatMap((type, at) => oneOfErrors(index('spec.policyTypes', at), type, policyTypes))];
}

function portErrors(path: string, rule: JsonObject): FieldError[] {
  const port = rule['port'] ?? undefined;
  const end = optionalNumber(rule, 'endPort');
  const endPath = child(path, 'endPort');
  const errors = isSet(rule, 'protocol')
    ? [...oneOfErrors(child(path, 'protocol'), textOf(rule, 'protocol'), ['TCP', 'UDP', 'SCTP'])]
    : [];
  if (typeof port === 'number') {
    errors.push(...invalidFor(child(path, 'port'), port, portNumberReasons(port)));
    if (end === undefined) return errors;
    if (end < port) errors.push(invalid(endPath, port, 'must be greater than or equal to `port`'));
    return [...errors, ...invalidFor(endPath, end, portNumberReasons(end))];
  }
  if (end !== undefined) {
    const why = port === undefined ? 'not specified' : 'non-numeric';
    errors.push(invalid(endPath, end, `may not be specified when \`port\` is ${why}`));
  }
  if (typeof port === 'string') errors.push(...invalidFor(child(path, 'port'), port, portNameReasons(port)));
  return errors;
}

function peerErrors(path: string, peer: JsonObject, tolerance: Tolerance): FieldError[] {
  const selectors = ['podSelector', 'namespaceSelector'].filter((field) => isSet(peer, field));
  const block = optionalStruct(peer, 'ipBlock');
  const errors = selectors.flatMap((field) =>
    labelSelectorErrors(child(path, field), structOf(peer, field), tolerance),
  );
  if (block) append(errors, blockErrors(child(path, 'ipBlock'), block, tolerance));
  if (!block && selectors.length === 0) errors.push(required(path, 'must specify a peer'));
  if (block && selectors.length > 0) errors.push(forbidden(path, 'may not specify both ipBlock and another peer'));
  return errors;
}

function blockErrors(path: string, block: JsonObject, { knownCidrs }: Tolerance): FieldError[] {
  const text = textOf(block, 'cidr');
  if (text === '') return [required(child(path, 'cidr'), '')];
  const errors = cidrErrors(child(path, 'cidr'), text, knownCidrs);
  const cidr = parseCidr(text);
  if (!cidr) return errors;
  textsOf(block, 'except').forEach((except, at) => {
    const exceptPath = index(child(path, 'except'), at);
    const inner = parseCidr(except);
    errors.push(...cidrErrors(exceptPath, except, knownCidrs));
    if (inner && !isStrictSubset(inner, cidr)) {
      errors.push(invalid(exceptPath, except, 'must be a strict subset of `cidr`'));
    }
  });
  return errors;
}

/** Every block of addresses, with its path. */
function* blocks(object: KubeObject): Generator<readonly [path: string, block: JsonObject]> {
  for (const [direction, peers] of directions) {
    for (const [at, rule] of structsOf(structOf(object, 'spec'), direction).entries()) {
      for (const [i, peer] of structsOf(rule, peers).entries()) {
        const block = optionalStruct(peer, 'ipBlock');
        if (block) yield [`spec.${direction}[${at}].${peers}[${i}].ipBlock`, block];
      }
    }
  }
}

const toleranceOf = (old: KubeObject): Tolerance => ({
  invalidValues: labelSelectorErrors('', structOf(structOf(old, 'spec'), 'podSelector')).length > 0,
  knownCidrs: new Set([...blocks(old)].flatMap(([, block]) => [textOf(block, 'cidr'), ...textsOf(block, 'except')])),
});

export const networkPolicy: KindValidation = {
  create: (object) => specErrors(object, { invalidValues: false, knownCidrs: new Set() }),
  update: (object, old) => specErrors(object, toleranceOf(old)),
  warnings: (object) =>
    [...blocks(object)].flatMap(([path, block]) => [
      ...cidrWarnings(child(path, 'cidr'), textOf(block, 'cidr')),
      ...textsOf(block, 'except').flatMap((except, at) => cidrWarnings(index(child(path, 'except'), at), except)),
    ]),
};
