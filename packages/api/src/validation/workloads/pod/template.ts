/** Templates of pods, in everything that makes pods. */

import { child, forbidden } from '../../../status/field-error.ts';
import type { FieldError } from '../../../status/field-error.ts';
import { isEmpty } from '../base/checks.ts';
import { checkLabels } from '../base/label-selectors.ts';
import type { PodTemplate } from '../types/pod.ts';
import { checkAnnotationNames } from './annotation-names.ts';
import { checkPodAnnotations, checkProfilesAgree } from './annotations.ts';
import { checkPodSpec } from './pod-spec.ts';
import type { PodRules } from './rules.ts';

export function checkPodTemplate(errors: FieldError[], path: string, template: PodTemplate, rules: PodRules): void {
  const { metadata, spec = {} } = template;
  const annotations = metadata?.annotations;
  const specPath = child(path, 'spec');
  checkTemplateMetadata(errors, path, template, rules);
  checkPodSpec(errors, specPath, spec, { rules });
  checkProfilesAgree(errors, specPath, { annotations, spec });
  if (!isEmpty(spec.ephemeralContainers)) {
    const reason = 'ephemeral containers not allowed in pod template';
    errors.push(forbidden(child(specPath, 'ephemeralContainers'), reason));
  }
}

/** The paths leave out `metadata`, as the server keeps it inline. */
export function checkTemplateMetadata(
  errors: FieldError[],
  path: string,
  { metadata, spec = {} }: PodTemplate,
  rules: PodRules,
): void {
  const annotationsPath = child(path, 'annotations');
  checkLabels(errors, child(path, 'labels'), metadata?.labels);
  checkAnnotationNames(errors, annotationsPath, metadata?.annotations);
  checkPodAnnotations(errors, annotationsPath, metadata?.annotations, { spec, rules });
}
