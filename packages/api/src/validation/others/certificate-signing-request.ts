/** CertificateSigningRequest, its approval and its status. Stored values stay valid. */

import { X509Certificate } from 'node:crypto';
import type { JsonObject, KubeObject } from '../../object.ts';
import { Verbatim, child, duplicate, forbidden, index, invalid, quote, required } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import type { SubresourceName } from '../../strategy/contract.ts';
import type { KindValidation } from '../contract.ts';
import { oneOfErrors, repeatedIn, requiredErrors } from '../shared/checks.ts';
import { equalValues } from '../shared/equal.ts';
import { isSet, optionalNumber, structOf, structsOf, textOf, textsOf } from '../shared/read.ts';
import { checkSignerName } from '../workloads/pod/signer-name.ts';
import { unifiedDiff } from '../workloads/server-form/unified-diff.ts';
import { certificateRequestProblem } from './certificate-request.ts';
import { pemBlocks } from './pem.ts';

const usages = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
];
const legacySigner = 'kubernetes.io/legacy-unknown';
const approvals = ['Approved', 'Denied'];
const decisions = [...approvals, 'Failed'];
const conditionsPath = 'status.conditions';

const specOf = (object: KubeObject | undefined): JsonObject => structOf(object, 'spec');
const conditionsOf = (object: KubeObject | undefined): readonly JsonObject[] =>
  structsOf(structOf(object, 'status'), 'conditions');
const typeOf = (condition: JsonObject): string => textOf(condition, 'type');
const certificateOf = (object: KubeObject | undefined): string => textOf(structOf(object, 'status'), 'certificate');

function requestErrors(object: KubeObject, old: KubeObject | undefined): FieldError[] {
  const spec = specOf(object);
  const request = textOf(spec, 'request');
  const problem = certificateRequestProblem(Buffer.from(request, 'base64').toString('latin1'));
  const seconds = optionalNumber(spec, 'expirationSeconds');
  const rule = 'may not specify a duration less than 600 seconds (10 minutes)';
  return [
    ...(problem === undefined
      ? []
      : [invalid('spec.request', new Verbatim(isSet(spec, 'request') ? `"${request}"` : 'null'), problem)]),
    ...usageErrors(textsOf(spec, 'usages'), textsOf(specOf(old), 'usages')),
    ...signerErrors(textOf(spec, 'signerName'), textOf(specOf(old), 'signerName')),
    ...(seconds !== undefined && seconds < 600 ? [invalid('spec.expirationSeconds', seconds, rule)] : []),
    ...conditionErrors(object, old),
    ...certificateErrors(object, old),
  ];
}

function usageErrors(list: readonly string[], old: readonly string[]): FieldError[] {
  const path = 'spec.usages';
  const errors = list.length === 0 ? [required(path, '')] : [];
  if (old.every((usage) => usages.includes(usage))) {
    list.forEach((usage, at) => errors.push(...oneOfErrors(index(path, at), usage, usages)));
  }
  if (new Set(old).size === old.length) {
    for (const at of repeatedIn(list)) errors.push(duplicate(index(path, at), list[at]));
  }
  return errors;
}

function signerErrors(name: string, old: string): FieldError[] {
  const path = 'spec.signerName';
  if (name === legacySigner && old !== legacySigner) {
    return [invalid(path, name, 'the legacy signerName is not allowed via this API version')];
  }
  const errors: FieldError[] = [];
  checkSignerName(errors, path, name);
  return errors;
}

function conditionErrors(object: KubeObject, old: KubeObject | undefined): FieldError[] {
  const [types, oldTypes] = [conditionsOf(object).map(typeOf), conditionsOf(old).map(typeOf)];
  const mayBeBoth = approvals.every((type) => oldTypes.includes(type));
  const mayRepeat = new Set(oldTypes).size < oldTypes.length;
  const repeated = repeatedIn(types);
  const firstOf = new Map(approvals.map((type) => [type, types.indexOf(type)]));
  return conditionsOf(object).flatMap((condition, at) => {
    const path = index(conditionsPath, at);
    const [type, status] = [typeOf(condition), textOf(condition, 'status')];
    const statuses = decisions.includes(type) ? ['True'] : ['False', 'True', 'Unknown'];
    const opposite = approvals.find((other) => other !== type) ?? '';
    const oppositeAt = approvals.includes(type) ? firstOf.get(opposite)! : -1;
    const isBoth = oppositeAt >= 0 && oppositeAt < at && !mayBeBoth;
    return [
      ...(oldTypes.includes('') ? [] : requiredErrors(child(path, 'type'), type)),
      ...(status === '' ? [required(child(path, 'status'), '')] : oneOfErrors(child(path, 'status'), status, statuses)),
      ...(isBoth ? [invalid(conditionsPath, type, 'Approved and Denied conditions are mutually exclusive')] : []),
      ...(repeated.has(at) && !mayRepeat ? [duplicate(child(path, 'type'), type)] : []),
    ];
  });
}

function certificateErrors(object: KubeObject, old: KubeObject | undefined): FieldError[] {
  const certificate = certificateOf(object);
  const isUntouched = old !== undefined && certificate === certificateOf(old);
  if (isUntouched || certificateProblem(certificateOf(old)) !== undefined) return [];
  const problem = certificateProblem(certificate);
  return problem === undefined ? [] : [invalid('status.certificate', '<certificate data>', problem)];
}

/** An empty certificate is valid. */
function certificateProblem(base64: string): string | undefined {
  if (base64 === '') return undefined;
  const blocks = pemBlocks(Buffer.from(base64, 'base64').toString('latin1'));
  for (const { type, headers, bytes } of blocks) {
    if (type !== 'CERTIFICATE') return `only CERTIFICATE PEM blocks are allowed, found ${quote(type)}`;
    if (headers.length > 0) return 'no PEM block headers are permitted';
    if (bytes.length === 0) return 'found CERTIFICATE PEM block containing 0 certificates';
    if (!isCertificate(bytes)) return 'x509: malformed certificate';
  }
  return blocks.length === 0 ? 'must contain at least one CERTIFICATE PEM block' : undefined;
}

function isCertificate(bytes: Uint8Array): boolean {
  try {
    return new X509Certificate(bytes).serialNumber !== '';
  } catch {
    return false;
  }
}

/** Only `approval` decides, only `status` issues; neither can be revoked. */
function changeErrors(object: KubeObject, old: KubeObject, subresource: SubresourceName): FieldError[] {
  const of = (one: KubeObject, type: string): JsonObject[] =>
    conditionsOf(one).filter((condition) => typeOf(condition) === type);
  const removed = decisions.filter((type) => of(object, type).length < of(old, type).length);
  const errors = removed.map((type) =>
    forbidden(conditionsPath, `updates may not remove a condition of type ${quote(type)}`),
  );
  if (subresource !== 'approval') {
    for (const type of approvals.filter((one) => !removed.includes(one))) {
      errors.push(...decisionErrors(type, of(object, type), of(old, type)));
    }
  }
  return [...errors, ...issueErrors(certificateOf(object), certificateOf(old), subresource)];
}

function decisionErrors(type: string, conditions: readonly JsonObject[], old: readonly JsonObject[]): FieldError[] {
  if (conditions.length > old.length) {
    return [forbidden(conditionsPath, `updates may not add a condition of type ${quote(type)}`)];
  }
  if (equalValues(conditions, old)) return [];
  const text = (list: readonly JsonObject[]): string => JSON.stringify(list.map(shownCondition), null, 1);
  const difference = unifiedDiff(text(old), text(conditions));
  return [forbidden(conditionsPath, `updates may not modify a condition of type ${quote(type)}\n${difference}`)];
}

const shownCondition = (condition: JsonObject): JsonObject => ({
  Type: typeOf(condition),
  Status: textOf(condition, 'status'),
  Reason: textOf(condition, 'reason'),
  Message: textOf(condition, 'message'),
  LastUpdateTime: condition['lastUpdateTime'] ?? null,
  LastTransitionTime: condition['lastTransitionTime'] ?? null,
});

function issueErrors(certificate: string, old: string, subresource: SubresourceName): FieldError[] {
  const path = 'status.certificate';
  if (certificate === old) return [];
  if (subresource !== 'status') return [forbidden(path, 'updates may not set certificate content')];
  return old === '' ? [] : [forbidden(path, 'updates may not modify existing certificate content')];
}

export const certificateSigningRequest: KindValidation = {
  create: (object) => requestErrors(object, undefined),
  update: (object, old, subresource) => [...requestErrors(object, old), ...changeErrors(object, old, subresource)],
};
