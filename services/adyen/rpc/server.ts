import { status } from '@grpc/grpc-js';
import { listPage, type ResultInit } from '../../../platform/adapter/entry.ts';
import { listedOf } from '../../../platform/adapter/postgres/entries.ts';
import { type Methods, RpcError } from '../../../platform/adapter/serve.ts';
import type { Desk } from '../desk.ts';
import { listEntries } from '../ledger/entry.ts';
import { described } from './describe.ts';
import { inquire } from './inquire.ts';
import { modify, place } from './operate.ts';

/** The methods of holdfast.processor.v1. */
export function processorMethods(desk: Desk, identity: string): Methods {
  const result = async (answer: Promise<ResultInit>) => ({ result: await answer });
  return {
    authorize: (request) => result(place(desk, 'authorization', request)),
    capture: (request) => result(modify(desk, 'capture', request)),
    void: (request) => result(modify(desk, 'void', request)),
    incrementAuthorization: (request) => result(modify(desk, 'increment', request)),
    extendAuthorization: (request) => result(modify(desk, 'extension', request)),
    refund: (request) => result(modify(desk, 'refund', request)),
    credit: (request) => result(place(desk, 'credit', request)),
    async createCheckout() {
      throw new RpcError(status.UNIMPLEMENTED, 'not_supported');
    },
    inquire: (request) => inquire(desk, request),
    listEntries: (request) =>
      listPage(request, async (listing) => (await listEntries(desk.database.query, listing)).map(listedOf)),
    describe: async () => ({ ...described(desk), identity }),
  };
}
