/** controllers: what makes a control plane live without a kube-controller-manager. Read `contract.ts` first. */

export type * from './contract.ts';
export { rootCluster } from './contract.ts';
export { EssentialControllers } from './essential-controllers.ts';
export type { EssentialControllersOptions } from './essential-controllers.ts';
export { essentialControllers } from './essential-set.ts';
export { controllersAnnotation, externalControllers } from './runner/left-alone.ts';
