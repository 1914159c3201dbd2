/** The engine `kube`: see README.md. */

export { kubeEngine } from './engine.ts';
export type { KubeEngineOptions } from './engine.ts';
