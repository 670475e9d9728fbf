import type { Answering, Fault } from './fault.ts';

const OTHERS = 'CreateCheckout, Inquire, ListEntries and Describe';

/** Methods that ask for no credential. */
export const OPEN_SERVERS: readonly Fault[] = (
  [
    ['capture', 'capture'],
    ['void', 'void'],
    ['incrementAuthorization', 'increment'],
    ['decreaseAuthorization', 'decrease'],
    ['extendAuthorization', 'extension'],
    ['refund', 'refund'],
    ['credit', 'credit'],
    ['createCheckout', OTHERS],
    ['inquire', OTHERS],
    ['listEntries', OTHERS],
    ['describe', OTHERS],
  ] as const
).map(([method, named]) => ({
  name: `${method} without a credential`,
  checks: [`credential: ${named} without it`],
  why: new RegExp(`${method} without the credential\\n.*\\+ 'answered'`, 'is'),
  lie: () => ({ letsAnybodyIn: method }),
}));

/** Methods that do not look whose the authorization is, or whose the request was. */
export const FOREIGN: readonly Fault[] = [
  ...(['merchantId', 'account'] as const).flatMap((field) =>
    (
      [
        ['capture', 'capture'],
        ['void', 'void'],
        ['incrementAuthorization', 'increment'],
        ['decreaseAuthorization', 'decrease'],
        ['extendAuthorization', 'extension'],
        ['refund', 'refund'],
      ] as const
    ).map(([method, kind]) => ({
      name: `${method} of another ${field}`,
      checks: [`${kind}: of one's own only`] as const,
      why: new RegExp(`${kind} of another ${field}: was answered APPROVED`),
      lie: () => ({ [method]: asOwn(field) }),
    })),
  ),
  ...(
    [
      ['capture', 'capture'],
      ['incrementAuthorization', 'increment'],
      ['decreaseAuthorization', 'decrease'],
      ['refund', 'refund'],
    ] as const
  ).map(([method, kind]) => ({
    name: `${method} in another currency`,
    checks: [`${kind}: of one's own only`] as const,
    why: new RegExp(`${kind} of another currency: was answered APPROVED`),
    lie: () => ({ [method]: asOwn('currency') }),
  })),
  ...(['merchantId', 'account'] as const).map((field) => ({
    name: `the answer to another ${field}'s repetition`,
    checks: ['credit: another request under its identifier'] as const,
    why: /(merchant|account): was answered APPROVED/,
    lie: () => ({ credit: asOwn(field) }),
  })),
];

function asOwn(field: 'merchantId' | 'account' | 'currency'): never {
  const own = { merchantId: 'conformance', account: 'account-1', currency: 'EUR' };
  const answer: Answering = (request, forward) => forward({ ...request, [field]: own[field] });
  return answer as never;
}
