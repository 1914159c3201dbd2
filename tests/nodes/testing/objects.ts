/** Objects of the cases. */

import { imageName } from '../images/images.ts';
import type { ImageName } from '../images/images.ts';

export interface PodOptions {
  readonly image?: ImageName;
  readonly command: readonly string[];
  /** Assigns the pod to the node without the scheduler. */
  readonly nodeName?: string;
  /** Whether the container has a standard input. */
  readonly stdin?: boolean;
}

/** Its container has the name `main`. It is not started again when it has ended. */
export const pod = (name: string, { image = 'busybox', command, nodeName, stdin = false }: PodOptions): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'default', name, labels: { app: name } },
  spec: {
    ...(nodeName !== undefined && { nodeName }),
    restartPolicy: 'Never',
    terminationGracePeriodSeconds: 1,
    containers: [{ name: 'main', image: imageName(image), command, stdin }],
  },
});

/** Pods that serve `/hostname` on port 8080, are spread over the nodes, and leave a node that is not ready after two seconds. */
export const webDeployment = (name: string, replicas: number): object => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { namespace: 'default', name },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: {
        terminationGracePeriodSeconds: 1,
        // Evenly on all nodes that accept pods.
        topologySpreadConstraints: [
          {
            maxSkew: 1,
            topologyKey: 'kubernetes.io/hostname',
            whenUnsatisfiable: 'DoNotSchedule',
            nodeTaintsPolicy: 'Honor',
            labelSelector: { matchLabels: { app: name } },
            matchLabelKeys: ['pod-template-hash'],
          },
        ],
        tolerations: ['not-ready', 'unreachable'].map((reason) => ({
          key: `node.kubernetes.io/${reason}`,
          operator: 'Exists',
          effect: 'NoExecute',
          tolerationSeconds: 2,
        })),
        containers: [
          {
            name: 'main',
            image: imageName('agnhost'),
            args: ['netexec', '--http-port=8080'],
            readinessProbe: { httpGet: { path: '/healthz', port: 8080 }, periodSeconds: 1 },
          },
        ],
      },
    },
  },
});

export const webService = (name: string): object => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace: 'default', name },
  spec: { selector: { app: name }, ports: [{ port: 80, targetPort: 8080 }] },
});
