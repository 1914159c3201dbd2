/** Returns kube-public/cluster-info as text: a kubeconfig without users, because the reader adds its own. `ca`: PEM, or '' if none is needed. */
export const clusterInfo = (server: string, ca: string): string =>
  [
    'apiVersion: v1',
    'kind: Config',
    'clusters:',
    '- name: ""',
    '  cluster:',
    `    server: ${server}`,
    ...(ca === '' ? [] : [`    certificate-authority-data: ${Buffer.from(ca).toString('base64')}`]),
    'contexts: null',
    'current-context: ""',
    'preferences: {}',
    'users: null',
    '',
  ].join('\n');
