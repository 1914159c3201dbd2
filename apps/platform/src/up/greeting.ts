/** The output of `hangar up` when it serves: a line for programs, then some for users. */

import { join, relative } from 'node:path';
import { release } from '@hangar/api';
import { shellWord } from '@hangar/core/command-line';
import type { PlatformOptions } from '../options/options.ts';

export interface Greeting {
  readonly url: string;
  /** The command that starts this program: `npx hangar`. */
  readonly program: string;
  readonly options: Pick<PlatformOptions, 'dataDirectory' | 'kubeconfig' | 'store' | 'services'>;
  /** Of the control plane `demo`; absent: there is none. */
  readonly demoFile?: string | undefined;
  /** HostedControlPlanes are served. */
  readonly hasHosted?: boolean;
  /** The server runs in the background. */
  readonly isBackground?: boolean;
}

/** The first line is for programs: exactly this, once. */
export function greeting({ url, program, options, demoFile, hasHosted, isBackground }: Greeting): string {
  const { kubeconfig, store, services } = options;
  const admin = shown(kubeconfig);
  const lines = [`ready ${url}`, '', `Hangar serves the API of Kubernetes ${release} at ${url}`];
  lines.push(`The administrator's kubeconfig is ${admin}`);
  if (demoFile !== undefined) lines.push(`The kubeconfig of the control plane demo is ${shown(demoFile)}; try`);
  else lines[lines.length - 1] += '; try';
  const used = demoFile === undefined ? admin : shown(demoFile);
  lines.push('', `  kubectl --kubeconfig ${used} create configmap hello --from-literal=from=hangar`);
  lines.push(`  kubectl --kubeconfig ${used} get configmaps --all-namespaces`, '');
  if (!services.isBare) lines.push('Create your own control plane:', '', `  ${program} create ${placed(options)}`, '');
  if (hasHosted) {
    lines.push('Hosted control planes run as processes of this machine: apply a HostedControlPlane, and see', '');
    lines.push(`  ${program} hosted list${directory(options)}`, '');
  }
  if (store.type === 'memory') lines.push('The store is in memory: all data is lost when Hangar stops.', '');
  return [
    ...lines,
    isBackground ? `Stop it with: ${program} down${directory(options)}` : 'Press Ctrl-C to stop it.',
  ].join('\n');
}

/** Flags that lead commands to this Hangar, if it is not at the default location. */
function placed({ dataDirectory, kubeconfig }: Greeting['options']): string {
  if (kubeconfig !== join(dataDirectory, 'admin.kubeconfig')) return `NAME --kubeconfig ${shown(kubeconfig)}`;
  return `NAME${directory({ dataDirectory })}`;
}

const directory = ({ dataDirectory }: Pick<PlatformOptions, 'dataDirectory'>): string =>
  relative(process.cwd(), dataDirectory) === '.data' ? '' : ` --data-dir ${shown(dataDirectory)}`;

/** Returns a relative path if it is below the working directory. Quoted for a shell. */
export function shown(path: string): string {
  const short = relative(process.cwd(), path) || path;
  const text = short.startsWith('..') ? path : short;
  return shellWord(text);
}
