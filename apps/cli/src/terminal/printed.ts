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

/** Several are a List, as kubectl has it; `isList` says so for one or none. */
export function printed(format: Exclude<Format, 'wide'>, objects: readonly ApiObject[], isList: boolean): string {
  if (format === 'name') return objects.map((one) => `${nameOf(one)}\n`).join('');
  const value = isList
    ? { apiVersion: 'v1', kind: 'List', metadata: { resourceVersion: '' }, items: objects }
    : objects[0]!;
  return printedValue(format, value as unknown as JsonObject);
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
