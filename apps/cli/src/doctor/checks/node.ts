/** Is this Node new enough? */

import { bad, good } from '../finding.ts';
import type { Check } from '../finding.ts';

const needed = 26;

export const nodeVersion: Check = {
  name: 'Node',
  look: async () => {
    const { node } = process.versions;
    if (Number(node.split('.')[0]) >= needed) return [good(`Node ${node}`)];
    return [
      bad(
        `Node ${node} is too old: ${needed} is required`,
        'run "npm ci" in the directory of Hangar, which installs it',
      ),
    ];
  },
};
