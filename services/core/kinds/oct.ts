import type { OctEnd } from '../books/settle-holds-and-octs.ts';
import { identifierOf } from '../domain/operation.ts';
import { findOct } from '../storage/oct/oct.ts';
import type { Kind, Named } from './kind.ts';

/** What an OCT is. */
export type OctFacts = OctEnd['oct'] & Named & { readonly tokenId: string };

/** Original credit transactions. */
export const OCT: Kind<OctFacts, true> = {
  table: 'oct',
  operationOf: () => 'OCT',
  holdOf: () => undefined,
  find: findOct,
  call(processor, { processorAccount: account, ...oct }) {
    const { merchantId, terminalId, userId, tokenId, amount, currency } = oct;
    const requestId = identifierOf(oct);
    return processor.send('credit', { requestId, merchantId, account, terminalId, userId, tokenId, amount, currency });
  },
  settle: ({ books }, oct, outcome, at) => books.settleOct({ oct, outcome, at }),
};
