/** StatefulSets. */

import type { KubeObject } from '../../../object.ts';
import { child, forbidden, index, invalid, notSupported, required } from '../../../status/field-error.ts';
import type { FieldError } from '../../../status/field-error.ts';
import type { KindValidation } from '../../contract.ts';
import { checkDnsLabel, checkNotNegative, isEmpty, isSet } from '../base/checks.ts';
import type { List } from '../base/checks.ts';
import { goLabelSelector } from '../base/go-values.ts';
import { checkAtMost100Percent, checkIntOrPercent, intOrPercentValue } from '../base/int-or-percent.ts';
import type { IntOrString } from '../base/int-or-percent.ts';
import { checkLabelSelector, isEmptySelector, selects } from '../base/label-selectors.ts';
import type { LabelSelector } from '../base/label-selectors.ts';
import { changedFields } from '../../../fields/semantic-equality.ts';
import { checkClaimSpec } from '../pod/claim-spec.ts';
import { podRules } from '../pod/rules.ts';
import type { PodRules } from '../pod/rules.ts';
import { checkPodTemplate, checkTemplateMetadata } from '../pod/template.ts';
import { claimWarnings, templateWarnings } from '../pod/warnings.ts';
import { serverForm } from '../server-form/render.ts';
import type { PodTemplate } from '../types/pod.ts';
import type { PersistentVolumeClaim, Volume } from '../types/volume.ts';
import { checkCollisions, checkCounts, checkParts } from './counts.ts';
import type { Counts } from './counts.ts';
import { checkRunsForever, refuseUnmatched } from './template.ts';

interface UpdateStrategy {
  readonly type?: string;
  readonly rollingUpdate?: { readonly partition?: number; readonly maxUnavailable?: IntOrString };
}

interface StatefulSetSpec {
  readonly replicas?: number;
  readonly selector?: LabelSelector;
  readonly template?: PodTemplate;
  readonly volumeClaimTemplates?: List<PersistentVolumeClaim>;
  readonly serviceName?: string;
  readonly podManagementPolicy?: string;
  readonly updateStrategy?: UpdateStrategy;
  readonly revisionHistoryLimit?: number;
  readonly minReadySeconds?: number;
  readonly persistentVolumeClaimRetentionPolicy?: { readonly whenDeleted?: string; readonly whenScaled?: string };
  readonly ordinals?: { readonly start?: number };
}

/** Values stored before they were validated, and that are immutable, are not checked again. */
interface SetRules {
  readonly pod: PodRules;
  readonly isStored?: boolean;
  readonly skipsTemplate?: boolean;
}

const specOf = (object: KubeObject): StatefulSetSpec => (object['spec'] ?? {}) as StatefulSetSpec;

function checkSpec(errors: FieldError[], spec: StatefulSetSpec, rules: SetRules): void {
  const { podManagementPolicy = '', persistentVolumeClaimRetentionPolicy: retention, selector } = spec;
  if (podManagementPolicy === '') errors.push(required('spec.podManagementPolicy', ''));
  else if (podManagementPolicy !== 'OrderedReady' && podManagementPolicy !== 'Parallel') {
    const reason = "must be 'OrderedReady' or 'Parallel'";
    errors.push(invalid('spec.podManagementPolicy', podManagementPolicy, reason));
  }
  checkStrategy(errors, 'spec.updateStrategy', spec.updateStrategy ?? {});
  for (const name of retention ? (['whenDeleted', 'whenScaled'] as const) : []) {
    const value = retention![name] ?? '';
    if (value === 'Retain' || value === 'Delete') continue;
    errors.push(notSupported(`spec.persistentVolumeClaimRetentionPolicy.${name}`, value, ['Retain', 'Delete']));
  }
  for (const [i, claim] of (rules.isStored ? [] : (spec.volumeClaimTemplates ?? [])).entries()) {
    checkClaimSpec(errors, child(index('spec.volumeClaimTemplates', i), 'spec'), claim.spec ?? {});
  }
  checkNotNegative(errors, 'spec.replicas', spec.replicas);
  checkNotNegative(errors, 'spec.minReadySeconds', spec.minReadySeconds);
  checkNotNegative(errors, 'spec.ordinals.start', spec.ordinals?.start);
  if (!rules.isStored && spec.serviceName) checkDnsLabel(errors, 'spec.serviceName', spec.serviceName);
  if (!selector) errors.push(required('spec.selector', ''));
  else {
    checkLabelSelector(errors, 'spec.selector', selector);
    if (isEmptySelector(selector)) {
      errors.push(invalid('spec.selector', goLabelSelector(selector), 'empty selector is invalid for statefulset'));
    }
  }
  checkTemplate(errors, spec, rules);
  checkRunsForever(errors, 'spec.template', spec.template ?? {}, 'StatefulSet');
}

function checkStrategy(errors: FieldError[], path: string, strategy: UpdateStrategy): void {
  const { type = '', rollingUpdate } = strategy;
  const at = child(path, 'rollingUpdate');
  if (type === '') errors.push(required(path, ''));
  else if (type === 'OnDelete') {
    if (!rollingUpdate) return;
    const shown = serverForm('RollingUpdateStatefulSetStrategy', rollingUpdate);
    errors.push(invalid(at, shown, "only allowed for updateStrategy 'RollingUpdate'"));
  } else if (type !== 'RollingUpdate') {
    const shown = serverForm('StatefulSetUpdateStrategy', strategy);
    errors.push(invalid(path, shown, "must be 'RollingUpdate' or 'OnDelete'"));
  } else if (rollingUpdate) {
    checkNotNegative(errors, child(at, 'partition'), rollingUpdate.partition);
    const { maxUnavailable } = rollingUpdate;
    if (!isSet(maxUnavailable)) return;
    const most = child(at, 'maxUnavailable');
    checkIntOrPercent(errors, most, maxUnavailable);
    if (intOrPercentValue(maxUnavailable) === 0) errors.push(invalid(most, maxUnavailable, 'cannot be 0'));
    checkAtMost100Percent(errors, most, maxUnavailable);
  }
}

function checkTemplate(errors: FieldError[], spec: StatefulSetSpec, rules: SetRules): void {
  const path = 'spec.template';
  const { selector, template = {} } = spec;
  const isMatch = selects(selector, template.metadata?.labels);
  if (isMatch === undefined) {
    errors.push(invalid('spec.selector', goLabelSelector(selector), ''));
    return;
  }
  if (!isMatch) refuseUnmatched(errors, path, template);
  const made = asMade(spec);
  if (!rules.skipsTemplate) checkPodTemplate(errors, path, made, rules.pod);
  checkTemplateMetadata(errors, path, made, rules.pod);
}

/** The set names its pods itself, and mounts its claims under the names of their templates. */
function asMade({ template = {}, volumeClaimTemplates }: StatefulSetSpec): PodTemplate {
  const { subdomain: _, hostname: __, ...spec } = template.spec ?? {};
  if (isEmpty(volumeClaimTemplates)) return { ...template, spec };
  const claims = new Map<string, Volume>();
  for (const { metadata } of volumeClaimTemplates ?? []) {
    const name = metadata?.name ?? '';
    claims.set(name, { name, persistentVolumeClaim: { claimName: name } });
  }
  const others = (spec.volumes ?? []).filter(({ name = '' }) => !claims.has(name));
  return { ...template, spec: { ...spec, volumes: [...claims.values(), ...others] } };
}

const updatable = new Set([
  'replicas',
  'template',
  'updateStrategy',
  'minReadySeconds',
  'ordinals',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
]);

function checkUpdate(errors: FieldError[], spec: StatefulSetSpec, old: StatefulSetSpec): void {
  const rules: SetRules = { pod: podRules(false, old.template), isStored: true };
  const problems: FieldError[] = [];
  checkSpec(problems, old, rules);
  checkSpec(errors, spec, { ...rules, skipsTemplate: problems.length > 0 });
  if (changedFields('apps/v1.StatefulSetSpec', spec, old).every((name) => updatable.has(name))) return;
  const reason =
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
  errors.push(forbidden('spec', reason));
}

function checkStatus(errors: FieldError[], status: Counts, old: Counts): void {
  checkCounts(errors, 'status', status, [
    'replicas',
    'readyReplicas',
    'currentReplicas',
    'updatedReplicas',
    'availableReplicas',
    'observedGeneration',
    'collisionCount',
  ]);
  checkParts(errors, 'status', status, {
    parts: ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'],
    readyName: 'status.readyReplicas',
  });
  checkCollisions(errors, 'status', status, old);
}

export const statefulSet: KindValidation = {
  create(object) {
    const errors: FieldError[] = [];
    checkSpec(errors, specOf(object), { pod: podRules(false) });
    return errors;
  },
  update(object, old, subresource) {
    const errors: FieldError[] = [];
    if (subresource !== 'status') checkUpdate(errors, specOf(object), specOf(old));
    else checkStatus(errors, (object['status'] ?? {}) as Counts, (old['status'] ?? {}) as Counts);
    return errors;
  },
  warnings(object, old) {
    const { template = {}, volumeClaimTemplates, revisionHistoryLimit } = specOf(object);
    const isChanged = !old || object.metadata.generation !== old.metadata.generation;
    return [
      ...(isChanged ? templateWarnings('spec.template', template) : []),
      ...(volumeClaimTemplates ?? []).flatMap(({ spec = {} }, i) => {
        const at = index('spec.volumeClaimTemplates', i);
        return claimWarnings(old ? child(at, 'Spec') : at, spec);
      }),
      ...((revisionHistoryLimit ?? 0) < 0
        ? ['spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended']
        : []),
    ];
  },
};
