/** Base64. */

import { overload } from '../../environment.ts';
import type { Library } from '../../environment.ts';
import * as t from '../../types.ts';
import { decodeBase64, encodeBase64 } from '../../values/base64.ts';

export const encoders: Library = {
  name: 'encoders',
  functions: {
    'base64.encode': [overload('base64_encode_bytes', [t.bytesType], t.stringType, encodeBase64)],
    'base64.decode': [overload('base64_decode_string', [t.stringType], t.bytesType, decodeBase64)],
  },
};
