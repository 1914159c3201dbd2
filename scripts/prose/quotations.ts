/** Texts of Kubernetes and of other programs that the product repeats word by word. The rules do not apply inside of them. */

import type { Quotation } from './findings.ts';

export const quotations: readonly Quotation[] = [
  {
    text: 'the server has asked for the client to provide credentials',
    reason: 'message of a Status with reason Unauthorized in k8s.io/apimachinery',
  },
  {
    text: 'the server has received too many requests and has asked us to try again later',
    reason: 'message of a Status with reason TooManyRequests in k8s.io/apimachinery',
  },
  {
    text: "must be no value when `operator` is 'Exist'",
    reason: 'message of the validation of scope selectors of ResourceQuotas in kube-apiserver',
  },
];
