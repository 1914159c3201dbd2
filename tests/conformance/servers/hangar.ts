/** Hangar as its users start it: the program, in a separate process. */

import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describeControlPlane, isReady } from './control-plane.ts';
import type { RestartableControlPlane } from './control-plane.ts';
import { isInTenant, makeTenant, tenantName } from './place.ts';
import { Processes } from './processes.ts';

const program = fileURLToPath(new URL('../../../bin/hangar.js', import.meta.url));

export function startHangar(
  extraArguments: readonly string[] = [],
  { inTenant = isInTenant() }: { readonly inTenant?: boolean } = {},
): Promise<RestartableControlPlane> {
  return Processes.start('hangar', async (processes) => {
    const kubeconfig = join(processes.folder, 'kubeconfig');
    const run = (port: number | string): ChildProcess =>
      processes.run(process.execPath, [
        program,
        'up',
        // The API server alone, as the one that it is compared with.
        '--bare',
        `--data-dir=${processes.folder}/data`,
        `--listen=127.0.0.1:${port}`,
        `--kubeconfig=${kubeconfig}`,
        // As with the real server: no controller creates accounts, unless a test starts one and changes the flag.
        ...(extraArguments.some((one) => one.startsWith('--disable-admission-plugins'))
          ? []
          : ['--disable-admission-plugins=ServiceAccount']),
        ...extraArguments,
      ]);
    // The system chooses the port: only the kubeconfig contains it.
    let server = run(0);
    const ready = (): Promise<void> =>
      processes.until(async () => existsSync(kubeconfig) && (await isReady(kubeconfig)));
    await ready();
    const { folder } = processes;
    const own = inTenant ? await makeTenant({ kubeconfig, name: tenantName, folder }) : kubeconfig;
    const plane = await describeControlPlane('hangar', own, processes.stop);
    return {
      ...plane,
      crash: () => processes.end(server),
      resume() {
        server = run(new URL(plane.url).port);
        return ready();
      },
    };
  });
}
