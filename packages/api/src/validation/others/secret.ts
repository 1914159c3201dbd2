/** Secret: as ConfigMap, and what each well-known type must hold. `stringData` has become `data` before. */

import type { KubeObject } from '../../object.ts';
import { invalid, key, required, tooLong } from '../../status/field-error.ts';
import type { FieldError } from '../../status/field-error.ts';
import { configKeyReasons } from '../formats.ts';
import type { KindValidation } from '../contract.ts';
import { immutableErrors, invalidFor } from '../shared/checks.ts';
import { entry, mapOf, textOf } from '../shared/read.ts';
import { base64Length } from './base64-length.ts';
import { dataBytesMax, immutabilityErrors } from './config-map.ts';
import { goJsonProblem } from './go-json-problem.ts';
import { keyPairProblem } from './key-pair-problem.ts';

type Data = Readonly<Record<string, string>>;

const missing = (data: Data, ...names: readonly string[]): FieldError[] =>
  names.filter((name) => !Object.hasOwn(data, name)).map((name) => required(key('data', name), ''));

const jsonIn =
  (name: string) =>
  (data: Data): FieldError[] => {
    if (!Object.hasOwn(data, name)) return missing(data, name);
    const problem = goJsonProblem(Buffer.from(data[name]!, 'base64').toString());
    return problem === undefined ? [] : [invalid(key('data', name), '<secret contents redacted>', problem)];
  };

const requirements: Readonly<Record<string, (data: Data) => FieldError[]>> = {
  'kubernetes.io/dockercfg': jsonIn('.dockercfg'),
  'kubernetes.io/dockerconfigjson': jsonIn('.dockerconfigjson'),
  'kubernetes.io/basic-auth': (data) => {
    const errors = missing(data, 'username', 'password');
    return errors.length === 2 ? errors : [];
  },
  'kubernetes.io/ssh-auth': (data) => {
    const name = 'ssh-privatekey';
    return (entry(data, name) ?? '') === '' ? [required(key('data', name), '')] : [];
  },
  'kubernetes.io/tls': (data) => missing(data, 'tls.crt', 'tls.key'),
};

const accountName = 'kubernetes.io/service-account.name';

function create(object: KubeObject): FieldError[] {
  const data = mapOf(object, 'data');
  const errors: FieldError[] = [];
  let bytes = 0;
  for (const name of Object.keys(data)) {
    errors.push(...invalidFor(key('data', name), name, configKeyReasons(name)));
    bytes += base64Length(data[name]!);
  }
  if (bytes > dataBytesMax) errors.push(tooLong('data', dataBytesMax));
  const type = textOf(object, 'type');
  if (type === 'kubernetes.io/service-account-token') {
    const name = entry(object.metadata.annotations ?? {}, accountName) ?? '';
    return name === '' ? [...errors, required(key('metadata.annotations', accountName), '')] : errors;
  }
  return Object.hasOwn(requirements, type) ? [...errors, ...requirements[type]!(data)] : errors;
}

export const secret: KindValidation = {
  create,
  update: (object, old) => [
    ...immutableErrors('type', textOf(object, 'type'), textOf(old, 'type')),
    ...immutabilityErrors(object, old, ['data']),
    ...create(object),
  ],
  warnings: warningsOf,
};

function warningsOf(object: KubeObject): string[] {
  if (textOf(object, 'type') !== 'kubernetes.io/tls') return [];
  const data = mapOf(object, 'data');
  const problem = keyPairProblem(entry(data, 'tls.crt'), entry(data, 'tls.key'));
  return problem === undefined ? [] : [problem];
}
