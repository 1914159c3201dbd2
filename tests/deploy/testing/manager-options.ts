/** The arguments of the chart's containers, read as the controller manager reads them in a pod whose image has Kubernetes' programs. */

import { optionsWorld } from '../../../apps/controller-manager/src/options/testing/programs.ts';
import { readOptions } from '../../../apps/controller-manager/src/options/options.ts';
import type { ControllerManagerOptions } from '../../../apps/controller-manager/src/options/options.ts';

export const podName = 'hangar-controller-manager-0';

/** Expands arguments as kubelet does with values of the downward API. */
export const inPod = (args: readonly string[], name = podName): string[] =>
  args.map((arg) => arg.replaceAll('$(POD_NAME)', name));

/** Throws what is wrong with them. */
export async function readManagerOptions(args: readonly string[]): Promise<ControllerManagerOptions> {
  const world = optionsWorld({ inPath: ['kube-controller-manager', 'kube-scheduler'] }, { hostName: podName });
  const options = await readOptions(inPod(args), world);
  if (typeof options === 'string') throw new Error(`it asks for ${options}`);
  return options;
}
