/** The pods of the benchmark. They stay on their node even if its control plane considers it lost. */

import { imageName } from '../../tests/nodes/images/images.ts';

export interface Pod {
  readonly apiVersion: 'v1';
  readonly kind: 'Pod';
  readonly metadata: { readonly namespace: string; readonly name: string };
  readonly spec: object;
}

export const filePort = 8080;

/** The pod is ready when the script has created `/tmp/ready`. */
const pod = (name: string, nodeName: string, script: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'default', name },
  spec: {
    nodeName,
    terminationGracePeriodSeconds: 1,
    tolerations: [{ operator: 'Exists' }],
    containers: [
      {
        name: 'main',
        image: imageName('busybox'),
        command: ['sh', '-c', script],
        readinessProbe: { exec: { command: ['ls', '/tmp/ready'] }, periodSeconds: 1 },
      },
    ],
  },
});

const lineBytes = 1024;

/** Its log has that many bytes, in lines of 1 KiB. */
export const logWriter = (nodeName: string, bytes: number): Pod =>
  pod(
    'log-writer',
    nodeName,
    `yes ${'x'.repeat(lineBytes - 1)} | head -c ${bytes}; touch /tmp/ready; exec sleep 1000000`,
  );

/** Serves `/large` with that many bytes, and `/small`. */
export const webServer = (nodeName: string, bytes: number): Pod =>
  pod(
    'web-server',
    nodeName,
    `mkdir /tmp/files; head -c ${bytes} /dev/zero > /tmp/files/large; echo small > /tmp/files/small; ` +
      `touch /tmp/ready; exec httpd -f -p ${filePort} -h /tmp/files`,
  );
