/** The objects that the tests create. */

const template = (name: string, restartPolicy = 'Always') => ({
  metadata: { labels: { app: name } },
  spec: {
    restartPolicy,
    terminationGracePeriodSeconds: 0,
    containers: [{ name: 'main', image: 'example.com/main:1', ports: [{ containerPort: 80 }] }],
  },
});

export const namespace = (name: string) => ({ metadata: { name } });

export const deployment = (name: string, replicas: number) => ({
  metadata: { name },
  spec: { replicas, selector: { matchLabels: { app: name } }, template: template(name) },
});

export const statefulSet = (name: string, replicas: number) => ({
  metadata: { name },
  spec: { replicas, serviceName: name, selector: { matchLabels: { app: name } }, template: template(name) },
});

export const daemonSet = (name: string) => ({
  metadata: { name },
  spec: { selector: { matchLabels: { app: name } }, template: template(name) },
});

export const job = (name: string, more: object = {}) => ({
  metadata: { name },
  spec: { completions: 2, parallelism: 2, template: template(name, 'Never'), ...more },
});

export const everyMinute = (name: string) => ({
  metadata: { name },
  spec: { schedule: '* * * * *', jobTemplate: { spec: { template: template(name, 'Never') } } },
});

export const service = (name: string) => ({
  metadata: { name },
  spec: { selector: { app: name }, ports: [{ port: 80 }] },
});

export const pod = (name: string) => ({ metadata: { name }, spec: template(name).spec });
