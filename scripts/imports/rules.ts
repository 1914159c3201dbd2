/**
 * The allowed imports between packages. The table is ARCHITECTURE.md's diagram: a file with an import that is not listed here fails `npm
 * run check`.
 */

/** Folder of a package → the packages that it may import. Everything may import Node and its own dependencies. */
export const allowed: Readonly<Record<string, readonly string[]>> = {
  'packages/core': [],
  'packages/http2': ['core'],
  'packages/store': ['core', 'http2'],
  'packages/cel': ['core'],
  'packages/api': ['core', 'cel'],
  'packages/pki': ['core'],
  'packages/programs': ['core'],
  'packages/front-door': ['core'],
  'packages/backup': ['core'],
  'packages/client': ['core', 'http2', 'api'],
  'packages/server': ['core', 'http2', 'cel', 'api', 'store', 'pki'],
  'packages/runtime': ['core', 'api', 'client'],
  'packages/testkit': ['core', 'api', 'client', 'server', 'store', 'pki'],
  'packages/node-objects': ['core', 'client'],
  'packages/controllers': ['core', 'api', 'client', 'runtime', 'pki'],
  'packages/process-runtime': ['core', 'http2', 'api', 'client', 'runtime', 'pki', 'programs'],
  // The operator of backups for the contract of its targets, the store for the format of exports.
  'operators/controlplane': [
    'core',
    'api',
    'client',
    'runtime',
    'pki',
    'node-objects',
    'store',
    'backup',
    'backup-operator',
  ],
  'operators/backup': ['core', 'api', 'client', 'runtime', 'backup'],
  // The operator of control planes for the kind ControlPlane.
  'operators/projects': ['core', 'client', 'runtime', 'controlplane-operator'],
  // The store for its client of etcd, the operator of backups for the contract of its targets.
  'operators/hosted': [
    'core',
    'api',
    'client',
    'runtime',
    'pki',
    'node-objects',
    'store',
    'front-door',
    'backup-operator',
  ],
  // Aggregated API servers: the server for its library.
  'services/activity': ['core', 'api', 'cel', 'client', 'server'],
  // The certificates for a front proxy in its tests.
  'services/search': ['core', 'api', 'client', 'runtime', 'server', 'pki'],
  // Loaded on demand: the operators for `hangar hosted diff` and `hangar restore`, the package of backups for `hangar backup`.
  'apps/cli': ['core', 'api', 'client', 'backup', 'controlplane-operator', 'hosted-operator'],
  'apps/console': ['core', 'api', 'client'],
  'apps/controller-manager': ['core', 'api', 'client', 'runtime', 'controllers', 'pki', 'programs'],
  'apps/hosted-operator': ['core', 'api', 'client', 'runtime', 'hosted-operator', 'front-door', 'backup-operator'],
  'apps/platform': ['*'],
  examples: ['client', 'runtime', 'server'],
};

/** Folders outside of the product, which may import all of it. */
export const observers: readonly string[] = ['bench', 'scripts', 'tests', 'tools'];

/** Test code may use the real programs and the cluster in process; nothing that runs in production may. */
export const toolsFolder = 'tools';
export const testkit = 'testkit';
export const isTestCode = (file: string): boolean =>
  /\.(test|real|fuzz|bench)\.ts$|\/testing\/|\/conformance\//.test(file);
