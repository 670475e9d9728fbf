import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ServiceError, status } from '@grpc/grpc-js';
import { Answer, Finding, type Result } from '../../../proto/gen/holdfast/processor/v1/processor_pb.js';
import { demandBooks, listAll } from '../books.ts';
import { type Check, checkOf, checkUnless, supported } from '../check.ts';
import { KINDS, type Kind, others } from '../kinds.ts';
import { ask, findOut, inquire, type Kit, type Method, type Request, send, settled, told } from '../kit.ts';

/** So many calls at once, or so many rounds of what is a matter of luck. */
const AT_ONCE = 20;

/** What an identifier means: the same one acts once and is answered alike, whatever gets lost. */
export const IDENTIFIERS: readonly Check[] = KINDS.flatMap((kind) => [
  repeated(kind),
  concurrent(kind),
  mismatched(kind),
  inquired(kind),
  fenced(kind),
  racing(kind),
  brokenOff(kind),
  answerLost(kind),
  requestLost(kind),
]);

function repeated(kind: Kind): Check {
  return checkOf(kind, 'repeated, the same answer', async (kit) => {
    const request = await kind.prepare(kit);
    const first = await settled(kit, kind.method, request);
    for (let round = 0; round < 3; round += 1) {
      assert.deepEqual(await send(kit, kind.method, request), first, 'the answer to a repeated request');
    }
    await demandBooks(kit, request);
  });
}

function concurrent(kind: Kind): Check {
  return checkOf(kind, `${AT_ONCE} times at once, done once`, async (kit) => {
    const request = await kind.prepare(kit);
    const calls = Array.from({ length: AT_ONCE }, () => send(kit, kind.method, request));
    const ended = await Promise.allSettled(calls);
    const answers = ended.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    // Some may be told to come again; what is answered is answered alike.
    const last = await settled(kit, kind.method, request);
    const final = answers.filter(({ answer }) => answer !== Answer.ACCEPTED);
    for (const answer of final) assert.deepEqual(answer, last, 'two answers under one identifier');
    await demandBooks(kit, request);
  });
}

function mismatched(kind: Kind): Check {
  return checkOf(kind, 'another request under its identifier, refused', async (kit) => {
    const request = await kind.prepare(kit);
    const first = await settled(kit, kind.method, request);
    for (const [what, other] of await others(kit, request)) {
      await demandRefusal(kit, kind.method, other, what, ['identifier_reused']);
    }
    const [another = kind] = KINDS.filter(
      (one) => one !== kind && one.name !== 'credit' && one.isSupported(kit.description),
    );
    const misused = { ...(await another.prepare(kit)), requestId: request.requestId };
    await demandRefusal(kit, another.method, misused, `another kind (${another.name})`, ['identifier_reused']);
    assert.deepEqual(await send(kit, kind.method, request), first, 'the answer afterwards');
    await demandBooks(kit, request);
    await demandBooks(kit, misused);
  });
}

function inquired(kind: Kind): Check {
  return checkOf(kind, 'an inquiry says what its answer said', async (kit) => {
    const request = await kind.prepare(kit);
    const answered = await settled(kit, kind.method, request);
    for (const fence of [false, true]) {
      const { finding, result, fenced } = await inquire(kit, request, fence);
      assert.deepEqual([Finding[finding], fenced], ['DONE', false]);
      assert.deepEqual(result, answered, 'the result of an inquiry');
    }
    assert.deepEqual(await send(kit, kind.method, request), answered, 'the answer after an inquiry');
  });
}

function fenced(kind: Kind): Check {
  return checkUnless(
    (kit) => supported(kind)(kit) ?? (kit.description.fences ? undefined : 'the processor cannot fence'),
    `${kind.name}: fenced, it never acts`,
    async (kit) => {
      const request = await kind.prepare(kit);
      const free = await inquire(kit, request, false);
      assert.deepEqual([Finding[free.finding], free.fenced], ['NEVER_SEEN', false], 'an inquiry that does not fence');
      for (let round = 0; round < 2; round += 1) {
        const { finding, fenced } = await inquire(kit, request);
        assert.deepEqual([Finding[finding], fenced], ['NEVER_SEEN', true], 'an inquiry that fences');
        await demandRefusal(kit, kind.method, request, 'an identifier that was fenced', ['fenced']);
      }
      await sleep(50);
      const late = (await listAll(kit, request.authorizationRequestId)).find(
        ({ requestId }) => requestId === request.requestId,
      );
      assert.notEqual(late?.answer, Answer.APPROVED, 'the books show that it was done all the same');
      await demandBooks(kit, request);
    },
  );
}

/** A request and the inquiry that fences it arrive together: either it was done, or it never is. */
function racing(kind: Kind): Check {
  return checkOf(kind, 'fenced while it arrives, one of the two', async (kit) => {
    const race = async () => {
      const request = await kind.prepare(kit);
      const asking = ask(kit, kind.method, request).catch(refusalStatus);
      const [result, inquiry] = await Promise.all([asking, inquire(kit, request)]);
      if (inquiry.finding === Finding.NEVER_SEEN && inquiry.fenced) {
        assert(isRefusal(result), `it was answered ${result && told(result)} and fenced`);
        await demandRefusal(kit, kind.method, request, 'an identifier that was fenced');
      } else {
        await findOut(kit, kind.method, request);
        const again = await settled(kit, kind.method, request);
        const isFinal = result && result.answer !== Answer.ACCEPTED;
        if (isFinal) assert.deepEqual(again, result, 'the answer to a repeated request');
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, race));
  });
}

/** The kit hangs up while a call is under way, and finds out as core would. */
function brokenOff(kind: Kind): Check {
  return checkOf(kind, 'broken off at any moment', async (kit) => {
    const requests = await Promise.all(Array.from({ length: AT_ONCE }, () => kind.prepare(kit)));
    const settle = async (request: Request, round: number) => {
      const answer = await ask(kit, kind.method, request, 1 + round).catch(() => undefined);
      await demandSettled(kit, kind.method, request, answer);
    };
    await Promise.all(requests.map(settle));
  });
}

function answerLost(kind: Kind): Check {
  return checkUnless(supported(kind, 'answerLost'), `${kind.name}: its answer lost`, async (kit) => {
    const request = await kind.prepare(kit, kit.profile.tokens[kind.name].answerLost);
    await demandSilence(kit, kind.method, request);
    const { finding, result } = await inquire(kit, request);
    assert.equal(Finding[finding], 'DONE', 'what was done, though its answer was lost');
    assert.deepEqual(await send(kit, kind.method, request), result, 'the answer to a repeated request');
    await demandBooks(kit, request);
  });
}

function requestLost(kind: Kind): Check {
  return checkUnless(supported(kind, 'requestLost'), `${kind.name}: its request lost`, async (kit) => {
    const request = await kind.prepare(kit, kit.profile.tokens[kind.name].requestLost);
    await demandSilence(kit, kind.method, request);
    const { finding, fenced } = await inquire(kit, request);
    assert.deepEqual([Finding[finding], fenced], ['NEVER_SEEN', kit.description.fences]);
    if (fenced) await demandRefusal(kit, kind.method, request, 'an identifier that was fenced');
    await demandBooks(kit, request);
  });
}

/** Demands that what became of a request is found out, and stays so. */
export async function demandSettled(kit: Kit, method: Method, request: Request, answer?: Result): Promise<void> {
  const result = answer ?? (await findOut(kit, method, request));
  if (!result) return demandRefusal(kit, method, request, 'an identifier that was fenced');
  const again = await settled(kit, method, request);
  if (result.answer === Answer.ACCEPTED) return;
  assert.deepEqual(again, result, `the answer to a repeated ${method}`);
}

/**
 * Demands that a request is refused: answered NOT_PERFORMED, with one of these codes when there are any, or with a
 * status that says so.
 */
export async function demandRefusal(
  kit: Kit,
  method: Method,
  request: Request,
  what: string,
  codes?: readonly string[],
): Promise<void> {
  const result = await ask(kit, method, request).catch(refusalStatus);
  assert(isRefusal(result), `${what}: was answered ${result && told(result)}`);
  const isTold = !codes || !result || codes.includes(result.errorCode);
  assert(isTold, `${what}: was answered ${result && told(result)}, not ${codes?.join(' or ')}`);
}

const REFUSALS: ReadonlySet<status> = new Set([
  status.ALREADY_EXISTS,
  status.FAILED_PRECONDITION,
  status.INVALID_ARGUMENT,
  status.PERMISSION_DENIED,
  status.NOT_FOUND,
]);

function refusalStatus(error: ServiceError): undefined {
  if (!REFUSALS.has(error.code)) throw error;
}

function isRefusal(result: Result | undefined): boolean {
  return result === undefined || result.answer === Answer.NOT_PERFORMED;
}

async function demandSilence(kit: Kit, method: Method, request: Request): Promise<void> {
  const heard = await ask(kit, method, request, kit.profile.lostAnswerMs).catch(() => undefined);
  assert.equal(heard && told(heard), undefined, 'the token says that no answer comes');
}
