/** Kubeconfigs and programs in a folder that is removed after the test. */

import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';

export interface TestFolder {
  readonly path: string;
  /** Returns the path. Objects are written as JSON, which is valid YAML. */
  write(name: string, content: string | object): Promise<string>;
  /** Creates an executable shell script. */
  program(name: string, script: string): Promise<string>;
}

export async function testFolder(context: TestContext): Promise<TestFolder> {
  const path = await mkdtemp(join(tmpdir(), 'hangar-config-'));
  context.after(() => rm(path, { recursive: true, force: true }));
  const write = async (name: string, content: string | object): Promise<string> => {
    const file = join(path, name);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
    return file;
  };
  return {
    path,
    write,
    async program(name, script) {
      const file = await write(name, `#!/bin/sh\n${script}\n`);
      await chmod(file, 0o755);
      return file;
    },
  };
}

export interface Parts {
  readonly cluster?: object;
  readonly user?: object;
  readonly context?: object;
}

/** One cluster `c`, one user `u`, one current context `x`. */
export const kubeconfig = ({ cluster, user, context }: Parts = {}): object => ({
  apiVersion: 'v1',
  kind: 'Config',
  clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:6443', ...cluster } }],
  users: [{ name: 'u', user: { ...user } }],
  contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', ...context } }],
  'current-context': 'x',
});

export const base64 = (text: string): string => Buffer.from(text).toString('base64');
