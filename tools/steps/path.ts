/** Finds an installed program with an acceptable version. Checks all of PATH, not only the first match. */

import { onPath, versionOf } from '../executable.ts';
import { formatVersion, refusal } from '../version.ts';
import type { Step } from './step.ts';

export const path: Step = {
  name: 'PATH',
  async attempt(program, world) {
    const names = [...new Set([program.name, program.executable])];
    const candidates = (await Promise.all(names.map((name) => onPath(name, world)))).flat();
    if (candidates.length === 0) return { reason: `no ${names.join(' or ')}` };
    const reasons: string[] = [];
    for (const candidate of candidates) {
      const version = await versionOf(candidate, program, world);
      const reason = typeof version === 'string' ? version : refusal(version, program.accepted);
      if (reason === undefined && typeof version !== 'string') {
        return { path: candidate, version: formatVersion(version), from: 'PATH' };
      }
      reasons.push(`${candidate} ${reason}`);
    }
    return { reason: reasons.join('; ') };
  },
};
