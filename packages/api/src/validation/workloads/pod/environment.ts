/** Environment variables of containers and where their values come from. */

import { child, index, invalid, required } from '../../../status/field-error.ts';
import type { FieldError } from '../../../status/field-error.ts';
import { configKeyReasons, nameIsSubdomain, relaxedEnvironmentNameReasons } from '../../formats.ts';
import { checkLabelName, checkReasons, isSet } from '../base/checks.ts';
import { checkNoBacksteps } from '../base/paths.ts';
import type { Container, EnvFromSource, EnvVar, EnvVarSource, KeySelector } from '../types/pod.ts';
import { checkFieldSelector, checkResourceFieldSelector, environmentFields } from './downward-api.ts';

export function checkEnvironment(errors: FieldError[], path: string, { env, envFrom }: Container): void {
  for (const [i, variable] of (env ?? []).entries()) checkVariable(errors, index(child(path, 'env'), i), variable);
  for (const [i, source] of (envFrom ?? []).entries()) checkSource(errors, child(path, 'envFrom'), i, source);
}

function checkVariable(errors: FieldError[], path: string, { name = '', value = '', valueFrom }: EnvVar): void {
  if (name === '') errors.push(required(child(path, 'name'), ''));
  else checkReasons(errors, child(path, 'name'), name, relaxedEnvironmentNameReasons(name));
  if (valueFrom) checkValueFrom(errors, child(path, 'valueFrom'), valueFrom, value !== '');
}

function checkValueFrom(errors: FieldError[], path: string, source: EnvVarSource, hasValue: boolean): void {
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef } = source;
  if (fieldRef) checkFieldSelector(errors, child(path, 'fieldRef'), fieldRef, environmentFields);
  if (resourceFieldRef) checkResourceFieldSelector(errors, child(path, 'resourceFieldRef'), resourceFieldRef, false);
  if (configMapKeyRef) checkKeySelector(errors, child(path, 'configMapKeyRef'), configMapKeyRef);
  if (secretKeyRef) checkKeySelector(errors, child(path, 'secretKeyRef'), secretKeyRef);
  if (fileKeyRef) checkFileKey(errors, child(path, 'fileKeyRef'), fileKeyRef);
  const count = [fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef].filter(isSet).length;
  const one = 'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`';
  if (count === 0) errors.push(invalid(path, '', one));
  else if (hasValue) errors.push(invalid(path, '', 'may not be specified when `value` is not empty'));
  else if (count > 1) errors.push(invalid(path, '', 'may not have more than one field specified at a time'));
}

function checkKeySelector(errors: FieldError[], path: string, { name = '', key = '' }: KeySelector): void {
  checkReasons(errors, child(path, 'name'), name, nameIsSubdomain(name, false));
  if (key === '') errors.push(required(child(path, 'key'), ''));
  else checkReasons(errors, child(path, 'key'), key, configKeyReasons(key));
}

function checkFileKey(
  errors: FieldError[],
  path: string,
  { key = '', volumeName = '', path: file = '' }: NonNullable<EnvVarSource['fileKeyRef']>,
): void {
  if (key === '') errors.push(required(child(path, 'key'), ''));
  else checkReasons(errors, child(path, 'key'), key, relaxedEnvironmentNameReasons(key));
  checkLabelName(errors, child(path, 'volumeName'), volumeName);
  if (file === '') errors.push(required(child(path, 'path'), ''));
  else checkNoBacksteps(errors, child(path, 'path'), file);
}

/** The number of sources is reported for the list as a whole. */
function checkSource(errors: FieldError[], path: string, i: number, source: EnvFromSource): void {
  const at = index(path, i);
  const { prefix = '', configMapRef, secretRef } = source;
  if (prefix !== '') checkReasons(errors, child(at, 'prefix'), prefix, relaxedEnvironmentNameReasons(prefix));
  if (configMapRef) checkName(errors, child(at, 'configMapRef'), configMapRef.name);
  if (secretRef) checkName(errors, child(at, 'secretRef'), secretRef.name);
  if (!configMapRef && !secretRef) {
    errors.push(invalid(path, '', 'must specify one of: `configMapRef` or `secretRef`'));
  } else if (configMapRef && secretRef) {
    errors.push(invalid(path, '', 'may not have more than one field specified at a time'));
  }
}

/** A name may end in a dash here: the server checks it as if more followed. */
function checkName(errors: FieldError[], path: string, name = ''): void {
  if (name === '') errors.push(required(child(path, 'name'), ''));
  else checkReasons(errors, child(path, 'name'), name, nameIsSubdomain(name, true));
}
