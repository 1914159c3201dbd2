/** Unknown path: answered like kube-apiserver's router, in plain text, for which clients have their own message. */

import type { Answer } from '../http/message.ts';

export class PageNotFound extends Error {
  constructor() {
    super('404 page not found');
  }
}

export const pageNotFoundAnswer: Answer = {
  status: 404,
  headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
  body: Buffer.from('404 page not found\n'),
};
