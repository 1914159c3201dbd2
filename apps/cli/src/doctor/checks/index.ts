/** The checks in the order of the report: each may use the results of those before it. */

import type { Check } from '../finding.ts';
import { controllerManagers } from './controller-managers.ts';
import { credentials } from './credentials.ts';
import { dataFolder } from './data-folder.ts';
import { kubectl } from './kubectl.ts';
import { nodeVersion } from './node.ts';
import { operator } from './operator.ts';
import { port } from './port.ts';
import { server } from './server.ts';

export const checks: readonly Check[] = [
  nodeVersion,
  dataFolder,
  credentials,
  port,
  server,
  kubectl,
  operator,
  controllerManagers,
];
