/** DeviceClass, ResourceClaim and ResourceClaimTemplate: requests for devices. */

import type { JsonObject, KubeObject } from '../../object.ts';
import { child, invalid, required, tooLong } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import type { KindValidation } from '../contract.ts';
import { byteLength, labelValueReasons } from '../formats.ts';
import {
  dnsLabelErrors,
  dnsSubdomainErrors,
  immutableReason,
  invalidFor,
  oneOfErrors,
  qualifiedNameErrors,
  requiredOneOfErrors,
} from '../shared/checks.ts';
import { equalValues } from '../shared/equal.ts';
import { isSet, numberOf, optionalStruct, optionalText, structOf, structsOf, textOf } from '../shared/read.ts';
import { isExtended } from '../shared/resource-names.ts';
import { checkClaimTemplate } from '../workloads/pod/claim-spec.ts';
import { allocationErrors } from './device-allocation.ts';
import { configurationErrors, requestNames, requestReferencesErrors, requestsMax } from './device-requests.ts';
import type { RequestNames } from './device-requests.ts';
import { listErrors, qualifiedKeyErrors, setErrors } from './device-lists.ts';
import { compileExpression, problemErrors } from './expressions.ts';

const alternativesMax = 8;
const expressionBytesMax = 10 * 1024;
const taintEffects = ['NoExecute', 'NoSchedule', 'None'];

function claimErrors(path: string, spec: JsonObject): FieldError[] {
  const devices = structOf(spec, 'devices');
  const at = child(path, 'devices');
  const names = requestNames(devices);
  return [
    ...setErrors(child(at, 'requests'), structsOf(devices, 'requests'), requestsMax, requestErrors, (one) =>
      textOf(one, 'name'),
    ),
    ...listErrors(child(at, 'constraints'), structsOf(devices, 'constraints'), requestsMax, (where, one) =>
      constraintErrors(where, one, names),
    ),
    ...listErrors(child(at, 'config'), structsOf(devices, 'config'), requestsMax, (where, one) => [
      ...requestReferencesErrors(where, one, names),
      ...configurationErrors(where, one),
    ]),
  ];
}

function requestErrors(path: string, request: JsonObject): FieldError[] {
  const errors = dnsLabelErrors(child(path, 'name'), textOf(request, 'name'));
  const alternatives = structsOf(request, 'firstAvailable');
  const exactly = optionalStruct(request, 'exactly');
  const rule = 'exactly one of `exactly` or `firstAvailable` is required';
  if (!exactly && alternatives.length === 0) return [...errors, required(path, rule)];
  if (exactly && alternatives.length > 0)
    return [...errors, invalid(path, null, `${rule}, but multiple fields are set`)];
  if (exactly) return [...errors, ...deviceErrors(child(path, 'exactly'), exactly)];
  const check = (at: string, one: JsonObject): FieldError[] => [
    ...dnsLabelErrors(child(at, 'name'), textOf(one, 'name')),
    ...deviceErrors(at, one),
  ];
  const listPath = child(path, 'firstAvailable');
  return [...errors, ...setErrors(listPath, alternatives, alternativesMax, check, (one) => textOf(one, 'name'))];
}

function deviceErrors(path: string, request: JsonObject): FieldError[] {
  const className = textOf(request, 'deviceClassName');
  const classPath = child(path, 'deviceClassName');
  return [
    ...(className === '' ? [required(classPath, '')] : dnsSubdomainErrors(classPath, className)),
    ...selectorsErrors(child(path, 'selectors'), request),
    ...allocationModeErrors(path, request),
    ...structsOf(request, 'tolerations').flatMap((toleration, at) =>
      tolerationErrors(`${child(path, 'tolerations')}[${at}]`, toleration),
    ),
  ];
}

function allocationModeErrors(path: string, request: JsonObject): readonly FieldError[] {
  const [mode, count] = [textOf(request, 'allocationMode'), numberOf(request, 'count')];
  const countPath = child(path, 'count');
  if (mode === 'All') {
    return count === 0 ? [] : [invalid(countPath, count, "must not be specified when allocationMode is 'All'")];
  }
  if (mode === 'ExactCount') return count > 0 ? [] : [invalid(countPath, count, 'must be greater than zero')];
  return oneOfErrors(child(path, 'allocationMode'), mode, ['All', 'ExactCount']);
}

const selectorsErrors = (path: string, holder: JsonObject): FieldError[] =>
  listErrors(path, structsOf(holder, 'selectors'), requestsMax, (at, selector) => {
    const cel = optionalStruct(selector, 'cel');
    if (!cel) return [required(child(at, 'cel'), '')];
    const expressionPath = child(child(at, 'cel'), 'expression');
    const text = textOf(cel, 'expression');
    if (byteLength(text) > expressionBytesMax) return [tooLong(expressionPath, expressionBytesMax)];
    const result = compileExpression(text, 'deviceSelector', { hasParams: false, hasAuthorizer: false });
    return problemErrors(expressionPath, text, result);
  });

function tolerationErrors(path: string, toleration: JsonObject): FieldError[] {
  const [key, operator] = [textOf(toleration, 'key'), textOf(toleration, 'operator')];
  const [value, effect] = [textOf(toleration, 'value'), textOf(toleration, 'effect')];
  const errors = key === '' ? [] : qualifiedNameErrors(child(path, 'key'), key);
  if (operator === 'Exists') {
    if (value !== '') errors.push(invalid(child(path, 'value'), value, 'must be empty for operator `Exists`'));
  } else if (operator === 'Equal') {
    errors.push(...invalidFor(child(path, 'value'), value, labelValueReasons(value)));
  } else {
    errors.push(...requiredOneOfErrors(child(path, 'operator'), operator, ['Equal', 'Exists']));
  }
  if (effect !== '') errors.push(...oneOfErrors(child(path, 'effect'), effect, taintEffects));
  return errors;
}

export function taintErrors(path: string, taint: JsonObject): FieldError[] {
  const value = textOf(taint, 'value');
  return [
    ...qualifiedNameErrors(child(path, 'key'), textOf(taint, 'key')),
    ...(value === '' ? [] : invalidFor(child(path, 'value'), value, labelValueReasons(value))),
    ...requiredOneOfErrors(child(path, 'effect'), textOf(taint, 'effect'), taintEffects),
  ];
}

function constraintErrors(path: string, constraint: JsonObject, names: RequestNames): FieldError[] {
  const errors = requestReferencesErrors(path, constraint, names);
  const attribute = ['matchAttribute', 'distinctAttribute'].find((field) => isSet(constraint, field));
  if (attribute !== undefined) {
    return [...errors, ...qualifiedKeyErrors(child(path, attribute), textOf(constraint, attribute))];
  }
  const rule = 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set';
  return [...errors, required(path, rule)];
}

const specOf = (object: KubeObject): JsonObject => structOf(object, 'spec');

/** The spec of a claim is immutable; the server's display of the value is not reproduced. */
const specChangeErrors = (object: KubeObject, old: KubeObject): FieldError[] =>
  equalValues(specOf(object), specOf(old)) ? [] : [invalid('spec', specOf(object), immutableReason)];

export const resourceClaim: KindValidation = {
  create: (object) => claimErrors('spec', specOf(object)),
  update: (object, old, subresource) =>
    subresource === 'status' ? allocationErrors(object, old) : specChangeErrors(object, old),
};

export const resourceClaimTemplate: KindValidation = {
  create(object) {
    const spec = specOf(object);
    const errors: FieldError[] = [];
    // The rules for a template's metadata are those of volume claims; the claim after it is a different one.
    checkClaimTemplate(errors, 'spec', { metadata: structOf(spec, 'metadata'), spec: anyClaim });
    return [...errors, ...claimErrors('spec.spec', structOf(spec, 'spec'))];
  },
  update: specChangeErrors,
};

const anyClaim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1' } } };

function classErrors(object: KubeObject): FieldError[] {
  const spec = specOf(object);
  const extended = optionalText(spec, 'extendedResourceName');
  const isWrong = extended !== undefined && !isExtended(extended);
  return [
    ...selectorsErrors('spec.selectors', spec),
    ...listErrors('spec.config', structsOf(spec, 'config'), requestsMax, configurationErrors),
    ...(isWrong ? [invalid('spec.extendedResourceName', extended, 'must be a valid extended resource name')] : []),
  ];
}

export const deviceClass: KindValidation = { create: classErrors, update: classErrors };
