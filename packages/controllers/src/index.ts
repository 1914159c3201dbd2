/** controllers: the controllers that a control plane needs without a kube-controller-manager. Read `contract.ts` first. */

export type * from './contract.ts';
export { rootCluster } from './contract.ts';
export { EssentialControllers } from './essential-controllers.ts';
export type { EssentialControllersOptions, RemoteControllersOptions } from './essential-controllers.ts';
export { essentialControllers, remoteControllers } from './essential-set.ts';
export { controllersAnnotation, controllersByAnnotation, externalControllers } from './runner/roster.ts';
export type { Serves } from './runner/roster.ts';
export { remoteFeed } from './remote-feed/remote-feed.ts';
export type { RemoteFeedOptions } from './remote-feed/remote-feed.ts';
