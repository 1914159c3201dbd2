/** What `hangar up` says when it serves: a line for programs, then some for people. */

import { join, relative } from 'node:path';
import { release } from '@hangar/api';
import type { PlatformOptions } from '../options/options.ts';

export interface Greeting {
  readonly url: string;
  readonly options: Pick<PlatformOptions, 'dataDirectory' | 'kubeconfig' | 'store' | 'services'>;
  /** Of the control plane `demo`; absent: there is none. */
  readonly demoFile?: string | undefined;
}

/** The first line is for programs: exactly this, once. */
export function greeting({ url, options, demoFile }: Greeting): string {
  const { kubeconfig, store, services } = options;
  const admin = shown(kubeconfig);
  const lines = [`ready ${url}`, '', `Hangar serves the API of Kubernetes ${release} at ${url}`];
  lines.push(`The administrator's kubeconfig is ${admin}`);
  if (demoFile !== undefined) lines.push(`The kubeconfig of the control plane demo is ${shown(demoFile)}; try`);
  else lines[lines.length - 1] += '; try';
  const used = demoFile === undefined ? admin : shown(demoFile);
  lines.push('', `  kubectl --kubeconfig ${used} create configmap hello --from-literal=from=hangar`);
  lines.push(`  kubectl --kubeconfig ${used} get configmaps --all-namespaces`, '');
  if (!services.isBare)
    lines.push('Make a control plane of your own:', '', `  npx hangar create ${placed(options)}`, '');
  if (store.type === 'memory') lines.push('Nothing is kept: the store is in memory.', '');
  return [...lines, 'Ctrl-C ends it.'].join('\n');
}

/** The command line's own way to this Hangar, where it is not where it would look. */
function placed({ dataDirectory, kubeconfig }: Greeting['options']): string {
  if (kubeconfig !== join(dataDirectory, 'admin.kubeconfig')) return `NAME --kubeconfig ${shown(kubeconfig)}`;
  return relative(process.cwd(), dataDirectory) === '.data' ? 'NAME' : `NAME --data-dir ${shown(dataDirectory)}`;
}

/** Short when it is below where the command was run. Ready to be pasted into a shell. */
function shown(path: string): string {
  const short = relative(process.cwd(), path) || path;
  const text = short.startsWith('..') ? path : short;
  return /^[\w./:@+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
