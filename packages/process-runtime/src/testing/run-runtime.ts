/** Runs a runtime in a separate process, which a test kills: `node run-runtime.ts FOLDER`, with `kubeconfig` in the folder. */

import { join } from 'node:path';
import { connect, loadKubeconfig } from '@hangar/client';
import { Logger, systemClock } from '@hangar/core';
import { programsInPath } from '../images/resolver.ts';
import { startProcessRuntime } from '../runtime.ts';

const [folder = ''] = process.argv.slice(2);
await startProcessRuntime({
  client: connect(await loadKubeconfig(join(folder, 'kubeconfig'))),
  nodeName: 'local',
  folder: join(folder, 'node'),
  images: [programsInPath],
  log: new Logger({ level: 'warn', format: 'text', clock: systemClock }),
});
console.log('ready');
// Timers of the runtime do not keep the process alive.
setInterval(() => {}, 60_000);
