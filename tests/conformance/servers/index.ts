export { readKubeconfig } from './control-plane.ts';
export type { ControlPlane, Kubeconfig } from './control-plane.ts';
export { startHangar } from './hangar.ts';
export { startReal } from './real.ts';
