import assert from 'node:assert/strict';
import { create, type DescMessage, fromBinary, type MessageShape, toBinary } from '@bufbuild/protobuf';
import { type ServiceError, status } from '@grpc/grpc-js';
import { StatusSchema } from '../../../proto/gen/google/rpc/status_pb.js';
import {
  Answer,
  Finding,
  ProcessorService,
  type Result,
} from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import type { CallResult } from '../../../proto/gen/holdfast/v1/call_pb.js';
import type { Adapter } from '../adapter.ts';
import { demandOwn, untilAvailable } from '../answer.ts';
import { type Check, checkUnless, noMatter } from '../check.ts';
import type { Kit } from '../kit.ts';
import { capture, type Request } from '../requests.ts';
import { demandUnauthenticated } from './access.ts';

/** Calls in one message: as many as core sends. */
const MOST = 64;

const together = ({ description }: Kit) =>
  description.callsTogether ? undefined : noMatter('the adapter takes no calls together');

/** Calls of the same moment in one message, each as it would be alone. */
export const TOGETHER: readonly Check[] = [
  checkUnless(together, 'calls together: each is answered as it would be alone', async (kit) => {
    const holds = [kit.authorization(), kit.authorization()];
    const bad = { ...kit.authorization(), amount: 0n };
    const [refused, ...answers] = await callMany(kit, [bad, ...holds]);
    assert.notEqual(refused?.result?.answer, Answer.APPROVED, 'a request that the contract does not allow');
    await demandAsAlone(kit, holds, answers);
  }),
  checkUnless(
    together,
    `calls together: ${MOST} of every kind, a bad one among them, and none mixed up`,
    async (kit) => {
      const placed = await Promise.all(Array.from({ length: 8 }, () => kit.placed()));
      // Each of another amount: the answer of another call is seen to be one.
      const ofPlaced = placed.flatMap((hold, index) => [capture(hold, kit.tenth + BigInt(index)), hold]);
      const fresh = Array.from({ length: MOST / 2 - 1 }, (_, index) => {
        const hold = kit.authorization();
        return { ...hold, amount: hold.amount - BigInt(index) };
      });
      const tooMuch = placed.map((hold) => capture(hold, hold.amount * 2n));
      const bad = { ...kit.authorization(), currency: 'euro' };
      const requests = [...fresh, bad, ...ofPlaced, ...tooMuch].sort(byIdentifier);
      const answers = await callMany(kit, requests);
      for (const [index, request] of requests.entries()) {
        if (request !== bad) continue;
        assert(answers[index]?.result?.answer !== Answer.APPROVED, 'a request that the contract does not allow');
      }
      const good = requests.flatMap((request, index) => (request === bad ? [] : [{ request, answer: answers[index] }]));
      await demandAsAlone(
        kit,
        good.map(({ request }) => request),
        good.map(({ answer }) => answer),
      );
      for (const hold of placed) await kit.demandBooks({ authorizationRequestId: hold.requestId });
    },
  ),
  checkUnless(together, 'calls together: inquiries, and none mixed up', async (kit) => {
    const placed = await Promise.all(Array.from({ length: 4 }, () => kit.placed()));
    const unseen = Array.from({ length: 4 }, () => kit.authorization());
    const asked = [...placed, ...unseen].sort(byIdentifier);
    const questions = asked.map(({ requestId, merchantId, account }) => {
      return { method: 'inquire', requestId, merchantId, account, fence: false } as const;
    });
    for (const [index, { requestId, finding, result }] of (await askMany<'inquire'>(kit, questions)).entries()) {
      const { requestId: own } = asked[index] as Request;
      const place = `the finding at place ${index + 1}`;
      demandOwn(place, { requestId }, own);
      if (result) demandOwn(place, result, own);
      const isPlaced = placed.some((hold) => hold.requestId === own);
      assert.equal(Finding[finding], isPlaced ? 'DONE' : 'NEVER_SEEN', place);
    }
  }),
  checkUnless(
    (kit) => together(kit) ?? (kit.adapter.strangeTogether ? undefined : { why: 'no --credential was given' }),
    'credential: calls together without it are refused, and do nothing',
    async (kit) => {
      const { strangeTogether } = kit.adapter;
      assert(strangeTogether);
      const placed = await kit.placed();
      const requests = [kit.authorization(), capture(placed, kit.tenth)];
      const call = send(strangeTogether, requests).then((results) => {
        const refused = results.map((result) => codeOf(result));
        if (refused.some((code) => code !== status.UNAUTHENTICATED)) return {};
        throw Object.assign(new Error('each was refused'), { code: status.UNAUTHENTICATED }) as ServiceError;
      });
      await demandUnauthenticated('CallMany', call);
      for (const request of requests) {
        const { finding } = await kit.inquire(request, false);
        assert.equal(Finding[finding], 'NEVER_SEEN', 'it was done all the same');
      }
      await kit.expectBooks(placed, {});
    },
  ),
];

/** Not the order in which they were made. */
function byIdentifier(one: Request, two: Request): number {
  const [first, second] = [one, two].map(({ requestId }) => requestId.slice(-12));
  return String(first).localeCompare(String(second));
}

/** Each answer is what the same call gets alone. */
async function demandAsAlone(kit: Kit, requests: readonly Request[], answers: readonly (Told | undefined)[]) {
  for (const [index, request] of requests.entries()) {
    const result = answers[index]?.result;
    const place = `the call at place ${index + 1}`;
    assert(result, `${place} has no result`);
    demandOwn(`the answer to ${place}`, result, request.requestId);
    const alone = await kit.settled(request);
    if (result.answer === Answer.ACCEPTED) continue;
    assert.deepEqual(result, alone, 'the answer of a call sent together');
  }
}

/** What one of several calls was told; no result = it was refused by a status. */
interface Told {
  readonly result?: Result | undefined;
}

async function callMany(kit: Kit, requests: readonly Request[]): Promise<(Told | undefined)[]> {
  for (const request of requests) kit.memory.note(request);
  return (await askMany(kit, requests)) as Told[];
}

/** Sends calls at once. Those that a status refused are answered with an empty message. */
async function askMany<M extends keyof typeof ProcessorService.method>(
  kit: Kit,
  calls: readonly (OneCall & { readonly method: M })[],
): Promise<MessageShape<(typeof ProcessorService.method)[M]['output']>[]> {
  const results = await untilAvailable(async () => {
    const sent = await send(kit.adapter.together, calls);
    const isUnavailable = sent.some((result) => codeOf(result) === status.UNAVAILABLE);
    if (isUnavailable) throw Object.assign(new Error('a call was UNAVAILABLE'), { code: status.UNAVAILABLE });
    return sent;
  });
  return results.map((result, index) => {
    const { output } = methodOf(calls[index] as OneCall);
    return (result?.case === 'response' ? fromBinary(output, result.value) : create(output)) as never;
  });
}

/** A method of the contract, with the fields of its request. */
type OneCall = { readonly method: keyof typeof ProcessorService.method };

async function send(client: Adapter['together'], requests: readonly OneCall[]) {
  const calls = requests.map((request) => {
    const { name, input } = methodOf(request);
    return {
      method: `${ProcessorService.typeName}/${name}`,
      request: toBinary(input, create(input, request as never)),
    };
  });
  const results = new Map<number, CallResult['result']>();
  for await (const message of client.callMany({ calls }, { timeoutMs: 60_000 })) {
    for (const { index, result } of message.results) {
      assert(index >= 0 && index < requests.length, `an answer to call ${index}, and ${requests.length} were sent`);
      assert(!results.has(index), `two answers to the call at place ${index + 1}`);
      results.set(index, result);
    }
  }
  return requests.map((_, index) => results.get(index));
}

const methodOf = ({ method }: OneCall): { name: string; input: DescMessage; output: DescMessage } =>
  ProcessorService.method[method];

function codeOf(result: CallResult['result'] | undefined): number | undefined {
  return result?.case === 'status' ? fromBinary(StatusSchema, result.value).code : undefined;
}
