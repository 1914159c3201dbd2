/** Decodes the credential plugin of a kubeconfig. The checks are those of kubectl. */

import { isAbsolute, resolve, sep } from 'node:path';
import type { Fields } from '../fields.ts';

export type ExecApiVersion = 'client.authentication.k8s.io/v1' | 'client.authentication.k8s.io/v1beta1';

export interface ExecConfig {
  readonly apiVersion: ExecApiVersion;
  readonly command: string;
  readonly args: readonly string[];
  /** In addition to those of this process. */
  readonly env: Readonly<Record<string, string>>;
  readonly installHint?: string | undefined;
  readonly provideClusterInfo: boolean;
  readonly interactiveMode: 'Never' | 'IfAvailable' | 'Always';
}

const apiVersions: readonly string[] = [
  'client.authentication.k8s.io/v1',
  'client.authentication.k8s.io/v1beta1',
] satisfies ExecApiVersion[];

export function execConfigOf(exec: Fields, folder: string | undefined): ExecConfig {
  const command = exec.text('command');
  if (command === undefined) throw exec.error('command', 'must be set');
  const apiVersion = exec.text('apiVersion');
  if (apiVersion === undefined) throw exec.error('apiVersion', 'must be set');
  if (!apiVersions.includes(apiVersion)) {
    throw exec.error('apiVersion', `${JSON.stringify(apiVersion)} is not one of ${apiVersions.join(', ')}`);
  }
  return {
    apiVersion: apiVersion as ExecApiVersion,
    command: pathOf(command, folder),
    args: exec.texts('args'),
    env: envOf(exec),
    installHint: exec.text('installHint'),
    provideClusterInfo: exec.flag('provideClusterInfo'),
    interactiveMode: modeOf(exec, apiVersion as ExecApiVersion),
  };
}

/** With a separator it is a path relative to the folder of the kubeconfig, without one it is searched in PATH. */
const pathOf = (command: string, folder: string | undefined): string =>
  folder === undefined || isAbsolute(command) || !command.includes(sep) ? command : resolve(folder, command);

function envOf(exec: Fields): Record<string, string> {
  const env: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const variable of exec.objects('env')) {
    const name = variable.text('name');
    if (name === undefined) throw variable.error('name', 'must be set');
    const value = variable.text('value') ?? '';
    if (/[=\0]/.test(name) || value.includes('\0')) throw variable.error('name', 'is not a valid environment variable');
    env[name] = value;
  }
  return env;
}

function modeOf(exec: Fields, apiVersion: ExecApiVersion): ExecConfig['interactiveMode'] {
  const mode = exec.text('interactiveMode');
  if (mode === 'Never' || mode === 'IfAvailable' || mode === 'Always') return mode;
  if (mode !== undefined)
    throw exec.error('interactiveMode', `${JSON.stringify(mode)} is not one of Never, IfAvailable, Always`);
  if (apiVersion === 'client.authentication.k8s.io/v1') throw exec.error('interactiveMode', 'must be set');
  return 'IfAvailable';
}
