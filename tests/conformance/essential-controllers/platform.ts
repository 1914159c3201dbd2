/** Hangar as `npm start` runs it: with the essential controllers, and one tenant. Both of its control planes are tested. */

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { tool } from '../../../tools/tool.ts';
import { ComponentLog } from '../components/component-log.ts';
import { isReady, readKubeconfig } from '../servers/control-plane.ts';
import { makeTenant } from '../servers/place.ts';
import { Processes } from '../servers/processes.ts';

export interface Platform extends AsyncDisposable {
  readonly log: ComponentLog;
  /** Name of the control plane → its administrator's kubeconfig. */
  readonly kubeconfigs: ReadonlyMap<'root' | 'tenant', string>;
  /** For files that are removed with it. */
  readonly folder: string;
}

const program = fileURLToPath(new URL('../../../bin/hangar.js', import.meta.url));
/** Endpoints must not be loopback addresses; this one is for documentation (RFC 5737), and is never connected to. */
const advertised = '192.0.2.10';

export function startPlatform(): Promise<Platform> {
  return Processes.start('essential', async (processes) => {
    const { folder } = processes;
    const kubeconfig = join(folder, 'kubeconfig');
    const log = new ComponentLog();
    const flags = [
      `--data-dir=${folder}/data`,
      '--listen=127.0.0.1:0',
      `--kubeconfig=${kubeconfig}`,
      `--advertise-address=${advertised}`,
      '--no-demo',
    ];
    processes.run(process.execPath, [program, 'up', ...flags], { onOutput: log.add });
    await processes.until(async () => existsSync(kubeconfig) && (await isReady(kubeconfig)));
    const tenant = await makeTenant({ kubeconfig, name: 'essential', folder });
    await installClusterInfo(kubeconfig, folder);
    return {
      log,
      folder,
      kubeconfigs: new Map([
        ['root', kubeconfig],
        ['tenant', tenant],
      ]),
      [Symbol.asyncDispose]: processes.stop,
    };
  });
}

/** Creates cluster-info, which bootstrap tokens sign: new tenants have it, in a management plane the installer creates it. */
async function installClusterInfo(kubeconfig: string, folder: string): Promise<void> {
  const manifest = join(folder, 'cluster-info.json');
  const { clusters } = await readKubeconfig(kubeconfig);
  const data = { kubeconfig: JSON.stringify({ apiVersion: 'v1', kind: 'Config', clusters }) };
  const metadata = { namespace: 'kube-public', name: 'cluster-info' };
  await writeFile(manifest, JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data }));
  const args = ['apply', `--filename=${manifest}`, `--kubeconfig=${kubeconfig}`];
  await promisify(execFile)(await tool('kubectl'), args);
}
