/** ValidatingWebhookConfiguration and MutatingWebhookConfiguration. */

import type { JsonObject, KubeObject } from '../../object.ts';
import { child, duplicate, index, invalid, notSupported, required } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import type { KindValidation } from '../contract.ts';
import { dns1035LabelReasons, dnsSubdomainReasons } from '../formats.ts';
import { invalidFor, oneOfErrors, repeatedIn } from '../shared/checks.ts';
import { equalValues } from '../shared/equal.ts';
import { labelSelectorErrors } from '../shared/labels.ts';
import { isSet, numberOf, optionalStruct, structOf, structsOf, textOf, textsOf } from '../shared/read.ts';
import {
  failurePolicies,
  matchConditionsErrors,
  matchPolicies,
  reinvocationPolicies,
  ruleErrors,
} from './admission-rules.ts';
import { staticSuffixWarnings } from './static-suffix.ts';
import { clientConfigErrors } from './webhook-client.ts';

const harmless = ['None', 'NoneOnDryRun'];
const sideEffects = ['None', 'NoneOnDryRun', 'Some', 'Unknown'];
const reviewVersions = ['v1', 'v1beta1'];

/** Stored values stay valid. */
interface Tolerance {
  readonly matchConditions: boolean;
  readonly sideEffects: boolean;
  readonly reviewVersions: boolean;
  readonly repeatedNames: boolean;
  readonly selectorValues: boolean;
}

const strict: Tolerance = {
  matchConditions: false,
  sideEffects: false,
  reviewVersions: false,
  repeatedNames: false,
  selectorValues: false,
};

const webhooksOf = (object: KubeObject): readonly JsonObject[] => structsOf(object, 'webhooks');

function configurationErrors(object: KubeObject, tolerance: Tolerance, isMutating: boolean): FieldError[] {
  const names = new Set<string>();
  return webhooksOf(object).flatMap((webhook, at) => {
    const path = index('webhooks', at);
    const name = textOf(webhook, 'name');
    const isRepeated = name !== '' && names.has(name) && !tolerance.repeatedNames;
    names.add(name);
    return [
      ...webhookErrors(path, webhook, tolerance, isMutating),
      ...reviewVersionErrors(child(path, 'admissionReviewVersions'), webhook, tolerance),
      ...(isRepeated ? [duplicate(child(path, 'name'), name)] : []),
    ];
  });
}

/** At least three labels: `hook.example.com`. */
function nameErrors(path: string, name: string): FieldError[] {
  if (name === '') return [required(path, '')];
  const reasons = dnsSubdomainReasons(name);
  if (reasons.length > 0) return [invalid(path, name, reasons.join(','))];
  if (name.split('.').length >= 3) return [];
  return [invalid(path, name, 'should be a domain with at least three segments separated by dots')];
}

function webhookErrors(path: string, webhook: JsonObject, tolerance: Tolerance, isMutating: boolean): FieldError[] {
  const seconds = numberOf(webhook, 'timeoutSeconds');
  const optional = (field: string, supported: readonly string[]): readonly FieldError[] =>
    isSet(webhook, field) ? oneOfErrors(child(path, field), textOf(webhook, field), supported) : [];
  const isSlow = isSet(webhook, 'timeoutSeconds') && (seconds > 30 || seconds < 1);
  return [
    ...nameErrors(child(path, 'name'), textOf(webhook, 'name')),
    ...structsOf(webhook, 'rules').flatMap((rule, at) => ruleErrors(index(child(path, 'rules'), at), rule)),
    ...optional('failurePolicy', failurePolicies),
    ...optional('matchPolicy', matchPolicies),
    ...sideEffectErrors(child(path, 'sideEffects'), webhook, tolerance),
    ...(isSlow
      ? [invalid(child(path, 'timeoutSeconds'), seconds, 'the timeout value must be between 1 and 30 seconds')]
      : []),
    ...['namespaceSelector', 'objectSelector'].flatMap((field) =>
      labelSelectorErrors(child(path, field), optionalStruct(webhook, field), {
        invalidValues: tolerance.selectorValues,
      }),
    ),
    ...(isMutating ? optional('reinvocationPolicy', reinvocationPolicies) : []),
    ...clientConfigErrors(child(path, 'clientConfig'), structOf(webhook, 'clientConfig')),
    ...(tolerance.matchConditions
      ? []
      : matchConditionsErrors(child(path, 'matchConditions'), structsOf(webhook, 'matchConditions'), false)),
  ];
}

function sideEffectErrors(path: string, webhook: JsonObject, tolerance: Tolerance): FieldError[] {
  const allowed = tolerance.sideEffects ? sideEffects : harmless;
  if (!isSet(webhook, 'sideEffects')) return [required(path, `must specify one of ${allowed.join(', ')}`)];
  const value = textOf(webhook, 'sideEffects');
  return allowed.includes(value) ? [] : [notSupported(path, value, allowed)];
}

function reviewVersionErrors(path: string, webhook: JsonObject, tolerance: Tolerance): FieldError[] {
  const versions = textsOf(webhook, 'admissionReviewVersions');
  const list = reviewVersions.join(', ');
  if (versions.length === 0) return [required(path, `must specify one of ${list}`)];
  const repeated = repeatedIn(versions);
  const errors = versions.flatMap((version, at) =>
    repeated.has(at)
      ? [invalid(index(path, at), version, 'duplicate version')]
      : invalidFor(index(path, at), version, dns1035LabelReasons(version)),
  );
  if (tolerance.reviewVersions || versions.some((version) => reviewVersions.includes(version))) return errors;
  return [...errors, invalid(path, versions, `must include at least one of ${list}`)];
}

function toleranceOf(object: KubeObject, old: KubeObject): Tolerance {
  const [webhooks, before] = [webhooksOf(object), webhooksOf(old)];
  const names = before.map((webhook) => textOf(webhook, 'name'));
  const versionsOf = (webhook: JsonObject): readonly string[] => textsOf(webhook, 'admissionReviewVersions');
  return {
    matchConditions:
      webhooks.length === before.length &&
      before.every((webhook, at) => equalValues(webhook['matchConditions'], webhooks[at]!['matchConditions'])),
    sideEffects: before.some((webhook) => !harmless.includes(textOf(webhook, 'sideEffects'))),
    reviewVersions: before.some(
      (webhook) =>
        versionsOf(webhook).length > 0 && !versionsOf(webhook).some((version) => reviewVersions.includes(version)),
    ),
    repeatedNames: new Set(names).size < names.length,
    selectorValues: before.some((webhook) =>
      ['namespaceSelector', 'objectSelector'].some(
        (field) => labelSelectorErrors('', optionalStruct(webhook, field)).length > 0,
      ),
    ),
  };
}

const configuration = (isMutating: boolean): KindValidation => ({
  create: (object) => configurationErrors(object, strict, isMutating),
  update: (object, old) => configurationErrors(object, toleranceOf(object, old), isMutating),
  warnings: staticSuffixWarnings,
});

export const validatingWebhooks: KindValidation = configuration(false);
export const mutatingWebhooks: KindValidation = configuration(true);
