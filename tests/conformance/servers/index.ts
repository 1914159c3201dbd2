export { readKubeconfig } from './control-plane.ts';
export type { ControlPlane, Kubeconfig, RestartableControlPlane } from './control-plane.ts';
export { startHangar } from './hangar.ts';
export { startReal } from './real.ts';
export type { RealControlPlane } from './real.ts';
