import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { createContextValues } from '@connectrpc/connect';
import { OperationService } from '../../../../../proto/gen/holdfast/v1/operation_pb.js';
import { OperatorService } from '../../../../../proto/gen/holdfast/v1/operator_pb.js';
import { type Caller, callerKey, peerKey } from '../../../../../services/core/rpc/server/caller.ts';
import { takesTurns } from '../../../../../services/core/rpc/server/takes-turns.ts';

const LIST = OperationService.method.listOperations;
const LOOK_UP = OperationService.method.getOperation;
const MERCHANT: Call = { caller: { role: 'gateway' }, merchantId: 'acme' };

interface Call {
  readonly caller: Caller;
  readonly method?: { readonly name: string };
  readonly merchantId?: string;
  readonly operator?: string;
  readonly host?: string;
}

describe('takesTurns()', () => {
  let begun: number;
  let begin: (call: Call) => Promise<boolean>;
  let callers: AbortController;
  afterEach(() => callers.abort());
  beforeEach(() => {
    begun = 0;
    callers = new AbortController();
    // None of the reads ends.
    const read = takesTurns(60_000)(() => {
      begun += 1;
      return new Promise(() => undefined);
    });
    begin = async ({ caller, method = LIST, merchantId = '', operator = '', host = '' }) => {
      const before = begun;
      const contextValues = createContextValues().set(callerKey, caller).set(peerKey, host);
      const header = new Headers({ 'x-operator': operator });
      const { signal } = callers;
      const call = { stream: false, method, message: { merchantId }, contextValues, header, signal };
      void read(call as never).catch(() => undefined);
      await turn();
      return begun > before;
    };
  });

  it('lets a merchant list one thing at a time, and look something up besides', async () => {
    assert(await begin(MERCHANT));
    assert.equal(await begin(MERCHANT), false);
    assert(await begin({ ...MERCHANT, method: LOOK_UP }));
    assert.equal(await begin({ ...MERCHANT, method: LOOK_UP }), false);
    assert(await begin({ ...MERCHANT, merchantId: 'bolt' }));
  });

  it("lets no list of an operator or an internal service wait in the merchant's own turns", async () => {
    assert(await begin({ caller: { role: 'operator' }, merchantId: 'acme', operator: 'ann' }));
    assert(await begin({ caller: { role: 'internal', credential: 0 }, merchantId: 'acme' }));
    assert(await begin(MERCHANT));
  });

  it('tells operators apart by name, and internal services by credential and host', async () => {
    for (const operator of ['ann', 'bob']) assert(await begin({ caller: { role: 'operator' }, operator }));
    assert.equal(await begin({ caller: { role: 'operator' }, operator: 'ann' }), false);
    for (const credential of [0, 1]) {
      const service: Call = { caller: { role: 'internal', credential }, method: LOOK_UP };
      for (const host of ['a', 'b']) for (let index = 0; index < 4; index++) assert(await begin({ ...service, host }));
      assert.equal(await begin({ ...service, host: 'a' }), false);
    }
  });

  it('leaves connections for the lists of merchants, however many operators and services list', async () => {
    for (const [operator, isBegun] of Object.entries({ ann: true, bob: true, cyd: false }))
      assert.equal(await begin({ caller: { role: 'operator' }, operator }), isBegun);
    for (const [host, isBegun] of Object.entries({ a: true, b: true, c: false }))
      assert.equal(await begin({ caller: { role: 'internal', credential: 0 }, host }), isBegun);
    assert(await begin(MERCHANT));
  });

  it('lets an internal service look up a few things at once, and counts the overview among the lists', async () => {
    const service: Call = { caller: { role: 'internal', credential: 0 }, method: LOOK_UP };
    for (let index = 0; index < 4; index++) assert(await begin(service));
    assert.equal(await begin(service), false);
    const operator: Call = { caller: { role: 'operator' }, method: OperatorService.method.getOverview };
    assert(await begin(operator));
    assert.equal(await begin(operator), false);
  });
});
