/** Paths that are not resources: discovery, the version, and the issuer of service-account tokens. */

import type { GroupVersion } from '../builtin/schemas.ts';
import { pathOfVersion } from '../discovery/model.ts';
import type { JsonObject } from '../object.ts';
import type { NamedSchema } from './definitions.ts';
import { groupTitle, tagOf, title } from './operations.ts';
import type { Operation, PathItem } from './operations.ts';
import { metaSchema } from './struct-schema.ts';

type Facts = Pick<Operation, 'id' | 'tag' | 'consumes' | 'produces' | 'answer'>;

const get = (path: string, facts: Facts): PathItem => ({
  path,
  operations: [{ method: 'get', parameters: [], codes: [200], ...facts }],
});

const json = ['application/json'];
const everyFormat = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];
const discovery = (id: string, tag: string, kind: string): Facts => ({
  id,
  tag,
  consumes: everyFormat,
  produces: everyFormat,
  answer: metaSchema(kind),
});

export function discoveryOfVersion({ group, version }: GroupVersion): PathItem {
  const id = `get${groupTitle(group)}${title(version)}APIResources`;
  return get(`/${pathOfVersion({ group, version })}/`, discovery(id, tagOf(group, version), 'APIResourceList'));
}

export function discoveryOfGroup(group: string): PathItem {
  return get(`/apis/${group}/`, discovery(`get${groupTitle(group)}APIGroup`, tagOf(group), 'APIGroup'));
}

/** Document → its path. */
export function serverPaths(): Readonly<Record<string, PathItem>> {
  return {
    '.well-known/openid-configuration': get('/.well-known/openid-configuration/', {
      id: 'getServiceAccountIssuerOpenIDConfiguration',
      tag: 'WellKnown',
      consumes: [],
      produces: json,
      answer: undefined,
    }),
    api: get('/api/', discovery('getCoreAPIVersions', 'core', 'APIVersions')),
    apis: get('/apis/', discovery('getAPIVersions', 'apis', 'APIGroupList')),
    'openid/v1/jwks': get('/openid/v1/jwks/', {
      id: 'getServiceAccountIssuerOpenIDKeyset',
      tag: 'openid',
      consumes: [],
      produces: ['application/jwk-set+json'],
      answer: undefined,
    }),
    version: get('/version/', {
      id: 'getCodeVersion',
      tag: 'version',
      consumes: json,
      produces: json,
      answer: versionInfo,
    }),
  };
}

const always = 'major,minor,gitVersion,gitCommit,gitTreeState,buildDate,goVersion,compiler,platform'.split(',');
const sometimes = 'emulationMajor,emulationMinor,minCompatibilityMajor,minCompatibilityMinor'.split(',');

const versionInfo: NamedSchema = {
  name: 'io.k8s.apimachinery.pkg.version.Info',
  write: ({ dialect }) => {
    const property = (name: string): JsonObject =>
      dialect === 'v3' && always.includes(name) ? { type: 'string', default: '' } : { type: 'string' };
    const names = [...always, ...sometimes].sort();
    return {
      type: 'object',
      required: always,
      properties: Object.fromEntries(names.map((name) => [name, property(name)])),
    };
  },
};
