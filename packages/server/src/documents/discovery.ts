/** Discovery documents, which clients cache by their ETag. Built once for each change. */

import {
  aggregatedDiscovery,
  aggregatedMediaType,
  apiGroup,
  apiGroupList,
  apiResourceList,
  apiVersions,
} from '@hangar/api';
import type { JsonObject } from '@hangar/api';
import { mergedAggregated, mergedGroup, mergedGroupList } from '../aggregation/merged-discovery.ts';
import type { RemoteVersion } from '../aggregation/merged-discovery.ts';
import type { Answer, ServerRequest } from '../http/message.ts';
import { bytesAnswer, encoded } from '../objects/answers.ts';
import type { CacheBudget } from '../objects/cache-budget.ts';
import type { Catalogue } from '../resources/catalogue.ts';
import { wanted } from '../request/media.ts';
import { ServedDocuments } from './served-documents.ts';

/** Group-versions that other servers serve. */
export interface RemoteVersions {
  readonly generation: number;
  readonly versions: readonly RemoteVersion[];
}

const nothingElse: RemoteVersions = { generation: 0, versions: [] };

export interface DiscoveryOptions {
  readonly catalogue: Catalogue;
  readonly budget: CacheBudget;
  /** Host and port for clients. */
  readonly address: () => string;
  readonly remote?: RemoteVersions | undefined;
}

export class Discovery {
  readonly #catalogue: Catalogue;
  readonly #address: () => string;
  readonly #remote: RemoteVersions;
  readonly #documents: ServedDocuments;

  constructor({ catalogue, budget, address, remote = nothingElse }: DiscoveryOptions) {
    this.#catalogue = catalogue;
    this.#address = address;
    this.#remote = remote;
    this.#documents = new ServedDocuments({ catalogue, budget, others: remote });
  }

  /** Returns undefined if the path is not a discovery path. */
  answer(path: string, request: ServerRequest): Answer | undefined {
    const [, root, group, version, rest] = path.replace(/\/$/, '').split('/');
    if ((root !== 'api' && root !== 'apis') || rest !== undefined) return undefined;
    if (group === undefined) return this.#rootAnswer(root, request);
    const [groupName, versionName] = root === 'api' ? ['', group] : [group, version];
    if (root === 'api' && version !== undefined) return undefined;
    const found = this.#catalogue.groups.find(({ name }) => name === groupName);
    if (root === 'apis' && groupName === '') return undefined;
    if (versionName === undefined) {
      const merged = mergedGroup(found ? (apiGroup(found) as never) : bareGroup(groupName), this.#remote.versions);
      return merged && this.#plain(request, merged);
    }
    if (!found) return undefined;
    const served = found.versions.find(({ name }) => name === versionName);
    return served && this.#plain(request, apiResourceList(groupName, served));
  }

  #rootAnswer(root: 'api' | 'apis', request: ServerRequest): Answer {
    const accept = request.header('accept') ?? '';
    if (accept.includes('APIGroupDiscoveryList')) {
      const isMerged = root === 'apis' && this.#remote.versions.length > 0;
      const document = this.#documents.get(`/${root}`, isMerged, () => {
        const own = aggregatedDiscovery(`/${root}`, this.#catalogue.groups);
        return Buffer.from(JSON.stringify(isMerged ? mergedAggregated(own, this.#remote.versions) : own));
      });
      const headers = {
        'content-type': aggregatedMediaType,
        etag: document.etag,
        'cache-control': 'public',
        vary: 'Accept',
      };
      if (request.header('if-none-match') === document.etag) return { status: 304, headers, body: [] };
      return { status: 200, headers, body: document.bytes };
    }
    const groups = this.#catalogue.groups;
    if (root === 'api') return this.#plain(request, apiVersions(groups, this.#address()));
    return this.#plain(request, mergedGroupList(apiGroupList(groups), this.#remote.versions));
  }

  #plain(request: ServerRequest, object: JsonObject): Answer {
    const want = wanted(request.header('accept'), { hasProtobuf: true, allowsShapes: false });
    return bytesAnswer(200, want.contentType, encoded(withVersion(object, want.format), want));
  }
}

/** In protobuf every object has its version. */
const withVersion = (object: JsonObject, format: string): JsonObject =>
  format === 'protobuf' && object['apiVersion'] === undefined ? { apiVersion: 'v1', ...object } : object;

/** Returns the entry of a group that only other servers serve. */
const bareGroup = (name: string): JsonObject & { name: string } => ({ kind: 'APIGroup', apiVersion: 'v1', name });
