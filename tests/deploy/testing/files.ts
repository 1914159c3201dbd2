/** Reads the files of `deploy/` for tests. */

import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseYamlDocuments } from '../../../packages/api/src/yaml/parse.ts';

// Tests look into objects of every kind.
// oxlint-disable-next-line typescript/no-explicit-any
export type Data = any;

export const root = fileURLToPath(new URL('../../../', import.meta.url));

export const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };

/** The objects of YAML texts, empty documents left out. */
export const objectsOf = (text: string): Data[] =>
  parseYamlDocuments(text).filter((one) => one !== null && one !== undefined);

/** Path below the repository → objects. */
export async function objectsIn(pattern: string): Promise<Map<string, Data[]>> {
  const files = new Map<string, Data[]>();
  for (const path of globSync(pattern, { cwd: root }).sort()) {
    files.set(path, objectsOf(await readFile(join(root, path), 'utf8')));
  }
  return files;
}

export interface PodTemplate {
  /** `Deployment hangar`. */
  readonly of: string;
  readonly metadata: Data;
  readonly spec: Data;
}

/** Every pod that these objects lead to. */
export function podTemplates(objects: readonly Data[]): PodTemplate[] {
  return objects.flatMap((object) => {
    const of = `${object.kind} ${object.metadata?.name}`;
    if (object.kind === 'Pod') return [{ of, metadata: object.metadata, spec: object.spec }];
    const template = object.kind === 'CronJob' ? object.spec.jobTemplate.spec.template : object.spec?.template;
    return template?.spec?.containers ? [{ of, metadata: template.metadata, spec: template.spec }] : [];
  });
}
