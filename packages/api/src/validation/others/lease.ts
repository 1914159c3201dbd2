/** Lease, and LeaseCandidate for coordinated leader election. */

import type { KubeObject } from '../../object.ts';
import { forbidden, invalid, notSupported, required } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import type { KindValidation } from '../contract.ts';
import { immutableErrors, nonNegativeErrors, qualifiedNameErrors, requiredErrors } from '../shared/checks.ts';
import { isSet, optionalNumber, structOf, textOf } from '../shared/read.ts';
import { compareVersions, parseVersion } from './semantic-version.ts';

const oldest = 'OldestEmulationVersion';

function leaseErrors(object: KubeObject): FieldError[] {
  const spec = structOf(object, 'spec');
  const seconds = optionalNumber(spec, 'leaseDurationSeconds');
  const transitions = optionalNumber(spec, 'leaseTransitions');
  const needsStrategy = textOf(spec, 'preferredHolder') !== '' && textOf(spec, 'strategy') === '';
  return [
    ...(seconds !== undefined && seconds <= 0
      ? [invalid('spec.leaseDurationSeconds', seconds, 'must be greater than 0')]
      : []),
    ...(transitions === undefined ? [] : nonNegativeErrors('spec.leaseTransitions', transitions)),
    ...(isSet(spec, 'strategy') ? strategyErrors(textOf(spec, 'strategy')) : []),
    ...(needsStrategy ? [forbidden('spec.preferredHolder', 'may only be specified if `strategy` is defined')] : []),
  ];
}

/** Kubernetes names the field twice. */
function strategyErrors(strategy: string): FieldError[] {
  const path = 'spec.strategy.strategy';
  if (strategy.includes('/')) return qualifiedNameErrors(path, strategy);
  return strategy === oldest ? [] : [notSupported(path, strategy, [oldest])];
}

export const lease: KindValidation = { create: leaseErrors, update: leaseErrors };

function candidateErrors(object: KubeObject): FieldError[] {
  const spec = structOf(object, 'spec');
  const [emulation, binary] = [textOf(spec, 'emulationVersion'), textOf(spec, 'binaryVersion')];
  const [emulated, built] = [parseVersion(emulation), parseVersion(binary)];
  const strategy = textOf(spec, 'strategy');
  const form = 'must be a valid semantic version';
  const errors = [...requiredErrors('spec.leaseName', textOf(spec, 'leaseName'))];
  if (emulation !== '' && !emulated) errors.push(invalid('spec.emulationVersion', emulation, form));
  errors.push(...requiredErrors('spec.binaryVersion', binary));
  if (binary !== '' && !built) errors.push(invalid('spec.binaryVersion', binary, form));
  if (binary !== '' && emulation !== '' && compareVersions(built, emulated) < 0) {
    errors.push(invalid('spec.binaryVersion', binary, 'must be greater than or equal to `emulationVersion`'));
  }
  if (strategy === '') return [...errors, required('spec.strategy', '')];
  if (strategy === oldest && compareVersions(emulated, undefined) === 0) {
    errors.push(required('spec.emulationVersion', "must be specified when `strategy` is 'OldestEmulationVersion'"));
  }
  return [...errors, ...strategyErrors(strategy)];
}

const leaseName = (object: KubeObject): string => textOf(structOf(object, 'spec'), 'leaseName');

export const leaseCandidate: KindValidation = {
  create: candidateErrors,
  update: (object, old) => [
    ...candidateErrors(object),
    ...immutableErrors('spec.leaseName', leaseName(object), leaseName(old)),
  ],
};
