/** Objects as scripts read them: `-o json|yaml|name`. */

import { dumpYaml } from '@hangar/api/yaml';
import type { JsonObject } from '@hangar/api/json';
import type { ApiObject } from '@hangar/client';
import type { OptionSpec } from '../command.ts';
import { plain, plainJson, plainYaml, unsafeInYaml } from './plain-text.ts';

export type Format = 'json' | 'yaml' | 'name' | 'wide';
export const formats: readonly Format[] = ['json', 'yaml', 'name', 'wide'];

export const outputOption: OptionSpec = {
  name: 'output',
  short: 'o',
  value: 'FORMAT',
  meaning: 'json, yaml, name or wide (default: a table)',
  oneOf: formats,
  completes: formats,
};

/** Of commands that print objects. */
export const managedFieldsOption: OptionSpec = {
  name: 'show-managed-fields',
  meaning: 'keep metadata.managedFields in json and yaml',
};

export interface PrintOptions {
  /** Print a List, also of one object or none. */
  readonly isList: boolean;
  readonly hasManagedFields?: boolean;
}

/** Several are a List, as kubectl has it. */
export function printed(
  format: Exclude<Format, 'wide'>,
  objects: readonly ApiObject[],
  { isList, hasManagedFields = false }: PrintOptions,
): string {
  if (format === 'name') return objects.map((one) => `${nameOf(one)}\n`).join('');
  const items = hasManagedFields ? objects : objects.map(withoutManagedFields);
  const value = isList ? { apiVersion: 'v1', kind: 'List', metadata: { resourceVersion: '' }, items } : items[0]!;
  return printedValue(format, value as unknown as JsonObject);
}

function withoutManagedFields(object: ApiObject): ApiObject {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

export const printedValue = (format: 'json' | 'yaml', value: JsonObject): string =>
  format === 'json'
    ? plainJson(`${JSON.stringify(value, undefined, 4)}\n`)
    : plainYaml(dumpYaml(value, { doubleQuoted: unsafeInYaml }));

/** `controlplane.controlplane.kplane.dev/demo`. */
export const nameOf = ({ kind, apiVersion, metadata }: ApiObject): string => {
  const group = apiVersion.includes('/') ? `.${apiVersion.split('/')[0]}` : '';
  return plain(`${kind.toLowerCase()}${group}/${metadata.name}`);
};
