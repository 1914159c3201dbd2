/** Records Kubernetes Events about objects. */

export { ClusterEvents } from './cluster-events.ts';
export type { EventApiName } from './event-apis.ts';
export { EventRecorder } from './event-recorder.ts';
export type { EventRecorderOptions, EventTarget } from './event-recorder.ts';
export type { EventDetails } from './observation.ts';
