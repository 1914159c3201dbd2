/** url(), isURL() and the parts of URLs. */

import { fail } from '../errors.ts';
import { method, overload } from '../environment.ts';
import type { Library } from '../environment.ts';
import * as t from '../types.ts';
import { ValueList } from '../values/list.ts';
import { ValueMap } from '../values/map.ts';
import { parseUrl } from './url-value.ts';
import type { UrlValue } from './url-value.ts';

export const urlType = t.opaque('kubernetes.URL');
const { boolType: bool, stringType: string } = t;
const part = (id: string, read: (url: UrlValue) => string) => [method(`url_get_${id}`, [urlType], string, read)];

export const urls: Library = {
  name: 'kubernetes url',
  types: [urlType],
  functions: {
    url: [
      overload(
        'string_to_url',
        [string],
        urlType,
        (text: string) =>
          parseUrl(text) ??
          fail(`URL parse error during conversion from string: parse ${JSON.stringify(text)}: invalid URI for request`),
      ),
    ],
    isURL: [overload('is_url_string', [string], bool, (text: string) => parseUrl(text) !== undefined)],
    getScheme: part('scheme', (url) => url.scheme),
    getHost: part('host', (url) => url.host),
    getHostname: part('hostname', (url) => url.hostname),
    getPort: part('port', (url) => url.port),
    getEscapedPath: part('escaped_path', (url) => url.path),
    getQuery: [
      method('url_get_query', [urlType], t.mapOf(string, t.listOf(string)), (url: UrlValue) => {
        const entries = Array.from(url.queryValues(), ([key, values]) => [key, new ValueList(values)] as const);
        return new ValueMap(entries);
      }),
    ],
  },
};
