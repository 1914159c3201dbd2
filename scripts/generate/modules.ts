/**
 * Where the facts come from: the Go modules of the pinned Kubernetes release, brought by the go command. The release is
 * the one that `tools/sets/kubernetes/go.mod` pins, so that the table and the real programs of the tests agree.
 */

import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { requiredVersion } from '../../tools/pin.ts';

const run = promisify(execFile);

export interface Sources {
  /** Without the leading `v`. */
  readonly release: string;
  readonly kubernetes: string;
  readonly api: string;
  readonly apimachinery: string;
  readonly apiextensions: string;
  readonly aggregator: string;
}

export async function sources(): Promise<Sources> {
  const pins = await readFile(new URL('../../tools/sets/kubernetes/go.mod', import.meta.url), 'utf8');
  const version = requiredVersion(pins, 'k8s.io/kubernetes');
  if (version === undefined) throw new Error('tools/sets/kubernetes/go.mod does not pin k8s.io/kubernetes');
  // Libraries are released with the server: v1.36.4 goes with v0.36.4.
  const library = version.replace(/^v1\./, 'v0.');
  const [kubernetes, api, apimachinery, apiextensions, aggregator] = await Promise.all([
    moduleFolder(`k8s.io/kubernetes@${version}`),
    moduleFolder(`k8s.io/api@${library}`),
    moduleFolder(`k8s.io/apimachinery@${library}`),
    moduleFolder(`k8s.io/apiextensions-apiserver@${library}`),
    moduleFolder(`k8s.io/kube-aggregator@${library}`),
  ]);
  return { release: version.slice(1), kubernetes, api, apimachinery, apiextensions, aggregator };
}

/** The read-only folder of a module's version in the go command's cache, downloaded first if need be. */
export async function moduleFolder(module: string): Promise<string> {
  const { stdout } = await run('go', ['mod', 'download', '-json', module], { env: { ...process.env, GOFLAGS: '' } });
  const { Dir } = JSON.parse(stdout) as { Dir?: string };
  if (!Dir) throw new Error(`go mod download gave no folder for ${module}`);
  return Dir;
}
