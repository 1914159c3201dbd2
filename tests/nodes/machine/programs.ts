/** The programs of the nodes of a test, from `tools/`. */

import type { NodePrograms } from '@hangar/cli/machine';
import { tool } from '../../../tools/tool.ts';

export const toolPrograms: NodePrograms = { path: (name) => tool(name, { log: console.log }) };
