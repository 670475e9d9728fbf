import { status } from '@grpc/grpc-js';
import { listPage, type ResultInit } from '../../../platform/adapter/entry.ts';
import { type Methods, RpcError } from '../../../platform/adapter/serve.ts';
import type { Context } from '../adapter-context.ts';
import { ENTRIES } from '../ledger/entry.ts';
import { described } from './describe.ts';
import { inquire } from './inquire.ts';
import { modify, place } from './operate.ts';

/** The methods of holdfast.processor.v1. */
export function processorMethods(context: Context, identity: string): Methods {
  const result = async (answer: Promise<ResultInit>) => ({ result: await answer });
  return {
    authorize: (request) => result(place(context, 'authorization', request)),
    capture: (request) => result(modify(context, 'capture', request)),
    void: (request) => result(modify(context, 'void', request)),
    incrementAuthorization: (request) => result(modify(context, 'increment', request)),
    decreaseAuthorization: (request) => result(modify(context, 'decrease', request)),
    extendAuthorization: (request) => result(modify(context, 'extension', request)),
    refund: (request) => result(modify(context, 'refund', request)),
    credit: (request) => result(place(context, 'credit', request)),
    async createCheckout() {
      throw new RpcError(status.UNIMPLEMENTED, 'not_supported');
    },
    inquire: (request) => inquire(context, request),
    listEntries: (request) => listPage(request, (listing) => ENTRIES.list(context.database.query, listing)),
    describe: async () => ({ ...described(context), identity }),
  };
}
