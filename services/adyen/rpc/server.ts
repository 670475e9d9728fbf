import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { status } from '@grpc/grpc-js';
import { type Listed, listPage, type ResultInit } from '../../../platform/adapter/entry.ts';
import { type Methods, RpcError } from '../../../platform/adapter/serve.ts';
import type { Desk } from '../desk.ts';
import { type Entry, listEntries } from '../ledger/entry.ts';
import { described } from './describe.ts';
import { inquire } from './inquire.ts';
import { authorize, credit, modify } from './operate.ts';

/** The methods of holdfast.processor.v1. */
export function processorMethods(desk: Desk, identity: string): Methods {
  const result = async (answer: Promise<ResultInit>) => ({ result: await answer });
  return {
    authorize: (request) => result(authorize(desk, request)),
    capture: (request) => result(modify(desk, 'capture', request)),
    void: (request) => result(modify(desk, 'void', request)),
    incrementAuthorization: (request) => result(modify(desk, 'increment', request)),
    extendAuthorization: (request) => result(modify(desk, 'extension', request)),
    refund: (request) => result(modify(desk, 'refund', request)),
    credit: (request) => result(credit(desk, request)),
    async createCheckout() {
      throw new RpcError(status.UNIMPLEMENTED, 'not_supported');
    },
    inquire: (request) => inquire(desk, request),
    listEntries: (request) =>
      listPage(request, async (listing) => (await listEntries(desk.database.query, listing)).map(listed)),
    describe: async () => ({ ...described(desk), identity }),
  };
}

function listed(entry: Entry): Listed {
  const { kind, released, amount, actedAt, endedAt } = entry;
  return {
    ...entry,
    amount: kind === 'void' ? released : amount,
    actedAt: actedAt ? timestampFromDate(actedAt) : undefined,
    endedAt: endedAt ? timestampFromDate(endedAt) : undefined,
  };
}
