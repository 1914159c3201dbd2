/** Admission policies in CEL, and their bindings. */

import type { JsonObject, KubeObject } from '../../object.ts';
import { child, duplicate, index, invalid, notSupported, required } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import type { KindValidation } from '../contract.ts';
import { byteLength, dns1035LabelReasons, dnsSubdomainReasons } from '../formats.ts';
import {
  dnsSubdomainErrors,
  oneOfErrors,
  qualifiedNameErrors,
  repeatedIn,
  requiredOneOfErrors,
} from '../shared/checks.ts';
import { conditionsErrors } from '../shared/conditions.ts';
import { equalValues } from '../shared/equal.ts';
import { isSet, optionalStruct, structOf, structsOf, textOf, textsOf } from '../shared/read.ts';
import {
  failurePolicies,
  hasResourceRules,
  matchConditionsErrors,
  matchResourcesErrors,
  mutatingOperationErrors,
  paramKindOf,
  paramRefErrors,
  reinvocationPolicies,
} from './admission-rules.ts';
import { compileExpression, problemErrors } from './expressions.ts';
import type { ExpressionScope, ExpressionUse } from './expressions.ts';
import { staticSuffixWarnings } from './static-suffix.ts';

const specOf = (object: KubeObject): JsonObject => structOf(object, 'spec');

/** Conditions that did not change are not compiled again. */
const keepsConditions = (object: KubeObject, old: KubeObject | undefined): boolean =>
  old !== undefined &&
  ['paramKind', 'matchConditions'].every((field) => equalValues(specOf(object)[field], specOf(old)[field]));

function failureErrors(spec: JsonObject): readonly FieldError[] {
  const path = 'spec.failurePolicy';
  if (!isSet(spec, 'failurePolicy')) return [required(path, '')];
  return oneOfErrors(path, textOf(spec, 'failurePolicy'), failurePolicies);
}

function paramKindErrors(spec: JsonObject): FieldError[] {
  const kind = paramKindOf(spec);
  if (!kind) return [];
  return [
    ...versionErrors('spec.paramKind.apiVersion', textOf(kind, 'apiVersion')),
    ...kindErrors(textOf(kind, 'kind')),
  ];
}

function versionErrors(path: string, text: string): FieldError[] {
  if (text === '') return [required(path, '')];
  const parts = text === '/' ? [''] : text.split('/');
  if (parts.length > 2) return [invalid(path, text, `unexpected GroupVersion string: ${text}`)];
  const [group, version] = parts.length === 1 ? ['', parts[0]!] : [parts[0]!, parts[1]!];
  const joined = (value: string, reasons: readonly string[]): FieldError[] =>
    reasons.length > 0 ? [invalid(path, value, reasons.join(','))] : [];
  return [
    ...(group === '' ? [] : joined(group, dnsSubdomainReasons(group))),
    ...(version === ''
      ? [invalid(path, text, 'version must be specified')]
      : joined(version, dns1035LabelReasons(version))),
  ];
}

function kindErrors(kind: string): FieldError[] {
  const path = 'spec.paramKind.kind';
  if (kind === '') return [required(path, '')];
  const reasons = dns1035LabelReasons(kind.toLowerCase());
  if (reasons.length === 0) return [];
  return [invalid(path, kind, `may have mixed case, but should otherwise match: ${reasons.join(',')}`)];
}

function constraintErrors(spec: JsonObject): FieldError[] {
  const constraints = optionalStruct(spec, 'matchConstraints');
  const path = 'spec.matchConstraints';
  if (!constraints) return [required(path, '')];
  return [
    ...matchResourcesErrors(path, constraints),
    ...(hasResourceRules(spec) ? [] : [required(`${path}.resourceRules`, '')]),
  ];
}

/** All that both kinds of policies begin with. */
function commonErrors(object: KubeObject, old: KubeObject | undefined, isMutating: boolean): FieldError[] {
  const spec = specOf(object);
  const hasParams = paramKindOf(spec) !== undefined;
  return [
    ...failureErrors(spec),
    ...paramKindErrors(spec),
    ...constraintErrors(spec),
    ...(isMutating ? mutatingOperationErrors('spec.matchConstraints', structOf(spec, 'matchConstraints')) : []),
    ...(keepsConditions(object, old)
      ? []
      : matchConditionsErrors('spec.matchConditions', structsOf(spec, 'matchConditions'), hasParams)),
  ];
}

const reserved = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);
const isIdentifier = (name: string): boolean => /^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name) && !reserved.has(name);

function variablesErrors(variables: readonly JsonObject[], scope: ExpressionScope): FieldError[] {
  return variables.flatMap((variable, at) => {
    const path = index('spec.variables', at);
    const [name, text] = [textOf(variable, 'name'), textOf(variable, 'expression')];
    const errors: FieldError[] = [];
    if (name.trim() === '') errors.push(required(child(path, 'name'), 'name is not specified'));
    else if (!isIdentifier(name)) errors.push(invalid(child(path, 'name'), name, 'must be a valid CEL identifier'));
    const textPath = child(path, 'expression');
    if (text.trim() === '') return [...errors, required(textPath, 'expression is not specified')];
    const result = compileExpression(text, 'variable', scope);
    scope.variables?.set(name, result.type);
    return [...errors, ...problemErrors(textPath, text, result)];
  });
}

function policyErrors(object: KubeObject, old: KubeObject | undefined): FieldError[] {
  const spec = specOf(object);
  const hasParams = paramKindOf(spec) !== undefined;
  const variables = structsOf(spec, 'variables');
  const scope: ExpressionScope = {
    hasParams,
    hasAuthorizer: true,
    ...(variables.length > 0 ? { variables: new Map() } : {}),
  };
  const [validations, annotations] = [structsOf(spec, 'validations'), structsOf(spec, 'auditAnnotations')];
  const errors = [...commonErrors(object, old, false), ...variablesErrors(variables, scope)];
  if (validations.length === 0 && annotations.length === 0) {
    const rule = 'validations or auditAnnotations must contain at least one item';
    return [...errors, required('spec.validations', rule), required('spec.auditAnnotations', rule)];
  }
  return [
    ...errors,
    ...validations.flatMap((validation, at) => validationErrors(index('spec.validations', at), validation, scope)),
    ...auditErrors(object, annotations, scope),
  ];
}

const reasons = ['Forbidden', 'Invalid', 'RequestEntityTooLarge'];

function validationErrors(path: string, validation: JsonObject, scope: ExpressionScope): FieldError[] {
  const [text, message] = [textOf(validation, 'expression'), textOf(validation, 'message')];
  const messageText = textOf(validation, 'messageExpression');
  const [textPath, messagePath] = [child(path, 'expression'), child(path, 'message')];
  const errors =
    text.trim() === ''
      ? [required(textPath, 'expression is not specified')]
      : problemErrors(textPath, text, compileExpression(text, 'condition', scope));
  if (messageText !== '') {
    const at = child(path, 'messageExpression');
    if (messageText.trim() === '') errors.push(invalid(at, messageText, 'must be non-empty if specified'));
    else {
      const inner = { ...scope, hasAuthorizer: false };
      errors.push(...problemErrors(at, messageText, compileExpression(messageText, 'message', inner)));
    }
  }
  if (message !== '' && message.trim() === '') {
    errors.push(invalid(messagePath, message, 'must be non-empty if specified'));
  } else if (/[\n\r]/.test(message.trim())) {
    errors.push(invalid(messagePath, message, 'must not contain line breaks'));
  }
  if (isSet(validation, 'reason')) {
    errors.push(...oneOfErrors(child(path, 'reason'), textOf(validation, 'reason'), reasons));
  }
  return errors;
}

const annotationsMax = 20;
const annotationBytesMax = 5 * 1024;

function auditErrors(object: KubeObject, annotations: readonly JsonObject[], scope: ExpressionScope): FieldError[] {
  const path = 'spec.auditAnnotations';
  const keys = new Set<string>();
  const errors: FieldError[] = [];
  if (annotations.length > annotationsMax) {
    const shown = annotations.map((one) => ({
      Key: textOf(one, 'key'),
      ValueExpression: textOf(one, 'valueExpression'),
    }));
    errors.push(invalid(path, shown, `must not have more than ${annotationsMax} auditAnnotations`));
  }
  annotations.forEach((annotation, at) => {
    const key = textOf(annotation, 'key');
    const keyPath = child(index(path, at), 'key');
    errors.push(...annotationErrors(index(path, at), annotation, object.metadata.name ?? '', scope));
    if (keys.has(key)) errors.push(duplicate(keyPath, key));
    keys.add(key);
  });
  return errors;
}

function annotationErrors(path: string, annotation: JsonObject, policy: string, scope: ExpressionScope): FieldError[] {
  const [key, text] = [textOf(annotation, 'key'), textOf(annotation, 'valueExpression')];
  const [keyPath, textPath] = [child(path, 'key'), child(path, 'valueExpression')];
  const errors =
    policy === ''
      ? [invalid(keyPath, key, 'requires metadata.name be non-empty')]
      : qualifiedNameErrors(keyPath, `${policy}/${key}`);
  const trimmed = text.trim();
  if (trimmed === '') return [...errors, required(textPath, 'valueExpression is not specified')];
  if (byteLength(trimmed) > annotationBytesMax) {
    return [...errors, required(textPath, `must not exceed ${annotationBytesMax} bytes in length`)];
  }
  return [...errors, ...problemErrors(textPath, text, compileExpression(trimmed, 'auditAnnotation', scope))];
}

function typeCheckingErrors(object: KubeObject): FieldError[] {
  const status = structOf(object, 'status');
  const path = 'status.typeChecking.expressionWarnings';
  const warnings = structsOf(structOf(status, 'typeChecking'), 'expressionWarnings').flatMap((warning, at) => {
    const missing = ['warning', 'fieldRef'].filter((field) => textOf(warning, field).trim() === '');
    return missing.map((field) => required(child(index(path, at), field), ''));
  });
  return [...warnings, ...conditionsErrors('status.conditions', structsOf(status, 'conditions'))];
}

export const validatingPolicy: KindValidation = {
  create: (object) => policyErrors(object, undefined),
  update: (object, old, subresource) =>
    subresource === 'status' ? typeCheckingErrors(object) : policyErrors(object, old),
  warnings: staticSuffixWarnings,
};

function mutatingErrors(object: KubeObject, old: KubeObject | undefined): FieldError[] {
  const spec = specOf(object);
  const scope = { hasParams: paramKindOf(spec) !== undefined, hasAuthorizer: true, variables: new Map() };
  const mutations = structsOf(spec, 'mutations');
  return [
    ...commonErrors(object, old, true),
    ...variablesErrors(structsOf(spec, 'variables'), scope),
    ...(mutations.length === 0 ? [required('spec.mutations', 'mutations must contain at least one item')] : []),
    ...mutations.flatMap((mutation, at) => mutationErrors(index('spec.mutations', at), mutation, scope)),
    ...requiredOneOfErrors('spec.reinvocationPolicy', textOf(spec, 'reinvocationPolicy'), reinvocationPolicies),
  ];
}

/** By type of patch: the field that holds it, and how its expression is used. */
const patches: Readonly<Record<string, readonly [field: string, use: ExpressionUse]>> = {
  JSONPatch: ['jsonPatch', 'jsonPatch'],
  ApplyConfiguration: ['applyConfiguration', 'applyConfiguration'],
};

function mutationErrors(path: string, mutation: JsonObject, scope: ExpressionScope): FieldError[] {
  const type = textOf(mutation, 'patchType');
  const typePath = child(path, 'patchType');
  if (type === '') return [required(typePath, '')];
  if (!Object.hasOwn(patches, type)) return [notSupported(typePath, type, ['ApplyConfiguration', 'JSONPatch'])];
  const [field, use] = patches[type]!;
  const patch = optionalStruct(mutation, field);
  const text = textOf(patch, 'expression').trim();
  const at = child(path, field);
  const errors: FieldError[] = [];
  if (!patch) errors.push(required(at, `must be specified when patchType is ${type}`));
  else if (text === '') errors.push(required(child(at, 'expression'), ''));
  else errors.push(...problemErrors(child(at, 'expression'), text, compileExpression(text, use, scope)));
  const other = field === 'jsonPatch' ? 'applyConfiguration' : 'jsonPatch';
  if (isSet(mutation, other)) {
    errors.push(invalid(child(path, other), `{${other}}`, `must not be specified when patchType is ${type}`));
  }
  return errors;
}

export const mutatingPolicy: KindValidation = {
  create: (object) => mutatingErrors(object, undefined),
  update: mutatingErrors,
  warnings: staticSuffixWarnings,
};

function bindingErrors(object: KubeObject): FieldError[] {
  const spec = specOf(object);
  const policy = textOf(spec, 'policyName');
  return [
    ...(policy === '' ? [required('spec.policyName', '')] : dnsSubdomainErrors('spec.policyName', policy)),
    ...paramRefErrors('spec.paramRef', spec),
    ...matchResourcesErrors('spec.matchResources', optionalStruct(spec, 'matchResources')),
  ];
}

function actionErrors(spec: JsonObject): FieldError[] {
  const path = 'spec.validationActions';
  const actions = textsOf(spec, 'validationActions');
  const repeated = repeatedIn(actions);
  const errors = actions.flatMap((action, at) => [
    ...oneOfErrors(index(path, at), action, ['Audit', 'Deny', 'Warn']),
    ...(repeated.has(at) ? [duplicate(index(path, at), action)] : []),
  ]);
  if (actions.includes('Deny') && actions.includes('Warn')) {
    const rule =
      'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)';
    errors.push(invalid(path, actions, rule));
  }
  return actions.length > 0 ? errors : [required(path, 'at least one validation action is required')];
}

const validatingBindingErrors = (object: KubeObject): FieldError[] => [
  ...bindingErrors(object),
  ...actionErrors(specOf(object)),
];

const mutatingBindingErrors = (object: KubeObject): FieldError[] => [
  ...bindingErrors(object),
  ...mutatingOperationErrors('spec.matchResources', structOf(specOf(object), 'matchResources')),
];

export const validatingPolicyBinding: KindValidation = {
  create: validatingBindingErrors,
  update: validatingBindingErrors,
  warnings: staticSuffixWarnings,
};

export const mutatingPolicyBinding: KindValidation = {
  create: mutatingBindingErrors,
  update: mutatingBindingErrors,
  warnings: staticSuffixWarnings,
};
