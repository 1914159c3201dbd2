/**
 * A path that the user set, e.g. `HANGAR_TOOL_KUBE_APISERVER=/opt/kube-apiserver`. It is used with any version. An invalid path ends the
 * search: later steps would find another program than the requested one.
 */

import { resolve } from 'node:path';
import { isExecutable, versionOf } from '../executable.ts';
import { formatVersion } from '../version.ts';
import type { Step } from './step.ts';

export function variableOf(toolName: string): string {
  return `HANGAR_TOOL_${toolName.toUpperCase().replace(/[^A-Z0-9]/g, '_')}`;
}

export const environment: Step = {
  name: 'environment',
  async attempt(program, world) {
    const variable = variableOf(program.name);
    const value = world.env[variable];
    if (!value) return { reason: `${variable} is not set` };
    const path = resolve(value);
    if (!(await isExecutable(path))) {
      return { reason: `${variable} is ${value}, and there is no executable file`, final: true };
    }
    const version = await versionOf(path, program, world);
    return {
      path,
      version: typeof version === 'string' ? 'unknown' : formatVersion(version),
      from: `environment (${variable})`,
    };
  },
};
